package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of coding agents at a shell, in the words of compilers, test runners, package managers and
// version control.

func shellLoops() []kind {
	return []kind{
		{name: "same_compile_error", build: sameCompileError},
		{name: "install_fails", build: installFails},
		{name: "grep_known_lines", build: grepKnownLines},
		{name: "docker_build_fails", build: dockerBuildFails},
		{name: "tests_with_other_flags", build: testsWithOtherFlags},
		{name: "edit_not_found", build: editNotFound},
		{name: "empty_commands", build: emptyCommands},
		{name: "verify_again", build: verifyAgain},
		{name: "long_cycle", build: longCycle},
		{name: "same_file_by_many_tools", build: sameFileByManyTools},
		{name: "dead_log", build: deadLog},
		{name: "same_import_error", build: sameImportError},
		{name: "push_rejected", build: pushRejected},
		{name: "edit_without_change", build: editWithoutChange},
		{name: "broken_commands", build: brokenCommands},
		{name: "reread_slices", build: rereadSlices},
		{name: "denied_writes", build: deniedWrites},
		{name: "silent_background_shell", build: silentBackgroundShell},
		{name: "pods_stay_broken", build: podsStayBroken},
	}
}

// shell returns a command with what it printed. Half of the shells tell the exit status only in their output.
func (p *generator) shell(command, output string, status int) entry {
	return call("bash", object("command", command), quoted(fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s\n</output>", status, output)))
}

// rewrite returns a change of the file with new content.
func (p *generator) rewrite(path string) entry {
	return call("write_file", object("path", path, "content", p.page()), quoted("Wrote "+path+"."))
}

// compilerError returns one error of one compiler; the place in the file varies.
func (p *generator) compilerError(path string) (command string, output func() string) {
	name, other := p.word(), p.word()
	at := func() (int, int) { return p.between(3, 400), p.between(1, 60) }
	switch p.IntN(4) {
	case 0:
		return "cargo build", func() string {
			line, column := at()
			return fmt.Sprintf("   Compiling %s v0.1.0\nerror[E0502]: cannot borrow `%s` as mutable because it is also borrowed as immutable\n  --> %s:%d:%d\nerror: could not compile `%s` due to previous error", other, name, path, line, column, other)
		}
	case 1:
		return "go build ./...", func() string {
			line, column := at()
			return fmt.Sprintf("# example.com/%s\n./%s:%d:%d: cannot use %s (variable of type *%s) as %s value in argument", other, path, line, column, name, other, other)
		}
	case 2:
		return "npx tsc --noEmit", func() string {
			line, column := at()
			return fmt.Sprintf("%s(%d,%d): error TS2345: Argument of type '%s' is not assignable to parameter of type '%s'.", path, line, column, name, other)
		}
	}
	return "make", func() string {
		line, column := at()
		return fmt.Sprintf("gcc -Wall -c %s\n%s:%d:%d: error: incompatible types when assigning to type '%s' from type '%s'\nmake: *** [Makefile:12: %s.o] Error 1", path, path, line, column, name, other, other)
	}
}

// sameCompileError rewrites one file and meets the same error each time.
func sameCompileError(p *generator) (entries []entry, _ int) {
	path := p.path()
	command, output := p.compilerError(path)
	for range p.between(5, 9) {
		entries = append(entries, p.rewrite(path), p.shell(command, output(), 1))
	}
	return entries, 2
}

// sameImportError changes the place of an import, and the module is missing all the same.
func sameImportError(p *generator) (entries []entry, _ int) {
	path, name := p.path(), p.word()
	for range p.between(5, 9) {
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line %d, in <module>\n    from %s import %s\nImportError: cannot import name '%s' from '%s' (/app/%s/__init__.py)", path, p.between(1, 40), name, name, name, name, name)
		entries = append(entries, p.edit(path), p.shell("python "+path, output, 1))
	}
	return entries, 2
}

// installFails installs one package with other flags each time.
func installFails(p *generator) (entries []entry, _ int) {
	name := p.word()
	type manager struct {
		commands []string
		output   string
	}
	m := []manager{
		{
			[]string{"pip install %s", "pip3 install %s", "python -m pip install %s", "pip install --user %s", "pip install --no-cache-dir %s", "pip install --upgrade %s", "pip install --pre %s", "pip install --no-deps %s"},
			"ERROR: Could not find a version that satisfies the requirement " + name + " (from versions: none)\nERROR: No matching distribution found for " + name,
		},
		{
			[]string{"npm install %s", "npm i %s --force", "npm install --legacy-peer-deps %s", "npm i -g %s", "yarn add %s", "npm install %s@latest", "npm install --registry http://localhost:4873 %s", "npm i --save-dev %s"},
			"npm error code E404\nnpm error 404 Not Found - GET " + name + "\nnpm error 404  '" + name + "' is not in this registry.",
		},
		{
			[]string{"apt-get install -y %s", "apt install %s", "sudo apt-get install %s", "apt-get update && apt-get install %s", "apt-get install --fix-missing %s", "apt-get -f install %s", "apt install -y --no-install-recommends %s", "aptitude install %s"},
			"Reading package lists...\nBuilding dependency tree...\nE: Unable to locate package " + name,
		},
	}[p.IntN(3)]
	for _, command := range p.shuffled(m.commands...)[:p.between(6, 8)] {
		entries = append(entries, p.shell(fmt.Sprintf(command, name), m.output, 1))
	}
	return entries, 1
}

// grepKnownLines looks for other words in one file, and finds lines that earlier searches found.
func grepKnownLines(p *generator) (entries []entry, _ int) {
	path := p.path()
	lines := make([]string, 6)
	for k := range lines {
		lines[k] = fmt.Sprintf("%d:%s", 20*k+p.between(1, 19), p.phrase(5, 9))
	}
	entries = append(entries, p.shell("cat "+path, strings.Join(lines, "\n"), 0))
	for range p.between(7, 12) {
		from := p.IntN(4)
		pattern := strings.Join(p.words(p.between(1, 3)), `\|`)
		entries = append(entries, p.shell("grep -n '"+pattern+"' "+path, strings.Join(lines[from:from+p.between(1, 2)], "\n"), 0))
	}
	return entries, 1
}

// dockerBuildFails changes the Dockerfile and fails at the same step; hashes and times differ.
func dockerBuildFails(p *generator) (entries []entry, _ int) {
	step := p.word()
	for range p.between(5, 8) {
		output := fmt.Sprintf("#1 [internal] load build definition\n#1 transferring dockerfile: %dB done\n#9 [5/7] RUN make %s\n#9 %d.%d make: *** No rule to make target '%s'.  Stop.\nERROR: failed to solve: process \"/bin/sh -c make %s\" did not complete successfully: exit code: 2 (sha256:%x)", p.between(300, 900), step, p.IntN(60), p.IntN(999), step, step, p.Uint64())
		entries = append(entries, p.rewrite("Dockerfile"), p.shell("docker build -t "+step+" .", output, 1))
	}
	return entries, 2
}

// pushRejected tries to push and to pull in other ways, and is refused.
func pushRejected(p *generator) (entries []entry, _ int) {
	branch := p.word()
	output := " ! [rejected]        " + branch + " -> " + branch + " (non-fast-forward)\nerror: failed to push some refs to 'origin'\nhint: Updates were rejected because the tip of your current branch is behind"
	commands := []string{"git push", "git push origin " + branch, "git push -u origin " + branch, "git push origin HEAD", "git push --tags origin " + branch, "git push origin " + branch + ":" + branch, "git push -v origin " + branch, "git push --no-verify"}
	for _, command := range p.shuffled(commands...)[:p.between(6, 8)] {
		entries = append(entries, p.shell(command, output, 1))
	}
	return entries, 1
}

// testsWithOtherFlags runs the same failing test with other flags and changes nothing; the times differ.
func testsWithOtherFlags(p *generator) (entries []entry, _ int) {
	name, why := p.word(), p.phrase(3, 6)
	for range p.between(6, 10) {
		output := fmt.Sprintf("tests/test_%s.py F\n=== FAILURES ===\nE   AssertionError: %s\n=== 1 failed, 12 passed in %d.%02ds ===", name, why, p.between(1, 9), p.IntN(100))
		command := "pytest tests/test_" + name + ".py " + strings.Join(p.shuffled("-v", "-x", "--tb=short", "--tb=long", "-s", "-rA", "--no-header", "-p no:cacheprovider")[:p.between(1, 3)], " ")
		entries = append(entries, p.shell(command, output, 1))
	}
	return entries, 1
}

// editNotFound asks for a text to be replaced that the file does not have.
func editNotFound(p *generator) (entries []entry, _ int) {
	path := p.path()
	reason := p.pick("No replacement was performed, old_str did not appear verbatim in "+path+".", "String to replace not found in file.", "Error: search text not found in "+path)
	for range p.between(5, 9) {
		entries = append(entries, failed("str_replace", object("path", path, "old_str", p.phrase(4, 9), "new_str", p.phrase(4, 9)), reason))
	}
	return entries, 1
}

// editWithoutChange writes what the file has already.
func editWithoutChange(p *generator) (entries []entry, _ int) {
	path, text := p.path(), p.phrase(4, 9)
	reply := p.pick("No changes were made: old_string and new_string are identical.", "The file was not modified.", "0 replacements made in "+path)
	for range p.between(5, 9) {
		entries = append(entries, call("edit_file", object("path", path, "old_string", text, "new_string", text, "note", p.phrase(2, 4)), quoted(reply)))
	}
	return entries, 1
}

// emptyCommands announces an act and runs a command that does nothing.
func emptyCommands(p *generator) (entries []entry, _ int) {
	for range p.between(5, 9) {
		entries = append(entries, say(p.pick("Now I'll run the tests of the ", "Let me fix the ", "Next I update the ", "Let me check the ", "I will now write the ")+p.phrase(1, 3)+"."), p.shell(p.pick(":", "true", "echo", "", "# "+p.phrase(2, 4)), "", 0))
	}
	return entries, 3
}

// brokenCommands sends the remains of a template as a command.
func brokenCommands(p *generator) (entries []entry, _ int) {
	for range p.between(5, 9) {
		command := p.pick("</function>", "<parameter=command>", "]}", "```", "<|im_end|>", "{{command}}", "<tool_call>")
		entries = append(entries, p.shell(command, "bash: -c: line 1: syntax error near unexpected token `"+command[:1]+"'", 2))
	}
	return entries, 1
}

// verifyAgain goes round the same few checks in any order.
func verifyAgain(p *generator) (entries []entry, _ int) {
	path := p.path()
	checks := []entry{
		p.shell("git status --short", " M "+path, 0), p.shell("git diff --stat", " "+path+" | 4 ++--", 0),
		p.shell("cat "+path, p.page(), 0), p.shell("ls -la", p.page(), 0),
	}
	for range p.between(4, 6) {
		entries = append(entries, say(p.pick("Let me verify once more that all is in place.", "Let me double-check the result.", "One last check before I finish.", "I verify the change again to be sure.")))
		p.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
		entries = append(entries, checks...)
	}
	return entries, 6
}

// longCycle is a cycle of twelve different calls.
func longCycle(p *generator) ([]entry, int) {
	round := make([]entry, 12)
	for k := range round {
		round[k] = p.call()
	}
	return slices.Repeat(round, p.between(3, 4)), 12
}

// rereadSlices reads ranges of one file that overlap what was read before.
func rereadSlices(p *generator) (entries []entry, _ int) {
	path := p.path()
	lines := make([]string, 120)
	for k := range lines {
		lines[k] = fmt.Sprintf("%4d  %s", k+1, p.phrase(3, 7))
	}
	slice := func(from, to int) entry {
		return call("read_file", object("path", path, "offset", from, "limit", to-from), quoted(strings.Join(lines[from:to], "\n")))
	}
	entries = append(entries, slice(0, 60), slice(60, 120))
	for range p.between(8, 12) {
		from := p.IntN(80)
		entries = append(entries, slice(from, from+p.between(15, 40)))
	}
	return entries, 2
}

// sameFileByManyTools reads one file by another tool each time.
func sameFileByManyTools(p *generator) (entries []entry, _ int) {
	path, text := p.path(), p.page()
	for k := range p.between(6, 9) {
		switch k % 3 {
		case 0:
			entries = append(entries, call("bash", object("command", p.pick("cat ", "head -400 ", "sed -n 1,400p ")+path), quoted(text)))
		case 1:
			entries = append(entries, call("read_file", object("path", path), quoted(text)))
		case 2:
			entries = append(entries, call("view", object("file", path, "start", 1), quoted(text)))
		}
	}
	return entries, 3
}

// deniedWrites writes to other places, and none may be written to.
func deniedWrites(p *generator) (entries []entry, _ int) {
	reason := p.pick("bash: %s: Permission denied", "touch: cannot touch '%s': Read-only file system", "mkdir: cannot create directory '%s': Permission denied")
	for range p.between(6, 10) {
		path := "/" + p.pick("opt", "srv", "var/lib", "usr/local", "etc") + "/" + p.path()
		entries = append(entries, p.shell(p.pick("touch ", "mkdir -p ", "tee ", "cp a.txt ")+path, fmt.Sprintf(reason, path), 1))
	}
	return entries, 1
}

// deadLog waits and looks at a log that nothing is written to.
func deadLog(p *generator) (entries []entry, _ int) {
	path, last := "/var/log/"+p.word()+".log", p.clock()+" ERROR "+p.phrase(3, 6)+": connection refused"
	for range p.between(14, 20) {
		entries = append(entries, p.shell(fmt.Sprintf("sleep %d && tail -n 1 %s", 5*p.between(1, 6), path), last, 0))
	}
	return entries, 1
}

// silentBackgroundShell asks a background command for output at once, again and again, and there is none.
func silentBackgroundShell(p *generator) ([]entry, int) {
	args := object("bash_id", fmt.Sprintf("bash_%d", p.between(1, 9)))
	var result json.RawMessage = quoted("<status>running</status>\n\n<stdout></stdout>\n\n<stderr></stderr>")
	return slices.Repeat([]entry{call("BashOutput", args, result)}, p.between(14, 24)), 1
}

// podsStayBroken lists pods whose age alone moves.
func podsStayBroken(p *generator) (entries []entry, _ int) {
	name := fmt.Sprintf("%s-%x", p.word(), p.IntN(1<<20))
	state := p.pick("Pending", "ImagePullBackOff", "ContainerCreating")
	for k := range p.between(12, 18) {
		output := fmt.Sprintf("NAME          READY   STATUS             RESTARTS   AGE\n%s   0/1     %s   0          %dm%ds", name, state, k+2, p.IntN(60))
		entries = append(entries, p.shell("kubectl get pods", output, 0))
	}
	return entries, 1
}
