"""Plots of the hierarchy around an entity in the Poincaré disk, and of norms by depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.plotting.files import Titles, drawing, on_one_line, save, shortened
from ontodex.engine.plotting.labels import LabelPlacer
from ontodex.engine.plotting.layout import DiskLayout, disk_layout
from ontodex.errors import SettingsError, expect_choice
from ontodex.graph import Hierarchy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Curve

__all__ = ["Answer", "draw_hierarchy", "draw_norms", "geodesics", "samples"]

Floats = NDArray[np.float64]


def geodesics(start: Floats, end: Floats) -> Floats:
    """Return the geodesics between pairs of points in the Poincaré disk, as cubic Bézier curves.

    A geodesic is an arc of a circle orthogonal to the unit circle. The centre c of that circle
    satisfies 2<c, p> = 1 + |p|^2 for both ends p, as inversion at the unit circle maps the circle
    to itself. If the line through both ends contains the origin, the arc is straight.

    Args:
        start: Points in the open unit disk, of shape (n, 2).
        end: Points of the same shape.

    Returns:
        The four control points of each curve, of shape (n, 4, 2).
    """
    cross = _cross(start, end)
    straight = np.abs(cross) < 1e-6
    scale = np.where(straight, 1.0, cross)
    near, far = (1 + (start**2).sum(axis=1)) / 2, (1 + (end**2).sum(axis=1)) / 2
    centre = np.stack(
        [near * end[:, 1] - far * start[:, 1], far * start[:, 0] - near * end[:, 0]], axis=1
    )
    first, last = start - centre / scale[:, None], end - centre / scale[:, None]
    turn = np.arctan2(_cross(first, last), (first * last).sum(axis=1))
    handle = (4 / 3 * np.tan(turn / 4))[:, None]
    one = start + handle * np.stack([-first[:, 1], first[:, 0]], axis=1)
    two = end - handle * np.stack([-last[:, 1], last[:, 0]], axis=1)
    one = np.where(straight[:, None], start + (end - start) / 3, one)
    two = np.where(straight[:, None], end - (end - start) / 3, two)
    return np.stack([start, one, two, end], axis=1)


def samples(curves: Floats, steps: int = 60) -> Floats:
    """Return points along cubic Bézier curves (n, 4, 2), of shape (n * steps, 2)."""
    at = np.linspace(0, 1, steps)
    shares = np.stack([(1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3])
    return np.asarray(np.einsum("pt,npc->ntc", shares, curves).reshape(-1, 2))


def _cross(left: Floats, right: Floats) -> Floats:
    return left[:, 0] * right[:, 1] - left[:, 1] * right[:, 0]


Answer = tuple[int, str, float | None]
"""A predicted parent or child: its row, ``"parent"`` or ``"child"``, and its probability or
``None``."""

STYLES = {
    "entity": ("#111827", "the entity"),
    "ancestor": ("#4c1d95", "ancestors"),
    "descendant": ("#2b6cb0", "descendants"),
    "sibling": ("#64748b", "siblings"),
    "parent": ("#d9480f", "predicted parents"),
    "child": ("#0b7a3e", "predicted children"),
}
"""Colour and legend entry of each kind of node."""
FAMILY, EXTRA, PAPER = "#9fb3c8", "#c9d3de", "#f8fafc"
LONGEST = 40
"""Maximal length of a label in characters."""


def draw_hierarchy(
    hierarchy: Hierarchy,
    labels: Sequence[str],
    root: int,
    path: Path,
    *,
    answers: Sequence[Answer] = (),
    limit: int = 3000,
) -> None:
    """Plot the hierarchy around an entity: asserted links as geodesics, predicted ones dashed.

    In a plot of few nodes, all nodes have labels. In a plot of many nodes, only the nodes with the
    largest subtrees and the nodes near the entity have labels. In an SVG, labels are stored as
    text, and every node has its label as a tooltip.

    Args:
        hierarchy: Asserted hierarchy.
        labels: Label of each row, in any script and of any length.
        root: Row of the entity.
        path: The file, ``.svg`` or ``.png``; equal arguments give equal files.
        answers: Predicted parents and children of the entity.
        limit: Maximal number of nodes; the title states the number of nodes left out.

    Raises:
        SettingsError: If the suffix, a row or a kind of answer is unknown, labels are missing, or
            matplotlib is not installed.
    """
    if len(labels) != len(hierarchy.ids):
        raise SettingsError(
            f"labels: expected one for each of {len(hierarchy.ids)} rows, found {len(labels)}"
        )
    for _, kind, _ in answers:
        expect_choice("answers", kind, ("parent", "child"))
    predicted = {
        kind: [row for row, given, _ in answers if given == kind] for kind in ("parent", "child")
    }
    with drawing(path):
        layout = disk_layout(
            hierarchy,
            root,
            limit=limit,
            more_parents=predicted["parent"],
            more_children=predicted["child"],
        )
        names = [
            on_one_line(labels[row]) or on_one_line(hierarchy.ids[row])
            for row in layout.rows.tolist()
        ]
        save(*_hierarchy_figure(layout, names, answers, halo=path.suffix.lower() == ".png"), path)


def draw_norms(
    norms: NDArray[np.floating[Any]], depths: NDArray[np.integer[Any]], path: Path
) -> None:
    """Plot hyperbolic norms by depth as boxes: median, quartiles, 5th and 95th percentile, counts.

    Args:
        norms: Hyperbolic norm of each entity, of shape (n,).
        depths: Depth of each entity in the hierarchy, of shape (n,).
        path: The file, ``.svg`` or ``.png``.

    Raises:
        SettingsError: If the suffix is unknown, shapes differ, a norm is not finite, there are no
            norms, or matplotlib is not installed.
    """
    norms, depths = np.asarray(norms), np.asarray(depths)
    if norms.ndim != 1 or norms.shape != depths.shape or not norms.size:
        raise SettingsError(
            f"expected one norm and one depth an entity, found shapes {norms.shape}, {depths.shape}"
        )
    if not np.isfinite(norms).all():
        raise SettingsError(
            f"norms: expected finite numbers, found {norms[~np.isfinite(norms)][0]}"
        )
    with drawing(path):
        save(_norms_figure(norms.astype(np.float64), depths), {}, path)


def _hierarchy_figure(
    layout: DiskLayout, names: Sequence[str], answers: Sequence[Answer], halo: bool
) -> tuple[Figure, Titles]:
    """Return the figure, and the full labels of each group of dots."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, PathPatch

    n = len(layout.rows)
    inches, reach = (10.0, 1.36) if n <= 300 else (14.0, 1.2)
    figure = Figure(figsize=(inches, inches), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, facecolor=PAPER, edgecolor="#cbd5e1", linewidth=1, zorder=0))

    tree = {(node, above) for node, above in enumerate(layout.hangs_from.tolist())}
    tree |= {(above, node) for node, above in tree}
    thin = 0.9 if n <= 300 else 0.45
    for extra, colour, zorder in ((True, EXTRA, 1), (False, FAMILY, 2)):
        drawn = [edge for edge in layout.edges.tolist() if (tuple(edge) not in tree) == extra]
        if drawn:
            curve = _curves(layout.positions, drawn)
            axes.add_patch(
                PathPatch(
                    curve,
                    fill=False,
                    edgecolor=colour,
                    linewidth=thin,
                    zorder=zorder,
                    gid="more-links" if extra else "links",
                )
            )
    at = {row: node for node, row in enumerate(layout.rows.tolist())}
    kinds = list(layout.kinds)
    probabilities: dict[int, str] = {}
    for kind in ("parent", "child"):
        ends = [
            (at[row], probability)
            for row, given, probability in answers
            if given == kind and at[row]
        ]
        for node, probability in ends:
            kinds[node] = kind
            if probability is not None:
                probabilities[node] = f" {probability:.0%}"
        if ends:
            curve = _curves(layout.positions, [(0, node) for node, _ in ends])
            axes.add_patch(
                PathPatch(
                    curve,
                    fill=False,
                    edgecolor=STYLES[kind][0],
                    linewidth=1.6,
                    linestyle=(0, (4, 2.5)),
                    zorder=3,
                    gid=f"answers-{kind}",
                )
            )
    weights = _subtree_sizes(layout)
    sizes = _dot_sizes(kinds, weights, n)
    titles: dict[str, list[str]] = {}
    for size in np.unique(sizes).tolist():  # in an SVG, dots of equal size share one shape
        nodes = np.flatnonzero(sizes == size).tolist()
        titles[f"dots-{len(titles)}"] = [names[node] for node in nodes]
        axes.scatter(
            layout.positions[nodes, 0],
            layout.positions[nodes, 1],
            s=size,
            color=[STYLES[kinds[node]][0] for node in nodes],
            edgecolors="white",
            linewidths=0.4,
            zorder=4,
            clip_on=False,
            gid=list(titles)[-1],
        )
    _title_and_legend(figure, axes, layout, names[0], kinds)
    texts = [
        shortened(name, LONGEST) + probabilities.get(node, "") for node, name in enumerate(names)
    ]
    _labels(axes, layout, kinds, texts, weights, sizes, halo)
    return figure, titles


def _curves(positions: NDArray[np.float64], edges: Sequence[Sequence[int]]) -> Curve:
    from matplotlib.path import Path as Curve

    start, end = (positions[[edge[side] for edge in edges]] for side in (0, 1))
    codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4] * len(edges)
    return Curve(geodesics(start, end).reshape(-1, 2), codes)


def _subtree_sizes(layout: DiskLayout) -> NDArray[np.float64]:
    """Return the number of nodes in each subtree, its root included."""
    sizes = np.ones(len(layout.rows))
    for node in range(len(sizes) - 1, 0, -1):
        sizes[layout.hangs_from[node]] += sizes[node]
    return sizes


def _dot_sizes(kinds: Sequence[str], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the areas of the dots in square points."""
    least, growth = (26.0, 16.0) if n <= 60 else (14.0, 12.0) if n <= 300 else (5.0, 8.0)
    sizes = least + growth * np.log(weights)
    special = np.array([kind in ("parent", "child") for kind in kinds])
    sizes[special] = np.maximum(sizes[special], max(3 * least, 40))
    sizes = np.asarray(1.3 ** np.round(np.log(sizes) / np.log(1.3)))
    sizes[0] = max(sizes.max(), 5 * least)
    return sizes


def _title_and_legend(
    figure: Figure, axes: Any, layout: DiskLayout, name: str, kinds: Sequence[str]
) -> None:
    from matplotlib.lines import Line2D

    left_out = f"; {layout.left_out:,} more are left out" if layout.left_out else ""
    entities = "1 entity" if len(layout.rows) == 1 else f"{len(layout.rows):,} entities"
    links = "1 asserted link" if len(layout.edges) == 1 else f"{len(layout.edges):,} asserted links"
    title = figure.text(
        0.02,
        0.98,
        shortened(name, 60),
        size=17,
        weight="bold",
        va="top",
        color="#111827",
        parse_math=False,
    )
    note = figure.text(
        0.02,
        0.98 - 0.32 / figure.get_figheight(),
        f"{entities}, {links}{left_out}",
        size=10,
        va="top",
        color="#475569",
    )
    found = Counter(kinds)
    lines = [
        Line2D(
            [],
            [],
            color=colour,
            marker="o",
            markersize=7,
            linestyle=(0, (4, 2.5)) if kind in ("parent", "child") else "none",
        )
        for kind, (colour, _) in STYLES.items()
        if found[kind]
    ]
    texts = [text for kind, (_, text) in STYLES.items() if found[kind]]
    axes.legend(
        lines,
        texts,
        loc="lower left",
        bbox_to_anchor=(0.01, 0.01),
        frameon=False,
        fontsize=10,
        handlelength=3,
        labelcolor="#334155",
    )
    title.set_gid("title")
    note.set_gid("note")


def _labels(
    axes: Any,
    layout: DiskLayout,
    kinds: Sequence[str],
    texts: Sequence[str],
    weights: NDArray[np.float64],
    sizes: NDArray[np.float64],
    halo: bool,
) -> None:
    """Write the labels that have room, the most important first."""
    n = len(texts)
    few = n <= 60
    inner = weights > 1
    lines = (
        samples(geodesics(*(layout.positions[layout.edges[:, end]] for end in (0, 1))))
        if few
        else np.zeros((0, 2))
    )
    placer = LabelPlacer(axes, layout.positions, np.sqrt(sizes) / 2, inner, lines, halo=halo)
    distance = np.hypot(*layout.positions.T)
    rank = np.array(
        [{"entity": 0, "parent": 1, "child": 1, "ancestor": 2}.get(kind, 3) for kind in kinds]
    )
    chosen = (rank < 3) | inner | (layout.hangs_from == 0) | (n <= 300)
    order = np.lexsort((distance - 0.35 * np.log(weights), rank))
    for node in order[chosen[order]][:400].tolist():
        bold = bool(rank[node] < 2)
        size = 11.0 if node == 0 else 9.5 if bold or few else 8.5
        placer.place(
            node, texts[node], size=size, colour=STYLES[kinds[node]][0], bold=bold, must=few or bold
        )


def _norms_figure(norms: NDArray[np.float64], depths: NDArray[np.integer[Any]]) -> Figure:
    from matplotlib.figure import Figure

    levels = np.unique(depths)
    groups = [norms[depths == level] for level in levels.tolist()]
    figure = Figure(figsize=(max(5.0, 1.8 + 0.62 * len(levels)), 5), layout="constrained")
    axes = figure.add_subplot()
    drawn = axes.boxplot(groups, whis=(5, 95), showfliers=False, widths=0.62, patch_artist=True)
    for box in drawn["boxes"]:
        box.set(facecolor="#bfd7ef", edgecolor="#2b6cb0")
    for part in (*drawn["whiskers"], *drawn["caps"]):
        part.set(color="#2b6cb0")
    for line in drawn["medians"]:
        line.set(color="#111827", linewidth=2)
    axes.set_xticks(
        range(1, len(groups) + 1),
        [f"{level}\n{len(group):,}" for level, group in zip(levels, groups, strict=True)],
    )
    axes.set_xlabel("depth, and number of entities")
    axes.set_ylabel("hyperbolic norm")
    axes.set_title("Hyperbolic norm by depth", loc="left", weight="bold")
    axes.text(
        1,
        1.01,
        "box: quartiles; whiskers: 5 to 95 %",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        size=8,
        color="#475569",
    )
    axes.grid(axis="y", color="#e2e8f0")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
