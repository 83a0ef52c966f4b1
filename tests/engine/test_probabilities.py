"""Printed probabilities never contradict printed ranks, over real graphs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import ontodex
from ontodex.demo_data import write_schema_org
from ontodex.engine.results.hits import Hit
from ontodex.graph import GraphBuilder
from tests.plain import build_plain


@pytest.fixture(scope="module")
def engines(
    tmp_path_factory: pytest.TempPathFactory,
    small_index: Path,
    tiny_encoder: Path,
    tiny_hit: Path,
    tiny_gauss: Path,
) -> Iterator[list[ontodex.Engine]]:
    """Engines of the small graph and of Schema.org."""
    folder = tmp_path_factory.mktemp("schema")
    (path,) = write_schema_org(folder)
    schema = build_plain(
        ontodex.read(path),
        folder / "schema.odx",
        tiny_encoder,
        hierarchy=tiny_hit,
        entailment=tiny_gauss,
    )
    with ontodex.open(small_index, device="cpu") as small, schema:
        yield [small, schema]


def falling(probabilities: Sequence[float | None]) -> bool:
    """Return whether no probability is above one before it; those that are not printed are skipped.

    Asserted answers come first, and have none.
    """
    printed = [one for one in probabilities if one is not None]
    return all(one >= other for one, other in itertools.pairwise(printed))


@pytest.mark.parametrize("question", ["parents", "children", "entailed_by", "entailing"])
@pytest.mark.parametrize("known", ["include", "exclude"])
def test_of_two_hits_the_first_is_not_less_likely(
    engines: list[ontodex.Engine], question: str, known: str
) -> None:
    tables = []
    for engine in engines:
        texts = [*engine.graph.ids[::25], "a cat that eats", "bubble tea bar", "river"]
        answers = getattr(engine, f"{question}_batch")(texts, 30, known)
        tables += [[hit.probability for hit in hits] for hits in answers]
    assert all(map(falling, tables))
    assert any(len({*table} - {None}) > 2 for table in tables)
    assert all(0 <= one <= 1 for table in tables for one in table if one is not None)


def test_of_two_positions_the_first_is_not_less_likely(engines: list[ontodex.Engine]) -> None:
    for engine in engines:
        texts = [*engine.graph.ids[::25], "a cat that eats", "bubble tea bar"]
        tables = [[one.parent.probability for one in place] for place in engine.place_batch(texts)]
        assert all(map(falling, tables))
        assert any(len({*table} - {None}) > 2 for table in tables)


def test_the_probability_is_that_of_the_question_whichever_verb_asks(
    engines: list[ontodex.Engine],
) -> None:
    """An asserted answer that competes makes others as unlikely if it is not listed."""

    def predicted(hits: Sequence[Hit]) -> dict[str, float | None]:
        return {hit.id: hit.probability for hit in hits if not hit.known}

    for engine in engines:
        for text in (*engine.graph.ids[::50], "bubble tea bar"):
            every = predicted(engine.parents(text, 40).hits)
            assert predicted(engine.parents(text, 20, "exclude").hits).items() <= every.items()
            assert predicted([one.parent for one in engine.place(text)]).items() <= every.items()


def test_audits_are_in_the_order_of_their_probabilities(engines: list[ontodex.Engine]) -> None:
    for engine in engines:
        rows = engine.audit(50)
        by_verdict = {
            verdict: [row.probability for row in rows if row.verdict == verdict]
            for verdict in ("doubtful", "missing")
        }
        assert falling(by_verdict["missing"])
        assert falling(by_verdict["doubtful"][::-1])
        assert all(by_verdict.values())
        for row in rows[-3:]:
            if row.verdict == "missing":
                hits = engine.parents(row.subject_id, engine.graph.n_entities, "exclude").hits
                [same] = [hit for hit in hits if hit.id == row.object_id]
                assert same.probability == pytest.approx(row.probability)


def test_missing_links_are_in_the_order_of_their_probabilities(
    family: tuple[ontodex.Engine, list[tuple[str, str]]],
) -> None:
    engine, _ = family
    probabilities = [link.probability for link in engine.missing(k=50, quiet=True)]
    assert None not in probabilities
    assert falling(probabilities)
    assert len({*probabilities}) > 2


@pytest.fixture(scope="module")
def linked(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path
) -> Iterator[ontodex.Engine]:
    """An index of numbers, each linked to the next and to its tens, in which links are held out."""
    builder = GraphBuilder("numbers")
    for number in range(300):
        builder.entity(f"ex:{number}", f"number {number}")
    for number in range(299):
        builder.triple(f"ex:{number}", "ex:next", f"ex:{number + 1}")
        builder.triple(f"ex:{number + 1}", "ex:previous", f"ex:{number}")
        builder.triple(f"ex:{number}", "ex:tens", f"ex:{number // 10}")
    path = tmp_path_factory.mktemp("numbers") / "numbers.odx"
    with ontodex.build(
        builder.build(),
        path,
        encoders=tiny_encoder,
        device="cpu",
        hierarchy=False,
        entailment=False,
        quiet=True,
    ) as engine:
        yield engine


@pytest.mark.parametrize("known", ["include", "exclude", "only"])
def test_tails_and_heads_have_probabilities_in_the_order_of_their_scores(
    linked: ontodex.Engine, known: str
) -> None:
    asked = [(f"ex:{number}", by) for number in (3, 40, 299) for by in ("ex:next", "ex:tens")]
    answers = linked.tails_batch(asked, 30, known)
    answers += linked.heads_batch([(by, entity) for entity, by in asked], 30, known)
    for hits in answers:
        stated = [hit.probability for hit in hits]
        assert falling(stated)
        assert all((one is None) == hit.known for one, hit in zip(stated, hits, strict=True))
        assert all(0 <= one <= 1 for one in stated if one is not None)


def test_the_probability_of_a_tail_does_not_depend_on_what_is_listed(
    linked: ontodex.Engine,
) -> None:
    few, many = (linked.tails("ex:7", "ex:tens", k) for k in (2, 40))
    assert [hit.probability for hit in few] == [hit.probability for hit in many[:2]]
    beside = linked.tails("ex:7", "ex:tens", 40, "include")
    stated = {hit.id: hit.probability for hit in many}
    for hit in beside:
        if not hit.known:
            assert hit.probability == pytest.approx(stated[hit.id])


def test_texts_have_tails_without_probabilities(linked: ontodex.Engine) -> None:
    for head, relation in (("a new number", "ex:next"), ("ex:7", "times two")):
        assert {hit.probability for hit in linked.tails(head, relation)} == {None}
