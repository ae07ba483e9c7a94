"""unloop for the Claude Agent SDK: hooks that record a session on the server and, with a guard, stop loops.

watched = Unloop(AsyncGuard())
async for message in watched.watch(query(prompt=prompt, options=watched.add_hooks(options))): ...
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, HookMatcher, ResultMessage, TextBlock, ToolUseBlock

from ._adapter import BoundedDict, count, get, items, log_unread, never_raises, text, usage
from ._calls import AsyncToolCall, ModelCall, nudge
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError

M = TypeVar("M")
Output = dict[str, Any]

PAUSE_SECONDS = 86_400.0  # a hook waits while a person has paused the run; Claude Code's own limit is a minute


@dataclasses.dataclass
class _Session:
    run: Run
    own: bool  # the run ends with the turn
    halt: Decision | None = None
    last: ModelCall | None = None  # the call of an answer, which ends the turn
    prompt: tuple[Any, ...] = ()  # input tokens of last
    message_id: str | None = None
    answered: int = 0  # output tokens of this turn that are recorded


class Unloop:
    """Records model calls with their tokens, tool calls and messages. With a guard it decides about tool calls.

    A session is a run. Within unloop.trace(), events belong to the current run. A blocked call is denied with the guard's reason.
    A warning goes to the model as additional context. On a halt the turn ends, and watch() raises LoopError.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        self._guard = guard
        self._sessions: BoundedDict[_Session] = BoundedDict()
        self._calls: BoundedDict[AsyncToolCall] = BoundedDict()
        self._watching = False

    def add_hooks(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """Returns the options with hooks for unloop after those that they have."""
        hooks: dict[Any, list[HookMatcher]] = {event: list(matchers) for event, matchers in (options.hooks or {}).items()}
        own: dict[str, Callable[[Any], Awaitable[Output]]] = {
            "UserPromptSubmit": self._prompt,
            "PreToolUse": self._before_tool,
            "PostToolUse": self._after_tool,
            "PostToolUseFailure": self._after_tool,
            "PostToolBatch": self._after_tools,
            "Stop": self._stopped,
        }
        for event, act in own.items():
            hooks.setdefault(event, []).append(HookMatcher(hooks=[_hook(act)], timeout=PAUSE_SECONDS))
        return dataclasses.replace(options, hooks=hooks)

    async def watch(self, messages: AsyncIterator[M]) -> AsyncGenerator[M, None]:
        """Yields the messages of query() or of a client, and records the model calls. Raises LoopError if the turn was halted."""
        self._watching = True
        session: _Session | None = None
        async with _closing(messages):
            try:
                async for message in messages:
                    session = self._sessions.get(text(get(message, "session_id"))) or session
                    if session is not None:
                        self._record(session, message)
                        if session.halt is not None and isinstance(message, ResultMessage):
                            raise LoopError(session.halt)
                    yield message
            except BaseException as error:
                if session is not None:
                    self._end(session, None if isinstance(error, GeneratorExit) else error)
                raise

    @never_raises
    def _record(self, session: _Session, message: object) -> None:
        if isinstance(message, AssistantMessage):
            self._model_answered(session, message)
        elif isinstance(message, ResultMessage):
            self._answer_completed(session, count(get(message.usage, "output_tokens")))
            failed = text(message.result) or message.subtype
            error: object = LoopError(session.halt) if session.halt else failed if message.is_error else None
            self._end(session, error)

    def _model_answered(self, session: _Session, message: AssistantMessage) -> None:
        """Records a model call. A message comes in parts, each with one block of it and with the same id."""
        agent = "claude"
        if message.message_id is None or message.message_id != session.message_id:
            self._answer_completed(session, 0)
            session.message_id = message.message_id
            session.last = ModelCall(session.run, message.model, agent)
            session.prompt = tuple(get(message.usage, f"{kind}input_tokens") for kind in ("", "cache_read_", "cache_creation_"))
        said = "".join(block.text for block in message.content if isinstance(block, TextBlock))
        if said:
            session.run.event("message", role="assistant", agent=agent, text=said)
        if any(isinstance(block, ToolUseBlock) for block in message.content):
            self._answer_completed(session, 0)

    def _answer_completed(self, session: _Session, output_tokens: int) -> None:
        """Records the end of a model call. Claude Code reports only the sum of output tokens, at the end of a turn."""
        call, session.last = session.last, None
        if call is None:
            return
        _, cached, written = session.prompt
        call.completed(usage(count(*session.prompt), output_tokens, cached, written))

    async def _prompt(self, data: Any) -> Output:
        prompt, known = text(data.get("prompt")), self._sessions.get(data["session_id"])
        outer = current_run()
        if known is None or known.own:
            known = _Session(outer or Run.begin("claude", id=data["session_id"]), own=outer is None)
        else:
            known.halt = None
        self._sessions[data["session_id"]] = known
        if prompt:
            known.run.event("message", role="user", text=prompt)
            if self._guard is not None:
                await self._guard.run(known.run.id).user(prompt)
        return {}

    async def _before_tool(self, data: Any) -> Output:
        session = self._sessions.get(data["session_id"])
        if session is None:
            return {}
        agent = text(data.get("agent_type")) or "claude"
        call = AsyncToolCall(session.run, self._guard, data["tool_name"], data["tool_input"], id=data["tool_use_id"], agent=agent)
        decision = await call.begin()
        if decision.ok:
            self._calls[data["tool_use_id"]] = call
            return {}
        if decision.halted:
            session.halt = decision
        return _specific(data, permissionDecision="deny", permissionDecisionReason=nudge(decision))

    async def _after_tool(self, data: Any) -> Output:
        session, call = self._sessions.get(data["session_id"]), self._calls.pop(data["tool_use_id"], None)
        if session is None or call is None:
            return {}
        failed = data["hook_event_name"] == "PostToolUseFailure"
        decision = await (call.failed(data["error"]) if failed else call.completed(_value(data["tool_response"])))
        if decision.halted:
            session.halt = decision
        return {} if decision.result is UNSET else _specific(data, additionalContext=nudge(decision))

    async def _after_tools(self, data: Any) -> Output:
        session = self._sessions.get(data["session_id"])
        if session is None or session.halt is None:
            return {}
        if not self._watching:
            self._end(session, LoopError(session.halt))
        return {"continue_": False, "stopReason": session.halt.message}

    async def _stopped(self, data: Any) -> Output:
        session = self._sessions.get(data["session_id"])
        if session is not None and not self._watching:
            self._end(session, None)
        return {}

    def _end(self, session: _Session, error: object) -> None:
        self._answer_completed(session, 0)
        if session.own:
            session.run.end(error=error)


def _hook(act: Callable[[Any], Awaitable[Output]]) -> Any:
    """Returns a hook callback that never raises: Claude Code would show the error."""

    async def hook(data: Any, tool_use_id: str | None, context: Any) -> Output:
        try:
            return await act(data)
        except Exception as error:
            log_unread(act, error)
            return {}

    return hook


def _specific(data: Any, **fields: str) -> Output:
    return {"hookSpecificOutput": {"hookEventName": data["hook_event_name"], **fields}}


def _value(result: Any) -> Any:
    """Returns a tool's result. The result of an MCP tool is a list of blocks; if all are texts, it is their text."""
    texts = [text(get(block, "text")) for block in items(result)]
    return "\n".join(texts) if texts and all(texts) else result


@contextlib.asynccontextmanager
async def _closing(messages: AsyncIterator[Any]) -> AsyncGenerator[None, None]:
    """Closes an iterator that is a generator, which ends the program behind query()."""
    try:
        yield
    finally:
        if isinstance(messages, AsyncGenerator):
            await messages.aclose()


__all__ = ["Unloop"]
