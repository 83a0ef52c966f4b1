"""The Markdown files: what they link to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = (".", "docs", "benchmarks", "encoders/models/*", "tests/*")
DOCUMENTS = sorted({path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.md")})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_to_files(document):
    targets = re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))
    missing = [
        target
        for target in targets
        if not re.match(r"[a-z]+:|#", target)
        and not (document.parent / target.split("#")[0]).exists()
    ]
    assert not missing


def test_every_document_is_read_from_another_one():
    linked = {
        (document.parent / target.split("#")[0]).resolve()
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)\s]+\.md)[^)]*\)", document.read_text(encoding="utf-8"))
    }
    assert [path for path in (ROOT / "docs").glob("*.md") if path.resolve() not in linked] == []
