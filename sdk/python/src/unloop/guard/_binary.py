"""Where the program unloop is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._decision import GuardUnavailable


class ProgramMissing(GuardUnavailable):
    """It is nowhere, and nobody said where it should be."""


_name = "unloop.exe" if os.name == "nt" else "unloop"


def find() -> str:
    """Returns the path of the program: what UNLOOP_BIN says, else that of the wheel, else that on the PATH."""
    told = os.environ.get("UNLOOP_BIN", "")
    if told:
        if shutil.which(told) is None:
            raise GuardUnavailable(f"UNLOOP_BIN names {told}, which is no program")
        return told
    packed = Path(__file__).resolve().parent.parent / "_bin" / _name
    if os.access(packed, os.X_OK):
        return str(packed)
    found = shutil.which("unloop")
    if found is None:
        raise ProgramMissing(
            "the program unloop is not found: install a wheel that has it, put unloop on the PATH, or set UNLOOP_BIN to its path"
        )
    return found
