"""What the tests of sending events share."""

from __future__ import annotations

import os
import subprocess
import sys

import unloop
from conftest import ROOT, Server


def texts(server: Server, id: str) -> list[str]:
    return [event["text"] for event in server.events(id) if event["type"] == "message"]


def tell(run: unloop.Run, numbers: range) -> None:
    for i in numbers:
        run.event("message", text=str(i))


def adds_up() -> unloop.Stats:
    """Every event given is in one place."""
    stats = unloop.stats()
    assert stats.given == stats.sent + stats.buffered + stats.dropped + stats.queued
    return stats


def program(body: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the package, to its end."""
    return subprocess.run(
        [sys.executable, "-c", "import unloop, os, sys\n" + body],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), **env},
        capture_output=True,
        text=True,
        timeout=180,
    )
