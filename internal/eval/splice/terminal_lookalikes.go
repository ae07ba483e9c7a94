package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of coding agents in a terminal. One error or one command comes again, and each time it tells
// something.

func terminalLookalikes() []kind {
	return []kind{
		{name: "hook_findings_mended", build: hookFindingsMended},
		{name: "judge_gets_further", build: judgeGetsFurther},
		{name: "plan_revised_by_user", build: planRevisedByUser},
		{name: "crash_input_minimised", build: crashInputMinimised},
		{name: "line_traced_through_history", build: lineTracedThroughHistory},
	}
}

// hookFindingsMended commits; a hook stops at one check after the other, each finding is mended, and the commit gets through.
func hookFindingsMended(p *generator) (entries []entry, _ int) {
	h, file := p.harness(), "src/"+p.word()+"/"+p.word()+".py"
	line, name := p.between(10, 300), p.word()
	checks := []struct{ title, id, finding, before, after, seen string }{
		{"check for added large files", "check-added-large-files", "data/" + name + ".parquet (2811 KB) exceeds 500 KB.", "*.log", "*.log\ndata/", "A data file was staged by accident. I'll ignore it."},
		{"ruff", "ruff", fmt.Sprintf("%s:%d:8: F401 [*] `%s` imported but unused\nFound 1 error.", file, line, name), "import " + name + "\n", "", "There is an unused import. I'll remove it."},
		{"mypy", "mypy", fmt.Sprintf("%s:%d: error: Argument 1 to %q has incompatible type \"str | None\"; expected \"str\"  [arg-type]\nFound 1 error in 1 file (checked 212 source files)", file, line+14, name), "    return " + name + "(value)", "    return " + name + "(value or \"\")", "mypy is right: the value may be None."},
		{"Detect secrets", "detect-secrets", fmt.Sprintf("Potential secrets about to be committed to git repo!\n\nSecret Type: Secret Keyword\nLocation:    tests/conftest.py:%d", 3+line%40), "TOKEN = \"abc123abc123\"", "TOKEN = os.environ.get(\"TEST_TOKEN\", \"\")", "A test has a token in it. I'll take it from the environment."},
		{"codespell", "codespell", fmt.Sprintf("%s:%d: recieve ==> receive", file, line+31), "# recieve", "# receive", "A typo in a comment."},
	}
	command := "git commit -m \"Add " + name + " to the export\""
	first := p.between(0, 2)
	for k := first; k < len(checks); k++ {
		var output strings.Builder
		for n, check := range checks[:k+1] {
			state := "Passed"
			if n == k {
				state = "Failed"
			}
			fmt.Fprintf(&output, "%s%s%s\n", check.title, strings.Repeat(".", 73-len(check.title)), state)
		}
		check, next := checks[k], p.pick("Commit again.", "Now the commit.", "Trying the commit again.", "And commit.")
		if k == first {
			next = "The work is done, so I'll commit it."
		}
		fmt.Fprintf(&output, "- hook id: %s\n- exit code: 1\n\n%s", check.id, check.finding)
		target := file
		switch check.id {
		case "check-added-large-files":
			target = ".gitignore"
		case "detect-secrets":
			target = "tests/conftest.py"
		}
		entries = append(entries,
			h.shell("git add -A && "+command, output.String(), 1).after(thought{next: next}),
			h.replace(target, check.before, check.after).after(thought{seen: check.seen}))
	}
	return append(entries, h.shell("git add -A && "+command, fmt.Sprintf("[main %07x] Add %s to the export\n %d files changed, %d insertions(+), %d deletions(-)", p.IntN(1<<28), name, p.between(2, 7), p.between(20, 200), p.between(1, 40)), 0).after(thought{"That was the last finding.", "Now it should go through."})), 0
}

// judgeGetsFurther submits program after program; the judge gets further each time and accepts the last.
func judgeGetsFurther(p *generator) (entries []entry, _ int) {
	h, judge, tests, test := p.harness(), p.judge(), p.between(40, 90), p.between(2, 6)
	seen := map[string]string{"WRONG_ANSWER": "wrong answer", "RUNTIME_ERROR": "a crash", "TIME_LIMIT_EXCEEDED": "too slow", "MEMORY_LIMIT_EXCEEDED": "too much memory"}
	said, order := thought{next: "I'll start with a straightforward solution."}, p.Perm(len(solutions))
	for _, n := range order[:p.between(3, 5)] {
		verdict := p.pick("WRONG_ANSWER", "WRONG_ANSWER", "RUNTIME_ERROR", "TIME_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED")
		entries = append(entries,
			h.shell("cat > solution.py <<'EOF'\n"+solutions[n]+"\nEOF", "", 0).after(said),
			judge(verdict, test, tests).after(thought{next: p.pick("Submit.", "Let me submit this one.", "How far does this get?")}))
		said = thought{fmt.Sprintf("%d tests pass now; test %d: %s.", test-1, test, seen[verdict]), p.pick("Let me handle that case.", "I know what is missing there. Next version.", "That tells me which case I forgot.")}
		test += p.between(3, 12)
	}
	return append(entries,
		h.shell("cat > solution.py <<'EOF'\n"+solutions[order[6]]+"\nEOF", "", 0).after(said),
		judge("ACCEPTED", 0, tests).after(thought{next: "Submit this version."})), 0
}

// planRevisedByUser presents a plan; the user asks for one change after the other, each is made, and the plan is approved.
func planRevisedByUser(p *generator) (entries []entry, _ int) {
	name := p.word()
	changes := [][2]string{
		{"please keep the old endpoint as a redirect", "Keep the old endpoint and let it redirect"},
		{"no new dependency, we have our own retry helper", "Use the retry helper of `lib/retry`, without a new dependency"},
		{"the migration has to run online, without a lock on the table", "Run the migration in batches of 5,000 rows, without a lock"},
		{"leave out the dashboard, that is another ticket", "The dashboard is left to its own ticket"},
		{"write the tests first", "Begin with failing tests for the new behaviour"},
		{"put it behind a feature flag", "Guard the new path by the flag `" + name + "_v2`"},
	}
	p.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	plan := "## Plan\n\n- Extract the " + name + " client into a package of its own\n- Change all callers\n- Remove the old code"
	said := thought{next: "This is how I would do it."}
	for _, change := range changes[:p.between(3, 4)] {
		reason := "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n" + change[0]
		entries = append(entries, failed("ExitPlanMode", object("plan", plan), reason).after(said))
		plan += "\n- " + change[1]
		said = thought{p.pick("Understood.", "Makes sense.", "Good point.", "Noted."), p.pick("I've added that to the plan.", "Here is the revised plan.", "The plan now covers that.")}
	}
	return append(entries,
		call("ExitPlanMode", object("plan", plan), quoted("User has approved your plan. You can now start coding. Start with updating your todo list if applicable")).after(said),
		call("Write", object("file_path", "/workspace/lib/"+name+"/client.ts", "content", "import { retry } from '../retry'\n\nexport class Client {\n"+p.code(4)+"\n}\n"), quoted("File created successfully at: /workspace/lib/"+name+"/client.ts")).after(thought{"The plan is approved.", "I'll start with the package."})), 0
}

// crashInputMinimised cuts an input that crashes a program, part by part; the crash is the same each time, and the input is smaller.
func crashInputMinimised(p *generator) (entries []entry, _ int) {
	run, function, size := p.commands(), p.pick("parse", "read", "decode")+"_"+p.word(), 1<<p.between(11, 14)
	file, line := "src/"+p.word()+".c", p.between(60, 900)
	from, said := "crash.bin", thought{next: fmt.Sprintf("The input has %d bytes. Let me find the part that matters.", size)}
	for size > 40 && len(entries) < 16 {
		half := size/2 + p.between(-size/16, size/16)
		part, command := p.pick("tail", "head"), ""
		if p.IntN(4) == 0 {
			command = fmt.Sprintf("%s -c %d %s > part.bin && ./fuzz_target part.bin", part, half, from)
			entries = append(entries, run(command, fmt.Sprintf("Running: part.bin\nExecuted part.bin in %d ms\n*** NOTE: fuzzing was not performed, you have only executed the target code on a fixed set of inputs.", p.IntN(9)), 0).after(said))
			said = thought{fmt.Sprintf("The %s of %d bytes does not crash.", part, half), "So it needs the other half."}
			part = map[string]string{"tail": "head", "head": "tail"}[part]
		}
		small := fmt.Sprintf("min-%d.bin", half)
		command = fmt.Sprintf("%s -c %d %s > %s && ./fuzz_target %s", part, half, from, small, small)
		at, pc, stack := 0x602000000000+p.Uint64N(1<<32), 0x55d000000000+p.Uint64N(1<<32), 0x7ffd00000000+p.Uint64N(1<<32)
		output := fmt.Sprintf("Running: %s\n=================================================================\n==%d==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x%012x at pc 0x%012x bp 0x%012x sp 0x%012x\nREAD of size 1 at 0x%012x thread T0\n    #0 0x%012x in %s %s:%d:12\n    #1 0x%012x in LLVMFuzzerTestOneInput fuzz/target.c:17:3\n    #2 0x%012x in main (fuzz_target+0x4f2a1)\n\n0x%012x is located 0 bytes after %d-byte region [0x%012x,0x%012x)\nSUMMARY: AddressSanitizer: heap-buffer-overflow %s:%d:12 in %s", small, p.between(900, 60_000), at, pc, stack, stack-8, at, pc-1, function, file, line, pc+0x12c4, pc+0x3e10, at, half, at-uint64(half), at, file, line, function)
		entries = append(entries, run(command, output, 1).after(said))
		size, from = half, small
		said = thought{p.pick("Same crash", "Still the overflow", "It crashes") + fmt.Sprintf(" with %d bytes.", half), p.pick("Let me cut further.", "Smaller.", "Again by half.", "Now a part of that.")}
	}
	return append(entries, run("xxd "+from, fmt.Sprintf("00000000: 4d54 6864 0000 00%02x ffff 0001 0060 4d54  MThd.........`MT\n00000010: 726b ffff fff0 00ff                      rk......", p.IntN(256)), 0).after(thought{"That is small enough to read.", "Let me see the bytes."})), 0
}

// lineTracedThroughHistory asks who changed a few lines, commit before commit, until it finds where they come from.
func lineTracedThroughHistory(p *generator) (entries []entry, _ int) {
	run, file, line := p.commands(), "src/"+p.word()+"/"+p.word()+".go", p.between(20, 400)
	authors := p.shuffled("Aiko Tanaka", "Ben Ortiz", "Chloe Martin", "Dario Neri", "Eva Lindholm", "Farid Aziz")
	code := []string{"\tif err := s." + p.word() + "(ctx); err != nil {", "\t\treturn fmt.Errorf(\"" + p.word() + ": %w\", err)", "\t}"}
	subjects := p.shuffled("Run gofmt", "Move the package", "Wrap errors", "Rename the receiver", "Add a license header", "Pass the context on", "Split the file")
	revision, said := "HEAD", thought{next: "Who wrote these lines, and why? Let me look at the blame."}
	for k := range p.between(4, 6) {
		commit, day := fmt.Sprintf("%08x", p.Uint32()), fmt.Sprintf("%d-%02d-%02d", 2026-k, p.between(1, 12), p.between(1, 28))
		line += p.between(-9, 4)
		minute := p.IntN(60)
		var blame strings.Builder
		for n, text := range code {
			fmt.Fprintf(&blame, "%s (%-12s %s 1%d:%02d:41 +0200 %d) %s\n", commit, authors[k], day, k, minute, max(line, 9)+n, text)
		}
		subject := subjects[k]
		entries = append(entries,
			run(fmt.Sprintf("git blame -L %d,+3 %s -- %s", max(line, 9), revision, file), blame.String(), 0).after(said),
			run("git show -s --format='%h %an %ad%n%n    %s' --date=short "+commit, fmt.Sprintf("%s %s %s\n\n    %s", commit[:7], authors[k], day, subject), 0).after(thought{next: p.pick("What is commit "+commit+"?", "Let me read its message.", "And the commit itself.")}))
		revision = commit + "^"
		said = thought{"\"" + subject + "\"" + p.pick(" only touched the lines.", " isn't the origin.", " didn't change the meaning."), p.pick("One commit further back.", "Let me blame its parent.", "Before that commit, then.")}
	}
	return entries, 0
}
