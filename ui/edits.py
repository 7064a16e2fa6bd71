"""The browser's edits: small, numbered by nothing but their order, each checked before it is written.

A refused edit costs no other edit anything: the answer names it, its row and the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ui import lines, takes
from ui.checks import voicing
from ui.limits import Limits
from ui.projects import Project, bump
from ui.recipes import Recipes
from zonos.errors import LineError
from zonos.line import MAX_TEXT_CHARACTERS, Line, explain
from zonos.text.languages import resolve_language
from zonos.words import count

LineId = Annotated[str, Field(pattern=r"^[a-z0-9]{6,24}$")]
TakeId = Annotated[str, Field(pattern=r"^[a-f0-9]{16,40}$")]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
LineIds = Annotated[list[LineId], Field(min_length=1, max_length=5000)]

MAX_NOTE_CHARACTERS = 2000
NoteWords = Annotated[str, Field(max_length=MAX_NOTE_CHARACTERS)]

# ``prefix_audio`` names a voice of the shelf here: the page's voices are never looked up as paths.
NOT_EDITABLE = frozenset({"id"})


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SetFields(_Edit):
    """Change fields of a row; null takes a field back to the default.

    ``base`` is what the page showed in those fields before. Where the row holds something else by now,
    another tab was quicker, and that field is refused rather than silently overwritten.
    """

    op: Literal["set"]
    id: LineId
    fields: dict[str, Any]
    base: dict[str, Any] = Field(default_factory=dict)


class Add(_Edit):
    """A new row behind another (at the end without one)."""

    op: Literal["add"]
    id: LineId
    after: LineId | None = None
    first: bool = False
    fields: dict[str, Any] = Field(default_factory=dict)
    slot: tuple[Seconds, Seconds] | None = None
    note: NoteWords = ""


class Delete(_Edit):
    """Put rows away; ``restore`` brings them and their takes back."""

    op: Literal["delete", "restore"]
    ids: LineIds


class Move(_Edit):
    """Put rows behind another, in the order given (to the top without one)."""

    op: Literal["move"]
    ids: LineIds
    after: LineId | None = None


class Tick(_Edit):
    """Tick or untick rows."""

    op: Literal["tick"]
    ids: LineIds
    on: bool


class Note(_Edit):
    """A remark for people on a row; ``base`` as of :class:`SetFields`."""

    op: Literal["note"]
    id: LineId
    note: NoteWords
    base: str | None = None


class TakeEdit(_Edit):
    """Star a take, put it away, bring it back, or take its recipe into the line.

    ``base``: the line's fields as the page showed them, for ``use-take``.
    """

    op: Literal["star", "unstar", "drop-take", "restore-take", "use-take"]
    take: TakeId
    base: dict[str, Any] = Field(default_factory=dict)


Edit = Annotated[SetFields | Add | Delete | Move | Tick | Note | TakeEdit, Field(discriminator="op")]
_parse: TypeAdapter[Edit] = TypeAdapter(Edit)


class Refused(Exception):
    """One edit cannot be made."""

    def __init__(self, reason: str, line: str | None = None, field: str | None = None) -> None:
        super().__init__(reason)
        self.answer: dict[str, Any] = {"reason": reason, "id": line, "field": field}


class Gone(Refused):
    """The row was deleted meanwhile; the page may still hold words for it."""

    def __init__(self, line: str) -> None:
        super().__init__("That row is not in this project (any more).", line)
        self.answer["gone"] = True


class Unmade(Refused):
    """A new row was not made; the page shows one that is nowhere else."""

    def __init__(self, reason: str, line: str) -> None:
        super().__init__(reason, line)
        self.answer["unmade"] = True


def apply(db: sqlite3.Connection, project: Project, edits: list[Any], limits: Limits) -> list[dict[str, Any]]:
    """Make edits in order, within one transaction; the answer lists those that were refused."""
    desk = _Desk(db, project, limits)
    return [answer for raw in edits for answer in _try(desk, raw)]


def _try(desk: _Desk, raw: Any) -> list[dict[str, Any]]:
    try:
        return desk.make(_parse.validate_python(raw))
    except ValidationError as error:
        return [_not_understood(raw, error)]
    except Refused as refusal:
        return [refusal.answer]


def _not_understood(raw: Any, error: ValidationError) -> dict[str, Any]:
    first = error.errors(include_url=False)[0]
    edit = raw if isinstance(raw, dict) else {}
    place = [str(part) for part in first["loc"][1:]]
    where = ".".join(place) or "edit"
    reason = f"This change was not understood ({where}: {first['msg']})."
    answer: dict[str, Any] = {"reason": reason, "id": edit.get("id")}
    if edit.get("op") == "add":
        return answer | {"unmade": True}
    if place == ["note"] and first["type"] == "string_too_long":
        return answer | {"reason": f"A note holds at most {MAX_NOTE_CHARACTERS} characters.", "field": "note"}
    return answer


class _Desk:
    """Makes edits of one request; every row it writes carries the request's revision."""

    def __init__(self, db: sqlite3.Connection, project: Project, limits: Limits) -> None:
        self.db = db
        self.project = project
        self.token = project.token
        self.limits = limits
        self.revision = bump(db, project.token)
        self.recipes = Recipes(db, project)

    def make(self, edit: Edit) -> list[dict[str, Any]]:
        """Make one edit; gives the fields of it that were refused."""
        makers: dict[type, Callable[[Any], list[dict[str, Any]]]] = {
            SetFields: self._set,
            Add: self._add,
            Delete: self._delete,
            Move: self._move,
            Tick: self._tick,
            Note: self._note,
            TakeEdit: self._take,
        }
        return makers[type(edit)](edit)

    def _set(self, edit: SetFields) -> list[dict[str, Any]]:
        row = self._row(edit.id)
        outrun = self._newer(row.line, edit.fields, edit.base)
        wanted = {name: value for name, value in edit.fields.items() if name not in outrun}
        line, refused = self._checked(row.line, wanted)
        if line != row.line:
            recipe = self.recipes.of(line)
            lines.rewrite(self.db, self.token, row.id, line, recipe, self.revision)
        elif refused or outrun:  # so that the page shows again what is really there
            lines.touched(self.db, self.token, row.id, self.revision)
        return [*(_outrun(edit.id, name) for name in outrun), *_answers(edit.id, refused)]

    def _add(self, edit: Add) -> list[dict[str, Any]]:
        if lines.get(self.db, self.token, edit.id):
            return []  # the page asks again after a broken connection
        if lines.count(self.db, self.token) >= self.limits.rows:
            raise Unmade(
                f"A project holds at most {count(self.limits.rows, 'row')} here; start another project.",
                edit.id,
            )
        line, refused = self._checked(Line(text=""), edit.fields)
        after = edit.after if edit.first or edit.after else lines.last_id(self.db, self.token)
        position = lines.positions_after(self.db, self.token, after, 1, self.revision)[0]
        recipe = self.recipes.of(line)
        try:
            lines.insert(self.db, self.token, edit.id, line, recipe, position, self.revision)
        except sqlite3.IntegrityError:
            raise Unmade("That row was deleted; bring it back with Undo.", edit.id) from None
        if edit.slot or edit.note:
            lines.annotate(self.db, self.token, edit.id, edit.slot, edit.note)
        return _answers(edit.id, refused)

    def _delete(self, edit: Delete) -> list[dict[str, Any]]:
        lines.set_deleted(self.db, self.token, edit.ids, edit.op == "delete", self.revision)
        return []

    def _move(self, edit: Move) -> list[dict[str, Any]]:
        ids = [line_id for line_id in edit.ids if line_id != edit.after]
        places = lines.positions_after(self.db, self.token, edit.after, len(ids), self.revision)
        for line_id, position in zip(ids, places, strict=True):
            lines.place(self.db, self.token, line_id, position, self.revision)
        return []

    def _tick(self, edit: Tick) -> list[dict[str, Any]]:
        lines.set_ticked(self.db, self.token, edit.ids, edit.on, self.revision)
        return []

    def _note(self, edit: Note) -> list[dict[str, Any]]:
        row = self._row(edit.id)
        if edit.base is not None and row.note not in (edit.base, edit.note):
            lines.touched(self.db, self.token, row.id, self.revision)
            return [_outrun(row.id, "note")]
        lines.set_note(self.db, self.token, row.id, edit.note, self.revision)
        return []

    def _take(self, edit: TakeEdit) -> list[dict[str, Any]]:
        if edit.op == "use-take":
            return self._use_take(edit.take, edit.base)
        if edit.op in ("star", "unstar"):
            line = takes.star(self.db, self.token, edit.take, edit.op == "star")
        else:
            line = takes.set_deleted(self.db, self.token, edit.take, edit.op == "drop-take")
        if line is None:
            raise Refused("That take is not in this project.")
        lines.touched(self.db, self.token, line, self.revision)
        return []

    def _use_take(self, take_id: str, base: dict[str, Any]) -> list[dict[str, Any]]:
        take = takes.get(self.db, self.token, take_id)
        if take is None:
            raise Refused("That take is not in this project.")
        row = self._row(take["line"])
        line = takes.line_of(take, row.line)
        wanted = dict.fromkeys(base) | lines.stored(line)
        if self._newer(row.line, wanted, base):
            lines.touched(self.db, self.token, row.id, self.revision)
            raise Refused("Another tab changed this line meanwhile; look at it, then restore again.", row.id)
        recipe = self.recipes.of(line)
        lines.rewrite(self.db, self.token, row.id, line, recipe, self.revision)
        return []

    def _newer(self, line: Line, fields: dict[str, Any], base: dict[str, Any]) -> list[str]:
        """Those of ``fields`` in which the line holds neither what the page saw nor what it wants."""
        now = lines.stored(line)
        known = [name for name in fields if name in base and name in Line.model_fields]
        if all(now.get(name) == base[name] for name in known):
            return []
        # Both as they are read here: a page may say "en" where the row says "en-us", and what was
        # refused before stands on the page still.
        seen, _ = self._checked(line, base)
        wanted, _ = self._checked(line, fields)
        now_or_then = (
            (name, getattr(line, name), (getattr(seen, name), getattr(wanted, name))) for name in known
        )
        return [name for name, value, fine in now_or_then if value not in fine]

    def _checked(self, line: Line, fields: dict[str, Any]) -> tuple[Line, list[tuple[str, str]]]:
        return checked(line, fields, self._speaks, self.limits.characters)

    @cached_property
    def _speaks(self) -> tuple[str, ...]:
        return voicing(self.project.settings.model).defaults.languages

    def _row(self, line_id: str) -> lines.Row:
        row = lines.get(self.db, self.token, line_id)
        if row is None:
            raise Gone(line_id)
        return row


def checked(
    line: Line, fields: dict[str, Any], speaks: Collection[str] = (), most: int = MAX_TEXT_CHARACTERS
) -> tuple[Line, list[tuple[str, str]]]:
    """The line with the good ones of ``fields`` in it, and a sentence for each of the others.

    Args:
        line: as it is.
        fields: wanted, by name.
        speaks: languages of the model, to name where an unknown one is asked for.
        most: characters that a text may have.
    """
    refused = [(name, f"{name} cannot be set here.") for name in fields if name in NOT_EDITABLE]
    wanted = {
        name: _default(name) if value is None else value
        for name, value in fields.items()
        if name not in NOT_EDITABLE
    }
    if isinstance(wanted.get("language"), str):
        try:
            wanted["language"] = resolve_language(wanted["language"], speaks)
        except LineError as error:
            refused.append(("language", error.reason))
            del wanted["language"]
    if isinstance(wanted.get("text"), str) and len(wanted["text"]) > most:
        refused.append(("text", f"A line holds at most {count(most, 'character')} here; split it."))
        del wanted["text"]
    base = line.model_dump()
    bad = _faults(base | wanted)
    refused += [(name, sentence) for name, sentence in bad if name in wanted]
    bad_names = {name for name, _ in bad}
    good = {name: value for name, value in wanted.items() if name not in bad_names}
    return Line.model_validate(base | good), refused


def _faults(fields: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        Line.model_validate(fields)
    except ValidationError as error:
        return explain(error)
    return []


def _default(name: str) -> Any:
    field = Line.model_fields.get(name)
    if field is None:
        return None
    return "" if field.is_required() else field.default


def _answers(line: str, refused: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"id": line, "field": field, "reason": reason} for field, reason in refused]


def _outrun(line: str, field: str) -> dict[str, Any]:
    words = field.replace("_", " ")
    reason = f"Another tab changed the {words} of this line meanwhile; that is kept, and yours beside it."
    return {"id": line, "field": field, "reason": reason, "newer": True}
