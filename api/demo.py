"""``ontodex demo``: what a user would do with a file of their own."""

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
    """A question, why somebody asks it, and its arguments to the method of that name, some of them by name."""

    why: str
    method: str
    arguments: tuple[str, ...]
    k: int = 5
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def python(self) -> str:
        """The line of Python that asks it."""
        named = [f"{name}={value!r}" for name, value in self.named.items()]
        return f"engine.{self.method}({', '.join([*map(repr, self.arguments), f'k={self.k}', *named])})"

    def shell(self, index: Path) -> str:
        """Return the line of shell that asks it."""
        named = "".join(f" --{name} {shlex.quote(value)}" for name, value in self.named.items())
        return f"ontodex {self.method.replace('_', '-')} {shlex.join([str(index), *self.arguments])} -k {self.k}{named}"


@dataclass(frozen=True)
class Demo:
    """A graph, and what to ask it."""

    about: str
    write: Callable[[Path], list[Path]]
    index: str
    questions: tuple[Question, ...]


DEMOS = {
    "schema-org": Demo(
        "Schema.org: classes, what is a kind of what, and which property links which",
        write_schema_org,
        "schema-org.odx",
        (
            Question("Which class describes this?", "search", ("a place to stay overnight",)),
            Question("Which links does the vocabulary lack?", "tails", ("MusicGroup", "member")),
            Question("Why the first of these?", "why", ("MusicGroup", "member", "Person"), 2),
            Question(
                "Which links does it lack most likely, whatever they are about?", "missing", (), 10
            ),
            Question("What has opening hours?", "heads", ("opening hours", "Text")),
            Question(
                "How may a person and an organization be linked?",
                "relations",
                ("Person", "Organization"),
            ),
            Question(
                "What is like a movie in who directs it?",
                "similar",
                ("Movie",),
                named={"condition": "director"},
            ),
            Question(
                "What is a new class a kind of?", "parents", ("a shop that repairs bicycles",)
            ),
            Question("Where does it belong, then?", "place", ("a shop that repairs bicycles",), 3),
            Question("What is below an asserted class?", "children", ("FoodEstablishment",)),
            Question(
                "Which statements follow from this one?",
                "entailed_by",
                ("They sell bread and cakes in this shop.",),
            ),
            Question(
                "A relation that the vocabulary does not have:", "tails", ("Movie", "was filmed in")
            ),
        ),
    ),
    "hpo": Demo(
        "The Human Phenotype Ontology, with diseases and genes annotated to its terms",
        write_hpo,
        "hpo.odx",
        (
            Question("What does a patient mean?", "search", ("trouble falling asleep",)),
            Question(
                "Which phenotypes do the annotations lack?",
                "tails",
                ("Marfan syndrome", "has phenotype"),
                10,
            ),
            Question(
                "Why this one of them?",
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
                "Which diseases show like phenotypes?",
                "similar",
                ("Marfan syndrome",),
                named={"condition": "has phenotype"},
            ),
            Question(
                "What is a phrase a kind of that is no term?",
                "parents",
                ("sleeping badly because of pain",),
            ),
            Question(
                "Where does it belong, then?", "place", ("sleeping badly because of pain",), 3
            ),
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
    """Write a graph to files, read them, build an index, and print questions with their answers.

    Args:
        name: One of :data:`DEMOS`.
        folder: Where the files and the index go.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        SettingsError: If there is no such demo.
        OntodexError: If the package that carries the graph is not installed.
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
            _print(
                f"{getattr(engine, question.method)(*question.arguments, k=question.k, **question.named)}\n"
            )
    _print(f"Done in {time.perf_counter() - start:.0f} s. The index stays in {index}: ask it more.")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
