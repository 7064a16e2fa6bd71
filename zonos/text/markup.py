"""The small markup of a line: what a person may write among the words, and what is left out.

| written                                      | becomes                                        |
|----------------------------------------------|------------------------------------------------|
| ``[[həlˈoʊ]]``                               | these phonemes, untouched                      |
| ``[pause 0.5s]`` ``[pause 500ms]`` ``[pause]`` | that much silence (0.5 s where none is given) |
| ``[wait, 5s]`` ``[break 1s]`` ``[silence: 2 s]`` | the same                                     |
| ``<break time="500ms"/>``                    | the same                                       |
| ``[anything else]``, ``{anything}``          | left out, with a warning that names it         |
| a lone ``[``, ``[[``, ``]`` or ``}``             | left out with a warning; the words after it are read aloud |
| ``(laughs)``, ``*sighs*``                    | read aloud as words, with a warning            |
| ``[words](https://…)``, ``**words**``, ``# words`` | Markdown: the words alone                |
| ``<speak>``, ``<|start|>``, ``<#0.5#>`` and other tags | left out, with a warning; the words inside stay |
| ``&amp;`` and other entities                 | the character they stand for                   |
| ``https://example.com/a``, ``me@example.com`` | read aloud: "example dot com slash a", with a warning |
| emoji, ``:-)``, pictures such as ``★``       | left out, with a warning (``©`` ``™`` ``°`` stay) |
| letters in disguise: ``𝓗𝓮𝓵𝓵𝓸``, ``ʜɪ``, ``①``, ``㎏`` | the plain letters and digits          |
| control and direction marks, byte-order mark | left out                                       |

A pause is at most 30 s; a longer one is shortened with a warning.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from zonos.text.locales import address_words

MAX_PAUSE_SECONDS = 30.0
DEFAULT_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Words:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Ipa:
    """Phonemes that pass through untouched."""

    phonemes: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence in seconds."""

    seconds: float


Segment = Words | Ipa | Pause

_IPA = r"\[\[(?P<ipa>[^\[\]]*)\]\]"
_LINK = r"\[(?P<link>[^\[\]\n]{1,200})\]\((?:https?:|mailto:|[/#.])[^()\s]{0,500}\)"
_BRACKET = r"\[(?P<bracket>[^\[\]\n]{0,200})\]|\{(?P<brace>[^{}\n]{0,200})\}"
_CONTROL = r"[|#][^<>\n]{1,100}[|#]"  # what language models and other speech programs put among words
_TAG = rf"<(?P<tag>/?[A-Za-z][^<>]{{0,500}}|!--.{{0,2000}}?--|[!?][A-Za-z][^<>]{{0,500}}|{_CONTROL})>"
_MARK = re.compile(f"{_IPA}|{_LINK}|{_BRACKET}|{_TAG}", re.DOTALL)
_PAUSE = re.compile(
    r"(?:pause|wait|break|silence)(?:[\s,:=]*(?P<number>\d+(?:[.,]\d+)?|[.,]\d+)\s*"
    r"(?P<unit>ms|milliseconds?|msecs?|s|secs?|seconds?)?)?",
    re.IGNORECASE,
)
_BREAK_TAG = re.compile(r"break\b(?:.*?time\s*=\s*[\"']?(?P<time>[\d.]+\s*m?s))?[^>]*", re.IGNORECASE)


def parse(text: str) -> tuple[list[Segment], list[str]]:
    """Split a line into words, phonemes and pauses.

    Returns:
        The segments in order and the warnings for a person.
    """
    segments: list[Segment] = []
    warnings: list[str] = []
    end = 0
    for match in _MARK.finditer(text):
        segments.append(Words(text[end : match.start()]))
        segments.append(_segment(match, warnings))
        end = match.end()
    segments.append(Words(text[end:]))
    return [segment for segment in segments if segment != Words("")], list(dict.fromkeys(warnings))


def _segment(match: re.Match[str], warnings: list[str]) -> Segment:
    if match.group("ipa") is not None:
        return Ipa(" ".join(match.group("ipa").split()))
    if match.group("link") is not None:
        return Words(match.group("link"))
    if match.group("tag") is None:
        return _bracket(match, warnings)
    return _tag(match.group("tag"), warnings)


def _bracket(match: re.Match[str], warnings: list[str]) -> Segment:
    inside = match.group("bracket") if match.group("brace") is None else match.group("brace")
    found = _PAUSE.fullmatch(inside.strip())
    if found:
        return _pause(found.group("number"), found.group("unit"), warnings)
    warnings.append(
        f"{match.group()} is not a mark this studio knows and is left out. "
        "Known: [pause 0.5s] and [[phonemes]]; "
        "use round brackets for words that should be spoken."
    )
    return Words(" ")


def _tag(inside: str, warnings: list[str]) -> Segment:
    found = _BREAK_TAG.fullmatch(inside)
    if found:
        return _time(found.group("time"), warnings)
    warnings.append(f"The tag <{inside[:60]}> is left out; the words around it are spoken.")
    inline = re.match(r"/?(?:b|i|u|em|strong|span|sub|sup|a|font|mark|s)\b", inside, re.IGNORECASE)
    return Words("" if inline else " ")


def _time(time: str | None, warnings: list[str]) -> Segment:
    found = re.fullmatch(r"([\d.]+?)\s*(m?s)", time) if time else None
    return _pause(found.group(1), found.group(2), warnings) if found else Pause(DEFAULT_PAUSE_SECONDS)


def _pause(number: str | None, unit: str | None, warnings: list[str]) -> Pause:
    try:
        seconds = float(number.replace(",", ".")) if number else DEFAULT_PAUSE_SECONDS
    except ValueError:
        warnings.append(f"The pause {number!r} has no length that can be read; half a second is used.")
        return Pause(DEFAULT_PAUSE_SECONDS)
    if unit and unit.lower().startswith("m"):
        seconds /= 1000
    if seconds > MAX_PAUSE_SECONDS:
        warnings.append(
            f"A pause of {seconds:g} s is shortened to {MAX_PAUSE_SECONDS:g} s, the longest there is."
        )
    return Pause(min(seconds, MAX_PAUSE_SECONDS))


# Left out without a word: nobody can see them. ZWJ and ZWNJ stay, Indic and Persian spelling needs them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]"
)
_BLANK = re.compile("[ \t\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]+")
_NEWLINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ADDRESS = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"'“”«»]+"
    r"|(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    r"|(?<![\w@.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|edu|gov|io|ai|de|fr|co\.uk|uk|eu|info|dev|app)(?:/[^\s<>\"']*)?(?![\w])"
)
_SMILEY = re.compile(
    r"(?<!\S)(?:[:;=]['’]?[-^o]?[)(\]\[DPpOo|\\/*}{]|[8xX][-^o][)(DPp]|[)(][-^]?[:;=]|<3|\^[_.-]?\^|[xX]D)+(?=$|[\s.,!?])"
)
_EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\U0001f000-\U0001f2ff\u2600-\u27bf\u2b00-\u2bff\u231a-\u23ff]"
    "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*\u200d?)+|[#*0-9]\ufe0f?\u20e3|[\ufe00-\ufe0f]"
)
_SPOKEN_SYMBOLS = frozenset("°©®™№℃℉℗℠")
# Markdown: marks of emphasis around words, of headings and lists at the start of a line.
_EMPHASIS = re.compile(
    r"(?<![\w*_~`])(\*{1,3}|_{1,3}|~~|`{1,3})(?=[^\s*_~`])([^\n]{1,400}?)(?<=[^\s*_~`])\1(?![\w*_~`])"
)
_LINE_MARK = re.compile(r"(?:^|(?P<unended>\w)?[ \t]*\n)[ \t]{0,3}(?:#{1,6}|[*•>-])[ \t]+(?=\S)")
_FULLWIDTH = {
    code: code - 0xFEE0
    for block in ((0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A))
    for code in range(block[0], block[1] + 1)
}
_SPACED_DASH = re.compile("(?<=\\s)(?:[\u2012\u2013\u2015]|--)(?=\\s)")
# Fancy letters of chats, which eSpeak would spell as "letter one d four d"; circled numbers; units in one sign.
_DISGUISED = re.compile(
    "[\u1d00-\u1d22\u0262\u026a\u0274\u0276\u0280\u028f\u0299\u029c\u029f\ua730\ua731\u2460-\u24ea\u3200-\u33ff\U0001d400-\U0001d7ff]"
)
_SMALL_CAPITAL = "LATIN LETTER SMALL CAPITAL "
_CLOSING_OF = {"[[": "]]", "[": "]", "{": "}"}
_CLOSING = frozenset(_CLOSING_OF.values())
_LONE_BRACKET = re.compile(r"(?:\[\[|\[|\{)(?=\s*\w)|(?<=\w)(?:\]\]|\]|\})")
# Directions to an actor, as scripts in English hold them.
_CUE = re.compile(r"\((?P<cue>[^()\n]{1,40})\)|(?<![\w*])\*(?P<starred>[^*\n]{1,40})\*(?![\w*])")
_ACT = re.compile(
    r"(?:(?:long|short|brief|soft|softly|heavy|nervous)\s+)?"
    r"(?:pauses?|beat|silence|(?:laugh|chuckl|giggl|sigh|gasp|cough|sniff|sob|whisper|shout|scream|groan|yawn|cry)"
    r"(?:s|es|ing|ter)?|clears? throat|cries|inhales?|exhales?)(?:\s+\S+){0,2}",
    re.IGNORECASE,
)


def clean(text: str, language: str) -> tuple[str, list[str]]:
    """Words as they should be read: NFC, visible characters, addresses in words, no smileys.

    Returns:
        The cleaned text and the warnings for a person.
    """
    warnings: list[str] = []
    visible = unicodedata.normalize("NFC", _ENTITY.sub(lambda match: html.unescape(match.group()), text))
    visible = _INVISIBLE.sub("", _NEWLINE.sub("\n", visible)).translate(_FULLWIDTH)
    visible = _DISGUISED.sub(lambda match: _plain_letter(match.group()), visible)
    warnings += _cues(visible)
    visible = _LINE_MARK.sub(_end_item, _EMPHASIS.sub(r"\2", visible))
    spoken = _ADDRESS.sub(lambda match: _address(match.group(), language, warnings), visible)
    plain = _without_smileys(spoken, warnings)
    warnings += _lone_brackets(plain)
    return _BLANK.sub(" ", _SPACED_DASH.sub("—", plain)), warnings


@cache
def _plain_letter(letter: str) -> str:
    name = unicodedata.name(letter, "")
    bare = name.removeprefix(_SMALL_CAPITAL)
    if bare != name and len(bare) == 1:
        return bare.lower()
    return unicodedata.normalize("NFKC", letter).replace("m2", "m²").replace("m3", "m³")


def _cues(text: str) -> list[str]:
    return [
        f"{match.group()} is read aloud, as words are. Leave it out, or write [pause 0.5s] for a silence."
        for match in _CUE.finditer(text)
        if _ACT.fullmatch((match.group("cue") or match.group("starred")).strip())
    ]


def _lone_brackets(text: str) -> list[str]:
    """Marks that were meant and are none: every whole one has been taken out by now."""
    found = []
    for match in _LONE_BRACKET.finditer(text):
        if match.group() in _CLOSING:
            found.append(f"{match.group()} closes no mark that was opened before it; it is left out.")
            continue
        shown = " ".join(text[match.start() : match.start() + 30].split())
        closing = _CLOSING_OF[match.group()]
        found.append(
            f"{shown!r} opens a mark that nothing closes: {closing} is missing. Its words are read aloud."
        )
    return found


def _end_item(match: re.Match[str]) -> str:
    """A heading or an item of a list is a sentence."""
    ended = f"{match.group('unended')}." if match.group("unended") else ""
    return f"{ended}\n" if "\n" in match.group() else ""


def _without_smileys(text: str, warnings: list[str]) -> str:
    found = [match.group() for pattern in (_EMOJI, _SMILEY) for match in pattern.finditer(text)]
    rest = _SMILEY.sub(" ", _EMOJI.sub(" ", text))
    found += [letter for letter in rest if _is_picture(letter)]
    if found:
        names = " ".join(dict.fromkeys(found))
        warnings.append(f"Smileys and pictures are not read aloud: {names[:40]}")
    return "".join(" " if _is_picture(letter) else letter for letter in rest)


def _is_picture(letter: str) -> bool:
    """Symbols that are no sign of speech, and characters that nobody has defined."""
    return unicodedata.category(letter) in {"So", "Co", "Cn", "Cs"} and letter not in _SPOKEN_SYMBOLS


def _address(address: str, language: str, warnings: list[str]) -> str:
    """Scheme, ``www`` and what follows ``?`` or ``#`` are dropped; marks become words."""
    core = address.rstrip(".,;:!?)]}")
    tail = address[len(core) :]
    bare = re.sub(r"^(?:https?://|ftp://)?(?:www\.)?", "", core)
    bare = re.split(r"[?#]", bare, maxsplit=1)[0].rstrip("/")
    spoken = bare
    for mark, word in address_words(language).items():
        spoken = spoken.replace(mark, f" {word} ")
    spoken = " ".join(spoken.split())
    warnings.append(f"The address {core[:60]} is read as {spoken[:80]!r}.")
    return spoken + tail
