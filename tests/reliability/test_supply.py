"""The guard against network access, and a complete page of dependencies."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.reliability.supply import PAGE, ROOT, WHY, brought, licence, normal, weights


def test_the_network_guard_blocks_connections() -> None:
    """The guard that ``tests/api/test_demo.py`` relies on blocks connections."""
    folder = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); from without_network import forbid; "
        f"sys.addaudithook(forbid); "
        "import socket; socket.create_connection(('127.0.0.1', 9))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "may not use the network" in done.stderr


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["demo"], *extras["plot"]]
    assert {normal(re.match(r"[\w.-]+", one)[0]) for one in asked} == WHY.keys()


def test_every_package_and_its_licence_are_written_down() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\S+) \| ([^|]+) \|", page, re.MULTILINE))
    expected = {name: licence(name) for name in (*WHY, *brought())}
    if (
        sys.version_info < (3, 11) or sys.platform != "linux"
    ):  # other versions, and some packages more
        expected = {name: rows.get(name, found) for name, found in expected.items() if name in WHY}
    missing = {name: found for name, found in expected.items() if rows.get(name) != found}
    assert not missing, "run `python -m tests.reliability.supply`"


def test_weights_are_those_that_are_written_down() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, digest in weights().items():
        assert f"| {name} | `{digest}` |" in page
    from ontodex.encoders.locate import _PACKAGE_WEIGHTS

    assert _PACKAGE_WEIGHTS in page
