"""Placement of labels so that they overlap neither each other nor the dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LabelPlacer"]

Floats = NDArray[np.float64]


class LabelPlacer:
    """Writes labels beside dots, each at the first free place.

    Args:
        axes: Axes whose figure has an Agg canvas, and whose limits no longer change.
        positions: Centres of the dots in data coordinates, of shape (n, 2).
        radii: Radii of the dots in points, of shape (n,).
        inner: Whether a dot has nodes below it, of shape (n,).
        lines: Points on lines, in data coordinates, of shape (m, 2); labels avoid them if possible.
        halo: Draw white edges around the letters; this turns the text of an SVG into curves.
    """

    def __init__(
        self,
        axes: Axes,
        positions: Floats,
        radii: Floats,
        inner: NDArray[np.bool_],
        lines: Floats,
        *,
        halo: bool,
    ) -> None:
        self.axes = axes
        figure = axes.figure
        self.renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        self.points = figure.dpi / 72
        self.bare = np.zeros(len(lines))
        figure.draw_without_rendering()  # type: ignore[union-attr]
        self.dots = np.asarray(axes.transData.transform(positions))
        self.radii = radii * self.points
        self.outward = np.arctan2(positions[:, 1], positions[:, 0])
        self.off_centre = (positions != 0).any(axis=1).tolist()
        self.inner = inner
        self.halo = halo
        self.lines = np.asarray(axes.transData.transform(lines.reshape(-1, 2)))
        self.boxes = np.zeros((0, 4, 2))
        for artist in (*figure.texts, axes.get_legend()):
            if artist is not None:
                self._take(np.asarray(artist.get_window_extent().corners())[[0, 2, 3, 1]])
        bounds = figure.bbox
        self.low, self.high = (
            np.array([bounds.x0, bounds.y0]) + 4,
            np.array([bounds.x1, bounds.y1]) - 4,
        )

    def place(
        self, node: int, text: str, *, size: float, colour: str, bold: bool, must: bool
    ) -> bool:
        """Write the label of a node.

        Args:
            node: Number of the dot.
            text: Its label, on one line.
            size: Size of the letters in points.
            colour: Colour of the letters.
            bold: Whether the letters are bold.
            must: If there is no room, also try places farther away, smaller letters and a shorter
                text.

        Returns:
            Whether there was room for the label.
        """
        short = text if len(text) <= 22 else text[:21].rstrip() + "…"
        tries = [(text, size, 1.0, True)] if len(self.lines) else []
        tries += [(text, size, 1.0, False)]
        if must:
            tries += [
                (text, size, 4.0, False),
                (text, size - 1, 8.0, False),
                (short, size - 1, 1.0, False),
            ]
            tries += [(short, size - 2, steps, False) for steps in (4.0, 8.0, 14.0, 20.0)]
        for attempt, letters, steps, clear in tries:
            found = self._free(node, self._extent(attempt, letters, bold), steps, clear)
            if found is not None:
                self._write(node, attempt, letters, colour, bold, *found)
                return True
        return False

    def _extent(self, text: str, size: float, bold: bool) -> Floats:
        from matplotlib.font_manager import FontProperties

        font = FontProperties(size=size, weight="bold" if bold else "normal")
        width, height, _ = self.renderer.get_text_width_height_descent(text, font, ismath=False)
        tall = self.renderer.get_text_width_height_descent("lp", font, ismath=False)[1]
        return np.array([width, max(height, tall)]) + 2 * self.points

    def _free(
        self, node: int, extent: Floats, steps: float, clear: bool
    ) -> tuple[Floats, float] | None:
        """Return the corners in pixels, and the rotation in degrees, of the first free place."""
        for way, turn in self._ways(node):
            corners = self._box(node, extent, way, turn, steps)
            if (corners < self.low).any() or (corners > self.high).any():
                continue
            if not self._hits(corners, node) and not (
                clear and _within(corners, self.lines, self.bare).any()
            ):
                self._take(corners)
                return corners, turn
        return None

    def _ways(self, node: int) -> list[tuple[float, float]]:
        """Return directions from the dot and rotations of the text, in degrees, the best first."""
        level = [(way, 0.0) for way in (0, 180, 90, -90, 30, -30, 150, -150, 60, -60, 120, -120)]
        if not self.off_centre[node]:
            return [(-90, 0.0), (90, 0.0), *level]
        out = float(np.degrees(self.outward[node]))
        along = out if abs(out) <= 90 else out - 180 * float(np.sign(out))
        radial = [(out, along), (out + 12, along), (out - 12, along)]
        inward = (out + 180, along)
        level.sort(key=lambda place: abs((place[0] - out + 180) % 360 - 180))
        if self.inner[node]:
            return [*level, *radial, inward]
        return (
            [*radial, *level, inward]
            if abs(along) > 60
            else [*level[:3], *radial, *level[3:], inward]
        )

    def _box(self, node: int, extent: Floats, way: float, turn: float, steps: float) -> Floats:
        """Return the corners of the label's box, which is ``steps`` gaps away from the dot."""
        along = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
        across = np.array([-along[1], along[0]])
        toward = np.array([np.cos(np.radians(way)), np.sin(np.radians(way))])
        lean = np.array([toward @ along, toward @ across])
        reach = float(np.min(extent / 2 / np.maximum(np.abs(lean), 1e-9)))
        if abs(lean[0]) > 0.3:  # beside the dot, not across its corner
            side = np.array([np.sign(lean[0]) * extent[0] / 2, lean[1] * extent[1] / 2])
            offset = side[0] * along + side[1] * across
        else:
            offset = toward * reach
        centre = self.dots[node] + offset + toward * (self.radii[node] + 2.5 * steps * self.points)
        half = extent / 2
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
        return np.asarray(centre + signs[:, :1] * along + signs[:, 1:] * across)

    def _hits(self, corners: Floats, node: int) -> bool:
        """Return whether a box overlaps another dot or another box."""
        if _overlap(corners, self.boxes):
            return True
        over = _within(corners, self.dots, self.radii)
        over[node] = False
        return bool(over.any())

    def _take(self, corners: Floats) -> None:
        self.boxes = np.concatenate([self.boxes, corners[None]])

    def _write(
        self,
        node: int,
        text: str,
        size: float,
        colour: str,
        bold: bool,
        corners: Floats,
        turn: float,
    ) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patheffects import withStroke

        data = self.axes.transData.inverted()
        centre = corners.mean(axis=0)
        x, y = data.transform(centre).tolist()
        written = self.axes.text(
            x,
            y,
            text,
            size=size,
            color=colour,
            weight="bold" if bold else "normal",
            rotation=turn,
            rotation_mode="anchor",
            ha="center",
            va="center_baseline",
            parse_math=False,
            zorder=6,
        )
        if self.halo:
            written.set_path_effects([withStroke(linewidth=2.2, foreground="white", alpha=0.8)])
        sides = np.concatenate([corners, (corners + np.roll(corners, 1, axis=0)) / 2])
        nearest = sides[np.argmin(np.hypot(*(sides - self.dots[node]).T))]
        if np.hypot(*(nearest - self.dots[node])) > self.radii[node] + 9 * self.points:
            ends = data.transform(np.stack([self.dots[node], nearest]))
            self.axes.add_line(Line2D(*ends.T, color=colour, linewidth=0.5, alpha=0.7, zorder=5))


def _within(box: Floats, points: Floats, radii: Floats) -> NDArray[np.bool_]:
    """Return which discs (or points) a rectangle overlaps."""
    along, across = box[1] - box[0], box[3] - box[0]
    width, height = np.hypot(*along), np.hypot(*across)
    apart = points - box.mean(axis=0)
    beside = np.maximum(np.abs(apart @ (along / width)) - width / 2, 0)
    beyond = np.maximum(np.abs(apart @ (across / height)) - height / 2, 0)
    return np.asarray(np.hypot(beside, beyond) <= radii)


def _overlap(box: Floats, others: Floats) -> bool:
    """Return whether a rectangle overlaps one of ``others`` (m, 4, 2).

    The test uses separating axes (Gottschalk et al. 1996).
    """
    if not len(others):
        return False
    apart = np.zeros(len(others), dtype=bool)
    for side in (box[1] - box[0], box[3] - box[0]):
        mine, theirs = box @ side, others @ side
        apart |= (theirs.max(axis=1) <= mine.min()) | (theirs.min(axis=1) >= mine.max())
    for sides in (others[:, 1] - others[:, 0], others[:, 3] - others[:, 0]):
        mine, theirs = sides @ box.T, np.einsum("mcd,md->mc", others, sides)
        apart |= (theirs.max(axis=1) <= mine.min(axis=1)) | (theirs.min(axis=1) >= mine.max(axis=1))
    return bool((~apart).any())
