"""The guard: asked before each tool call and told how it ended, it nudges, blocks and halts. It asks one `unloop guard` child
process of this process, or a server. Where neither answers the agent goes on unguarded, and that is said once."""

from ._decision import Decision, GuardUnavailable, LoopError
from ._guard import AsyncGuard, Guard

__all__ = ["AsyncGuard", "Decision", "Guard", "GuardUnavailable", "LoopError"]
