"""What LangChain's objects say, in unloop's words. Nothing here trusts the shape of what it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import LLMResult

from .. import _adapter
from .._unset import UNSET

_MANY = 256  # commands of one tool or node
_SESSIONS = ("session_id", "conversation_id", "thread_id")  # in the order in which OpenInference looks for them


def session(metadata: Mapping[str, Any]) -> str | None:
    """Returns the conversation that a graph is at work for, which names the run."""
    for key in _SESSIONS:
        if metadata.get(key):
            return str(metadata[key])
    return None


def agent(metadata: Mapping[str, Any]) -> str | None:
    """Returns who is at work: an agent that has a name, else the outermost graph's node."""
    name = metadata.get("lc_agent_name")
    if isinstance(name, str) and name:
        return name
    outermost = str(metadata.get("langgraph_checkpoint_ns") or "").partition("|")[0].partition(":")[0]
    return outermost or metadata.get("langgraph_node") or None


def title(serialized: Mapping[str, Any] | None, given: Mapping[str, Any]) -> str:
    """Returns the name of a runnable."""
    if given.get("name"):
        return str(given["name"])
    told = serialized or {}
    path = told.get("id")
    return str(told.get("name") or (path[-1] if isinstance(path, list) and path else "langchain"))


def destinations(output: Any) -> list[str]:
    """Returns the nodes that the commands in a node's output go to. The end is none."""
    found: list[str] = []
    for command in output[:_MANY] if isinstance(output, (list, tuple)) else [output]:
        goto = getattr(command, "goto", None)
        for to in [goto] if isinstance(goto, str) or hasattr(goto, "node") else (goto or ()):
            name = to if isinstance(to, str) else getattr(to, "node", None)
            if isinstance(name, str) and not name.startswith("__"):
                found.append(name)
    return found


def answer(output: Any) -> tuple[Any, bool]:
    """Returns what a tool told the model, and whether that is its failure. Ids that differ from call to call are left out."""
    if isinstance(output, ToolMessage):
        return output.content, output.status == "error"
    told = tool_messages(output)
    if told:
        return told[0].content, told[0].status == "error"
    if hasattr(output, "goto") or _is_list_of_commands(output):
        return UNSET, False
    return output, False


def _is_list_of_commands(output: Any) -> bool:
    return isinstance(output, list) and bool(output) and all(hasattr(o, "goto") for o in output[:_MANY])


def tool_messages(output: Any) -> list[ToolMessage]:
    """Returns the tool messages in a tool's output: itself, in a command's update, or in a list of these."""
    if isinstance(output, ToolMessage):
        return [output]
    if isinstance(output, list):
        return [m for o in output[:_MANY] if isinstance(o, ToolMessage) or hasattr(o, "goto") for m in tool_messages(o)]
    if not hasattr(output, "goto"):
        return []
    update = getattr(output, "update", None)
    messages = update.get("messages") if isinstance(update, Mapping) else update
    return [m for m in messages if isinstance(m, ToolMessage)] if isinstance(messages, (list, tuple)) else []


def text(message: Any) -> str:
    """Returns what a message says, without what it calls or thinks."""
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (
        b if isinstance(b, str) else b.get("text") if isinstance(b, Mapping) and b.get("type") == "text" else "" for b in content
    )
    return "".join(p for p in parts if isinstance(p, str))


def asked(inputs: Any) -> str | None:
    """Returns what a person said to a graph, None if its input ends in no such message."""
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
    """Returns the first message of each answer. Models that complete texts give none."""
    found = [getattr(some[0], "message", None) for some in response.generations if some]
    return [message for message in found if isinstance(message, BaseMessage)]


def said(response: LLMResult) -> str:
    """Returns what a model said."""
    first = (some[0] for some in response.generations if some)
    return "\n".join(t for g in first if (t := text(getattr(g, "message", None) or getattr(g, "text", ""))))


def tokens(response: LLMResult) -> int | None:
    """Returns the tokens of a model call, all together; None if that is not told."""
    told = [u["total_tokens"] for m in replies(response) if isinstance(m, AIMessage) and (u := m.usage_metadata)]
    if not told:
        told = [u["total_tokens"] for u in _usage(response) if isinstance(u.get("total_tokens"), int)]
    return sum(told) if told else None


def usage(response: LLMResult) -> dict[str, int]:
    """Returns the tokens of a model call as an event tells them apart; none if the provider does not."""
    total: Counter[str] = Counter()
    for u in (m.usage_metadata for m in replies(response) if isinstance(m, AIMessage) and m.usage_metadata):
        cached = u.get("input_token_details") or {}
        parts = _adapter.usage(u["input_tokens"], u["output_tokens"], cached.get("cache_read"), cached.get("cache_creation"))
        total.update(parts)
    return dict(total)


def cost(response: LLMResult) -> float | None:
    """Returns US dollars, from providers that tell them beside the tokens."""
    costs: Iterable[Any] = (u.get("cost") for u in _usage(response))
    told = [float(c) for c in costs if isinstance(c, (int, float)) and not isinstance(c, bool) and c > 0]
    return sum(told) if told else None


def _usage(response: LLMResult) -> list[Mapping[str, Any]]:
    places = [m.response_metadata for m in replies(response)]
    found = [p.get(key) for p in places for key in ("token_usage", "usage")]
    found = [u for u in found if isinstance(u, Mapping)]
    if not found:
        total = (response.llm_output or {}).get("token_usage")
        found = [total] if isinstance(total, Mapping) else []
    return [u for u in found if isinstance(u, Mapping)]


def model(response: LLMResult) -> str | None:
    """Returns the name of the model that answered."""
    for message in replies(response):
        for key in ("model_name", "model"):
            if message.response_metadata.get(key):
                return str(message.response_metadata[key])
    return None


def model_asked(given: Mapping[str, Any]) -> str | None:
    """Returns the name of the model that is asked."""
    params = given.get("invocation_params") or {}
    name = params.get("model") or params.get("model_name") or (given.get("metadata") or {}).get("ls_model_name")
    return str(name) if name else None


def steers(error: BaseException) -> bool:
    """Reports whether an exception is LangGraph's way to go elsewhere or to wait for a person. It is no failure."""
    return any(kind.__name__ == "GraphBubbleUp" for kind in type(error).__mro__)
