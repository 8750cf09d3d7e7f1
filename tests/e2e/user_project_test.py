# SPDX-License-Identifier: GPL-2.0-only
"""What others build upon: the headers that are exported, and the installed package."""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT, SMOKE, call, rows_of

BUILD = ROOT / "build" / "release"
INCLUDE = re.compile(r'^#include [<"]ns3/([\w.-]+)[>"]', re.MULTILINE)
# ns-3's own name lookup finds both of two types of a name where a program uses both namespaces.
TYPE = re.compile(r"^(?:class|struct|enum class|enum|using) (\w+)\b(?!.*;$)", re.MULTILINE)


def _headers() -> dict[str, Path]:
    trees = ("model", "helper", "study")
    return {path.name: path for tree in trees for path in (ROOT / tree).rglob("*.h")}


def _cache(name: str) -> str:
    line = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    assert line is not None, f"{name} is not in the cache of {BUILD}"
    return line[1]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """gradsync as cmake --install leaves it, and nothing of the build folder."""
    folder = tmp_path_factory.mktemp("installed")
    result = call(["cmake", "--install", BUILD, "--prefix", folder], folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def exported(prefix):
    """Names of the installed headers that are files of ours."""
    return {path.name for path in (prefix / "include" / "ns3").iterdir()} - {"gradsync-module.h"}


def test_exported_headers_are_what_gradsync_h_includes(exported):
    headers = _headers()
    needed, waiting = set(), ["gradsync.h"]
    while waiting:
        name = waiting.pop()
        if name in headers and name not in needed:
            needed.add(name)
            waiting += INCLUDE.findall(headers[name].read_text())
    assert exported == needed


def test_exported_headers_need_the_standard_library_and_ns3_only(exported):
    headers = _headers()
    for name in exported:
        others = re.findall(r"^#include (.*)$", headers[name].read_text(), re.MULTILINE)
        foreign = [text for text in others if not re.fullmatch(r'"ns3/.*"|<[a-z_]+>', text)]
        assert foreign == [], name


def test_no_exported_type_has_the_name_of_one_of_ns3s(prefix, exported):
    folder = _ns3_headers(prefix)
    theirs = {
        name: path.name
        for path in folder.glob("*.h")
        for name in TYPE.findall(path.read_text(errors="replace"))
    }
    assert len(theirs) > 500  # else these are not ns-3's
    headers = _headers()
    ours = {name for header in exported for name in TYPE.findall(headers[header].read_text())}
    assert {"ExchangeHelper", "Plan", "PlanBuilder"} <= ours
    assert sorted(ours & set(theirs)) == []


def _ns3_headers(prefix: Path) -> Path:
    """Where the ns-3 that this was built with has its headers."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    folders = re.findall(r"-(?:isystem|I) ?(\S+)", commands[0]["command"])
    found = [Path(folder) / "ns3" for folder in [*folders, "/usr/include"]]
    found = [folder for folder in found if (folder / "simulator.h").exists()]
    assert found, "ns-3's headers were not found"
    assert prefix not in found[0].parents
    return found[0]


def _begins_with(header: Path) -> str | None:
    """The header, of ours or ns-3's, that this one includes before it says anything."""
    quiet = re.compile(r"//.*|/?\*.*| \*.*|#ifndef .*|#define .*|")
    lines = (line for line in header.read_text().splitlines() if not quiet.fullmatch(line))
    found = INCLUDE.match(next(lines))
    return found and found[1]


def test_every_installed_header_compiles_by_itself(prefix, exported):
    folder = prefix / "include"
    # A header that another one includes before anything else is compiled by itself with that one.
    begins = {_begins_with(folder / "ns3" / name) for name in exported | {"gradsync-module.h"}}
    names = (exported | {"gradsync-module.h"}) - begins
    command = [_cache("CMAKE_CXX_COMPILER"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra"]
    command += ["-Werror", "-x", "c++", f"-I{folder}", f"-I{_ns3_headers(prefix).parent}", "-"]

    def complaint(name: str) -> str:
        text = f"#include <ns3/{name}>\n"
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=False
        ).stderr

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = dict(zip(sorted(names), pool.map(complaint, sorted(names)), strict=True))
    assert {name: text for name, text in complaints.items() if text} == {}


def test_a_users_project_builds_against_the_installed_package(prefix, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests" / "user-project", project)
    settings = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-Dns3_DIR={_cache('ns3_DIR')}"]
    settings += ["-G", "Ninja", f"-DCMAKE_CXX_COMPILER={_cache('CMAKE_CXX_COMPILER')}"]
    configured = call(["cmake", "-S", project, "-B", tmp_path / "build", *settings], tmp_path)
    assert configured.returncode == 0, configured.stderr
    built = call(["cmake", "--build", tmp_path / "build"], tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    result = call([tmp_path / "build" / "my-exchange"], tmp_path)
    # A packet of 1000 bytes has 82 of headers, preamble and gap: a step takes 101 x 1082 ns and 2 us.
    expected = 14 * (101 * 1_082_000 + 2_000_000)
    assert result.stdout == f"{expected} ps, by the closed form {expected} ps\n"
    assert result.returncode == 0


def test_the_installed_program_runs_a_scenario(prefix, program, tmp_path):
    here = call([prefix / "bin" / "gradsync", "run", SMOKE, "--out=installed"], tmp_path)
    assert here.returncode == 0, here.stderr
    assert program("run", SMOKE, "--out=built").returncode == 0
    installed, built = (
        [
            {key: value for key, value in row.items() if key not in ("wall_s", "peak_rss_bytes")}
            for row in rows_of(tmp_path / folder / "runs.csv")
        ]
        for folder in ("installed", "built")
    )
    assert installed == built
