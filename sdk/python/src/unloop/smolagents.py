"""unloop for smolagents: it records an agent's tasks on the server and, with a guard, stops loops.

agent = Unloop(Guard()).protect(ToolCallingAgent(tools=[search], model=model))
"""

from __future__ import annotations

import contextvars
import copy
import dataclasses
import functools
import inspect
import weakref
from collections.abc import Generator
from typing import Any, TypeVar

from smolagents import ActionStep, Model, MultiStepAgent, Tool

from ._adapter import get, never_raises, text, usage
from ._calls import ModelCall, ToolCall, as_text, nudge
from ._run import Run, current_run
from ._unset import UNSET
from .guard import Decision, Guard, LoopError

Agent = TypeVar("Agent", bound=MultiStepAgent)


@dataclasses.dataclass
class _Task:
    """A task that an agent works on."""

    run: Run
    agent: str
    caller: _Task | None  # the task of the agent that manages this one
    own: bool = False  # the run ends with the task
    halt: Decision | None = None
    nudges: list[str] = dataclasses.field(default_factory=list)  # for the observations of the current step


_task: contextvars.ContextVar[_Task | None] = contextvars.ContextVar("unloop_smolagents", default=None)


class Unloop:
    """Records model calls with their tokens, tool calls, managed agents and answers. With a guard it decides about tool calls.

    A task (agent.run) is a run. Within unloop.trace(), and in managed agents, events belong to the current run. A blocked call
    returns the guard's answer. A warning is added to the observations of the step. On a halt run() raises LoopError.
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self._guard = guard
        self._tasks: weakref.WeakKeyDictionary[MultiStepAgent, _Task] = weakref.WeakKeyDictionary()

    def protect(self, agent: Agent) -> Agent:
        """Adds unloop to the agent, its tools and its managed agents. Returns the same agent."""
        self._protect(agent, None)
        return agent

    def _protect(self, agent: Any, manager: Any) -> None:
        if get(agent, "executor_type") in (None, "local"):  # another executor needs the source code of the tools
            for name, tool in agent.tools.items():
                if name != "final_answer" and not isinstance(get(tool, "forward"), _Forward):
                    agent.tools[name] = self._guarded(agent, tool)
        if "generate" not in vars(agent.model):
            _record_model(agent.model)
        agent.step_callbacks.register(ActionStep, self._stepped)
        agent.run = self._recorded(agent, agent.run, manager)
        for managed in agent.managed_agents.values():
            self._protect(managed, agent)

    def _guarded(self, agent: Any, tool: Tool) -> Tool:
        """Returns a copy of the tool, since other agents may have it, too."""
        guarded = copy.copy(tool)
        guarded.forward = _Forward(self, agent, tool)
        return guarded

    def call_of(self, agent: Any, tool: Tool, args: object) -> ToolCall:
        task = self._tasks.get(agent)
        return ToolCall(task.run if task else None, self._guard, tool.name, args, agent=task.agent if task else None)

    def decided(self, agent: Any, decision: Decision) -> None:
        """Remembers a halt for all agents of the run, and a nudge for the current step."""
        task = self._tasks.get(agent)
        if task is None:
            return
        if decision.ok and decision.result is not UNSET:
            task.nudges.append(nudge(decision))
        while decision.halted and task is not None:
            task.halt, task = decision, task.caller

    def _stepped(self, step: ActionStep, agent: Any) -> None:
        task = self._tasks.get(agent)
        if task is None:
            return
        if task.nudges:
            step.observations = "\n".join([*([step.observations] if step.observations else []), *task.nudges])
            task.nudges = []
        if task.halt is not None:
            agent.interrupt()

    def _recorded(self, agent: Any, run: Any, manager: Any) -> Any:
        @functools.wraps(run)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            task = self._begin(agent, manager, args[0] if args else kwargs.get("task"))
            if task is None:
                return run(*args, **kwargs)
            context = contextvars.copy_context()
            context.run(_task.set, task)
            active = task.run.activate()
            context.run(active.__enter__)
            try:
                result = context.run(run, *args, **kwargs)
            except BaseException as error:
                self._fail(task, error)
                raise
            if isinstance(result, Generator):
                return self._streamed(task, context, result)
            self._end(task, result)
            return result

        return recorded

    def _streamed(
        self, task: _Task, context: contextvars.Context, steps: Generator[Any, None, None]
    ) -> Generator[Any, None, None]:
        last: Any = None
        try:
            while True:
                last = context.run(next, steps)
                yield last
        except StopIteration:
            self._end(task, get(last, "output"))
        except BaseException as error:
            self._fail(task, None if isinstance(error, GeneratorExit) else error)
            raise

    @never_raises
    def _begin(self, agent: Any, manager: Any, prompt: object) -> _Task | None:
        name = agent.name or type(agent).__name__
        caller = self._tasks.get(manager) if manager is not None else None
        outer = caller.run if caller is not None else current_run()
        task = _Task(outer or Run.begin(name), name, caller, own=outer is None)
        self._tasks[agent] = task
        if caller is not None:
            task.run.event("handoff_started", agent=name, metadata={"from": caller.agent})
        elif isinstance(prompt, str):
            task.run.event("message", role="user", text=prompt)
            if self._guard is not None:
                self._guard.run(task.run.id).user(prompt)
        return task

    @never_raises
    def _end(self, task: _Task, answer: object) -> None:
        if isinstance(answer, str):
            task.run.event("message", role="assistant", agent=task.agent, text=str(answer))
        if task.own:
            task.run.end()

    def _fail(self, task: _Task, error: BaseException | None) -> None:
        """Ends the run. Raises LoopError if the guard halted it: smolagents reports that as an interruption."""
        halt = LoopError(task.halt) if task.halt is not None and isinstance(error, Exception) else None
        if task.own:
            task.run.end(error=halt or error)
        if halt is not None:
            raise halt from error


class _Forward:
    """The function of a tool, with the guard around it."""

    def __init__(self, unloop: Unloop, agent: Any, tool: Tool) -> None:
        self.unloop, self.agent, self.tool = unloop, weakref.ref(agent), tool
        self.forward = tool.forward
        self.__signature__ = inspect.signature(self.forward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        agent, named = self.agent(), {**dict(zip(self.tool.inputs, args, strict=False)), **kwargs}
        call = self.unloop.call_of(agent, self.tool, named)
        decision = call.begin()
        self.unloop.decided(agent, decision)
        if decision.stopped:
            answer = as_text(decision.result)
            if self.tool.output_type == "string":
                return answer
            raise RuntimeError(answer)  # the code of a CodeAgent cannot use a text in place of another type
        try:
            result = self.forward(*args, **kwargs)
        except Exception as error:
            self.unloop.decided(agent, call.failed(error))
            raise
        self.unloop.decided(agent, call.completed(result))
        return result


def _record_model(model: Model) -> None:
    """Has the model record its calls in the current task."""
    generate: Any = model.generate
    stream: Any = getattr(model, "generate_stream", None)

    @functools.wraps(generate)
    def generated(*args: Any, **kwargs: Any) -> Any:
        call = _model_call(model)
        try:
            message = generate(*args, **kwargs)
        except BaseException as error:
            call.failed(error)
            raise
        _answered(call, message.token_usage, message.content)
        return message

    def streamed(*args: Any, **kwargs: Any) -> Any:
        call, tokens, said = _model_call(model), None, []
        try:
            for delta in stream(*args, **kwargs):
                tokens = delta.token_usage or tokens
                said.append(text(delta.content))
                yield delta
        except BaseException as error:
            call.failed(error)
            raise
        _answered(call, tokens, "".join(said))

    model.generate = generated
    if stream is not None:
        model.generate_stream = streamed


def _model_call(model: Model) -> ModelCall:
    task = _task.get()
    return ModelCall(task.run if task else None, model.model_id, task.agent if task else None)


@never_raises
def _answered(call: ModelCall, tokens: Any, content: object) -> None:
    call.completed(usage(get(tokens, "input_tokens"), get(tokens, "output_tokens")), text=text(content))


__all__ = ["Unloop"]
