"""Encoders of link prediction, whatever their architecture."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from ontodex.encoders.bi_encoder import BI_ENCODER, BiEncoder
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.locate import NETWORK
from ontodex.encoders.text import TextEncoder

__all__ = ["LinkEncoder", "load_link_encoder"]

LinkEncoder = HyperCL | BiEncoder
"""A tri-encoder, whose relations are projections, or a bi-encoder, whose questions are encoded."""


def load_link_encoder(
    folder: Path, text: TextEncoder | None = None, device: str = "auto"
) -> LinkEncoder:
    """Load an encoder of link prediction (:meth:`HyperCL.is_at` tells where one is).

    Args:
        folder: The encoder's folder.
        text: The text encoder of entities, if it is loaded already.
        device: Where text encoders compute.

    Raises:
        EncoderError: If the folder holds none or a damaged one.
    """
    with suppress(
        OSError, ValueError, KeyError, TypeError
    ):  # what is damaged is for the classes to say
        config = json.loads((folder / NETWORK / "config.json").read_text(encoding="utf-8"))
        if config["network"]["architecture"] == BI_ENCODER:
            return BiEncoder.load(folder, text, device)
    return HyperCL.load(folder, text, device)
