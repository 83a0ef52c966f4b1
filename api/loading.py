"""Loading of encoders by folder or name, and choice of the encoders of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontodex.encoders.locate import DEFAULT_ENCODER, fingerprint, locate
from ontodex.errors import EncoderError, SettingsError

if TYPE_CHECKING:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.encoders.self_strae import SelfStrAE
    from ontodex.encoders.text import TextEncoder

__all__ = [
    "ENTAILMENT_IN_THE_BOX",
    "HIERARCHY_IN_THE_BOX",
    "Kind",
    "kind_of",
    "load_entailment_encoder",
    "load_hierarchy_encoder",
    "load_self_strae",
    "load_text_encoders",
]

HIERARCHY_IN_THE_BOX = "hit-wordnet"
"""Name of the hierarchy encoder that ontodex ships: all-MiniLM-L6-v2 trained on WordNet's nouns."""

ENTAILMENT_IN_THE_BOX = "gauss-cse-nli"
"""Name of the entailment encoder that ontodex ships: all-MiniLM-L6-v2 trained on NLI."""


@dataclass(frozen=True)
class Kind:
    """A kind of encoder other than plain text encoders, and how its folders are recognised.

    Attributes:
        name: Name of the system, as messages print it.
        use: What the encoder is for.
        argument: The argument of :func:`ontodex.build` that takes such a folder.
        is_at: Function that returns whether a folder holds an encoder of this kind.
    """

    name: str
    use: str
    argument: str
    is_at: Callable[[Path], bool]


def kind_of(folder: Path) -> Kind | None:
    """Return the kind of the encoder in a folder; ``None`` for a plain text encoder."""
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.encoders.locate import is_self_strae

    kinds = (
        Kind("HiT", "hierarchies", "hierarchy", HiT.is_at),
        Kind("GaussCSE", "entailment", "entailment", GaussCSE.is_at),
        Kind("Hyper-CL", "relations", "encoders", HyperCL.is_at),
        Kind("condition", "similarity under a condition", "encoders", ConditionEncoder.is_at),
        Kind("Self-StrAE", "texts", "encoders", is_self_strae),
    )
    return next((kind for kind in kinds if kind.is_at(folder)), None)


def load_hierarchy_encoder(name: str, device: str = "auto") -> HiT:
    """Load a HiT encoder.

    Args:
        name: A folder, a name on the Hugging Face hub, or ``"hit-wordnet"``, the encoder that
            ontodex ships.
        device: Device of the encoder.

    Raises:
        EncoderError: If the encoder cannot be found or loaded, or is not a HiT encoder.
    """
    from ontodex.encoders.hit import DEFAULT_HIT, HiT

    folder = _located(name, HIERARCHY_IN_THE_BOX, DEFAULT_HIT)
    kind = kind_of(folder)
    if kind is not None and kind.name != "HiT":
        raise EncoderError(
            f"{folder}: expected a HiT encoder, for hierarchies, "
            f"found a {kind.name} encoder, for {kind.use}"
        )
    return HiT.load(folder, device)


def load_entailment_encoder(name: str, device: str = "auto") -> GaussCSE:
    """Load a GaussCSE encoder.

    Args:
        name: A folder, a name on the Hugging Face hub, or ``"gauss-cse-nli"``, the encoder that
            ontodex ships.
        device: Device of the encoder.

    Raises:
        EncoderError: If the encoder cannot be found or loaded, or is not a GaussCSE encoder.
    """
    from ontodex.encoders.gauss_cse import DEFAULT_GAUSS_CSE, GaussCSE

    return GaussCSE.load(_located(name, ENTAILMENT_IN_THE_BOX, DEFAULT_GAUSS_CSE), device)


def load_self_strae(path: str | Path) -> SelfStrAE:
    """Load a Self-StrAE encoder, to compute the trees of texts.

    Args:
        path: Folder of the encoder.

    Raises:
        EncoderError: If the folder holds no Self-StrAE encoder, or a damaged one.
    """
    from ontodex.encoders.self_strae import SelfStrAE

    return SelfStrAE.load(Path(path)).eval()


def load_text_encoders(
    names: Iterable[str | Path], device: str = "auto"
) -> tuple[TextEncoder, LinkEncoder | None, ConditionEncoder | None]:
    """Load the encoders of texts, of relations and of conditions that an index is built with.

    If a link or condition encoder contains the same text encoder, both share it in memory.

    Args:
        names: Folders or names: at most one text encoder, one Hyper-CL encoder and one condition
            encoder, in any order. The name ``"multilingual"`` is a text encoder
            (:mod:`ontodex.encoders.multilingual`). Without a text encoder, all-MiniLM-L6-v2 is
            loaded.
        device: Device of the encoders.

    Returns:
        The text encoder; the link encoder, or ``None``; and the condition encoder, or ``None``.

    Raises:
        EncoderError: If an encoder cannot be found or loaded.
        SettingsError: If an encoder is of another kind, there are two encoders of one kind, or the
            condition encoder is a bi-encoder.
    """
    from ontodex.encoders.link_encoder import load_link_encoder
    from ontodex.encoders.multilingual import MULTILINGUAL, multilingual_encoder
    from ontodex.encoders.text import TextEncoder

    found: dict[str, list[Path]] = {"text": [], "Hyper-CL": [], "condition": []}
    for name in names:
        folder = multilingual_encoder() if name == MULTILINGUAL else locate(str(name))
        found[_kind_name(folder)].append(folder)
    texts, links, conditions = found.values()
    if max(len(links), len(conditions), len(texts)) > 1:
        raise SettingsError(
            "encoders: expected at most one text encoder, one Hyper-CL encoder and one condition "
            "encoder, found more"
        )
    text = TextEncoder(texts[0] if texts else locate(DEFAULT_ENCODER), device)
    link = load_link_encoder(links[0], device=device) if links else None
    if link is not None and link.text.fingerprint == text.fingerprint:
        link = load_link_encoder(links[0], text, device)
    return text, link, _condition_encoder(conditions[0], text, device) if conditions else None


def _kind_name(folder: Path) -> str:
    """Return the kind of an encoder: ``"text"``, ``"Hyper-CL"`` or ``"condition"``."""
    kind = kind_of(folder)
    if kind is None or kind.use == "texts":
        return "text"
    if kind.argument != "encoders":
        raise SettingsError(
            "encoders: expected encoders of texts, relations and conditions, "
            f"found {folder}, which is one of {kind.use}; "
            f"give it as {kind.argument}= (in the shell --{kind.argument}-encoder)"
        )
    return kind.name


def _condition_encoder(folder: Path, text: TextEncoder, device: str) -> ConditionEncoder:
    from ontodex.encoders.condition import ConditionEncoder

    shared = text if fingerprint(folder) == text.fingerprint else None
    condition = ConditionEncoder.load(folder, shared, device)
    if condition.architecture == "bi-encoder":
        raise SettingsError(
            "encoders: expected a condition encoder that encodes text and condition separately, "
            f"found {folder}, a bi-encoder, which would encode every entity again under every "
            "condition; train one with another architecture"
        )
    return condition


def _located(name: str, shipped: str, default: Path) -> Path:
    """Return the folder of an encoder.

    The name ``shipped`` stands for the folder ``default``, unless a path of this name exists.
    """
    return default if name == shipped and not Path(name).exists() else locate(name)
