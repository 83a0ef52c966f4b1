"""The baseline without training: cosine of a masked and a completed "is a" sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.trainers.hierarchies.evaluation import Floats, Rows, Score

__all__ = ["mask_token", "probe"]

PAIRS_PER_BLOCK = 65_536


def probe(encoder: TextEncoder, names: Sequence[str]) -> Score:
    """Return a score of pairs: the cosine of "[child] is a [mask]." and "[child] is a [parent].".

    Source: He et al. 2024, section 4.3.

    Args:
        encoder: A pretrained text encoder with a mask token.
        names: Name of each entity.

    Raises:
        EncoderError: If the encoder's tokenizer has no mask token.
    """
    mask = mask_token(encoder)

    def score(children: Rows, parents: Rows) -> Floats:
        rows, at = np.unique(children, return_inverse=True)
        masked = encoder.encode([f"{names[row]} is a {mask}." for row in rows.tolist()])
        found = np.empty(len(children))
        for start in range(0, len(children), PAIRS_PER_BLOCK):
            block = slice(start, start + PAIRS_PER_BLOCK)
            pairs = zip(children[block].tolist(), parents[block].tolist(), strict=True)
            filled = encoder.encode(
                [f"{names[child]} is a {names[parent]}." for child, parent in pairs]
            )
            found[block] = np.einsum("nd,nd->n", masked[at[block]], filled)
        return found

    return score


def mask_token(encoder: TextEncoder) -> str:
    """Return the mask token of an encoder's tokenizer.

    Raises:
        EncoderError: If the tokenizer has no mask token.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(encoder.folder), local_files_only=True)
    if tokenizer.mask_token is None:
        raise EncoderError(
            f"{encoder.folder}: expected a tokenizer with a mask token, found one without; leave "
            "out the probe"
        )
    return str(tokenizer.mask_token)
