# SPDX-License-Identifier: GPL-2.0-only
"""The ready-made packages of ns-3's releases, which PyPI has as `ns3`.

python3 -P tests/ns3_packages.py    fetches the newest one and prints where CMake finds it
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from launcher.tree import VENV  # noqa: E402

PACKAGES = ROOT / "build" / "ns3-packages"
# Neither needs the packages that end up in it: an older Boost than ours, and Python's modules.
LEFT_OUT = ("ns3/include/boost/", "ns/", "visualizer/", "ns3/ns/", "ns3/visualizer/")


@dataclass(frozen=True)
class Package:
    """A ready-made ns-3: PyPI's version, the Python that its wheel is for, and the wheel's hash."""

    release: str
    version: str
    python: str
    sha256: str
    in_ci: str = "always"  # or "in turn", or "never"

    @property
    def wheel(self) -> Path:
        tag = "cp" + self.python.replace(".", "")
        return PACKAGES / f"ns3-{self.version}-{tag}-{tag}-manylinux_2_28_x86_64.whl"

    @property
    def folder(self) -> Path:
        return PACKAGES / self.release

    @property
    def cmake(self) -> Path:
        return self.folder / "ns3" / "lib64" / "cmake" / "ns3"

    @property
    def build(self) -> Path:
        return ROOT / "build" / f"ns3-{self.release}"


KNOWN = (
    Package(
        "3.38",
        "3.38.post272",
        "3.10",
        "8663f92372ac8e6f18dd402adb6d606f4ae47cb1358ceac2b6f8f82113c5a264",
        in_ci="never",
    ),
    Package(
        "3.39",
        "3.39.post2",
        "3.11",
        "7e6ab25b050100755a1d8fd152beb445ba3163a1acfbde0cc94d66a042e0b1d6",
        in_ci="in turn",
    ),
    Package(
        "3.40",
        "3.40",
        "3.10",
        "a93b44f666d29adab10fcf78eb60e56371c948e90e1d0a0bb93dd808b8d42829",
        in_ci="never",
    ),
    Package(
        "3.42",
        "3.42.post2",
        "3.11",
        "26878aff1eda2e06ad1eb6af842638a280e534d3e4b32e2907b2e57ebf715b2d",
        in_ci="in turn",
    ),
    Package(
        "3.43",
        "3.43.post9",
        "3.11",
        "6f55927a124c6eb761b554e176231663936f842792951442cf0afb6b0444a585",
        in_ci="in turn",
    ),
    Package(
        "3.44",
        "3.44.post0",
        "3.11",
        "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce",
    ),
)

NEWEST = next(package for package in KNOWN if package.in_ci == "always")


def fail(text: str) -> None:
    sys.exit(f"ns-3 releases: {text}")


def call(arguments: Sequence[str | Path], **options: object) -> None:
    """Run a step; where it fails, say what it said and end."""
    told = subprocess.run(
        list(map(str, arguments)), capture_output=True, text=True, check=False, **options
    )
    if told.returncode != 0:
        lines = (told.stdout + told.stderr).splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith("FAILED")), -40)
        fail("\n".join([" ".join(map(str, arguments)), *lines[first:][:40]]))


def has_hash(package: Package) -> bool:
    if not package.wheel.exists():
        return False
    return hashlib.sha256(package.wheel.read_bytes()).hexdigest() == package.sha256


def fetch(package: Package) -> None:
    """The unpacked package in its folder."""
    if package.folder.exists():
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    if not has_hash(package):
        python = VENV / "bin" / "python"
        if not python.exists():
            fail(f"{python} does not exist; remedy: ./ns3 test")
        pin = PACKAGES / f"{package.release}.txt"
        pin.write_text(f"ns3=={package.version} --hash=sha256:{package.sha256}\n")
        pip = [python, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        wanted = ["--only-binary=:all:", "--platform=manylinux_2_28_x86_64"]
        wanted += [
            f"--python-version={package.python}",
            f"--dest={PACKAGES}",
            f"--requirement={pin}",
        ]
        call([*pip, *wanted])
    part = package.folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(package.wheel) as archive:
        names = [name for name in archive.namelist() if not name.startswith(LEFT_OUT)]
        archive.extractall(part, names)
    part.rename(package.folder)


def main() -> int:
    fetch(NEWEST)
    print(NEWEST.cmake)
    return 0


if __name__ == "__main__":
    sys.exit(main())
