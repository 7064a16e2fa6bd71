"""What the table needs to know once: languages, emotions, limits. Nothing of any project."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ui import listen
from ui.edits import MAX_NOTE_CHARACTERS, NOT_EDITABLE
from ui.limits import Limits
from ui.settings_help import choices, described
from zonos.line import EMOTIONS, MAX_TEXT_CHARACTERS, PRESETS, Line
from zonos.text.languages import LANGUAGES

USUAL = ("en-us", "en-gb", "de", "fr-fr", "es", "es-419", "it", "pt", "pt-br", "ja", "cmn", "ko")


def about(limits: Limits) -> dict[str, Any]:
    """Facts for the page, as JSON values."""
    by_code = {language.code: language.label for language in LANGUAGES}
    codes = [code for code in USUAL if code in by_code]
    codes += sorted(
        (code for code in by_code if code not in codes), key=lambda code: by_code[code].casefold()
    )
    return {
        "languages": [[code, by_code[code]] for code in codes],
        "emotions": list(EMOTIONS),
        "presets": {name: mix.model_dump(exclude_defaults=True) for name, mix in PRESETS.items()},
        "fields": [name for name in Line.model_fields if name not in NOT_EDITABLE],
        "limits": asdict(limits)
        | {"characters": min(limits.characters, MAX_TEXT_CHARACTERS), "note": MAX_NOTE_CHARACTERS},
        "settings": described(),
        "choices": choices(),
        "listens": listen.model_folder() is not None,
    }
