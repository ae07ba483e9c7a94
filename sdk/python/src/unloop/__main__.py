"""python -m unloop doctor"""

from __future__ import annotations

import sys

from .doctor import main

USAGE = """usage: python -m unloop doctor

  doctor   says whether events find their server and a guard can be asked, and what is missing
"""

if __name__ == "__main__":
    if sys.argv[1:] != ["doctor"]:
        print(USAGE, end="", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
