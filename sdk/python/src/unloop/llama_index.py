"""unloop for agents of LlamaIndex: it records their workflows on the server and, with a guard, stops loops.

agent = Unloop(AsyncGuard()).protect(FunctionAgent(tools=[search], llm=llm))
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import secrets
import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from llama_index.core.agent.workflow import AgentOutput, AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.llms import TextBlock
from llama_index.core.tools import AsyncBaseTool, ToolOutput

from ._adapter import get, never_raises, text, usage
from ._calls import AsyncToolCall, ModelCall, as_text, nudge
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError

Workflow = TypeVar("Workflow", AgentWorkflow, BaseWorkflowAgent)


@dataclasses.dataclass
class _Task:
    """A run of a workflow."""

    run: Run
    prompt: str  # not reported to the guard yet
    halt: Decision | None = None
    answered: bool = False  # the last model call had no tool calls


_task: ContextVar[_Task | None] = ContextVar("unloop_llama_index", default=None)


class Unloop:
    """Records model calls with their tokens, tool calls, handoffs and messages. With a guard it decides about tool calls.

    A context of a workflow is a run. Within unloop.trace(), and in an agent that a tool of another agent runs, events belong to
    the current run. A blocked call returns the guard's answer. A warning is added to the result. A halt raises LoopError.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        self._guard = guard
        self._ids: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._ends: set[asyncio.Task[None]] = set()

    def protect(self, workflow: Workflow) -> Workflow:
        """Adds unloop to an agent, or to a workflow and its agents. Returns the same object."""
        agents = workflow.agents.values() if isinstance(workflow, AgentWorkflow) else [workflow]
        for agent in agents:
            _replace(agent, "take_step", self._stepped(agent, agent.take_step))
        default = "" if isinstance(workflow, AgentWorkflow) else workflow.name
        _replace(workflow, "get_tools", self._guarded_tools(workflow.get_tools, default))
        _replace(workflow, "run", self._recorded(workflow.run, default or type(workflow).__name__))
        return workflow

    def _recorded(self, run: Any, name: str) -> Any:
        @functools.wraps(run)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            outer, task = current_run(), self._begin(name, args, kwargs)
            if task is None:
                return run(*args, **kwargs)
            token = _task.set(task)
            try:
                with task.run.activate():  # the tasks of the workflow inherit both
                    handler = run(*args, **kwargs)
            except BaseException as error:
                if outer is None:
                    task.run.end(error=error)
                raise
            finally:
                _task.reset(token)
            if outer is None:
                ending = asyncio.get_running_loop().create_task(_end(task, handler))
                self._ends.add(ending)
                ending.add_done_callback(self._ends.discard)
            return handler

        return recorded

    @never_raises
    def _begin(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Task:
        context, asked = kwargs.get("ctx"), args[0] if args else kwargs.get("user_msg")
        id = None if context is None else self._ids.setdefault(context, secrets.token_hex(12))
        run, prompt = current_run() or Run.begin(name, id=id), text(asked) or text(get(asked, "content"))
        if prompt:
            run.event("message", role="user", text=prompt)
        return _Task(run, prompt)

    def _stepped(self, agent: BaseWorkflowAgent, take_step: Any) -> Any:
        @functools.wraps(take_step)
        async def stepped(*args: Any, **kwargs: Any) -> AgentOutput:
            task = _task.get()
            if task is None:
                return await take_step(*args, **kwargs)  # type: ignore[no-any-return]
            if task.halt is not None:
                raise LoopError(task.halt)
            prompt, task.prompt = task.prompt, ""
            if prompt and self._guard is not None:
                await self._guard.run(task.run.id).user(prompt)
            task.answered = False
            call = ModelCall(task.run, text(get(agent.llm, "metadata", "model_name")), agent.name)
            try:
                output: AgentOutput = await take_step(*args, **kwargs)
            except BaseException as error:
                call.failed(error)
                raise
            _answered(call, output)
            task.answered = not output.tool_calls
            return output

        return stepped

    def _guarded_tools(self, get_tools: Any, default: str) -> Any:
        @functools.wraps(get_tools)
        async def guarded(*args: Any, **kwargs: Any) -> Sequence[AsyncBaseTool]:
            agent = default or kwargs.get("agent_name") or args[0]
            return [self._guarded(tool, agent) for tool in await get_tools(*args, **kwargs)]

        return guarded

    def _guarded(self, tool: AsyncBaseTool, agent: str) -> AsyncBaseTool:
        """Returns a copy of the tool, since other agents may have it, too."""
        guarded: Any = copy.copy(tool)
        guarded.acall = functools.partial(self._call, tool, agent)
        return guarded  # type: ignore[no-any-return]

    async def _call(self, tool: AsyncBaseTool, agent: str, *args: Any, **kwargs: Any) -> ToolOutput:
        task, name = _task.get(), tool.metadata.get_name()
        if task is None:
            return await tool.acall(*args, **kwargs)
        to = text(kwargs.get("to_agent")) if name == "handoff" else ""
        asked = {key: value for key, value in kwargs.items() if key != get(tool, "ctx_param_name")} or list(args)
        call = AsyncToolCall(task.run, self._guard, f"handoff_to_{to}" if to else name, asked, agent=agent)
        decision = await call.begin()
        if decision.stopped:
            task.halt = decision if decision.halted else task.halt
            return _failure(name, asked, as_text(decision.result))
        try:
            output = await tool.acall(*args, **kwargs)
        except asyncio.CancelledError:
            await call.cancelled()
            raise
        except Exception as error:
            if type(error).__module__.startswith("workflows."):
                raise  # the tool waits for an event
            decision = await call.failed(error)
            if decision.result is UNSET:
                raise
            output = _failure(name, asked, str(error))
        else:
            value = output.content if output.raw_output is None else output.raw_output
            decision = await (call.failed(output.content) if output.is_error else call.completed(value))
        task.halt = decision if decision.halted else task.halt
        if decision.result is UNSET:
            return output
        return output.model_copy(update={"blocks": [*output.blocks, TextBlock(text=nudge(decision))]})


def _replace(target: Any, method: str, function: Any) -> None:
    """Replaces a method of one object. Agents are Pydantic models, which allow no other attributes."""
    object.__setattr__(target, method, function)


async def _end(task: _Task, handler: Any) -> None:
    try:
        await handler.stop_event_result()
    except asyncio.CancelledError as error:
        # A program that only reads the stream of events ends before the workflow does.
        task.run.end(error=None if task.answered else error)
        raise
    except BaseException as error:
        task.run.end(error=error)
    else:
        task.run.end()


def _failure(name: str, args: Any, content: str) -> ToolOutput:
    return ToolOutput(content=content, tool_name=name, raw_input={"args": args}, raw_output=content, is_error=True)


@never_raises
def _answered(call: ModelCall, output: AgentOutput) -> None:
    """Records the end of a model call. Its raw response has the token counts of OpenAI's or Anthropic's APIs, or unknown ones."""
    tokens = get(output.raw, "usage")
    details = get(tokens, "prompt_tokens_details") or get(tokens, "input_tokens_details")
    reasoning = get(tokens, "completion_tokens_details") or get(tokens, "output_tokens_details")
    prompt = get(tokens, "prompt_tokens") or get(tokens, "input_tokens")
    answer = get(tokens, "completion_tokens") or get(tokens, "output_tokens")
    cached, written = get(tokens, "cache_read_input_tokens"), get(tokens, "cache_creation_input_tokens")
    if cached or written:  # Anthropic's input tokens leave them out
        prompt = (prompt or 0) + (cached or 0) + (written or 0)
    counts = usage(prompt, answer, cached or get(details, "cached_tokens"), written, get(reasoning, "reasoning_tokens"))
    call.completed(counts, text=text(output.response.content))


__all__ = ["Unloop"]
