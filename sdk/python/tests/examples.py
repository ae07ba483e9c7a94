"""The examples of a page of the documentation: its blocks of Python, each of which must run unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def blocks(page: str) -> list[str]:
    """Returns the ```python blocks of a page, such as docs/python.md. Line numbers in a block's errors are the page's."""
    found: list[str] = []
    block: list[str] | None = None
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines()):
        if line == "```python":
            block = ["\n" * number]
        elif line == "```" and block is not None:
            found.append("".join(block))
            block = None
        elif block is not None:
            block.append(line + "\n")
    return found


def run(code: str, folder: Path, **env: str) -> str:
    """Runs a block in a process of its own, in the folder, and returns what it printed."""
    (folder / "example.py").write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(ROOT / "sdk/python/src"), str(ROOT / "sdk/python/tests")])
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
