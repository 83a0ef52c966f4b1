"""Encoders that build their own structure: training, evaluating and drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontodex.encoders.self_strae import SelfStrAE, Tree
    from ontodex.trainers.trees.self_strae import SelfStrAETraining

__all__ = ["draw_tree", "evaluate_sts", "load_self_strae", "train_self_strae"]

TREES = 2000
"""Texts of a set whose trees are compared with plain ones, at most."""


def train_self_strae(
    source: Any,
    path: str | Path,
    *,
    training: SelfStrAETraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> SelfStrAE:
    """Train a text encoder (Self-StrAE) from nothing, for a language or a field that no pretrained one knows.

    Give its folder to :func:`ontodex.build` as an encoder. An interrupted run goes on if it is called again alike.

    Args:
        source: A list of sentences; a text file (``.txt`` or ``.txt.gz``, a sentence a line); or a graph or anything that
            :func:`ontodex.read` reads, whose labels and definitions are learnt. See :func:`ontodex.read_corpus`.
        path: Folder of the new encoder.
        training: How to train.
        device: Where to compute.
        quiet: Show no progress on stderr.

    Raises:
        ReadError: If the source cannot be read, or has no sentences.
        SettingsError: If a setting makes no sense, or there is too little text.
        TrainingError: If the folder holds other files, the loss is no number, or nothing is learnt.
    """
    from ontodex.trainers.data.corpus import read_corpus
    from ontodex.trainers.trees import self_strae

    texts = source if isinstance(source, list | tuple) else read_corpus(source)
    return self_strae.train_self_strae(
        texts, Path(path), settings=training, device=device, quiet=quiet
    )


def load_self_strae(path: str | Path) -> SelfStrAE:
    """Load a trained encoder, to ask it for trees.

    Raises:
        EncoderError: If the folder holds none, or a damaged one.
    """
    from ontodex.encoders.self_strae import SelfStrAE

    return SelfStrAE.load(Path(path)).eval()


def draw_tree(tree: Tree, path: str | Path) -> None:
    """Draw a tree, with the similarity of each merge.

    Args:
        tree: See :meth:`ontodex.encoders.self_strae.SelfStrAE.trees`.
        path: The picture, ``.svg`` or ``.png``.

    Raises:
        SettingsError: If the suffix is another, or matplotlib is not installed.
    """
    from ontodex.engine.plotting.tree import draw_tree

    draw_tree(tree, Path(path))


def evaluate_sts(
    model: str | Path,
    data: str | Path | Sequence[str | Path],
    *,
    on_error: str = "raise",
    device: str = "auto",
) -> dict[str, dict[str, float]]:
    """Compare the cosines of a text encoder with how alike people found pairs of texts.

    Args:
        model: Folder or name of any text encoder.
        data: One file or several; see :func:`ontodex.graph.read_sts`.
        on_error: What to do about faulty lines: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Where to compute.

    Returns:
        For each file, by its name, or by its path where several have the same name, the figures of
        :func:`ontodex.trainers.trees.evaluation.evaluate_pairs`; and, if the encoder finds trees, ``tree.right``,
        ``tree.left`` and ``tree.balanced``, see :func:`~ontodex.trainers.trees.evaluation.tree_agreement`.

    Raises:
        EncoderError: If there is no such encoder.
        ReadError: If a file cannot be read, or has no pairs.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.data.sts import read_sts
    from ontodex.trainers.trees.evaluation import evaluate_pairs, tree_agreement

    files = [data] if isinstance(data, str | Path) else list(data)
    names = Counter(Path(file).name for file in files)
    sets = {
        Path(file).name if names[Path(file).name] == 1 else str(file): read_sts(
            Path(file), on_error=on_error
        )
        for file in files
    }
    encoder = TextEncoder.load(model, device)
    found = {}
    for name, pairs in sets.items():
        found[name] = evaluate_pairs(encoder.encode, pairs)
        if encoder.structured is not None:
            agreed = tree_agreement(encoder.structured.trees(list(pairs.ones)[:TREES]))
            found[name].update({f"tree.{kind}": value for kind, value in agreed.items()})
    return found
