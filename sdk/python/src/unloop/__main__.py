"""python -m unloop doctor"""

from __future__ import annotations

import sys

from .doctor import main

USAGE = """usage: python -m unloop doctor

  doctor   check the settings, the server, the token, the buffer, the guard and the adapters
"""

if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"], ["help"]):
        print(USAGE, end="")
        sys.exit(0)
    if sys.argv[1:] != ["doctor"]:
        print(USAGE, end="", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
