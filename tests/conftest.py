"""Fixtures of several folders: a text encoder, a graph and an index, all real and tiny."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ontodex.graph import GraphBuilder, KnowledgeGraph

TAME = ["dog", "cat", "cow", "horse", "sheep", "goat", "pig", "hen", "duck", "goose"]
WILD = ["mouse", "rat", "hare", "fox", "wolf", "bear", "deer", "seal", "whale", "bat"]
ANIMALS = [*TAME, *WILD]
PLACES = ["farm", "field", "forest", "river", "sea", "house", "barn", "city"]
WORDS = [
    "a",
    "an",
    "the",
    "is",
    "in",
    "of",
    "that",
    "kind",
    "lives",
    "eats",
    "animal",
    "place",
    "thing",
    "wild",
    "tame",
]


Write = Callable[[str, str | bytes], Path]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of tests/reliability."""
    parser.addoption(
        "--torture", action="store_true", help="tests/reliability at full length, about an hour"
    )
    parser.addoption(
        "--figures", type=Path, metavar="FILE", help="write what tests/reliability tried, as JSON"
    )


def make_tiny_encoder(folder: Path, seed: int = 0, dim: int = 32) -> Path:
    """Write a sentence-transformers folder: a two-layer BERT with random weights, mean pooling."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = [chr(code) for code in range(33, 127)] + list("äöüßéèñç日本語中文αβγ")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = dict.fromkeys(
        [*special, *letters, *(f"##{letter}" for letter in letters), *ANIMALS, *PLACES, *WORDS]
    )
    pieces = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        bert = BertModel(
            BertConfig(
                vocab_size=len(pieces),
                hidden_size=dim,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=2 * dim,
                max_position_embeddings=64,
                initializer_range=0.3,
            )
        )
    plain = folder / "plain"
    bert.save_pretrained(plain, safe_serialization=True)
    fast.save_pretrained(plain)
    words_to_vectors = Transformer(str(plain), max_seq_length=64)
    SentenceTransformer(modules=[words_to_vectors, Pooling(dim, "mean")], device="cpu").save(
        str(folder / "encoder"), create_model_card=False
    )
    shutil.rmtree(plain)
    return folder / "encoder"


def make_small_graph() -> KnowledgeGraph:
    """Return a graph of sixty entities (twenty animals, their young, eight places, …)."""
    builder = GraphBuilder("farm")
    builder.prefixes["ex"] = "http://example.org/"
    for relation, label in (("is_a", "is a"), ("ex:livesIn", "lives in"), ("ex:eats", "eats")):
        builder.relation(relation, label)
    builder.entity("ex:thing", "thing", definition="whatever there is")
    builder.entity("ex:animal", "animal", ["beast", "creature"], "a thing that lives and eats")
    builder.entity("ex:place", "place", ["site"], "where things are")
    for name in ("wild", "tame"):
        builder.entity(f"ex:{name}", f"{name} animal", definition=f"an animal that is {name}")
    for name in PLACES:
        builder.entity(f"ex:{name}", name, definition=f"a place, the {name}")
        builder.triple(f"ex:{name}", "is_a", "ex:place")
    for number, name in enumerate(ANIMALS):
        kind, place = ("tame" if name in TAME else "wild"), PLACES[number % len(PLACES)]
        builder.entity(
            f"ex:{name}",
            name,
            [f"common {name}", f"{name}s"],
            f"a {kind} animal that lives in a {place}",
        )
        builder.triple(f"ex:{name}", "is_a", f"ex:{kind}")
        builder.triple(f"ex:{name}", "ex:livesIn", f"ex:{place}")
        builder.triple(f"ex:{name}", "ex:eats", f"ex:{ANIMALS[(number * 7 + 3) % len(ANIMALS)]}")
    for number, name in enumerate(ANIMALS):
        builder.entity(f"ex:young-{name}", f"young {name}")
        builder.triple(f"ex:young-{name}", "is_a", f"ex:{name}")
        builder.triple(
            f"ex:young-{name}", "ex:livesIn", f"ex:{PLACES[(number + 3) % len(PLACES)]}", "test"
        )
    for name in ("wild", "tame"):
        builder.triple(f"ex:{name}", "is_a", "ex:animal")
    for name in ("animal", "place"):
        builder.triple(f"ex:{name}", "is_a", "ex:thing")
    for number in range(7):
        builder.entity(f"ex:n{number}", f"thing {number}")
    return builder.build()


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a real text encoder of 32 dimensions; not to be changed."""
    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def other_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of another text encoder, of 16 dimensions."""
    return make_tiny_encoder(tmp_path_factory.mktemp("other"), seed=1, dim=16)


@pytest.fixture(scope="session")
def small_graph() -> KnowledgeGraph:
    """A graph of sixty entities and three relations, is_a among them."""
    return make_small_graph()


@pytest.fixture(scope="session")
def tiny_hit(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path, small_graph: KnowledgeGraph
) -> Path:
    """Folder of a hierarchy encoder: an adapter of the tiny encoder, trained for a few steps."""
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.data.subsumptions import make_task
    from ontodex.trainers.hierarchies.hit import train_hit
    from ontodex.trainers.hierarchies.settings import HiTTraining

    folder = tmp_path_factory.mktemp("hit") / "model"
    task = make_task(small_graph.hierarchy(), "mixed-hop", negatives=5, held_out=0.5)
    settings = HiTTraining(
        tune="adapter", epochs=4, families=4, rank=4, centripetal=3.0, evaluations=1
    )
    encoder = TextEncoder(tiny_encoder, "cpu")
    train_hit(
        task,
        list(small_graph.labels),
        folder,
        encoder=encoder,
        base=str(tiny_encoder),
        settings=settings,
        quiet=True,
    )
    return folder


@pytest.fixture(scope="session")
def tiny_gauss(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path, small_graph: KnowledgeGraph
) -> Path:
    """Folder of an entailment encoder: an adapter of the tiny encoder and two trained heads."""
    import ontodex

    folder = tmp_path_factory.mktemp("gauss") / "model"
    settings = ontodex.GaussCSETraining(
        tune="adapter", epochs=20, batch=32, rank=8, rate=1e-2, head_rate=1e-2, evaluations=2
    )
    ontodex.train_gauss_cse(
        small_graph, folder, encoder=tiny_encoder, training=settings, device="cpu", quiet=True
    )
    return folder


@pytest.fixture(scope="session")
def small_index(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_encoder: Path,
    tiny_hit: Path,
    tiny_gauss: Path,
    small_graph: KnowledgeGraph,
) -> Path:
    """Index of the small graph, texts alone, trained for five steps; not to be changed."""
    import ontodex

    path = tmp_path_factory.mktemp("index") / "farm.odx"
    training = ontodex.HyperCLTraining(
        steps=5, queries=32, negatives=8, rank=4, condition=8, width=16
    )
    ontodex.build(
        small_graph,
        path,
        encoders=tiny_encoder,
        hierarchy=tiny_hit,
        entailment=tiny_gauss,
        training=training,
        structure=False,
        device="cpu",
        quiet=True,
    ).close()
    return path


@pytest.fixture(scope="session")
def make_condition_model(tiny_encoder: Path) -> Callable[..., Path]:
    """Write an untrained condition encoder, whose random weights make every condition differ."""

    def make(
        folder: Path,
        architecture: str = "hyper",
        rank: int = 8,
        texts: dict[str, object] | None = None,
    ) -> Path:
        import torch

        from ontodex.encoders.condition import ConditionEncoder
        from ontodex.encoders.condition_network import ConditionNetwork, ConditionNetworkSettings
        from ontodex.encoders.text import TextEncoder

        with torch.random.fork_rng():
            torch.manual_seed(1)
            network = ConditionNetwork(ConditionNetworkSettings(32, architecture, rank, 8))
            for parameter in network.parameters():
                torch.nn.init.normal_(parameter, std=0.5)
        ConditionEncoder(TextEncoder(tiny_encoder, "cpu"), network, texts).save(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def condition_index(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_encoder: Path,
    make_condition_model: Callable[..., Path],
    small_graph: KnowledgeGraph,
) -> Path:
    """Index of the small graph with a condition encoder; only its cache may be changed."""
    from tests.plain import build_plain

    folder = tmp_path_factory.mktemp("conditioned")
    models = [tiny_encoder, make_condition_model(folder / "model")]
    path = folder / "farm.odx"
    build_plain(small_graph, path, models).close()
    return path


@pytest.fixture
def own_index(tmp_path: Path, small_index: Path) -> Path:
    """Copy of the small index, which the test may change."""
    return Path(shutil.copytree(small_index, tmp_path / "farm.odx"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file (folders are made) and return its path."""

    def file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file
