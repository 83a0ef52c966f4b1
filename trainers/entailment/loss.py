"""The losses of GaussCSE: entailed hypotheses against the others of a batch, turned pairs and contradictions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ontodex.geometry.gaussian import similarity_matrix
from ontodex.trainers.data.entailment_pairs import CONTRADICTION, ENTAILMENT
from ontodex.trainers.entailment.batches import EntailmentBatch

__all__ = ["LOSSES", "EntailmentLoss", "contrastive"]

LOSSES = ("ent", "ent+con", "ent+rev", "ent+con+rev")
"""What an entailed hypothesis stands against: other hypotheses; contradictions too; and what the turned pairs would say."""

DIRECTED = 0.5
"""Weight, in the logistic loss, of telling a pair from the turned one."""


class EntailmentLoss(nn.Module):
    """The contrastive loss of GaussCSE, and a logistic loss on all labelled pairs.

    The contrastive loss (Yoda et al., EACL 2024, section 3.2) is a cross-entropy over similarities to a premise p, divided
    by the temperature: its entailed hypothesis against the batch's other entailed hypotheses (``ent``), against
    contradictions (``con``), and against the similarities sim(p'‖h) of its hypothesis as a premise (``rev``). What is known
    to be entailed is no negative. The logistic loss asks, of every labelled pair, that a curve over the similarity tells
    entailment from all else, and with ``rev`` that it refuses turned pairs and that a pair is more similar than when it is
    turned; the paper has none.

    Args:
        losses: One of :data:`LOSSES`.
        similarity: One of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        temperature: Divides similarities.
        pairs: Weight of the logistic loss beside the contrastive one; 0 for the paper's loss alone.
    """

    def __init__(self, losses: str, similarity: str, temperature: float, pairs: float) -> None:
        super().__init__()
        self._con, self._rev = "con" in losses, "rev" in losses
        self._similarity, self._temperature, self._pairs = similarity, temperature, pairs
        self.curve = nn.Parameter(torch.tensor([20.0, 0.5]))
        """Steepness of the logistic curve, and the similarity at its middle."""

    def forward(self, gaussians: Tensor, batch: EntailmentBatch) -> Tensor:
        """Return the loss of a batch.

        Args:
            gaussians: Those of its texts, of shape (n, 2d).
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
        similarities: Of each text of the batch as a hypothesis (row) to each as a premise (column), of shape (n, n).
        batch: The batch.
        temperature: Divides similarities.
        con: Whether contradictions stand against an entailed hypothesis.
        rev: Whether turned pairs do.

    Returns:
        The loss; zero if nothing is entailed.
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
    """Return premises, hypotheses, labels, and what entails what."""
    columns = (batch.premises, batch.hypotheses, batch.labels, batch.entails)
    premises, hypotheses, labels, entails = (
        torch.from_numpy(array).to(device) for array in columns
    )
    return premises, hypotheses, labels, entails
