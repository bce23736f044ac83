"""The names of the jobs of imports. They are stored."""

READ, PREVIEW, COMMIT, UNDO, PURGE = "import read", "import preview", "import commit", "import undo", "import purge"
EDIT = "bulk edit"
