# SPDX-License-Identifier: GPL-2.0-only
"""The virtual environment: only what the lock files name, byte for byte, and made by one launcher at a time."""

import hashlib
import importlib.metadata
import re
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT, SCENARIOS, SmallTree, call

sys.path.append(str(ROOT))

from launcher import python_environment

LOCKS = [
    *ROOT.glob("analysis/*.lock"),
    *ROOT.glob("kernels/*.lock"),
    *ROOT.glob("tests/bench/*.lock"),
]


def pins(lock):
    """The packages of a lock with their versions and hashes."""
    text = "".join(line for line in lock.read_text().splitlines(True) if line[0] != "#")
    entries = re.findall(
        r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", text, re.M
    )
    assert sum(1 + entry[2].count("--hash") for entry in entries) == text.count("\n"), lock
    return {name: (version, hashes.count("--hash")) for name, version, hashes in entries}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_package_of_a_lock_has_a_version_and_hashes(lock):
    assert pins(lock)
    assert {name for name, (_, hashes) in pins(lock).items() if hashes == 0} == set()


def test_locks_agree_on_the_packages_that_they_share():
    versions = {}
    for lock in LOCKS:
        for name, (version, _) in pins(lock).items():
            versions.setdefault(name.lower().replace("_", "-"), set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree whose lock names one package, which lies in a folder beside it; `plot` imports it."""
    tree = SmallTree(tmp_path / "tree")
    package = tree.folder / "analysis" / "src" / "gradsync"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")  # or the one of PYTHONPATH would be found first
    (package / "__main__.py").write_text("import tiny\nprint(tiny.WORD)\n")
    wheel = tmp_path / "wheels" / "tiny-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "WORD = 'tiny'\n")
        about = "tiny-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", f"tiny.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n")
    tree.wheel = wheel
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))

    def lock(digest):
        for layer in python_environment.MEGABYTES:
            file = tree.folder / "analysis" / f"{layer}.lock"
            file.write_text(f"# A comment.\ntiny==1.0 \\\n    --hash=sha256:{digest}\n")

    tree.lock = lock
    lock(hashlib.sha256(wheel.read_bytes()).hexdigest())
    return tree


def test_first_starts_at_the_same_time_all_succeed(tree):
    started = [
        subprocess.Popen(
            ["./ns3", "plot", "."],
            cwd=tree.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    said = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    assert [out for out, _ in said] == ["tiny\n"] * 4
    # One of them made it; the others waited, or came when it was there.
    assert sum("installing Python packages" in text for _, text in said) == 1
    assert any("is being made already: waiting for it" in text for _, text in said)


def test_a_package_that_is_not_the_one_of_the_lock_is_refused(tree):
    tree.lock("0" * 64)
    result = tree.run("plot", ".")
    assert result.returncode == 4
    assert "DO NOT MATCH THE HASHES" in result.stderr
    assert not list(tree.folder.glob(".venv/lib/*/site-packages/tiny.py"))


def test_a_package_that_would_have_to_run_its_own_installer_is_refused(tree, tmp_path):
    (tmp_path / "tiny-1.0").mkdir()
    (tmp_path / "tiny-1.0" / "setup.py").write_text("open('/dev/full', 'w').write('ran')\n")
    archive = tree.wheel.with_name("tiny-1.0.tar.gz")
    assert call(["tar", "-czf", archive, "tiny-1.0"], tmp_path).returncode == 0
    tree.wheel.unlink()
    tree.lock(hashlib.sha256(archive.read_bytes()).hexdigest())
    result = tree.run("plot", ".")
    assert result.returncode == 4
    assert "No matching distribution found for tiny==1.0" in result.stderr


def test_an_environment_of_another_lock_is_made_anew(tree):
    assert tree.run("plot", ".").stdout == "tiny\n"
    again = tree.run("plot", ".")
    assert (again.returncode, again.stdout, again.stderr) == (0, "tiny\n", "")
    stray = next(tree.folder.glob(".venv/lib/*/site-packages")) / "stray.py"
    stray.write_text("")
    lock = tree.folder / "analysis" / "requirements.lock"
    lock.write_text(lock.read_text() + "# Changed.\n")
    changed = tree.run("plot", ".")
    assert (changed.returncode, changed.stdout) == (0, "tiny\n"), changed.stderr
    assert not stray.exists()


def test_every_lock_has_a_size_and_the_sizes_are_right():
    assert {lock.stem for lock in ROOT.glob("analysis/*.lock")} == set(python_environment.MEGABYTES)
    there = {
        _normal(package.metadata["Name"]): sum(file.size or 0 for file in package.files or [])
        for package in importlib.metadata.distributions()
    }
    measured = {}
    for layer, said in python_environment.MEGABYTES.items():
        names = {_normal(name) for name in pins(ROOT / "analysis" / f"{layer}.lock")}
        # Of what is not installed here (a browser's driver, Sphinx) the tests know nothing.
        if names <= set(there):
            measured[layer] = sum(there[name] for name in names) / 1e6
            assert measured[layer] == pytest.approx(said, rel=0.15), layer
    assert len(measured) >= 8


def _normal(name):
    return re.sub(r"[-_.]+", "-", name.lower())


def test_a_verb_installs_what_it_needs_and_says_how_much_that_is(tree):
    told = tree.run("plot", ".")
    size = python_environment.MEGABYTES[python_environment.PLOTS]
    assert f".venv, about {size} MB: tiny==1.0\n" in told.stderr
    stamps = {path.name for path in (tree.folder / ".venv").glob("gradsync-*.sha256")}
    assert stamps == {"gradsync-requirements.sha256"}
    # Pictures of what happened inside of runs need data frames as well.
    more = tree.run("plot", ".", "--kind=links")
    assert more.stderr.count("installing Python packages") == 1
    assert f"about {python_environment.MEGABYTES[python_environment.TABLES]} MB" in more.stderr
    refused = tree.run("report", ".", "--no-install")
    assert refused.returncode == 4
    assert "requirements-report.lock and --no-install forbids" in refused.stderr


# What the picture of a sweep needs: without data frames, whatever it is a picture of.
_WITHOUT = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("polars", "plotly", "scipy", "sklearn", "snakemake"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Block())
from gradsync.__main__ import main
sys.exit(main(["plot", sys.argv[1]]))
"""


@pytest.mark.parametrize(
    "scenario, changes",
    [
        ("smoke", []),
        ("imported", []),
        ("compression-tradeoff", ["job.gradient=1MB"]),
        ("rat-failures", ["sweep.seed=[1]", "job.gradient=1MiB"]),
        ("regression/asynchronous", []),
        ("regression/training", []),
    ],
)
def test_the_picture_of_a_sweep_needs_no_data_frames(program, tmp_path, scenario, changes):
    simulated = program(
        "run", SCENARIOS / f"{scenario}.json", "--out=r", *(f"--set={change}" for change in changes)
    )
    assert simulated.returncode in (0, 3), simulated.stderr
    drawn = call([sys.executable, "-P", "-c", _WITHOUT, tmp_path / "r"], tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "r" / "plot.svg").exists()
