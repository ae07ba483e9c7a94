"""The command unloop: the program in the wheel."""

from __future__ import annotations

import os
import subprocess
import sys

from .guard._binary import find
from .guard._decision import GuardUnavailable


def main() -> int:
    """Runs the program with the arguments of this process."""
    try:
        program = find()
    except GuardUnavailable as error:
        print(f"unloop: {error}", file=sys.stderr)
        return 2
    if os.name != "nt":
        os.execv(program, ["unloop", *sys.argv[1:]])
    return subprocess.call([program, *sys.argv[1:]])
