"""Making a generation of an index."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import time
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
from ontodex.encoders.link_encoder import LinkEncoder, load_link_encoder
from ontodex.encoders.locate import fingerprint
from ontodex.encoders.text import TextEncoder
from ontodex.errors import IndexFailure, settings_from
from ontodex.graph import (
    KnowledgeGraph,
    Statements,
    TextSettings,
    entity_texts,
    hierarchy_texts,
    relation_texts,
    statements,
)
from ontodex.indexers import generations
from ontodex.indexers.asking import asking, asking_as_new
from ontodex.indexers.blobs import layout
from ontodex.indexers.candidates import EXACT_UP_TO, make_candidates, measure_recall
from ontodex.indexers.earlier import live, projections_of
from ontodex.indexers.embed import Embeddings, embed, map_blocks
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy
from ontodex.indexers.encoder_files import Encoders
from ontodex.indexers.hierarchy_rule import hierarchy_to_fit, with_rule
from ontodex.indexers.index import Index
from ontodex.indexers.kin_rule import fit_kin_to_graph
from ontodex.indexers.manifest import FORMAT, FileInfo, Manifest, file_info
from ontodex.indexers.phrases import expect_trees, phrases
from ontodex.indexers.space_names import BUFFERS, CONDITION, GAUSS, GEOMETRIES, HIT, HYBRID, LINK, SPAN, TEXT
from ontodex.indexers.store import write_store
from ontodex.indexers.structure import Structure
from ontodex.indexers.structure_build import StructureTrainer, for_fitting, join, make_structure
from ontodex.indexers.vectors import Vectors
from ontodex.indexers.wholeness import STORE

__all__ = ["LinkTrainer", "build_generation", "build_index"]

LinkTrainer = Callable[[KnowledgeGraph, TextEncoder, Embeddings, Path], LinkEncoder]
"""Trains an encoder of links on a graph, its text encoder and the embeddings of its entities' texts, into a folder."""


def build_index(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    *,
    train: LinkTrainer | None = None,
    structure: StructureTrainer | Structure | None = None,
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    quiet: bool = False,
) -> int:
    """Build the next generation of an index, publish it, and drop the old ones that nobody reads.

    Entities whose text an earlier generation has encoded are not encoded again. An interrupted build goes on where it was,
    if it is called again with the same arguments.

    Args:
        graph: What is known.
        path: Folder of the index; made if it is not there.
        encoders: Encoders of the spaces.
        train: Trains an encoder of the link space where none is given; ``None`` for an index without one.
        structure: Trains structural vectors to stand beside those of the link space, if there is one, or has them already.
        texts: How an entity's text is built; for a space whose encoder says how it was trained, as that says.
        settings: What else the result depends on; written to the manifest.
        quiet: Show no progress on stderr.

    Returns:
        The number of the generation.

    Raises:
        IndexLocked: If another process is writing the index.
        IndexFailure: If the folder cannot be written, or holds something else.
        IndexMismatch: If it holds an index of a newer version.
    """
    if path.is_dir() and any(path.iterdir()) and not generations.is_index(path):
        raise IndexFailure(f"{path}: expected an index or an empty folder, found other files; choose another name")
    with generations.writer(path):
        return build_generation(
            graph, path, encoders, train=train, structure=structure, texts=texts, settings=settings, quiet=quiet
        )


def build_generation(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    *,
    train: LinkTrainer | None = None,
    structure: StructureTrainer | Structure | None = None,
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    quiet: bool = False,
    kept: Index | None = None,
) -> int:
    """Do as :func:`build_index`, as the one writer of the index (:func:`ontodex.indexers.generations.writer`).

    With ``kept``, an index of the graph as it was, nothing changes that was fitted or learnt: the hierarchy encoder has the
    rule that it has, and relations the projections that they had, whatever they are called now.
    """
    texts = texts or TextSettings()
    number = generations.next_number(path)
    about = {"texts": dataclasses.asdict(texts), **(settings or {})}
    made = _Build(path, number, graph, encoders, texts, about, quiet, kept)
    try:
        with live(path) as earlier:
            made.start(_job(graph, encoders, made.settings))
            made.make(train, structure, earlier)
        generations.publish(path, made.folder, number)
    except OSError as error:
        raise IndexFailure(
            f"{path}: the index cannot be written ({error}); the next build goes on from here"
        ) from error
    generations.drop_old(path, keep=number)
    return number


@dataclass
class _Build:
    """One build, in a folder that is renamed once it is whole."""

    path: Path
    number: int
    graph: KnowledgeGraph
    encoders: Encoders
    texts: TextSettings
    settings: dict[str, Any]
    quiet: bool
    kept: Index | None
    job: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.path / f"gen-{self.number:06d}.tmp"

    def start(self, job: str) -> None:
        """Take over what an interrupted build of the same job has left; clear away any other."""
        self.job = job
        for left in self.path.glob("gen-*.tmp"):
            if left != self.folder or _read_job(left) != job:
                shutil.rmtree(left)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "job.json").write_text(json.dumps({"job": job}))

    def make(
        self,
        train: LinkTrainer | None,
        structure: StructureTrainer | Structure | None,
        earlier: Index | None,
    ) -> None:
        """Write everything."""
        given, folder = self.encoders, self.folder
        if self.settings.get("spans"):
            expect_trees(given.text)
        learnt = for_fitting(self.graph) if callable(structure) else None
        found: Structure | None = None
        hierarchy = hierarchy_to_fit(self.graph, given.hit) if given.hit is not None and self.kept is None else None
        names: dict[str, Sequence[str]] = {TEXT: entity_texts(self.graph, self.texts)}
        with self._timed("encode"):
            known = self._known(earlier, TEXT, "text", given.text.fingerprint)
            vectors = {TEXT: embed(names[TEXT], given.text, folder / "text.f32", known=known, quiet=self.quiet)}
        if given.link is None and train is not None:
            with self._timed("train"):
                link = self._trained(train, learnt or self.graph, vectors[TEXT])
                self.encoders = given = dataclasses.replace(given, link=link)
        if given.link is not None:
            with self._timed("encode"):
                names[LINK] = self._own_names(given.link, names[TEXT])
                vectors[LINK] = self._link_vectors(given.link, vectors[TEXT], names, earlier)
            if structure is not None:
                with self._timed("structure"):
                    found = self._structured(structure, learnt, given.link, names[LINK], vectors[LINK])
            if found is not None:
                vectors[HYBRID] = join(vectors[LINK], found, folder / "hybrid.f32")
        if given.hit is not None:
            with self._timed("encode"):
                names[HIT] = hierarchy_texts(self.graph, given.hit.texts, HIT)
                vectors[HIT] = self._adapted(HIT, given.hit, names[HIT], earlier)
            with self._timed("rule"):
                embedded = None
                if hierarchy is not None:
                    embedded = EmbeddedHierarchy(hierarchy, names[HIT], vectors[HIT], given.hit.c)
                hit = with_rule(given.hit, embedded)
                kin = fit_kin_to_graph(hit, embedded, Vectors([vectors[TEXT]])) or given.kin
                self.encoders = given = dataclasses.replace(given, hit=hit, kin=kin)
        if given.condition is not None:
            with self._timed("encode"):
                names[CONDITION] = self._own_names(given.condition, names[TEXT])
                vectors[CONDITION] = self._condition_vectors(given.condition, vectors[TEXT], names, earlier)
        said: dict[str, Statements] = {}
        if given.gauss is not None or self.settings.get("spans"):
            with self._timed("encode"):
                sentences = statements(self.graph)
        if given.gauss is not None:
            with self._timed("encode"):
                said[GAUSS] = sentences
                vectors[GAUSS] = self._adapted(GAUSS, given.gauss, sentences.texts, earlier)
        if self.settings.get("spans"):
            with self._timed("encode"):
                said[SPAN] = phrases(sentences, given.text)
                same = self._known(earlier, SPAN, "text", given.text.fingerprint)
                vectors[SPAN] = embed(said[SPAN].texts, given.text, folder / "span.f32", known=same, quiet=self.quiet)
        names.update({space: found.texts for space, found in said.items()})
        with self._timed("store"):
            prefixes = {LINK: HYBRID} if HYBRID in vectors else {}
            projections = projections_of(given.link, self.graph, self.kept)
            self._spaces, self._blobs = write_store(
                folder / STORE,
                self.graph,
                names,
                vectors,
                GEOMETRIES,
                prefixes,
                projections,
                found,
                said,
            )
        given.copy(self.path, folder / "encoders")
        with self._timed("candidates"):
            recall = self._candidates(vectors)
        self._finish(vectors, recall)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[what] = round(self.seconds.get(what, 0.0) + time.perf_counter() - start, 3)

    def _known(
        self, earlier: Index | None, space: str, encoder: str, fingerprint: str
    ) -> tuple[NDArray[np.bytes_], Vectors] | None:
        """Return the keys and vectors that the same encoder has made for an earlier generation, if they are whole."""
        told = TEXT if space == SPAN else space
        if earlier is None or space not in earlier.manifest.spaces:
            return None
        if earlier.manifest.encoders.get(told, {}).get(encoder) != fingerprint:
            return None
        with suppress(IndexFailure):
            stored = f"{earlier.manifest.spaces[space].vectors}/vectors/"
            if not any(earlier.blobs.damaged(stored)) and not any(earlier.blobs.damaged(f"{space}/keys")):
                return earlier.blobs.get(f"{space}/keys"), earlier.vectors(space)
        return None

    def _adapted(self, space: str, encoder: Adapted, texts: Sequence[str], earlier: Index | None) -> Embeddings:
        return embed(
            texts,
            encoder.text,
            self.folder / f"{space}.f{8 * np.dtype(encoder.precision).itemsize}",
            known=self._known(earlier, space, "encoder", encoder.fingerprint),
            finish=encoder.stored,
            width=encoder.width,
            dtype=encoder.precision,
            geometry=GEOMETRIES[space],
            quiet=self.quiet,
        )

    def _trained(self, train: LinkTrainer, graph: KnowledgeGraph, vectors: Embeddings) -> LinkEncoder:
        folder = self.folder / "trained"
        if (folder / "done").exists():
            own = fingerprint(folder) != self.encoders.text.fingerprint
            made = load_link_encoder(folder, None if own else self.encoders.text, self.encoders.text.device)
        else:
            made = train(graph, self.encoders.text, vectors, folder)
            generations.sync_tree(folder)  # else a loss of power may leave the mark, and not what it marks
            (folder / "done").touch()
        made.texts = dataclasses.asdict(self.texts)  # those that it was trained on
        return made

    def _own_names(self, encoder: LinkEncoder | ConditionEncoder, names: Sequence[str]) -> Sequence[str]:
        """Return the texts of an encoder's space: those that it was trained on, or the text space's own."""
        texts = settings_from(TextSettings, encoder.texts or self.settings["texts"], str(encoder.text.folder))
        return names if texts == self.texts else entity_texts(self.graph, texts)

    def _link_vectors(
        self, link: LinkEncoder, vectors: Embeddings, names: dict[str, Sequence[str]], earlier: Index | None
    ) -> Embeddings:
        if link.text.fingerprint != self.encoders.text.fingerprint or names[LINK] is not names[TEXT]:
            known = self._known(earlier, LINK, "network", link.fingerprint)
            file = self.folder / "link.f32"
            return embed(names[LINK], link.text, file, known=known, finish=link.entities, quiet=self.quiet)
        if not link.moves_entities:
            return vectors
        return map_blocks(vectors, self.folder / "entities.f32", link.entities)

    def _condition_vectors(
        self, condition: ConditionEncoder, vectors: Embeddings, names: dict[str, Sequence[str]], earlier: Index | None
    ) -> Embeddings:
        if condition.text.fingerprint == self.encoders.text.fingerprint and names[CONDITION] is names[TEXT]:
            return vectors
        known = self._known(earlier, CONDITION, "text", condition.text.fingerprint)
        return embed(names[CONDITION], condition.text, self.folder / "condition.f32", known=known, quiet=self.quiet)

    def _structured(
        self,
        structure: StructureTrainer | Structure,
        learnt: KnowledgeGraph | None,
        link: LinkEncoder,
        names: Sequence[str],
        vectors: Embeddings,
    ) -> Structure | None:
        if not callable(structure):
            return structure
        if learnt is None:
            return None
        whole = Vectors([vectors])
        ask = asking(link, whole, names, relation_texts(self.graph))
        read_new = partial(asking_as_new, link, self.graph)
        return make_structure(structure, learnt, self.graph, whole, ask, read_new, self.folder)

    def _candidates(self, vectors: dict[str, Embeddings]) -> dict[str, float]:
        recall = {}
        for space, info in self._spaces.items():
            if info.rows > EXACT_UP_TO and info.vectors == space and info.geometry == "cosine" and space != CONDITION:
                whole = Vectors([vectors[space]])
                index = make_candidates(whole)
                faiss.write_index(index, str(self.folder / f"{space}.faiss"))
                recall[space] = measure_recall(index, whole)
        return recall

    def _finish(self, vectors: dict[str, Embeddings], recall: dict[str, float]) -> None:
        encoders = self.encoders.described()  # while the files of a trained one are there
        vectors.clear()
        for name in ("job.json", f"{STORE}-lock", *(f"{space}.json" for space in GEOMETRIES), *BUFFERS):
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


def _job(graph: KnowledgeGraph, encoders: Encoders, settings: dict[str, Any]) -> str:
    given = encoders.link is not None, encoders.fingerprints
    parts = (FORMAT, graph.fingerprint, encoders.text.fingerprint, *given, settings)
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _read_job(folder: Path) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((folder / "job.json").read_text())["job"])
    return None
