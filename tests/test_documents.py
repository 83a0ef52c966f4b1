"""The Markdown files: length of the README, links and tables of contents."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FOLDERS = (".", "docs", "docs/notebooks", "benchmarks", "encoders/models/*", "tests/*")
GENERATED = {DOCS / "cli.md"}
"""Pages that ``docs/generate.py`` writes, besides those of ``docs/benchmarks``."""
DOCUMENTS = sorted({path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.md")} - GENERATED)
README_WORDS = 700


def is_there(path):
    """Return whether a linked file exists, or is written when the site is built."""
    path = path.resolve()
    return path.exists() or path in GENERATED or path.parent == DOCS / "benchmarks"


def site_pages():
    """Return the pages that the tables of contents of the site's first page list."""
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", first, re.DOTALL)
    names = [line for block in blocks for line in block.split("\n") if line and line[0] != ":"]
    return [DOCS / f"{name}.md" for name in names]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= README_WORDS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_to_files(document):
    targets = re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))
    missing = [
        target
        for target in targets
        if not re.match(r"[a-z]+:|#", target)
        and not is_there(document.parent / target.split("#")[0])
    ]
    assert not missing


def test_the_contents_of_the_site_are_there():
    assert [page for page in site_pages() if not is_there(page)] == []


def test_every_document_is_in_the_contents_of_the_site():
    pages = {*site_pages(), DOCS / "index.md"}
    written = {*DOCS.glob("*.md"), *DOCS.glob("notebooks/*.md")}
    assert written - pages == set()
