"""An agent of the Claude Agent SDK that loops, and the guard that nudges and stops it. The model API is a script on this machine, so no
key is needed.

python3 -m pip install "./sdk/python[claude-agent-sdk]"
python3 examples/python/claude_agent_sdk_agent.py
"""

import asyncio
import itertools
import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import unloop
from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool
from unloop.claude_agent_sdk import Unloop

numbers = itertools.count(1)


def answer() -> list[dict[str, Any]]:
    """The answer of a model that does not listen: it asks for the same search at each step."""
    number, usage = next(numbers), {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg-{number}", "type": "message", "role": "assistant", "model": "stubborn", "content": [], "usage": usage}
    call = {"type": "tool_use", "id": f"call-{number}", "name": "mcp__archive__search", "input": {}}
    args = {"type": "input_json_delta", "partial_json": '{"query": "the lost letter"}'}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": args},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]


class Stubborn(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None: ...


@tool("search", "Searches the archive.", {"query": str})
async def search(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "0 results"}]}


async def main(url: str, folder: str) -> None:
    environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CONFIG_DIR": folder}
    environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    archive = create_sdk_mcp_server("archive", tools=[search])
    allowed = ["mcp__archive__search"]
    options = ClaudeAgentOptions(mcp_servers={"archive": archive}, allowed_tools=allowed, env=environment, setting_sources=[])
    watched = Unloop(unloop.AsyncGuard())
    try:
        async for message in watched.watch(query(prompt="Find the letter.", options=watched.add_hooks(options))):
            print(type(message).__name__)
    except unloop.LoopError as stopped:
        print("stopped:", stopped)


model = ThreadingHTTPServer(("127.0.0.1", 0), Stubborn)
threading.Thread(target=model.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as configuration:
    asyncio.run(main(f"http://127.0.0.1:{model.server_port}", configuration))
