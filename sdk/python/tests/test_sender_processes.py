"""Events reach the server from programs that end, are killed, fork, or share a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import unloop
from conftest import ROOT, Server
from sending import program, texts


def test_the_end_of_a_program_sends_what_it_has(server: Server) -> None:
    done = program(
        "with unloop.trace('p', id='p'):\n  for i in range(50): unloop.event('message', text=str(i))", UNLOOP_ENDPOINT=server.url
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert texts(server, "p") == [str(i) for i in range(50)]


def test_the_next_program_sends_what_the_last_one_left(make_server: Callable[..., Server]) -> None:
    server = make_server()
    for name in "ab":
        done = program(f"with unloop.trace('p', id={name!r}): unloop.event('message', text='x')", UNLOOP_ENDPOINT=server.url)
        assert done.returncode == 0
        assert "away" not in done.stdout
    server.start()
    unloop.configure(endpoint="http://127.0.0.1:1")
    with unloop.trace("elsewhere"):
        pass
    unloop.flush()
    assert server.runs() == [], "what was meant for one server does not go to another"
    unloop.configure(endpoint=server.url)
    with unloop.trace("p", id="c"):
        pass
    assert unloop.flush()
    assert sorted(run["id"] for run in server.runs()) == ["a", "b", "c"]
    assert unloop.stats().replayed == 6


def test_a_program_that_is_killed_leaves_what_it_buffered(make_server: Callable[..., Server]) -> None:
    server = make_server()
    done = program(
        "r = unloop.Run.begin('p', id='p')\nr.event('message', text='x')\nunloop.flush()\nos.kill(os.getpid(), 9)",
        UNLOOP_ENDPOINT=server.url,
    )
    assert done.returncode == -9
    (left,) = Path(os.environ["UNLOOP_BUFFER"]).iterdir()
    with left.open("ab") as file:
        file.write(b'{"event_id":"half a li')
    server.start()
    unloop.configure(endpoint=server.url)
    with unloop.trace("p", id="c"):
        pass
    assert unloop.flush()
    assert texts(server, "p") == ["x"]
    assert unloop.stats().rejected == 0


def test_processes_that_share_a_folder_do_not_spoil_one_another(make_server: Callable[..., Server]) -> None:
    server = make_server()
    body = "r = unloop.Run.begin('p', id=sys.argv[1])\nfor i in range(2000): r.event('message', text=str(i))\n"
    body += "unloop.flush(); unloop.flush()"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), "UNLOOP_ENDPOINT": server.url}
    command = [sys.executable, "-c", "import unloop, sys\n" + body]
    programs = [subprocess.Popen([*command, f"p{i}"], env=env, stderr=subprocess.DEVNULL) for i in range(4)]
    server.start()  # some buffer, some send, some replay what others left
    assert [p.wait(60) for p in programs] == [0] * 4
    unloop.configure(endpoint=server.url)
    with unloop.trace("last", id="last"):
        pass
    assert unloop.flush()
    for i in range(4):
        assert texts(server, f"p{i}") == [str(n) for n in range(2000)]


def test_the_sending_thread_imports_nothing(server: Server) -> None:
    """A process that is forked during an import by another thread never gets the module."""
    body = "before = set(sys.modules)\nunloop.Run.begin('p')\nprint(unloop.flush(60), set(sys.modules) - before)"
    assert program(body, UNLOOP_ENDPOINT=server.url).stdout == "True set()\n"


FORKS = """
import multiprocessing, threading
def child(n):
    with unloop.trace('c', id=f'c{n}'):
        for i in range(100): unloop.event('message', text=str(i))
if __name__ == '__main__':
    stop = threading.Event()
    def noise():
        r = unloop.Run.begin('noise', id='noise')
        while not stop.wait(0.0001): r.event('message', text='x')
    t = threading.Thread(target=noise); t.start()
    run = unloop.Run.begin('p', id='p')
    context = multiprocessing.get_context('fork')
    ps = [context.Process(target=child, args=(n,)) for n in range(8)]
    for p in ps: p.start()
    pid = os.fork()
    if pid == 0:
        for i in range(50): run.event('message', text='child of a fork')
        child(8)
        unloop.flush(60)
        os._exit(0)
    for i in range(50): run.event('message', text='parent')
    os.waitpid(pid, 0)
    for p in ps: p.join()
    stop.set(); t.join()
    print([p.exitcode for p in ps])
"""


def test_forks_send_what_is_theirs_and_only_that(server: Server, tmp_path: Path) -> None:
    done = program(FORKS, UNLOOP_ENDPOINT=server.url)
    assert done.stdout.strip() == str([0] * 8), done.stderr
    for n in range(9):
        assert texts(server, f"c{n}") == [str(i) for i in range(100)]
    told = texts(server, "p")
    assert (told.count("parent"), told.count("child of a fork")) == (50, 50), "they go on with one run, in two processes"
    assert server.get("/api/health") is not None
