"""A generation of an index, as it is made: every space embedded, stored and written down."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapted import Adapted
from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.link_encoder import LinkEncoder, load_link_encoder
from ontodex.encoders.locate import fingerprint
from ontodex.encoders.text import TextEncoder
from ontodex.errors import IndexFailure, settings_from
from ontodex.geometry.vectors import Vectors
from ontodex.graph import (
    EntitySentences,
    Hierarchy,
    KnowledgeGraph,
    TextSettings,
    entity_sentences,
    entity_texts,
    hierarchy_texts,
    relation_texts,
)
from ontodex.indexers.embed import Embeddings, embed, map_blocks
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy
from ontodex.indexers.encoder_files import Encoders
from ontodex.indexers.graph_features import (
    StructureTrainer,
    for_fitting,
    join,
    make_structure,
    query_function_as_new,
    why_not_fitted,
)
from ontodex.indexers.hierarchy_rule import hierarchy_to_fit, with_rule
from ontodex.indexers.neighbour_voting import default_voting, fit_neighbour_voting
from ontodex.indexers.previous import projections_of
from ontodex.indexers.spans import expect_trees, phrases
from ontodex.indexers.store import write_store
from ontodex.scoring.graph_features import GraphFeatures
from ontodex.storage import generations
from ontodex.storage.blobs import layout
from ontodex.storage.candidates import EXACT_UP_TO, make_candidates, measure_recall
from ontodex.storage.index import Index
from ontodex.storage.integrity import STORE
from ontodex.storage.manifest import FORMAT, FileInfo, Manifest, file_info
from ontodex.storage.space_names import (
    BUFFERS,
    CONDITION,
    GAUSS,
    GEOMETRIES,
    HIT,
    HYBRID,
    LINK,
    SPAN,
    TEXT,
)

__all__ = ["LinkTrainer", "NewGeneration"]

LinkTrainer = Callable[[KnowledgeGraph, TextEncoder, Embeddings, Path], LinkEncoder]
"""Trains an encoder of links on a graph, its text encoder and the embeddings of its entities' texts, into a folder."""


@dataclass
class NewGeneration:
    """A generation that is being made, in a folder that is renamed once it is whole.

    Attributes:
        path: Folder of the index.
        number: Which generation it is.
        graph: What is known.
        encoders: Encoders of the spaces; one of links is trained if it is not given, and the hierarchy's gets its rule.
        texts: How an entity's text is built.
        settings: What the result depends on; written to the manifest.
        quiet: Show no progress on stderr.
        kept: An index of the graph as it was, of which nothing changes that was fitted or learnt.
        earlier: The generation that is live, whose vectors of the same texts are taken over.
        job: What tells an interrupted build that it was the same.
        seconds: Time that each part took.
        names: Texts of each space.
        vectors: Vectors of each space.
        said: Statements of the spaces whose items are these, not entities.
    """

    path: Path
    number: int
    graph: KnowledgeGraph
    encoders: Encoders
    texts: TextSettings
    settings: dict[str, Any]
    quiet: bool
    kept: Index | None
    earlier: Index | None
    job: str
    seconds: dict[str, float] = field(default_factory=dict)
    names: dict[str, Sequence[str]] = field(default_factory=dict)
    vectors: dict[str, Embeddings] = field(default_factory=dict)
    said: dict[str, EntitySentences] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where it is made."""
        return self.path / f"gen-{self.number:06d}.tmp"

    def start(self) -> None:
        """Take over what an interrupted build of the same job has left; clear away any other."""
        for left in self.path.glob("gen-*.tmp"):
            if left != self.folder or _read_job(left) != self.job:
                shutil.rmtree(left)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "job.json").write_text(json.dumps({"job": self.job}))

    def make(
        self, train: LinkTrainer | None, structure: StructureTrainer | GraphFeatures | None
    ) -> None:
        """Write everything."""
        if self.settings.get("spans"):
            expect_trees(self.encoders.text)
        learnt = for_fitting(self.graph) if callable(structure) else None
        if callable(structure) and learnt is None and (why := why_not_fitted(self.graph)):
            warnings.warn(
                f"{self.graph.source}: links are left out of tails and heads, as {why}",
                stacklevel=2,
            )
        hierarchy = None
        if self.encoders.hit is not None and self.kept is None:
            hierarchy = hierarchy_to_fit(
                self.graph, self.encoders.hit
            )  # before anything is encoded: it may refuse
        self._embed_texts()
        if self.encoders.link is None and train is not None:
            self._train(train, learnt or self.graph)
        found = self._embed_links(structure, learnt)
        self._embed_hierarchy(hierarchy)
        self._embed_conditions()
        self._embed_statements()
        self._store(found)
        with self._timed("candidates"):
            recall = self._candidates()
        self._finish(recall)

    def _embed_texts(self) -> None:
        text = self.encoders.text
        self.names[TEXT] = entity_texts(self.graph, self.texts)
        with self._timed("encode"):
            known = self._known(TEXT, "text", text.fingerprint)
            self.vectors[TEXT] = embed(
                self.names[TEXT], text, self.folder / "text.f32", known=known, quiet=self.quiet
            )

    def _train(self, train: LinkTrainer, graph: KnowledgeGraph) -> None:
        """Train an encoder of links, or take over the one that an interrupted build has trained."""
        text, folder = self.encoders.text, self.folder / "trained"
        with self._timed("train"):
            if (folder / "done").exists():
                own = fingerprint(folder) != text.fingerprint
                made = load_link_encoder(folder, None if own else text, text.device)
            else:
                made = train(graph, text, self.vectors[TEXT], folder)
                generations.sync_tree(
                    folder
                )  # else a loss of power may leave the mark, and not what it marks
                (folder / "done").touch()
            made.texts = dataclasses.asdict(self.texts)  # those that it was trained on
        self.encoders = dataclasses.replace(self.encoders, link=made)

    def _embed_links(
        self, structure: StructureTrainer | GraphFeatures | None, learnt: KnowledgeGraph | None
    ) -> GraphFeatures | None:
        """Make the vectors of the link space, and those of texts and links together; return what is learnt from links."""
        link, found = self.encoders.link, None
        if link is None:
            return None
        with self._timed("encode"):
            self.names[LINK] = self._own_names(link)
            self.vectors[LINK] = self._link_vectors(link)
        if structure is not None:
            with self._timed("structure"):
                found = self._structured(structure, learnt, link)
        if found is not None:
            self.vectors[HYBRID] = join(self.vectors[LINK], found, self.folder / "hybrid.f32")
        return found

    def _embed_hierarchy(self, hierarchy: Hierarchy | None) -> None:
        """Make the points of the hierarchy space, and fit its rule and that of kin, if there is something to fit to."""
        given = self.encoders.hit
        if given is None:
            return
        with self._timed("encode"):
            self.names[HIT] = hierarchy_texts(self.graph, given.texts, HIT)
            self.vectors[HIT] = self._adapted(HIT, given, self.names[HIT])
        with self._timed("rule"):
            embedded = None
            if hierarchy is not None:
                embedded = EmbeddedHierarchy(
                    hierarchy, self.names[HIT], self.vectors[HIT], given.c, list(self.graph.labels)
                )
            hit = with_rule(given, embedded)
            kin = (
                fit_neighbour_voting(hit, embedded, Vectors([self.vectors[TEXT]]))
                or self.encoders.kin
            )
            if not kin and hit.rule is not None:
                kin = default_voting(hit.rule)
        self.encoders = dataclasses.replace(self.encoders, hit=hit, kin=kin)

    def _embed_conditions(self) -> None:
        if self.encoders.condition is not None:
            with self._timed("encode"):
                self.names[CONDITION] = self._own_names(self.encoders.condition)
                self.vectors[CONDITION] = self._condition_vectors(self.encoders.condition)

    def _embed_statements(self) -> None:
        """Embed the sentences of labels and definitions, and their phrases."""
        text, gauss = self.encoders.text, self.encoders.gauss
        if gauss is None and not self.settings.get("spans"):
            return
        with self._timed("encode"):
            sentences = entity_sentences(self.graph)
            if gauss is not None:
                self.said[GAUSS] = sentences
                self.vectors[GAUSS] = self._adapted(GAUSS, gauss, sentences.texts)
            if self.settings.get("spans"):
                self.said[SPAN] = phrases(sentences, text)
                known = self._known(SPAN, "text", text.fingerprint)
                self.vectors[SPAN] = embed(
                    self.said[SPAN].texts,
                    text,
                    self.folder / "span.f32",
                    known=known,
                    quiet=self.quiet,
                )
        self.names.update({space: said.texts for space, said in self.said.items()})

    def _store(self, found: GraphFeatures | None) -> None:
        with self._timed("store"):
            self._spaces, self._blobs = write_store(
                self.folder / STORE,
                self.graph,
                self.names,
                self.vectors,
                GEOMETRIES,
                {LINK: HYBRID} if HYBRID in self.vectors else {},
                projections_of(self.encoders.link, self.graph, self.kept),
                found,
                self.said,
            )
        self.encoders.copy(self.path, self.folder / "encoders")

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[what] = round(self.seconds.get(what, 0.0) + time.perf_counter() - start, 3)

    def _known(
        self, space: str, encoder: str, fingerprint: str
    ) -> tuple[NDArray[np.bytes_], Vectors] | None:
        """Return the keys and vectors that the same encoder has made for an earlier generation, if they are whole."""
        earlier, told = self.earlier, TEXT if space == SPAN else space
        if earlier is None or space not in earlier.manifest.spaces:
            return None
        if earlier.manifest.encoders.get(told, {}).get(encoder) != fingerprint:
            return None
        with suppress(IndexFailure):
            stored = f"{earlier.manifest.spaces[space].vectors}/vectors/"
            if not any(earlier.blobs.damaged(stored)) and not any(
                earlier.blobs.damaged(f"{space}/keys")
            ):
                return earlier.blobs.get(f"{space}/keys"), earlier.vectors(space)
        return None

    def _adapted(self, space: str, encoder: Adapted, texts: Sequence[str]) -> Embeddings:
        return embed(
            texts,
            encoder.text,
            self.folder / f"{space}.f{8 * np.dtype(encoder.precision).itemsize}",
            known=self._known(space, "encoder", encoder.fingerprint),
            finish=encoder.stored,
            width=encoder.width,
            dtype=encoder.precision,
            geometry=GEOMETRIES[space],
            quiet=self.quiet,
        )

    def _own_names(self, encoder: LinkEncoder | ConditionEncoder) -> Sequence[str]:
        """Return the texts of an encoder's space: those that it was trained on, or the text space's own."""
        texts = settings_from(
            TextSettings, encoder.texts or self.settings["texts"], str(encoder.text.folder)
        )
        return self.names[TEXT] if texts == self.texts else entity_texts(self.graph, texts)

    def _link_vectors(self, link: LinkEncoder) -> Embeddings:
        if not self._same_texts(LINK, link.text):
            known = self._known(LINK, "network", link.fingerprint)
            file = self.folder / "link.f32"
            return embed(
                self.names[LINK],
                link.text,
                file,
                known=known,
                finish=link.entities,
                quiet=self.quiet,
            )
        if not link.moves_entities:
            return self.vectors[TEXT]
        return map_blocks(self.vectors[TEXT], self.folder / "entities.f32", link.entities)

    def _condition_vectors(self, condition: ConditionEncoder) -> Embeddings:
        if self._same_texts(CONDITION, condition.text):
            return self.vectors[TEXT]
        known = self._known(CONDITION, "text", condition.text.fingerprint)
        file = self.folder / "condition.f32"
        return embed(self.names[CONDITION], condition.text, file, known=known, quiet=self.quiet)

    def _same_texts(self, space: str, encoder: TextEncoder) -> bool:
        """Tell whether a space has the texts of the text space, read by the same encoder."""
        return (
            encoder.fingerprint == self.encoders.text.fingerprint
            and self.names[space] is self.names[TEXT]
        )

    def _structured(
        self,
        structure: StructureTrainer | GraphFeatures,
        learnt: KnowledgeGraph | None,
        link: LinkEncoder,
    ) -> GraphFeatures | None:
        if not callable(structure):
            return structure
        if learnt is None:
            return None
        whole = Vectors([self.vectors[LINK]])
        relations = relation_texts(self.graph)
        ask = query_function(link.bind(relations), whole, self.names[LINK], relations)
        read_new = partial(query_function_as_new, link, self.graph)
        return make_structure(
            structure, learnt, self.graph, whole, ask, read_new, self.folder, quiet=self.quiet
        )

    def _candidates(self) -> dict[str, float]:
        """Make candidates for the large spaces; return the recall of each."""
        recall = {}
        for space, info in self._spaces.items():
            if (
                info.rows > EXACT_UP_TO
                and info.vectors == space
                and info.geometry == "cosine"
                and space != CONDITION
            ):
                whole = Vectors([self.vectors[space]])
                index = make_candidates(whole)
                faiss.write_index(index, str(self.folder / f"{space}.faiss"))
                recall[space] = measure_recall(index, whole)
        return recall

    def _finish(self, recall: dict[str, float]) -> None:
        """Clear away what was only needed to make it, and write the manifest."""
        encoders = self.encoders.described()  # while the files of a trained one are there
        self.vectors.clear()
        for name in (
            "job.json",
            f"{STORE}-lock",
            *(f"{space}.json" for space in GEOMETRIES),
            *BUFFERS,
        ):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "trained", ignore_errors=True)
        graph = self.graph
        files: dict[str, FileInfo] = {
            file.relative_to(self.folder).as_posix(): file_info(file)
            for file in sorted(self.folder.rglob("*"))
            if file.is_file() and file.name != "manifest.json"
        }
        Manifest(
            format=FORMAT,
            generation=self.number,
            version=version("ontodex"),
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            graph={
                "source": graph.source,
                "skipped": graph.skipped,
                "fingerprint": graph.fingerprint,
                "prefixes": dict(graph.prefixes),
                **({"hierarchy_relations": list(graph.upward)} if graph.upward else {}),
                "entities": graph.n_entities,
                "relations": graph.n_relations,
                "triples": graph.n_triples,
            },
            spaces={
                space: dataclasses.replace(info, recall=recall.get(info.vectors))
                for space, info in self._spaces.items()
            },
            encoders=encoders,
            settings=self.settings,
            job=self.job,
            files=files,
            blobs=self._blobs,
            layout=layout(self.folder / STORE, self._blobs),
            seconds=self.seconds,
        ).write(self.folder)
        generations.sync_tree(self.folder)


def _read_job(folder: Path) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((folder / "job.json").read_text())["job"])
    return None
