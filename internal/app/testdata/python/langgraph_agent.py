"""A LangGraph agent whose model is a script, traced by OpenInference and sent by OpenTelemetry's SDK.

It sends to OTEL_EXPORTER_OTLP_ENDPOINT, a few spans at a time, while the agent is at work. It prints how many requests that
were, and fails if one of them did.
"""

import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult


class Script(BaseChatModel):
    """Answers with its lines, one after another."""

    lines: list
    at: int = 0

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        line = self.lines[self.at]
        self.at += 1
        return ChatResult(generations=[ChatGeneration(message=line)])


class Counted(SpanExporter):
    """Counts what is sent, and what cannot be."""

    def __init__(self, exporter):
        self.exporter, self.requests, self.failures = exporter, 0, 0

    def export(self, spans):
        answer = self.exporter.export(spans)
        self.requests += 1
        self.failures += answer is not SpanExportResult.SUCCESS
        return answer

    def shutdown(self):
        self.exporter.shutdown()

    def force_flush(self, timeout_millis=30000):
        return self.exporter.force_flush(timeout_millis)


@tool
def search(query: str, limit: int = 10) -> str:
    """Searches the archive."""
    return "one letter, of 1911"


@tool
def ask_agent(agent: str, question: str) -> str:
    """Asks another agent. The instrumentation takes a tool with such a name for an agent."""
    return "ask me tomorrow"


USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}


def call(number, name, **arguments):
    wanted = {"name": name, "args": arguments, "id": f"call_{number}"}
    return AIMessage(content="", tool_calls=[wanted], usage_metadata=USAGE)


def main():
    exporter = Counted(OTLPSpanExporter(compression=Compression.Gzip))
    provider = TracerProvider(resource=Resource.create({"service.name": "archive"}))
    provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=4, schedule_delay_millis=20))
    LangChainInstrumentor().instrument(tracer_provider=provider)

    lines = [call(number, "search", query="the lost letter", limit=5) for number in range(6)]
    lines.append(call(6, "ask_agent", agent="curator", question="where is it"))
    lines.append(AIMessage(content="I give up.", usage_metadata=USAGE))
    agent = create_agent(Script(lines=lines), [search, ask_agent], name="archivist")
    agent.invoke(
        {"messages": [("user", "find the lost letter")]},
        config={"recursion_limit": 40, "configurable": {"thread_id": "thread-7"}},
    )

    provider.shutdown()
    print(exporter.requests)
    return 1 if exporter.failures else 0


if __name__ == "__main__":
    sys.exit(main())
