package splice

import "fmt"

// The lookalikes of this file are the honest work of coding agents on a bug: the same commands, each of which rules something out.

func bugfixLookalikes() []kind {
	return []kind{
		{name: "failures_sorted_by_baseline", build: failuresSortedByBaseline},
		{name: "threads_read_for_deadlock", build: threadsReadForDeadlock},
		{name: "patch_reduced_to_culprit", build: patchReducedToCulprit},
		{name: "reported_inputs_tried", build: reportedInputsTried},
	}
}

// failuresSortedByBaseline runs each failing test without the change: some fail there as well, the others are regressions.
func failuresSortedByBaseline(p *generator) (entries []entry, _ int) {
	run, module, form := p.commands(), p.word(), p.IntN(3)
	branch, head := "fix/"+p.word(), fmt.Sprintf("%07x", p.IntN(1<<28))
	apart := p.coin()
	w := wording{
		[]string{"Several tests fail. Let me see for each whether my change broke it.", "I'll check the failing tests on the original code, one by one."},
		[]string{"", "Noted.", "Good to know.", "That sorts this one."},
		[]string{"The next failing test.", "Now the same for the next one.", "On to the next failure.", "Let me check the next one."},
	}
	stashed := "Saved working directory and index state WIP on " + branch + ": " + head + " wip"
	for k, name := range p.distinctWords(p.between(6, 11)) {
		test := []string{"python -m pytest -q tests/test_" + module + ".py::test_" + name, "go test ./" + module + "/ -run '^Test" + capitalized(name) + "$'", "npx jest -t 'handles the " + name + "'"}[form]
		value, want, line := p.word(), p.word(), p.between(20, 400)
		seconds := func() string { return fmt.Sprintf("%d.%02ds", p.IntN(4), p.IntN(100)) }
		fails := func() string {
			return []string{"E       AssertionError: assert '" + value + "' == '" + want + "'\n1 failed in " + seconds(), fmt.Sprintf("--- FAIL: Test%s (%s)\n    %s_test.go:%d: got %s, want %s\nFAIL", capitalized(name), seconds(), module, line, value, want), "  ● handles the " + name + "\n    Expected: \"" + want + "\"\n    Received: \"" + value + "\"\nTests:       1 failed\nTime:        " + seconds()}[form]
		}
		output, status := []string{"1 passed in " + seconds(), "ok  \texample.com/" + module + "\t" + seconds(), "Tests:       " + fmt.Sprint(p.between(20, 40)) + " skipped, 1 passed\nTime:        " + seconds()}[form], 0
		if p.IntN(3) > 0 {
			output, status = fails(), 1
		}
		if !apart {
			entries = append(entries, run("git stash -q && "+test+"; git stash pop -q", output, 0).after(w.of(p, k)))
			continue
		}
		entries = append(entries, run("git stash && "+test, stashed+"\n"+output, status).after(w.of(p, k)),
			run("git stash pop && "+test, "Dropped refs/stash@{0} ("+p.commit()+")\n"+fails(), 1).after(thought{"", p.pick("And with my change.", "")}))
	}
	return entries, 0
}

// threadsReadForDeadlock reads the stack of thread after thread; most wait in the same place, and one holds the lock.
func threadsReadForDeadlock(p *generator) (entries []entry, _ int) {
	run, pid, name := p.commands(), p.between(300, 40_000), p.word()
	form, holder := p.IntN(2), p.word()
	threads := p.between(8, 16)
	for k := range threads {
		address := func() string { return fmt.Sprintf("0x0000%012x", p.Uint64N(1<<44)) }
		lock := fmt.Sprintf("#0  %s in futex_wait (private=0, expected=2) at ../nptl/lowlevellock.c:49\n#1  %s in ___pthread_mutex_lock (mutex=0x5581a2c4e0) at ./nptl/pthread_mutex_lock.c:93\n#2  %s in %s_pool_get (n=%d) at src/%s/pool.c:118\n#3  %s in worker_main () at src/worker.c:64", address(), address(), address(), name, p.between(1, 64), name, address())
		command := fmt.Sprintf("gdb -p %d -batch -ex 'thread %d' -ex bt", pid, k+1)
		text := fmt.Sprintf("[Switching to thread %d (Thread 0x7f%010x (LWP %d))]\n", k+1, p.Uint64N(1<<40), pid+k) + lock
		if k == threads-1 {
			text = fmt.Sprintf("[Switching to thread %d (LWP %d)]\n#0  %s in __GI___poll (fds=%s, nfds=1, timeout=-1) at poll.c:29\n#1  %s in %s_flush (locked=true) at src/%s/flush.c:%d\n#2  %s in worker_main () at src/worker.c:64", k+1, pid+k, address(), address(), address(), holder, holder, p.between(20, 300), address())
		}
		if form == 1 {
			command = fmt.Sprintf("jstack %d | grep -A 5 '\"%s-worker-%d\"'", pid, name, k+1)
			text = fmt.Sprintf("\"%s-worker-%d\" #%d prio=5 os_prio=0 cpu=%d.%02dms elapsed=%d.1s tid=0x00007f%010x nid=%d waiting for monitor entry\n   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat com.example.%s.Pool.take(Pool.java:88)\n\t- waiting to lock <0x00000000e1c0a2b8> (a com.example.%s.Pool)", name, k+1, k+21, p.between(1, 900), p.IntN(100), p.between(90, 99), p.Uint64N(1<<40), pid+k+9, name, name)
			if k == threads-1 {
				text = fmt.Sprintf("\"%s-worker-%d\" #%d prio=5 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat java.net.SocketInputStream.read(SocketInputStream.java:151)\n\tat com.example.%s.Store.flush(Store.java:%d)\n\t- locked <0x00000000e1c0a2b8> (a com.example.%s.Pool)", name, k+1, k+21, holder, p.between(20, 300), name)
			}
		}
		t := thought{p.pick("This one waits for the lock.", "Blocked as well.", "Another waiter.", ""), p.pick("The next thread.", "Who holds it, then?", "Let me look at the next one.", "Next thread.")}
		if k == 0 {
			t = thought{"", p.pick("Let me see what each thread does.", "I look for the thread that holds the lock.")}
		}
		entries = append(entries, run(command, text, 0).after(t))
	}
	return entries, 0
}

// patchReducedToCulprit applies ever smaller parts of a large change to the good version, until one part makes the test fail.
func patchReducedToCulprit(p *generator) (entries []entry, _ int) {
	run, name := p.commands(), p.word()
	low, high := 1, p.pickInt(24, 32, 48, 64, 90)
	culprit := p.between(low, high)
	t := []struct{ file, test, pass, fail string }{
		{"src/" + name + ".c", "make -s check-" + name, "PASS: check-" + name + " (%d.%02ds)", "Segmentation fault (core dumped)\nmake: *** [Makefile:88: check-" + name + "] Error 139 after %d.%02ds"},
		{name + "/core.py", "python -m pytest -q tests/test_" + name + ".py", "9 passed in %d.%02ds", "E       assert 3 == 2\n1 failed, 8 passed in %d.%02ds"},
		{"src/" + name + ".rs", "cargo test -q " + name, "test result: ok. 9 passed; 0 failed; finished in %d.%02ds", "thread '" + name + "' panicked: assertion `left == right` failed\ntest result: FAILED. 8 passed; 1 failed; finished in %d.%02ds"},
	}[p.IntN(3)]
	first := true
	for low < high {
		middle := (low + high) / 2
		hunks := fmt.Sprintf("%d-%d", low, middle)
		if low == middle {
			hunks = fmt.Sprint(low)
		}
		bad := culprit <= middle
		format, status := t.pass, 0
		if bad {
			format, status = t.fail, 1
		}
		said := thought{p.pick("", "That narrows it down."), p.pick("Only "+hunks+" now.", "Let me apply "+hunks+" alone.", "Next, hunks "+hunks+".")}
		if first {
			said = thought{"", "The change is large. Let me find the part that breaks the test."}
		}
		entries = append(entries, run("git checkout -q -- . && filterdiff --hunks="+hunks+" full.patch | git apply -v -", "Checking patch "+t.file+"...\nApplied patch "+t.file+" cleanly.", 0).after(said),
			run(t.test, fmt.Sprintf(format, p.IntN(6), p.IntN(100)), status).after(thought{"", p.pick("Does it fail with these?", "Run the test.", "")}))
		first = false
		if bad {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return entries, 0
}

// reportedInputsTried tries the inputs of a bug report one by one; most are handled as they should be.
func reportedInputsTried(p *generator) (entries []entry, _ int) {
	run, module, function := p.commands(), p.word(), p.pick("parse", "normalize", "convert", "validate", "encode")
	form := p.IntN(3)
	right := []string{"True", "ok", "valid"}[form]
	inputs := p.shuffled("2026-02-29", "1e400", "", "  x ", "ä", "a/b/../c", "0x1F", "-0", "NaN", "[::1]:80", "%2e%2e", "https://user@host", "1_000", "12:60", "😀", "None", "a,b;c", "0.1+0.2")
	count := p.between(8, 14)
	for k, input := range inputs[:count] {
		command := []string{
			fmt.Sprintf("python -c 'from %s import %s; print(%s(%q) is not None)'", module, function, function, input), fmt.Sprintf("node -e 'console.log(require(\"./%s\").%s(%q) ? \"ok\" : \"refused\")'", module, function, input), fmt.Sprintf("./%s %s --input %q", module, function, input),
		}[form]
		output, status := right, 0
		if k == count-1 {
			output, status = []string{"Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nIndexError: string index out of range", "RangeError: Invalid array length\n    at " + function + " (" + module + ".js:" + fmt.Sprint(p.between(9, 300)) + ":12)", "panic: runtime error: index out of range [0] with length 0"}[form], 1
		}
		t := thought{p.pick("That one is fine.", "Handled correctly.", "No problem with that.", ""), p.pick("The next input of the report.", fmt.Sprintf("Let me try %q.", input), fmt.Sprintf("Next: %q.", input), "")}
		if k == 0 {
			t = thought{"", p.pick("Let me try the inputs of the report one by one.", fmt.Sprintf("The issue lists several inputs. I'll start with %q.", input))}
		}
		entries = append(entries, run(command, output, status).after(t))
	}
	return entries, 0
}
