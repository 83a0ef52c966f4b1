"""The contrastive loss of link prediction."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

__all__ = ["LinkLoss"]


class LinkLoss(nn.Module):
    """InfoNCE with an additive margin and a learnable temperature.

    Source: Wang et al., "SimKGC", ACL 2022, equation 4. All candidates that are not masked are
    negatives, including the query's own head.

    Args:
        margin: Margin that is subtracted from the score of the true tail.
        temperature: Initial temperature; the logarithm of its inverse is a parameter.

    Example:
        >>> scores = torch.tensor([[0.9, 0.1, 0.8]])
        >>> loss = LinkLoss(margin=0.0, temperature=0.5)
        >>> masked = loss(scores, torch.tensor([0]), torch.tensor([[0, 2]]))
        >>> bool(masked < loss(scores, torch.tensor([0]), torch.zeros(0, 2, dtype=torch.long)))
        True
    """

    def __init__(self, margin: float = 0.02, temperature: float = 0.05) -> None:
        super().__init__()
        self.margin = margin
        self.log_inverse = nn.Parameter(torch.tensor(math.log(1 / temperature)))

    def forward(self, scores: Tensor, tails: Tensor, masked: Tensor) -> Tensor:
        """Return the mean loss.

        Args:
            scores: Score of every candidate for every query, of shape (queries, candidates).
            tails: Column of the true tail of each query, of shape (queries,).
            masked: (query, column) of other candidates that are true tails, of shape (n, 2).
        """
        scores = scores.float()
        margins = torch.zeros_like(scores).scatter_(1, tails[:, None], self.margin)
        logits = (scores - margins) * self.log_inverse.exp()
        logits = logits.index_put((masked[:, 0], masked[:, 1]), logits.new_tensor(-math.inf))
        return nn.functional.cross_entropy(logits, tails)
