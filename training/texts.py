"""Sentences to speak: templates over word lists, dialogue, lists, numbers, single words, word salad.

Nothing here can say an evaluation sentence: ``Guard`` refuses a text that shares six words in a row
with one, or that is one of the evaluation's one-word lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from hibari.g2p import G2P
from wordfreq import top_n_list

HERE = Path(__file__).parent
_PHRASES: dict[str, list[str]] = json.loads((HERE / "phrases.json").read_text(encoding="utf-8"))
SENTENCES = HERE / "evaluation_sentences.txt"
WORDS = HERE / "evaluation_words.txt"
_SHINGLE = 6
# Frequent words that a studio's demonstration should not say.
_UNWANTED = re.compile(
    r"^(fuck|shit|bitch|cunt|dick|cock|porn|sex|rape|nazi|whore|slut|fag|nigg|kill|murder|suicid|cum|ass$|asses|damn"
    r"|penis|vagina|gay|lesbian|tits|boob|piss|crap|hell$|terror|hitler|isis|slave|drug|cocaine|heroin)"
)
_TAGS = {
    "noun": {"NN"},
    "things": {"NNS"},
    "adjective": {"JJ"},
    "adverb": {"RB"},
    "verb": {"VB"},
    "verbs": {"VBZ"},
    "past": {"VBD"},
    "done": {"VBN"},
    "doing": {"VBG"},
}


def number(value: int) -> str:
    """English words for 0 to 999 999, as the normaliser reads digits."""
    if value < 10:
        return _PHRASES["digits"][value]
    if value < 20:
        return _PHRASES["teens"][value - 10]
    if value < 100:
        tens, ones = divmod(value, 10)
        return _PHRASES["tens"][tens - 2] + (f" {_PHRASES['digits'][ones]}" if ones else "")
    if value < 1000:
        hundreds, rest = divmod(value, 100)
        return f"{_PHRASES['digits'][hundreds]} hundred" + (f" and {number(rest)}" if rest else "")
    thousands, rest = divmod(value, 1000)
    return f"{number(thousands)} thousand" + (f" {number(rest)}" if rest else "")


def plain(text: str) -> list[str]:
    """Lower-case words without punctuation."""
    return re.findall(r"[a-z']+", text.lower().replace("-", " "))


class Guard:
    """Keeps the evaluation's texts out of the data."""

    def __init__(self) -> None:
        sentences = [plain(s) for s in read_lines(SENTENCES)]
        self._alone = {" ".join(plain(w)) for w in read_lines(WORDS)} | {" ".join(s) for s in sentences}
        self._shingles = {shingle for s in sentences for shingle in _shingles(s)}

    def allows(self, text: str) -> bool:
        """Whether the text may be spoken in the training data."""
        words = plain(text)
        return " ".join(words) not in self._alone and not any(s in self._shingles for s in _shingles(words))


def _shingles(words: list[str]) -> Iterable[str]:
    return (" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))


def read_lines(path: Path) -> list[str]:
    """The non-empty lines of a text file."""
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Writer:
    """Draws texts; the same generator gives the same texts."""

    def __init__(self, vocabulary: int = 12_000) -> None:
        tagger = G2P(oov=False)
        words = [w for w in top_n_list("en", vocabulary) if w.isascii() and w.isalpha() and len(w) > 2]
        self._words = [w for w in words if not _UNWANTED.match(w)]
        tags = {w: tagger.tokenize(w)[-1].tag for w in self._words}
        self._lists = {slot: [w for w in self._words if tags[w] in wanted] for slot, wanted in _TAGS.items()}
        self._lists |= {
            "name": _PHRASES["names"],
            "place": _PHRASES["places"],
            "day": _PHRASES["days"],
            "month": _PHRASES["months"],
            "pronoun": _PHRASES["pronouns"],
            "digit": _PHRASES["digits"],
            "ordinal": _PHRASES["ordinals"],
        }
        self._guard = Guard()

    def draw(self, rng: np.random.Generator) -> str:
        """One text of 1 to about 40 words."""
        while True:
            text = self._compose(rng)
            if self._guard.allows(text):
                return text

    def _compose(self, rng: np.random.Generator) -> str:
        kind = rng.random()
        if kind < 0.15:
            return self._single(rng)
        if kind < 0.26:
            return self._salad(rng)
        if kind < 0.31:
            return self._opened(str(rng.choice(_PHRASES["replies"])), rng)
        if kind < 0.75:
            return self._sentence(rng)
        if kind < 0.80:
            return self._pause(rng)
        if kind < 0.85:
            return f'"{self._sentence(rng)}" {rng.choice(["said", "asked", "whispered", "cried"])} {rng.choice(_PHRASES["names"])}.'
        return " ".join(self._sentence(rng) for _ in range(int(rng.integers(2, 4))))

    def _word(self, slot: str, rng: np.random.Generator) -> str:
        if slot == "number":
            return number(int(10 ** rng.uniform(0, 3 if rng.random() < 0.9 else 5.9)))
        words = self._lists[slot]
        # Half of the draws from the frequent words, half from all: rare sounds need rare words.
        top = len(words) if rng.random() < 0.5 else min(len(words), 250)
        return words[int(rng.integers(top))]

    def _fill(self, frame: str, rng: np.random.Generator) -> str:
        text = re.sub(r"{(\w+)}", lambda m: self._word(m[1], rng), frame)
        text = re.sub(r"\ba (?=[aeio])", "an ", text)
        return text[0].upper() + text[1:]

    def _sentence(self, rng: np.random.Generator) -> str:
        kind = rng.random()
        if kind < 0.2:
            text = self._fill(str(rng.choice(_PHRASES["questions"])), rng) + "?"
        elif kind < 0.32:
            text = self._fill(str(rng.choice(_PHRASES["exclamations"])), rng) + "!"
        else:
            text = self._fill(str(rng.choice(_PHRASES["frames"])), rng) + str(
                rng.choice([".", ".", ".", ".", "...", "!", ";", ""])
            )
        return self._opened(text, rng)

    def _opened(self, text: str, rng: np.random.Generator) -> str:
        if rng.random() < 0.12:
            head = text[0] if text.startswith("I ") else text[0].lower()
            return f"{rng.choice(_PHRASES['openers'])} {head}{text[1:]}"
        return text

    def _single(self, rng: np.random.Generator) -> str:
        word = (
            self._words[int(rng.integers(len(self._words)))]
            if rng.random() < 0.8
            else self._word("number", rng)
        )
        text = word.capitalize() if rng.random() < 0.7 else word
        return text + str(rng.choice([".", ".", "!", "?", "", ","]))

    def _salad(self, rng: np.random.Generator) -> str:
        """Unrelated words: the model must read, not guess."""
        count = int(rng.integers(2, 12))
        picked = [self._words[int(i)] for i in rng.integers(len(self._words), size=count)]
        joined = "".join(w + (", " if rng.random() < 0.15 else " ") for w in picked).strip(" ,")
        return joined.capitalize() + str(rng.choice([".", "?", "!", "."]))

    def _pause(self, rng: np.random.Generator) -> str:
        first = self._sentence(rng).rstrip(".!?;")
        second = self._fill(str(rng.choice(_PHRASES["frames"])), rng)
        mark = str(rng.choice(["...", " —", ":", ";", ","]))
        return f"{first}{mark} {second[0].lower()}{second[1:]}."
