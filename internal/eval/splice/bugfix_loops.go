package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents that fix a bug in a repository that they do not know.

func bugfixLoops() []kind {
	return []kind{
		{name: "edit_refused_by_lint_gate", build: editRefusedByLintGate},
		{name: "preexisting_failures_rechecked", build: preexistingFailuresRechecked},
		{name: "cd_into_current_directory", build: cdIntoCurrentDirectory},
		{name: "comment_polished_again", build: commentPolishedAgain},
	}
}

// lintGate is an editor that checks a file before it writes it. A stretch has one form.
type lintGate struct {
	*generator
	form   int
	file   string
	length int // lines of the file
}

func (p *generator) lintGate() lintGate {
	return lintGate{p, p.IntN(3), p.pick("src/", "lib/", "") + p.word() + "/" + p.word() + ".py", p.between(300, 1900)}
}

// arguments returns the tool of an edit of some lines, and its arguments.
func (g lintGate) arguments(from, to int, text string) (tool string, args json.RawMessage) {
	switch g.form {
	case 0:
		return "edit", object("command", fmt.Sprintf("edit %d:%d\n%s\nend_of_edit", from, to, text))
	case 1:
		return "str_replace_editor", object("command", "replace_lines", "path", "/testbed/"+g.file, "start_line", from, "end_line", to, "new_str", text)
	}
	return "mcp__editor__edit_lines", object("file", g.file, "range", []int{from, to}, "content", text)
}

// refuse returns an edit that the check refuses. The context is what the file has before the lines.
func (g lintGate) refuse(from, to int, text, context, fault string) entry {
	tool, args := g.arguments(from, to, text)
	switch g.form {
	case 0:
		shown := fmt.Sprintf("(%d more lines above)\n%d:%s", from-2, from-1, context)
		for k, line := range strings.Split(text, "\n") {
			shown += fmt.Sprintf("\n%d:%s", from+k, line)
		}
		return call(tool, args, quoted("Your proposed edit has introduced new syntax error(s). Please read this error message carefully and then retry editing the file.\n\nERRORS:\n- "+fault+
			"\n\nThis is how your edit would have looked if applied\n-------------------------------------------------\n[File: /testbed/"+g.file+fmt.Sprintf(" (%d lines total)]\n", g.length)+shown+
			"\n-------------------------------------------------\nYour changes have NOT been applied. Please fix your edit command and try again.\nYou either need to 1) Specify the correct start/end line arguments or 2) Correct your edit code."))
	case 1:
		return failed(tool, args, fmt.Sprintf("[Your proposed edit has introduced new syntax error(s). Please understand the errors and retry your edit command.]\nERRORS:\n%s:%d:%d: %s\n[The changes were reverted.]", g.file, from+g.between(0, 2), g.between(1, 17), fault))
	}
	return call(tool, args, content(fmt.Sprintf("Edit rejected: %s (line %d). The file is unchanged.", fault, from+g.between(0, 2))))
}

// editRefusedByLintGate writes the same few lines at about the same place; the editor finds the same fault and applies none of it.
func editRefusedByLintGate(p *generator) (entries []entry, _ int) {
	g, at := p.lintGate(), p.between(40, 280)
	value, arg, method := p.word(), p.word(), p.word()+"_"+p.word()
	faulty := []struct {
		fault   string
		indents []int
		body    int // further indent of the second line
	}{
		{"E999 IndentationError: unexpected indent", []int{12, 16, 20}, 4},
		{"E999 IndentationError: unindent does not match any outer indentation level", []int{5, 6, 7, 9, 10}, 4},
		{"E999 IndentationError: expected an indented block after 'if' statement", []int{8}, 0},
		{"F821 undefined name '" + value + "_" + arg + "'", []int{8}, 4},
	}[p.IntN(4)]
	context := "    def " + method + "(self, " + arg + "):"
	w := wording{
		[]string{"I found the place. Let me add the missing check.", "The fix is a single condition in `" + method + "`. I'll edit it.", "Now I'll make the change in `" + g.file + "`."},
		[]string{"The edit was not applied.", "It seems that there is an error in my edit.", "The linter rejected the edit again.", "I see, the lines are off by one.", "The edit introduced an error.", "My apologies, the edit was not right.", ""},
		[]string{"Let me correct the block.", "Let me try the edit with other line numbers.", "I'll write the block again.", "Let me rewrite the edit command.", "I'll include the line before as well.", "Let me try once more."},
	}
	if strings.Contains(faulty.fault, "Indentation") {
		w.seen = append(w.seen, "The edit was not applied because of the indentation.", "I need to look at the indentation.")
		w.next = append(w.next, "Let me correct the indentation.")
	}
	checks := []string{"if %[1]s is None or not %[1]s:", "if not %[1]s:", "if %[1]s is None:", "if isinstance(%[1]s, str) and not %[1]s:", "if not %[1]s or %[1]s == \"\":"}
	ends := []string{"return None", "return " + value, "raise ValueError(\"" + arg + " is empty\")", "return self." + value}
	if faulty.body == 4 && len(faulty.indents) == 1 {
		ends = []string{"return " + value + "_" + arg, "return self." + method + "(" + value + "_" + arg + ")", "return [" + value + "_" + arg + "]", "return " + value + "_" + arg + " or None"}
	}
	for k := range p.between(5, 9) {
		indent := strings.Repeat(" ", p.pickInt(faulty.indents...))
		from := at + p.between(-1, 2)
		text := indent + fmt.Sprintf(p.pick(checks...), arg) + "\n" + indent + strings.Repeat(" ", faulty.body) + p.pick(ends...)
		if p.IntN(3) == 0 {
			text = indent + "# " + p.pick("an empty "+arg+" has no "+value, "guard against an empty "+arg, "nothing to do without "+arg) + "\n" + text
		}
		entries = append(entries, g.refuse(from, from+p.between(0, 3), text, context, faulty.fault).after(w.of(p, k)))
	}
	return entries, 1
}

// failingSuite is a test suite with some failures that have nothing to do with the agent's change.
type failingSuite struct {
	command string
	names   []string // of the tests that fail
	traces  map[string]string
	form    int
	passed  int
}

func (p *generator) failingSuite() failingSuite {
	s := failingSuite{form: p.IntN(3), passed: p.between(60, 2400), traces: map[string]string{}}
	module := p.word()
	s.command = [][]string{
		{"python -m pytest -q 2>&1 | tail -60", "python -m pytest tests/ -q --no-header"},
		{"go test ./... 2>&1 | grep -v '^ok'", "go test ./... 2>&1 | tail -60"},
		{"npx jest 2>&1 | tail -60", "npm test -- --silent 2>&1 | tail -80"},
	}[s.form][p.IntN(2)]
	traced := p.coin()
	for _, name := range p.distinctWords(p.between(2, 5)) {
		s.names = append(s.names, []string{
			"tests/test_" + module + ".py::test_" + name + "_" + p.word(), "Test" + capitalized(name) + capitalized(p.word()), capitalized(module) + " › handles the " + name + " of a " + p.word(),
		}[s.form])
		if value, want, line := p.word(), p.word(), p.between(12, 400); traced {
			s.traces[s.names[len(s.names)-1]] = []string{
				fmt.Sprintf("    def test_%s(client):\n        response = client.get(\"/%s\")\n>       assert response.json()[\"%s\"] == \"%s\"\nE       AssertionError: assert '%s' == '%s'\nE         - %s\nE         + %s\n\ntests/test_%s.py:%d: AssertionError\n", name, name, name, want, value, want, want, value, module, line),
				fmt.Sprintf("    %s_test.go:%d: %s() mismatch (-want +got):\n          string(\n        - \t\"%s\",\n        + \t\"%s\",\n          )\n", module, line, capitalized(name), want, value),
				fmt.Sprintf("    expect(received).toBe(expected)\n\n    Expected: \"%s\"\n    Received: \"%s\"\n\n    > %d |     expect(%s.label).toBe(\"%s\");\n         |                         ^\n      at Object.toBe (src/%s.test.ts:%d:25)\n", want, value, line, name, want, module, line),
			}[s.form]
		}
	}
	return s
}

// output returns what a run prints. Only the durations differ between runs.
func (s failingSuite) output(p *generator, names []string) string {
	text := ""
	for _, name := range names {
		text += []string{"FAILED " + name + " - " + "AssertionError\n", fmt.Sprintf("--- FAIL: %s (%d.%02ds)\n", name, p.IntN(2), p.IntN(100)), "  ● " + name + "\n"}[s.form] + s.traces[name]
	}
	switch s.form {
	case 0:
		return text + fmt.Sprintf("%d failed, %d passed, 3 warnings in %d.%02ds", len(names), s.passed, p.between(9, 80), p.IntN(100))
	case 1:
		return text + fmt.Sprintf("FAIL\nFAIL\texample.com/app/internal\t%d.%03ds\nFAIL", p.between(1, 20), p.IntN(1000))
	}
	return text + fmt.Sprintf("\nTests:       %d failed, %d passed, %d total\nTime:        %d.%03d s\nRan all test suites.", len(names), s.passed, len(names)+s.passed, p.between(6, 60), p.IntN(1000))
}

// commit returns the hash of a commit.
func (p *generator) commit() string {
	return fmt.Sprintf("%08x%016x%016x", p.Uint32(), p.Uint64(), p.Uint64())
}

// preexistingFailuresRechecked puts the change aside, sees the same tests fail, takes it back, sees them fail, and begins anew.
func preexistingFailuresRechecked(p *generator) (entries []entry, _ int) {
	run, s, branch := p.waitingShell(), p.failingSuite(), p.pick("fix", "bugfix", "issue")+"/"+p.word()+"-"+p.word()
	file, head, subject := p.path(), fmt.Sprintf("%07x", p.IntN(1<<28)), capitalized(p.phrase(3, 5))
	byBranch := p.IntN(3) == 0
	unrelated := fmt.Sprintf("the %d failing tests", len(s.names))
	for k := range p.between(3, 5) {
		aside, asideOutput := p.pick("git stash", "git stash push", "git stash push -m wip"), "Saved working directory and index state WIP on "+branch+": "+head+" "+subject
		back, backOutput := "git stash pop", fmt.Sprintf("On branch %s\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n\tmodified:   %s\n\nno changes added to commit (use \"git add\" and/or \"git commit -a\")\nDropped refs/stash@{0} (%s)", branch, file, p.commit())
		if byBranch {
			aside, asideOutput = p.pick("git checkout main", "git switch main"), "Switched to branch 'main'\nYour branch is up to date with 'origin/main'."
			back, backOutput = p.pick("git checkout -", "git checkout "+branch, "git switch -"), "Switched to branch '"+branch+"'"
		}
		before := thought{"", p.pick("There are failures. Let me check whether they are pre-existing.", "Are these failures related to my change? I'll look at them without it.")}
		if k > 0 {
			before = thought{
				p.pick("So "+unrelated+" are unrelated to my change.", "The failures are the same with and without my change.", "These seem to be pre-existing issues.", "The same tests fail again.", ""),
				p.pick("Let me verify that once more on a clean tree.", "To be sure, I'll check the state without my change.", "But let me double-check that they are not caused by my fix.", "Let me confirm that "+unrelated+" also fail without it.", "Wait, let me make sure that they failed before."),
			}
		}
		entries = append(entries, run(aside, asideOutput, 0).after(before),
			run(s.command, s.output(p, s.names), 1).after(thought{"", p.pick("Now the tests without my change.", "Run the suite on the original code.", "")}),
			run(back, backOutput, 0).after(thought{p.pick("They fail here as well.", "The same failures.", "Here, "+unrelated+" fail too."), p.pick("Let me restore my change.", "Now back to my change.", "")}),
			run(s.command, s.output(p, p.shuffled(append([]string(nil), s.names...)...)), 1).after(thought{"", p.pick("And with my change.", "Let me run the tests again.", "Now compare.", "")}))
	}
	return entries, 4
}

// statefulShell returns a shell that keeps its directory between calls, and does not print it.
func (p *generator) statefulShell() func(command, output string, status int) entry {
	if p.IntN(3) == 0 {
		return func(command, output string, status int) entry {
			return call("mcp__shell__execute_command", object("command", command), content(fmt.Sprintf("%s\n\nexit code: %d", output, status)))
		}
	}
	return harness{p, p.pickInt(claudeCode, sweAgent)}.shell
}

// cdIntoCurrentDirectory begins each command with a change to the directory in which the shell already is.
func cdIntoCurrentDirectory(p *generator) (entries []entry, _ int) {
	run, dir, root := p.statefulShell(), p.pick("backend", "frontend", "packages/"+p.word(), "services/"+p.word(), "web", "api"), p.pick("/workspace/", "/srv/app/", "/repo/")+p.word()
	missing := p.pick("bash: line 1: cd: %s: No such file or directory", "/bin/bash: line 1: cd: %s: No such file or directory", "sh: 1: cd: can't cd to %s")
	form := p.IntN(3)
	wanted := [][]string{
		{"npm test", "npx tsc --noEmit", "npm run lint", "npx vitest run", "cat package.json", "npm run build", "ls", "npx eslint src", "git diff --stat ."},
		{"python -m pytest -q", "ls", "cat pyproject.toml", "python manage.py test", "pytest -x", "ruff check .", "python -m mypy .", "git status --short ."},
		{"cargo test", "cargo build", "ls", "cat Cargo.toml", "cargo clippy", "cargo fmt --check", "cargo check"},
	}[form]
	listing := strings.Join(append([][]string{{"package.json", "package-lock.json", "src", "tsconfig.json"}, {"app", "manage.py", "pyproject.toml", "tests"}, {"Cargo.lock", "Cargo.toml", "src", "target"}}[form], p.distinctWords(p.between(0, 9))...), "\n")
	w := wording{
		[]string{"Let me go to `" + dir + "` first.", "I'll work in `" + dir + "`."},
		[]string{"The directory was not found.", "Hmm, it says that `" + dir + "` does not exist.", "That directory is not there?", "Strange, `" + dir + "` was there before.", "The command failed at the `cd`.", ""},
		[]string{"Let me run it in `" + dir + "`.", "Let me try another command there.", "I'll try again.", "Let me change to `" + dir + "` and run it.", "Let me use a different command."},
	}
	entries = append(entries, run("cd "+dir+" && ls", listing, 0).after(w.of(p, 0)))
	for k := range p.between(5, 10) {
		to := p.pick("", "", "./") + dir
		entries = append(entries, run("cd "+to+" && "+p.pick(wanted...), fmt.Sprintf(missing, to), 1).after(w.of(p, k+1)))
		if k > 0 && p.IntN(4) == 0 {
			look, shows := "pwd", root+"/"+dir
			if p.coin() {
				look, shows = "ls", listing
			}
			entries = append(entries, run(look, shows, 0).after(thought{"", p.pick("Where am I?", "Let me see what is here.", "Let me check the directory.")}))
		}
	}
	return entries, 2
}

// commentPolishedAgain words one comment anew after the bug is fixed; the tests have passed, and the code stays as it is.
func commentPolishedAgain(p *generator) (entries []entry, _ int) {
	h, what, cause := p.harness(), p.word(), p.word()
	form := p.IntN(3)
	file := p.word() + "/" + p.word() + []string{".py", ".ts", ".go"}[form]
	mark, test := []string{"    # ", "  // ", "\t// "}[form], []string{"python -m pytest tests/ -q", "npx vitest run", "go test ./..."}[form]
	total := p.between(12, 400)
	passes := func() string {
		return []string{fmt.Sprintf("%d passed in %d.%02ds", total, p.between(1, 30), p.IntN(100)), fmt.Sprintf(" Test Files  %d passed (%d)\n      Tests  %d passed (%d)\n   Duration  %d.%02ds", total/7+1, total/7+1, total, total, p.between(1, 30), p.IntN(100)), fmt.Sprintf("ok  \texample.com/app/%s\t%d.%03ds", what, p.IntN(9), p.IntN(1000))}[form]
	}
	words := func() string {
		return p.pick("Skip", "Ignore", "Leave out", "Drop", "Do not use") + " " + p.pick("the ", "a stale ", "any ") + what + " " + p.pick("that has no ", "without a ", "when there is no ", "if it lacks a ") + cause +
			p.pick("", ".", ", since it may be "+[]string{"None", "undefined", "nil"}[form], ", see the issue", "; it would fail below", " to avoid an error later")
	}
	w := wording{
		[]string{"The fix works. Let me add a comment that explains it.", "Now a short comment for the reader."},
		[]string{"The comment could be clearer.", "All tests pass, but the comment is a bit long.", "This wording is not ideal.", "Hmm, the comment should say why.", "The comment does not read well yet.", ""},
		[]string{"Let me improve the wording.", "Let me refine the comment.", "I'll make the comment more precise.", "Let me rephrase it.", "Let me shorten the comment.", "One more improvement to the comment."},
	}
	before, tests := mark+"TODO", p.IntN(3)
	for k := range p.between(6, 12) {
		after := mark + words()
		for after == before {
			after = mark + words()
		}
		entries = append(entries, h.replace(file, before, after).after(w.of(p, k)))
		if k == 0 || tests == 1 || tests == 2 && p.coin() {
			entries = append(entries, h.shell(test, passes(), 0).after(thought{"", p.pick("Let me verify that all tests still pass.", "Run the tests once more.", "Quick check that nothing broke.", "")}))
		}
		before = after
	}
	return entries, 2
}
