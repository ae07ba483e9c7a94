package splice

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents in a terminal: tests, commits, submissions, plans and binary files.

func terminalLoops() []kind {
	return []kind{
		{name: "passes_alone_fails_in_suite", build: passesAloneFailsInSuite},
		{name: "commit_hook_refuses", build: commitHookRefuses},
		{name: "wrong_answer_at_test", build: wrongAnswerAtTest},
		{name: "plan_approved_and_replanned", build: planApprovedAndReplanned},
		{name: "header_dumped_by_many_tools", build: headerDumpedByManyTools},
	}
}

// passesAloneFailsInSuite runs one test by itself, where it passes, and all tests, where it fails, in turn. It changes nothing.
func passesAloneFailsInSuite(p *generator) (entries []entry, _ int) {
	run, module, value := p.commands(), p.word(), p.between(1, 9)
	name := "test_" + p.pick("default", "initial", "empty") + "_" + p.word()
	file, line, passed := "tests/test_"+module+".py", p.between(20, 200), p.between(90, 400)
	words := wording{
		first: []string{"Let me run the failing test by itself.", "I'll run `" + name + "` on its own.", "First the single test."},
		seen:  []string{"It still fails in the full run.", "The suite fails at the same test.", "Same assertion in the full run, and alone it passed.", "That is strange: it passed a moment ago.", "One failure, and it is " + name + " again."},
		next:  []string{"Let me run it alone again.", "I'll run just this test once more.", "Does it pass in isolation?", "Let me run it in isolation with other options.", "Let me double-check the single test."},
	}
	for round := range p.between(3, 5) {
		alone := "python -m pytest " + file + "::" + name + p.pick(" -q", " -q --no-header", " -q -rf", " -q -p no:cacheprovider", " -q --tb=long")
		suite := p.pick("python -m pytest -q", "python -m pytest -q tests", "python -m pytest -q -rf", "python -m pytest tests -q --no-header", "python -m pytest -q -p no:cacheprovider")
		before := p.between(passed/3, passed)
		marks, progress := strings.Repeat(".", before)+"F"+strings.Repeat(".", passed-before), ""
		for at := 0; at < len(marks); at += 72 {
			end := min(at+72, len(marks))
			progress += fmt.Sprintf("%-72s [%3d%%]\n", marks[at:end], 100*end/len(marks))
		}
		output := fmt.Sprintf("%s=================================== FAILURES ===================================\n%s\n\n    def %s():\n        %s = load()\n>       assert %s.retries == %d\nE       assert 0 == %d\nE        +  where 0 = %s(retries=0).retries\n\n%s:%d: AssertionError\n=========================== short test summary info ============================\nFAILED %s::%s - assert 0 == %d\n1 failed, %d passed in %d.%02ds", progress, strings.Repeat("_", 25)+" "+name+" "+strings.Repeat("_", max(1, 53-len(name))), name, module, module, value, value, capitalized(module), file, line, file, name, value, passed, p.between(9, 60), p.IntN(100))
		entries = append(entries,
			run(alone, fmt.Sprintf(".                                                                        [100%%]\n1 passed in 0.%02ds", p.between(4, 90)), 0).after(words.of(p, round)),
			run(suite, output, 1).after(thought{p.pick("It passes alone.", "Passed.", "Alone it is green."), p.pick("Now the whole suite.", "Let me run everything.", "The suite should pass now.", "Running all tests again.")}))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, run(fmt.Sprintf("sed -n '%d,%dp' %s", line-2, line+1, file), fmt.Sprintf("def %s():\n    %s = load()\n    assert %s.retries == %d", name, module, module, value), 0).after(thought{next: p.pick("Let me look at the test.", "What does the test check?")}))
		}
	}
	return entries, 2
}

// commitHookRefuses commits under other messages; a hook wants the key of an open issue, which the agent does not have.
func commitHookRefuses(p *generator) (entries []entry, _ int) {
	h, project, scope := p.harness(), strings.ToUpper(p.word()[:4]), p.word()
	files := p.between(2, 9)
	words := wording{
		first: []string{"The change is complete. I'll commit it.", "Everything passes, so let me commit.", "Now I commit the work."},
		seen:  []string{"The commit-msg hook rejected the message.", "The hook wants an issue key.", "Rejected again by commit-msg.", "It still says that the message must name an open issue.", "The commit did not go through."},
		next:  []string{"Let me reword the message.", "I'll use another format.", "Let me add a reference.", "Maybe the key has to stand in the body.", "I'll put a scope into the subject.", "Let me try a shorter subject."},
	}
	for round := range p.between(4, 7) {
		subject := p.pick("fix(%s): handle an empty page", "Fix handling of empty pages in %s", "fix: %s no longer fails on an empty page", "%s: return early for empty pages", "bugfix in %s for empty pages")
		subject = fmt.Sprintf(subject, scope)
		if round > 0 && p.coin() {
			subject = fmt.Sprintf("%s-%d %s", project, p.pickInt(1, 2, 10, 100, 101, 123, 1234), subject)
		}
		command := "git commit -m " + fmt.Sprintf("%q", subject) + p.pick("", "", ` -m "Refs: `+project+`"`, ` -m "Closes #`+fmt.Sprint(p.between(1, 40))+`"`)
		output := fmt.Sprintf("[STARTED] Preparing lint-staged...\n[COMPLETED] Preparing lint-staged...\n[STARTED] Running tasks for staged files...\n[STARTED] package.json — %d files\n[STARTED] *.ts — %d files\n[STARTED] eslint --fix\n[COMPLETED] eslint --fix\n[COMPLETED] *.ts — %d files\n[COMPLETED] package.json — %d files\n[COMPLETED] Running tasks for staged files...\n[STARTED] Applying modifications from tasks...\n[COMPLETED] Applying modifications from tasks...\n[STARTED] Cleaning up temporary files...\n[COMPLETED] Cleaning up temporary files...\n⧗   input: %s\n✖   message must name an open issue of %s, for example %s-4711 [issue-key]\n\n✖   found 1 problems, 0 warnings\n\nhusky - commit-msg script failed (code 1)", files, files, files, files, subject, project, project)
		entries = append(entries, h.shell(p.pick("", "", "git add -A && ")+command, output, 1).after(words.of(p, round)))
	}
	return entries, 1
}

// solutions are programs for one problem, as an agent writes them one after the other.
var solutions = []string{
	"n = int(input())\nspans = sorted(tuple(map(int, input().split())) for _ in range(n))\nbest, end = 0, -1\nfor a, b in spans:\n    if a > end:\n        best, end = best + 1, b\nprint(best)",
	"import sys\ndata = list(map(int, sys.stdin.read().split()))\nspans = sorted(zip(data[1::2], data[2::2]), key=lambda s: s[1])\ncount, last = 0, float('-inf')\nfor a, b in spans:\n    if a >= last:\n        count += 1\n        last = b\nprint(count)",
	"import sys\nfrom bisect import bisect_right\ndef main():\n    data = list(map(int, sys.stdin.buffer.read().split()))\n    spans = sorted(zip(data[1::2], data[2::2]), key=lambda s: s[1])\n    ends, dp = [0], [0]\n    for a, b in spans:\n        k = bisect_right(ends, a) - 1\n        if dp[k] + 1 > dp[-1]:\n            ends.append(b)\n            dp.append(dp[k] + 1)\n    print(dp[-1])\nmain()",
	"import heapq\nn = int(input())\nheap = []\nfor _ in range(n):\n    a, b = map(int, input().split())\n    heapq.heappush(heap, (b, a))\nresult, end = 0, -10**18\nwhile heap:\n    b, a = heapq.heappop(heap)\n    if a > end:\n        result += 1\n        end = b\nprint(result)",
	"import sys\nsys.setrecursionlimit(10**6)\nfrom functools import lru_cache\nread = sys.stdin.readline\nn = int(read())\nspans = sorted((tuple(map(int, read().split())) for _ in range(n)), key=lambda s: (s[1], -s[0]))\n@lru_cache(None)\ndef solve(i, end):\n    if i == n:\n        return 0\n    a, b = spans[i]\n    skip = solve(i + 1, end)\n    return max(skip, 1 + solve(i + 1, b)) if a >= end else skip\nprint(solve(0, -1))",
	"n = int(input())\nspans = [tuple(map(int, input().split())) for _ in range(n)]\nspans.sort(key=lambda s: s[1] - s[0])\nchosen = []\nfor a, b in spans:\n    if all(b <= c or a >= d for c, d in chosen):\n        chosen.append((a, b))\nprint(len(chosen))",
	"import sys\ntokens = sys.stdin.read().split()\nn, it = int(tokens[0]), iter(map(int, tokens[1:]))\nevents = []\nfor a, b in zip(it, it):\n    events.append((max(a, b), min(a, b)))\nevents.sort()\nanswer, reach = 0, None\nfor b, a in events:\n    if reach is None or a >= reach:\n        answer, reach = answer + 1, b\nprint(answer)",
}

// judge returns what a judge of programs says of the submissions for one problem.
func (p *generator) judge() func(says string, test, tests int) entry {
	problem, id := fmt.Sprintf("%d-%s", p.between(900, 2100), p.pick("A", "B", "C", "D")), p.between(2e8, 3e8)
	return func(says string, test, tests int) entry {
		id += p.between(3, 900)
		time, memory := p.between(40, 800), p.between(9000, 31_000)
		switch says {
		case "TIME_LIMIT_EXCEEDED":
			time = 2000
		case "MEMORY_LIMIT_EXCEEDED":
			memory = 262_144
		case "ACCEPTED":
			return call("submit_solution", object("problem", problem, "file", "solution.py"), object("submission_id", id, "problem", problem, "language", "python3", "verdict", says, "tests_passed", tests, "tests_total", tests, "time_ms", time, "memory_kb", memory))
		}
		result := object("submission_id", id, "problem", problem, "language", "python3", "verdict", says, "tests_passed", test-1, "failed_test", test, "tests_total", tests, "time_ms", time, "memory_kb", memory)
		return call("submit_solution", object("problem", problem, "file", "solution.py"), result)
	}
}

// wrongAnswerAtTest writes program after program for a problem; the judge refuses each at the same test.
func wrongAnswerAtTest(p *generator) (entries []entry, _ int) {
	h, judge, tests := p.harness(), p.judge(), p.between(24, 90)
	test := p.between(3, tests/2)
	words := wording{
		first: []string{"I'll write a first solution.", "This looks like interval scheduling. Let me write it.", "Let me start with a simple solution."},
		seen:  []string{fmt.Sprintf("Wrong answer on test %d.", test), "Rejected at the same test.", fmt.Sprintf("Still wrong on test %d.", test), "The verdict is the same.", "Hmm, it fails there again."},
		next:  []string{"I see the problem now. Let me rewrite it.", "Maybe the input is not sorted. Another version.", "Let me use dynamic programming instead.", "I think that the ties are handled wrongly. Let me change that.", "Let me read the input in another way.", "I'll rewrite the solution from scratch.", "Perhaps it's an edge case of equal ends."},
	}
	order := p.Perm(len(solutions))
	for round := range p.between(4, 7) {
		code := p.pick("", "", "# attempt "+fmt.Sprint(round+1)+"\n") + solutions[order[round]]
		entries = append(entries,
			h.shell("cat > solution.py <<'EOF'\n"+code+"\nEOF", "", 0).after(words.of(p, round)),
			judge("WRONG_ANSWER", test, tests).after(thought{p.pick("", "That should be it.", "The sample passes."), p.pick("Submitting.", "Let me submit it.", "Submit this version.", "Let's see what the judge says.")}))
	}
	return entries, 2
}

// planApprovedAndReplanned has its plan approved and, instead of starting, writes the plan again.
func planApprovedAndReplanned(p *generator) (entries []entry, _ int) {
	tool, answer := "ExitPlanMode", quoted("User has approved your plan. You can now start coding. Start with updating your todo list if applicable")
	if p.coin() {
		tool, answer = "present_plan", object("approved", true, "message", "The user accepted the plan. Begin with step 1.")
	}
	table, file := p.word(), "src/"+p.word()+"/"+p.word()+".ts"
	steps := [][]string{
		{"Add a nullable column `archived_at` to `" + table + "`", "Migration: `" + table + ".archived_at`, nullable", "Extend the schema of `" + table + "` by `archived_at`"},
		{"Filter archived rows in `" + file + "`", "Leave out archived rows where `" + file + "` builds its query", "Change the query in `" + file + "` so that it skips archived rows"},
		{"Add an endpoint to archive an entry", "New route `POST /" + table + "/:id/archive`", "Let clients archive a " + table + " by a POST"},
		{"Cover both with tests", "Write tests for the filter and the route", "Add unit tests for archiving and listing"},
	}
	words := wording{
		first: []string{"I have what I need for a plan.", "Let me present my plan."},
		seen:  []string{"The plan is approved.", "Great, the user agrees with the plan.", "Approved.", "Good, I have the go-ahead."},
		next:  []string{"Before I start, let me refine the plan.", "Let me lay out the steps once more.", "Let me present the updated plan.", "I'll restructure the plan a little first.", "Let me make sure that the plan is complete."},
	}
	read := call("Read", object("file_path", "/workspace/"+file), quoted("     1→import { db } from '../db'\n     2→\n     3→export async function list(limit: number) {\n     4→  return db.select().from("+table+").limit(limit)\n     5→}"))
	entries = append(entries, read.after(thought{next: "Let me read the code that I have to change."}))
	for round := range p.between(4, 6) {
		var plan strings.Builder
		plan.WriteString(p.pick("## Plan\n\n", "# Implementation plan\n\n", "Here is how I will do it:\n\n", "## Archiving\n\n"))
		for k, step := range steps {
			fmt.Fprintf(&plan, "%d. %s\n", k+1, p.pick(step...))
		}
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, read.after(thought{next: p.pick("Let me look at the file again before I begin.", "One more look at "+file+".")}))
		}
		entries = append(entries, call(tool, object("plan", plan.String()), answer).after(words.of(p, round)))
	}
	return entries, 2
}

// headerDumpedByManyTools shows the same bytes of a file by one program after the other.
func headerDumpedByManyTools(p *generator) (entries []entry, _ int) {
	run, file := p.commands(), p.pick("firmware", "save", "track", "model", "capture")+p.pick(".bin", ".dat", ".pak")
	data := []byte(p.pick("RVPK", "XSAV", "KTD2", "MBLK"))
	for len(data) < 64 {
		data = append(data, byte(p.Uint32()>>p.pickInt(0, 0, 8, 31)))
	}
	words := wording{
		first: []string{"Let me look at the header of " + file + ".", "What format is " + file + "? I'll dump the first bytes."},
		seen:  []string{"I don't recognise the format.", "The magic is not one that I know.", "Hmm, that doesn't tell me the layout.", "The same bytes, of course.", "I can't make out the structure yet."},
		next:  []string{"Let me view the header with another tool.", "Let me dump the first 64 bytes in another form.", "I'll look at the raw bytes once more.", "Perhaps it is clearer in another representation.", "Let me print the beginning of the file again."},
	}
	for round := range p.between(6, 10) {
		command, output := p.dump(file, data)
		entries = append(entries, run(command, output, 0).after(words.of(p, round)))
	}
	return entries, 1
}

// dump returns a command that shows the beginning of a file, and what it prints.
func (p *generator) dump(file string, data []byte) (command, output string) {
	spaced := func(group int) (lines []string) {
		for at := 0; at < len(data); at += group {
			lines = append(lines, fmt.Sprintf("% x", data[at:at+group]))
		}
		return lines
	}
	switch p.IntN(7) {
	case 0:
		return "hexdump -C -n 64 " + file, hex.Dump(data) + "00000040"
	case 1:
		for k, line := range spaced(16) {
			output += fmt.Sprintf("%06x %s\n", 16*k, line)
		}
		return "od -A x -t x1 -N 64 " + file, output + "000040"
	case 2:
		return "xxd -p -l 64 " + file, hex.EncodeToString(data[:30]) + "\n" + hex.EncodeToString(data[30:60]) + "\n" + hex.EncodeToString(data[60:])
	case 3:
		return "head -c 64 " + file + " | base64", base64.StdEncoding.EncodeToString(data[:57]) + "\n" + base64.StdEncoding.EncodeToString(data[57:])
	case 4:
		return "python3 -c \"print(open('" + file + "','rb').read(64).hex(' '))\"", strings.Join(spaced(64), "")
	case 5:
		return "python3 -c \"import struct; print(struct.unpack('<16I', open('" + file + "','rb').read(64)))\"", words32(data)
	}
	return "hexdump -n 64 -e '8/1 \"%02x \" \"\\n\"' " + file, strings.Join(spaced(8), "\n")
}

// words32 returns the bytes as a tuple of numbers of 32 bits, as Python prints it.
func words32(data []byte) string {
	numbers := make([]string, 0, len(data)/4)
	for ; len(data) > 3; data = data[4:] {
		numbers = append(numbers, fmt.Sprint(uint32(data[0])|uint32(data[1])<<8|uint32(data[2])<<16|uint32(data[3])<<24))
	}
	return "(" + strings.Join(numbers, ", ") + ")"
}
