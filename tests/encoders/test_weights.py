from __future__ import annotations

import os
from pathlib import Path

import torch
from safetensors.torch import load_file

from ontodex.encoders.weights import save_weights


def test_weights_are_as_readable_as_other_files(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        save_weights({"a": torch.arange(6).reshape(2, 3).T}, tmp_path / "a.safetensors")
    finally:
        os.umask(mask)
    assert (tmp_path / "a.safetensors").stat().st_mode & 0o777 == 0o644
    assert load_file(tmp_path / "a.safetensors")["a"].tolist() == [[0, 3], [1, 4], [2, 5]]
