"""File names that are safe on every system, readable and unique; templates that make them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

MAX_NAME_CHARACTERS = 100
# Most file systems count bytes (255); a suffix and a number must still fit.
MAX_NAME_BYTES = 200
FIELDS = ("n", "name", "voice", "language", "emotion", "text", "take", "seed", "project")
DEFAULT_TEMPLATE = "{n:03} {name}"

_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')
# Invisible: they reverse the text's direction or make two names look alike.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # scripts such as Persian and Hindi need them
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE)
_FIELD = re.compile(r"\{([^{}]*)\}")
_WIDTH = re.compile(r"([a-z]+)(?::(0?)(\d{1,2}))?")
_NUMBERS = frozenset({"n", "take", "seed"})


def safe_name(text: str, *, fallback: str = "line") -> str:
    """One path component that Windows, macOS and Linux all take; letters of every script are kept.

    Args:
        text: anything, of any length.
        fallback: used where nothing is left.
    """
    plain = unicodedata.normalize("NFC", _FORBIDDEN.sub(" ", text))
    plain = "".join(
        c for c in plain if c in _JOINERS or c.isspace() or unicodedata.category(c) not in _INVISIBLE
    )
    plain = " ".join(plain.split())
    plain = _trimmed(_shortened(plain))
    if _RESERVED.fullmatch(plain):
        plain = f"_{plain}"
    return plain or fallback


def file_name(text: str, taken: set[str], *, suffix: str = "", fallback: str = "line") -> str:
    """A safe name that nothing in ``taken`` has, upper and lower case being the same.

    Args:
        text: a line's name, or what a template gave.
        taken: names in use, as :func:`key` writes them; the new name is added.
        suffix: with its dot, ``.wav``.
        fallback: used where nothing of the text is left.
    """
    stem = safe_name(text, fallback=fallback)

    def numbered(number: int) -> str:
        if number == 1:
            return stem + suffix
        ending = f" ({number})"
        return f"{_trimmed(_shortened(stem, len(ending)))}{ending}{suffix}"

    used, free = 0, 1  # leaps, then halves: a thousand lines may share one name
    while key(numbered(free)) in taken:
        used, free = free, free * 2
    while free - used > 1:
        middle = (used + free) // 2
        used, free = (middle, free) if key(numbered(middle)) in taken else (used, middle)
    taken.add(key(numbered(free)))
    return numbered(free)


def key(name: str) -> str:
    """What two names share where a file system would take one for the other."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


def _shortened(text: str, room: int = 0) -> str:
    """Cut to what fits, at a word's end where one is near, never inside a character."""
    short = text[: MAX_NAME_CHARACTERS - room]
    while len(short.encode("utf-8", "ignore")) > MAX_NAME_BYTES - room:
        short = short[:-1]
    while short != text and short and unicodedata.combining(text[len(short)]):
        short = short[:-1]  # an accent stays with its letter
    if short == text:
        return text
    head, space, _ = short.rpartition(" ")
    return head if space and len(head) > len(short) * 2 // 3 else short


def _trimmed(text: str) -> str:
    """Windows drops dots and spaces at the end; a dot at the beginning hides the file elsewhere."""
    return text.strip(" .\u00a0")


def check_template(template: str) -> None:
    """Refuse a template that cannot be filled in.

    Raises:
        ValueError: says which field is unknown and which there are.
    """
    fill(template, dict.fromkeys(FIELDS, 1))


def fill(template: str, values: Mapping[str, object]) -> str:
    """Put values into a naming template such as ``{n:03} {voice} - {text}``.

    Only the plain fields of :data:`FIELDS` are known, a number also with a width (``{n:03}``), so a
    template can reach nothing else. ``{{`` and ``}}`` stand for braces. The result goes through
    :func:`file_name`.

    Args:
        template: as a person wrote it.
        values: by field; one that is missing or None is left empty.

    Raises:
        ValueError: an unknown field, a width on a text, or a lone brace.
    """
    pieces: list[str] = []
    for piece in re.split(r"(\{\{|\}\}|\{[^{}]*\})", template):
        if piece in {"{{", "}}"}:
            pieces.append(piece[0])
        elif match := _FIELD.fullmatch(piece):
            pieces.append(_value(match[1], values))
        elif "{" in piece or "}" in piece:
            raise ValueError(f"The name template {template!r} has a lone brace; write {{{{ or }}}} for one.")
        else:
            pieces.append(piece)
    return "".join(pieces)


def _value(field: str, values: Mapping[str, object]) -> str:
    match = _WIDTH.fullmatch(field)
    if match is None or match[1] not in FIELDS:
        known = " ".join(f"{{{name}}}" for name in FIELDS)
        raise ValueError(f"The name template has no field {{{field}}}; there are {known} and {{n:03}}.")
    name, zero, width = match.groups()
    if width and name not in _NUMBERS:
        raise ValueError(f"The field {{{field}}} is a text and takes no width; write {{{name}}}.")
    value = values.get(name)
    text = "" if value is None else str(value)
    return text.rjust(int(width), "0" if zero else " ") if width and text else text
