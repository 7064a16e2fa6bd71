"""What the teacher is told to say: the model's own phonemes in the teacher's alphabet.

The synthesiser that makes the data (hibari) reads Kokoro's alphabet. Handing it a transcription of
the very phonemes that the model will see, instead of the text, makes every recording say what its
phonemes say, and gives each phoneme its exact place in time.
"""

from __future__ import annotations

# eSpeak's American English -> Kokoro's alphabet; the longest key wins. The length mark vanishes,
# r-coloured vowels become vowel + ɹ, diphthongs and affricates are one letter there.
_LETTERS = {
    "eɪ": "A",
    "aɪ": "I",
    "oʊ": "O",
    "aʊ": "W",
    "ɔɪ": "Y",
    "tʃ": "ʧ",
    "dʒ": "ʤ",
    "ɚ": "əɹ",
    "ɜː": "ɜɹ",
    "ɜ": "ɜɹ",
    "ɚɹ": "əɹ",
    "ɾ": "T",
    "ʔn̩": "tᵊn",
    "n̩": "ᵊn",
    "ʔ": "t",
    "ɐ": "ə",
    "x": "k",
    "oː": "O",
    "ː": "",
    "r": "ɹ",
    "g": "ɡ",
    "«": "“",
    "»": "”",
    "-": " ",
}
_WIDEST = max(map(len, _LETTERS))

# Function words that eSpeak stresses when it reads them alone; spoken weakly inside a sentence.
_WEAK = {
    "ˈeɪ": "ɐ",
    "ˈɔn": "ˌɔn",
    "ˈæn": "ən",
    "ˈɪt": "ɪt",
    "ˌaʊɚ": "Wəɹ",
    "mˌaɪ": "mI",
    "juː": "ju",
    "ˈaɪ": "ˌI",
}
_STOPS = ' ;:,.!?¡¿—…"“”«»()'


def to_teacher(phonemes: str) -> tuple[str, list[int]]:
    """Rewrite eSpeak's phonemes in the teacher's alphabet.

    Returns:
        The teacher's string, and for each of its characters the index into ``phonemes`` it came from.
    """
    letters: list[str] = []
    origin: list[int] = []
    alone = len(phonemes.split()) == 1
    for start, word in _words(phonemes):
        weak = None if alone else _WEAK.get(word)
        pairs = [(c, start) for c in weak] if weak else _spell(word, start)
        for letter, index in pairs:
            letters.append(letter)
            origin.append(index)
    return "".join(letters), origin


def _words(phonemes: str) -> list[tuple[int, str]]:
    """Maximal runs of letters, and each stop on its own, with where they start."""
    found: list[tuple[int, str]] = []
    start = 0
    for index, char in enumerate(phonemes):
        if char in _STOPS:
            if start < index:
                found.append((start, phonemes[start:index]))
            found.append((index, char))
            start = index + 1
    if start < len(phonemes):
        found.append((start, phonemes[start:]))
    return found


def _spell(word: str, start: int) -> list[tuple[str, int]]:
    spelled: list[tuple[str, int]] = []
    place = 0
    while place < len(word):
        width = next((w for w in range(_WIDEST, 0, -1) if word[place : place + w] in _LETTERS), 0)
        replacement = _LETTERS[word[place : place + width]] if width else word[place]
        spelled += [(letter, start + place) for letter in replacement]
        place += max(width, 1)
    return spelled
