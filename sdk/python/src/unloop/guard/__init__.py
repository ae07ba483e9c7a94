"""The guard decides before and after each tool call: it allows, nudges, blocks or halts. The decisions come from an `unloop
guard` child process or from a server. If neither is available when a guard is created, it refuses: GuardUnavailable."""

from ._decision import Decision, GuardUnavailable, LoopError
from ._guard import AsyncGuard, Guard

__all__ = ["AsyncGuard", "Decision", "Guard", "GuardUnavailable", "LoopError"]
