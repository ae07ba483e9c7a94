"""The published detectors, each at its default settings and fed what its own integration feeds it.

A detector takes the entries of one run in order and returns its verdict at each. Exceptions by which a detector ends a run are a
stop. The run continues after a stop, as it was recorded.
"""

import logging
import sqlite3
from collections.abc import Callable
from typing import Protocol

import agent_loop_breaker
import agent_loop_detector
import agent_patrol
import agent_watchdog
import agentbelt_loop
import agentguard
import loop_guard
import trajectory_fuse
import unwedge
from looplens.server import db, ingest
from openhands.sdk.conversation.stuck_detector import StuckDetector
from openhands.sdk.event import ActionEvent, AgentErrorEvent, Event, MessageEvent, ObservationEvent
from openhands.sdk.llm import Message as LLMMessage
from openhands.sdk.llm import MessageToolCall, TextContent
from openhands.sdk.mcp import MCPToolAction, MCPToolObservation
from praisonaiagents.agent import loop_detection as praison
from unwedge.adapters.generic import turn_from_command

from runs import Call, Entry, Message, Run, Verdict

logging.disable(logging.CRITICAL)  # detectors log each finding


class Detector(Protocol):
    """A detector at work on one run."""

    def add(self, entry: Entry) -> Verdict:
        """Takes the next entry of the run."""


class AgentLoopBreaker:
    """should_stop gets the list of the calls so far before each call."""

    def __init__(self, run: Run) -> None:
        self._calls: list[dict[str, str]] = []

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        self._calls.append({"tool": entry.tool})
        return Verdict.STOP if agent_loop_breaker.should_stop(self._calls) else Verdict.NONE


class AgentLoopDetector:
    """check gets each output of the model: its messages, and the calls that it writes."""

    def __init__(self, run: Run) -> None:
        self._detector = agent_loop_detector.LoopDetector()

    def add(self, entry: Entry) -> Verdict:
        if isinstance(entry, Message) and entry.role != "assistant":
            return Verdict.NONE
        found = self._detector.check(entry.text if isinstance(entry, Message) else entry.command)
        return Verdict.FLAG if found else Verdict.NONE


class AgentLoopGuard:
    """check gets each call with its output."""

    def __init__(self, run: Run) -> None:
        self._guard = loop_guard.LoopGuard()

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        decision = self._guard.check(tool=entry.tool, args=entry.args, output=entry.output)
        if decision.is_loop:
            return Verdict.STOP
        return Verdict.FLAG if decision.should_warn else Verdict.NONE


class AgentPatrol:
    """observe gets each call and its result. The monitor knows the task, and has no milestones."""

    def __init__(self, run: Run) -> None:
        self._monitor = agent_patrol.PatrolMonitor(task_description=run.task)

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        report = self._monitor.observe(entry.command, entry.output)
        return Verdict.FLAG if report.pathology else Verdict.NONE


class AgentWatchdog:
    """record_tool_call gets each call with its output."""

    def __init__(self, run: Run) -> None:
        self._watchdog = agent_watchdog.AgentWatchdog(timeout_seconds=None)
        self._watching = self._watchdog.watch(run.id)
        self._watching.__enter__()

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        try:
            self._watchdog.record_tool_call(entry.tool, entry.args, entry.output)
        except agent_watchdog.WatchdogHalt:
            return Verdict.STOP
        return Verdict.NONE


class AgentBelt:
    """record gets each call with its result, and check follows. One detector serves all runs, since it learns across sessions."""

    _shared = agentbelt_loop.LoopDetector()

    def __init__(self, run: Run) -> None:
        self._run = run.id

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        self._shared.record(self._run, tool=entry.tool, args=entry.args, result=entry.output)
        try:
            self._shared.check(self._run)
        except agentbelt_loop.LoopDetected:
            return Verdict.STOP
        return Verdict.NONE


class AgentGuard47:
    """LoopGuard and FuzzyLoopGuard get each call before it runs."""

    def __init__(self, run: Run) -> None:
        self._guards = [agentguard.LoopGuard(), agentguard.FuzzyLoopGuard()]

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        verdict = Verdict.NONE
        for guard in self._guards:
            try:
                guard.check(entry.tool, entry.args)
            except agentguard.LoopDetected:
                verdict = Verdict.STOP
        return verdict


class LoopLens:
    """The server's store_event gets each call and its result, in a database in memory. A new or changed warning is a flag."""

    def __init__(self, run: Run) -> None:
        self._run = run.id
        self._db = sqlite3.connect(":memory:")
        self._db.row_factory = sqlite3.Row
        self._db.executescript(db._SCHEMA)
        self._warnings: set[tuple[str, str]] = set()

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        ingest.store_event(self._db, run_id=self._run, type="tool_call_started", tool=entry.tool, input=entry.args)
        kind = "tool_call_failed" if entry.error else "tool_call_completed"
        ingest.store_event(self._db, run_id=self._run, type=kind, tool=entry.tool, output=entry.result, error=entry.error)
        warnings = {(row["id"], row["message"]) for row in db.list_warnings(self._db, self._run)}
        verdict = Verdict.NONE if warnings <= self._warnings else Verdict.FLAG
        self._warnings = warnings
        return verdict


class OpenHands:
    """StuckDetector gets the events of a conversation, and is asked after each result, as LocalConversation asks it."""

    def __init__(self, run: Run) -> None:
        self._events: list[Event] = []
        self._thought: list[TextContent] = []
        self._detector = StuckDetector(self)  # type: ignore[arg-type]  # it calls nothing but active_branch

    def active_branch(self, limit: int) -> list[Event]:
        """The latest events, for the detector."""
        return self._events[-limit:]

    def add(self, entry: Entry) -> Verdict:
        if isinstance(entry, Message):
            self._message(entry)
            return Verdict.NONE
        self._call(entry)
        nudge = self._detector.get_action_error_nudge()
        if nudge is not None:
            self._events.append(_message_event("environment", "user", nudge))
            return Verdict.FLAG
        return Verdict.STOP if self._detector.is_stuck() else Verdict.NONE

    def _message(self, entry: Message) -> None:
        if entry.role == "assistant":
            self._thought = [TextContent(text=entry.text)]  # of the next call
        elif entry.role == "user":
            self._events.append(_message_event("user", "user", entry.text))

    def _call(self, entry: Call) -> None:
        call_id = str(entry.number)
        call = MessageToolCall(id=call_id, name=entry.tool, arguments="{}", origin="completion")
        action = ActionEvent(
            thought=self._thought, action=MCPToolAction(data=entry.args), tool_name=entry.tool,
            tool_call_id=call_id, tool_call=call, llm_response_id=call_id,
        )
        self._events.append(action)
        self._thought = []
        if entry.error:
            self._events.append(AgentErrorEvent(error=entry.error, tool_name=entry.tool, tool_call_id=call_id))
            return
        observation = MCPToolObservation.from_text(entry.output, tool_name=entry.tool)
        self._events.append(
            ObservationEvent(observation=observation, action_id=action.id, tool_name=entry.tool, tool_call_id=call_id)
        )


def _message_event(source: str, role: str, text: str) -> MessageEvent:
    return MessageEvent(source=source, llm_message=LLMMessage(role=role, content=[TextContent(text=text)]))  # type: ignore[arg-type]


class PraisonAI:
    """detect_tool_loop gets each call before it runs, and record_tool_outcome its result. It is enabled, with its thresholds."""

    def __init__(self, run: Run) -> None:
        self._config = praison.LoopDetectionConfig(enabled=True)
        self._history: list[praison.ToolCallRecord] = []

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        praison.record_tool_call(self._history, entry.tool, entry.args, self._config)
        found = praison.detect_tool_loop(self._history, entry.tool, entry.args, self._config)
        praison.record_tool_outcome(self._history, entry.tool, entry.args, entry.output, self._config)
        if not found["stuck"]:
            return Verdict.NONE
        return Verdict.STOP if found["level"] == "critical" else Verdict.FLAG


class TrajectoryFuse:
    """check gets each call before it runs, and observe its outcome."""

    def __init__(self, run: Run) -> None:
        self._fuse = trajectory_fuse.AgentFuse()

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        verdict = Verdict.STOP if self._fuse.check(entry.tool, entry.args) else Verdict.NONE
        action = trajectory_fuse.Action(tool=entry.tool, args=entry.args, result=entry.output, success=entry.error is None)
        try:
            self._fuse.observe(action)
        except trajectory_fuse.DeadlockDetected:
            return Verdict.STOP
        return verdict


class Unwedge:
    """on_turn gets each call with its output. No provider is asked, and hints are given, which is not the default (shadow)."""

    def __init__(self, run: Run) -> None:
        self._guard = unwedge.Guard(goal=run.task, provider=None, config=unwedge.GuardConfig(shadow=False))

    def add(self, entry: Entry) -> Verdict:
        if not isinstance(entry, Call):
            return Verdict.NONE
        failed = True if entry.error else None
        outcome = self._guard.on_turn(turn_from_command(entry.number + 1, entry.command, entry.output, failed=failed))
        action = outcome.decision.action.value
        if action == "kill":
            return Verdict.STOP
        return Verdict.FLAG if outcome.hint_text or action == "escalate" else Verdict.NONE


# By the name of the package that each detector comes from.
DETECTORS: dict[str, Callable[[Run], Detector]] = {
    "agent-loop-breaker-py": AgentLoopBreaker,
    "agent-loop-detector": AgentLoopDetector,
    "agent-loop-guard": AgentLoopGuard,
    "agent-patrol": AgentPatrol,
    "agent-watchdog": AgentWatchdog,
    "agentbelt-loop": AgentBelt,
    "agentguard47": AgentGuard47,
    "looplens": LoopLens,
    "openhands-sdk": OpenHands,
    "praisonaiagents": PraisonAI,
    "trajectory-fuse": TrajectoryFuse,
    "unwedge": Unwedge,
}
