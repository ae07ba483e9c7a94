"""Decisions of a guard, and its exceptions."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from .._unset import UNSET

Action = Literal["allow", "warn", "block", "halt"]


@dataclasses.dataclass(frozen=True)
class Decision:
    """A decision about a call before it runs or after it ended."""

    action: Action = "allow"
    code: str = ""  # the reason: a rule, a step of the profile's policy, or "unguarded"
    count: int = 0  # occurrences of the loop that the decision is about
    message: str = ""  # the nudge, a text for the model
    result: Any = UNSET  # replaces the tool's result for the model; UNSET keeps the tool's result
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    shadow: str = ""  # with the setting shadow: the action that would apply without it
    id: str | None = None  # id of the call

    @property
    def ok(self) -> bool:
        """Reports whether the call may run."""
        return self.action in ("allow", "warn")

    @property
    def stopped(self) -> bool:
        """Reports whether the call must not run. The model gets result instead."""
        return not self.ok

    @property
    def halted(self) -> bool:
        """Reports whether the run must end."""
        return self.action == "halt"

    @property
    def guarded(self) -> bool:
        """Reports whether a guard made the decision."""
        return self.code != UNGUARDED

    def check(self) -> Decision:
        """Returns the decision. Raises LoopError if the run must end."""
        if self.halted:
            raise LoopError(self)
        return self


UNGUARDED = "unguarded"
VALUE_BYTES = 1 << 20  # limit of arguments, and of a result, that are sent to a guard


class LoopError(Exception):
    """The guard halted a looping agent. Do not retry the call or the run."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.decision = decision

    def __str__(self) -> str:
        return self.decision.message or f"halted: {self.decision.code}"


class GuardUnavailable(RuntimeError):
    """No guard is available. Guard raises it when it is created, unless on_missing is "warn"."""
