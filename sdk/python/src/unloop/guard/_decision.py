"""What a guard answers."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from .._unset import UNSET

Action = Literal["allow", "warn", "block", "halt"]


@dataclasses.dataclass(frozen=True)
class Decision:
    """A decision about a call that is about to run, or about how it ended."""

    action: Action = "allow"
    code: str = ""  # what decided: a rule, a step of the profile's ladder, or "unguarded"
    count: int = 0  # how often what it is about happened
    message: str = ""  # the nudge, a text for the model
    result: Any = UNSET  # what the model gets instead of the tool's result; UNSET where it gets that
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    shadow: str = ""  # what action would be, with the setting shadow
    id: str | None = None  # of the call

    @property
    def ok(self) -> bool:
        """The call may run."""
        return self.action in ("allow", "warn")

    @property
    def stopped(self) -> bool:
        """The call must not run: the model gets result."""
        return not self.ok

    @property
    def halted(self) -> bool:
        """The run must end."""
        return self.action == "halt"

    @property
    def guarded(self) -> bool:
        """There was a guard to ask."""
        return self.code != UNGUARDED

    def check(self) -> Decision:
        """Raises LoopError if the run must end."""
        if self.halted:
            raise LoopError(self)
        return self


UNGUARDED = "unguarded"
VALUE_BYTES = 1 << 20  # of arguments, and of a result, that a guard is told


class LoopError(Exception):
    """The agent went round in circles and is halted. Trying again does not help."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.decision = decision

    def __str__(self) -> str:
        return self.decision.message or f"halted: {self.decision.code}"


class GuardUnavailable(RuntimeError):
    """There is no guard to ask. Raised by a strict guard only."""
