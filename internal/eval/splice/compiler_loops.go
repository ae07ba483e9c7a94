package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents at compilers, debuggers and language servers.

func compilerLoops() []kind {
	return []kind{
		{name: "binary_stays_old", build: binaryStaysOld},
		{name: "bisect_restarted", build: bisectRestarted},
		{name: "backtrace_without_symbols", build: backtraceWithoutSymbols},
		{name: "diagnostics_stay_stale", build: diagnosticsStayStale},
	}
}

// workbench is a shell and an editor of one harness.
type workbench struct {
	shell   func(command, output string, status int) entry
	replace func(path, before, after string) entry
}

// workbench returns the tools of a harness, or those of an extension of an editor.
func (p *generator) workbench() workbench {
	if p.IntN(4) > 0 {
		h := p.harness()
		if h.form == claudeCode {
			return workbench{h.shell, p.numberedEdit}
		}
		return workbench{h.shell, h.replace}
	}
	return workbench{
		func(command, output string, _ int) entry {
			return call("execute_command", object("command", command, "requires_approval", "false"), quoted("[execute_command for '"+command+"'] Result:\nCommand executed.\nOutput:\n"+output))
		},
		func(path, before, after string) entry {
			return call("replace_in_file", object("path", path, "diff", "------- SEARCH\n"+before+"\n=======\n"+after+"\n+++++++ REPLACE"), quoted("[replace_in_file for '"+path+"'] Result:\nThe content was successfully saved to "+path+"."))
		},
	}
}

// numberedEdit is an edit in Claude Code, whose answer shows the new lines with their numbers.
func (p *generator) numberedEdit(path, before, after string) entry {
	snippet, line := "", p.between(1, 300)
	for k, text := range strings.Split(after, "\n") {
		snippet += fmt.Sprintf("\n%6d→%s", line+k, text)
	}
	return call("Edit", object("file_path", path, "old_string", before, "new_string", after), quoted("The file "+path+" has been updated. Here's the result of running `cat -n` on a snippet of the edited file:"+snippet))
}

// binaryStaysOld edits a program in C and makes it; make sees nothing to do, so that the old program prints the old result.
func binaryStaysOld(p *generator) (entries []entry, _ int) {
	w, name, arg := p.workbench(), p.word(), p.word()
	file, want, got := "lib/"+name+".c", p.between(200, 900), p.between(1, 190)
	makes := [][2]string{{"make", "make: Nothing to be done for 'all'."}, {"make -j8", "make: Nothing to be done for 'all'."}, {"make bin/" + name, "make: 'bin/" + name + "' is up to date."}, {"make all 2>&1 | tail -5", "make: Nothing to be done for 'all'."}}
	bodies := p.shuffled("    return "+arg+"->count + "+arg+"->spare;", "    size_t n = "+arg+"->count;\n    while ("+arg+"->next) n += "+arg+"->next->count;\n    return n;",
		"    return (int)"+arg+"->count;", "    assert("+arg+" != NULL);\n    return "+arg+"->count * 2;", "    fprintf(stderr, \"count=%zu\\n\", "+arg+"->count);\n    return "+arg+"->count;", "    return count_all("+arg+", 0);")
	before := "    return " + arg + "->count;"
	words := wording{
		first: []string{"I see the mistake in the count.", "The function ignores the second list. Let me change it."},
		seen:  []string{fmt.Sprintf("It still prints %d.", got), "The same number as before.", "No change in the output.", "The edit made no difference.", "Hmm, still the old value."},
		next:  []string{"Let me rewrite the function.", "I'll try another way to count.", "Maybe the cast is the problem.", "Let me correct that line differently.", "Then the loop must be wrong."},
	}
	for round := range p.between(3, 6) {
		made := makes[p.IntN(len(makes))]
		entries = append(entries,
			w.replace(file, before, bodies[round]).after(words.of(p, round)),
			w.shell(made[0], made[1], 0).after(thought{next: p.pick("Build it.", "Now make.", "Let me rebuild.", "Compile.")}),
			w.shell("./bin/"+name+" tests/data/two_lists.txt", fmt.Sprintf("count: %d (expected %d)\nFAIL", got, want), 1).after(thought{next: p.pick("Run it on the sample.", "And run.", "Does it count right now?", "Let me see the result.")}))
		if round > 0 && p.IntN(4) == 0 {
			caller := "lib/" + p.word() + ".c"
			entries = append(entries, w.shell("grep -n "+name+"_count "+caller, fmt.Sprintf("%d:    size_t total = %s_count(%s);", p.between(20, 400), name, p.word()), 0).after(thought{next: p.pick("Let me look at a caller.", "Who calls it?", "How does "+caller+" use it?")}))
		}
		before = bodies[round]
	}
	return entries, 3
}

// bisectRestarted bisects the same range again and again, since the commit that it finds seems impossible.
func bisectRestarted(p *generator) (entries []entry, _ int) {
	run, good, script := p.patientShell(), fmt.Sprintf("v%d.%d.0", p.between(1, 5), p.between(0, 9)), p.pick("./repro.sh", "make test-"+p.word(), "python repro.py", "./tests/run.sh "+p.word())
	shas, subjects := make([]string, 4), p.shuffled("Bump the copyright year", "Update the translations", "Move the CI image to Debian 13", "Reformat the README", "Rename a helper", "Add a benchmark", "Sort the imports")
	for k := range shas {
		shas[k] = fmt.Sprintf("%08x%08x%08x%08x%08x", p.Uint32(), p.Uint32(), p.Uint32(), p.Uint32(), p.Uint32())
	}
	file, outcomes := "docs/"+p.word()+".md", p.shuffled("failed", "passed", "failed")
	words := wording{
		first: []string{"I'll bisect between " + good + " and HEAD.", "Let me find the commit that broke it."},
		seen:  []string{"A commit to the docs can't be it.", "That can't be the cause.", "The bisection must have gone wrong.", "This commit only touches a document.", "That makes no sense."},
		next:  []string{"Let me bisect again.", "I'll start the bisection over.", "Let me repeat it to be sure.", "Once more from the start.", "I'll run it again from the same good tag."},
	}
	for round := range p.between(3, 4) {
		var log strings.Builder
		for k, left := range []int{11, 5, 2} {
			fmt.Fprintf(&log, "running '%s'\n1 %s in %d.%02ds\nBisecting: %d revisions left to test after this (roughly %d steps)\n[%s] %s\n", script, outcomes[k], p.between(2, 5), p.IntN(100), left, 4-k, shas[k], subjects[k])
		}
		fmt.Fprintf(&log, "running '%s'\n1 failed in %d.%02ds\n%s is the first bad commit\ncommit %s\nAuthor: Eva Lindholm <eva@example.com>\nDate:   Tue Mar 3 10:12:44 2026 +0100\n\n    %s\n\n %s | 4 ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)\nbisect found first bad commit", script, p.between(2, 5), p.IntN(100), shas[3], shas[3], subjects[3], file)
		entries = append(entries,
			run("git bisect start HEAD "+good, fmt.Sprintf("Bisecting: 23 revisions left to test after this (roughly 5 steps)\n[%s] %s", shas[0], subjects[0]), 0).after(words.of(p, round)),
			run("git bisect run "+script, log.String(), 0).after(thought{next: p.pick("Let it run.", "Now the script decides.", "Run the bisection.")}),
			run("git show --stat "+shas[3][:8], fmt.Sprintf("commit %s\nAuthor: Eva Lindholm <eva@example.com>\nDate:   Tue Mar 3 10:12:44 2026 +0100\n\n    %s\n\n %s | 4 ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)", shas[3], subjects[3], file), 0).after(thought{"It names " + shas[3][:8] + ".", p.pick("What did it change?", "Let me look at it.", "Let me see that commit.")}),
			run("git bisect reset", "Previous HEAD position was "+shas[3][:8]+" "+subjects[3]+"\nSwitched to branch 'main'", 0).after(thought{next: p.pick("Reset first.", "Back to main.", "")}))
	}
	return entries, 4
}

// backtraceWithoutSymbols builds a program with other flags for debugging; the one that crashes is the installed one, which is stripped.
func backtraceWithoutSymbols(p *generator) (entries []entry, _ int) {
	w, name := p.workbench(), p.word()+"d"
	builds := p.shuffled(`make clean && make CFLAGS="-g -O0"`, "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build", `make CFLAGS="-ggdb3 -fno-omit-frame-pointer" -B`, "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build", `./configure --enable-debug && make -j4`, `make DEBUG=1 -B`)
	frames, build := p.between(4, 9), p.between(20, 70)
	offsets := make([]uint64, frames)
	for k := range offsets {
		offsets[k] = p.Uint64N(1 << 18)
	}
	words := wording{
		first: []string{"The backtrace needs symbols. Let me build with -g.", "I'll make a debug build first."},
		seen:  []string{"Only question marks.", "Still no symbols.", "The frames are all ??.", "gdb can't resolve any frame.", "No symbol table again."},
		next:  []string{"Let me rebuild with other debug flags.", "Perhaps -O0 is missing.", "I'll set the build type and build again.", "Let me force a full rebuild.", "Maybe frame pointers help."},
	}
	for round := range p.between(4, 6) {
		pid, base := p.between(2000, 60_000), 0x55d000000000+p.Uint64N(1<<36)&^0xfff
		var trace strings.Builder
		fmt.Fprintf(&trace, "Reading symbols from /usr/local/sbin/%s...\n(No debugging symbols found in /usr/local/sbin/%s)\n[New LWP %d]\nCore was generated by `/usr/local/sbin/%s -f'.\nProgram terminated with signal SIGSEGV, Segmentation fault.\n", name, name, pid, name)
		for k, offset := range offsets {
			fmt.Fprintf(&trace, "#%-2d 0x%016x in ?? ()\n", k, base+offset)
		}
		trace.WriteString("Backtrace stopped: previous frame inner to this frame (corrupt stack?)")
		command := builds[round]
		flags := "-O2"
		if _, after, ok := strings.Cut(command, "CFLAGS=\""); ok {
			flags, _, _ = strings.Cut(after, "\"")
		} else if !strings.Contains(command, "cmake") {
			flags = "-O2 -g"
		}
		cleaned := ""
		if strings.Contains(command, "clean") {
			cleaned = "rm -f *.o " + name + "\n"
		}
		output := cleaned + fmt.Sprintf("cc %[1]s -c -o %[2]s.o %[2]s.c\ncc %[1]s -c -o net.o net.c\ncc %[1]s -o %[2]s %[2]s.o net.o -lpthread", flags, name)
		if strings.Contains(command, "cmake") {
			output = fmt.Sprintf("-- Configuring done (%d.%ds)\n-- Generating done (0.0s)\n-- Build files have been written to: /app/build\n[%3d%%] Building C object CMakeFiles/%s.dir/net.c.o\n[100%%] Linking C executable %s\n[100%%] Built target %s", p.IntN(2), p.IntN(10), build, name, name, name)
		}
		entries = append(entries,
			w.shell(command, output, 0).after(words.of(p, round)),
			w.shell(fmt.Sprintf("systemctl restart %s; sleep 4; gdb -batch -ex bt /usr/local/sbin/%s $(ls -t /var/crash/core.* | head -n 1)", name, name), trace.String(), 0).after(thought{next: p.pick("Now the backtrace of the new core.", "Let it crash and read the core.", "gdb on the fresh core.", "Let me look at the stack.")}))
	}
	return entries, 2
}

// diagnosticsStayStale edits a line and asks the editor for its diagnostics, which are those of the text before the first edit.
func diagnosticsStayStale(p *generator) (entries []entry, _ int) {
	name, field, line := p.word(), p.word(), p.between(12, 240)
	file := "/workspace/src/" + p.word() + "/" + name + ".ts"
	message, code := "Property '"+field+"' does not exist on type '"+capitalized(name)+"'.", 2339
	if p.coin() {
		message, code = p.pick("Type 'string | undefined' is not assignable to type 'string'.", "Type 'unknown' is not assignable to type 'string'."), 2322
	}
	diagnostic := object("message", message, "severity", "Error", "range", object("start", object("line", line, "character", 8), "end", object("line", line, "character", 13)), "source", "ts", "code", code)
	diagnostics := content("[{\"uri\":\"file://" + file + "\",\"diagnostics\":[" + string(diagnostic) + "]}]")
	texts := p.shuffled("  const value: string = ("+name+" as any)."+field+";", "  const value: string = "+name+"['"+field+"'];", "  const value: string = "+name+"?."+field+" ?? '';", "  const { "+field+": value } = "+name+";", "  const value = String("+name+"."+field+");", "  const value: string = Reflect.get("+name+", '"+field+"');")
	before := "  const value: string = " + name + "." + field + ";"
	numbered := func(text string) string {
		return fmt.Sprintf("%6d→export function read(%s: %s) {\n%6d→%s\n%6d→  return value;\n%6d→}", line, name, capitalized(name), line+1, text, line+2, line+3)
	}
	words := wording{
		first: []string{"I'll correct the type error.", "Let me fix line " + fmt.Sprint(line+1) + "."},
		seen:  []string{"The diagnostic is still there.", "The editor reports the same error.", "Same message at the same line.", "It still complains.", "The error didn't go away."},
		next:  []string{"Let me write it in another way.", "I'll cast it instead.", "Let me try an index access.", "Maybe destructuring satisfies it.", "Let me change the line again."},
	}
	for round := range p.between(4, 6) {
		entries = append(entries, call("Edit", object("file_path", file, "old_string", before, "new_string", texts[round]), quoted("The file "+file+" has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"+numbered(texts[round]))).after(words.of(p, round)))
		before = texts[round]
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("Read", object("file_path", file, "offset", line, "limit", 4), quoted(numbered(before))).after(thought{next: "Let me see what the file says."}))
		}
		entries = append(entries, call("mcp__ide__getDiagnostics", object("uri", "file://"+file), diagnostics).after(thought{next: p.pick("Let me check the diagnostics.", "Is the error gone?", "What does the editor say now?", "Check again.")}))
	}
	return entries, 2
}
