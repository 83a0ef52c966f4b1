"""Entailment in an index with the package's encoders: a cross-encoder judges and ranks."""

from __future__ import annotations

import numpy as np
import pytest

from ontodex.encoders.entailment_cross_encoder import EntailmentCrossEncoder
from ontodex.encoders.gauss_cse import DEFAULT_GAUSS_CSE
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.engine.entailment import COSINE_FROM, COSINE_WEIGHT, RERANKED
from ontodex.graph import GraphBuilder
from tests.plain import build_plain

SHOPS = (
    *("bakery", "butcher", "bookshop", "florist", "pharmacy", "shoe shop", "toy shop"),
    *("bicycle shop", "furniture shop", "jeweller", "wine shop", "cheese shop", "tea shop"),
    *("hairdresser", "dentist", "bank", "hospital", "school", "museum", "church", "station"),
    *("airport", "car park", "restaurant", "hotel", "cinema", "theatre", "library", "garden"),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    builder = GraphBuilder("town")
    for name in SHOPS:
        builder.entity(f"ex:{name.replace(' ', '-')}", name)
    builder.entity("ex:bakery", "bakery", definition="A shop that sells bread. It opens early.")
    path = tmp_path_factory.mktemp("town") / "town.odx"
    with build_plain(
        builder.build(), path, DEFAULT_ENCODER, entailment=str(DEFAULT_GAUSS_CSE), structure=False
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def cross():
    return EntailmentCrossEncoder.load(device="cpu")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "entailed"),
    [
        ("A large dog sleeps in the garden.", "A dog sleeps.", True),
        ("A dog sleeps.", "A large dog sleeps in the garden.", False),
        ("A woman plays the violin.", "A woman plays an instrument.", True),
        ("A woman plays an instrument.", "Nobody plays an instrument.", False),
        ("Most of the birds are singing.", "Some birds are singing.", True),
        ("Some birds are singing.", "All the birds are singing.", False),
        ("At least nine men are waiting.", "At least four men are waiting.", True),
        ("A boy throws a ball.", "A boy is asleep.", False),
    ],
)
def test_pairs_are_judged_by_the_cross_encoder(engine, cross, premise, hypothesis, entailed):
    verdict = engine.entails(premise, hypothesis)
    assert verdict.entailed == entailed
    wanted = cross.probabilities([(premise, hypothesis)])[0]
    assert verdict.probability == pytest.approx(wanted, abs=0.02)
    assert verdict.entailed == (verdict.probability > 0.5)


def test_the_direction_is_the_sum_of_both_log_odds(engine):
    found = engine.direction("A dog sleeps.", "A large dog sleeps in the garden.")
    assert found.direction == "backward"
    rule = engine.index.entailment_rule
    odds = [
        np.log(way.probability / (1 - way.probability)) + rule.slope * way.similarity + rule.offset
        for way in (found.forward, found.backward)
    ]
    assert found.difference == pytest.approx(odds[0] - odds[1], rel=1e-6)


def test_a_hypothesis_of_several_sentences_is_entailed_if_each_is(engine):
    premise, one, two = "A dog sleeps in the sun.", "A dog sleeps.", "A dog barks."
    each = [engine.entails(premise, text).probability for text in (one, two)]
    both = engine.entails(premise, f"{one} {two}").probability
    assert both == pytest.approx(min(each), abs=0.02)


@pytest.mark.parametrize("question", ["entailed_by", "entailing"])
@pytest.mark.parametrize("k", [3, 40])
def test_the_first_entities_are_ranked_by_the_cross_encoder(engine, cross, question, k):
    text = "A shop in which bread and cakes are sold."
    hits = getattr(engine, question)(text, k)
    assert len(hits) == min(k, len(SHOPS))
    scores = [hit.score for hit in hits]
    assert scores == [hit.probability for hit in hits] == sorted(scores, reverse=True)
    assert hits[0].id == "ex:bakery"
    rows = [engine.graph.find(hit.id)[0] for hit in hits]
    vectors = engine.index.vectors("text")[np.array(rows)].astype(np.float64)
    cosines = vectors @ engine.resources.encoders.text.encode([text])[0]
    pairs = [(text, hit.text) if question == "entailed_by" else (hit.text, text) for hit in hits]
    judged = cross.probabilities(pairs)
    odds = np.log(judged / (1 - judged)) + COSINE_WEIGHT * (cosines - COSINE_FROM)
    first = min(k, RERANKED)
    np.testing.assert_allclose(scores[:first], 1 / (1 + np.exp(-odds[:first])), atol=0.03)
