"""The shipped Hyper-CL network, on the text encoder that it was trained for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from ontodex.encoders.hyper_cl import DEFAULT_HYPER_CL, HyperCL
from ontodex.encoders.text import TextEncoder
from ontodex.graph import relation_texts
from ontodex.trainers.links.hyper_cl import train_hyper_cl
from ontodex.trainers.links.settings import HyperCLTraining


@pytest.fixture(scope="module")
def text():
    return TextEncoder.load(device="cpu")


@pytest.fixture(scope="module")
def box(text):
    return HyperCL.in_the_box(text)


def test_it_is_for_its_own_text_encoder_alone(box, tiny_encoder):
    assert box is not None
    assert HyperCL.in_the_box(TextEncoder(tiny_encoder, "cpu")) is None
    assert sum(path.stat().st_size for path in DEFAULT_HYPER_CL.rglob("*")) < 4_000_000


@pytest.mark.parametrize(
    "relation", ["capital of", "prevents", "manufacturer", "wears on the feet"]
)
def test_its_queries_are_close_to_embeddings_of_joint_texts(box, text, relation):
    heads = ["Lisbon", "vaccine", "electric car", "hiker", "insulin", "cello"]
    together = text.encode([f"{head} {relation}" for head in heads])
    alone = text.encode(heads)
    queries = box.projections([relation]).project(alone, 0)
    near, plain = (np.einsum("nd,nd->n", one, together).mean() for one in (queries, alone))
    assert near > 0.75
    assert near > plain


def test_training_starts_from_it(box, text, small_graph, tmp_path):
    settings = HyperCLTraining(steps=1, rate=1e-9, width=0)
    started, scratch = (
        train_hyper_cl(
            small_graph,
            tmp_path / str(pretrained),
            encoder=text,
            settings=dataclasses.replace(settings, pretrained=pretrained),
            quiet=True,
        ).projections(relation_texts(small_graph))
        for pretrained in (True, False)
    )
    assert "names of WordNet" in box.seen
    seen = [HyperCL.load(tmp_path / str(pretrained), text).seen for pretrained in (True, False)]
    name = Path(small_graph.source).name
    assert seen == [[*box.seen, name], [name]]
    wanted = box.projections(relation_texts(small_graph))
    assert np.allclose(started.shift, wanted.shift, atol=1e-4)
    assert not np.allclose(scratch.shift, wanted.shift, atol=1e-2)
