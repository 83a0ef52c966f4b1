"""Drawing the tree of a text."""

from __future__ import annotations

from pathlib import Path

from ontodex.encoders.self_strae import Tree
from ontodex.engine.plotting.files import drawing, on_one_line, save

__all__ = ["draw_tree"]

WIDTH, HEIGHT = 0.11, 0.42
"""Inches of a letter, and of a level of the tree."""


def draw_tree(tree: Tree, path: str | Path) -> None:
    """Draw the tokens of a text in a row, and the merged spans above them with their similarity.

    Args:
        tree: The tree.
        path: The picture, ``.svg`` or ``.png``.

    Raises:
        SettingsError: If the suffix is neither, or matplotlib is not installed.
    """
    path = Path(path)
    with drawing(path):
        from matplotlib.figure import Figure

        tokens = [number for number, node in enumerate(tree.nodes) if node.left is None]
        names = [on_one_line(tree.span(number)) or "·" for number in tokens]
        places, right = [], 0.0
        for name in names:
            places.append(right + (len(name) + 2) / 2)
            right += len(name) + 2
        across, up = list(places), [0] * len(places)
        for node in tree.nodes[len(tokens) :]:
            assert node.left is not None
            assert node.right is not None
            across.append((across[node.left] + across[node.right]) / 2)
            up.append(max(up[node.left], up[node.right]) + 1)
        figure = Figure(
            figsize=(max(2.0, right * WIDTH), max(1.0, (up[-1] + 1.4) * HEIGHT)),
            layout="constrained",
        )
        axes = figure.add_subplot()
        axes.set_axis_off()
        for number, node in enumerate(tree.nodes):
            if node.left is None or node.right is None:
                axes.text(
                    across[number],
                    -0.15,
                    names[number],
                    ha="center",
                    va="top",
                    size=9,
                    color="#111827",
                )
                continue
            for child in (node.left, node.right):
                corner = (
                    [across[number], across[child], across[child]],
                    [up[number], up[number], up[child]],
                )
                axes.plot(*corner, color="#2b6cb0", linewidth=1.2, solid_capstyle="round")
            axes.text(
                across[number],
                up[number] + 0.06,
                f"{node.similarity:.2f}",
                ha="center",
                va="bottom",
                size=7,
                color="#475569",
            )
        axes.set_xlim(0, right)
        axes.set_ylim(-0.9, max(up) + 0.6)
        save(figure, {}, path)
