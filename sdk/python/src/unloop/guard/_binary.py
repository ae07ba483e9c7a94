"""Finds the program unloop."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._decision import GuardUnavailable


class ProgramMissing(GuardUnavailable):
    """The program is not installed, and UNLOOP_BIN is not set."""


_name = "unloop.exe" if os.name == "nt" else "unloop"


def bundled() -> str | None:
    """Returns the path of the program in the wheel; None if the wheel has none."""
    path = Path(__file__).resolve().parent.parent / "_bin" / _name
    return str(path) if os.access(path, os.X_OK) else None


def _is_script(path: str) -> bool:
    """Reports whether this is a script. The command of this package in a wheel without the program is one, and would look for the
    program again."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def find() -> str:
    """Returns the path of the program: UNLOOP_BIN, else the one in the wheel, else the one on the PATH.

    Raises GuardUnavailable if there is none.
    """
    configured = os.environ.get("UNLOOP_BIN", "")
    if configured:
        if shutil.which(configured) is None:
            raise GuardUnavailable(f"UNLOOP_BIN is {configured}, which is not an executable program")
        return configured
    if path := bundled():
        return path
    found = shutil.which("unloop")
    if found is None or _is_script(found):
        raise ProgramMissing(
            "program unloop not found: install a wheel that contains it, add it to the PATH, or set UNLOOP_BIN to its path"
        )
    return found
