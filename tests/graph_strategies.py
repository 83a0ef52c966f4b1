"""Graphs for the tests: their contents as sets, and hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st

from ontodex.graph import GraphBuilder, KnowledgeGraph

WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), exclude_characters="|"),
    min_size=1,
    max_size=8,
)
IDS = st.one_of(
    *(WORDS, WORDS.map(lambda word: f'"{word}"')),
    *(st.integers(0, 99).map(lambda n: f"HP:{n:07d}"), st.integers(0, 9).map(lambda n: f"ex:a{n}")),
)


def says(graph: KnowledgeGraph) -> dict[str, object]:
    """Return entities, relations and triples of a graph as sets, without the order of rows."""
    ids, relations = list(graph.ids), list(graph.relation_ids)

    def named(triples: object) -> set[tuple[str, str, str]]:
        return {(ids[h], relations[r], ids[t]) for h, r, t in triples.tolist()}  # type: ignore[attr-defined]

    return {
        "entities": {
            name: (label, set(synonyms), definition)
            for name, label, synonyms, definition in zip(
                ids, graph.labels, graph.synonyms, graph.definitions, strict=True
            )
        },
        "alternatives": {
            name: set(alternatives)
            for name, alternatives in zip(ids, graph.alternative_ids, strict=True)
            if alternatives
        },
        "relations": dict(zip(relations, graph.relation_labels, strict=True)),
        "known": named(graph.triples),
        "valid": named(graph.valid),
        "test": named(graph.test),
    }


@st.composite
def graphs(draw: st.DrawFn, *, held_out: bool = False) -> KnowledgeGraph:
    """Make a small graph with any names, synonyms and definitions."""
    builder = GraphBuilder("drawn")
    builder.prefixes["ex"] = "http://example.org/"
    ids = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    for name in ids:
        builder.entity(
            name,
            draw(WORDS),
            draw(st.lists(WORDS, max_size=3)),
            draw(st.one_of(st.just(""), WORDS)),
        )
    old = st.integers(0, 9).map(lambda n: f"ex:old{n}")
    builder.replace(draw(st.dictionaries(old, st.sampled_from(ids), max_size=3)))
    names = IDS.filter(lambda name: name not in ids or ":" not in name)  # an IRI is one node
    relations = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    for name in relations:
        builder.relation(name, draw(WORDS))
    splits = ("train", "valid", "test") if held_out else ("train",)
    for name in relations:
        builder.triple(ids[0], name, ids[-1])
    for _ in range(draw(st.integers(0, 8))):
        head, tail = draw(st.sampled_from(ids)), draw(st.sampled_from(ids))
        builder.triple(head, draw(st.sampled_from(relations)), tail, draw(st.sampled_from(splits)))
    return builder.build()
