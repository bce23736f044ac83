"""Types of JSON values, as ``json.loads`` returns them and ``json.dumps`` takes them."""

from typing import Any

Json = Any  # str, int, float, bool, None, and lists and dictionaries of them
JsonObject = dict[str, Any]
