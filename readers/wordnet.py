"""The WordNet database: ``data.noun``, ``.verb``, ``.adj`` and ``.adv`` of a ``dict`` folder."""

from __future__ import annotations

from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.formats import folder_format
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "is_wordnet", "read_wordnet"]

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
POINTERS = {
    "!": "antonym",
    "@": "hypernym",
    "@i": "instance_hypernym",
    "~": "hyponym",
    "~i": "instance_hyponym",
    "#m": "member_holonym",
    "#s": "substance_holonym",
    "#p": "part_holonym",
    "%m": "member_meronym",
    "%s": "substance_meronym",
    "%p": "part_meronym",
    "=": "attribute",
    "+": "derivationally_related_form",
    "*": "entailment",
    ">": "cause",
    "^": "also_see",
    "$": "verb_group",
    "&": "similar_to",
    "<": "participle_of_verb",
    "\\": "pertainym",
    ";c": "synset_domain_topic_of",
    "-c": "member_of_domain_topic",
    ";r": "synset_domain_region_of",
    "-r": "member_of_domain_region",
    ";u": "synset_domain_usage_of",
    "-u": "member_of_domain_usage",
}


def is_wordnet(folder: Path) -> bool:
    """Tell whether a folder contains a WordNet database."""
    return (folder / "data.noun").is_file()


def read_wordnet(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read synsets (``00001740-n``) and their pointers.

    The first lemma is the label, the others are synonyms, the gloss is the definition.
    """
    links: list[tuple[str, str, str, int, str]] = []
    for part, letter in PARTS.items():
        path = folder / f"data.{part}"
        if not path.is_file():
            continue
        for number, line in lines_of(path, problems):
            if line.startswith("  ") or not line.strip():
                continue
            try:
                links.extend((*link, number, str(path)) for link in _synset(line, letter, builder))
            except (ValueError, IndexError, KeyError) as error:
                problems.unexpected("a synset as in wndb(5)", line, number, path, why=error)
    for head, relation, tail, number, source in links:
        if tail in builder:
            builder.triple(head, relation, tail)
        else:
            problems.unexpected("a pointer to a synset that is there", tail, number, source)


def _synset(line: str, letter: str, builder: GraphBuilder) -> list[tuple[str, str, str]]:
    fields, bar, gloss = line.partition("|")
    cells = fields.split()
    if not bar or len(cells[0]) != 8 or not cells[0].isdigit():
        raise ValueError("no offset or no gloss")
    identifier = f"{cells[0]}-{letter}"
    n_words = int(cells[3], 16)
    words = [cells[4 + 2 * at].split("(")[0].replace("_", " ") for at in range(n_words)]
    start = 4 + 2 * n_words
    n_pointers = int(cells[start])
    pointers = [cells[start + 1 + 4 * at : start + 5 + 4 * at] for at in range(n_pointers)]
    links = [
        (identifier, POINTERS[symbol], f"{offset}-{pos}") for symbol, offset, pos, _ in pointers
    ]
    builder.entity(identifier, label=words[0], synonyms=words[1:], definition=gloss)
    return links


FORMAT = folder_format(
    "wordnet",
    "The WordNet database: a dict folder with data.noun.",
    matches=is_wordnet,
    reader=read_wordnet,
)
