"""Run by test_hostile_files.py: read one file, and print what came of it and what it cost, the parser's process included."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings

from ontodex.errors import OntodexError
from ontodex.readers import read
from tests.reliability.status import megabytes

warnings.simplefilter("ignore")
start = time.perf_counter()
try:
    outcome = f"read: {read(sys.argv[1])!r}"
except OntodexError as error:
    outcome = f"refused: {error}"
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
# Not ru_maxrss for itself: that begins with what the process that started it has had.
peak = megabytes("VmHWM")
print(
    json.dumps(
        {
            "outcome": outcome,
            "wall": time.perf_counter() - start,
            "cpu": sum(one.ru_utime + one.ru_stime for one in used),
            "memory": peak + used[1].ru_maxrss / 1024,
        }
    )
)
