"""Hyper-CL for link prediction: a text encoder and a hypernetwork, in one folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ontodex.encoders.hypernetwork import HyperNetwork, HyperNetworkSettings
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, settings_from
from ontodex.geometry.projection import Factors

__all__ = ["FOLDER", "HyperCL"]

FOLDER = "hyper_cl"
"""Folder of the hypernetwork inside the folder of the text encoder."""


class HyperCL:
    """A text encoder with a hypernetwork on top: entities and relations are encoded once, and combined cheaply.

    Args:
        text: The text encoder of entities and relations.
        network: The hypernetwork.
    """

    def __init__(self, text: TextEncoder, network: HyperNetwork) -> None:
        if network.settings.dim != text.dim:
            raise EncoderError(
                f"{text.folder}: the hypernetwork expects embeddings of {network.settings.dim} dimensions, "
                f"the text encoder makes {text.dim}"
            )
        self.text = text
        self.network = network.eval()

    @property
    def residual(self) -> bool:
        """Whether a projection is added to the head's vector, not put in its place."""
        return self.network.settings.projection == "residual"

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds one."""
        return (folder / FOLDER / "config.json").exists()

    @classmethod
    def load(cls, folder: Path, text: TextEncoder | None = None, device: str = "auto") -> HyperCL:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            text: The text encoder, if it is loaded already.
            device: Where the text encoder computes.

        Raises:
            EncoderError: If the folder holds no hypernetwork or a damaged one.
        """
        try:
            content = json.loads((folder / FOLDER / "config.json").read_text(encoding="utf-8"))
            network = HyperNetwork(settings_from(HyperNetworkSettings, content, str(folder / FOLDER / "config.json")))
            network.load_state_dict(load_file(folder / FOLDER / "model.safetensors"))
        except (OSError, ValueError, SafetensorError, RuntimeError) as error:
            raise EncoderError(
                f"{folder}: expected a Hyper-CL encoder, found one that does not load: {error}"
            ) from error
        return cls(text or TextEncoder(folder, device), network)

    def save(self, folder: Path) -> None:
        """Write the text encoder's folder with the hypernetwork in it.

        ``SentenceTransformer(folder)`` loads it as the plain text encoder.
        """
        if folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_network(folder)

    def save_network(self, folder: Path) -> None:
        """Write the hypernetwork alone into the folder of a text encoder."""
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        settings = json.dumps(dataclasses.asdict(self.network.settings), indent=1)
        (folder / FOLDER / "config.json").write_text(settings, encoding="utf-8")
        tensors = {name: tensor.contiguous() for name, tensor in self.network.state_dict().items()}
        save_file(tensors, folder / FOLDER / "model.safetensors")

    @property
    def fingerprint(self) -> str:
        """Hash of the text encoder and the hypernetwork (hex, 128 bits)."""
        digest = hashlib.blake2b(self.text.fingerprint.encode(), digest_size=16)
        digest.update(json.dumps(dataclasses.asdict(self.network.settings)).encode())
        for name, tensor in sorted(self.network.state_dict().items()):
            digest.update(name.encode() + tensor.numpy().tobytes())
        return digest.hexdigest()

    @torch.inference_mode()
    def entities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Turn text embeddings of entities, shape (n, dim), into entity vectors of the same shape."""
        return self.network.entities(torch.from_numpy(np.ascontiguousarray(embeddings))).numpy()

    @torch.inference_mode()
    def factors(self, relations: Sequence[str]) -> Factors:
        """Make the projections of relations, known or not, from their texts.

        Returns:
            Left factors (relations, dim, rank) and right factors (relations, rank, dim), or full matrices and
            ``None``; ``float32``.
        """
        left, right = self.network(torch.from_numpy(self.text.encode(relations)))
        return left.numpy(), None if right is None else right.numpy()
