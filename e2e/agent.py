"""A guarded agent for the browser tests, as e2e/goagent. Its argument is the id of the run."""

import sys
import time

import unloop
from unloop.guard import Guard, LoopError

guard = Guard(run=sys.argv[1])


@guard.tool
@unloop.observe
def read_page(page: int) -> dict[str, object]:
    return {"page": page, "text": f"chapter {page * 7919}"}


try:
    with unloop.trace("python agent", id=sys.argv[1]) as run:
        page = 0
        while True:
            page += 1
            run.event("message", role="assistant", text=f"I read page {page}.")
            print("call", read_page(page), flush=True)
            time.sleep(0.05)
except LoopError as error:
    print("halted:", error, flush=True)
    unloop.flush()
    sys.exit(3)
