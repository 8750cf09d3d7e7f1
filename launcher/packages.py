# SPDX-License-Identifier: GPL-2.0-only
"""What gradsync needs from the system, how to see that it is there, and Debian's name for it.

Every check looks for the real thing (a command, a header, a CMake package), never for the package
manager's opinion, so that software installed by other means counts.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Needs, and so when they are installed.
BUILD, TEST, SANITIZERS = "building", "tests", "sanitizers and fuzzing"
RANKS, PLOT, DEVELOP = "run --ranks", "plots", "development"

# Asked for by few: the launcher installs them then.
ON_DEMAND = (SANITIZERS, RANKS)


@dataclass(frozen=True)
class Requirement:
    """A thing that must exist; `find` gives its version, or None if it is missing or too old."""

    name: str
    need: str
    reason: str
    apt: str
    find: Callable[[], str | None]


def prefixes() -> list[Path]:
    """Installation prefixes to look in; GRADSYNC_PREFIXES (colon-separated) replaces the default."""
    named = os.environ.get("GRADSYNC_PREFIXES")
    if named is not None:
        return [Path(p) for p in named.split(":") if p]
    from_cmake = re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", ""))
    return [Path(p) for p in [*from_cmake, "/usr/local", "/usr"] if p]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def command(name: str, minimum: str = "0", option: str = "--version") -> Callable[[], str | None]:
    """A command on the PATH whose version, which `option` has it say, is at least `minimum`."""

    def find() -> str | None:
        path = shutil.which(name)
        if path is None:
            return None
        told = subprocess.run([path, option], capture_output=True, text=True, check=False)
        match = re.search(r"(?<![\w.])(\d+(?:\.\d+)+)", told.stdout + told.stderr)
        if match is None:
            return None
        return match[1] if _number(match[1]) >= _number(minimum) else None

    return find


def cmake_package(name: str, minimum: str = "0") -> Callable[[], str | None]:
    """A CMake package configuration that find_package() would find."""

    def find() -> str | None:
        for prefix in prefixes():
            for pattern in ("lib/cmake", "lib/*/cmake", "lib64/cmake", "share/cmake"):
                for folder in sorted(prefix.glob(f"{pattern}/{name}")):
                    for file in sorted(folder.glob("*[vV]ersion.cmake")):
                        match = re.search(r'set\(PACKAGE_VERSION "([^"]+)"\)', file.read_text())
                        if match and _number(match[1]) >= _number(minimum):
                            return match[1]
        return None

    return find


def header(path: str, macro: str | None = None, folder: str = "") -> Callable[[], str | None]:
    """A header; its version is the string that `macro` is defined as, in it or in `folder`'s one."""

    def find() -> str | None:
        for prefix in prefixes():
            for pattern in (f"include/{folder}{path}", f"include/*-linux-gnu/{folder}{path}"):
                for file in sorted(prefix.glob(pattern)):
                    match = macro and re.search(
                        rf'#\s*define\s+{macro}\s+"([^"]+)"', file.read_text(errors="replace")
                    )
                    return match[1] if match else "present"
        return None

    return find


def _ns3_executables() -> str | None:
    # ns-3's CMake package names these files and fails where they are missing.
    for prefix in prefixes():
        for file in sorted(prefix.glob("libexec/ns3/ns3*-raw-sock-creator")):
            return file.name[len("ns") : -len("-raw-sock-creator")]
        # An ns-3 that was installed from its sources brings them along with the rest.
        if any(prefix.glob("bin/ns3*-raw-sock-creator")):
            return "present"
    return None


def venv_python() -> str:
    """The interpreter that the virtual environment is made from: the system's, if there is one."""
    return shutil.which("/usr/bin/python3") or "python3"


def _venv_module() -> str | None:
    told = subprocess.run(
        [venv_python(), "-I", "-c", "import venv, ensurepip, sys; print(sys.version.split()[0])"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() if told.returncode == 0 else None


def _compiler() -> str | None:
    return command(os.environ.get("CXX") or "g++", "12")()


def _clang_runtime() -> str | None:
    # Debian's clang-14 only recommends it.
    if shutil.which("clang++-14") is None:
        return None
    told = subprocess.run(
        ["clang++-14", f"-print-file-name=libclang_rt.fuzzer-{platform.machine()}.a"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "present" if Path(told.stdout.strip()).is_file() else None


REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement("C++20 compiler", BUILD, "compiles the simulator (GCC 12)", "g++", _compiler),
    Requirement("CMake", BUILD, "configures the build (3.25)", "cmake", command("cmake", "3.25")),
    Requirement("Ninja", BUILD, "runs the build", "ninja-build", command("ninja")),
    Requirement(
        "ns-3", BUILD, "the simulator's core (3.37)", "libns3-dev", cmake_package("ns3", "3.37")
    ),
    Requirement(
        "ns-3 executables", BUILD, "named by ns-3's CMake package", "ns3", _ns3_executables
    ),
    Requirement(
        "GSL",
        BUILD,
        "named by ns-3's CMake package",
        "libgsl-dev",
        header("gsl/gsl_version.h", "GSL_VERSION"),
    ),
    Requirement(
        "libxml2",
        BUILD,
        "named by ns-3's CMake package",
        "libxml2-dev",
        header("libxml/xmlversion.h", "LIBXML_DOTTED_VERSION", "libxml2/"),
    ),
    Requirement(
        "SQLite",
        BUILD,
        "named by ns-3's CMake package",
        "libsqlite3-dev",
        header("sqlite3.h", "SQLITE_VERSION"),
    ),
    Requirement(
        "Boost",
        BUILD,
        "CRCs, byte order, sets and wide numbers (headers only)",
        "libboost-dev",
        header("boost/version.hpp", "BOOST_LIB_VERSION"),
    ),
    Requirement("fmt", BUILD, "formats text", "libfmt-dev", cmake_package("fmt", "9")),
    Requirement(
        "nlohmann-json",
        BUILD,
        "reads scenarios",
        "nlohmann-json3-dev",
        cmake_package("nlohmann_json", "3.11"),
    ),
    Requirement("CLI11", BUILD, "reads options", "libcli11-dev", cmake_package("CLI11", "2.1")),
    Requirement(
        "Protocol Buffers",
        BUILD,
        "reads Chakra execution traces (3.21)",
        "libprotobuf-dev",
        header("google/protobuf/text_format.h"),
    ),
    Requirement(
        "protoc",
        BUILD,
        "makes the reader of Chakra execution traces",
        "protobuf-compiler",
        command("protoc"),
    ),
    Requirement(
        "zlib", BUILD, "unpacks workload traces", "zlib1g-dev", header("zlib.h", "ZLIB_VERSION")
    ),
    Requirement(
        "GoogleTest", TEST, "runs the unit tests", "libgtest-dev", cmake_package("GTest", "1.12")
    ),
    Requirement(
        "GoogleMock", TEST, "matchers of the unit tests", "libgmock-dev", header("gmock/gmock.h")
    ),
    Requirement(
        "Poppler",
        TEST,
        "tells the fonts of PDF files",
        "poppler-utils",
        command("pdffonts", option="-v"),
    ),
    Requirement(
        "Clang 14", SANITIZERS, "compiles with sanitizers", "clang-14", command("clang++-14")
    ),
    Requirement(
        "Clang's runtime",
        SANITIZERS,
        "sanitizers and libFuzzer",
        "libclang-rt-14-dev",
        _clang_runtime,
    ),
    Requirement("LLD 14", SANITIZERS, "links large programs fast", "lld-14", command("ld.lld-14")),
    Requirement(
        "MPI",
        RANKS,
        "links the processes of one simulation (Open MPI 4)",
        "libopenmpi-dev",
        command("mpicxx", "4", "--showme:version"),
    ),
    Requirement("mpirun", RANKS, "starts them", "openmpi-bin", command("mpirun", "4")),
    Requirement("Python venv", PLOT, "holds the packages that plot", "python3-venv", _venv_module),
)

# Used when present: never installed by the launcher.
OPTIONAL: tuple[Requirement, ...] = (
    Requirement("ccache", DEVELOP, "makes rebuilds faster", "ccache", command("ccache")),
    Requirement(
        "clang-format 14",
        DEVELOP,
        "checks the style",
        "clang-format-14",
        command("clang-format-14"),
    ),
    Requirement("Chromium", DEVELOP, "opens reports in the tests", "chromium", command("chromium")),
    Requirement(
        "clang-tidy 14", DEVELOP, "checks the code", "clang-tidy-14", command("clang-tidy-14")
    ),
)


def missing(needs: Sequence[str]) -> list[Requirement]:
    """The requirements of these needs that are not met."""
    return [r for r in REQUIREMENTS if r.need in needs and r.find() is None]
