"""An agent that reports by the published client: a call that goes well, one that fails, and one that loops."""

from looplens import event, observe, trace
from looplens.sdk import flush


@observe(kind="tool")
def divide(a, b):
    return a / b


with trace("research-agent", project="lab", metadata={"team": "loops", "level": 3}, run_id="sdk-run"):
    event("llm_call_started", model="gpt-x", agent="planner")
    event("llm_call_completed", model="gpt-x", agent="planner", tokens=321, cost=0.004, latency_ms=12, temperature=0.5)
    divide(4, 2)
    try:
        divide(1, 0)
    except ZeroDivisionError:
        event("retry_triggered", tool="divide")
    for _ in range(6):
        event("tool_call_started", tool="web_search", input={"query": "größe \U0001f600"}, agent="searcher")
        event("tool_call_completed", tool="web_search", output={"results": []}, agent="searcher", latency_ms=3)
    event("handoff_started", agent="writer", metadata={"via": "transfer_to_writer"})

try:
    with trace("failing-agent", run_id="sdk-failed"):
        raise RuntimeError("out of ideas")
except RuntimeError:
    pass

event("state_updated", note="outside of any run")
flush(10)
