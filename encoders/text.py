"""Text to vectors: a pretrained sentence encoder, each text once, by length, in bfloat16 where that is native."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapter import add_adapter
from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.encoders.locate import CROSS, DEFAULT_ENCODER, files_of, fingerprint, locate
from ontodex.errors import EncoderError

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

    from ontodex.encoders.self_strae import SelfStrAE

__all__ = ["Text", "TextEncoder", "forward_tokens", "load_sentence_transformer", "load_tunable"]

Text = str | tuple[str, str]
"""A text, or two that are read together: "[CLS] one [SEP] other [SEP]"."""

CHUNK = 4096
"""Texts that are tokenised together and arranged by their number of tokens."""

TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 65536, "mps": 8192}
"""Tokens, padding included, in one forward pass: enough to fill the device, few enough to stay in its caches."""


TEXTS_PER_BATCH = 1024
"""Texts of one pass of an encoder that is no transformer, and holds little for each."""


def load_sentence_transformer(folder: Path, device: str, *, unit: bool = True) -> SentenceTransformer:
    """Load a sentence-transformers or Hugging Face folder without progress bars, pickles or code from the folder.

    Args:
        folder: The folder.
        device: Where the model is put.
        unit: Keep the modules that scale vectors to length 1, if there are any.

    Raises:
        EncoderError: If the folder does not hold a model in safetensors, or a cross-encoder.
    """
    if (folder / CROSS).is_dir():
        raise EncoderError(f"{folder}: expected an encoder of texts, found a cross-encoder, which reads answers again")
    import transformers
    from sentence_transformers import SentenceTransformer

    from ontodex.encoders.self_strae import SelfStrAE

    if SelfStrAE.is_at(folder):
        return SentenceTransformer(modules=[SelfStrAE.load(folder)], device=device)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        raise EncoderError(
            f"{folder}: expected a sentence-transformers or Hugging Face model with model.safetensors, "
            f"found one that does not load ({type(error).__name__}: {error})"
        ) from error
    if not unit:
        for number in reversed(range(len(model))):  # those behind one that goes are numbered anew
            if type(model[number]).__name__ == "Normalize":
                del model[number]
    return model


def load_tunable(folder: Path, device: str, *, unit: bool = True) -> SentenceTransformer:
    """Load a text encoder that can be trained further; see :func:`load_sentence_transformer`.

    Raises:
        EncoderError: If the folder does not hold one, or one that is no transformer.
    """
    model = load_sentence_transformer(folder, device, unit=unit)
    if model.transformers_model is None:
        raise EncoderError(
            f"{folder}: expected a transformer to train further, found {type(model[0]).__name__}; take another encoder, or "
            "leave it as it is (--tune frozen, where there is one)"
        )
    return model


class TextEncoder:
    """A text encoder for inference.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device.
        unit: Make unit vectors; if not, vectors as the model pools them, whose length has a meaning.
        adapter: A folder with a LoRA adapter in the layout of ``peft``, whose weights are added to the model's.
        max_tokens: Texts are cut to this many tokens, if the model's own limit is not lower.

    Raises:
        EncoderError: If the folder is no encoder.

    Example:
        >>> encoder = TextEncoder.load()
        >>> encoder.encode(["a cat", "a cat"]).shape
        (2, 384)
    """

    def __init__(
        self,
        folder: Path,
        device: str = "auto",
        *,
        unit: bool = True,
        adapter: Path | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.folder = folder
        self.max_tokens = max_tokens
        self.device = choose_device(device)
        self.unit = unit
        self._model = load_sentence_transformer(folder, self.device, unit=unit)
        if adapter is not None:
            add_adapter(self._model.transformers_model, adapter)
        if max_tokens is not None:
            self._model.max_seq_length = min(max_tokens, self._model.max_seq_length or max_tokens)
        self._model.eval()
        dim = self._model.get_embedding_dimension()
        if dim is None:
            raise EncoderError(f"{folder}: expected a model with one vector per text, found one without a dimension")
        self.dim: int = dim
        self._reads_tokens = callable(getattr(self._model[0], "tokenizer", None)) and hasattr(self._model[0], "model")
        if self._reads_tokens and has_bfloat16(self.device):
            import torch

            self._model[0].to(torch.bfloat16)

    @property
    def structured(self) -> SelfStrAE | None:
        """The encoder itself, if it finds the trees of texts; else ``None``."""
        from ontodex.encoders.self_strae import SelfStrAE

        return self._model[0] if isinstance(self._model[0], SelfStrAE) else None

    @classmethod
    def load(cls, name: str | Path = DEFAULT_ENCODER, device: str = "auto") -> TextEncoder:
        """Load an encoder by path or by name; see :func:`~ontodex.encoders.locate.locate`."""
        return cls(locate(str(name)), device)

    @property
    def fingerprint(self) -> str:
        """Hash of the weights, the tokenizer and the settings (hex, 128 bits)."""
        return fingerprint(self.folder)

    def save(self, folder: Path) -> None:
        """Copy the encoder as it was loaded."""
        for relative in files_of(self.folder):
            (folder / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / relative, folder / relative)

    def encode(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return one vector per text, ``float32`` of shape (texts, dim); of length 1, unless ``unit`` is off."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for positions, found in self.stream(texts):
            vectors[positions] = found
        return vectors

    def cut(self, texts: Sequence[str], most: int | None = None) -> list[tuple[int, int]]:
        """Return (position, tokens) of the texts that have more tokens than the encoder reads, or than ``most``.

        The others are read whole; empty for an encoder that keeps its tokens to itself.
        """
        longest = self._model.max_seq_length
        if not self._reads_tokens or longest is None:
            return []
        longest = min(longest, most or longest)
        tokens = self._model.tokenizer(list(texts), verbose=False)["input_ids"] if texts else []
        return [(position, len(ids)) for position, ids in enumerate(tokens) if len(ids) > longest]

    def stream(self, texts: Sequence[Text], done: int = 0) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield (positions, vectors) in chunks, equal texts encoded once, the same chunks for the same texts.

        Args:
            texts: What to encode.
            done: Number of chunks to pass over, because an earlier run has them.

        Yields:
            Positions in ``texts``, ``int64`` of shape (n,), and their vectors, ``float32`` of shape (n, dim).
        """
        # Longest first: the first chunk takes the most memory, and no later one asks for more.
        order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), texts[position]))
        bounds = [0]
        while bounds[-1] < len(order):
            at = min(bounds[-1] + CHUNK, len(order))
            while at < len(order) and texts[order[at]] == texts[order[at - 1]]:
                at += 1
            bounds.append(at)
        chunks = [order[start:end] for start, end in itertools.pairwise(bounds)]
        for chunk in chunks[done:]:
            unique = list(dict.fromkeys(texts[position] for position in chunk))
            rows = {text: row for row, text in enumerate(unique)}
            vectors = self._encode_unique(unique)
            yield (
                np.array(chunk, dtype=np.int64),
                vectors if len(unique) == len(chunk) else vectors[[rows[texts[position]] for position in chunk]],
            )

    def _encode_unique(self, texts: list[Text]) -> NDArray[np.float32]:
        import torch

        if not self._reads_tokens:
            found = self._model.encode(
                texts,
                batch_size=TEXTS_PER_BATCH,
                convert_to_numpy=True,
                normalize_embeddings=self.unit,
                show_progress_bar=False,
            )
            return np.asarray(found, dtype=np.float32)
        tokens = self._model.tokenizer(texts, truncation=True, max_length=self._model.max_seq_length or 512)
        lengths = np.array([len(ids) for ids in tokens["input_ids"]])
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        with torch.inference_mode():
            for rows in _batches(lengths, TOKENS_PER_BATCH.get(self.device.split(":")[0], 1024)):
                inputs = {name: [column[row] for row in rows] for name, column in tokens.items()}
                vectors[rows] = forward_tokens(self._model, inputs, self.device, unit=self.unit).cpu().numpy()
        return vectors


def forward_tokens(
    model: SentenceTransformer, tokens: Mapping[str, Sequence[Any]], device: str, *, unit: bool = True
) -> torch.Tensor:
    """Pass token ids through a text encoder, all but its transformer in float32.

    Args:
        model: A sentence-transformers model whose first module is a transformer.
        tokens: What its tokenizer returned, not padded: ``input_ids`` and, where it makes them, further columns.
        device: Where the model is.
        unit: Scale the vectors to length 1.

    Returns:
        Vectors of shape (texts, dim).

    Raises:
        EncoderError: If the model makes no vector per text.
    """
    import torch

    features: dict[str, Any] = dict(model.tokenizer.pad(tokens, return_tensors="pt"))
    features = {name: tensor.to(device) for name, tensor in features.items()}
    features = model[0](features)
    features["token_embeddings"] = features["token_embeddings"].float()
    for module in list(model)[1:]:
        features = module(features)
    if "sentence_embedding" not in features:
        raise EncoderError("expected a model with one vector per text, found one without pooling; see its modules.json")
    vectors = features["sentence_embedding"].float()
    return torch.nn.functional.normalize(vectors, dim=-1) if unit else vectors


def _batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows of like length, no batch of more than ``budget`` tokens with its padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and lengths[order[end]] * (end + 1 - start) <= budget:
            end += 1
        yield order[start:end]
        start = end
