"""Indexes hold finite numbers, extremes stay in bounds, and ties have one order."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save_file

import ontodex
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.errors import EncoderError, IndexFailure
from ontodex.geometry import poincare
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.storage.integrity import valid_rows
from tests.plain import build_plain


def with_word(encoder: Path, folder: Path, word: str, value: float) -> Path:
    """Copy an encoder, and set the embedding of one word to a value in all dimensions."""
    shutil.copytree(encoder, folder)
    piece = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"][word]
    file = folder / "model.safetensors"
    weights = load_file(file)
    table = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights[table] = weights[table].copy()
    weights[table][piece] = value
    save_file(weights, file, metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_text_whose_vector_is_no_number_is_named(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, value: float
) -> None:
    broken = with_word(tiny_encoder, tmp_path / "broken", "whale", value)
    with pytest.raises(
        EncoderError, match=r"expected a vector of length 1 .* found (nan|-?inf) for '.*whale"
    ):
        build_plain(small_graph, tmp_path / "a.odx", broken)
    with pytest.raises(IndexFailure, match="found no CURRENT"):
        ontodex.open(tmp_path / "a.odx")


def test_an_index_stays_as_it_was_where_the_next_would_hold_no_numbers(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    build_plain(small_graph, tmp_path / "a.odx", tiny_encoder).close()
    broken = with_word(tiny_encoder, tmp_path / "broken", "whale", np.nan)
    with pytest.raises(EncoderError, match="whale"):
        build_plain(small_graph, tmp_path / "a.odx", broken)
    with ontodex.open(tmp_path / "a.odx", device="cpu") as engine:
        assert engine.index.manifest.generation == 1
        assert engine.index.verify() == []


def test_a_text_without_a_vector_is_named(tmp_path: Path) -> None:
    """As of static embeddings, where a text of unknown words alone has length 0."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(
        models.WordLevel({"[UNK]": 0, "dog": 1, "cat": 2, "animal": 3}, unk_token="[UNK]")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.eye(4, 8, dtype=np.float32)
    table[0] = 0
    SentenceTransformer(
        modules=[StaticEmbedding(words, embedding_weights=table)], device="cpu"
    ).save(str(tmp_path / "static"), create_model_card=False)
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    builder.triple("cat", "is_a", "animal")
    build_plain(builder.build(), tmp_path / "a.odx", tmp_path / "static").close()
    builder.triple("axolotl", "is_a", "animal")
    with pytest.raises(
        EncoderError, match=r"length 1 .* found (one of length 0|nan) for 'axolotl'"
    ):
        build_plain(builder.build(), tmp_path / "a.odx", tmp_path / "static")


wide = hnp.arrays(
    np.float32, (3, 4), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
)


@given(wide, st.sampled_from([1.0, 1 / 384]))
def test_points_wherever_they_are_become_points_of_the_ball(points: np.ndarray, c: float) -> None:
    lifted = np.asarray(
        poincare.lift_items(poincare.clip(points.astype(np.float64), c), c), dtype=np.float32
    )
    assert valid_rows("poincare", lifted).all()
    assert np.isfinite(poincare.item_norms(lifted, c)).all()
    within = np.linalg.norm(poincare.unlift(lifted.astype(np.float64), c), axis=1)
    assert (within * np.sqrt(c) < 1).all()


@given(
    hnp.arrays(np.float32, (4, 3), elements=st.floats(width=32)),
    st.sampled_from(["cosine", "poincare", "product"]),
)
def test_vectors_with_nan_are_invalid_in_every_space(vectors: np.ndarray, geometry: str) -> None:
    finite = np.isfinite(vectors).all(axis=1)
    assert not (valid_rows(geometry, vectors) & ~finite).any()
    if geometry == "product":
        assert valid_rows(geometry, vectors).tolist() == finite.tolist()


@pytest.mark.parametrize("bias", [-6e4, -30.0, 30.0, 6e4])
def test_variances_of_any_size_give_finite_scores(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, tiny_gauss: Path, bias: float
) -> None:
    model = GaussCSE.load(tiny_gauss, "cpu")
    biases = np.full(model.dim, bias, dtype=np.float32)
    model.heads = replace(model.heads, weights={**model.heads.weights, "log_variance.bias": biases})
    model.save(tmp_path / "model")
    with build_plain(
        small_graph, tmp_path / "a.odx", tiny_encoder, entailment=tmp_path / "model"
    ) as engine:
        for hits in (engine.entailed_by("ex:dog", 60), engine.entailing("a wild animal", 60)):
            scores = [hit.score for hit in hits]
            assert len(scores) > 50
            assert np.isfinite(scores).all()
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= hit.probability <= 1 for hit in hits)


@pytest.fixture(scope="module")
def tied_index(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path, tiny_hit: Path, tiny_gauss: Path
) -> Path:
    """Index of sixty entities that share six labels."""
    builder = GraphBuilder("twins")
    labels = ("dog", "cat", "cow", "fox", "animal", "tame animal")
    for number in range(60):
        builder.entity(f"ex:{(number * 37) % 60:02}", label=labels[number % 6])
    for number in range(1, 60):
        builder.triple(f"ex:{number:02}", "is_a", f"ex:{number // 2:02}")
    path = tmp_path_factory.mktemp("tied") / "a.odx"
    build_plain(
        builder.build(), path, tiny_encoder, hierarchy=tiny_hit, entailment=tiny_gauss
    ).close()
    return path


def test_ties_have_one_order(
    tied_index: Path, run_script: Callable[..., Any], figures: Callable[..., None]
) -> None:
    runs = [
        run_script("ties.py", tied_index, threads, OMP_NUM_THREADS=str(threads))
        for threads in (1, 2)
    ]
    assert runs[0] == runs[1]
    for question in ("search", "similar", "tails", "parents", "entailing"):
        assert (
            runs[0][f"{question} by 1"]
            == runs[0][f"{question} by 5"]
            == runs[0][f"{question} by 24"]
        )
    with ontodex.open(tied_index) as engine:
        order = {name: row for row, name in enumerate(engine.graph.ids)}
    tied = 0
    for answers in runs[0]["similar by 1"]:
        for (before, high), (after, low) in itertools.pairwise(answers):
            tied += high == low
            assert high > low or order[before] < order[after]
    assert tied > 100
    figures("ties", tied=tied, runs=len(runs), **{"batch sizes": 3})
