"""Scripts as tests of several concerns write and read them."""

from __future__ import annotations

import io

from openpyxl import Workbook

from zonos.script import Script, read_script


def read(name: str, content: str | bytes, **options: str) -> Script:
    data = content if isinstance(content, bytes) else content.encode()
    return read_script((name, data), **options)


def texts(script: Script) -> list[str]:
    return [line.text for line in script.lines]


def workbook(*rows: list[object], **more: list[list[object]]) -> bytes:
    book = Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for name, content in more.items():
        extra = book.create_sheet(name)
        for row in content:
            extra.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


TABLE = "text;voice\nÜber die Straße;Anna\nFünf Äpfel;Ben\n"
