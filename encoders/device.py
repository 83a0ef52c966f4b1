"""Choice of the device to compute on."""

from __future__ import annotations

from pathlib import Path

from ontodex.errors import SettingsError

__all__ = ["choose_device", "has_bfloat16"]


def choose_device(device: str = "auto") -> str:
    """Return the name of a torch device; for ``"auto"``, the GPU if there is one, else the CPU.

    For ``"auto"``, torch is imported to look for a GPU only if the machine has the driver of one,
    because importing torch takes longer than most questions.

    Raises:
        SettingsError: If ``device`` is not a torch device, or this machine does not have it.
    """
    if device == "cpu" or (device == "auto" and not _has_gpu_driver()):
        return "cpu"
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except Exception as error:
        raise SettingsError(
            f"device: expected auto, cpu or a GPU that is there, found {device!r} ({error})"
        ) from None
    return device


def has_bfloat16(device: str) -> bool:
    """Return whether the device multiplies bfloat16 matrices faster than float32 ones.

    These are GPUs with native bfloat16, and processors with AMX, where oneDNN multiplies the
    matrices. A processor with AVX512-BF16 but without AMX encodes texts and trains ComplEx in
    float32 in two thirds of the time (measured on Intel's family 6, model 207). The environment
    variable ``ONEDNN_MAX_CPU_ISA`` restricts oneDNN to the instructions of an older processor: with
    ``ONEDNN_MAX_CPU_ISA=AVX2`` every processor computes in float32.
    """
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return (
        device == "cpu"
        and bool(getattr(torch.cpu, "_is_amx_tile_supported", bool)())
        and bool(getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", bool)())
    )


def _has_gpu_driver() -> bool:
    return any(Path(f"/dev/{name}").exists() for name in ("nvidiactl", "kfd", "dxg"))
