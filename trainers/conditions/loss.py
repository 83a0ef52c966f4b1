"""The loss of conditional similarity."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ontodex.errors import expect_choice, expect_number

__all__ = ["LOSSES", "ConditionLoss"]

LOSSES = ("both", "mse", "contrastive")


class ConditionLoss(nn.Module):
    """Squared error of the cosine, plus a contrastive term over the two conditions of a pair.

    Yoo et al., "Hyper-CL", ACL 2024, section 3.3: L = mean (cos - y)² over all rows + mean log(1 +
    exp((cos_low - cos_high) / τ)) over the pairs of rows. Here y is the label, scaled to 0 to 1,
    and cos_low and cos_high are the cosines of the rows with the lower and the higher label. The
    second term is the cross-entropy of a softmax over the two cosines of a pair. It leaves out
    pairs with equal labels.

    Args:
        parts: ``"both"`` terms, ``"mse"`` (only the first) or ``"contrastive"`` (only the second).
        temperature: The temperature τ.

    Raises:
        SettingsError: If ``parts`` is unknown, or the temperature is not positive.

    Example:
        >>> loss = ConditionLoss("contrastive", temperature=1.0)
        >>> round(loss(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0])).item(), 4)
        0.6931
    """

    def __init__(self, parts: str = "both", temperature: float = 1.5) -> None:
        super().__init__()
        expect_choice("loss", parts, LOSSES)
        self.parts = parts
        self.temperature = temperature
        expect_number(self, "temperature")

    def forward(self, cosines: Tensor, targets: Tensor) -> Tensor:
        """Return the loss.

        Args:
            cosines: Cosine of each row, of shape (2 * pairs,); rows 2i and 2i + 1 have the same two
                texts.
            targets: Labels scaled to 0 to 1, of shape (2 * pairs,).
        """
        loss = cosines.new_zeros(())
        if self.parts != "contrastive":
            loss = loss + nn.functional.mse_loss(cosines, targets)
        if self.parts != "mse":
            order = torch.sign(targets[0::2] - targets[1::2])
            gaps = order * (cosines[0::2] - cosines[1::2]) / self.temperature
            differ = order != 0
            loss = loss + (nn.functional.softplus(-gaps) * differ).sum() / differ.sum().clamp(min=1)
        return loss
