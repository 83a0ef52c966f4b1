"""The losses of GaussCSE: contrastive losses, and a logistic loss on labelled pairs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ontodex.geometry.gaussian import similarity_matrix
from ontodex.trainers.data.entailment_pairs import CONTRADICTION, ENTAILMENT
from ontodex.trainers.entailment.batches import EntailmentBatch

__all__ = ["LOSSES", "EntailmentLoss", "contrastive"]

LOSSES = ("ent", "ent+con", "ent+rev", "ent+con+rev")
"""Negatives of the contrastive loss.

``ent``: other hypotheses of the batch; ``con``: contradictions; ``rev``: reversed pairs.
"""

DIRECTED = 0.5
"""Weight, within the logistic loss, of the term that distinguishes a pair from its reverse."""


class EntailmentLoss(nn.Module):
    """The contrastive loss of GaussCSE plus a logistic loss on all labelled pairs.

    The contrastive loss (Yoda et al., EACL 2024, section 2.4) is a cross-entropy over similarities
    sim(hypothesis‖premise), divided by the temperature. The positive is sim(h‖p) of an entailed
    hypothesis h and its premise p. The negatives are sim(h'‖p) of the other entailed hypotheses of
    the batch (``ent``) and of contradictions (``con``), and the reversed sim(p'‖h) of all premises
    p' of the batch (``rev``). Known entailments are excluded from the negatives.

    The logistic loss, which the paper does not have, fits a logistic curve over the similarity that
    separates entailed pairs from all others. With ``rev``, it also classifies reversed pairs as not
    entailed and requires a pair to be more similar than its reverse.

    Args:
        losses: One of :data:`LOSSES`.
        similarity: One of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        temperature: Divisor of the similarities.
        pairs: Weight of the logistic loss; 0 for the loss of the paper alone.
    """

    def __init__(self, losses: str, similarity: str, temperature: float, pairs: float) -> None:
        super().__init__()
        self._con, self._rev = "con" in losses, "rev" in losses
        self._similarity, self._temperature, self._pairs = similarity, temperature, pairs
        self.curve = nn.Parameter(torch.tensor([20.0, 0.5]))
        """Steepness of the logistic curve, and the similarity with a probability of 0.5."""

    def forward(self, gaussians: Tensor, batch: EntailmentBatch) -> Tensor:
        """Return the loss of a batch.

        Args:
            gaussians: Gaussians of the batch's texts, of shape (n, 2d).
            batch: The batch.
        """
        similarities = similarity_matrix(gaussians, gaussians, self._similarity)
        loss = contrastive(similarities, batch, self._temperature, con=self._con, rev=self._rev)
        if self._pairs:
            premises, hypotheses, labels, entails = _columns(batch, gaussians.device)
            entailed = labels == ENTAILMENT
            steepness, middle = self.curve
            logits = steepness * (similarities[hypotheses, premises] - middle)
            loss = loss + self._pairs * nn.functional.binary_cross_entropy_with_logits(
                logits, entailed.float()
            )
            one_way = entailed & ~entails[hypotheses, premises]
            if self._rev and one_way.any():
                turned = similarities[premises, hypotheses][one_way]
                gain = similarities[hypotheses, premises][one_way] - turned
                refused = nn.functional.softplus(steepness * (turned - middle)).mean()
                directed = nn.functional.softplus(-gain / self._temperature).mean()
                loss = loss + self._pairs * (refused + DIRECTED * directed)
        return loss


def contrastive(
    similarities: Tensor, batch: EntailmentBatch, temperature: float, *, con: bool, rev: bool
) -> Tensor:
    """Return the mean cross-entropy of entailed hypotheses; see :class:`EntailmentLoss`.

    Args:
        similarities: Similarity of each text as a hypothesis (row) to each text as a premise
            (column), of shape (n, n).
        batch: The batch.
        temperature: Divisor of the similarities.
        con: Whether contradictions are negatives.
        rev: Whether reversed pairs are negatives.

    Returns:
        The loss; zero if no pair is entailed.
    """
    premises, hypotheses, labels, entails = _columns(batch, similarities.device)
    entailed = labels == ENTAILMENT
    if not entailed.any():
        return similarities.sum() * 0
    first, second = premises[entailed], hypotheses[entailed]
    texts = torch.unique(
        torch.cat([second, hypotheses[labels == CONTRADICTION]]) if con else second
    )
    columns = [similarities[texts][:, first].T.masked_fill(entails[first][:, texts], -torch.inf)]
    if rev:
        others = torch.unique(first)
        columns.append(
            similarities[others][:, second].T.masked_fill(entails[second][:, others], -torch.inf)
        )
    right = similarities[second, first][:, None]
    logits = torch.cat([right, *columns], dim=1) / temperature
    return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()


def _columns(batch: EntailmentBatch, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return premises, hypotheses, labels and known entailments of a batch as tensors."""
    columns = (batch.premises, batch.hypotheses, batch.labels, batch.entails)
    premises, hypotheses, labels, entails = (
        torch.from_numpy(array).to(device) for array in columns
    )
    return premises, hypotheses, labels, entails
