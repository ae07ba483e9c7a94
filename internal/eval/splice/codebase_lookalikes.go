package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents on a code base. The agent says what is done and what comes next.

func codebaseLookalikes() []kind {
	return []kind{
		{name: "suite_run_in_parts", build: suiteRunInParts},
		{name: "hits_read_in_context", build: hitsReadInContext},
		{name: "output_diff_shrinks", build: outputDiffShrinks},
		{name: "script_debugged", build: scriptDebugged},
		{name: "edits_after_failed_match", build: editsAfterFailedMatch},
		{name: "library_probed", build: libraryProbed},
		{name: "workspaces_built", build: workspacesBuilt},
		{name: "beans_declared", build: beansDeclared},
	}
}

// distinct returns n different words.
func (p *generator) distinct(n int) []string {
	return p.shuffled(append([]string(nil), vocabulary...)...)[:n]
}

// suiteRunInParts runs the tests of one module after the other; they pass.
func suiteRunInParts(p *generator) (entries []entry, _ int) {
	run, done := p.commands(), ""
	for _, name := range p.distinct(p.between(5, 9)) {
		passed := p.between(2, 60)
		output := fmt.Sprintf("tests/test_%s.py %s [100%%]\n\n============================== %d passed in %d.%02ds ===============================", name, strings.Repeat(".", passed), passed, p.IntN(9), p.IntN(100))
		entries = append(entries, run("python -m pytest tests/test_"+name+".py", output, 0).after(p.nextItem(done, "the tests of "+name)))
		done = "the suite of " + name
	}
	return entries, 0
}

// hitsReadInContext lists the uses of a function and reads each in its context.
func hitsReadInContext(p *generator) (entries []entry, _ int) {
	h, symbol := p.harness(), p.word()+"_"+p.word()
	files := p.distinct(p.between(4, 7))
	hits, lines := make([]string, len(files)), make([]int, len(files))
	for k, file := range files {
		lines[k] = p.between(20, 400)
		hits[k] = fmt.Sprintf("src/%s.py:%d:    %s(%s)", file, lines[k], symbol, p.word())
	}
	entries = append(entries, h.shell("grep -rn '"+symbol+"' src", strings.Join(hits, "\n"), 0).after(thought{next: "Let me find all callers of `" + symbol + "`."}))
	for k, file := range files {
		t := thought{p.pick("This caller passes the default.", "That one already handles the error.", "This use has to change.", "This one is fine.", "Here the result is ignored."), "Next, the call in " + file + ".py."}
		if k == 0 {
			t = thought{fmt.Sprintf("There are %d callers.", len(files)), "I'll read each in its context, starting with " + file + ".py."}
		}
		entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' src/%s.py", lines[k]-5, lines[k]+5, file), p.code(5)+"\n    "+symbol+"("+p.word()+")\n"+p.code(5), 0).after(t))
	}
	return entries, 0
}

// outputDiffShrinks edits a program until its output is that of a reference; the difference has fewer lines each time.
func outputDiffShrinks(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	wrong := p.distinct(p.between(4, 7))
	for k := range wrong {
		var diff strings.Builder
		for n, word := range wrong[k+1:] {
			fmt.Fprintf(&diff, "%dc%d\n< %s: %d\n---\n> %s: %d\n", 7*n+k+3, 7*n+k+3, word, p.between(1, 99), word, p.between(100, 200))
		}
		left := len(wrong) - k - 1
		entries = append(entries,
			h.edit(name+p.pick(".c", ".py", ".rs")).after(thought{fmt.Sprintf("%d values differ from the expected output.", left+1), "I'll correct how " + wrong[k] + " is computed."}),
			h.shell("make -s && ./"+name+" input.txt > out.txt; diff out.txt expected.txt", diff.String(), min(left, 1)).after(thought{next: "Now compare the output of " + wrong[k] + " and the rest."}))
	}
	return append(entries, h.shell("cmp out.txt expected.txt && echo identical", "identical", 0).after(thought{"No differences are left.", "Let me confirm that with cmp."})), 0
}

// scriptDebugged mends one fault of a script after the other; each run gets to another one, until it works.
func scriptDebugged(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()+".py"
	a, b := p.word(), p.word()
	faults := [][2]string{
		{"KeyError: '" + a + "'", "the key is called `" + b + "` in this file"},
		{"TypeError: can only concatenate str (not \"int\") to str", "the number must be converted"},
		{"FileNotFoundError: [Errno 2] No such file or directory: 'output/" + a + ".csv'", "the output folder must be created"},
		{"ValueError: invalid literal for int() with base 10: ''", "empty cells must be skipped"},
		{"NameError: name '" + b + "' is not defined", "I renamed that variable"},
		{"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "the response is empty for the last page"},
		{"ZeroDivisionError: division by zero", "the group may be empty"},
		{"UnboundLocalError: cannot access local variable '" + a + "'", "it is set in one branch only"},
	}
	p.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	line := p.between(8, 20)
	for _, fault := range faults[:p.between(3, 5)] {
		kind, _, _ := strings.Cut(fault[0], ":")
		line += p.between(3, 20)
		entries = append(entries,
			h.shell("python "+name, fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line %d, in <module>\n    %s\n%s", name, line, strings.TrimSpace(p.code(1)), fault[0]), 1).after(thought{p.pick("That fault is mended.", "Good, it gets further now.", ""), "Let me run the script."}),
			h.edit(name).after(thought{"A " + kind + " in line " + fmt.Sprint(line) + ": " + fault[1] + ".", p.pick("Fixing that.", "Let me change it.", "Easy to fix.")}))
	}
	return append(entries, h.shell("python "+name, fmt.Sprintf("Wrote %d rows to output/%s.csv", p.between(20, 4000), a), 0).after(thought{next: "Let me run the script once more."})), 0
}

// editsAfterFailedMatch edits place after place of a file. Some edits do not match at first; the agent reads the place and edits it then.
func editsAfterFailedMatch(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), p.path()
	for k, name := range p.distinct(p.between(4, 6)) {
		before, after := "    "+name+"("+p.word()+")", "    "+name+"("+p.word()+", "+p.word()+")"
		t := thought{p.pick("The previous place is updated.", "That edit went through.", ""), "Now the call of " + name + "."}
		if k == 0 {
			t = thought{next: "I'll update the calls in " + path + ", beginning with " + name + "."}
		}
		if p.IntN(3) == 0 {
			at := p.between(10, 400)
			entries = append(entries,
				failed("Edit", object("file_path", path, "old_string", strings.TrimSpace(before)+";", "new_string", after), "<tool_use_error>String to replace not found in file.\nString: "+strings.TrimSpace(before)+";</tool_use_error>").after(t),
				h.shell(fmt.Sprintf("sed -n '%d,%dp' %s", at, at+3, path), p.code(2)+"\n"+before+"\n"+p.code(1), 0).after(thought{"There is no semicolon in " + name + "'s line, it seems.", "Let me look at the exact text."}))
			t = thought{"Now I see the exact text.", "Editing the call of " + name + "."}
		}
		entries = append(entries, h.replace(path, before, after).after(t))
	}
	return entries, 0
}

// libraryProbed asks an installed library for one short fact after the other.
func libraryProbed(p *generator) (entries []entry, _ int) {
	run, library := p.commands(), p.pick("numpy", "requests", "pandas", "sqlalchemy", "torch")
	seen := ""
	for _, name := range p.distinct(p.between(4, 8)) {
		attribute := capitalized(name)
		questions := [][2]string{
			{"hasattr(" + library + ", '" + attribute + "')", p.pick("True", "False")},
			{"inspect.signature(" + library + "." + attribute + ")", fmt.Sprintf("(self, %s, %s=None)", p.word(), p.word())},
			{library + "." + attribute, fmt.Sprintf("<class '%s.%s.%s'>", library, p.word(), attribute)},
			{"[n for n in dir(" + library + ") if '" + name + "' in n.lower()]", fmt.Sprintf("['%s', '%s_%s']", attribute, name, p.word())},
		}
		question := questions[p.IntN(len(questions))]
		entries = append(entries, run("python -c \"import inspect, "+library+"; print("+question[0]+")\"", question[1], 0).after(thought{seen, "Let me check what " + library + " has for " + name + "."}))
		seen = p.pick("That tells what this version has for "+name+".", "That answers it for "+attribute+".", "Good to know about "+attribute+".")
	}
	return entries, 0
}

// workspacesBuilt builds one workspace of a repository after the other, in the order of their dependencies.
func workspacesBuilt(p *generator) (entries []entry, _ int) {
	run, scope, done := p.commands(), p.word(), ""
	for _, name := range p.distinct(p.between(4, 8)) {
		output := fmt.Sprintf("> @%s/%s@1.%d.0 build\n> tsc -p tsconfig.json && vite build\n\nvite v5.4.2 building for production...\n✓ %d modules transformed.\ndist/index.js  %d.%02d kB │ gzip: %d.%02d kB\n✓ built in %d.%02ds", scope, name, p.IntN(30), p.between(4, 400), p.between(2, 300), p.IntN(100), p.between(1, 90), p.IntN(100), p.IntN(9), p.IntN(100))
		entries = append(entries, run("npm run build -w @"+scope+"/"+name, output, 0).after(p.nextItem(done, "the package "+name)))
		done = "the package " + name
	}
	return entries, 0
}

// beansDeclared declares one missing bean after the other, until the context of a Spring application loads.
func beansDeclared(p *generator) (entries []entry, _ int) {
	h, names := p.harness(), p.distinct(p.between(3, 5))
	for _, name := range names {
		bean := capitalized(name) + p.pick("Repository", "Client", "Mapper", "Properties")
		entries = append(entries,
			h.shell("./gradlew test", fmt.Sprintf("ApplicationTests > contextLoads() FAILED\n    java.lang.IllegalStateException: Failed to load ApplicationContext\n        Caused by: org.springframework.beans.factory.NoSuchBeanDefinitionException: No qualifying bean of type 'com.example.%s.%s' available: expected at least 1 bean which qualifies as autowire candidate. Dependency annotations: {}\n\n1 test completed, 1 failed\n\nBUILD FAILED in %ds", name, bean, p.between(5, 40)), 1).after(thought{next: p.pick("Let me run the context test.", "Let me see what is missing next.")}),
			h.replace("src/main/java/com/example/AppConfig.java", "    // beans", "    @Bean\n    "+bean+" "+name+"() {\n        return new "+bean+"();\n    }\n    // beans").after(thought{"Now " + bean + " is missing.", "I'll declare it in AppConfig."}))
	}
	return append(entries, h.shell("./gradlew test", fmt.Sprintf("BUILD SUCCESSFUL in %ds\n5 actionable tasks: 2 executed, 3 up-to-date", p.between(5, 40)), 0).after(thought{next: "All beans should be there now. Let me run the test."})), 0
}
