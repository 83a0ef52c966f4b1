"""Common parts of all plots: matplotlib's settings, labels on one line, and files."""

from __future__ import annotations

import html
import io
import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ontodex.errors import SettingsError
from ontodex.graph.writers.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Titles", "drawing", "on_one_line", "save", "shortened"]

Titles = dict[str, list[str]]
"""Full labels of the dots in each group of dots, by the group's id in the SVG."""
HALO = "text{paint-order:stroke;stroke:#fff;stroke-width:2.2px;stroke-opacity:.8}"
"""CSS that keeps the text of an SVG legible over lines."""
SCRIPTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans",
    "WenQuanYi Zen Hei",
    "Arial Unicode MS",
    "Unifont",
)
"""Fonts for letters that DejaVu Sans, matplotlib's default font, lacks; used if installed."""


def on_one_line(text: str) -> str:
    r"""Return ``text`` on one line, without control characters.

    >>> on_one_line("two\nlines\x07 ")
    'two lines'
    """
    return " ".join(
        "".join(
            " " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text
        ).split()
    )


def shortened(text: str, longest: int) -> str:
    """Return ``text`` with at most ``longest`` characters.

    >>> shortened("a very long label", 7)
    'a very…'
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


@contextmanager
def drawing(path: Path) -> Iterator[None]:
    """Set matplotlib's settings for a plot, independent of the user's configuration.

    Raises:
        SettingsError: If the suffix is not ``.svg`` or ``.png``, or matplotlib is not installed.
    """
    if path.suffix.lower() not in (".svg", ".png"):
        raise SettingsError(f"expected a file that ends in .svg or .png, found {str(path)!r}")
    try:
        import matplotlib.style
        from matplotlib.font_manager import fontManager
    except ImportError as error:
        raise SettingsError(
            "expected matplotlib for pictures, found none; run pip install 'ontodex[plot]'"
        ) from error
    fonts = ["DejaVu Sans", *(name for name in SCRIPTS if name in fontManager.get_font_names())]
    own = {
        "svg.fonttype": "none",
        "svg.hashsalt": "ontodex",
        "path.simplify": False,
        "font.family": fonts,
    }
    with matplotlib.style.context(["default", own]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def save(figure: Figure, titles: Titles, path: Path) -> None:
    """Write a figure in the format of the suffix of ``path``; in an SVG, titles are tooltips."""
    kind = path.suffix.lower()[1:]
    stream = io.BytesIO()
    metadata = {"Date": None, "Creator": "ontodex"} if kind == "svg" else {"Software": "ontodex"}
    figure.savefig(stream, format=kind, dpi=150, metadata=metadata)
    content = stream.getvalue()
    if kind == "svg":
        content = _with_titles(content.decode(), titles).encode()
    with replacing(path) as file:
        file.write(content)


def _with_titles(svg: str, titles: Titles) -> str:
    """Give each dot of an SVG its full label as a tooltip, and the text of the SVG a halo."""
    svg = svg.replace("</style>", HALO + "</style>", 1)
    for group, names in titles.items():
        start = svg.index(f'<g id="{group}">')
        left = iter(names)
        svg = (
            svg[:start]
            + re.sub(
                "(<use [^>]*)/>",
                lambda use, left=left: (  # type: ignore[misc]
                    f"{use[1]}><title>{html.escape(next(left))}</title></use>"
                ),
                svg[start:],
                count=len(names),
            )
        )
    return svg
