"""Search by text: its score against a direct computation, and the variants of a query."""

from __future__ import annotations

import numpy as np
import pytest

import ontodex
from ontodex.engine import text_search
from ontodex.engine.resolve import resolve_entity
from ontodex.graph import GraphBuilder, entity_names, entity_texts
from ontodex.scoring.lexicon import Lexicon, lines_of
from ontodex.scoring.name_similarity import NameSimilarity

SETTINGS = {"hierarchy": False, "entailment": False, "train": False, "structure": False}


def built(graph, folder, encoder):
    return ontodex.build(graph, folder, encoders=encoder, device="cpu", quiet=True, **SETTINGS)


@pytest.mark.parametrize("text", ["the hare", "wild horse of the forest", "fox common"])
def test_the_score_is_a_weighted_mean_of_similarities(tmp_path, small_graph, tiny_encoder, text):
    with built(small_graph, tmp_path / "farm.odx", tiny_encoder) as engine:
        graph, encode = engine.graph, engine.resources.encoders.text.encode
        query = np.asarray(encode([text]), dtype=np.float64)[0]
        names = entity_names(graph)
        cosines = np.asarray(encode(names.texts), dtype=np.float64) @ query
        best = np.array([cosines[names.owners == row].max() for row in range(graph.n_entities)])
        texts = np.asarray(encode(entity_texts(graph)), dtype=np.float64) @ query
        labels = np.array([cosines[names.owners == row][0] for row in range(graph.n_entities)])
        hierarchy = graph.hierarchy()
        above = [
            labels[found if len(found := hierarchy.parents(row)) else [row]].mean()
            for row in range(graph.n_entities)
        ]
        neighbours = [graph.neighbours(row) for row in range(graph.n_entities)]
        linked = [
            np.sort(labels[found if len(found) else [row]])[-3:].mean()
            for row, found in enumerate(neighbours)
        ]
        letters = np.zeros(graph.n_entities)
        rows, similarity = engine.resources.name_similarity.find(text)
        letters[rows] = similarity
        corrected, unknown = engine._text_search.spelling.corrected(text)
        assert (corrected, unknown) == (None, 0)
        asked = set(text.split()) - {"the", "of"}
        words = [
            any(asked <= set(name.split()) for name in (graph.labels[row], *graph.synonyms[row]))
            for row in range(graph.n_entities)
        ]
        assert any(words) == (text != "wild horse of the forest")
        own = [
            [set(name.split()) for name in (graph.labels[row], *graph.synonyms[row])]
            for row in range(graph.n_entities)
        ]
        said = [{word for name in names if name < asked for word in name} for names in own]
        by_links = [{word for other in found for word in said[other]} for found in neighbours]
        facts = [
            len(words - set().union(*names)) / len(asked)
            for words, names in zip(by_links, own, strict=True)
        ]
        last = text.split()[-1]
        unsaid = [
            (len(mine) > 0 and last not in mine) * len(asked - mine - words) / len(asked)
            for mine, words in zip(said, by_links, strict=True)
        ]
        strong = np.maximum(0, letters - 0.5) / 0.5
        wanted = (
            np.maximum(best, 0.9 * texts)
            + 0.5 * texts
            + 0.15 * np.array(above)
            + 0.15 * np.array(linked)
            + 0.3 * np.array(facts)
            - 0.2 * np.array(unsaid)
            + 0.2 * strong
            + 0.12 * np.array(words)
        ) / 2.42
        hits = engine.search(text, k=100, lexicon=False)
        found = {hit.id: hit.score for hit in hits}
        assert len(found) == graph.n_entities
        np.testing.assert_allclose(
            [found[name] for name in graph.ids], wanted, atol=2e-3
        )  # names are stored in half precision
        assert [hit.score for hit in hits] == sorted(found.values(), reverse=True)


def test_a_part_of_a_label_is_a_name(tmp_path, tiny_encoder):
    builder = GraphBuilder("shop")
    for number, label in enumerate(["Lamps & Lanterns", "Lamps for reading in bed at night"]):
        builder.entity(f"ex:{number}", label)
    for number in range(20):
        builder.entity(f"ex:other-{number}", f"Product {number}")
    with built(builder.build(), tmp_path / "shop.odx", tiny_encoder) as engine:
        assert [hit.id for hit in engine.search("lanterns", k=1)] == ["ex:0"]
        scorer = engine._text_search
        encode = engine.resources.encoders.text.encode
        cosine = scorer._best_names(np.asarray(encode(["Lanterns"])), [1.0], np.array([0]))
        assert cosine == pytest.approx(text_search.PART, abs=1e-3)


@pytest.mark.parametrize(
    ("query", "variants"),
    [
        ("lift", ["elevator"]),
        ("broken lifts", ["broken elevator"]),
        ("elevator", []),  # the names do not have "lift"
        ("spirit level", ["water levels"]),
        ("will", []),  # too common
        ("stairs", []),
    ],
)
def test_words_are_replaced_by_words_of_the_graph(query, variants):
    builder = GraphBuilder("house")
    for name in ("elevator shaft", "stairs", "water levels", "testament"):
        builder.entity(f"ex:{name}", name)
    names = NameSimilarity.of(builder.build())
    synsets = [
        ("lift", "elevator"),
        ("lift", "rise"),
        ("spirit level", "water level"),
        ("will", "testament"),
    ]
    assert Lexicon(lines_of(synsets)).variants(query, names, 5) == variants


def test_the_most_similar_replacements_are_kept():
    builder = GraphBuilder("house")
    for name in ("elevator shaft of a house", "hoist"):
        builder.entity(f"ex:{name}", name)
    names = NameSimilarity.of(builder.build())
    lexicon = Lexicon(lines_of([("lift", "elevator", "hoist")]))
    assert lexicon.variants("a lift", names, 2) == ["a hoist", "a elevator"]
    assert lexicon.variants("a lift", names, 1) == ["a hoist"]


def test_the_lexicon_knows_british_words():
    builder = GraphBuilder("words")
    for name in ("elevator", "diaper", "tumor", "flashlight", "color"):
        builder.entity(f"ex:{name}", name)
    names, lexicon = NameSimilarity.of(builder.build()), Lexicon.load()
    found = {
        word: lexicon.variants(word, names, 1)
        for word in ("lift", "nappy", "tumour", "torch", "colour")
    }
    assert found == {
        "lift": ["elevator"],
        "nappy": ["diaper"],
        "tumour": ["tumor"],
        "torch": ["flashlight"],
        "colour": ["color"],
    }


def test_replaced_words_match_names_in_the_plural():
    builder = GraphBuilder("shop")
    for name in ("Nappies", "Torches", "Pushchairs"):
        builder.entity(f"ex:{name}", name)
    names, lexicon = NameSimilarity.of(builder.build()), Lexicon.load()
    for word, variant in (("diapers", "nappies"), ("flashlight", "torches")):
        assert lexicon.variants(word, names, 1) == [variant]
    assert "pushchairs" in lexicon.variants("stroller", names, 5)


SOLICITOR = "a British lawyer who gives legal advice and prepares legal documents"


def test_the_lexicon_defines_nouns():
    lexicon = Lexicon.load()
    fan = lexicon.definitions("Fans")
    assert fan[0] == "a device for creating a current of air by movement of a surface or surfaces"
    assert len(fan) == 3
    assert lexicon.definitions("Solicitor")[1] == SOLICITOR
    assert lexicon.definitions("liquor store") == lexicon.definitions("liquor stores")
    for name in ("FAN", "to fan", "nonesuch thing", "fan\tdevice", "winnowed", ""):
        assert lexicon.definitions(name) == []


@pytest.fixture
def defined(tmp_path, tiny_encoder):
    builder = GraphBuilder("house")
    for number, label in enumerate(["Sofa", "FAN", SOLICITOR, "piano stool", "xylophonic wall"]):
        builder.entity(f"ex:{number}", label)
    for number in range(20):
        builder.entity(f"ex:other-{number}", f"zzyzx {number}")
    with built(builder.build(), tmp_path / "house.odx", tiny_encoder) as engine:
        yield engine


def score_of(engine, text, identifier, **settings):
    return next(hit.score for hit in engine.search(text, k=100, **settings) if hit.id == identifier)


def test_a_definition_of_a_name_counts_as_a_name(defined):
    spaces = defined.index.manifest.spaces
    assert list(spaces) == ["name", "text", "definition"]
    lexicon = Lexicon.load()
    wanted = [*lexicon.definitions("sofa"), *lexicon.definitions("piano stool")]
    sentences = defined.index.sentences("definition")
    assert list(sentences.texts) == wanted  # "FAN" is a symbol, and the others are no nouns
    assert sentences.owners.tolist() == [0] * (len(wanted) - 1) + [3]
    text = wanted[0]
    query = defined._text_search.query(resolve_entity(defined.graph, text, any_text=True), False)
    vectors = defined._text_search.vectors([query])[0]
    parts = defined._text_search.similarities(query, vectors, np.arange(25))
    assert parts.names[0] == pytest.approx(1, abs=1e-5)
    assert parts.names[1:].max() < 0.99
    assert score_of(defined, text, "ex:0", lexicon=True) > score_of(
        defined, text, "ex:0", lexicon=False
    )


def test_the_definition_of_a_query_is_a_further_text(defined):
    query = defined._text_search.query(
        resolve_entity(defined.graph, "solicitors", any_text=True), True
    )
    assert query.definitions == Lexicon.load().definitions("solicitor")[:2]
    vectors = defined._text_search.vectors([query])[0]
    assert len(vectors) == 1 + len(query.others) + 2
    parts = defined._text_search.similarities(query, vectors, np.arange(25))
    assert parts.names[2] >= text_search.DEFINING - 1e-3


def test_a_type_restricts_definitions_too(tmp_path, tiny_encoder):
    builder = GraphBuilder("house")
    builder.relation("is_a", "is a")
    for label in ("seat", "Sofa", "wall", "piano stool"):
        builder.entity(f"ex:{label}", label)
    builder.triple("ex:piano stool", "is_a", "ex:seat")
    with built(builder.build(), tmp_path / "house.odx", tiny_encoder) as engine:
        text = Lexicon.load().definitions("sofa")[0]
        assert "Sofa" in [hit.label for hit in engine.search(text)]
        assert [hit.label for hit in engine.search(text, type="seat")] == ["seat", "piano stool"]


def test_grounding_uses_no_definitions(defined):
    text = Lexicon.load().definitions("sofa")[0]
    assert defined.ground([text])[0].decision == "none"


def test_the_best_text_of_a_query_counts(tmp_path, tiny_encoder):
    builder = GraphBuilder("house")
    for name in ("elevator", "door", "wall", "roof"):
        builder.entity(f"ex:{name}", name)
    with built(builder.build(), tmp_path / "house.odx", tiny_encoder) as engine:
        for word, others in (("lift", [("elevator", 0.93)]), ("elevater", [("elevator", 0.97)])):
            term = resolve_entity(engine.graph, word)
            query = engine._text_search.query(term, lexicon=True)
            assert query.others == others
        assert engine._text_search.query(term, lexicon=False).others == others
        term = resolve_entity(engine.graph, "lift")
        assert engine._text_search.query(term, lexicon=False).others == []
        vectors = np.asarray(engine.resources.encoders.text.encode(["lift", "elevator"]))
        scorer, rows = engine._text_search, np.arange(4)
        alone, both = (scorer._best_names(vectors[:n], [1.0, 0.93][:n], rows) for n in (1, 2))
        other = scorer._best_names(vectors[1:], [0.93], rows)
        np.testing.assert_allclose(both, np.maximum(alone, other))


@pytest.mark.parametrize("text", ["elevator shaft", "shaft", "elev", "lift", ""])
def test_contained_texts_are_those_whose_trigrams_a_name_has(text):
    builder = GraphBuilder("house")
    for name in ("elevator shaft", "stairs", "a shaft"):
        builder.entity(f"ex:{name}", name)
    names = NameSimilarity.of(builder.build())
    _, similarity = names.find(text)
    best = similarity.max(initial=0.0)
    expected = best if text in ("elevator shaft", "shaft") else 0.0
    assert names.contained([text, "stairs"]) == pytest.approx([expected, 1.0])


@pytest.mark.parametrize("before", ["", "The visit was short. ", "The visit was short. " * 100])
def test_a_sentence_of_a_long_query_finds_what_it_names(tmp_path, tiny_encoder, before):
    """The text encoder reads the first 256 tokens alone; each sentence is compared as well."""
    builder = GraphBuilder("symptoms")
    for name in ("cleft palate", "seizure", "fever", "short visit"):
        builder.entity(f"ex:{name}", name)
    for number in range(20):
        builder.entity(f"ex:other-{number}", f"Product {number}")
    with built(builder.build(), tmp_path / "symptoms.odx", tiny_encoder) as engine:
        text = before + "Cleft palate"
        hits = engine.search(text)
        assert "ex:cleft palate" in [hit.id for hit in hits[:2]]
        term = resolve_entity(engine.graph, text)
        query = engine._text_search.query(term, lexicon=True)
        assert ("Cleft palate", text_search.SENTENCE) in query.others or not before
