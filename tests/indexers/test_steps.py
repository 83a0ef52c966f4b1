"""The steps of a build: their order, results and working files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontodex.graph import KnowledgeGraph
from ontodex.indexers import build as module
from ontodex.indexers.build import steps_of
from ontodex.indexers.step import Build, Step
from ontodex.storage.space_names import GEOMETRIES
from tests.plain import build_plain


def test_a_step_needs_what_steps_before_it_make() -> None:
    made: set[str] = set()
    for step in steps_of():
        assert set(step.needs) <= made, step
        made |= set(step.makes)
    assert made == set(GEOMETRIES)


def test_steps_make_what_they_say_and_leave_no_working_files(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    tiny_hit: Path,
    tiny_gauss: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, set[str]] = {}

    def watched(step: Step) -> Step:
        run = step.run

        def noted(build: Build) -> None:
            spaces, files = set(build.spaces), {file.name for file in build.inputs.folder.iterdir()}
            run(build)
            assert set(build.spaces) - spaces <= set(step.makes)
            seen[type(step).__name__] = {
                file.name for file in build.inputs.folder.iterdir()
            } - files

        step.run = noted  # type: ignore[method-assign]
        return step

    monkeypatch.setattr(
        module, "steps_of", lambda *given: [watched(step) for step in steps_of(*given)]
    )
    path = tmp_path / "farm.odx"
    with build_plain(
        small_graph, path, tiny_encoder, hierarchy=tiny_hit, entailment=tiny_gauss
    ) as engine:
        assert list(engine.index.manifest.spaces) == [
            "name",
            "text",
            "definition",
            "hierarchy",
            "entailment",
        ]
        assert set(engine.index.manifest.seconds) == {
            "encode definitions",
            "encode names",
            "encode texts",
            "embed hierarchy",
            "embed sentences",
            "fit grounding",
            "fit hierarchy",
            "store",
        }
    assert seen["EncodeNames"] == {"name.f16", "name.f32", "name.json"}
    assert seen["EncodeTexts"] == {"text.f32", "text.json"}
    assert seen["EncodeDefinitions"] == {"definition.f32", "definition.json"}
    assert seen["EmbedHierarchy"] == {"hierarchy.f32", "hierarchy.json"}
    assert seen["EmbedSentences"] == {"entailment.f16", "entailment.json"}
    assert "LearnLinks" not in seen  # there is no link space
    assert {file.name for file in path.iterdir()} == {"CURRENT", "LOCK", "gen-000001"}
    left = {file.name for file in (path / "gen-000001").iterdir()}
    assert left == {"encoders", "manifest.json", "store.mdb"}
