"""Which precision a device computes in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ontodex.encoders.device import has_bfloat16

SCRIPT = "from ontodex.encoders.device import has_bfloat16; print(has_bfloat16('cpu'))"


def test_a_processor_can_be_told_to_compute_without_bfloat16() -> None:
    """``ONEDNN_MAX_CPU_ISA`` is read once, when torch is imported, so it needs a new process."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"},
    )
    assert done.stdout.strip() == "False"
    assert not has_bfloat16("meta")
