"""The benchmarks are no part of what is installed: they are imported from the root of the project."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
