"""The loss of HiT: hyperbolic clustering and centripetal losses (He et al. 2024, section 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ontodex.geometry.poincare import clip, norm, pairwise

__all__ = ["HierarchyLoss"]


class HierarchyLoss(nn.Module):
    """Sum of the hyperbolic clustering loss, the centripetal loss and a contraction term.

    Let d be the hyperbolic distance and ‖·‖ the distance to the origin. For a link from child c to
    parent p and a negative n, the clustering loss is relu(d(c, p) - d(c, n) + cluster), and the
    centripetal loss is relu(‖p‖ - ‖c‖ + centripetal). Both losses depend on differences of
    distances only, so that all points may drift outwards together. Links then become long and cross
    the ball, and subsumptions over several links are lost. The contraction term, the mean of ‖·‖
    over the batch, prevents this drift; the paper does not have it.

    Args:
        c: The curvature of the ball is -c.
        cluster: Margin of the clustering loss, 5 in the paper.
        centripetal: Margin of the centripetal loss, 0.1 in the paper.
        contraction: Weight of the contraction term.
        smooth: If false, the clustering loss of a link is the mean over its negatives. If true, it
            is log(1 + Σ exp(d(c, p) - d(c, n) + cluster)), where the nearest negatives dominate the
            sum; most in-batch negatives are far away already.
    """

    def __init__(
        self,
        c: float,
        cluster: float,
        centripetal: float,
        contraction: float = 0.0,
        *,
        smooth: bool,
    ) -> None:
        super().__init__()
        self._c, self._cluster, self._centripetal, self._smooth = c, cluster, centripetal, smooth
        self._contraction = contraction

    def forward(
        self, vectors: Tensor, children: Tensor, parents: Tensor, negatives: Tensor
    ) -> Tensor:
        """Return the loss.

        Args:
            vectors: Pooled vectors of the batch's texts, of shape (n, dim).
            children: Position of each link's child in ``vectors``, of shape (links,).
            parents: Position of each link's parent in ``vectors``, of shape (links,).
            negatives: Whether a text is a negative of a link, ``bool`` of shape (links, n).
        """
        points = clip(vectors, self._c)
        distances = pairwise(points[children], points, self._c)
        to_parents = distances.gather(1, parents[:, None])
        gaps = (to_parents - distances + self._cluster).masked_fill(~negatives, -torch.inf)
        if self._smooth:
            clustering = torch.logsumexp(nn.functional.pad(gaps, (1, 0)), dim=1).mean()
        else:
            clustering = torch.relu(gaps).sum() / negatives.sum().clamp(min=1)
        norms = norm(points, self._c)
        centripetal = torch.relu(norms[parents] - norms[children] + self._centripetal).mean()
        return clustering + centripetal + self._contraction * norms.mean()
