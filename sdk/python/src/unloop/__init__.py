"""unloop detects agents that are stuck in loops, nudges them, and stops them.

    import unloop

    with unloop.trace("answer a question"):
        search("loops")          # a function with @unloop.observe

Observing sends an agent's events to a server (`unloop serve`). A Guard decides about each tool call before and after it runs.
The only exception that either raises into the agent is LoopError, with which a guard ends a run. See docs/python.md.
"""

from ._core import configure, flush, shutdown, stats
from ._observe import observe
from ._run import Run, current_run, event, trace
from ._sender import Stats
from ._unset import UNSET
from .guard import AsyncGuard, Decision, Guard, GuardUnavailable, LoopError

__version__ = "0.1.0"

__all__ = [
    "UNSET",
    "AsyncGuard",
    "Decision",
    "Guard",
    "GuardUnavailable",
    "LoopError",
    "Run",
    "Stats",
    "configure",
    "current_run",
    "event",
    "flush",
    "observe",
    "shutdown",
    "stats",
    "trace",
]
