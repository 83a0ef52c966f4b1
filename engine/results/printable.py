"""Text from files, made safe for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["json_text", "printable"]

_SUSPECT = re.compile(r"[^ -~\n]")


def printable(text: str) -> str:
    r"""Replace characters that control a terminal.

    >>> printable("\x1b[2J\u202eevil\n")
    '�[2J�evil\n'
    """
    return _SUSPECT.sub(lambda found: found[0] if found[0].isprintable() else "�", text)


def json_text(data: Any, **settings: Any) -> str:
    r"""Return JSON with printable characters as they are, and control characters escaped.

    >>> json_text({"label": "café \x9b31m"})
    '{"label": "café \\u009b31m"}'
    """
    text = json.dumps(data, ensure_ascii=False, **settings)
    return _SUSPECT.sub(
        lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text
    )
