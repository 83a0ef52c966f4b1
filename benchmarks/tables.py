"""Pages of the benchmarks, generated from the records: one per benchmark, and a summary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.record import RESULTS, ROOT, flat

__all__ = ["PAGES", "SITE", "pages", "read_records", "summary", "write_pages"]


SITE = ROOT / "docs" / "benchmarks"
"""Folder of the pages in the sources of the documentation."""


class Line(NamedTuple):
    """A line of the summary.

    Attributes:
        what: Task and metric.
        record: Name of the record.
        figure: Name of the figure that is shown.
        beside: The best published number, or peer, with its name.
    """

    what: str
    record: str
    figure: str
    beside: str


class Page(NamedTuple):
    """A page, which shows the records whose names begin with its name.

    Attributes:
        title: Its heading.
        lines: Its lines in the summary.
    """

    title: str
    lines: tuple[Line, ...] = ()


KEPT = "mrr, the asked entity a candidate"
PAGES: dict[str, Page] = {
    "kgc": Page(
        "Link prediction on WN18RR and FB15k-237",
        (
            Line("WN18RR, MRR", "kgc-wn18rr-frozen", KEPT, "Hyper-CL .616, SimKGC .666"),
            Line("WN18RR, MRR, fine-tuned", "kgc-wn18rr-tuned", KEPT, "MoCoKGC .742, KERMIT .700"),
            Line("FB15k-237, MRR", "kgc-fb15k-237-frozen", KEPT, "NBFNet .415, Hyper-CL .318"),
        ),
    ),
    "architectures": Page("Architectures of link prediction, texts alone"),
    "link-weights": Page("Candidates by which weights of links are fitted"),
    "small-graphs": Page(
        "Link prediction on small graphs",
        (
            Line("Nations, MRR", "small-graphs-nations", f"ontodex · {KEPT}", "ComplEx .774"),
            Line("Kinships, MRR", "small-graphs-kinships", f"ontodex · {KEPT}", "RotatE .840"),
            Line("UMLS, MRR", "small-graphs-umls", f"ontodex · {KEPT}", "RotatE .881"),
        ),
    ),
    "relations": Page(
        "Relation prediction",
        (
            Line(
                "WN18RR, hits@1",
                "relations-wn18rr",
                "both known · ontodex · hits@1",
                "PathCon .954",
            ),
            Line(
                "FB15k-237, hits@1",
                "relations-fb15k-237",
                "both known · ontodex · hits@1",
                "PathCon .964",
            ),
            Line(
                "FB15k-237, one entity without links, MRR",
                "relations-fb15k-237",
                "one without links · ontodex · mrr",
                "texts alone .850",
            ),
        ),
    ),
    "missing-links": Page(
        "Link discovery",
        (
            Line(
                "HPO, right of the first 100",
                "missing-links-hpo",
                "ontodex · right of the first 100",
                "",
            ),
        ),
    ),
    "unseen-relations": Page("Relations left out of training"),
    "zero-shot": Page("Link prediction without training"),
    "conditional": Page("Similarity under a condition"),
    "conditional-ranking": Page("Ranking by similarity under a relation"),
    "conditional-search": Page("Speed of search under a condition"),
    "hierarchy": Page(
        "Held-out subsumptions",
        (
            Line(
                "WordNet multi-hop, F1, random negatives, two weights",
                "hierarchy-wordnet-multi-hop-24-passes",
                "HiT, two weights · random.f1",
                "HiT .871, with this encoder; number of entities below the parent .920",
            ),
            Line(
                "the same, hard negatives",
                "hierarchy-wordnet-multi-hop-24-passes",
                "HiT, two weights · hard.f1",
                "HiT .907, with this encoder; number of entities below the parent .920",
            ),
        ),
    ),
    "hierarchy-search": Page("Speed of search by the subsumption score"),
    "hierarchy-cost": Page("Cost of a training step of HiT"),
    "new-concepts": Page(
        "Parents and children of new concepts",
        (
            Line(
                "Disease Ontology, parent right at once",
                "new-concepts-doid-2026",
                "parents · hits@1",
                "",
            ),
        ),
    ),
    "small-hierarchies": Page("Small taxonomies"),
    "audit": Page(
        "Doubtful and missing links of a hierarchy",
        (
            Line(
                "Disease Ontology, wrong of the first 100",
                "audit-doid-2026",
                "audit · doubtful, wrong of the first 100",
                "",
            ),
        ),
    ),
    "search": Page(
        "Search by other names",
        (
            Line(
                "Disease Ontology, unseen synonyms, MRR",
                "search-doid-2016",
                "synonyms unknown · search · mrr",
                "trigrams .66, MiniLM .61, of all names .73",
            ),
        ),
    ),
    "everyday": Page("Everyday questions"),
    "newcomers": Page("Files that nobody prepared"),
    "calibration": Page("Probabilities beside what is right"),
    "entailment": Page(
        "Entailment",
        (
            Line(
                "mean accuracy of SNLI, MNLI and SICK",
                "entailment-0",
                "ent+con+rev and all labelled pairs · mean accuracy",
                "GaussCSE .800",
            ),
        ),
    ),
    "entailment-kinds": Page(
        "Entailment of many kinds",
        (
            Line(
                "captions with a replaced word, accuracy",
                "entailment-kinds",
                "replaced word · cross-encoder · accuracy",
                "cosine of MiniLM .50, GaussCSE .53",
            ),
        ),
    ),
    "entailment-search": Page("Speed of search by KL divergence"),
    "sts": Page(
        "Similarity of sentences and words",
        (Line("STS-B, Spearman", "sts", "context k=128 u=2 · STS-B", "Self-StrAE .613"),),
    ),
    "sts-cost": Page("Cost of a training step of Self-StrAE"),
    "french": Page("A text encoder from French text"),
    "caching": Page("Running times of the Hyper-CL paper"),
    "retrieval": Page("Speed of exact search"),
    "encode": Page("Speed of encoding"),
    "build": Page("Building an index in stages"),
    "start": Page("Start of the command line, and first questions"),
    "ground": Page("Texts to terms or to none"),
    "large-graph": Page("A graph of 120,000 entities"),
    "reliability": Page("Reliability"),
}
"""Pages by the prefix of their records' names; the longest matching prefix counts."""


def read_records(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return all records in order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def page_of(record: str) -> str:
    """Return the name of the page of a record.

    Raises:
        KeyError: If the record's name begins with the name of no page.
    """
    names = [name for name in PAGES if record == name or record.startswith(f"{name}-")]
    if not names:
        raise KeyError(f"{record}: expected a record of {', '.join(PAGES)}; add a page for it")
    return max(names, key=len)


def pages(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the pages in Markdown by name: a section for each record, and ``index``."""
    sections: dict[str, list[str]] = {}
    for record in records:
        sections.setdefault(page_of(record["name"]), []).append(_section(record))
    found = {
        name: "\n".join([f"# {PAGES[name].title}\n", *sections[name]])
        for name in PAGES
        if name in sections
    }
    return {"index": summary(records, list(found)), **found}


def summary(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return the summary: main figures beside published numbers, and a list of pages.

    Args:
        records: The records.
        names: Names of the existing pages.
    """
    figures = {record["name"]: flat(record["figures"]) for record in records}
    rows = [
        f"| [{line.what}]({name}.md) | {_number(figures[line.record][line.figure])} "
        f"| {line.beside} |"
        for name in names
        for line in PAGES[name].lines
        if line.record in figures
    ]
    listed = "\n".join(names)
    return f"""\
# Benchmarks

Generated from the records in `benchmarks/results/`; `python -m benchmarks --help` lists the
commands. Each page has its command, commit, seed, machine, protocol and notes. For MRR the query
entity stays a candidate, as in the papers.

| | ontodex | published, or peer |
| --- | ---: | --- |
{chr(10).join(rows)}

```{{toctree}}
:maxdepth: 1

{listed}
```
"""


def write_pages(records: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write the pages that changed; return the paths of all pages.

    Args:
        records: The records.
        folder: Folder of the pages; created if missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in pages(records).items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _section(record: Mapping[str, Any]) -> str:
    machine = record["machine"]
    packages = [f"{name} {found}" for name, found in machine.items() if name in _shown(machine)]
    where = [
        machine["cpu"],
        f"{machine['cores']} cores",
        f"{machine['memory_gb']:g} GB",
        *([machine["gpu"]] if machine["gpu"] else []),
        "bfloat16" if machine["bfloat16"] else "no bfloat16",
        f"load {machine['load']:g} at the end",
    ]
    commit = f"{record['commit'][:10]}{' with changes' if record['dirty'] else ''}"
    lines = [
        f"## {record['title']}",
        "",
        f"`{record['command']}`, {record['date'][:10]}, commit {commit}, seed {record['seed']}  ",
        f"{', '.join(where)}; {', '.join(packages)}",
        "",
        "| figure | value | goal | |",
        "| --- | ---: | ---: | --- |",
        *(
            _row(name, value, record["goals"].get(name))
            for name, value in flat(record["figures"]).items()
        ),
        "",
        *(
            f"* Training data that the configuration of {model} names: {', '.join(seen) or 'none'}."
            for model, seen in record.get("seen", {}).items()
        ),
        *(f"* {note}" for note in record["notes"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _shown(machine: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name in machine
        if name in ("python", "numpy", "torch", "faiss-cpu", "faiss-gpu", "lmdb", "pykeen")
    ]


def _row(name: str, value: Any, goal: Mapping[str, Any] | None) -> str:
    if goal is None:
        return f"| {name} | {_number(value)} | | |"
    wanted = [
        f"{sign} {_number(goal[key])}"
        for key, sign in (("at_most", "≤"), ("at_least", "≥"))
        if key in goal
    ]
    met = "met" if goal["met"] else "**missed**"
    return f"| {name} | {_number(value)} | {', '.join(wanted)} | {met} |"


def _number(value: Any) -> str:
    """Format a value with enough digits: 1,234, 12.3, 0.123; a share near 1 in full.

    >>> [_number(value) for value in (1234.5, 12.34, 0.1234, 0.99995, 300000, "auto")]
    ['1,234', '12.3', '0.123', '0.99995', '300,000', 'auto']
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if 0.99 < value < 1:
        return f"{value:.5f}".rstrip("0")
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
