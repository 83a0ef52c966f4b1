"""Batches of a hierarchy: every link once, no ancestor as a negative, fixed by the seed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ontodex.errors import TrainingError
from ontodex.graph import Hierarchy, draw_negatives
from ontodex.graph.negatives import Pairs
from ontodex.trainers.data.subsumptions import HierarchyTask, make_task
from ontodex.trainers.hierarchies.batches import HierarchyBatches, TextHierarchy, TripletBatches


def task_of(hierarchy, train=None):
    nothing = np.zeros((0, 1), dtype=np.int32)
    pairs = Pairs(np.zeros((0, 2), dtype=np.int32), nothing, nothing)
    return HierarchyTask(hierarchy.links if train is None else train, pairs, pairs, hierarchy)


def hierarchy_of(links, n):
    children, parents = np.array(links, dtype=np.int32).reshape(-1, 2).T
    return Hierarchy(children, parents, ids=[f"e{row}" for row in range(n)])


def ancestors_by_text(hierarchy, names):
    """Return for each text the texts of all ancestors of its entities, and the text itself."""
    above = {name: {name} for name in names}
    for row, name in enumerate(names):
        above[name] |= {names[ancestor] for ancestor in hierarchy.ancestors(row).tolist()}
    return above


@pytest.fixture(scope="module")
def small(small_graph):
    names = list(small_graph.labels)
    task = make_task(small_graph.hierarchy(), "mixed-hop", negatives=3, held_out=0.3)
    return task, names, TextHierarchy(task, names)


@st.composite
def hierarchies(draw):
    n = draw(st.integers(2, 25))
    upward = st.integers(1, n - 1).flatmap(
        lambda child: st.tuples(st.just(child), st.integers(0, child - 1))
    )
    links = draw(st.lists(upward, min_size=1, max_size=60, unique=True))
    names = draw(
        st.lists(
            st.sampled_from([f"name {number}" for number in range(12)]), min_size=n, max_size=n
        )
    )
    return hierarchy_of(links, n), names


@settings(max_examples=60, deadline=None)
@given(hierarchies(), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2))
def test_families_hold_every_link_and_no_true_ancestor_as_a_negative(
    drawn, families, children, seed
):
    hierarchy, names = drawn
    links = {(names[child], names[parent]) for child, parent in hierarchy.links.tolist()}
    links = {(child, parent) for child, parent in links if child != parent}
    if not links:
        with pytest.raises(TrainingError, match="links between entities of different names"):
            TextHierarchy(task_of(hierarchy), names)
        return
    texts = TextHierarchy(task_of(hierarchy), names)
    assert sorted(texts.texts) == sorted(set(names))
    assert [texts.texts[text] for text in texts.of_entity] == names
    assert {(texts.texts[child], texts.texts[parent]) for child, parent in texts.links} == links
    above = ancestors_by_text(hierarchy, names)
    per_epoch = HierarchyBatches.epoch_length(texts, families, children)
    batches = HierarchyBatches(
        texts, steps=2 * per_epoch, families=families, children=children, seed=seed
    )
    assert len(batches) == 2 * per_epoch
    seen = [set(), set()]
    for step, batch in enumerate(batches):
        of = [texts.texts[text] for text in batch.texts]
        assert batch.number == step
        assert len(set(of)) == len(of) <= families * (children + 1)
        assert batch.negatives.shape == (len(batch.children), len(of))
        learnt = {
            (of[child], of[parent])
            for child, parent in zip(batch.children, batch.parents, strict=True)
        }
        assert learnt == {link for link in itertools.product(of, of) if link in links}
        seen[step // per_epoch] |= learnt
        for child, negatives in zip(batch.children, batch.negatives, strict=True):
            assert {of[text] for text in np.flatnonzero(negatives)} == set(of) - above[of[child]]
    assert seen == [links, links]


def test_texts_that_differ_in_case_or_spacing_alone_are_one():
    hierarchy = hierarchy_of([(1, 0), (2, 0), (3, 1), (4, 2)], 5)
    names = ["bank", "river Bank", "river  bank", "shore", "Bank"]
    texts = TextHierarchy(task_of(hierarchy), names)
    assert texts.texts == ["bank", "river Bank", "shore"]
    assert texts.of_entity.tolist() == [0, 1, 1, 2, 0]
    # the second bank is below a river bank, so neither is a negative of the other
    assert texts.links.tolist() == [[0, 1], [1, 0], [2, 1]]
    assert texts.false_parents(np.arange(3), np.arange(3)).tolist() == [
        [False, False, True],
        [False, False, True],
        [False, False, False],
    ]


def test_held_out_links_are_neither_positives_nor_negatives(small):
    task, names, texts = small
    held_out = {
        tuple(pair) for pair in np.concatenate([task.valid.positives, task.test.positives]).tolist()
    }
    row = {name: number for number, name in enumerate(names)}
    steps = 3 * HierarchyBatches.epoch_length(texts, 30, 4)
    met = 0
    for batch in HierarchyBatches(texts, steps=steps, families=30, children=4, seed=0):
        of = [row[texts.texts[text]] for text in batch.texts]
        for child, parent, negatives in zip(
            batch.children, batch.parents, batch.negatives, strict=True
        ):
            assert (of[child], of[parent]) not in held_out
            wrong = {(of[child], of[text]) for text in np.flatnonzero(negatives)}
            assert not wrong & held_out
            met += sum((of[child], other) in held_out for other in of)
    assert met > 0  # the test is not vacuous


def batches_of(small, kind, seed, steps=8):
    task, names, texts = small
    if kind == "families":
        return HierarchyBatches(texts, steps=steps, families=5, children=3, seed=seed)
    pairs = draw_negatives(task.known, task.train, negatives=3, seed=0, names=names)
    return TripletBatches(texts, pairs, kind, steps=steps, triplets=12, seed=seed)


def content(batch):
    return [part.tolist() for part in (batch.texts, batch.children, batch.parents, batch.negatives)]


@pytest.mark.parametrize("kind", ["families", "random", "hard"])
def test_a_batch_depends_on_seed_and_number_alone(small, kind):
    whole = [content(batch) for batch in batches_of(small, kind, 1, steps=30)]
    again = batches_of(small, kind, 1, steps=60)
    assert [content(again[step]) for step in (29, 7, 22, 0)] == [
        whole[step] for step in (29, 7, 22, 0)
    ]
    assert [content(batch) for batch in batches_of(small, kind, 2, steps=30)] != whole
    assert len({str(one) for one in whole}) == 30  # epochs differ
    with pytest.raises(IndexError):
        again[60]
    with pytest.raises(IndexError):
        again[-1]


@pytest.mark.parametrize("kind", ["random", "hard"])
def test_triplets_are_the_links_with_their_own_negatives(small, kind):
    task, names, texts = small
    pairs = draw_negatives(task.known, task.train, negatives=3, seed=0, names=names)
    table = pairs.random if kind == "random" else pairs.hard
    wanted = {
        tuple(link): {names[row] for row in negatives}
        for link, negatives in zip(pairs.positives.tolist(), table.tolist(), strict=True)
    }
    per_epoch = -(-len(task.train) // 4)
    found = {}
    row = {name: number for number, name in enumerate(names)}
    for batch in TripletBatches(texts, pairs, kind, steps=per_epoch, triplets=12, seed=0):
        of = [texts.texts[text] for text in batch.texts]
        assert len(batch.children) <= 4
        for child, parent, negatives in zip(
            batch.children, batch.parents, batch.negatives, strict=True
        ):
            link = (row[of[child]], row[of[parent]])
            assert link not in found
            found[link] = {of[text] for text in np.flatnonzero(negatives)}
    assert found == wanted


@settings(max_examples=40, deadline=None)
@given(hierarchies())
def test_triplets_never_hold_a_true_ancestor_or_a_homonym_of_one(drawn):
    hierarchy, names = drawn
    links = hierarchy.links
    assume(any(names[child] != names[parent] for child, parent in links.tolist()))
    texts = TextHierarchy(task_of(hierarchy), names)
    # negatives of a file are drawn by entities, not by names: any that is no ancestor
    everything = np.arange(len(names), dtype=np.int32)
    table = np.array(
        [
            np.resize(np.setdiff1d(everything, hierarchy.ancestors(int(child))), 9)
            for child, _ in links
        ]
    )
    pairs = Pairs(links, table.astype(np.int32), table.astype(np.int32))
    above = ancestors_by_text(hierarchy, names)
    for batch in TripletBatches(texts, pairs, "random", steps=6, triplets=18, seed=0):
        of = [texts.texts[text] for text in batch.texts]
        for child, parent, negatives in zip(
            batch.children, batch.parents, batch.negatives, strict=True
        ):
            assert of[child] != of[parent]
            assert not {of[text] for text in np.flatnonzero(negatives)} & above[of[child]]


def test_a_step_costs_far_less_than_encoding_it(small_graph):
    """Once an epoch is prepared, the time of a batch does not grow with the hierarchy."""
    n = 60_000
    parents = np.arange(n, dtype=np.int32) // 8
    hierarchy = Hierarchy(
        np.arange(1, n, dtype=np.int32), parents[1:], ids=[str(row) for row in range(n)]
    )
    texts = TextHierarchy(task_of(hierarchy), [f"name {row}" for row in range(n)])
    batches = HierarchyBatches(texts, steps=1000, families=4, children=4, seed=0)
    batches[0]
    called = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sort", "unique", "lexsort", "argsort", "bincount"):
            real = getattr(np, name)

            def noted(array, *args, real=real, **kwargs):
                called.append(
                    max(len(part) for part in array) if isinstance(array, tuple) else len(array)
                )
                return real(array, *args, **kwargs)

            patch.setattr(np, name, noted)
        batches[1]
    assert max(called) < 100
