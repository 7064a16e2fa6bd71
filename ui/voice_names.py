"""Which voice of a shelf a name means; one answer for the table, the run and "changed since"."""

from __future__ import annotations

import sqlite3


def stored_name(db: sqlite3.Connection, shelf: str, name: str) -> str | None:
    """The name as the shelf spells it, upper and lower case being the same; None for an unknown one.

    The column's own collation knows the letters of ASCII only; a shelf filled before this was known may
    hold "Анна" and "анна", and then the name as it is written leads to its own.
    """
    query = "SELECT name FROM voices WHERE shelf = ? AND name = ?"
    if row := db.execute(query, (shelf, name)).fetchone():
        return str(row[0])
    wanted = name.casefold()
    rows = db.execute("SELECT name FROM voices WHERE shelf = ? ORDER BY name", (shelf,))
    return next((str(row[0]) for row in rows if str(row[0]).casefold() == wanted), None)
