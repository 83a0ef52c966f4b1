"""HiT of PyPI's ``hierarchy-transformers`` as a peer: its model and loss, trained on triplets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from ontodex.encoders.device import has_bfloat16

__all__ = ["PublicHiT"]


class PublicHiT:
    """Training step of the public code: three columns encoded apart, loss, AdamW, clipping.

    Its trainer, which also logs and collates, is left out.

    Args:
        folder: The initial encoder.
        rate: Learning rate.
        margins: Margins of the clustering and of the centripetal loss.
        bfloat16: Whether to compute under autocast, which the public code does not.
        device: Device of the model.

    Raises:
        ImportError: If the package is not installed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        rate: float = 1e-5,
        margins: tuple[float, float] = (5.0, 0.1),
        bfloat16: bool = False,
        device: str = "cpu",
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package imports deprecated names
            try:
                from hierarchy_transformers.losses import HierarchyTransformerLoss
                from hierarchy_transformers.models import HierarchyTransformer
            except ImportError as error:
                raise ImportError(
                    "expected the package hierarchy-transformers, found none; install it with "
                    f"pip install --no-deps hierarchy-transformers geoopt ({error})"
                ) from None
            self.model = HierarchyTransformer.from_pretrained(str(folder), device=device)
            self.loss = HierarchyTransformerLoss(
                self.model, clustering_loss_margin=margins[0], centripetal_loss_margin=margins[1]
            )
        self.model.train()
        self._device = device
        self._bfloat16 = bfloat16 and has_bfloat16(device)
        self._optimiser = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.0)

    def step(self, triplets: Sequence[tuple[str, str, str]]) -> float:
        """Take one step on (child, parent, negative) names; return the loss."""
        columns = [self._features(list(column)) for column in zip(*triplets, strict=True)]
        with torch.autocast(self._device, torch.bfloat16, enabled=self._bfloat16):
            loss = self.loss(columns, None)["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad()
        return float(loss.detach())

    def _features(self, texts: list[str]) -> dict[str, torch.Tensor]:
        tokens = self.model.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=self.model.max_seq_length,
            return_tensors="pt",
        )
        return dict(tokens.to(self._device))
