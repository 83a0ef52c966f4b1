"""``ontodex demo``: build an index of a public graph, and query it."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ontodex
from ontodex.demo_data import write_hpo, write_schema_org
from ontodex.errors import expect_choice

__all__ = ["DEMOS", "run_demo"]


@dataclass(frozen=True)
class Question:
    """A query of the demo.

    Attributes:
        why: The question in plain words.
        method: The engine's method, which is also the command.
        arguments: Positional arguments.
        k: Number of answers.
        named: Keyword arguments of the method, and options of the command.
    """

    why: str
    method: str
    arguments: tuple[str, ...]
    k: int = 5
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def python(self) -> str:
        """The query in Python."""
        named = [f"{name}={value!r}" for name, value in self.named.items()]
        arguments = ", ".join([*map(repr, self.arguments), f"k={self.k}", *named])
        return f"engine.{self.method}({arguments})"

    def shell(self, index: Path) -> str:
        """Return the query as a shell command on an index."""
        named = "".join(f" --{name} {shlex.quote(value)}" for name, value in self.named.items())
        arguments = shlex.join([str(index), *self.arguments])
        return f"ontodex {self.method.replace('_', '-')} {arguments} -k {self.k}{named}"


@dataclass(frozen=True)
class Demo:
    """A graph and queries to it.

    Attributes:
        about: The content of the graph.
        write: Writes the source files to a folder, and returns their paths.
        index: Folder name of the index.
        questions: The queries.
    """

    about: str
    write: Callable[[Path], list[Path]]
    index: str
    questions: tuple[Question, ...]


DEMOS = {
    "schema-org": Demo(
        "Schema.org: classes, their hierarchy, and the properties that link them",
        write_schema_org,
        "schema-org.odx",
        (
            Question("Which class describes this?", "search", ("a place to stay overnight",)),
            Question(
                "What else may be a member of a music group?", "tails", ("MusicGroup", "member")
            ),
            Question("Why a person?", "why", ("MusicGroup", "member", "Person"), 2),
            Question("Which links does the vocabulary most probably lack?", "missing", (), 10),
            Question("What has opening hours?", "heads", ("opening hours", "Text")),
            Question(
                "How may a person and an organization be linked?",
                "relations",
                ("Person", "Organization"),
            ),
            Question(
                "What is similar to a movie in who directs it?",
                "similar",
                ("Movie",),
                named={"condition": "director"},
            ),
            Question(
                "What is a new class a kind of?", "parents", ("a shop that repairs bicycles",)
            ),
            Question("Where does it belong?", "place", ("a shop that repairs bicycles",), 3),
            Question("What is below an asserted class?", "children", ("FoodEstablishment",)),
            Question(
                "Which statements follow from this one?",
                "entailed_by",
                ("They sell bread and cakes in this shop.",),
            ),
            Question(
                "A relation that the vocabulary does not have is weak (a movie theater is like a "
                "movie): here with the type of its answers.",
                "tails",
                ("Movie", "was filmed in"),
                named={"type": "AdministrativeArea"},
            ),
        ),
    ),
    "hpo": Demo(
        "The Human Phenotype Ontology, with diseases and genes annotated to its terms",
        write_hpo,
        "hpo.odx",
        (
            Question("Which term describes this?", "search", ("trouble falling asleep",)),
            Question(
                "Which phenotypes do the annotations lack?",
                "tails",
                ("Marfan syndrome", "has phenotype"),
                10,
            ),
            Question(
                "Why Pectus carinatum?",
                "why",
                ("Marfan syndrome", "has phenotype", "Pectus carinatum"),
                2,
            ),
            Question("Which diseases may show this?", "heads", ("has phenotype", "Arachnodactyly")),
            Question(
                "Which diseases may this gene be linked to?",
                "tails",
                ("FBN1", "associated with disease"),
            ),
            Question(
                "Which diseases have similar phenotypes?",
                "similar",
                ("Marfan syndrome",),
                named={"condition": "has phenotype"},
            ),
            Question(
                "What is a new term a kind of?",
                "parents",
                ("sleeping badly because of pain",),
            ),
            Question("Where does it belong?", "place", ("sleeping badly because of pain",), 3),
            Question("What is below an asserted term?", "children", ("Insomnia",)),
            Question(
                "Which statements follow from this one?",
                "entailed_by",
                ("The child cannot hear anything.",),
            ),
        ),
    ),
}


def run_demo(name: str, folder: Path, *, device: str = "auto", quiet: bool = False) -> None:
    """Write a graph to files, read them, build an index, and print queries with their answers.

    Args:
        name: One of :data:`DEMOS`.
        folder: Folder for the files and the index.
        device: Device of encoders and runs.
        quiet: Print no progress on stderr.

    Raises:
        SettingsError: If the demo is unknown.
        OntodexError: If the package with the graph's data is not installed.
    """
    expect_choice("graph", name, DEMOS)
    demo = DEMOS[name]
    start = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    files = demo.write(folder)
    sources = [file for file in files if file.is_dir() or file.name.endswith((".ttl", ".obo"))]
    index = folder / demo.index
    _print(f"{demo.about}.\n")
    _print(f">>> graph = ontodex.read({', '.join(repr(str(file)) for file in sources)})")
    graph = ontodex.read(*sources)
    _print(f"{graph!r}\n")
    _print(f">>> engine = ontodex.build(graph, {str(index)!r})")
    _print(f"  $ ontodex build {shlex.join(map(str, sources))} -o {shlex.quote(str(index))}")
    engine = ontodex.build(graph, index, device=device, quiet=quiet)
    seconds: dict[str, Any] = engine.index.manifest.seconds
    _print(
        ", ".join(f"{what} {took:.0f} s" for what, took in seconds.items() if took >= 0.5) + "\n"
    )
    with engine:
        for question in demo.questions:
            _print(f"# {question.why}\n>>> {question.python}\n  $ {question.shell(index)}")
            ask = getattr(engine, question.method)
            _print(f"{ask(*question.arguments, k=question.k, **question.named)}\n")
    _print(f"Done in {time.perf_counter() - start:.0f} s. The index is in {index}.")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
