"""The same work, told by callbacks, by OpenTelemetry and by hand, is judged the same by a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import unloop
from conftest import Server
from langchain_agents import calls, pair, researcher, say, tools
from unloop.langchain import UnloopCallbackHandler
from works import WORKS, Step, verdict


@pytest.fixture
def server(make_server: Callable[..., Server], profile: str) -> Server:
    """A server that judges by a profile, and to which the package sends."""
    server = make_server("--profile", profile).start()
    unloop.configure(endpoint=server.url)
    return server


@pytest.fixture
def traced(server: Server) -> Iterator[Callable[[], None]]:
    """Has OpenInference trace all that LangChain does, until what it returns is called."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=server.url + "/v1/traces")))
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)

    def sent() -> None:
        assert provider.force_flush()
        instrumentor.uninstrument()

    yield sent
    provider.shutdown()


def by_hand(steps: list[Step], run: str) -> None:
    """An agent's loop without a framework, which tells what it does."""
    with unloop.trace("researcher", id=run):
        for step in [*steps, []]:
            unloop.event("llm_call_started")
            unloop.event("llm_call_completed", tokens=15)
            for n, (name, args) in enumerate(step):
                id = f"{name}-{n}"
                unloop.event("tool_call_started", tool=name, call_id=id, input=args)
                try:
                    said = tools[name].invoke({"type": "tool_call", "name": name, "args": args, "id": id})
                except ConnectionError as error:
                    unloop.event("tool_call_failed", tool=name, call_id=id, error=error)
                    continue
                if said.status == "error":
                    unloop.event("tool_call_failed", tool=name, call_id=id, error=said.content)
                else:
                    unloop.event("tool_call_completed", tool=name, call_id=id, output=said.content)


def graph(steps: list[Step], run: str, *callbacks: BaseCallbackHandler) -> None:
    lines = [*(calls(*step) for step in steps), say("I give up.")]
    researcher(lines, forgiving=True).invoke(
        {"messages": [("user", "Find the lost letter.")]}, {"callbacks": [*callbacks], "configurable": {"thread_id": run}}
    )


@pytest.mark.parametrize("profile", ["default", "looplens"])
def test_three_ways_of_telling_give_the_same_warnings(server: Server, profile: str, traced: Callable[[], None]) -> None:
    for n, work in enumerate(WORKS.values()):
        graph(work.steps, f"{n}-by-opentelemetry")
    traced()
    for n, work in enumerate(WORKS.values()):
        graph(work.steps, f"{n}-by-callbacks", UnloopCallbackHandler())
        by_hand(work.steps, f"{n}-by-hand")
    assert unloop.flush()

    def verdicts(way: str) -> dict[str, Any]:
        return {work: verdict(server, f"{n}-{way}") for n, work in enumerate(WORKS)}

    reference = {name: work.verdicts[profile] for name, work in WORKS.items()}
    assert verdicts("by-hand") == reference
    assert verdicts("by-callbacks") == reference
    assert verdicts("by-opentelemetry") == reference


@pytest.mark.parametrize(("profile", "rule"), [("default", "idle_handoffs"), ("looplens", "handoff_bounce")])
def test_handoffs_that_bounce_are_the_same_three_ways(server: Server, rule: str, traced: Callable[[], None]) -> None:
    def played(run: str, *callbacks: BaseCallbackHandler) -> None:
        pair(7).invoke({"messages": [("user", "Write.")]}, {"callbacks": [*callbacks], "configurable": {"thread_id": run}})

    played("by-opentelemetry")
    traced()
    played("by-callbacks", UnloopCallbackHandler())
    with unloop.trace("pair", id="by-hand"):
        for n in range(8):
            unloop.event("llm_call_started")
            unloop.event("llm_call_completed", tokens=15)
            if n < 7:
                unloop.event("handoff_started", agent=("critic", "writer")[n % 2])
    assert unloop.flush()

    reference = verdict(server, "by-hand")
    assert [found for found, _, _ in reference["warnings"]] == [rule]
    assert verdict(server, "by-callbacks") == reference
    assert verdict(server, "by-opentelemetry") == reference
