"""UnloopMiddleware with real agents and a real guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import unloop
from conftest import Server
from langchain_agents import Script, call, calls, pair, researcher, say, search
from unloop.langchain import UnloopCallbackHandler, UnloopMiddleware

ASK: Any = {"messages": [("user", "Find the lost letter.")]}
RUNAWAY = [call("search", query="the lost letter")]

pytestmark = pytest.mark.usefixtures("guard_bin")


def deep(**configurable: str) -> Any:
    return {"recursion_limit": 60, "configurable": configurable}


def by_tools(result: dict[str, Any]) -> list[ToolMessage]:
    return [m for m in result["messages"] if isinstance(m, ToolMessage)]


def actions(result: dict[str, Any]) -> list[str]:
    return [m.response_metadata.get("unloop", {}).get("action", "allow") for m in by_tools(result)]


async def _astream(agent: Any) -> Any:
    return [state async for state in agent.astream(ASK, deep(), stream_mode="values")][-1]


WAYS: dict[str, Callable[[Any], Any]] = {
    "invoke": lambda agent: agent.invoke(ASK, deep()),
    "stream": lambda agent: list(agent.stream(ASK, deep(), stream_mode="values"))[-1],
    "ainvoke": lambda agent: asyncio.run(agent.ainvoke(ASK, deep())),
    "astream": lambda agent: asyncio.run(_astream(agent)),
}


def test_without_it_a_runaway_agent_runs_into_the_recursion_limit() -> None:
    with pytest.raises(GraphRecursionError):
        researcher(RUNAWAY).invoke(ASK, deep())


@pytest.mark.parametrize("way", WAYS)
def test_a_runaway_agent_is_nudged_then_blocked_then_ended_with_an_answer(way: str) -> None:
    result = WAYS[way](researcher(RUNAWAY, middleware=[UnloopMiddleware()]))
    told = by_tools(result)
    assert actions(result) == ["allow", "allow", "warn", "allow", "warn", "allow", "block", "block", "block", "halt"]
    assert told[1].content == "one letter, of 1911"
    assert str(told[2].content).startswith("one letter, of 1911 [loop-guard] You may be going round in circles: search ")
    assert json.loads(str(told[7].content))["loop_blocked"] is True
    assert told[7].status == "error"
    last = result["messages"][-1]
    assert isinstance(last, AIMessage)
    assert str(last.content).startswith("[loop-guard] Halted: ")
    assert not last.tool_calls
    answered = {m.tool_call_id for m in told}
    assert answered == {c["id"] for m in result["messages"] if isinstance(m, AIMessage) for c in m.tool_calls}


@pytest.mark.parametrize("way", WAYS)
def test_it_can_raise_instead(way: str) -> None:
    with pytest.raises(unloop.LoopError) as stopped:
        WAYS[way](researcher(RUNAWAY, middleware=[UnloopMiddleware(on_halt="raise")]))
    assert stopped.value.decision.halted
    assert stopped.value.decision.findings[0]["rule"] == "same_call_same_result"


def test_there_are_two_ways_to_halt() -> None:
    with pytest.raises(ValueError, match="on_halt"):
        UnloopMiddleware(on_halt="explode")  # type: ignore[arg-type]


def test_an_honest_agent_is_left_alone() -> None:
    lines = [call("read", page=n, text=f"Page {n} it is.") for n in range(25)]
    result = researcher([*lines, say("That is all.")], middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    assert set(actions(result)) == {"allow"}
    assert result["messages"][-1].content == "That is all."


def test_an_agent_that_listens_gets_on() -> None:
    def model(messages: list[Any]) -> AIMessage:
        return say("It is of 1911.") if "[loop-guard]" in messages[-1].content else call("search", query="the lost letter")

    result = researcher([model], middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    assert actions(result) == ["allow", "allow", "warn"]
    assert result["messages"][-1].content == "It is of 1911."


def test_the_answer_repeats_what_was_said_last() -> None:
    lines = [call("search", query="a", text="The archive has one letter, of 1911."), *RUNAWAY]
    result = researcher(lines, middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    assert result["messages"][-1].content.endswith("What I had so far: The archive has one letter, of 1911.")


def test_an_agent_that_says_the_same_again_is_told_and_ended() -> None:
    asked: list[list[Any]] = []

    def model(messages: list[Any]) -> AIMessage:
        asked.append(messages)
        return call("search", query=f"the lost letter {len(asked)}", text="I will look into the next box of letters.")

    result = researcher([model], middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    assert isinstance(asked[4][-1], HumanMessage)
    assert asked[4][-1].text.startswith("[loop-guard] You may be going round in circles: ")
    last = result["messages"][-1]
    assert str(last.content).startswith("[loop-guard] Halted: ")
    assert not last.tool_calls
    assert len([m for m in result["messages"] if isinstance(m, HumanMessage)]) == 1  # a nudge is for once


def test_a_failing_tool_that_the_agent_forgives_counts_as_failing() -> None:
    lines = [call("fetch", url=f"https://archive.example/{n}") for n in "abcdefghijklmnop"]
    result = researcher(lines, forgiving=True, middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    told = by_tools(result)
    assert "warn" in actions(result)
    assert actions(result)[-1] == "halt"
    assert "the host does not answer [loop-guard] " in str(told[actions(result).index("warn")].content)


def test_calls_side_by_side_are_each_joined_with_their_own_outcome() -> None:
    lines = [calls(("search", {"query": "the lost letter"}), ("read", {"page": n})) for n in range(10)]
    result = researcher([*lines, say("So be it.")], middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    warned = [m.name for m in by_tools(result) if "unloop" in m.response_metadata]
    assert set(warned) == {"search"}
    assert all(str(m.content).startswith("page ") for m in by_tools(result) if m.name == "read")


def test_an_answer_of_a_form_that_is_tried_again_is_no_loop_of_calls() -> None:
    class Found(BaseModel):
        year: int

    words = "The letter is from the archive of the old town."
    lines = [*[call("Found", year="long ago", text=words)] * 12, call("Found", year=1911, text=words)]
    agent: Any = create_agent(Script(lines=lines), [], response_format=ToolStrategy(Found), middleware=[UnloopMiddleware()])
    assert agent.invoke(ASK, deep())["structured_response"] == Found(year=1911)


def test_results_that_are_no_text_keep_their_form() -> None:
    @tool
    def look() -> list[dict[str, Any]]:
        """Looks at a picture."""
        return [{"type": "text", "text": "a letter"}, {"type": "image", "base64": "AAAA", "mime_type": "image/png"}]

    agent = create_agent(Script(lines=[call("look")]), [look], middleware=[UnloopMiddleware()])
    warned = next(m for m in by_tools(agent.invoke(ASK, deep())) if m.response_metadata)
    assert isinstance(warned.content, list)
    parts: list[Any] = warned.content
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[-1]["text"].startswith("[loop-guard] ")


def test_a_thread_is_one_run_and_a_person_begins_a_turn() -> None:
    agent = researcher(RUNAWAY, middleware=[UnloopMiddleware()], checkpointer=InMemorySaver())
    first = agent.invoke(ASK, deep(thread_id="a"))
    assert actions(first)[-1] == "halt"
    second = agent.invoke({"messages": [("user", "Look again, please.")]}, deep(thread_id="a"))
    assert actions(second)[len(actions(first))] == "warn"  # a person let it go on, and once more it found the same
    assert actions(second)[-1] == "halt"


def test_runs_without_a_thread_do_not_add_up() -> None:
    middleware = UnloopMiddleware()
    for _ in range(6):
        lines = [*RUNAWAY * 2, say("It is of 1911.")]
        assert actions(researcher(lines, middleware=[middleware]).invoke(ASK, deep())) == ["allow", "allow"]


def test_threads_and_tasks_at_once_are_guarded_apart() -> None:
    middleware = UnloopMiddleware()
    halted = ["allow", "allow", "warn", "halt"]

    def work(n: int) -> list[Any]:
        return RUNAWAY if n % 2 else [*RUNAWAY * 2, say("It is of 1911.")]

    def outline(result: Any) -> list[str]:
        found = actions(result)
        return [*found[:3], found[-1]] if len(found) > 2 else found

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: outline(researcher(work(n), middleware=[middleware]).invoke(ASK, deep())), range(8)))

    async def tasks() -> list[Any]:
        agents = [researcher(work(n), middleware=[middleware]) for n in range(8)]
        return list(await asyncio.gather(*(agent.ainvoke(ASK, deep(thread_id=f"t{n}")) for n, agent in enumerate(agents))))

    found += [outline(result) for result in asyncio.run(tasks())]
    assert found == [["allow", "allow"], halted] * 8


def test_an_agent_within_a_graph_begins_no_turn() -> None:
    lines = [*RUNAWAY, say("Found."), *RUNAWAY, say("Found again."), *RUNAWAY]
    graph = StateGraph(MessagesState)
    graph.add_node("inner", researcher(lines, middleware=[UnloopMiddleware()]))
    graph.add_edge(START, "inner")
    graph.add_conditional_edges("inner", lambda state: END if "[loop-guard]" in state["messages"][-1].content else "inner")
    result = graph.compile().invoke(ASK, deep(thread_id="t"))
    assert actions(result)[:3] == ["allow", "allow", "warn"]
    assert actions(result)[-1] == "halt"


def test_an_agent_that_a_tool_calls_begins_no_turn() -> None:
    helper = researcher([*RUNAWAY, say("Found.")] * 3 + RUNAWAY, middleware=[UnloopMiddleware()])
    found: list[str] = []

    @tool
    def delegate(task: str) -> str:
        """Asks another agent."""
        result = helper.invoke({"messages": [("user", task)]})
        found.extend(actions(result))
        return f"{result['messages'][-1].content} {task}"

    lines = [*(call("delegate", task=f"Box {n}, please.") for n in range(3)), say("So be it.")]
    create_agent(Script(lines=lines), [delegate], name="boss").invoke(ASK, deep(thread_id="t"))
    assert found == ["allow", "allow", "warn"]


def test_the_tools_of_a_graph_of_ones_own_can_be_guarded() -> None:
    guard = UnloopMiddleware(on_halt="raise")
    graph = StateGraph(MessagesState)
    model = Script(lines=RUNAWAY)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([search], wrap_tool_call=guard.wrap_tool_call, awrap_tool_call=guard.awrap_tool_call))
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", "model")
    for config in (deep(), deep(thread_id="t")):
        with pytest.raises(unloop.LoopError):
            graph.compile().invoke(ASK, config)


def test_agents_that_hand_over_to_each_other_still_do() -> None:
    result = pair(2, UnloopMiddleware()).invoke(ASK, deep(thread_id="t"))
    assert [m.name for m in by_tools(result)] == ["transfer_to_critic", "transfer_to_writer"]
    assert result["messages"][-1].content == "I keep it."


def test_agents_that_only_hand_over_to_each_other_are_ended() -> None:
    result = pair(50, UnloopMiddleware()).invoke(ASK, deep(thread_id="t"))
    assert "warn" in actions(result)
    assert result["messages"][-1].content.startswith("[loop-guard] Halted: ")


def test_a_tool_that_waits_for_a_person_is_asked_again() -> None:
    @tool
    def pay(euros: int) -> str:
        """Pays, if a person allows it."""
        return str(interrupt("May I?"))

    model = Script(lines=[call("pay", euros=3), say("Paid.")])
    agent = create_agent(model, [pay], middleware=[UnloopMiddleware()], checkpointer=InMemorySaver())
    assert "__interrupt__" in agent.invoke(ASK, deep(thread_id="t"))
    assert agent.invoke(Command(resume="yes"), deep(thread_id="t"))["messages"][-1].content == "Paid."


def test_what_a_tool_says_of_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [call("poll", job=1)]

    @tool
    def poll(job: int) -> str:
        """Asks how a job goes."""
        return "running"

    told: list[Any] = []
    before = unloop.Guard.before

    def noted(self: unloop.Guard, *args: Any, **kwargs: Any) -> unloop.Decision:
        told.append(kwargs["annotations"])
        return before(self, *args, **kwargs)

    monkeypatch.setattr(unloop.Guard, "before", noted)
    for metadata in ({"readOnlyHint": True, "title": "x"}, {"annotations": {"idempotentHint": False}}, None):
        poll.metadata = metadata
        create_agent(Script(lines=[*lines, say("Later.")]), [poll], middleware=[UnloopMiddleware()]).invoke(ASK, deep())
    assert told == [{"readOnlyHint": True}, {"idempotentHint": False}, None]


def test_calls_that_did_not_run_are_told_to_the_server(server: Server) -> None:
    agent = researcher(RUNAWAY, middleware=[UnloopMiddleware()])
    agent.invoke(ASK, deep(thread_id="sync") | {"callbacks": [UnloopCallbackHandler()]})
    asyncio.run(
        researcher(RUNAWAY, middleware=[UnloopMiddleware()]).ainvoke(
            ASK, deep(thread_id="async") | {"callbacks": [UnloopCallbackHandler()]}
        )
    )
    assert unloop.flush()
    for run in ("sync", "async"):
        types = [e["type"] for e in server.events(run)]
        assert (types.count("tool_call_started"), types.count("tool_call_blocked")) == (10, 3)
        assert server.run(run)["status"] == "completed"


def test_it_asks_a_server_where_it_is_told_to(server: Server) -> None:
    result = researcher(RUNAWAY, middleware=[UnloopMiddleware(endpoint=server.url)]).invoke(ASK, deep())
    assert actions(result)[-1] == "halt"


def test_without_a_guard_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNLOOP_BIN", "/nowhere/unloop")
    with pytest.raises(unloop.GuardUnavailable, match="on_missing"):
        UnloopMiddleware()


def test_where_it_is_told_to_the_agent_goes_on_without_a_guard(
    monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[str]]
) -> None:
    monkeypatch.setenv("UNLOOP_BIN", "/nowhere/unloop")
    result = researcher([*RUNAWAY * 12, say("Done.")], middleware=[UnloopMiddleware(on_missing="warn")]).invoke(ASK, deep())
    assert set(actions(result)) == {"allow"}
    assert len([line for line in logged() if "unguarded" in line]) == 1


def test_a_tool_that_is_cancelled_has_an_end() -> None:
    middleware = UnloopMiddleware()

    async def main() -> dict[str, Any]:
        @tool
        async def slow(query: str) -> str:
            """Looks something up, until it is cancelled."""
            running.cancel()
            await asyncio.Event().wait()
            return ""

        agent = create_agent(
            Script(lines=[call("slow", query="x")]), tools=[slow], middleware=[middleware], checkpointer=InMemorySaver()
        )
        running = asyncio.ensure_future(agent.ainvoke(ASK, deep(thread_id="t")))
        with pytest.raises(asyncio.CancelledError):
            await running
        return await middleware._async_guard.run("t").stats()

    assert asyncio.run(main())["decisions"] == 3, "of the question, and of the start and the end of the call"
