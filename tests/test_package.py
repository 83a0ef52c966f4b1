"""The wheel, the imports, the pinned versions, and words that no committed file may contain."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE_DIR: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
FOLDERS = sorted({PurePosixPath(folder).parts[0] for folder in PACKAGE_DIR.values()})
FORBIDDEN_CODE = {
    "pickle": re.compile(
        r"^\s*(import|from)\s+(pickle|cPickle|dill|cloudpickle|joblib|shelve|marshal)\b", re.M
    ),
    "torch.load": re.compile(r"\btorch\.load\("),
    "allow_pickle": re.compile(r"\ballow_pickle\s*=\s*True"),
    "trust_remote_code": re.compile(r"\btrust_remote_code\s*=\s*True"),
}


def shipped() -> dict[str, Path]:
    """Every file of the package folders that belongs in the wheel, by its place there."""
    folders = {
        folder: "/".join(name.split("."))
        for name, folder in PACKAGE_DIR.items()
        if "/" not in folder
    }
    return {
        f"{place}/{path.relative_to(ROOT / folder).as_posix()}": path
        for folder, place in folders.items()
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
        and "__pycache__" not in path.parts
        and (path.suffix not in {".md", ".pyc"} or "models" in path.parts)
    }


def module_name(place: str) -> str:
    """The import name of a file: ``ontodex/graph/names.py`` is ``ontodex.graph.names``."""
    return place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_name(place): path for place, path in shipped().items() if path.suffix == ".py"}


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command; show its output if it failed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel that is built from an sdist that is built from a copy of the sources."""
    source = tmp_path_factory.mktemp("source")
    leave = shutil.ignore_patterns("__pycache__")
    for folder in [*FOLDERS, "tests", "benchmarks"]:
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, source / folder, ignore=leave)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        source / "dist",
        source,
        cwd=source,
    )
    (path,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_wheel_holds_ontodex_and_its_dist_info_only(wheel: list[str]):
    tops = {name.split("/")[0] for name in wheel}
    assert tops == {"ontodex", f"ontodex-{PROJECT['project']['version']}.dist-info"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)


def test_wheel_holds_every_source_file(wheel: list[str]):
    assert {name for name in wheel if name.startswith("ontodex/")} == set(shipped())
    assert "ontodex/py.typed" in wheel


def test_folders_are_the_same_in_makefile_and_pyproject():
    (listed,) = re.findall(
        r"^FOLDERS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
    )
    assert sorted([*listed.split(), "api"]) == FOLDERS


@pytest.mark.parametrize("where", ["root", "elsewhere"])
def test_every_module_imports_from_any_directory(where: str, tmp_path: Path):
    code = f"import importlib\nfor name in {sorted(MODULES)}: importlib.import_module(name)"
    run(sys.executable, "-c", code, cwd=ROOT if where == "root" else tmp_path)


def test_importing_ontodex_is_light(tmp_path: Path):
    loaded = run(
        sys.executable, "-c", "import ontodex, sys; print(*sys.modules)", cwd=tmp_path
    ).split()
    assert {"torch", "transformers", "sentence_transformers", "faiss"} & set(loaded) == set()


@pytest.mark.parametrize(
    "name", [name for name in sorted(MODULES) if not name.rpartition(".")[2].startswith("_")]
)
def test_public_module_has_a_docstring(name: str):
    assert ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))), (
        f"{MODULES[name]}: no docstring"
    )


@pytest.mark.parametrize("what", FORBIDDEN_CODE)
def test_package_runs_no_code_from_data(what: str):
    pattern = FORBIDDEN_CODE[what]
    assert [
        name for name, path in MODULES.items() if pattern.search(path.read_text(encoding="utf-8"))
    ] == []


def test_no_committed_file_names_a_place_of_this_machine():
    if shutil.which("git") and (ROOT / ".git").exists():
        listing = run(
            "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT
        )
        paths = [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]
    else:  # an archive of the sources: what is not installed or built
        made = {".venv", "build", "dist", "__pycache__"}
        paths = [
            path
            for path in ROOT.rglob("*")
            if path.is_file() and made.isdisjoint(path.relative_to(ROOT).parts)
        ]
    local = b"/" + b"work/"
    assert paths
    assert [str(path.relative_to(ROOT)) for path in paths if local in path.read_bytes()] == []


def test_constraints_pin_every_dependency_and_name_no_place():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    pin = re.compile(r"([a-z0-9-]+)==[0-9][0-9a-z.]*( ; python_version (<|>=) \"3\.11\")?")
    assert [line for line in pins if not pin.fullmatch(line)] == []
    project = PROJECT["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {re.split(r"[^A-Za-z0-9_.-]", name)[0].lower().replace("_", "-") for name in wanted}
    assert names - {line.split("==")[0] for line in pins} == set()
