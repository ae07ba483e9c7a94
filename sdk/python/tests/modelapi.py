"""A server on this machine that answers as the APIs of OpenAI, Anthropic and Gemini do, from a script."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """The model asks for a tool."""

    tool: str
    args: dict[str, Any]


class Calls(NamedTuple):
    """The model asks for several tools at once."""

    calls: list[Call]


class Say(NamedTuple):
    """The model answers."""

    text: str


class Fail(NamedTuple):
    """The API refuses."""

    status: int


class Tokens(NamedTuple):
    """What each answer is said to have cost."""

    prompt: int
    answer: int


Asked = list[Call]
Turn = Call | Calls | Say | Fail
TOKENS = Tokens(100, 10)

RUNAWAY: list[Turn] = [*[Call("search", {"query": "loops"})] * 12, Say("I give up.")]
HONEST: list[Turn] = [*[Call("search", {"query": q}) for q in ("harbour", "depth of it", "tides", "charts")], Say("7 m.")]


def search(query: str) -> str:
    """Looks something up. What is found depends on the question, but loops are not found.

    Args:
        query: the question
    """
    return "0 results" if query == "loops" else f"a page about {query} that says {sum(map(ord, query))}"


class ModelAPI:
    """Plays its turns, one a request, and keeps the requests."""

    def __init__(self, turns: list[Turn], tokens: Tokens) -> None:
        self.turns = iter(turns)
        self.tokens = tokens
        self.requests: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.requests.append(body)
        turn, number = next(self.turns), len(self.requests)
        if isinstance(turn, Fail):
            return turn.status, {"error": {"type": "overloaded_error", "message": "come again"}}
        said: Asked | Say = [turn] if isinstance(turn, Call) else turn.calls if isinstance(turn, Calls) else turn
        if "enerateContent" in path:
            return 200, _content(said, "streamGenerateContent" in path, self.tokens)
        make = {"chat/completions": _chat, "responses": _response, "messages": _message}
        return 200, make[path.partition("/v1/")[2].partition("?")[0]](said, number, body.get("stream") is True, self.tokens)


@contextlib.contextmanager
def serve(turns: list[Turn], tokens: Tokens = TOKENS) -> Iterator[ModelAPI]:
    api = ModelAPI(turns, tokens)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = api.answer(self.path, body)
            streamed = isinstance(said, list)
            data = "".join(said) if streamed else json.dumps(said)
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
            self.send_header("Content-Length", str(len(data.encode())))
            self.end_headers()
            self.wfile.write(data.encode())

        def log_message(self, *args: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # many agents may connect at once

    server = Server(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _chat(said: Asked | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    usage: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.answer, "total_tokens": sum(tokens)}
    usage["completion_tokens_details"] = {"reasoning_tokens": 4}
    head: dict[str, Any] = {"id": f"chat-{number}", "created": 1, "model": "coder-2-0801"}
    if isinstance(said, Say):
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": letter} for letter in said.text)]
    else:
        calls, parts = [], []
        for index, (tool, args) in enumerate(said):
            call: dict[str, Any] = {"id": _id(number, index), "type": "function"}
            text = json.dumps(args)
            calls.append({**call, "function": {"name": tool, "arguments": text}})
            parts.append({**call, "index": index, "function": {"name": tool, "arguments": ""}})
            parts += [{"index": index, "function": {"arguments": letter}} for letter in text]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        deltas = [{"role": "assistant", "content": None, "tool_calls": [part]} for part in parts]
    reason = "stop" if isinstance(said, Say) else "tool_calls"
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": usage}]
    told = [json.dumps({**head, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return [f"data: {line}\n\n" for line in [*told, "[DONE]"]]


def _response(said: Asked | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    if isinstance(said, Say):
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        items: list[dict[str, Any]] = [{"type": "message", "role": "assistant", "content": content}]
    else:
        items = [
            {"type": "function_call", "call_id": _id(number, index), "name": tool, "arguments": json.dumps(args)}
            for index, (tool, args) in enumerate(said)
        ]
    items = [{"id": f"item-{number}-{index}", "status": "completed", **item} for index, item in enumerate(items)]
    body: dict[str, Any] = {
        "id": f"resp-{number}",
        "object": "response",
        "created_at": 1,
        "model": "coder-2-0801",
        "status": "completed",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens.prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": tokens.answer,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": sum(tokens),
        },
    }
    if not streamed:
        return body
    begun: dict[str, Any] = {**body, "status": "in_progress", "output": [], "usage": None}
    done = [
        {"type": f"response.output_item.{what}", "output_index": index, "item": item}
        for index, item in enumerate(items)
        for what in ("added", "done")
    ]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        *done,
        {"type": "response.completed", "response": body},
    ]
    return [_event({**event, "sequence_number": k}) for k, event in enumerate(events)]


def _message(said: Asked | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    if isinstance(said, Say):
        blocks: list[dict[str, Any]] = [{"type": "text", "text": said.text}]
    else:
        blocks = [
            {"type": "tool_use", "id": _id(number, index), "name": tool, "input": args} for index, (tool, args) in enumerate(said)
        ]
    reason = "end_turn" if isinstance(said, Say) else "tool_use"
    cached, written = tokens.prompt // 2, tokens.prompt // 10
    begun_usage = {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written, "output_tokens": 1}
    begun_usage["input_tokens"] = tokens.prompt - cached - written
    ended_usage = {"output_tokens": tokens.answer, "output_tokens_details": {"thinking_tokens": 4}}
    usage = {**begun_usage, **ended_usage}
    head: dict[str, Any] = {"id": f"msg-{number}", "type": "message", "role": "assistant", "model": "coder-2-0801"}
    if not streamed:
        return {**head, "content": blocks, "stop_reason": reason, "stop_sequence": None, "usage": usage}
    begun: dict[str, Any] = {
        **head,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": begun_usage,
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        *(event for index, block in enumerate(blocks) for event in _block_events(index, block)),
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": ended_usage,
        },
        {"type": "message_stop"},
    ]
    return [_event(event) for event in events]


def _block_events(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        empty, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": letter} for letter in block["text"]]
    else:
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": letter} for letter in json.dumps(block["input"])]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _content(said: Asked | Say, streamed: bool, tokens: Tokens) -> Any:
    if isinstance(said, Say):
        answered: list[list[dict[str, Any]]] = [[{"text": text}] for text in (said.text if streamed else [said.text])]
    else:
        answered = [[{"functionCall": {"name": tool, "args": args}} for tool, args in said]]
    usage = {"promptTokenCount": tokens.prompt, "candidatesTokenCount": tokens.answer - 4, "thoughtsTokenCount": 4}
    usage["totalTokenCount"] = sum(tokens)
    answers: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "coder-2-0801"}
        for parts in answered
    ]
    answers[-1]["candidates"][0]["finishReason"] = "STOP"
    answers[-1]["usageMetadata"] = usage
    return [f"data: {json.dumps(answer)}\n\n" for answer in answers] if streamed else answers[0]


def _id(number: int, index: int) -> str:
    return f"call-{number}" if index == 0 else f"call-{number}-{index}"


def _event(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
