"""Folders and files that will be written to: tried before anything slow begins, refused in a sentence."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

_TRIAL_BYTES = 65_536  # a disk that is full still makes empty files
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def problem_with_folder(folder: Path) -> str | None:
    """Make a folder and write something into it, which is taken away again.

    Returns:
        Why that does not work, as a sentence; None when it does.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try_to_write(folder)
    except (OSError, ValueError) as error:
        return why_not(folder, error)
    return None


def problem_with_file(path: Path) -> str | None:
    """Whether a file of that name can be made, or replaced, in a folder that can be written to.

    Returns:
        Why not, as a sentence; None when it can.
    """
    if os.path.isdir(path):  # unlike Path's own, calm about names that cannot be
        return f"{path} is a folder, so no file can be written there."
    return problem_with_folder(path.parent)


def try_to_write(folder: Path) -> None:
    """Write into a folder that is there. Trying alone knows of read-only disks and of full ones.

    Raises:
        OSError: it cannot be done.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_TRIAL_BYTES))
        file.flush()


def why_not(folder: Path, error: OSError | ValueError) -> str:
    """Why a folder cannot be made or written to, as a sentence."""
    for part in (folder, *folder.parents):
        if os.path.exists(part) and not os.path.isdir(part):
            return f"{part} is a file, where a folder is needed."
        if os.path.islink(part) and not os.path.exists(part):
            return f"{part} is a link to a place that is not there."
    number = error.errno if isinstance(error, OSError) else None
    if number in _FULL:
        return f"The disk of {folder} is full; free some space."
    if number in _FORBIDDEN:
        return f"{folder} may not be written to."
    if number == errno.ENAMETOOLONG:
        return f"{folder} is too long for a folder's name."
    if number == errno.ENOENT:  # as in /proc
        return f"{folder} cannot be made: nothing can be stored at that place."
    return f"{folder} cannot be written to ({(isinstance(error, OSError) and error.strerror) or error})."
