"""Extracts names, texts, results and usage from LangChain's objects. The functions make no assumptions about their shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import LLMResult

from .. import _adapter
from .._unset import UNSET

_MAX_COMMANDS = 256  # commands of one tool or node that are read
_SESSION_KEYS = ("session_id", "conversation_id", "thread_id")  # in the order in which OpenInference looks for them


def session_id(metadata: Mapping[str, Any]) -> str | None:
    """Returns the id of the conversation, which is the id of the run, or None."""
    for key in _SESSION_KEYS:
        if metadata.get(key):
            return str(metadata[key])
    return None


def agent(metadata: Mapping[str, Any]) -> str | None:
    """Returns the name of the agent: that of create_agent, else the node of the outermost graph."""
    name = metadata.get("lc_agent_name")
    if isinstance(name, str) and name:
        return name
    outermost = str(metadata.get("langgraph_checkpoint_ns") or "").partition("|")[0].partition(":")[0]
    return outermost or metadata.get("langgraph_node") or None


def runnable_name(serialized: Mapping[str, Any] | None, given: Mapping[str, Any]) -> str:
    """Returns the name of a runnable."""
    if given.get("name"):
        return str(given["name"])
    description = serialized or {}
    path = description.get("id")
    return str(description.get("name") or (path[-1] if isinstance(path, list) and path else "langchain"))


def command_targets(output: Any) -> list[str]:
    """Returns the nodes that the commands in a node's output go to, without the end of the graph."""
    found: list[str] = []
    for command in output[:_MAX_COMMANDS] if isinstance(output, (list, tuple)) else [output]:
        goto = getattr(command, "goto", None)
        for to in [goto] if isinstance(goto, str) or hasattr(goto, "node") else (goto or ()):
            name = to if isinstance(to, str) else getattr(to, "node", None)
            if isinstance(name, str) and not name.startswith("__"):
                found.append(name)
    return found


def tool_result(output: Any) -> tuple[Any, bool]:
    """Returns a tool's result for the model, and whether it is an error. Ids that differ between calls are left out."""
    if isinstance(output, ToolMessage):
        return output.content, output.status == "error"
    messages = tool_messages(output)
    if messages:
        return messages[0].content, messages[0].status == "error"
    if hasattr(output, "goto") or _is_list_of_commands(output):
        return UNSET, False
    return output, False


def _is_list_of_commands(output: Any) -> bool:
    return isinstance(output, list) and bool(output) and all(hasattr(o, "goto") for o in output[:_MAX_COMMANDS])


def tool_messages(output: Any) -> list[ToolMessage]:
    """Returns the tool messages in a tool's output: a message, a command with messages, or a list of both."""
    if isinstance(output, ToolMessage):
        return [output]
    if isinstance(output, list):
        return [m for o in output[:_MAX_COMMANDS] if isinstance(o, ToolMessage) or hasattr(o, "goto") for m in tool_messages(o)]
    if not hasattr(output, "goto"):
        return []
    update = getattr(output, "update", None)
    messages = update.get("messages") if isinstance(update, Mapping) else update
    return [m for m in messages if isinstance(m, ToolMessage)] if isinstance(messages, (list, tuple)) else []


def text(message: Any) -> str:
    """Returns the text of a message, without tool calls and reasoning."""
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (
        b if isinstance(b, str) else b.get("text") if isinstance(b, Mapping) and b.get("type") == "text" else "" for b in content
    )
    return "".join(p for p in parts if isinstance(p, str))


def user_text(inputs: Any) -> str | None:
    """Returns the user's text at the end of a graph's input, or None."""
    messages = inputs.get("messages") if isinstance(inputs, Mapping) else inputs
    last = messages[-1] if isinstance(messages, (list, tuple)) and messages else messages
    if isinstance(last, HumanMessage):
        return text(last)
    if isinstance(last, Mapping) and (last.get("role") or last.get("type")) in ("user", "human"):
        return text(last.get("content"))
    if isinstance(last, (list, tuple)) and len(last) == 2 and last[0] in ("user", "human"):
        return text(last[1])
    return last if isinstance(last, str) else None


def replies(response: LLMResult) -> list[BaseMessage]:
    """Returns the first message of each answer. Text completion models have no messages."""
    found = [getattr(some[0], "message", None) for some in response.generations if some]
    return [message for message in found if isinstance(message, BaseMessage)]


def assistant_text(response: LLMResult) -> str:
    """Returns the text of a model's answer."""
    first = (some[0] for some in response.generations if some)
    return "\n".join(t for g in first if (t := text(getattr(g, "message", None) or getattr(g, "text", ""))))


def tokens(response: LLMResult) -> int | None:
    """Returns the total tokens of a model call, or None if the provider does not report them."""
    totals = [u["total_tokens"] for m in replies(response) if isinstance(m, AIMessage) and (u := m.usage_metadata)]
    if not totals:
        totals = [u["total_tokens"] for u in _usage_records(response) if isinstance(u.get("total_tokens"), int)]
    return sum(totals) if totals else None


def usage(response: LLMResult) -> dict[str, int]:
    """Returns the usage field of a model call; empty if the provider does not report it."""
    total: Counter[str] = Counter()
    for u in (m.usage_metadata for m in replies(response) if isinstance(m, AIMessage) and m.usage_metadata):
        cached, output = u.get("input_token_details") or {}, u.get("output_token_details") or {}
        kinds = cached.get("cache_read"), cached.get("cache_creation"), output.get("reasoning")
        total.update(_adapter.usage(u["input_tokens"], u["output_tokens"], *kinds))
    return dict(total)


def cost(response: LLMResult) -> float | None:
    """Returns the cost of a model call in US dollars, or None if the provider does not report it."""
    costs: Iterable[Any] = (u.get("cost") for u in _usage_records(response))
    valid = [float(c) for c in costs if isinstance(c, (int, float)) and not isinstance(c, bool) and c > 0]
    return sum(valid) if valid else None


def _usage_records(response: LLMResult) -> list[Mapping[str, Any]]:
    places = [m.response_metadata for m in replies(response)]
    found = [p.get(key) for p in places for key in ("token_usage", "usage")]
    found = [u for u in found if isinstance(u, Mapping)]
    if not found:
        total = (response.llm_output or {}).get("token_usage")
        found = [total] if isinstance(total, Mapping) else []
    return [u for u in found if isinstance(u, Mapping)]


def model(response: LLMResult) -> str | None:
    """Returns the model name of an answer."""
    for message in replies(response):
        for key in ("model_name", "model"):
            if message.response_metadata.get(key):
                return str(message.response_metadata[key])
    return None


def requested_model(given: Mapping[str, Any]) -> str | None:
    """Returns the model name of a request."""
    params = given.get("invocation_params") or {}
    name = params.get("model") or params.get("model_name") or (given.get("metadata") or {}).get("ls_model_name")
    return str(name) if name else None


def is_control_flow(error: BaseException) -> bool:
    """Reports whether LangGraph uses the exception to jump to another node or to wait for a person. It is not a failure."""
    return any(kind.__name__ == "GraphBubbleUp" for kind in type(error).__mro__)
