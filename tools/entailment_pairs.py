"""Labelled pairs of sentences that are made from WordNet, templates, captions and hierarchies.

They teach, and measure, what collections of natural language inference show rarely: words that
are replaced by wider and narrower ones, quantifiers, negation, numbers, and modifiers. Nouns and
templates are split: those of the test pairs do not occur in the training pairs.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Nouns", "captions", "definitions", "hierarchy_pairs", "templates"]

Pair = tuple[str, str, bool]
"""A premise, a hypothesis, and whether the premise entails the hypothesis."""

ANIMATE = ("noun.animal", "noun.person")
FILES = {
    **dict.fromkeys(("05",), "noun.animal"),
    **dict.fromkeys(("06",), "noun.artifact"),
    **dict.fromkeys(("13",), "noun.food"),
    **dict.fromkeys(("18",), "noun.person"),
    **dict.fromkeys(("20",), "noun.plant"),
}
"""Numbers of the lexicographer's files whose nouns are used; all of them are of countable things,
but for food, which is used in captions alone."""

TOO_WIDE = frozenset(
    re.split(
        r",\s+",
        """entity, object, whole, artifact, thing, organism, being, instrumentality,
    instrumentation,
    matter, unit, living thing, physical entity, causal agent, cause, substance, part, piece,
    article, structure, device, implement, covering, commodity, consumer goods, conveyance,
    equipment, material, product, creation, item, way, opening, area, surface, container, adult,
    grownup, individual, mortal, soul, someone, somebody, chordate, vertebrate, craniate,
    placental, placental mammal, eutherian, eutherian mammal, animate being, beast, brute,
    creature, fauna, carnivore, ungulate, hoofed mammal, good, unfortunate, unfortunate person,
    peer, equal, match, compeer, relative, relation, worker, organization""",
    )
)
"""Nouns that hardly anybody uses for the things below them, or that mean something else as well."""

NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


@dataclass
class _Synset:
    lemmas: list[str]
    above: list[int]
    file: str
    definition: str


class Nouns:
    """The common nouns of WordNet, by their first sense.

    Args:
        folder: The folder with WordNet's files ``data.noun`` and ``index.sense``.
        test: Whether to keep the nouns of the test pairs, or those of the training pairs. Nouns
            are split by subtrees: a noun belongs to the test pairs if a word three levels below
            the top of its file (such as all birds, or all vehicles) was drawn for them.
        least: Smallest number of occurrences of a sense in WordNet's own texts, or 0.
    """

    SHARE = 0.25
    """Share of the subtrees that are kept for the test pairs."""

    def __init__(self, folder: Path, *, test: bool, least: int = 0) -> None:
        self._synsets = dict(_synsets(folder / "data.noun"))
        self.first = _first_senses(folder / "index.sense", least)
        self._below: dict[int, list[int]] = defaultdict(list)
        for offset, synset in self._synsets.items():
            for above in synset.above:
                self._below[above].append(offset)
        self.usable = {
            word: offset
            for word, offset in self.first.items()
            if (synset := self._synsets.get(offset)) is not None
            and synset.file
            and word in synset.lemmas
            and word not in TOO_WIDE
            and re.fullmatch(r"[a-z]+( [a-z]+)?", word)
            and self._is_test(offset) == test
        }

    def file(self, word: str) -> str:
        """Return the name of the lexicographer's file of a noun."""
        return self._synsets[self.usable[word]].file

    def definition(self, word: str) -> str:
        """Return the definition of a noun; empty if it names the noun itself."""
        text = self._synsets[self.usable[word]].definition
        return "" if re.search(rf"\b{word}s?\b", text, re.IGNORECASE) else text

    def wider(self, word: str) -> list[str]:
        """Return nouns that mean something wider, one to three levels above."""
        found: list[str] = []
        level = [self.usable[word]]
        for _ in range(3):
            level = [above for offset in level for above in self._synsets[offset].above]
            found += [name for offset in level if (name := self._name(offset))]
        return found

    def narrower(self, word: str) -> list[str]:
        """Return nouns that mean something narrower, one level below."""
        return self._names(self._below[self.usable[word]])

    def beside(self, word: str) -> list[str]:
        """Return nouns below the same noun that mean another thing."""
        offset = self.usable[word]
        beside = [one for above in self._synsets[offset].above for one in self._below[above]]
        below = self._under(offset)
        return self._names(
            [one for one in beside if one != offset and not below & self._under(one)]
        )

    def all_above(self, word: str) -> set[int]:
        """Return the numbers of all synsets above a noun, its own among them."""
        found: set[int] = set()
        level = {self.usable[word]}
        while level:
            found |= level
            level = {
                above
                for offset in level
                if offset in self._synsets
                for above in self._synsets[offset].above
            } - found
        return found

    def unrelated(self, one: str, other: str) -> bool:
        """Return whether neither of two nouns is above the other."""
        return self.usable[one] not in self.all_above(other) and self.usable[
            other
        ] not in self.all_above(one)

    def _under(self, offset: int) -> set[int]:
        found: set[int] = set()
        level = {offset}
        while level:
            found |= level
            level = {below for one in level for below in self._below[one]} - found
        return found

    def _names(self, offsets: Sequence[int]) -> list[str]:
        return [name for offset in offsets if (name := self._name(offset))]

    def _name(self, offset: int) -> str:
        """Return the first lemma of a synset whose first sense it is; empty without one."""
        synset = self._synsets.get(offset)
        for lemma in synset.lemmas if synset else ():
            if self.usable.get(lemma) == offset:
                return lemma
        return ""

    def _is_test(self, offset: int) -> bool:
        """Return whether the subtree of a synset is for the test pairs."""
        file, chain = self._synsets[offset].file, [offset]
        while True:
            above = [
                one
                for one in self._synsets[chain[-1]].above
                if one in self._synsets and self._synsets[one].file == file
            ]
            if not above or above[0] in chain:
                break
            chain.append(above[0])
        root = chain[max(0, len(chain) - 4)]
        return random.Random(root).random() < self.SHARE


def _synsets(path: Path) -> Iterator[tuple[int, _Synset]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.startswith("  "):  # the licence
                continue
            data, _, gloss = line.partition("|")
            fields = data.split()
            count = int(fields[3], 16)
            lemmas = [lemma.replace("_", " ") for lemma in fields[4 : 4 + 2 * count : 2]]
            pointers = fields[5 + 2 * count :]
            above = [
                int(pointers[at + 1])
                for at in range(0, 4 * int(fields[4 + 2 * count]), 4)
                if pointers[at] == "@"
            ]
            definition = re.sub(r"\(.*?\)", "", re.split(r';|: *"|"', gloss)[0])
            definition = " ".join(definition.split())
            yield int(fields[0]), _Synset(lemmas, above, FILES.get(fields[1], ""), definition)


def _first_senses(path: Path, least: int) -> dict[str, int]:
    """Return the number of the first sense of nouns that are no more frequent verb or adjective."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    first: dict[str, int] = {}
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            key, offset, sense, count = line.split()
            lemma, _, rest = key.partition("%")
            word = lemma.replace("_", " ")
            kind = rest[0]
            counts[word][kind] += int(count)
            if kind == "1" and sense == "1" and int(count) >= least:
                first[word] = int(offset)
    return {
        word: offset
        for word, offset in first.items()
        if counts[word]["1"]
        >= max((n for kind, n in counts[word].items() if kind != "1"), default=0)
    }


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> [plural(noun) for noun in ("cat", "fox", "city", "fireman", "pay phone")]
    ['cats', 'foxes', 'cities', 'firemen', 'pay phones']
    """
    odd = {
        "child": "children",
        "foot": "feet",
        "tooth": "teeth",
        "goose": "geese",
        "mouse": "mice",
        "person": "people",
        "sheep": "sheep",
        "fish": "fish",
        "deer": "deer",
        "aircraft": "aircraft",
        "knife": "knives",
        "wife": "wives",
        "wolf": "wolves",
        "calf": "calves",
        "leaf": "leaves",
        "loaf": "loaves",
        "shelf": "shelves",
    }
    head, _, last = noun.rpartition(" ")
    if last in odd:
        last = odd[last]
    elif last.endswith("man") and last not in ("human", "german", "shaman", "talisman"):
        last = last[:-3] + "men"
    elif re.search(r"[^aeiou]y$", last):
        last = last[:-1] + "ies"
    elif re.search(r"(s|x|z|ch|sh)$", last):
        last += "es"
    else:
        last += "s"
    return f"{head} {last}".strip()


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an".

    >>> with_article("owl"), with_article("unicycle")
    ('an owl', 'a unicycle')
    """
    vowel = re.match(r"[aeio]|u(?!ni|se|ti)|hour|honest", noun.lower())
    return f"{'an' if vowel else 'a'} {noun}"


# ---------------------------------------------------------------------------------------------
# Captions with a replaced word

NOUN_PLACE = re.compile(
    r"\b(?P<before>an?|the|his|her|their|two|three|four|several|some|many) (?P<noun>[a-z]+)"
    r"(?= (?:in|on|at|with|is|are|near|while|wearing|standing|sitting|for|from|by|who|that|and|"
    r"along|over|down|up|through|behind|under)\b|[.,])"
)


def captions(sentences: Sequence[str], nouns: Nouns, seed: int) -> Iterator[Pair]:
    """Yield pairs of captions in which a noun was replaced.

    A caption entails the caption with a wider noun. It does not entail the caption with a narrower
    noun, or with another noun below the same noun; nor does the caption with a wider noun entail
    it.
    """
    draw = random.Random(seed)
    for sentence in sentences:
        places = []
        for match in NOUN_PLACE.finditer(sentence):
            many = match["before"] in ("two", "three", "four", "several", "some", "many")
            noun = _singular(match["noun"], nouns) if many else match["noun"]
            if noun in nouns.usable:
                places.append((match, noun, many))
        if not places:
            continue
        match, noun, many = draw.choice(places)

        def replaced(
            other: str, match: re.Match[str] = match, many: bool = many, sentence: str = sentence
        ) -> str:
            before = match["before"]
            if before in ("a", "an"):
                before = with_article(other).split()[0]
            text = f"{before} {plural(other) if many else other}"
            found = sentence[: match.start()] + text + sentence[match.end() :]
            return found[0].upper() + found[1:]

        own = sentence[0].upper() + sentence[1:]
        if wider := nouns.wider(noun):
            other = draw.choice(wider)
            yield own, replaced(other), True
            if draw.random() < 0.7:
                yield replaced(other), own, False
        if beside := nouns.beside(noun):
            yield own, replaced(draw.choice(beside)), False
        if narrower := nouns.narrower(noun):
            other = draw.choice(narrower)
            yield own, replaced(other), False
            yield replaced(other), own, True


def definitions(nouns: Nouns, count: int, seed: int) -> Iterator[Pair]:
    """Yield pairs of a definition and a noun.

    The definition of a noun entails the noun and the nouns above it, not those beside or below it.
    The noun entails its definition; nouns above and beside it do not.

    Args:
        nouns: The nouns.
        count: Largest number of nouns whose definitions are used.
        seed: Seed of all draws.
    """
    draw = random.Random(seed)
    words = sorted(word for word in nouns.usable if len(nouns.definition(word).split()) > 3)
    for word in draw.sample(words, min(count, len(words))):
        text, noun = nouns.definition(word), with_article(word)
        wider, beside, narrower = nouns.wider(word), nouns.beside(word), nouns.narrower(word)
        yield text, noun if draw.random() < 0.5 else word, True
        if wider:
            yield text, draw.choice(wider), True
        for others in (beside, narrower):
            if others:
                yield text, draw.choice(others), False
        if draw.random() < 0.5:
            yield word, text, True
            if wider or beside:
                yield draw.choice(wider + beside), text, False


def _singular(word: str, nouns: Nouns) -> str:
    for ending, other in (("ies", "y"), ("men", "man"), ("es", ""), ("s", "")):
        if word.endswith(ending) and (noun := word[: -len(ending)] + other) in nouns.usable:
            return noun
    return ""


# ---------------------------------------------------------------------------------------------
# Templates. {x} is a noun, {X} its plural, {a} the noun with its article; {v} is what it does,
# {V} the same in the plural, {b} what it does as an infinitive.

ACTIONS = {
    True: {
        False: [
            ("is sleeping", "are sleeping", "sleep"),
            ("arrived late", "arrived late", "arrive late"),
            ("crossed the road", "crossed the road", "cross the road"),
            ("looks tired", "look tired", "look tired"),
            ("was hurt in the storm", "were hurt in the storm", "get hurt in the storm"),
            ("is waiting outside", "are waiting outside", "wait outside"),
            ("made a lot of noise", "made a lot of noise", "make noise"),
            ("is in the garden", "are in the garden", "stay in the garden"),
            ("was seen near the river", "were seen near the river", "come near the river"),
            ("likes warm weather", "like warm weather", "like warm weather"),
        ],
        True: [
            ("ran away yesterday", "ran away yesterday", "run away"),
            ("needs water", "need water", "need water"),
            ("is hiding in the barn", "are hiding in the barn", "hide in the barn"),
            ("got wet", "got wet", "get wet"),
        ],
    },
    False: {
        False: [
            ("is broken", "are broken", "break"),
            ("was stolen last night", "were stolen last night", "disappear"),
            ("is on the table", "are on the table", "lie on the table"),
            ("costs too much", "cost too much", "cost much"),
            ("was sold at the market", "were sold at the market", "sell"),
            ("looks new", "look new", "look new"),
            ("needs to be cleaned", "need to be cleaned", "need cleaning"),
            ("is for sale", "are for sale", "come cheap"),
        ],
        True: [
            ("fell to the floor", "fell to the floor", "fall down"),
            ("was painted green", "were painted green", "get dirty"),
            ("belongs to the museum", "belong to the museum", "belong to the museum"),
            ("is stored in the cellar", "are stored in the cellar", "stay in the cellar"),
        ],
    },
}
"""What nouns do, by whether they are alive and whether it is for the test pairs."""

UPWARD = {
    False: [
        "{A} {v}.",
        "Some {X} {V}.",
        "Several {X} {V}.",
        "At least three {X} {V}.",
        "There is {a} here.",
        "She saw {a} yesterday.",
        "More than two {X} {V}.",
        "The man next door owns {a}.",
        "There were {X} everywhere.",
        "One of the {X} {v}.",
        "We talked about {a}.",
        "Not every guest noticed that {a} {v}, but some did.",
        "He said hello to me and then looked at {a}.",
        "A few {X} {V}.",
    ],
    True: [
        "I know that {a} {v}.",
        "Exactly here stood {a} last year.",
        "My neighbour bought {a}.",
        "Two {X} {V}.",
        "In the film, {a} {v}.",
    ],
}
"""Sentences that entail the same sentence with a wider noun."""

DOWNWARD = {
    False: [
        "No {X} {V}.",
        "No {x} {v}.",
        "Every {x} {v}.",
        "All {X} {V}.",
        "All the {X} {V}.",
        "Few {X} {V}.",
        "At most three {X} {V}.",
        "Fewer than five {X} {V}.",
        "There is no {x} here.",
        "She did not see any {x}.",
        "Nobody owns {a}.",
        "He came without {a}.",
        "None of the {X} {V}.",
        "They never had {a}.",
        "There are no {X} in this house.",
        "I doubt that any {x} {v}.",
        "Anyone who has {a} may come in.",
        "If {a} {v}, we will call you.",
        "Each {x} {v}.",
        "It is not true that {a} {v}.",
        "The room does not contain {a}.",
        "{AnyA} can {b}.",
    ],
    True: [
        "Not a single {x} {v}.",
        "Hardly any {X} {V}.",
        "The children have never seen {a}.",
        "Whoever finds {a} gets a reward.",
        "There has never been {a} in our street.",
        "Neither of us has {a}.",
        "All of the {X} in town {V}.",
        "No more than two {X} {V}.",
    ],
}
"""Sentences that are entailed by the same sentence with a wider noun."""

ADJECTIVES = {
    False: [
        "small",
        "old",
        "red",
        "beautiful",
        "heavy",
        "young",
        "white",
        "cheap",
        "French",
        "wet",
    ],
    True: ["large", "blue", "strange", "Italian", "ugly"],
}
PHRASES = {
    False: [
        "in the park",
        "with a broken leg",
        "from the village",
        "near the station",
        "on the roof",
        "that Mary likes",
        "which was left behind",
    ],
    True: ["in the kitchen", "of my uncle", "that came from abroad", "under the tree"],
}
ADVERBS = {
    False: ["yesterday", "slowly", "in the morning", "again", "with great care", "because of rain"],
    True: ["last week", "quickly", "at night", "without help"],
}
EVENTS = {
    False: [
        ("{A} left", "{X} left", "{a} leave"),
        ("{A} was moved", "{X} were moved", "{a} be moved"),
        ("{A} was washed", "{X} were washed", "{a} be washed"),
        ("{A} was brought home", "{X} were brought home", "{a} be brought home"),
    ],
    True: [
        ("{A} was carried away", "{X} were carried away", "{a} be carried away"),
        ("{A} was found", "{X} were found", "{a} be found"),
    ],
}


def templates(nouns: Nouns, count: int, *, test: bool, seed: int) -> Iterator[tuple[str, Pair]]:
    """Yield the kind of each pair, and the pair.

    Args:
        nouns: The nouns.
        count: Number of pairs.
        test: Whether to use the templates of the test pairs, or those of the training pairs.
        seed: Seed of all draws.
    """
    draw = random.Random(seed)
    words = sorted(
        word for word in nouns.usable if nouns.file(word) not in ("noun.food", "noun.plant")
    )
    kinds = [
        (_monotone, 6),
        (_modifiers, 3),
        (_adverbs, 2),
        (_numbers, 3),
        (_negations, 2),
        (_connected, 2),
        (_quantifiers, 2),
    ]
    made = 0
    while made < count:
        (kind,) = draw.choices([one for one, _ in kinds], [weight for _, weight in kinds])
        for found in kind(nouns, words, draw, test):
            made += 1
            yield found


def _fill(
    template: str, noun: str, action: tuple[str, str, str] = ("", "", ""), whole: str = ""
) -> str:
    """Fill in a noun; ``whole`` is the noun with its modifiers, if it has any."""
    one, many = whole or noun, (whole or noun).replace(noun, plural(noun), 1)
    text = template.format(
        x=one,
        X=many,
        a=with_article(one),
        A=with_article(one),
        AnyA=f"Any {one}",
        v=action[0],
        V=action[1],
        b=action[2],
    )
    return text[0].upper() + text[1:]


def _monotone(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    wider = [one for one in nouns.wider(noun) if one != noun]
    if not wider:
        return
    above = draw.choice(wider)
    action = draw.choice(ACTIONS[nouns.file(noun) in ANIMATE][test])
    if draw.random() < 0.5:
        template = draw.choice(UPWARD[test])
        one, two = _fill(template, noun, action), _fill(template, above, action)
        yield "upward", (one, two, True)
        yield "upward", (two, one, False)
    else:
        template = draw.choice(DOWNWARD[test])
        one, two = _fill(template, noun, action), _fill(template, above, action)
        yield "downward", (two, one, True)
        yield "downward", (one, two, False)
    if beside := [one for one in nouns.beside(noun) if nouns.unrelated(one, noun)]:
        other = _fill(template, draw.choice(beside), action)
        yield ("upward" if template in UPWARD[test] else "downward"), (one, other, False)


def _modifiers(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    action = draw.choice(ACTIONS[nouns.file(noun) in ANIMATE][test])
    if draw.random() < 0.6:
        first, second = draw.sample(ADJECTIVES[test], 2)
        narrow, other = f"{first} {noun}", f"{second} {noun}"
    else:
        first, second = draw.sample(PHRASES[test], 2)
        narrow, other = f"{noun} {first}", f"{noun} {second}"
    up = draw.random() < 0.5
    template = draw.choice((UPWARD if up else DOWNWARD)[test])
    if "{x} here" in template or "{a} here" in template:
        template = draw.choice(["{A} {v}.", "Some {X} {V}."] if up else ["No {x} {v}."])
    plain, modified, different = (
        _fill(template, noun, action, whole) for whole in (noun, narrow, other)
    )
    kind = "modifier, upward" if up else "modifier, downward"
    yield kind, (modified, plain, up)
    yield kind, (plain, modified, not up)
    if draw.random() < 0.5:
        yield kind, (modified, different, False)


def _adverbs(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    one, many, infinitive = draw.choice(EVENTS[test])
    adverb = draw.choice(ADVERBS[test])
    forms = [
        (one, True),
        (f"Some {many}", True),
        (f"Every {one[4:]}", True) if one.startswith("{A} ") else (one, True),
        (f"No {many}", False),
        (f"Nobody saw {infinitive}", False),
        (f"Few {many}", False),
    ]
    form, up = draw.choice(forms)
    if form.startswith("Every "):
        form = f"Every {{x}} {one[4:]}"
    short, long = _fill(f"{form}.", noun), _fill(f"{form} {adverb}.", noun)
    kind = "modifier, upward" if up else "modifier, downward"
    yield kind, (long, short, up)
    yield kind, (short, long, not up)


def _numbers(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    _, action, _ = draw.choice(ACTIONS[nouns.file(noun) in ANIMATE][test])
    low, high = sorted(draw.sample(range(len(NUMBERS)), 2))
    few, more = NUMBERS[low], NUMBERS[high]
    if draw.random() < 0.3:
        few, more = str(low + 2), str(high + 2)
    many = plural(noun)
    upward = draw.choice(["At least {n}", "More than {n}", "No fewer than {n}", "Over {n}"])
    downward = draw.choice(["At most {n}", "Fewer than {n}", "No more than {n}", "Less than {n}"])
    rest = f" {many} {action}."
    kind = "number"
    case = draw.randrange(6)
    if case == 0:
        yield kind, (upward.format(n=more) + rest, upward.format(n=few) + rest, True)
        yield kind, (upward.format(n=few) + rest, upward.format(n=more) + rest, False)
    elif case == 1:
        yield kind, (downward.format(n=few) + rest, downward.format(n=more) + rest, True)
        yield kind, (downward.format(n=more) + rest, downward.format(n=few) + rest, False)
    elif case == 2:
        exactly = f"{draw.choice(['Exactly ', ''])}{more}"
        exactly = exactly[0].upper() + exactly[1:]
        yield kind, (f"{exactly}{rest}", f"At least {few}{rest}", True)
        yield kind, (f"At least {few}{rest}", f"{exactly}{rest}", False)
    elif case == 3:
        exactly = f"Exactly {few}"
        yield kind, (f"{exactly}{rest}", f"At most {more}{rest}", True)
        yield kind, (f"{exactly}{rest}", f"At least {more}{rest}", False)
        yield kind, (f"{exactly}{rest}", f"Exactly {more}{rest}", False)
    elif case == 4:
        yield kind, (f"{more.capitalize()}{rest}", f"Some{rest}", True)
        yield kind, (f"Some{rest}", f"{more.capitalize()}{rest}", False)
    else:
        yield kind, (f"{few.capitalize()}{rest}", f"{more.capitalize()}{rest}", False)
        yield kind, (f"At least {more}{rest}", f"No{rest}", False)
        yield kind, (f"More than {more}{rest}", f"There are {many}.", True)


def _negations(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    action = draw.choice(ACTIONS[nouns.file(noun) in ANIMATE][test])
    one = _fill("{A} {v}.", noun, action)
    some, none = _fill("Some {X} {V}.", noun, action), _fill("No {X} {V}.", noun, action)
    false = _fill("It is not true that {a} {v}.", noun, action)
    there = _fill(draw.choice(["There is {a}.", "There is {a} that {v}."]), noun, action)
    absent = _fill(draw.choice(["There is no {x}.", "{X} are absent.", "There are no {X}."]), noun)
    kind = "negation"
    pairs = [
        (one, none, False),
        (none, some, False),
        (some, none, False),
        (one, false, False),
        (false, one, False),
        (none, false, True),
        (false, none, True),
        (one, some, True),
        (one, there, True),
        (there, absent, False),
        (absent, there, False),
        (one, absent, False),
        (absent, none, True),
        (none, absent, False),
    ]
    for pair in draw.sample(pairs, 3):
        yield kind, pair


def _connected(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    first, second = draw.sample(words, 2)
    if not nouns.unrelated(first, second):
        return
    alive = all(nouns.file(word) in ANIMATE for word in (first, second))
    _, action, _ = draw.choice(ACTIONS[alive][test])
    one, two = with_article(first), with_article(second)
    frame = draw.choice(
        ["They brought {}.", "The film shows {}.", "On the picture one sees {}."]
        if test
        else ["She has {}.", "There is {} here.", "We saw {}.", "He drew {} on the wall."]
    )
    both, either, neither = (
        frame.format(f"{one} and {two}"),
        frame.format(f"{one} or {two}"),
        f"Neither {one} nor {two} is there.",
    )
    kind = "and, or"
    pairs = [
        (both, frame.format(one), True),
        (both, frame.format(two), True),
        (frame.format(one), both, False),
        (frame.format(two), either, True),
        (either, frame.format(one), False),
        (either, both, False),
        (both, either, True),
        (neither, f"There is no {first}.", True),
        (f"There is no {second}.", neither, False),
        (neither, f"There is {one}.", False),
        (
            f"{plural(first).capitalize()} and {plural(second)} {action}.",
            f"{plural(first).capitalize()} {action}.",
            True,
        ),
    ]
    for pair in draw.sample(pairs, 3):
        yield kind, pair


def _quantifiers(
    nouns: Nouns, words: list[str], draw: random.Random, test: bool
) -> Iterator[tuple[str, Pair]]:
    noun = draw.choice(words)
    action = draw.choice(ACTIONS[nouns.file(noun) in ANIMATE][test])
    every, some, none, most, not_all, few = (
        _fill(template, noun, action)
        for template in (
            draw.choice(["Every {x} {v}.", "All the {X} {V}.", "Each of the {X} {v}."]),
            draw.choice(["Some {X} {V}.", "There are {X} that {V}."]),
            draw.choice(["No {x} {v}.", "None of the {X} {V}."]),
            "Most of the {X} {V}.",
            draw.choice(["Not all the {X} {V}.", "Not every {x} {v}."]),
            "Only a few of the {X} {V}.",
        )
    )
    kind = "quantifier"
    pairs = [
        (every, most, True),
        (most, every, False),
        (most, some, True),
        (some, most, False),
        (some, every, False),
        (every, not_all, False),
        (none, not_all, True),
        (not_all, none, False),
        (few, not_all, True),
        (few, some, True),
        (few, most, False),
        (none, few, False),
        (every, none, False),
        (not_all, every, False),
    ]
    for pair in draw.sample(pairs, 3):
        yield kind, pair


# ---------------------------------------------------------------------------------------------


def hierarchy_pairs(
    labels: Sequence[str],
    links: Sequence[tuple[int, int]],
    count: int,
    seed: int,
) -> Iterator[Pair]:
    """Yield pairs of labels of a hierarchy.

    A child's label entails its parent's label, and that of the parent's parent. It does not entail
    a sibling's, nor does the parent's label entail the child's.

    Args:
        labels: Label of each entity.
        links: Rows of children and parents.
        count: Number of links that pairs are made of, at most.
        seed: Seed of all draws.
    """
    draw = random.Random(seed)
    parents: dict[int, list[int]] = defaultdict(list)
    children: dict[int, list[int]] = defaultdict(list)
    for child, parent in links:
        parents[child].append(parent)
        children[parent].append(child)

    def above(row: int) -> set[int]:
        found: set[int] = set()
        level = {row}
        while level:
            found |= level
            level = {one for low in level for one in parents[low]} - found
        return found

    for child, parent in draw.sample(list(links), min(count, len(links))):
        mine = above(child)
        yield labels[child], labels[parent], True
        yield labels[parent], labels[child], False
        if parents[parent] and draw.random() < 0.5:
            yield labels[child], labels[draw.choice(parents[parent])], True
        beside = [row for row in children[parent] if row not in mine and child not in above(row)]
        if beside:
            yield labels[child], labels[draw.choice(beside)], False
