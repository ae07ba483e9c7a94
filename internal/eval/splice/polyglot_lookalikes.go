package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that write code in several languages: they measure after each change.

func polyglotLookalikes() []kind {
	return []kind{
		{name: "memory_leaks_plugged", build: memoryLeaksPlugged},
		{name: "layout_measured", build: layoutMeasured},
		{name: "skipped_tests_enabled", build: skippedTestsEnabled},
		{name: "hot_spots_removed", build: hotSpotsRemoved},
		{name: "flake_rate_falls", build: flakeRateFalls},
	}
}

// memoryLeaksPlugged frees block after block; each run of valgrind shows one leak less.
func memoryLeaksPlugged(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	leaks := p.distinct(p.between(3, 6))
	lines := make([]int, len(leaks))
	for k := range lines {
		lines[k] = p.between(20, 400)
	}
	valgrind := func(left int) entry {
		pid := p.between(200, 30_000)
		var output strings.Builder
		fmt.Fprintf(&output, "==%d== Memcheck, a memory error detector\n==%d== Command: ./%s input.txt\n==%d== \n==%d== HEAP SUMMARY:\n==%d==     in use at exit: %d bytes in %d blocks", pid, pid, name, pid, pid, pid, 64*left, left)
		for k := len(leaks) - left; k < len(leaks); k++ {
			fmt.Fprintf(&output, "\n==%d== 64 bytes in 1 blocks are definitely lost in loss record %d of %d\n==%d==    at 0x4848899: malloc (vg_replace_malloc.c:446)\n==%d==    by 0x109%03X: read_%s (%s.c:%d)\n==%d==    by 0x109%03X: main (main.c:%d)", pid, k+1, len(leaks), pid, pid, p.IntN(4096), leaks[k], name, lines[k], pid, p.IntN(4096), 30+k)
		}
		fmt.Fprintf(&output, "\n==%d== ERROR SUMMARY: %d errors from %d contexts (suppressed: 0 from 0)", pid, left, left)
		return h.shell("make -s && valgrind --leak-check=full --error-exitcode=1 ./"+name+" input.txt", output.String(), min(left, 1))
	}
	entries = append(entries, valgrind(len(leaks)).after(thought{next: "Let me see what valgrind finds."}))
	for k, leak := range leaks {
		left := len(leaks) - k - 1
		entries = append(entries,
			h.replace(name+".c", "    return "+leak+"_count;", "    free("+leak+");\n    return "+leak+"_count;").after(thought{fmt.Sprintf("%d leaks are left.", left+1), "read_" + leak + " never frees its buffer. I'll free it before the return."}),
			valgrind(left).after(thought{next: p.pick("Run valgrind for the rest.", "Is the leak of read_"+leak+" gone?", "Check again with valgrind.")}))
	}
	return entries, 0
}

// layoutMeasured corrects one box of a page after the other; after each edit the browser measures that one box more is in its place.
func layoutMeasured(p *generator) (entries []entry, _ int) {
	h, boxes := p.harness(), p.distinct(p.between(3, 5))
	for k, box := range boxes {
		var tree strings.Builder
		tree.WriteString("{\n  \"url\": \"http://localhost:5173/\",\n  \"boxes\": [")
		for n, name := range boxes {
			width, state := 960, "ok"
			if n > k {
				width, state = 1100+40*n, "overflows"
			}
			fmt.Fprintf(&tree, "\n    { \"selector\": \".%s\", \"top\": %d, \"left\": 0, \"width\": %d, \"viewport\": 960, \"state\": \"%s\" },", name, 120*n, width, state)
		}
		t := thought{p.pick("That box fits now.", "The previous one is in place.", fmt.Sprintf("%d of %d boxes fit.", k, len(boxes))), "Next is ." + box + "."}
		if k == 0 {
			t = thought{fmt.Sprintf("%d boxes overflow.", len(boxes)), "I'll correct them from the top, beginning with ." + box + "."}
		}
		entries = append(entries,
			h.replace("src/styles/main.css", "."+box+" {", "."+box+" {\n  max-width: 100%;").after(t),
			call("browser_evaluate", object("function", "() => measureBoxes()"), content(tree.String()+"\n  ]\n}")).after(thought{next: p.pick("Let me measure the page.", "Does ."+box+" fit now?", "Measuring.")}))
	}
	return entries, 0
}

// skippedTestsEnabled provides service after service that tests need; fewer tests are skipped each time.
func skippedTestsEnabled(p *generator) (entries []entry, _ int) {
	run, services := p.commands(), p.shuffled("postgres:16", "redis:7", "minio/minio", "rabbitmq:3", "elasticsearch:8.14.1")[:p.between(3, 4)]
	each := p.between(3, 9)
	total := each * (len(services) + 2)
	suite := func(left int) entry {
		var output strings.Builder
		fmt.Fprintf(&output, "============================= test session starts ==============================\nplatform linux -- Python 3.11.9, pytest-8.2.2, pluggy-1.5.0\nrootdir: /workspace\ncollected %d items\n\ntests/integration %s%s [100%%]\n\n=========================== short test summary info ============================", total, strings.Repeat(".", total-left*each), strings.Repeat("s", left*each))
		for _, image := range services[len(services)-left:] {
			name, _, _ := strings.Cut(image, ":")
			fmt.Fprintf(&output, "\nSKIPPED [%d] tests/integration/conftest.py: %s is not available", each, name)
		}
		fmt.Fprintf(&output, "\n================== %d passed, %d skipped in %d.%02ds ==================", total-left*each, left*each, p.between(1, 30), p.IntN(100))
		return run("python -m pytest tests/integration -rs", output.String(), 0)
	}
	entries = append(entries, suite(len(services)).after(thought{next: "Which tests are skipped, and why?"}))
	for k, image := range services {
		left := len(services) - k - 1
		name, _, _ := strings.Cut(image, ":")
		entries = append(entries,
			run("docker run -d --network host "+image, fmt.Sprintf("Unable to find image '%s' locally\nPulling from library/%s\nDigest: sha256:%016x%016x\nStatus: Downloaded newer image for %s\n%016x%016x", image, name, p.Uint64(), p.Uint64(), image, p.Uint64(), p.Uint64()), 0).after(thought{fmt.Sprintf("%d tests are skipped.", (left+1)*each), "Some of them need " + name + ". I'll start it."}),
			suite(left).after(thought{name + " is up.", p.pick("Run the suite with it.", "Now its tests should run.", "Again, with "+name+".")}))
	}
	return entries, 0
}

// hotSpotsRemoved profiles a program, makes the slowest function faster and profiles it again; the total falls each time.
func hotSpotsRemoved(p *generator) (entries []entry, _ int) {
	h, functions, total := p.harness(), p.distinct(p.between(4, 6)), p.between(20_000, 60_000)
	profile := func(from int) entry {
		var output strings.Builder
		fmt.Fprintf(&output, "         %d function calls in %d.%03d seconds\n\n   Ordered by: internal time\n\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)", p.between(1e5, 9e6), total/1000, total%1000)
		for k, name := range functions[from:] {
			took := total * 60 / 100 >> k
			fmt.Fprintf(&output, "\n %8d %4d.%03d    0.000 %4d.%03d    0.000 core.py:%d(%s)", p.between(100, 90_000), took/1000, took%1000, took/1000, took%1000, p.between(10, 600), name)
		}
		return h.shell("python -m cProfile -s tottime bench.py | head -20", output.String(), 0)
	}
	entries = append(entries, profile(0).after(thought{next: "Let me profile it first."}))
	for k, name := range functions[:len(functions)-1] {
		total = total * p.between(35, 60) / 100
		signature := "def " + name + "(" + p.word() + "):"
		entries = append(entries,
			h.replace("core.py", signature, p.pick("@functools.cache\n", "@lru_cache(maxsize=4096)\n")+signature).after(thought{name + " takes most of the time now.", p.pick("I'll cache its results.", "A lookup table helps here.", "It recomputes the same values, so I change that.")}),
			profile(k+1).after(thought{next: p.pick("Profile again.", "How much did that save?", "Let me measure it.")}))
	}
	return entries, 0
}

// flakeRateFalls runs a test a hundred times after each fix of a race; it fails less often each time.
func flakeRateFalls(p *generator) (entries []entry, _ int) {
	h, name, fails := p.harness(), "Test"+capitalized(p.word()), p.between(30, 70)
	fixes := p.shuffled("\tmu.Lock()\n\tdefer mu.Unlock()", "\tdone := make(chan struct{})", "\tt.Cleanup(srv.Close)", "\twg.Wait()", "\tatomic.AddInt64(&n, 1)")
	for k, fix := range fixes[:p.between(3, 5)] {
		output := fmt.Sprintf("%s: %d runs so far, %d failures\n--- FAIL: %s (0.%02ds)\n    pool_test.go:%d: got %d items, want 100\nFAIL\nexit status 1\n%s: 100 runs so far, %d failures (%d.00%%)\n100 runs total, %d failures", "5s", p.between(40, 60), fails/2, name, p.IntN(100), p.between(20, 90), p.between(80, 99), "10s", fails, fails, fails)
		t := thought{fmt.Sprintf("%d of 100 runs fail.", fails), p.pick("There is still a race in the shared state.", "The failures of the first kind are gone. Another goroutine is left.", "Better. I'll close the next gap.")}
		if k == 0 {
			t.next = "I'll begin with the unguarded counter."
		}
		method := "func (p *Pool) " + capitalized(p.word()) + "() {"
		entries = append(entries,
			h.shell("go test -race -c -o t.test ./pool && stress -count 100 ./t.test -test.run "+name, output, 1).after(thought{next: p.pick("How often does it fail?", "Stress it.", "Let me run it 100 times.")}),
			h.replace("pool/pool.go", method, method+"\n"+fix).after(t))
		fails = max(1, fails*p.between(15, 55)/100)
	}
	return append(entries, h.shell("go test -race -c -o t.test ./pool && stress -count 100 ./t.test -test.run "+name, "5s: 61 runs so far, 0 failures\n9s: 100 runs so far, 0 failures\n100 runs total, 0 failures", 0).after(thought{next: "That was the last one, I think. 100 runs again."})), 0
}
