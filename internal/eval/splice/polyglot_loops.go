package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that write code in several languages. What they do has no effect.

func polyglotLoops() []kind {
	return []kind{
		{name: "style_without_effect", build: styleWithoutEffect},
		{name: "tests_are_skipped", build: testsAreSkipped},
		{name: "breakpoint_never_hit", build: breakpointNeverHit},
		{name: "migration_sees_no_change", build: migrationSeesNoChange},
		{name: "generated_file_overwritten", build: generatedFileOverwritten},
		{name: "coverage_stays", build: coverageStays},
	}
}

// styleWithoutEffect edits a style sheet; the browser measures the same boxes, since another rule wins.
func styleWithoutEffect(p *generator) (entries []entry, _ int) {
	h, class, other := p.harness(), p.word(), p.word()
	file, top, height := "src/styles/"+class+".css", p.between(40, 400), p.between(20, 90)
	words := wording{
		first: []string{"The " + class + " overlaps the " + other + ". I'll fix the CSS.", "Let me move the " + class + " below the " + other + ".", "I'll adjust the layout in " + file + "."},
		seen:  []string{"The boxes still overlap.", "The position hasn't moved at all.", "The " + class + " is still on top of the " + other + ".", "The rule has no visible effect.", "Same coordinates as before."},
	}
	changes := p.shuffled("  z-index: 10;", "  margin-top: 2rem;", "  position: relative;", "  display: flex;\n  flex-direction: column;", "  margin-top: 48px !important;", "  clear: both;", "  top: auto;", "  grid-row: 2;", "  transform: translateY(100%);", "  padding-top: 3rem;")
	for round := range p.between(3, 5) {
		change := changes[round]
		next := p.pick("Let me use `", "I'll set `", "Now with `", "It needs `") + strings.TrimSpace(strings.Split(change, ";")[0]) + "`."
		tree := fmt.Sprintf("{\n  \"url\": \"http://localhost:5173/\",\n  \"boxes\": [\n    { \"selector\": \".%s\", \"top\": %d, \"left\": 24, \"width\": 640, \"height\": %d, \"position\": \"absolute\", \"zIndex\": \"auto\" },\n    { \"selector\": \".%s\", \"top\": %d, \"left\": 24, \"width\": 640, \"height\": %d, \"position\": \"static\", \"zIndex\": \"auto\" }\n  ],\n  \"overlap\": true\n}", class, top, height, other, top+height/2, height)
		code := fmt.Sprintf("() => ['.%s', '.%s'].map(s => document.querySelector(s).getBoundingClientRect())", class, other)
		entries = append(entries, h.replace(file, "."+class+" {", "."+class+" {\n"+change).after(words.then(p, round, next)))
		if round > 0 && p.coin() {
			entries = append(entries, call("browser_navigate", object("url", "http://localhost:5173/"), p.snapshot("await page.goto('http://localhost:5173/');", "http://localhost:5173/", "Vite App", "banner [ref]", "heading \""+capitalized(other)+"\" [level=1] [ref]", "region \""+class+"\" [ref]", "button \"Send\" [ref]")).after(thought{next: p.pick("Reloading the page.", "Let me reload.", "")}))
		}
		entries = append(entries, call("browser_evaluate", object("function", code), content(tree)).after(thought{p.pick("", "The style is saved."), p.pick("Let me measure the boxes.", "Do they still overlap?", "Let me check the layout in the browser.", "Measuring again.")}))
	}
	return entries, 2
}

// testsAreSkipped runs tests with other settings and flags; each run skips them all.
func testsAreSkipped(p *generator) (entries []entry, _ int) {
	run, name, n := p.commands(), p.word(), p.between(6, 30)
	service := p.pick("Docker", "PostgreSQL", "Redis", "Kafka")
	reason, variable := service+" is not available", strings.ToUpper(service)
	words := wording{
		first: []string{"Let me run the integration tests.", "Now the tests of " + name + ".", "I'll verify the change with the integration suite."},
		seen:  []string{fmt.Sprintf("All %d tests were skipped.", n), "Skipped again, so nothing was verified.", "They're skipped because " + reason + ".", "The skip condition still holds.", "Nothing ran."},
		next:  []string{"Let me run them with other settings.", "I'll try to force them to run.", "Let me enable them in another way.", "Let me select them explicitly.", "Let me run the suite again.", "I want to see them run."},
	}
	for round := range p.between(4, 8) {
		prefix := p.pick("", variable+"_URL=localhost ", "CI=1 ", "RUN_INTEGRATION=1 ", "TEST_"+variable+"=true ", "SKIP_INTEGRATION=0 ")
		command := prefix + "python -m pytest tests/integration/test_" + name + ".py" + p.pick(" -rs", " -v -rs", " -m integration -rs", " --run-integration -rs", " -rs -p no:cacheprovider", " -rs --override-ini=addopts=", fmt.Sprintf(" -rs -k '%s or test'", name))
		output := fmt.Sprintf("============================= test session starts ==============================\nplatform linux -- Python 3.11.9, pytest-8.2.2, pluggy-1.5.0\nrootdir: /workspace\nconfigfile: pyproject.toml\nplugins: anyio-4.4.0, cov-5.0.0, xdist-3.6.1\ncollected %d items\n\ntests/integration/test_%s.py %s [100%%]\n\n=========================== short test summary info ============================\nSKIPPED [%d] tests/integration/conftest.py:%d: %s\n============================= %d skipped in %d.%02ds ==============================", n, name, strings.Repeat("s", n), n, 14+n, reason, n, p.IntN(3), p.IntN(100))
		entries = append(entries, run(command, output, 0).after(words.of(p, round)))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, run("grep -n 'skip' tests/integration/conftest.py", fmt.Sprintf("%d:        pytest.skip(%q)", 14+n, reason), 0).after(thought{next: p.pick("Where does the skip come from?", "Let me look at the skip condition.")}))
		}
	}
	return entries, 1
}

// breakpointNeverHit sets breakpoints by the tools of a debugger; the program ends before any of them.
func breakpointNeverHit(p *generator) (entries []entry, _ int) {
	file, function := "/workspace/src/"+p.word()+p.pick(".cpp", ".py", ".rs"), p.word()+"_"+p.word()
	words := wording{
		first: []string{"I'll set a breakpoint in " + function + ".", "Let me debug " + function + " step by step."},
		seen:  []string{"The program ended without stopping.", "The breakpoint wasn't hit.", "It exited with code 0 before it got there.", "No stop at all."},
		next:  []string{"Let me set it a few lines earlier.", "I'll break on the function name.", "Let me set it at another line.", "Let me put it at the first statement.", "Perhaps the line has no code. I'll move it."},
	}
	for round := range p.between(3, 5) {
		id, line := round+1, p.between(40, 60)
		entries = append(entries,
			call("debugger_set_breakpoint", object("file", file, "line", line, "condition", p.pick("", "", "true")), object("success", true, "breakpoint", object("id", id, "file", file, "line", line, "function", function, "verified", false, "message", "pending: no location yet"))).after(words.of(p, round)),
			call(p.pick("debugger_launch", "debugger_continue"), object("session", "dbg-1", "stopOnEntry", false), object("success", true, "events", []string{"process started", "module loaded: libc.so.6", "module loaded: libm.so.6", "thread 1 started", "output: reading input", "output: done", "thread 1 exited", "process exited with code 0"}, "pid", p.between(900, 60_000), "state", "terminated", "stopped", false)).after(thought{next: p.pick("Now I run it.", "Let me launch the program.", "Continue to the breakpoint.", "")}))
		if p.IntN(4) == 0 {
			entries = append(entries, failed("debugger_stack_trace", object("session", "dbg-1"), "Cannot get the stack trace: session dbg-1 is in state 'terminated'").after(thought{next: "Let me see where it is."}))
		}
	}
	return entries, 2
}

// migrationSeesNoChange edits a model and asks for a migration; the app of the model is not installed, so that there is no change.
func migrationSeesNoChange(p *generator) (entries []entry, _ int) {
	h, app, field := p.harness(), p.word(), p.word()
	model, file := capitalized(p.word()), app+"/models.py"
	words := wording{
		first: []string{"I'll add the field `" + field + "` to " + model + ".", "The model needs `" + field + "`. Let me add it.", "First the model, then the migration."},
		seen:  []string{"Django reports no changes.", "No migration was created.", "makemigrations doesn't see the new field.", "Still no changes detected.", "There should be a migration by now."},
	}
	types := [][2]string{
		{"models.CharField(max_length=255, blank=True)", "I'll declare it as a CharField."},
		{"models.TextField(null=True)", "Let me use a TextField in its place."},
		{"models.CharField(max_length=64, null=True, default=None)", "Maybe it needs a default."},
		{"models.JSONField(default=dict)", "A JSONField may be picked up."},
		{"models.CharField('" + field + "', max_length=200, db_index=True)", "Let me add an index so that the schema differs."},
		{"models.SlugField(unique=True, null=True)", "Let me change the type of the field."},
	}
	before := "    class Meta:"
	for round := range p.between(3, 5) {
		change := types[p.IntN(len(types))]
		after := "    " + field + " = " + change[0] + "\n" + p.pick("", "\n", "    # set by the importer\n") + "    class Meta:"
		command := p.pick("python manage.py makemigrations", "python manage.py makemigrations -v 3", "rm -rf */__pycache__ && python manage.py makemigrations", "python manage.py makemigrations --dry-run", "python manage.py makemigrations && python manage.py migrate --plan")
		output := "System check identified no issues (0 silenced).\nNo changes detected"
		if strings.Contains(command, "--plan") {
			output += "\nPlanned operations:\n  No planned migration operations."
		}
		entries = append(entries,
			h.replace(file, before, after).after(words.then(p, round, change[1])),
			h.shell(command, output, 0).after(thought{p.pick("", "The model is updated.", "Saved."), p.pick("Now create the migration.", "Let me make the migration.", "Generate the migration again.", "makemigrations should see it now.")}))
		if p.IntN(3) == 0 {
			entries = append(entries, h.shell("python manage.py showmigrations | tail -12", "admin\n [X] 0001_initial\n [X] 0002_logentry_remove_auto_add\nauth\n [X] 0001_initial\n [X] 0012_alter_user_first_name_max_length\ncontenttypes\n [X] 0001_initial\n [X] 0002_remove_content_type_name\nsessions\n [X] 0001_initial", 0).after(thought{next: p.pick("Which migrations are there?", "Let me list the migrations.")}))
		}
		before = after
	}
	return entries, 2
}

// generatedFileOverwritten edits a file that the build generates; each build takes the edit back, and the test fails as before.
func generatedFileOverwritten(p *generator) (entries []entry, _ int) {
	h, service, field := p.harness(), p.word(), capitalized(p.word())
	file, line := "internal/gen/"+service+".pb.go", p.between(80, 900)
	words := wording{
		first: []string{"The generated struct lacks " + field + ". I'll add it.", "Let me add the field " + field + " to " + file + ".", "I'll add " + field + " to the message type."},
		seen:  []string{field + " is still undefined.", "The compiler doesn't know " + field + ".", "My change isn't in the file any more.", "The field is missing again after the build.", "Same compile error."},
		next:  []string{"Let me add it again.", "I'll put the field back into the struct.", "Let me add it together with a getter.", "I'll add it with the right tag this time.", "Let me restore the field."},
	}
	for round := range p.between(3, 6) {
		after := fmt.Sprintf("\t%s string `protobuf:\"bytes,%d,opt,name=%s,proto3\" json:\"%s,omitempty\"`", field, p.between(4, 12), strings.ToLower(field), strings.ToLower(field))
		if p.coin() {
			after += fmt.Sprintf("\n}\n\nfunc (x *%s) Get%s() string {\n\tif x != nil {\n\t\treturn x.%s\n\t}\n\treturn \"\"", capitalized(service), field, field)
		}
		output := fmt.Sprintf("protoc --go_out=internal/gen --go_opt=paths=source_relative --go-grpc_out=internal/gen api/%s.proto\ngo build ./...\ngo test ./...\n# example.com/shop/internal/server\ninternal/server/%s.go:%d:9: req.%s undefined (type *gen.%s has no field or method %s)\nFAIL\texample.com/shop/internal/server [build failed]\nok  \texample.com/shop/internal/store\t0.%03ds\nFAIL\nmake: *** [Makefile:%d: test] Error 1", service, service, line, field, capitalized(service), field, p.between(4, 900), 12+line%9)
		entries = append(entries,
			h.replace(file, "\tunknownFields protoimpl.UnknownFields", "\tunknownFields protoimpl.UnknownFields\n"+after).after(words.of(p, round)),
			h.shell(p.pick("make test", "make build test", "make clean test", "make -B test 2>&1 | tail -20"), output, 2).after(p.runAgain()))
	}
	return entries, 2
}

// coverageStays adds test after test; none reaches the code that is not covered, and the gate stays closed.
func coverageStays(p *generator) (entries []entry, _ int) {
	h, module := p.harness(), p.word()
	others, total := p.distinct(4), fmt.Sprintf("%d.%02d", p.between(61, 78), p.between(10, 99))
	words := wording{
		first: []string{"Coverage is below 80 %. I'll add tests for " + module + ".", "Let me write another test for " + module + ".", "More tests are needed."},
		seen:  []string{"Coverage is still " + total + " %.", "The figure hasn't moved.", "Still under the threshold of 80 %.", "The new test passes, but coverage is the same.", "The same lines are missing."},
		next:  []string{"Let me add one more test.", "I'll test it with other values.", "Let me test the edge cases.", "One more case may do it."},
	}
	var missing strings.Builder
	for k, name := range others {
		fmt.Fprintf(&missing, "src/%s.py %*d %6d   %d%%   %d-%d\n", name, 22-len(name), 80+7*k, 20+k, 70+k, 30+k, 49+2*k)
	}
	count := p.between(10, 40)
	for round := range p.between(4, 7) {
		count++
		test := fmt.Sprintf("\n\ndef test_%s_%s():\n    assert %s(%s) %s\n", module, p.word(), module, p.pick("0", "-1", "''", "[]", "10**9", "'ä'", "None"), p.pick("is not None", "== 0", "== ''", "is None"))
		output := fmt.Sprintf("%s [100%%]\n\n---------- coverage: platform linux, python 3.12.4-final-0 -----------\nName                          Stmts   Miss  Cover   Missing\n-----------------------------------------------------------\n%ssrc/%s.py                       31      0   100%%\n-----------------------------------------------------------\nTOTAL                           412     97   %s%%\nFAIL Required test coverage of 80%% not reached. Total coverage: %s%%\n%d passed in %d.%02ds", strings.Repeat(".", count), missing.String(), module, total, total, count, p.between(1, 6), p.IntN(100))
		entries = append(entries,
			h.shell("cat >> tests/test_"+module+".py <<'EOF'"+test+"EOF", "", 0).after(words.of(p, round)),
			h.shell(p.pick("pytest --cov=src --cov-report=term-missing --cov-fail-under=80 -q", "make coverage", "pytest -q --cov=src --cov-fail-under=80"), output, 1).after(thought{next: p.pick("Let me check the coverage.", "Run with coverage.", "Is that enough?", "Measuring the coverage again.")}))
	}
	return entries, 2
}
