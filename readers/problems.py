"""Faulty parts of a source: left out and counted, or raised as an error."""

from __future__ import annotations

from collections.abc import Callable

from ontodex.errors import ReadError, expect_choice
from ontodex.graph.notices import warn_reader

__all__ = ["INSPECT", "ON_ERROR", "Noted", "Problems"]

ON_ERROR = ("raise", "warn", "skip")
SHOWN = 5

INSPECT = "to see or change it, run `ontodex inspect SOURCE`"
"""Last words of warnings about a guess."""


class Problems:
    """Collects the faulty parts of a source, or raises an error at the first.

    Args:
        policy: ``"raise"`` stops at the first faulty part. ``"warn"`` leaves them out and warns
            once at the end. ``"skip"`` leaves them out silently.
        source: Name of the source, for messages.
        named: Replaces the paths of unpacked files in messages by the names that users know.

    Raises:
        SettingsError: If the policy is unknown.

    Example:
        >>> problems = Problems("skip", "pets.tsv")
        >>> problems.report("expected 3 columns, found 2", line=7)
        >>> problems.count, problems.first
        (1, ['pets.tsv:7: expected 3 columns, found 2'])
    """

    def __init__(self, policy: str, source: str, named: Callable[[str], str] = str) -> None:
        expect_choice("on_error", policy, ON_ERROR)
        self.policy = policy
        self.source = named(source)
        self._named = named
        self.count = 0
        self.first: list[str] = []

    def of(self, source: str) -> Problems:
        """Return a collector for another source, with the same policy."""
        return Problems(self.policy, source, self._named)

    def report(self, message: str, line: int | None = None, source: str | None = None) -> None:
        """Count a faulty part that was left out.

        Raises:
            ReadError: If the policy is ``"raise"``.
        """
        error = ReadError(message, self._named(source or self.source), line)
        if self.policy == "raise":
            raise error
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(str(error))

    def unexpected(
        self,
        what: str,
        found: object,
        line: int | None = None,
        source: object = None,
        *,
        why: object = "",
    ) -> None:
        """Report a part that is not ``what`` was expected; ``found`` is cut to 60 letters.

        Raises:
            ReadError: If the policy is ``"raise"``.
        """
        because = f" ({why})" if why else ""
        shown = f"{str(found)[:60]!r}{because}"
        self.report(f"expected {what}, found {shown}", line, str(source) if source else None)

    def remark(self, message: str) -> None:
        """Warn of something that is not a fault, if the policy is ``"warn"``."""
        if self.policy == "warn":
            warn_reader(self._named(f"{self.source}: {message}"))

    def summary(self) -> str:
        """Return a text with the number of faulty parts and the first few of them, one per line."""
        more = (
            f"\n  and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        )
        return f"{self.count} faulty part(s):\n  " + "\n  ".join(self.first) + more

    def finish(self) -> None:
        """Warn once of all faults, if the policy is ``"warn"``."""
        if self.count and self.policy == "warn":
            advice = 'on_error="raise" (--on-error raise) stops at the first, "skip" says nothing'
            warn_reader(f"{self.source}: {self.summary()}\n{advice}")


class Noted(Problems):
    """Records faults, so that they can be reported to another collector later.

    Attributes:
        reports: Message, line and source of each fault.
    """

    def __init__(self) -> None:
        super().__init__("skip", "")
        self.reports: list[tuple[str, int | None, str | None]] = []

    def report(self, message: str, line: int | None = None, source: str | None = None) -> None:
        """Record a faulty part."""
        self.reports.append((message, line, source))
