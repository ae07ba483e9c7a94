"""How a guard's decisions stand in LangChain's messages: in their text for the model, and as a mark in response_metadata, which
is kept with a message and sent to no model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from .._unset import UNSET
from ..guard import Decision
from . import _read

_MARK = "unloop"
_LONGEST = 2_000  # characters of what was said last that an answer repeats


def mark(decision: Decision) -> dict[str, Any]:
    told = {"action": decision.action, "code": decision.code, "count": decision.count, "message": decision.message}
    return {_MARK: told}


def marked(message: BaseMessage) -> Decision | None:
    """Returns the decision that stands in a message."""
    told = message.response_metadata.get(_MARK)
    if not isinstance(told, Mapping) or told.get("action") not in ("warn", "block", "halt"):
        return None
    return Decision(told["action"], str(told.get("code", "")), int(told.get("count", 0)), str(told.get("message", "")))


def halt_in(messages: Sequence[AnyMessage]) -> Decision | None:
    """Returns the decision of the last tool calls that the run must end."""
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        decision = marked(message)
        if decision and decision.halted:
            return decision
    return None


def nudged(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Adds the warning about what the model said last, for this once."""
    last = next((m for m in reversed(request.messages) if isinstance(m, AIMessage)), None)
    decision = marked(last) if last else None
    if not decision or decision.halted:
        return request
    return request.override(messages=[*request.messages, HumanMessage(f"[loop-guard] {decision.message}")])


def said_with_calls(response: ModelResponse[Any]) -> AIMessage | None:
    """Returns what the model said beside calling tools. What it says without calls is its answer, and the end."""
    for message in response.result:
        if isinstance(message, AIMessage) and message.tool_calls and _read.text(message):
            return message
    return None


def marked_response(response: ModelResponse[Any], said: AIMessage, decision: Decision) -> ModelResponse[Any]:
    if decision.action == "allow":
        return response
    told = said.model_copy(update={"response_metadata": {**said.response_metadata, **mark(decision)}})
    return dataclasses.replace(response, result=[told if m is said else m for m in response.result])


def partial_answer(decision: Decision, messages: Sequence[AnyMessage], said: AIMessage | None) -> AIMessage:
    """Returns an answer in place of the model's: why the run ends, and what was said last in this turn."""
    words = _read.text(said) if said else _last_words(messages)
    text = f"[loop-guard] {decision.message}"
    if words:
        text = f"{text}\n\nWhat I had so far: {words[:_LONGEST]}"
    return AIMessage(content=text, response_metadata=mark(decision))


def _last_words(messages: Sequence[AnyMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return ""
        if isinstance(message, AIMessage) and (said := _read.text(message)):
            return said
    return ""


def refusal(decision: Decision, tool: str, call: str) -> ToolMessage:
    """Returns the answer to a call in place of the tool's."""
    result = {"error": f"[loop-guard] {decision.message}"} if decision.result is UNSET else decision.result
    return ToolMessage(_as_text(result), name=tool, tool_call_id=call, status="error", response_metadata=mark(decision))


def outcome(told: object) -> dict[str, Any]:
    """Returns how a call ended, as a guard's after takes it."""
    value, failed = _read.answer(told)
    return {"error": _as_text(value)} if failed else {"result": value}


def warned(told: Any, decision: Decision) -> Any:
    """Returns a tool's outcome with the warning in the message that the model gets."""
    if decision.result is UNSET and decision.action == "allow":
        return told
    if isinstance(told, ToolMessage):
        return _warned_message(told, decision)
    if isinstance(told, list):
        place = next((n for n, one in enumerate(told) if _read.tool_messages(one)), None)
        return told if place is None else [warned(one, decision) if n == place else one for n, one in enumerate(told)]
    found = _read.tool_messages(told)
    if not isinstance(told, Command) or not found:
        return told
    update: Any = told.update
    first = found[0]
    if isinstance(update, Mapping):
        messages = [_warned_message(m, decision) if m is first else m for m in update["messages"]]
        return dataclasses.replace(told, update={**update, "messages": messages})
    return dataclasses.replace(told, update=[_warned_message(m, decision) if m is first else m for m in update])


def _warned_message(message: ToolMessage, decision: Decision) -> ToolMessage:
    content: Any = message.content
    if isinstance(content, list):
        content = [*content, {"type": "text", "text": f"[loop-guard] {decision.message}"}]
    elif decision.result is not UNSET:
        content = _as_text(decision.result)
    return message.model_copy(update={"content": content, "response_metadata": {**message.response_metadata, **mark(decision)}})


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
