"""unloop for the Google Agent Development Kit: a plugin that records invocations on the server and, with a guard, stops loops.

runner = InMemoryRunner(app=App(name="archive", root_agent=agent, plugins=[UnloopPlugin(AsyncGuard())]))
"""

from __future__ import annotations

import dataclasses
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from ._adapter import BoundedDict, count, get, items, never_raises, text, usage
from ._calls import AsyncToolCall, ModelCall
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError


@dataclasses.dataclass
class _Invocation:
    run: Run
    own: bool  # the run ends with the invocation
    halt: Decision | None = None


class UnloopPlugin(BasePlugin):
    """Records model calls with their tokens, tool calls, transfers and messages. With a guard it decides about tool calls.

    Each session is a run. Within unloop.trace(), and in an agent that a tool of another agent runs, events belong to the current
    run. A blocked call returns the guard's answer as its result. A warning is attached to the result. On a halt the next model
    call raises LoopError. ADK wraps what plugins raise: run_async raises RuntimeError, whose cause is the LoopError.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        super().__init__(name="unloop")
        self._guard = guard
        self._invocations: BoundedDict[_Invocation] = BoundedDict()
        self._models: BoundedDict[ModelCall] = BoundedDict()
        self._calls: BoundedDict[AsyncToolCall] = BoundedDict()
        self._nudges: BoundedDict[Decision] = BoundedDict()  # of tools that failed

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> None:
        invocation, prompt = self._begin(invocation_context), _text(user_message)
        if invocation is None or not prompt or not invocation.own:
            return
        invocation.run.event("message", role="user", text=prompt)
        if self._guard is not None:
            await self._guard.run(invocation.run.id).user(prompt)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._begin(invocation_context)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._end(invocation_context)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        self._end(invocation_context, error.__cause__ if isinstance(error.__cause__, LoopError) else error)

    @never_raises
    def _begin(self, context: InvocationContext) -> _Invocation:
        known = self._invocations.get(context.invocation_id)
        if known is None:
            outer = current_run()
            run = outer or Run.begin(context.app_name, id=context.session.id)
            known = self._invocations[context.invocation_id] = _Invocation(run, own=outer is None)
        return known

    @never_raises
    def _end(self, context: InvocationContext, error: BaseException | None = None) -> None:
        invocation = self._invocations.pop(context.invocation_id, None)
        if invocation is not None and invocation.own:
            invocation.run.end(error=error)

    async def close(self) -> None:
        """Ends the runs of invocations that were aborted."""
        while self._invocations:
            _, invocation = self._invocations.popitem()
            if invocation.own:
                invocation.run.end(error="aborted")

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        invocation = self._invocations.get(callback_context.invocation_id)
        if invocation is None:
            return
        if invocation.halt is not None:
            raise LoopError(invocation.halt)
        self._models[_branch(callback_context)] = ModelCall(invocation.run, llm_request.model, callback_context.agent_name)

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        if not llm_response.partial:
            self._record_response(callback_context, llm_response)

    @never_raises
    def _record_response(self, context: CallbackContext, response: LlmResponse) -> None:
        call = self._models.pop(_branch(context), None)
        if call is None:
            return
        tokens = response.usage_metadata
        thoughts = get(tokens, "thoughts_token_count")
        prompt = count(get(tokens, "prompt_token_count"), get(tokens, "tool_use_prompt_token_count"))
        answer = count(get(tokens, "candidates_token_count"), thoughts)
        counts = usage(prompt, answer, get(tokens, "cached_content_token_count"), 0, thoughts)
        call.completed(counts, model=response.model_version, text=_text(response.content) or "")

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> None:
        call = self._models.pop(_branch(callback_context), None)
        if call is not None:
            call.failed(error)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        invocation = self._invocations.get(tool_context.invocation_id)
        if invocation is None:
            return None
        id, agent = tool_context.function_call_id, tool_context.agent_name
        call = AsyncToolCall(invocation.run, self._guard, tool.name, tool_args, id=id, agent=agent)
        decision = await call.begin()
        if decision.stopped:
            return self._decided(invocation, decision)
        self._calls[_key(tool_context)] = call
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        key = _key(tool_context)
        call, nudge = self._calls.pop(key, None), self._nudges.pop(key, None)
        if nudge is not None and isinstance(result, dict):
            return {**result, "_loop_guard": nudge.message}  # the answer of another callback to the tool's failure
        invocation = self._invocations.get(tool_context.invocation_id)
        if call is None or invocation is None:
            return None
        value = result["result"] if isinstance(result, dict) and list(result) == ["result"] else result
        error = _failure(result)
        decision = await (call.completed(value) if error is None else call.failed(error))
        if error is not None and decision.result is not UNSET:
            self._decided(invocation, decision)
            return {**result, "_loop_guard": decision.message}
        return self._decided(invocation, decision)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> None:
        key = _key(tool_context)
        call, invocation = self._calls.pop(key, None), self._invocations.get(tool_context.invocation_id)
        if call is None or invocation is None:
            return
        decision = await call.failed(error)
        if self._decided(invocation, decision) is not None:
            self._nudges[key] = decision

    def _decided(self, invocation: _Invocation, decision: Decision) -> dict[str, Any] | None:
        """Returns the result for the model, or None if the decision has none. Remembers a halt."""
        if decision.halted:
            invocation.halt = decision
        result = decision.result
        if result is UNSET:
            return None
        return result if isinstance(result, dict) else {"result": result}


def _key(context: ToolContext) -> str:
    """Returns the key of a call: its callbacks have the same context."""
    return str(id(context))


def _branch(context: CallbackContext) -> str:
    """Returns the key of a model call. An agent makes one at a time, but agents of an invocation run side by side."""
    return f"{context.invocation_id} {context.branch} {context.agent_name}"


def _failure(result: Any) -> Any:
    """Returns the error of a result that says that the tool failed, or None. ADK's own tools and MCP tools have such results."""
    if not isinstance(result, dict):
        return None
    if result.get("isError") is True:
        return result
    return result["error"] if list(result) == ["error"] else None


@never_raises
def _text(content: types.Content | None) -> str:
    return "".join(text(part.text) for part in items(get(content, "parts")) if not part.thought)


__all__ = ["UnloopPlugin"]
