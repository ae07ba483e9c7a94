"""UnloopCallbackHandler with real graphs and a real server."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt

import unloop
from conftest import Server
from langchain_agents import Script, call, calls, pair, researcher, say, tools
from unloop.langchain import UnloopCallbackHandler

ASK: Any = {"messages": [("user", "Find the lost letter.")]}


def told_by(handler: UnloopCallbackHandler, thread: str = "", *, recursion_limit: int = 100) -> RunnableConfig:
    config: RunnableConfig = {"callbacks": [handler], "recursion_limit": recursion_limit}
    if thread:
        config["configurable"] = {"thread_id": thread}
    return config


def story(server: Server, run: str) -> list[str]:
    """The events of a run, each in a few words."""
    assert unloop.flush()
    lines = []
    for e in server.events(run):
        of = [e.get(field) for field in ("role", "agent", "tool", "name")]
        lines.append(" ".join([e["type"], *(text for text in of if text)]))
    return lines


ONE_SEARCH = [
    "run_started researcher",
    "message user",
    "llm_call_started researcher",
    "llm_call_completed researcher",
    "tool_call_started researcher search",
    "tool_call_completed researcher search",
    "llm_call_started researcher",
    "llm_call_completed researcher",
    "message assistant researcher",
    "run_completed researcher",
]


async def _astream(agent: Any, config: RunnableConfig) -> None:
    async for _ in agent.astream(ASK, config, stream_mode="messages"):
        pass


WAYS: dict[str, Callable[[Any, RunnableConfig], object]] = {
    "invoke": lambda agent, config: agent.invoke(ASK, config),
    "stream": lambda agent, config: list(agent.stream(ASK, config, stream_mode=["values", "messages"])),
    "ainvoke": lambda agent, config: asyncio.run(agent.ainvoke(ASK, config)),
    "astream": lambda agent, config: asyncio.run(_astream(agent, config)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_graph_is_told_whichever_way_it_is_called(way: str, server: Server) -> None:
    agent = researcher([call("search", query="the lost letter"), say("It is of 1911.")])
    WAYS[way](agent, told_by(UnloopCallbackHandler(), "t"))
    assert story(server, "t") == ONE_SEARCH
    start, end = (e for e in server.events("t") if e["type"].startswith("tool_call"))
    assert start["input"] == {"query": "the lost letter"}
    assert end["output"] == "one letter, of 1911"
    assert start["call_id"] == end["call_id"]
    assert end["latency_ms"] > 0
    run = server.run("t")
    assert (run["name"], run["status"]) == ("researcher", "completed")
    assert server.get("/api/runs/t/metrics")["total_tokens"] == 30


def test_what_a_model_and_a_person_said_is_told(server: Server) -> None:
    researcher([say("It is of 1911.")]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    messages = [(e["role"], e["text"]) for e in server.events("t") if e["type"] == "message"]
    assert messages == [("user", "Find the lost letter."), ("assistant", "It is of 1911.")]


def test_a_runaway_graph_is_noticed_while_it_runs(server: Server) -> None:
    agent = researcher([call("search", query="the lost letter")])
    with pytest.raises(GraphRecursionError):
        agent.invoke(ASK, told_by(UnloopCallbackHandler(), "t", recursion_limit=20))
    assert unloop.flush()
    assert ("same_call_same_result", "search", 10) in [(w["type"], w["subject"], w["count"]) for w in server.warnings("t")]
    assert server.run("t")["status"] == "failed"


def test_honest_work_is_not_warned_of(server: Server) -> None:
    lines = [call("read", page=n, text=f"Page {n} it is.") for n in range(30)]
    researcher([*lines, say("That is all.")]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    assert server.warnings("t") == []


def test_within_a_trace_all_belongs_to_that_run(server: Server) -> None:
    agent = researcher([call("search", query="a"), say("Done.")])
    with unloop.trace("evening", id="evening"):
        agent.invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
        unloop.event("state_updated")
    assert story(server, "evening") == ["run_started evening", *ONE_SEARCH[2:-1], "state_updated", "run_completed evening"]
    assert [run["id"] for run in server.runs()] == ["evening"]


def test_the_turns_of_a_thread_are_one_run_and_calls_without_a_thread_are_runs_of_their_own(server: Server) -> None:
    handler, agent = UnloopCallbackHandler(), researcher([say("Good evening.")])
    for _ in range(2):
        agent.invoke(ASK, told_by(handler, "t"))
        agent.invoke(ASK, told_by(handler))
    assert unloop.flush()
    assert len(server.runs()) == 3
    assert story(server, "t").count("message user") == 2


def test_threads_and_tasks_at_once_do_not_mix(server: Server) -> None:
    handler = UnloopCallbackHandler()

    def agent(n: int) -> Any:
        return researcher([*[call("search", query=f"letter {n}")] * 3, say("Done.")])

    def in_thread(n: int) -> None:
        agent(n).invoke(ASK, told_by(handler, f"run-{n}"))

    async def in_tasks() -> None:
        await asyncio.gather(*(agent(n).ainvoke(ASK, told_by(handler, f"run-{n}")) for n in range(8, 16)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(in_thread, range(8)))
    asyncio.run(in_tasks())
    assert unloop.flush()
    for n in range(16):
        inputs = [e["input"] for e in server.events(f"run-{n}") if e["type"] == "tool_call_started"]
        assert inputs == [{"query": f"letter {n}"}] * 3
    assert len(server.runs()) == 16


def test_parallel_branches_land_on_the_run_of_their_graph(server: Server) -> None:
    handler = UnloopCallbackHandler()

    def both(n: int) -> None:
        graph = StateGraph(MessagesState)
        for name in ("left", "right"):
            graph.add_node(name, researcher([calls(("search", {"query": name}), ("read", {"page": 1})), say("Done.")]))
            graph.add_edge(START, name)
        graph.compile(name="both").invoke(ASK, told_by(handler, f"run-{n}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(both, range(4)))
    assert unloop.flush()
    for n in range(4):
        events = server.events(f"run-{n}")
        started = sorted(str(e["input"]) for e in events if e["type"] == "tool_call_started")
        assert started == sorted(["{'query': 'left'}", "{'query': 'right'}", "{'page': 1}", "{'page': 1}"])
        assert [e["type"] for e in events if e["type"].startswith("run")] == ["run_started", "run_completed"]


def test_a_failing_tool_fails_its_call_and_the_run(server: Server) -> None:
    agent = researcher([call("fetch", url="https://archive.example")])
    with pytest.raises(ConnectionError):
        agent.invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert story(server, "t")[-2:] == ["tool_call_failed researcher fetch", "run_failed researcher"]
    assert server.events("t")[-2]["error"] == "ConnectionError: the host does not answer"


def test_a_tool_that_tells_its_failure_to_the_model_has_failed(server: Server) -> None:
    @tool
    def closed() -> str:
        """A tool that says that it failed."""
        raise ToolException("closed on Mondays")

    closed.handle_tool_error = True
    create_agent(Script(lines=[call("closed"), say("Later, then.")]), [closed]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    (failed,) = (e for e in server.events("t") if e["type"] == "tool_call_failed")
    assert failed["error"] == "closed on Mondays"


def test_a_failing_model_fails_its_call(server: Server) -> None:
    with pytest.raises(TimeoutError):
        researcher([TimeoutError("no answer")]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert story(server, "t")[-2:] == ["llm_call_failed researcher", "run_failed researcher"]


def test_tools_and_nodes_and_models_that_are_tried_again_are_retries(server: Server) -> None:
    handler = UnloopCallbackHandler()
    again = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    lines = [call("fetch", url="https://archive.example"), say("Nothing.")]
    researcher(lines, middleware=[again]).invoke(ASK, told_by(handler, "tool"))
    assert story(server, "tool").count("retry_triggered researcher fetch") == 2

    left = [2]

    def shaky(state: MessagesState) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise ConnectionError

    graph = StateGraph(MessagesState)
    graph.add_node("shaky", shaky, retry_policy=RetryPolicy(initial_interval=0, jitter=False))
    graph.add_edge(START, "shaky")
    graph.compile().invoke(ASK, told_by(handler, "node"))
    assert story(server, "node").count("retry_triggered shaky shaky") == 2

    model = Script(lines=[ConnectionError(), ConnectionError(), say("At last.")])
    patient = model.with_retry(wait_exponential_jitter=False, exponential_jitter_params={"initial": 0, "max": 0})
    with unloop.trace("model", id="model"):
        patient.invoke("Well?", told_by(handler))
    assert story(server, "model").count("retry_triggered Script") == 2


def test_handoffs_by_tools_are_told_once(server: Server) -> None:
    pair(3).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    handed = [(e["metadata"]["from"], e["agent"]) for e in server.events("t") if e["type"] == "handoff_started"]
    assert handed == [("writer", "critic"), ("critic", "writer"), ("writer", "critic")]
    assert server.run("t")["status"] == "completed"


def _thinking(name: str, goto: list[Any]) -> Any:
    model, left = Script(lines=[say(f"{name} thinks.")]), iter(goto)

    def node(state: MessagesState) -> Any:
        model.invoke("Well?")
        return Command(goto=next(left, END))

    return node


def test_commands_that_go_from_one_agent_to_another_are_handoffs(server: Server) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("writer", _thinking("writer", ["critic", "critic", "writer"]))
    graph.add_node("critic", _thinking("critic", [[Send("writer", ASK)], "writer"]))
    graph.add_edge(START, "writer")
    graph.compile().invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    handed = [(e["metadata"]["from"], e["agent"]) for e in server.events("t") if e["type"] == "handoff_started"]
    assert handed == [("writer", "critic"), ("critic", "writer"), ("writer", "critic"), ("critic", "writer")]


def test_commands_between_an_agent_and_its_tools_are_no_bouncing_handoffs(server: Server) -> None:
    def run_tools(state: MessagesState) -> Any:
        tools["read"].invoke({"page": len(state["messages"])})
        return Command(goto="agent", update={"messages": [HumanMessage("A page.")]})

    graph = StateGraph(MessagesState)
    graph.add_node("agent", _thinking("agent", ["tools"] * 6))
    graph.add_node("tools", run_tools)
    graph.add_edge(START, "agent")
    graph.compile().invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert story(server, "t").count("handoff_started tools") == 1
    assert story(server, "t").count("tool_call_started tools read") == 6


def test_a_run_that_waits_for_a_person_has_not_failed(server: Server) -> None:
    @tool
    def pay(euros: int) -> str:
        """Pays, if a person allows it."""
        return str(interrupt("May I?"))

    agent = create_agent(Script(lines=[call("pay", euros=3), say("Paid.")]), [pay], checkpointer=InMemorySaver())
    config = told_by(UnloopCallbackHandler(), "t")
    agent.invoke(ASK, config)
    assert story(server, "t")[-2:] == ["tool_call_completed tools pay", "run_completed LangGraph"]
    assert agent.invoke(Command(resume="yes"), config)["messages"][-1].content == "Paid."
    assert "failed" not in " ".join(story(server, "t"))


def test_who_leaves_a_stream_ends_the_run_without_a_failure(server: Server) -> None:
    agent = researcher([call("search", query="a"), say("Done.")])
    stream = agent.stream(ASK, told_by(UnloopCallbackHandler(), "t"))
    next(stream)
    stream.close()
    assert story(server, "t")[-1] == "run_completed researcher"
    assert server.events("t")[-1]["status"] == "cancelled"


def test_a_price_and_a_model_are_told_where_the_provider_tells_them(server: Server) -> None:
    answer = say("Dear.")
    answer.response_metadata = {"model_name": "grand-1", "token_usage": {"cost": 0.25}}
    researcher([answer]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    (end,) = (e for e in server.events("t") if e["type"] == "llm_call_completed")
    assert (end["model"], end["tokens"], end["cost"]) == ("grand-1", 15, 0.25)


def test_tokens_are_told_apart_so_that_the_server_knows_their_price(server: Server) -> None:
    answer = say("Dear.")
    answer.response_metadata = {"model_name": "gpt-4o"}
    answer.usage_metadata = {
        "input_tokens": 1000,
        "output_tokens": 100,
        "total_tokens": 1100,
        "input_token_details": {"cache_read": 600, "cache_creation": 0},
        "output_token_details": {"reasoning": 40},
    }
    researcher([answer]).invoke(ASK, told_by(UnloopCallbackHandler(), "t"))
    assert unloop.flush()
    (end,) = (e for e in server.events("t") if e["type"] == "llm_call_completed")
    parts = {"input_tokens": 1000, "output_tokens": 100, "cached_input_tokens": 600, "reasoning_tokens": 40}
    assert end["usage"] == parts
    assert end["cost"] == pytest.approx((400 * 2.5 + 600 * 1.25 + 100 * 10) / 1e6)


class Hostile:
    """What fails at whatever is done to it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")


def test_nothing_that_an_agent_does_makes_it_raise(server: Server, logged: Callable[[], list[str]]) -> None:
    handler = UnloopCallbackHandler()
    odd: list[Any] = [Hostile(), None, "\ud800", float("nan"), {"messages": Hostile()}, {"messages": [("user",)]}, [Hostile()], 3]
    for value in odd:
        assert RunnableLambda(lambda x: "fine").invoke(value, told_by(handler)) == "fine"
        assert RunnableLambda(lambda x: [odd]).invoke(value, told_by(handler))
        handler.on_tool_start(value, value, run_id=(id := uuid.uuid4()), inputs=value)
        handler.on_tool_end(value, run_id=id)
        handler.on_llm_start(value, value, run_id=(id := uuid.uuid4()), metadata=value, invocation_params=value)
        handler.on_llm_end(value, run_id=id)
        handler.on_chain_error(value, run_id=id)
        handler.on_custom_event("unloop.blocked", value, run_id=id)
    assert unloop.flush()
    assert not [line for line in logged() if "repr" in line]


def test_calls_that_never_end_are_forgotten_and_a_long_one_is_not(server: Server) -> None:
    handler = UnloopCallbackHandler()
    with unloop.trace("leaks", id="leaks"):
        handler.on_chain_start({}, {}, run_id=(root := uuid.uuid4()), name="root")
    for _ in range(25_000):
        handler._begin(uuid.uuid4(), {}, {"parent_run_id": root})
    assert len(handler._open) == 10_000
    open = handler._open.find(root)
    assert open is not None
    assert open.run.id == "leaks"


def test_streamed_tokens_are_one_model_call(server: Server) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("so many words")]))
    with unloop.trace("stream", id="t"):
        assert len(list(model.stream("Well?", told_by(UnloopCallbackHandler())))) > 3
    assert story(server, "t")[1:-1] == ["llm_call_started", "llm_call_completed", "message assistant"]
