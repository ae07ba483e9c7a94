package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents in an editor and a shell.

func editorLoops() []kind {
	return []kind{
		{name: "write_refused_until_read", build: writeRefusedUntilRead},
		{name: "stray_text_written_into_script", build: strayTextWrittenIntoScript},
		{name: "missing_venv_activated_again", build: missingVenvActivatedAgain},
		{name: "test_filter_selects_nothing", build: testFilterSelectsNothing},
	}
}

// attempts returns how often a loop of one call goes round, 5 to 14 times.
func (p *generator) attempts() int { return p.pickInt(5, 5, 6, 6, 7, 8, 8, 9, 10, 12, 14) }

// passes returns how often a loop of two calls goes round, 3 to 7 times.
func (p *generator) passes() int { return p.pickInt(3, 3, 4, 4, 5, 6, 7) }

// readGate is an editor that changes only files that its own tool has read.
type readGate struct {
	*generator
	form int
}

func (p *generator) readGate() readGate { return readGate{p, p.IntN(3)} }

func (g readGate) args(path, before, after string) (string, []any) {
	switch g.form {
	case 0:
		return "Edit", []any{"file_path", path, "old_string", before, "new_string", after}
	case 1:
		return "edit", []any{"filePath", path, "oldString", before, "newString", after}
	}
	return "edit", []any{"file_path", path, "old_string", before, "new_string", after}
}

// refused returns an edit of a file that was not read.
func (g readGate) refused(path, before, after string) entry {
	tool, args := g.args(path, before, after)
	return failed(tool, object(args...), []string{
		"File has not been read yet. Read it first before writing to it.",
		"You must read the file " + path + " before overwriting it. Use the Read tool first",
		"you must read the file before editing it. Use the View tool first",
	}[g.form])
}

// done returns an edit of a file that was read.
func (g readGate) done(path, before, after string) entry {
	tool, args := g.args(path, before, after)
	return call(tool, object(args...), quoted([]string{"The file " + path + " has been updated successfully.", "Edit applied successfully.", "Content replaced in file: " + path}[g.form]))
}

// read returns a read of a file by the tool of the editor.
func (g readGate) read(path string, lines []string) entry {
	text := ""
	for k, line := range lines {
		text += fmt.Sprintf([]string{"%6d→%s\n", "%05d| %s\n", "%6d|%s\n"}[g.form], k+1, line)
	}
	switch g.form {
	case 0:
		return call("Read", object("file_path", path), quoted(text))
	case 1:
		return call("read", object("filePath", path), quoted("<file>\n"+text+"\n(End of file - total "+plural(len(lines), "line")+")\n</file>"))
	}
	return call("view", object("file_path", path), quoted("<file>\n"+text+"</file>"))
}

// shell returns a command and what it printed.
func (g readGate) shell(command, output string) entry {
	if g.form == 0 {
		return call("Bash", object("command", command, "description", g.pick("Show file", "Check file contents", "View the file")), quoted(output))
	}
	return call("bash", object("command", command, "description", "Show "+command[strings.LastIndex(command, " ")+1:]), quoted(output))
}

// settings returns the lines of a settings file, and another value for one of them.
func (p *generator) settings() (path string, lines []string) {
	path = "/workspace/" + p.word() + "/" + p.pick("settings.py", "config.py", "constants.py", "defaults.py", "limits.py")
	for _, name := range p.distinctWords(p.between(5, 12)) {
		lines = append(lines, strings.ToUpper(name)+p.pick("_LIMIT = ", "_TIMEOUT = ", "_SIZE = ", "_RETRIES = ")+fmt.Sprint(p.between(1, 900)))
	}
	return path, lines
}

// writeRefusedUntilRead edits a file that was printed by the shell alone; the editor wants its own tool to have read it.
func writeRefusedUntilRead(p *generator) (entries []entry, _ int) {
	g := p.readGate()
	path, lines := p.settings()
	at := p.IntN(len(lines))
	name, _, _ := strings.Cut(lines[at], " = ")
	w := wording{
		[]string{"Let me change `" + name + "`.", "I'll update the setting in " + path + "."},
		[]string{"The edit was refused.", "I have to look at the file first.", "The file needs to be read first.", "It says that the file has not been read.", ""},
		[]string{"Let me try the edit again.", "Now I can make the change.", "I have seen the file, so the edit should go through now.", "Let me apply the change.", "I'll make the edit smaller."},
	}
	show := func() entry {
		n := p.between(at+1, len(lines))
		whole, part := strings.Join(lines, "\n"), strings.Join(lines[:n], "\n")
		switch p.IntN(4) {
		case 0:
			return g.shell(fmt.Sprintf("head -%d %s", n, path), part)
		case 1:
			return g.shell("grep -n '"+name+"' "+path, fmt.Sprintf("%d:%s", at+1, lines[at]))
		case 2:
			return g.shell(fmt.Sprintf("sed -n '1,%dp' %s", n, path), part)
		}
		return g.shell("cat "+path, whole)
	}
	value := p.between(1000, 9000)
	for k := range p.passes() {
		before, after := lines[at], fmt.Sprintf("%s = %d", name, value)
		if p.IntN(3) == 0 && at > 0 {
			before, after = lines[at-1]+"\n"+before, lines[at-1]+"\n"+after
		}
		if p.IntN(4) == 0 {
			after += p.pick("  # raised", "  # was too low", "  # see ticket")
		}
		entries = append(entries, g.refused(path, before, after).after(w.of(p, k)), show().after(thought{p.pick("It must be read first.", "The editor wants me to read the file.", ""), p.pick("Let me show the file.", "Let me look at it.", "I'll read it.")}))
	}
	return entries, 2
}

// strayText is what a model writes around the content of a file, and how the program that reads the file complains about it.
type strayText struct {
	file, before, after, run, output string
	content                          func() string
}

func (p *generator) strayText() strayText {
	stem := p.pick("analyze", "convert", "check", "load", "merge", "export") + "_" + p.word()
	names := p.distinctWords(4)
	switch p.IntN(4) {
	case 0:
		file := stem + ".json"
		return strayText{file, "```json\n", "\n```\n", "python -m json.tool " + file, "Expecting value: line 1 column 1 (char 0)", func() string {
			return fmt.Sprintf("{\n  %q: %q,\n  %q: %d,\n  %q: [%d, %d]\n}", names[0], p.word(), names[1], p.between(1, 90), names[2], p.between(1, 9), p.between(10, 99))
		}}
	case 1:
		file := stem + ".yaml"
		return strayText{file, "```yaml\n", "\n```\n", "docker compose -f " + file + " config -q", "yaml: found character that cannot start any token", func() string {
			return fmt.Sprintf("services:\n  %s:\n    image: %s:%d.%d\n    restart: %s\n    ports:\n      - \"%d:8080\"", names[0], names[1], p.between(1, 9), p.IntN(20), p.pick("always", "unless-stopped", "on-failure"), p.between(8000, 8999))
		}}
	}
	file, before, after, caret := stem+".py", "```python\n", "\n```\n", "    ^\nSyntaxError: invalid syntax"
	if p.coin() {
		sentence, wrong := p.pick("Here is the", "Below is the", "This is the"), p.pick("full", "corrected", "new", "updated")
		before, after = sentence+" "+wrong+" script:\n\n", "\n"
		caret = strings.Repeat(" ", 4+len(sentence)+1) + strings.Repeat("^", len(wrong)) + "\nSyntaxError: invalid syntax"
	}
	run := p.pick("python "+file, "python3 "+file, "cd /app && python "+file)
	return strayText{file, before, after, run, "  File \"/app/" + file + "\", line 1\n    " + strings.TrimSpace(before) + "\n" + caret, func() string {
		lines := []string{p.pick("import csv", "import json", "import pandas as pd", "import sys, csv", "from pathlib import Path\nimport csv"), "", "def " + p.pick("main", "run", "process", "load_rows") + "():"}
		for range p.between(2, 5) {
			lines = append(lines, p.pick(
				"    rows = list(csv.DictReader(open('"+names[0]+".csv')))",
				"    total = sum(float(r['"+names[1]+"']) for r in rows)",
				"    rows = [r for r in rows if r['"+names[2]+"']]",
				"    by = {r['"+names[3]+"']: r for r in rows}",
				"    print(len(rows), 'rows')"))
		}
		return strings.Join(append(lines, "    return rows", "", "print("+p.pick("main", "run")+"())"), "\n")
	}}
}

// strayTextWrittenIntoScript writes a file again and again with the fence or the sentence that a chat puts in front of it.
func strayTextWrittenIntoScript(p *generator) (entries []entry, _ int) {
	h, s := p.patient(), p.strayText()
	w := wording{
		[]string{"Let me write " + s.file + ".", "I'll create the file first."},
		[]string{"There is a syntax problem.", "The first line is wrong.", "It does not parse.", "Something is off at the top of the file.", "The file has a formatting problem.", ""},
		[]string{"Let me rewrite the file cleanly.", "I'll write it again without formatting.", "Let me write a simpler version.", "I'll recreate the file from scratch.", "Let me fix the file."},
	}
	for k := range p.passes() {
		entries = append(entries, h.create("/app/"+s.file, s.before+s.content()+s.after).after(w.of(p, k)), h.shell(s.run, s.output, 1).after(thought{"", p.pick("Now run it.", "Let me test it.", "Does it work now?", "")}))
	}
	return entries, 2
}

// missingVenvActivatedAgain begins each command with an environment that does not exist, so that nothing behind it runs.
func missingVenvActivatedAgain(p *generator) (entries []entry, _ int) {
	run, script := p.patientShell(), p.word()
	folder := p.pick(".venv", "venv", "/opt/venv", "env", "/workspace/.venv")
	begin := p.pick("source "+folder+"/bin/activate && ", ". "+folder+"/bin/activate && ", "cd /workspace && source "+folder+"/bin/activate && ")
	output := p.pick("/bin/bash: line 1: ", "bash: line 1: ", "bash: ") + folder + "/bin/activate: No such file or directory"
	commands := []string{
		"python " + script + ".py", "python -m " + script, "pytest -q", "pip list", "pip install -r requirements.txt", "python -c 'import " + script + "; print(" + script + ".__file__)'",
		"python " + script + ".py --verbose", "python " + script + ".py 2>&1 | tail -20", "which python && python " + script + ".py", "timeout 600 python " + script + ".py", "PYTHONPATH=. python " + script + ".py", "python --version", "nohup python " + script + ".py > out.log 2>&1",
	}
	w := wording{
		[]string{"Let me run the script in the environment.", "I'll activate the environment and run it."},
		[]string{"It did not run.", "The environment was not found.", "Hmm, that failed.", "No such file.", ""},
		[]string{"Let me run it in another way.", "I'll check the packages first.", "Let me try the command again.", "Let me see what Python says.", "I'll run it with more output.", "Let me start it once more."},
	}
	last := ""
	for k := range p.attempts() {
		command := p.pick(commands...)
		for command == last {
			command = p.pick(commands...)
		}
		last = command
		entries = append(entries, run(begin+command, output, 1).after(w.of(p, k)))
	}
	return entries, 1
}

// emptySelection is a test runner of whose tests a filter selects none.
type emptySelection struct {
	commands []string
	output   func() string
	status   int
}

func (p *generator) emptySelection() emptySelection {
	a, b, c := p.word(), p.word(), p.word()
	snake, total := a+"_"+b+"_"+c, p.between(18, 900)
	camel := a + capitalized(b) + capitalized(c)
	hundredth := func() string { return fmt.Sprintf("%d.%02d", p.IntN(3), p.IntN(100)) }
	switch p.IntN(4) {
	case 0:
		file := "tests/test_" + a + ".py"
		commands := []string{"pytest -k " + snake, "pytest -k test_" + snake, "pytest -k '" + a + " and " + b + " and " + c + "'", "pytest " + file + " -k " + b + "_" + c, "pytest -k " + camel + " -v", "pytest -rA -k '" + snake + "'", "python -m pytest -k 'Test" + capitalized(camel) + "'", "pytest " + file + " -k 'test_" + b + "_" + c + "' -x"}
		return emptySelection{commands, func() string {
			return fmt.Sprintf("============================= test session starts ==============================\nplatform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0\nrootdir: /workspace\nconfigfile: pyproject.toml\ncollected %d items / %[1]d deselected / 0 selected\n\n============================ %[1]d deselected in %s =============================", total, hundredth())
		}, 5}
	case 1:
		pkg := "./internal/" + a
		commands := []string{"go test " + pkg + " -run " + capitalized(camel), "go test " + pkg + " -run Test" + capitalized(camel), "go test " + pkg + " -run 'Test" + capitalized(b) + capitalized(c) + "$' -v", "go test -count=1 " + pkg + " -run '^Test" + capitalized(a) + "/" + b + "$'", "go test " + pkg + " -run " + snake + " -v", "go test " + pkg + " -run '(?i)" + b + c + "'", "go test -v " + pkg + " -run Test_" + camel}
		return emptySelection{commands, func() string {
			return fmt.Sprintf("testing: warning: no tests to run\nPASS\nok  \tgithub.com/%s/%s/internal/%[2]s\t0.%03ds [no tests to run]", b, a, p.between(2, 19))
		}, 0}
	case 2:
		suites, tests := p.between(4, 60), total
		commands := []string{"npx jest -t '" + a + " " + b + " " + c + "'", "npx jest -t '" + camel + "'", "npm test -- -t '" + b + " " + c + "'", "npx jest src -t \"" + a + " should " + b + "\"", "npx jest --testNamePattern='" + a + ".*" + c + "'", "npx jest -t '" + a + " › " + b + "' --verbose", "npx jest -t 'returns " + c + "'"}
		return emptySelection{commands, func() string {
			return fmt.Sprintf("Test Suites: %d skipped, 0 of %[1]d total\nTests:       %d skipped, %[2]d total\nSnapshots:   0 total\nTime:        %d.%03d s\nRan all test suites with tests matching the name.", suites, tests, p.between(1, 6), p.IntN(1000))
		}, 0}
	}
	commands := []string{"cargo test " + snake, "cargo test " + a + "::" + b + "::" + c, "cargo test test_" + snake, "cargo test --lib " + b + "_" + c, "cargo test -- --exact tests::" + snake, "cargo test " + snake + " -- --nocapture", "cargo test -p " + a + " " + b + "_" + c}
	return emptySelection{commands, func() string {
		return fmt.Sprintf("    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.%02ds\n     Running unittests src/lib.rs (target/debug/deps/%s-%s)\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; %d filtered out; finished in 0.00s", p.between(3, 60), a, fmt.Sprintf("%08x", total*7919), total)
	}, 0}
}

// testFilterSelectsNothing runs one test under names that no test has; each run selects none.
func testFilterSelectsNothing(p *generator) (entries []entry, _ int) {
	run, s := p.patientShell(), p.emptySelection()
	w := wording{
		[]string{"Let me run the one test that matters.", "I'll run only the new test."},
		[]string{"No test was selected.", "Nothing ran.", "It matched no test.", "The name does not match.", ""},
		[]string{"Let me use another filter.", "I'll try the name in another form.", "Let me select it differently.", "Perhaps it is named otherwise.", "Let me filter by a part of the name."},
	}
	last := ""
	for k := range p.attempts() {
		command := p.pick(s.commands...)
		for command == last {
			command = p.pick(s.commands...)
		}
		last = command
		entries = append(entries, run(command, s.output(), s.status).after(w.of(p, k)))
	}
	return entries, 1
}
