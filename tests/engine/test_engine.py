"""The engine against brute force over the index it answers from."""

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest

import ontodex
from ontodex.engine.resolve import resolve_entity
from ontodex.errors import IndexMismatch, SettingsError, UnknownEntity, UnknownRelation
from ontodex.graph import GraphBuilder
from tests.plain import build_plain


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


def brute_force(engine, row, relation):
    """Return all entities by score, best first, from a float64 pass over all vectors."""
    vectors = engine.index.vectors("link")[np.arange(engine.graph.n_entities)].astype(np.float64)
    query = engine.index.projections.project(vectors[[row]].astype(np.float32), relation)[0]
    scores = vectors @ query.astype(np.float64)
    return np.lexsort((np.arange(len(scores)), -scores.round(14))).tolist(), scores


@pytest.mark.parametrize("known", ["exclude", "include", "only"])
def test_tails_equal_brute_force(engine, known):
    graph = engine.graph
    row, relation = graph.find("dog")[0], graph.find_relation("lives in")[0]
    order, scores = brute_force(engine, row, relation)
    true = set(graph.tails_of(row, relation).tolist())
    wanted = [at for at in order if known == "include" or (at in true) == (known == "only")]
    wanted = [at for at in wanted if at != row][:7]  # no relation of the graph is reflexive
    hits = engine.tails("dog", "lives in", k=7, known=known)
    assert [hit.id for hit in hits] == [graph.ids[at] for at in wanted]
    assert [hit.score for hit in hits] == pytest.approx([scores[at] for at in wanted])
    assert [hit.known for hit in hits] == [at in true for at in wanted]


def test_the_inverse_of_a_relation_may_be_asked_for(engine):
    for known in ("exclude", "include", "only"):
        wanted, other = (
            engine.heads("eats", "dog", k=5, known=known),
            engine.tails("cow", "lives in", k=5, known=known),
        )
        found = engine.tails_batch([("cow", "lives in"), ("dog", "inverse eats")], k=5, known=known)
        assert ids([other, wanted]) == ids(found)
        assert [hit.known for hit in found[1]] == [hit.known for hit in wanted]
    assert found[1].resolutions["relation"].id == "ex:eats"
    assert found[1].resolutions["relation"].label == "inverse eats"
    turned = engine.heads("inverse lives in", "cow", k=5)
    assert [hit.id for hit in turned] == [hit.id for hit in engine.tails("cow", "lives in", k=5)]
    assert engine.tails("dog", "inverse of nothing").resolutions["relation"].kind == "free text"


@pytest.mark.parametrize("name", ["narrower", "skos:narrower", "Children", "has subclass"])
def test_the_hierarchy_is_known_by_its_usual_names(engine, name):
    found = engine.tails("tame animal", name, k=5, known="only")
    wanted = engine.heads("is_a", "tame animal", k=5, known="only")
    assert [hit.id for hit in found] == [hit.id for hit in wanted]
    assert found.resolutions["relation"].id == "is_a"
    for usual in ("parent", "broader", "rdfs:subClassOf"):
        assert engine.tails("dog", usual, known="only").resolutions["relation"].id == "is_a"


@pytest.mark.parametrize("known", ["exclude", "include"])
def test_no_link_of_the_hierarchy_would_close_a_cycle(engine, known):
    hierarchy = engine.hierarchy
    for row in hierarchy.members.tolist():
        name, count = engine.graph.ids[row], engine.graph.n_entities
        above, below = (
            {engine.graph.ids[other] for other in rows.tolist()}
            for rows in (hierarchy.ancestors(row), hierarchy.descendants(row))
        )
        tails = {hit.id for hit in engine.tails(name, "is_a", k=count, known=known)}
        heads = {hit.id for hit in engine.heads("is_a", name, k=count, known=known)}
        assert not tails & below
        assert not heads & above
        assert known == "exclude" or (above <= tails and below <= heads)


def test_heads_are_tails_of_the_inverse_relation(engine):
    graph = engine.graph
    row, relation = graph.find("farm")[0], graph.find_relation("lives in")[0]
    order, _ = brute_force(engine, row, relation + graph.n_relations)
    true = set(graph.heads_of(relation, row).tolist())
    wanted = [graph.ids[at] for at in order if at not in true and at != row][:5]
    assert [hit.id for hit in engine.heads("lives in", "farm", k=5)] == wanted


def test_every_way_to_name_an_entity_gives_one_answer(engine):
    answers = [
        [hit.id for hit in engine.tails(name, relation, k=5)]
        for name in ("ex:dog", "http://example.org/dog", "dog", "DOG", "common dog")
        for relation in ("lives in", "ex:livesIn", "livesIn")
    ]
    assert all(answer == answers[0] for answer in answers)
    kinds = [
        engine.tails(name, "eats").resolutions["head"].kind
        for name in ("ex:dog", "dog", "common dog", "a big dog")
    ]
    assert kinds == ["id", "label", "synonym", "free text"]


def test_an_unseen_head_and_an_unseen_relation_are_answered_from_their_texts(engine):
    hits = engine.tails("a wild pig", "is afraid of", k=3)
    assert len(hits) == 3
    assert [resolution.id for resolution in hits.resolutions.values()] == [None, None]
    other = engine.tails("a wild pig", "eats", k=3)
    assert [hit.score for hit in hits] != [hit.score for hit in other]


def test_unseen_relation_with_the_text_of_a_known_one_is_projected_alike(engine):
    made, stored = (
        engine.resources.encoders.link.projections(["lives in"]),
        engine.index.projections,
    )
    number = engine.graph.find_relation("lives in")[0]
    np.testing.assert_allclose(made.left[0], stored.left[number], atol=2e-2)
    np.testing.assert_allclose(made.right[0], stored.right[number], atol=2e-2)


def test_batches_equal_single_questions(engine):
    questions = [(name, "eats") for name in ("dog", "cat", "a tame bear", "whale")] + [
        ("dog", "lives in")
    ]
    for (head, relation), hits in zip(questions, engine.tails_batch(questions, k=4), strict=True):
        assert [hit.id for hit in hits] == [hit.id for hit in engine.tails(head, relation, k=4)]


def test_questions_may_be_given_one_after_the_other(engine):
    heads, relations = ["dog", "cat"], ["eats", "lives in"]
    for ask in (engine.tails_batch, engine.relations_batch):
        assert ids(ask(zip(heads, relations, strict=True))) == ids(
            ask(list(zip(heads, relations, strict=True)))
        )
    for ask in (engine.search_batch, engine.similar_batch):
        assert ids(ask(iter(heads))) == ids(ask(heads))


def ids(answers):
    assert answers
    return [[hit.id for hit in hits] for hits in answers]


@pytest.mark.parametrize("question", ["ab", "dog", None, ("dog",), ("dog", "eats", "cat")])
def test_queries_that_are_no_pairs_are_named(engine, question):
    for ask in (engine.tails_batch, engine.heads_batch, engine.relations_batch):
        with pytest.raises(SettingsError, match="questions: expected pairs of texts, found"):
            ask([question])


def test_one_text_is_no_list_of_questions(engine):
    for ask in (
        engine.search_batch,
        engine.similar_batch,
        engine.tails_batch,
        engine.relations_batch,
    ):
        with pytest.raises(SettingsError, match=r"expected a list of .*, found one text, 'dog'"):
            ask("dog")


@pytest.mark.parametrize("questions", [None, 5, {("dog", "eats")}, b"dog", {"dog": "eats"}])
def test_an_argument_that_is_no_list_is_named(engine, questions):
    for ask in (engine.search_batch, engine.tails_batch, engine.parents_batch):
        with pytest.raises(SettingsError, match="expected a list of"):
            ask(questions)


def test_an_ambiguous_name_is_reported():
    builder = GraphBuilder("tools")
    for number in range(3):
        builder.entity(f"ex:{number}", "hammer")
    builder.triple("ex:1", "is_a", "ex:tool")
    graph = builder.build()
    assert (
        str(resolve_entity(graph, "hammer").resolution)
        == "hammer (ex:1, by label, one of 3: give its id to mean another)"
    )
    builder.replace({"ex:9": "ex:1"})
    assert (
        str(resolve_entity(builder.build(), "ex:9").resolution)
        == "hammer (ex:1, by alternative id)"
    )
    assert (
        resolve_entity(graph, "ex:1").resolution.hint
        == resolve_entity(graph, "tool").resolution.hint
        == ""
    )


def test_a_misspelt_id_is_read_as_text_with_a_hint(engine):
    asked = (
        engine.tails("Young  hors", "lives in", k=1).resolutions["head"],
        engine.heads("lives in", "forrest", k=1).resolutions["tail"],
        engine.relations("common hara", "dog", k=1).resolutions["head"],
        engine.similar("tame animl", k=1).resolutions["text"],
        engine.similar("tame animl", k=1, condition="lives in").resolutions["text"],
    )
    assert [(one.kind, one.hint) for one in asked] == [
        ("free text", f"; did you mean {name!r}?")
        for name in ("young horse", "forest", "common hare", "tame animal", "tame animal")
    ]
    assert "(free text; did you mean 'forest'?)" in str(engine.heads("lives in", "forrest", k=1))
    for other in ("a wild pig", "submarine", "dog"):
        assert engine.similar(other, k=1).resolutions["text"].hint == ""
    many = engine.similar_batch(["forrest"] * 101, k=1)  # more than any label has
    assert {hits.resolutions["text"].hint for hits in many} == {""}


def test_where_no_relation_is_left_nothing_is_found(engine):
    assert len(engine.relations("dog", "sea", known="only")) == 0
    both = engine.relations_batch([("dog", "sea"), ("dog", "farm")], known="only")
    assert [len(hits) for hits in both] == [0, 1]
    for pair in (("dog", None), (1, 2)):
        with pytest.raises(SettingsError, match="entity: expected a CURIE"):
            engine.relations(*pair)


def test_inverse_may_be_written_in_any_case(engine):
    asked, usual = (
        engine.tails("farm", f"{word} lives in", k=3) for word in ("Inverse", "inverse")
    )
    assert asked.resolutions["relation"].inverted
    assert [hit.id for hit in asked] == [hit.id for hit in usual]


def test_search_compares_names_with_what_is_typed(engine):
    found = engine.search("hares", k=60)  # a synonym of hare
    assert found[0].id == "ex:hare"
    assert (found[0].score, found[1].score < 1) == (1, True)


def test_relations_are_all_ranked_and_known_ones_marked(engine):
    hits = engine.relations("dog", "farm")
    assert {hit.id for hit in hits} == set(engine.graph.relation_ids)
    assert [hit.id for hit in hits if hit.known] == ["ex:livesIn"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert "ex:livesIn" not in [hit.id for hit in engine.relations("dog", "farm", known="exclude")]


def test_relations_say_if_the_graph_links_the_two_the_other_way_round(engine):
    assert engine.relations("farm", "dog").method.endswith(
        "; known in the opposite direction: lives in"
    )
    assert "opposite direction" not in engine.relations("dog", "farm").method
    assert "opposite direction" not in engine.relations("farm", "a wet dog").method


def test_search_ranks_the_entity_of_that_name_first(engine):
    assert engine.search("common hare", k=3)[0].id == "ex:hare"
    assert engine.search("common hare", k=3)[0].score == 1.0
    assert len({hit.id for hit in engine.search("hare", k=10)}) == 10


@pytest.mark.parametrize("known", ["a graph", "a file", "files"])
def test_further_sources_may_be_files_and_their_hierarchy_counts(small_index, tmp_path, known):
    file = tmp_path / "more.tsv"
    file.write_text("ex:sea\tsubclass of\tex:animal\nex:dog\tlives in\tex:sea\n")
    given = {"a graph": ontodex.read(file), "a file": file, "files": [str(file)]}[known]
    with ontodex.open(small_index, device="cpu") as engine:
        before = {hit.id for hit in engine.children("animal", k=100) if hit.known}
    with ontodex.open(small_index, device="cpu", known=given) as engine:
        assert "ex:sea" in {hit.id for hit in engine.tails("dog", "lives in", k=9, known="only")}
        assert {hit.id for hit in engine.children("animal", k=100) if hit.known} == before | {
            "ex:sea"
        }
        assert "ex:animal" in {hit.id for hit in engine.parents("sea", known="only")}


def test_similar_leaves_the_entity_itself_out(engine):
    assert "ex:hare" not in [hit.id for hit in engine.similar("hare", k=60)]
    assert len(engine.similar("hare", k=1000)) == engine.graph.n_entities - 1


def test_extra_sources_count_as_known(small_index):
    builder = GraphBuilder("more")
    builder.triple("ex:dog", "ex:livesIn", "ex:sea")
    builder.triple("ex:dog", "ex:livesIn", "ex:nowhere")
    with ontodex.open(small_index, device="cpu", known=[builder.build()]) as engine:
        assert "ex:sea" not in [hit.id for hit in engine.tails("dog", "lives in", k=100)]
        assert {hit.id for hit in engine.tails("dog", "lives in", k=9, known="only")} == {
            "ex:farm",
            "ex:sea",
        }
        assert {hit.id for hit in engine.heads("lives in", "sea", k=9, known="only")} >= {"ex:dog"}


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda e: e.tails("ex:dgo", "eats"), UnknownEntity, "ex:dog"),
        (lambda e: e.tails("dog", "ex:eat"), UnknownRelation, "ex:eats"),
        (lambda e: e.tails("dog", "eats", k=0), SettingsError, "at least 1, found 0"),
        (lambda e: e.tails("dog", "eats", k=True), SettingsError, "at least 1, found True"),
        (lambda e: e.tails("dog", "eats", known="all"), SettingsError, "exclude"),
        (lambda e: e.tails(" ", "eats"), SettingsError, "entity"),
        (lambda e: e.heads("", "dog"), SettingsError, "relation"),
        (lambda e: e.search("", k=3), SettingsError, "entity"),
        (
            lambda e: e.similar("dog", condition=5),
            SettingsError,
            "condition: expected a relation or a text",
        ),
        (
            lambda e: e.relations("dog", "farm", known="onyl"),
            SettingsError,
            "found 'onyl'; did you mean 'only'",
        ),
    ],
)
def test_bad_questions_are_refused_by_name(engine, call, error, says):
    with pytest.raises(error, match=says):
        call(engine)


def test_more_answers_than_entities(engine):
    assert len(engine.search("dog", k=10_000)) == engine.graph.n_entities


def test_an_index_without_a_link_encoder_embeds_head_and_relation_as_one_text(
    tmp_path, tiny_encoder, small_graph
):
    with build_plain(small_graph, tmp_path / "plain.odx", [tiny_encoder]) as engine:
        hits = engine.tails("dog", "lives in", k=3)
        assert "no link encoder" in hits.method
        assert len(engine.heads("lives in", "farm", k=3)) == 3
        assert len(engine.relations("dog", "farm", k=2)) == 2


def test_a_graph_of_one_entity(tmp_path, tiny_encoder):
    builder = GraphBuilder("one")
    builder.entity("ex:dog", "dog")
    with ontodex.build(
        builder.build(),
        tmp_path / "one.odx",
        encoders=[tiny_encoder],
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        assert [hit.id for hit in engine.search("a cat", k=5)] == ["ex:dog"]
        assert len(engine.similar("dog")) == 0
        assert "nothing found" in str(engine.similar("dog"))
        for ask in (engine.parents, engine.children, engine.place):
            with pytest.raises(IndexMismatch, match="give the graph a hierarchy"):
                ask("dog")
        with pytest.raises(IndexMismatch, match="give the graph a hierarchy"):
            engine.audit()
        assert len(engine.tails("dog", "eats")) == 0


def test_words_with_a_colon_are_words_unless_the_graph_has_the_prefix(engine):
    assert engine.similar("COVID-19:acute", k=2).resolutions["text"].kind == "free text"
    assert engine.search("ex:dgo", k=2).resolutions["text"].kind == "free text"
    with pytest.raises(UnknownEntity):
        engine.similar("ex:dgo")


def test_an_unseen_relation_gets_a_hint_of_similar_spelling(engine):
    assert "did you mean 'lives in'" in str(engine.tails("dog", "live in", k=1))


def test_any_whole_number_serves_as_k(engine):
    assert len(engine.search("dog", k=np.int64(3))) == 3


def test_the_method_names_what_was_answered_from(engine):
    assert "projection" in engine.tails("dog", "eats").method
    assert "similarity" in engine.search("dog").method
    assert "probability of the relation" in engine.relations("dog", "farm").method


def test_only_new_answers_become_predicted_triples(engine):
    known = {hit.id for hit in engine.tails("dog", "lives in", k=9, known="only")}
    triples = engine.tails("dog", "lives in", k=100, known="include").triples
    assert len(triples) == engine.graph.n_entities - len(known) - 1  # the head itself is no answer
    assert not known & {tail for _, _, tail, _ in triples}
    for hits in (engine.tails("a wild pig", "eats", k=1), engine.search("dog", k=1)):
        with pytest.raises(SettingsError, match="triples"):
            hits.to_rdf()


def test_an_entity_is_its_own_tail_only_by_relations_that_have_loops(tmp_path, tiny_encoder):
    builder = GraphBuilder("loops")
    for head, relation, tail in [("ex:dog", "ex:knows", "ex:dog"), ("ex:dog", "ex:eats", "ex:cat")]:
        builder.triple(head, relation, tail)
    training = ontodex.HyperCLTraining(steps=2, rank=4, width=8)
    with ontodex.build(
        builder.build(),
        tmp_path / "x.odx",
        encoders=tiny_encoder,
        training=training,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        assert {hit.id for hit in engine.tails("ex:cat", "ex:knows")} == {"ex:cat", "ex:dog"}
        assert {hit.id for hit in engine.tails("ex:cat", "ex:eats")} == {"ex:dog"}
        assert {hit.id for hit in engine.heads("ex:eats", "ex:cat", known="include")} == {"ex:dog"}


def test_camel_case_is_read_in_words_as_in_the_texts_of_entities(small_index):
    with ontodex.open(small_index, device="cpu") as engine:
        for camel, words in (("BigDog", "Big dog"), ("wildFarmAnimal", "wild farm animal")):
            for question in (
                engine.search,
                engine.similar,
                lambda text: engine.tails(text, "eats"),
            ):
                assert question(camel).hits == question(words).hits
            assert engine.heads(camel, "dog").hits == engine.heads(words, "dog").hits


def test_importing_the_engine_does_not_import_torch() -> None:
    code = "import sys, ontodex.engine.engine; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_a_name_is_found_outside_the_text_candidates(tmp_path, tiny_encoder, small_graph):
    with (
        patch("ontodex.indexers.store.EXACT_UP_TO", 10),
        patch("ontodex.engine.search.topk.SIZES", (1,)),
        patch("ontodex.engine.search.topk.Searcher.OVERFETCH", 1),
        build_plain(small_graph, tmp_path / "farm.odx", [tiny_encoder]) as engine,
    ):
        assert engine.resources.candidates("text") is not None
        assert engine.search("a comon hare", k=1)[0].id == "ex:hare"
        assert len(engine.similar("a comon hare", k=1)) == 1


def test_a_text_that_the_encoder_cuts_is_said(small_index):
    long, short = "a wild dog in the forest " * 20, "a wild dog in the forest"
    with ontodex.open(small_index, device="cpu") as engine:
        encoders = engine.resources.encoders
        said, by_hit = (
            f"only the first {encoder.longest} of its 122 tokens are read"
            for encoder in (encoders.text, encoders.hierarchy.text)
        )
        for found in (
            engine.similar(long),
            engine.tails(long, "lives in"),
            engine.heads("lives in", long),
        ):
            assert said in str(found)
        for found in (engine.parents(long), engine.children(long), engine.place(long)):
            assert by_hit in str(found)
        for found in (engine.similar(short), engine.tails("dog", "lives in"), engine.search(long)):
            assert "tokens" not in str(found)
        one, other = engine.similar_batch([long, "ex:nothing"])
        assert said in one.resolutions["text"].hint
        assert other.error is not None
