from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ontodex.errors import GraphError, ReadError, SettingsError
from ontodex.graph import GraphBuilder, Hierarchy, draw_negatives, homonym_rate, negatives
from ontodex.trainers.data.subsumptions import HierarchyTask, TaskSettings, make_task, with_root
from ontodex.trainers.data.task_files import read_task, write_task

NAMES = [f"name {row % 23}" for row in range(30)]  # rows 23 to 29 have the names of rows 0 to 6

VALID = [[8, 0], [11, 0], [13, 1], [17, 1], [26, 0], [29, 0]]
RANDOM = [[35, 20, 31], [34, 20, 12]]
HARD = [[13, 15, 35], [13, 15, 34]]


def made(links: list[tuple[int, int]], n: int = 30) -> Hierarchy:
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Hierarchy(pairs[:, 0], pairs[:, 1], ids=[f"e{row}" for row in range(n)])


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Make thirty entities, each but the first with one to three parents before it."""
    return made(
        [
            (child, parent)
            for child in range(1, 30)
            for parent in draw(st.lists(st.integers(0, child - 1), min_size=1, max_size=3))
        ]
    )


def tree(n: int = 40) -> Hierarchy:
    return made([(child, (child - 1) // 3) for child in range(1, n)], n)


def same(one: HierarchyTask, other: HierarchyTask) -> bool:
    def arrays(task: HierarchyTask) -> list[np.ndarray]:
        held_out = [
            part
            for half in (task.valid, task.test)
            for part in (half.positives, half.random, half.hard)
        ]
        return [task.train, task.known.links, *held_out]

    return one.settings == other.settings and all(map(np.array_equal, arrays(one), arrays(other)))


def pair_set(pairs: np.ndarray) -> set[tuple[int, int]]:
    found = {tuple(pair) for pair in pairs.tolist()}
    assert len(found) == len(pairs)
    return found


@settings(deadline=None, max_examples=40)
@given(hierarchies(), st.sampled_from(["multi-hop", "mixed-hop", "transfer"]), st.integers(0, 3))
def test_every_subsumption_is_in_one_part_at_most(
    hierarchy: Hierarchy, name: str, seed: int
) -> None:
    direct, indirect = pair_set(hierarchy.links), pair_set(hierarchy.indirect_subsumptions())
    assume(len(indirect) >= 3)
    task = make_task(hierarchy, name, negatives=1, seed=seed, held_out=0.7)
    train, valid, test = map(pair_set, (task.train, task.valid.positives, task.test.positives))
    held_out = valid | test
    assert not valid & test
    assert not train & held_out
    assert len(held_out & indirect) == round(0.7 * len(indirect))
    assert len(held_out & direct) == (0 if name == "multi-hop" else round(0.7 * len(direct)))
    assert train == (set() if name == "transfer" else direct - held_out)
    assert abs(len(valid) - len(test)) <= 2
    assert task.known is hierarchy


def test_mixed_hop_holds_out_the_indirect_subsumptions_of_multi_hop() -> None:
    hierarchy = tree(200)
    multi, mixed = (make_task(hierarchy, name, seed=3) for name in ("multi-hop", "mixed-hop"))
    assert pair_set(multi.valid.positives) < pair_set(mixed.valid.positives)
    assert pair_set(multi.test.positives) < pair_set(mixed.test.positives)


@settings(deadline=None, max_examples=60)
@given(hierarchies(), st.integers(1, 6), st.booleans(), st.integers(0, 3))
def test_negatives_are_none_that_could_be_true(
    hierarchy: Hierarchy, count: int, named: bool, seed: int
) -> None:
    few = [row for row in range(1, 30) if 29 - len(hierarchy.ancestors(row)) >= count + 7]
    positives = hierarchy.links[np.isin(hierarchy.links[:, 0], few)]
    names = NAMES if named else None
    try:
        pairs = draw_negatives(hierarchy, positives, negatives=count, seed=seed, names=names)
    except GraphError:
        assert named  # seven homonyms may leave too few
        return
    assert pairs.random.shape == pairs.hard.shape == (len(positives), count)
    assert pairs.random.dtype == pairs.hard.dtype == np.int32
    for child, random, hard in zip(
        positives[:, 0].tolist(), pairs.random.tolist(), pairs.hard.tolist(), strict=True
    ):
        true = {child, *hierarchy.ancestors(child).tolist()}
        siblings = set(hierarchy.siblings(child).tolist()) - true
        identity = NAMES if named else range(30)
        for drawn in (random, hard):
            assert len({identity[row] for row in drawn}) == count
            assert not {identity[row] for row in drawn} & {identity[row] for row in true}
        usable = {identity[row] for row in siblings} - {identity[row] for row in true}
        wanted = min(count, len(usable))
        assert set(hard[:wanted]) <= siblings
        assert not set(hard[wanted:]) - set(random)


def test_random_negatives_are_uniform_and_exhaustive_drawing_agrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hierarchy = tree()
    positives = np.tile(np.array([[39, 12]], dtype=np.int32), (4000, 1))
    allowed = set(range(40)) - {39, *hierarchy.ancestors(39).tolist()}
    for rounds in (32, 0):
        monkeypatch.setattr(negatives, "ROUNDS", rounds)
        drawn = draw_negatives(hierarchy, positives, negatives=10).random
        counts = np.bincount(drawn.ravel(), minlength=40)
        assert set(np.flatnonzero(counts)) == allowed
        expected = 4000 * 10 / len(allowed)
        assert abs(counts[sorted(allowed)] - expected).max() < 6 * np.sqrt(expected)


def test_hard_negatives_are_uniform_among_siblings_of_all_parents() -> None:
    # 30 has parents 1 and 2, whose other children are 3 to 11 and 9 to 17 (9 to 11 have both);
    # 1 is below 2
    links = (
        [(row, 1) for row in (*range(3, 12), 30)]
        + [(row, 2) for row in (1, *range(9, 18), 30)]
        + [(2, 0)]
    )
    hierarchy = made([*links, *((row, 0) for row in range(18, 30))], 31)
    positives = np.tile(np.array([[30, 1]], dtype=np.int32), (3000, 1))
    drawn = draw_negatives(hierarchy, positives, negatives=5).hard
    counts = np.bincount(drawn.ravel(), minlength=31)
    assert np.flatnonzero(counts).tolist() == list(range(3, 18))
    assert abs(counts[3:18] - 1000).max() < 6 * np.sqrt(1000)


@pytest.mark.parametrize("block", [1, 50])
def test_blocks_of_siblings_change_nothing_but_the_draw(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    hierarchy = tree(100)
    monkeypatch.setattr(negatives, "BLOCK", block)
    pairs = draw_negatives(hierarchy, hierarchy.links, negatives=4)
    siblings = [set(hierarchy.siblings(child).tolist()) for child in hierarchy.links[:, 0].tolist()]
    assert all(
        set(row[: len(near)]) == near
        for row, near in zip(pairs.hard.tolist(), siblings, strict=True)
    )


def test_the_task_of_a_seed_is_the_same_everywhere() -> None:
    task = make_task(tree(), held_out=0.2, negatives=3)
    assert task.valid.positives.tolist() == VALID
    assert task.test.random.tolist()[:2] == RANDOM
    assert task.test.hard.tolist()[:2] == HARD
    assert same(task, make_task(tree(), held_out=0.2, negatives=3))
    assert not same(task, make_task(tree(), held_out=0.2, negatives=3, seed=1))
    assert task.valid.random.tolist() != task.test.random.tolist()[: len(task.valid)]


def test_pairs_put_the_positive_first() -> None:
    half = make_task(tree(), held_out=0.2, negatives=3).valid
    for kind, wrong in (("random", half.random), ("hard", half.hard)):
        children, parents, labels = half.pairs(kind)
        assert children.shape == parents.shape == labels.shape == (len(half) * 4,)
        assert np.array_equal(np.stack([children[labels], parents[labels]], axis=1), half.positives)
        assert np.array_equal(parents.reshape(-1, 4)[:, 1:], wrong)
        assert np.array_equal(children.reshape(-1, 4), np.repeat(half.positives[:, :1], 4, axis=1))
    with pytest.raises(
        SettingsError, match="negatives: expected one of random, hard, found 'easy'"
    ):
        half.pairs("easy")


def test_homonym_rate() -> None:
    assert homonym_rate([]) == 0
    assert homonym_rate(["Wood_Duck", "wood  duck", "duck"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "links", [[], [(1, 0)], [(1, 0), (2, 0)], [(1, 0), (3, 2)], [(1, 0), (2, 1)]]
)
def test_small_hierarchies_make_no_task(links: list[tuple[int, int]]) -> None:
    for name in ("multi-hop", "mixed-hop"):
        with pytest.raises(
            GraphError, match=r"^(expected a hierarchy with links|m.*-hop: expected enough)"
        ):
            make_task(made(links), name)
    with pytest.raises(GraphError, match="expected"):
        make_task(made(links), "transfer")


def test_too_few_candidates_name_the_entity() -> None:
    chain = made([(row, row - 1) for row in range(1, 12)], 12)
    with pytest.raises(
        GraphError, match="at least 3 entities that are no ancestors of e9, as negatives, found 2"
    ):
        draw_negatives(chain, np.array([[8, 7], [9, 8]], dtype=np.int32), negatives=3)
    assert draw_negatives(chain, np.array([[8, 7]], dtype=np.int32), negatives=3).random.shape == (
        1,
        3,
    )
    empty = draw_negatives(chain, chain.links[:0], negatives=3)
    assert empty.random.shape == empty.hard.shape == (0, 3)


def test_refused_settings() -> None:
    hierarchy = tree()
    for share in (0, 1, -0.1, float("nan")):
        with pytest.raises(SettingsError, match="held_out"):
            make_task(hierarchy, held_out=share)
    with pytest.raises(SettingsError, match="did you mean 'multi-hop'"):
        make_task(hierarchy, "multihop")
    with pytest.raises(SettingsError, match="negatives: expected 1"):
        make_task(hierarchy, negatives=0)
    with pytest.raises(SettingsError, match="seed: expected 0 or more, found -1"):
        make_task(hierarchy, seed=-1)
    with pytest.raises(SettingsError, match="one for each of 40 entities, found 2"):
        make_task(hierarchy, names=["a", "b"])


def test_transfer_takes_everything() -> None:
    task = make_task(tree(), "transfer", negatives=2)
    assert len(task.train) == 0
    assert len(task.valid) + len(task.test) == len(tree().subsumption_keys)


# Roots --------------------------------------------------------------------------------------------


def test_a_root_above_several() -> None:
    builder = GraphBuilder("pets")
    builder.triple("dog", "is_a", "animal")
    builder.triple("oak", "is_a", "plant")
    builder.triple("dog", "likes", "mud")
    graph = with_root(builder.build())
    hierarchy = graph.hierarchy()
    assert (graph.ids[-1], graph.labels[-1]) == ("owl:Thing", "thing")
    assert [graph.ids[row] for row in hierarchy.roots] == ["owl:Thing"]
    assert {graph.ids[row] for row in hierarchy.children(graph.n_entities - 1)} == {
        "animal",
        "plant",
    }
    assert list(graph.ids[:4]) == list(builder.build().ids[:4])
    assert with_root(graph).fingerprint == graph.fingerprint
    builder.triple("animal", "is_a", "thing")  # a name that equals the label of the root
    both = with_root(builder.build()).hierarchy()
    assert {both.ids[row] for row in both.children(len(both.ids) - 1)} == {"thing", "plant"}
    named = with_root(builder.build(), "all", "everything", relation="likes")
    assert [named.ids[row] for row in named.hierarchy("likes").roots] == ["all"]


# Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["multi-hop", "mixed-hop"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    hierarchy = tree()
    names = [f"Näme {row}" for row in range(40)]
    task = make_task(hierarchy, name, held_out=0.3, negatives=3, names=names)
    write_task(task, hierarchy.ids, tmp_path / "a" / "b", names)
    assert same(read_task(tmp_path / "a" / "b", hierarchy.ids), task)
    lexicon = json.loads((tmp_path / "a" / "b" / "entity_lexicon.json").read_text(encoding="utf-8"))
    assert lexicon == {
        identifier: {"name": name} for identifier, name in zip(hierarchy.ids, names, strict=True)
    }
    first = json.loads(
        (tmp_path / "a" / "b" / "test.jsonl").read_text(encoding="utf-8").splitlines()[0]
    )
    assert list(first) == ["child", "parent", "random_negatives", "hard_negatives"]
    assert json.loads((tmp_path / "a" / "b" / "settings.json").read_text())["homonyms"] is False


def test_public_layout(tmp_path: Path) -> None:
    hierarchy = tree()
    task = make_task(hierarchy, held_out=0.3, negatives=3)
    write_task(task, hierarchy.ids, tmp_path)
    for name in ("settings.json", "hierarchy.jsonl"):
        (tmp_path / name).unlink()
    (tmp_path / "valid.jsonl").rename(tmp_path / "val.jsonl")
    found = read_task(tmp_path, hierarchy.ids)
    assert found.settings is None
    assert np.array_equal(found.valid.hard, task.valid.hard)
    assert np.array_equal(found.known.subsumption_keys, hierarchy.subsumption_keys)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "train.jsonl",
            '{"child": "e1"}',
            r"train.jsonl:1: expected an object with child and parent",
        ),
        ("train.jsonl", '\n{"child": ', r"train.jsonl:2: expected JSON"),
        (
            "train.jsonl",
            '{"child": "e1", "parent": "e1x"}',
            r"train.jsonl:1: .* 'e1x'; did you mean",
        ),
        ("train.jsonl", '{"child": "e1", "parent": ["e0"]}', r"train.jsonl:1: expected an entity"),
        ("test.jsonl", '{"child": "e1", "parent": "e0"}', r"test.jsonl:1: expected a list"),
        ("test.jsonl", "", r"test.jsonl: expected at least one subsumption"),
        ("test.jsonl", b"\xff", r"test.jsonl: expected a text file"),
        (
            "test.jsonl",
            '{"child": "e1", "parent": "e0", "random_negatives": ["e2"], "hard_negatives": []}',
            r"test.jsonl:1: expected 1 hard_negatives .* found 0",
        ),
        ("settings.json", "[]", r"settings.json: expected an object"),
    ],
)
def test_faulty_files_are_named(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    hierarchy = tree()
    write_task(
        make_task(hierarchy, held_out=0.3, negatives=3),
        hierarchy.ids,
        tmp_path,
        list(hierarchy.ids),
    )
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ReadError, match=message):
        read_task(tmp_path, hierarchy.ids)


def test_unknown_settings_and_missing_files(tmp_path: Path) -> None:
    hierarchy = tree()
    write_task(make_task(hierarchy, held_out=0.3, negatives=3), hierarchy.ids, tmp_path)
    (tmp_path / "settings.json").write_text('{"sead": 1}')
    with pytest.raises(SettingsError, match="unknown setting 'sead'; did you mean 'seed'"):
        read_task(tmp_path, hierarchy.ids)
    (tmp_path / "valid.jsonl").unlink()
    with pytest.raises(ReadError, match=r"val.jsonl: expected a text file"):
        read_task(tmp_path, hierarchy.ids)


def test_settings_say_how_a_task_was_made() -> None:
    task = make_task(
        tree(),
        "mixed-hop",
        seed=5,
        negatives=2,
        held_out=0.4,
        names=[str(row) for row in range(40)],
    )
    assert task.settings == TaskSettings("mixed-hop", 5, 2, 0.4, homonyms=False)
