"""The code blocks of the guides, run on a small part of the Human Phenotype Ontology."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import ontodex
from ontodex.demo_data import write_hpo
from ontodex.graph import GraphBuilder, write_tsv
from ontodex.graph.vocabulary import PROPOSED
from tests.shell import run_ontodex

DOCS = Path(__file__).parent.parent / "docs"


def page(name):
    """Return the blocks of Python of a page, and those of shell that call ontodex."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    python = "".join(code for language, code in blocks if language)
    shell = [code for language, code in blocks if not language and code.startswith("ontodex ")]
    return python, shell


PYTHON, SHELL = page("quickstart")
MISSING_PYTHON, MISSING_SHELL = page("explaining")
VECTORS_PYTHON, VECTORS_SHELL = page("vectors")
HIERARCHY_PYTHON, HIERARCHY_BLOCKS = page("hierarchies")
REVIEW = [block for block in HIERARCHY_BLOCKS if "ontodex remove" in block]
HIERARCHY_SHELL = [block for block in HIERARCHY_BLOCKS if "ontodex remove" not in block]
_, CONDITION_SHELL = page("conditions")
ENTAILMENT_PYTHON, ENTAILMENT_SHELL = page("entailment")
TEXT_PYTHON, TEXT_SHELL = page("encoders")
_, GROWING_SHELL = page("growing")
QUICK = {"train": ["--epochs", "0.5"], "build": ["--no-train"]}
"""Options that make the commands of the hierarchy guide fast."""
KEPT = (
    "Insomnia",
    "Arachnodactyly",
    "Marfan syndrome",
    "Gaucher disease",
    "FBN1",
    "Sleep onset insomnia",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with hp.obo and annotations/ of the guides, reduced to what their names need."""
    place = tmp_path_factory.mktemp("guides")
    ontology, annotations = write_hpo(place / "full")
    graph = ontodex.read(ontology, annotations)
    near = {graph.find(name)[0] for name in KEPT}
    near |= {int(row) for entity in list(near) for row in graph.neighbours(entity)[:40]}
    hierarchy = graph.hierarchy()
    near |= {int(row) for entity in list(near) for row in hierarchy.ancestors(entity)}
    terms = [graph.ids[row] for row in sorted(near)]
    frames = re.split(r"\n(?=\[Term\])", ontology.read_text(encoding="utf-8"))
    wanted = {term for term in terms if term.startswith("HP:")}
    cut = [
        frames[0],
        *(
            frame
            for frame in frames[1:]
            if re.search(r"^id: (\S+)", frame, re.MULTILINE)[1] in wanted
        ),
    ]
    (place / "hp.obo").write_text("\n".join(cut), encoding="utf-8")
    builder = GraphBuilder("annotations")
    for row in sorted(near):
        if graph.ids[row] not in wanted:
            builder.entity(graph.ids[row], graph.labels[row], graph.synonyms[row])
    for head, relation, tail in graph.triples.tolist():
        if head in near and tail in near and graph.relation_ids[relation] != "is_a":
            builder.relation(graph.relation_ids[relation], graph.relation_labels[relation])
            builder.triple(graph.ids[head], graph.relation_ids[relation], graph.ids[tail])
    write_tsv(builder.build(), place / "annotations")
    (place / "questions.tsv").write_text("Marfan syndrome\thas phenotype\n")
    (place / "visits.csv").write_text("visit,complaint\n1,cannot sleep\n2,arachnodactily\n")
    book = openpyxl.Workbook()
    for cells in (("visit", "complaint"), (1, "Insomnia"), (2, None)):
        book.active.append(cells)
    book.save(place / "visits.xlsx")
    (place / "new-terms.txt").write_text("sleeping badly because of pain\nInsomnia\n")
    (place / "new-terms.obo").write_text(
        "format-version: 1.4\n\n[Term]\nid: HP:9999999\nname: Trouble staying awake\n"
        "is_a: HP:0000118\n"
    )
    return place


@pytest.fixture(scope="module")
def asked(folder):
    """The answers of the quick start's Python, which builds the index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        names = {}
        answers = answers_of(PYTHON, names)
        names["engine"].close()
    return answers


def answers_of(python, names):
    """Run lines of Python; return what those give that ask the engine."""
    answers = []
    for statement in python.split("\n"):
        code = statement.split("  #")[0].strip()
        if code.startswith("engine."):
            answers.append(eval(code, names))
        elif code:
            exec(code, names)
    return answers


def run_shell(blocks, folder, more):
    """Run blocks of shell.

    Args:
        blocks: Blocks of lines that call ontodex.
        folder: Where they run.
        more: Arguments to add to a command, or ``None`` to leave the command out.
    """
    for line in "".join(blocks).strip().splitlines():
        command = shlex.split(line.split("  #")[0])
        arguments, output = (
            (command[: command.index(">")], command[-1]) if ">" in command else (command, None)
        )
        assert arguments[0] == "ontodex"
        added = more.get(arguments[1], [])
        if added is None:
            continue
        status, stdout, stderr = run_ontodex([*arguments[1:], *added], cwd=folder)
        assert status == 0, f"{line}\n{stderr}"
        if output:
            (folder / output).write_text(stdout)


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_python_answers(asked):
    tails, heads, relations, search, similar, under, parents, children, place, *others = asked
    entailed, batch, grounded = others
    assert len(tails) == 10
    assert not any(hit.known for hit in tails)
    assert heads.resolutions["tail"].label == "Arachnodactyly"
    assert len(relations) == 4
    assert any("nsomnia" in hit.label or "leep" in hit.label for hit in search[:3])
    assert similar.resolutions["text"].label == "Insomnia"
    assert under.resolutions["condition"].label == "has phenotype"
    assert "known tails" in under.method
    assert parents.resolutions["text"].kind == "synonym"
    assert any(hit.known for hit in parents)
    assert any(hit.known for hit in children)
    assert len(place) == 5
    assert all(hit.text for hit in entailed)
    assert [len(hits) for hits in batch] == [10, 10]
    assert grounded["term_label"][1] == "Arachnodactyly"
    assert grounded["decision"].tolist()[1:] == ["match", "none"]


def test_the_shell_answers(asked, folder):
    run_shell(
        SHELL + GROWING_SHELL, folder, {"build": None}
    )  # the Python blocks built the same index
    assert (folder / "answers.jsonl").read_text().startswith('{"query"')
    assert "2\tarachnodactily\tHP:0001166" in (folder / "grounded.tsv").read_text()
    rows = list(openpyxl.load_workbook(folder / "grounded.xlsx").active.iter_rows(values_only=True))
    assert rows[1][3] == "Insomnia"
    assert rows[2][2:] == (None,) * 4
    assert "HP:9999999" in (folder / "hp.nq").read_text().replace("HP_", "HP:")


def test_vectors_for_other_programs(asked, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"ontodex": ontodex}
    answers_of(VECTORS_PYTHON, names)
    found = names["found"]
    names["engine"].close()
    assert names["scores"].shape == (1, len(found))
    run_shell(VECTORS_SHELL, folder, {})
    assert (
        len(np.load(folder / "hp.npy")) == len((folder / "hp.npy.tsv").read_text().splitlines()) - 1
    )


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_missing_links_and_explanations(asked, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"ontodex": ontodex}
    everything, phenotypes, why = answers_of(MISSING_PYTHON, names)
    names["engine"].close()
    assert len(everything) == 100
    assert {link.relation_label for link in phenotypes} == {"has phenotype"}
    assert {reason.by for reason in why} >= {"text", "similar heads (text)"}
    (folder / "wrong.tsv").write_text(everything.to_tsv())
    run_shell(MISSING_SHELL, folder, {"missing": ["-q"]})
    rows = [line.split("\t") for line in (folder / "missing.tsv").read_text().splitlines()]
    assert rows[0][0::2] == ["head", "relation", "tail", "score"]
    with ontodex.open(folder / "hp.odx", device="cpu") as engine:
        link = engine.why(rows[1][0], rows[1][2], rows[1][4])
    assert link.known


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_python_of_hierarchies(asked, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"ontodex": ontodex}
    parents, place, audit, *_ = answers_of(HIERARCHY_PYTHON, names)
    names["engine"].close()
    assert not any(hit.known for hit in parents)
    assert all(0 < hit.probability < 1 for hit in parents)
    assert len(place) == 3
    assert {row.verdict for row in audit} >= {"doubtful", "missing"}
    assert "Insomnia" in (folder / "insomnia.svg").read_text(encoding="utf-8")
    assert "<svg" in (folder / "norms.svg").read_text(encoding="utf-8")


def test_the_shell_of_hierarchies(asked, folder):
    run_shell(HIERARCHY_SHELL, folder, {**QUICK, "eval": ["--negatives", "1"]})
    assert len((folder / "places.jsonl").read_text().splitlines()) == 2
    assert (folder / "review.sssom.tsv").read_text().startswith("#curie_map:")
    assert (folder / "insomnia.png").stat().st_size > 10_000
    with ontodex.open(folder / "hp-own.odx", device="cpu") as engine:
        assert engine.resources.encoders.hierarchy.base == "sentence-transformers/all-MiniLM-L6-v2"


def test_what_a_curator_confirms_goes_into_the_index(asked, folder):
    review = folder / "review.sssom.tsv"
    lines = review.read_text().splitlines()
    missing = next(at for at, line in enumerate(lines) if "\trdfs:subClassOf\t\t" in line)
    doubtful = next(at for at, line in enumerate(lines) if "\tNot\t" in line)
    for at in (missing, doubtful):
        lines[at] = lines[at].replace(PROPOSED, "semapv:ManualMappingCuration")
    review.write_text("\n".join(lines) + "\n")
    with ontodex.open(folder / "hp.odx", device="cpu") as engine:
        before = engine.graph
    run_shell(REVIEW, folder, {})
    with ontodex.open(folder / "hp.odx", device="cpu") as engine:
        after = engine.graph
    names = list(before.ids), list(before.relation_ids), list(before.relation_labels)
    assert names == (list(after.ids), list(after.relation_ids), list(after.relation_labels))
    was, known = ({tuple(triple) for triple in graph.triples.tolist()} for graph in (before, after))
    wanted = [(lines[at].split("\t")[0], lines[at].split("\t")[4]) for at in (missing, doubtful)]
    ids = [
        [(after.ids[head], after.ids[tail]) for head, _, tail in more]
        for more in (known - was, was - known)
    ]
    assert ids == [[wanted[0]], [wanted[1]]]


def test_the_shell_of_conditions(asked, folder):
    run_shell(CONDITION_SHELL, folder, {"train": ["--epochs", "1"], "build": ["--no-train"]})
    assert (folder / "hp-conditions" / "condition" / "config.json").exists()
    assert (
        (folder / "hp-pairs" / "test-unseen-conditions.csv")
        .read_text()
        .startswith("sentence1,sentence2,condition,label")
    )


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_python_of_entailment(asked, folder):
    with ontodex.open(folder / "hp.odx", device="cpu") as engine:
        entailed, entailing, probability, direction = answers_of(
            ENTAILMENT_PYTHON, {"engine": engine}
        )
    assert len(entailed) == 5
    assert all(hit.text and 0 < hit.probability < 1 for hit in entailed)
    assert any("leep" in hit.text or "nsomnia" in hit.text for hit in entailed)
    assert any("leep" in hit.text for hit in entailing[:3])
    assert probability > 0.5
    assert direction == "backward"


def test_the_shell_of_entailment(asked, folder):
    lines = (
        "A man plays guitar on a stage.\nThe patient cannot fall asleep at night. She is tired.\n"
    )
    (folder / "statements.txt").write_text(lines)
    labels = ("entailment", "contradiction", "neutral")
    rows = [
        f"A {one} sleeps.\tA {one} does not run.\t{labels[at % 3]}"
        for at, one in enumerate(("dog", "cat", "man") * 9)
    ]
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        (folder / name).write_text("premise\thypothesis\tlabel\n" + "\n".join(rows))
    run_shell(ENTAILMENT_SHELL, folder, {"train": ["--epochs", "0.2"], "build": ["--no-train"]})
    assert len((folder / "answers.jsonl").read_text().splitlines()) == 2
    with ontodex.open(folder / "notes.odx", device="cpu") as engine:
        assert list(engine.graph.labels) == lines.splitlines()


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_python_of_an_own_text_encoder(asked, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    names = {"ontodex": ontodex}
    (found,) = answers_of(TEXT_PYTHON, names)
    names["engine"].close()
    assert capsys.readouterr().out.startswith("trouble falling asleep  ")
    assert all(hit.text for hit in found)


@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_shell_of_an_own_text_encoder(asked, folder):
    lines = [line for line in ontodex.read_corpus(folder / "hp.obo") for _ in range(3)]
    (folder / "corpus.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / "similar.tsv").write_text(
        "insomnia\tsleeplessness\t5\ninsomnia\tlong fingers\t0\nhand\tfoot\t3\n"
    )
    run_shell(TEXT_SHELL, folder, {**QUICK, "train": ["--epochs", "1", "--batch", "64"]})
