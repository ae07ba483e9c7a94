"""Writes a guard's decisions into LangChain's messages: as text for the model, and in response_metadata, which is stored with
a message and not sent to models."""

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
from . import _extract

_KEY = "unloop"
_MAX_QUOTED = 2_000  # characters of the last text that the answer to a halt quotes


def decision_metadata(decision: Decision) -> dict[str, Any]:
    fields = {"action": decision.action, "code": decision.code, "count": decision.count, "message": decision.message}
    return {_KEY: fields}


def decision_of(message: BaseMessage) -> Decision | None:
    """Returns the decision in a message's metadata, or None."""
    fields = message.response_metadata.get(_KEY)
    if not isinstance(fields, Mapping) or fields.get("action") not in ("warn", "block", "halt"):
        return None
    return Decision(fields["action"], str(fields.get("code", "")), int(fields.get("count", 0)), str(fields.get("message", "")))


def halt_in(messages: Sequence[AnyMessage]) -> Decision | None:
    """Returns the halt decision in the last tool messages, or None."""
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        decision = decision_of(message)
        if decision and decision.halted:
            return decision
    return None


def with_nudge(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Returns the request with the warning about the model's last text. The warning is part of this request only."""
    last = next((m for m in reversed(request.messages) if isinstance(m, AIMessage)), None)
    decision = decision_of(last) if last else None
    if not decision or decision.halted:
        return request
    return request.override(messages=[*request.messages, HumanMessage(f"[loop-guard] {decision.message}")])


def text_with_calls(response: ModelResponse[Any]) -> AIMessage | None:
    """Returns the message with both text and tool calls, or None. A message without calls is the final answer."""
    for message in response.result:
        if isinstance(message, AIMessage) and message.tool_calls and _extract.text(message):
            return message
    return None


def annotate_response(response: ModelResponse[Any], message: AIMessage, decision: Decision) -> ModelResponse[Any]:
    if decision.action == "allow":
        return response
    annotated = message.model_copy(update={"response_metadata": {**message.response_metadata, **decision_metadata(decision)}})
    return dataclasses.replace(response, result=[annotated if m is message else m for m in response.result])


def halt_answer(decision: Decision, messages: Sequence[AnyMessage], message: AIMessage | None) -> AIMessage:
    """Returns the answer that replaces the model's: the reason of the halt, and the last text of this turn."""
    last_text = _extract.text(message) if message else _last_text(messages)
    text = f"[loop-guard] {decision.message}"
    if last_text:
        text = f"{text}\n\nWhat I had so far: {last_text[:_MAX_QUOTED]}"
    return AIMessage(content=text, response_metadata=decision_metadata(decision))


def _last_text(messages: Sequence[AnyMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return ""
        if isinstance(message, AIMessage) and (text := _extract.text(message)):
            return text
    return ""


def refusal(decision: Decision, tool: str, call: str) -> ToolMessage:
    """Returns the message that replaces the tool's message."""
    result = {"error": f"[loop-guard] {decision.message}"} if decision.result is UNSET else decision.result
    return ToolMessage(
        _as_text(result), name=tool, tool_call_id=call, status="error", response_metadata=decision_metadata(decision)
    )


def outcome_fields(outcome: object) -> dict[str, Any]:
    """Returns the outcome of a call as arguments of Guard.after."""
    value, failed = _extract.tool_result(outcome)
    return {"error": _as_text(value)} if failed else {"result": value}


def nudged_outcome(outcome: Any, decision: Decision) -> Any:
    """Returns a tool's outcome with the warning in its first tool message."""
    if decision.result is UNSET and decision.action == "allow":
        return outcome
    if isinstance(outcome, ToolMessage):
        return _nudged_message(outcome, decision)
    if isinstance(outcome, list):
        index = next((n for n, item in enumerate(outcome) if _extract.tool_messages(item)), None)
        return (
            outcome
            if index is None
            else [nudged_outcome(item, decision) if n == index else item for n, item in enumerate(outcome)]
        )
    found = _extract.tool_messages(outcome)
    if not isinstance(outcome, Command) or not found:
        return outcome
    update: Any = outcome.update
    first = found[0]
    if isinstance(update, Mapping):
        messages = [_nudged_message(m, decision) if m is first else m for m in update["messages"]]
        return dataclasses.replace(outcome, update={**update, "messages": messages})
    return dataclasses.replace(outcome, update=[_nudged_message(m, decision) if m is first else m for m in update])


def _nudged_message(message: ToolMessage, decision: Decision) -> ToolMessage:
    content: Any = message.content
    if isinstance(content, list):
        content = [*content, {"type": "text", "text": f"[loop-guard] {decision.message}"}]
    elif decision.result is not UNSET:
        content = _as_text(decision.result)
    return message.model_copy(
        update={"content": content, "response_metadata": {**message.response_metadata, **decision_metadata(decision)}}
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
