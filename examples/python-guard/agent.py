"""An agent that unloop guards: it asks before each tool call, is nudged when it repeats itself, and is stopped.

The model is a script here, so that the example runs by itself: python3 agent.py (unloop must be on the PATH).
Copy the class Guard; it needs Python 3.8 and nothing else.
"""

import itertools
import json
import subprocess


class Guard:
    """Asks `unloop guard`, which runs as a child process. One thread at a time."""

    def __init__(self, *flags):
        self.process = subprocess.Popen(
            ["unloop", "guard", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.ids = itertools.count(1)

    def ask(self, op, **fields):
        print(json.dumps({"op": op, **fields}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("unloop guard has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer

    def call(self, tool, function, args):
        """Runs function(**args) unless the guard stops it. Returns what the model gets, and whether the run must end."""
        number = next(self.ids)  # an outcome carries the id of its call
        verdict = self.ask("before", id=number, tool=tool, args=args)
        if verdict["action"] in ("block", "halt"):
            return verdict["result"], verdict["action"] == "halt"
        try:
            result, outcome = (value := function(**args)), {"result": value}
        except Exception as error:  # a tool may fail in any way; the model is told
            result, outcome = str(error), {"error": str(error)}
        verdict = self.ask("after", id=number, tool=tool, **outcome)
        return verdict.get("result", result), verdict["action"] == "halt"

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def search(query):
    return {"query": query, "hits": []}


def main():
    guard = Guard("--profile", "default")
    guard.ask("user", text="Find the page about loops.")
    for step in range(1, 20):
        args = {"query": "loops"}  # a model that does not listen
        told, halted = guard.call("search", search, args)
        print(f"{step}. the model gets: {json.dumps(told)}")
        if halted:
            print("The guard has ended the run.")
            break
    guard.close()


if __name__ == "__main__":
    main()
