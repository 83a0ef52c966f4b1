"""Lines of tables of triples that are no facts: denied ones, and what an audit proposed and nobody confirmed."""

from __future__ import annotations

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.vocabulary import PROPOSED, TOOL
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entity_columns import one_line
from ontodex.readers.tables.negation import left_out
from ontodex.readers.tables.sssom import SssomHeader
from ontodex.readers.tables.triple_columns import TripleColumns

__all__ = ["Reviewed"]


class Reviewed:
    """Lines of a table that are no facts: what it says not to hold, and in SSSOM what ontodex proposed.

    Args:
        columns: Where what stands.
        header: What stands above them; ``None`` where nothing can.
        negated: Whether what does not hold is wanted, in place of what does.
    """

    def __init__(
        self, columns: TripleColumns, header: SssomHeader | None, *, negated: bool
    ) -> None:
        self._columns, self._header, self._negated = columns, header, negated
        self._proposed = self._denied = self._headless = 0

    def keeps(self, cells: list[str], builder: GraphBuilder) -> bool:
        """Tell whether a line is a fact; ids that ontodex wrote are read as they were, in place."""
        columns, header = self._columns, self._header or SssomHeader()
        is_ours = header.is_ours or (
            columns.tool is not None and cells[columns.tool].strip() == TOOL
        )
        if is_ours:
            self._headless += self._header is not None and not header.is_ours
            for at in (columns.head, columns.relation, columns.tail):
                cells[at] = header.own_id(one_line(cells[at]))
        if (
            is_ours
            and columns.justification is not None
            and cells[columns.justification].strip() == PROPOSED
        ):
            self._proposed += 1
            for at in (columns.head, columns.tail):
                builder.entity(cells[at])
            return False
        wanted = columns.negation is None or columns.negation.denies(cells) == self._negated
        self._denied += not (wanted or self._negated)
        return wanted

    def warn(self, problems: Problems) -> None:
        """Say what was left out."""
        if self._proposed:
            problems.remark(
                f"left out {self._proposed} line(s) that ontodex proposed and nobody confirmed; to have one read, change "
                "its mapping_justification, as to semapv:ManualMappingCuration"
            )
        if self._denied:
            problems.remark(left_out(self._denied))
        if self._headless:
            problems.remark(
                "the lines above the header, which begin with #, are gone, and with them the prefixes of ids"
            )
