package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents that change large code bases, and merge what they have changed.

func refactorLoops() []kind {
	return []kind{
		{name: "mock_never_takes_effect", build: mockNeverTakesEffect},
		{name: "several_actions_in_one_turn", build: severalActionsInOneTurn},
		{name: "circular_import_moved_around", build: circularImportMovedAround},
		{name: "branch_outdated_before_merge", build: branchOutdatedBeforeMerge},
	}
}

// outsideCall is a test that calls a service over the network, since nothing stands in for the client of that service.
type outsideCall struct {
	file, command, importer, imported string // a command that shows where the client is imported, and what it prints
	opening                           string // the line of the test above which a mock belongs
	mocks                             func(client string) []string
	output                            func(host string) string
	passed                            func() string
}

// outsideCall returns a test of a unit in one language.
func (p *generator) outsideCall(unit string) outsideCall {
	tests, at := p.between(3, 60), p.between(20, 180)
	seconds := func() string { return fmt.Sprintf("%d.%02d", p.between(1, 30), p.IntN(100)) }
	switch p.IntN(3) {
	case 0:
		library := strings.Fields("requests/sessions.py:request requests/sessions.py:send requests/adapters.py:send urllib3/connectionpool.py:urlopen urllib3/util/retry.py:increment")
		return outsideCall{
			"tests/test_" + unit + ".py", "python -m pytest tests/test_" + unit + ".py -x" + p.pick("", " -q", " --tb=short"),
			"grep -n \"import\" src/" + unit + "/service.py", fmt.Sprintf("1:from __future__ import annotations\n3:from src.clients.%[1]s import fetch_%[1]s\n4:from src.%[1]s.models import %[2]s", unit, capitalized(unit)),
			"def test_total_of_" + unit + "():",
			func(client string) []string {
				return []string{"@patch(\"src.clients." + client + ".fetch_" + client + "\")", "@patch(\"src.clients.fetch_" + client + "\")", "@patch.object(clients." + client + ", \"fetch_" + client + "\", autospec=True)", "@mock.patch(\"requests.get\", return_value=fake_" + client + ")", "@patch(\"src.clients." + client + ".requests.Session.get\")", "    monkeypatch.setattr(clients." + client + ", \"fetch_" + client + "\", lambda *a: {})", "    mocker.patch(\"clients." + client + ".fetch_" + client + "\", return_value={})"}
			},
			func(host string) string {
				text := fmt.Sprintf("=================================== FAILURES ===================================\ntests/test_%s.py:%d: in test_total_of_%s\n", unit, at, unit)
				for _, frame := range library[:p.between(1, len(library))] {
					file, name, _ := strings.Cut(frame, ":")
					text += fmt.Sprintf("/usr/lib/python3/dist-packages/%s:%d: in %s\n    raise ConnectionError(e, request=request)\n", file, 211+3*len(name)*len(file), name)
				}
				return text + fmt.Sprintf("E   requests.exceptions.ConnectionError: HTTPSConnectionPool(host='%s', port=443): Max retries exceeded with url: /v1/%s (Caused by NameResolutionError(\"<urllib3.connection.HTTPSConnection object at 0x7f%010x>: Failed to resolve '%s' ([Errno -2] Name or service not known)\"))\n=========================== short test summary info ============================\nFAILED tests/test_%s.py::test_total_of_%s\n========================= 1 failed, %d passed in %ss =========================", host, unit, p.Uint64N(1<<40), host, unit, unit, tests, seconds())
			},
			func() string {
				return fmt.Sprintf("%s [100%%]\n============================== %d passed in %ss ==============================", strings.Repeat(".", tests+1), tests+1, seconds())
			},
		}
	case 1:
		return outsideCall{
			"src/" + unit + "/" + unit + ".test.ts", "npx vitest run src/" + unit,
			"grep -rn \"Client\" src/" + unit + "/service.ts", "2:import { client } from \"@app/clients/" + unit + "\";\n" + fmt.Sprint(at) + ":  const data = await client.load(id);",
			"describe(\"" + unit + "\", () => {",
			func(client string) []string {
				return []string{"vi.mock(\"../clients/" + client + "\");", "vi.mock(\"../../clients\", () => ({ " + client + ": { load: vi.fn() } }));", "vi.spyOn(" + client + "Client, \"load\").mockResolvedValue({ items: [] });", "vi.mock(\"@/clients/" + client + "\", () => ({ client: { load: vi.fn().mockResolvedValue({}) } }));", "vi.stubGlobal(\"axios\", { get: vi.fn() });", "vi.doMock(\"../clients/" + client + "\");"}
			},
			func(host string) string {
				extra := ""
				for k := range p.IntN(9) {
					extra += fmt.Sprintf("\n ❯ node_modules/undici/lib/%s.js:%d:%d", []string{"fetch/index", "dispatcher/client", "core/connect"}[k%3], 90+k*37, 5+k)
				}
				return fmt.Sprintf(" RUN  v2.1.8 /workspace\n\n ❯ src/%[1]s/%[1]s.test.ts (%[2]d tests | 1 failed) %[3]dms\n   × %[1]s > adds up the entries %[4]dms\n     → fetch failed\n\n FAIL  src/%[1]s/%[1]s.test.ts > %[1]s > adds up the entries\nTypeError: fetch failed%[5]s\nCaused by: Error: getaddrinfo ENOTFOUND %[6]s\n Serialized Error: { errno: -3008, code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: '%[6]s' }\n\n Test Files  1 failed (1)\n      Tests  1 failed | %[7]d passed (%[2]d)\n   Duration  %[8]ss", unit, tests+1, p.between(40, 2000), p.between(20, 900), extra, host, tests, seconds())
			},
			func() string {
				return fmt.Sprintf(" RUN  v2.1.8 /workspace\n\n ✓ src/%[1]s/%[1]s.test.ts (%[2]d tests) %[3]dms\n\n Test Files  1 passed (1)\n      Tests  %[2]d passed (%[2]d)\n   Duration  %[4]ss", unit, tests+1, p.between(40, 2000), seconds())
			},
		}
	}
	class := capitalized(unit) + "ServiceTest"
	return outsideCall{
		"src/test/java/com/acme/" + unit + "/" + class + ".java", "./mvnw -q test -Dtest=" + class,
		"grep -n \"Client\" src/main/java/com/acme/" + unit + "/" + capitalized(unit) + "Service.java", fmt.Sprintf("%d:    private final %[2]sClient client = new %[2]sClient(RestClient.create());", at, capitalized(unit)),
		"    @Test void addsUpEntries() {",
		func(client string) []string {
			class, name := capitalized(client)+"Client", client+"Client"
			return []string{"    @MockBean " + class + " " + name + ";", "    @Mock " + class + " " + name + ";", "    @MockitoBean private " + class + " " + name + ";", "    @Spy " + class + " " + name + " = new " + class + "();", "        when(" + name + ".load(any())).thenReturn(List.of());", "        doReturn(List.of()).when(" + name + ").load(anyString());", "    private final " + class + " " + name + " = Mockito.mock(" + class + ".class);"}
		},
		func(host string) string {
			text := fmt.Sprintf("[ERROR] Tests run: %d, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: %s s <<< FAILURE! -- in com.acme.%s.%s\n[ERROR] com.acme.%s.%s.addsUpEntries -- Time elapsed: 0.%03d s <<< ERROR!\norg.springframework.web.client.ResourceAccessException: I/O error on GET request for \"https://%s/v1/%s\": %s: Name or service not known\n", tests+1, seconds(), unit, class, unit, class, p.IntN(1000), host, unit, host)
			for k := range p.between(2, 30) {
				text += fmt.Sprintf("\tat org.springframework.web.client.DefaultRestClient$Default%sSpec.exchange(DefaultRestClient.java:%d)\n", []string{"Request", "Uri", "Response"}[k%3], 80+29*k)
			}
			return text + "Caused by: java.net.UnknownHostException: " + host
		},
		func() string {
			return fmt.Sprintf("[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: %s s -- in com.acme.%s.%s\n[INFO] BUILD SUCCESS", tests+1, seconds(), unit, class)
		},
	}
}

// mockNeverTakesEffect mocks a client at place after place, and the code under test calls the real service each time.
func mockNeverTakesEffect(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()
	c, host := p.outsideCall(unit), p.pick("api.", "svc.", "")+p.word()+".internal"
	w := wording{
		[]string{"The test makes a real call. I'll mock the client.", "Let me mock the client in the test."},
		[]string{"It still calls the real service.", "The mock is not applied.", "Same connection error.", "The patch has no effect.", "The target of the patch must be wrong.", ""},
		[]string{"Let me patch it where it is used.", "I'll mock it in another way.", "Let me mock a level below.", "Let me fix the path of the mock.", "I'll change the target of the patch.", "Let me go back to the earlier form."},
	}
	before := ""
	for k := range p.repeats() {
		after := p.pick(c.mocks(unit)...)
		for after == before {
			after = p.pick(c.mocks(unit)...)
		}
		if k > 1 && p.IntN(4) == 0 {
			entries = append(entries, h.shell(c.importer, c.imported, 0).after(thought{"", p.pick("How is it imported?", "Let me look at the import again.", "Where does it get the client from?")}))
		}
		edit := h.replace(c.file, before, after)
		if k == 0 {
			edit = h.replace(c.file, c.opening, after+"\n"+c.opening)
		}
		entries = append(entries, edit.after(w.of(p, k)), h.shell(c.command, c.output(host), 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// severalActionsInOneTurn writes one edit in other ways; the harness counts more than one action in each turn and runs none of them.
func severalActionsInOneTurn(p *generator) (entries []entry, _ int) {
	h := harness{p, p.pickInt(claudeCode, openHands, sweAgent)}
	file, name, line, at := p.word()+"/"+p.word()+".py", p.word()+"_"+p.word(), p.word()+"."+p.word()+"("+p.word()+")", p.between(20, 1400)
	writes := []string{
		fmt.Sprintf("sed -i '%da\\    %s' %s", at, line, file),
		fmt.Sprintf("python3 - <<'EOF'\ntext = open('%[1]s').read()\ntext = text.replace('def %[2]s(self):', 'def %[2]s(self):\\n        %[3]s')\nopen('%[1]s', 'w').write(text)\nEOF", file, name, line),
		fmt.Sprintf("cat > fix.py <<'EOF'\nlines = open('%[1]s').readlines()\nlines.insert(%[2]d, '        %[3]s\\n')\nopen('%[1]s', 'w').writelines(lines)\nEOF\npython3 fix.py", file, at, line),
		fmt.Sprintf("perl -0pi -e 's/(def %s\\(self\\):)/$1\\n        %s/' %s", name, line, file),
		fmt.Sprintf("ed -s %s <<'EOF'\n%da\n        %s\n.\nw\nq\nEOF", file, at, line),
		fmt.Sprintf("sed -i '/def %s/a\\        %s' %s && git diff --stat", name, line, file),
		fmt.Sprintf("printf '%%s\\n' '        %s' > line.txt && sed -i '%dr line.txt' %s", line, at, file),
	}
	refusal := p.pick("Error: reply with exactly one command. Your reply had %d commands, so nothing was executed.", "FormatError: expected a single code block, got %d. Put all commands into one block and reply again.", "Invalid response: found %d actions where 1 is allowed.\n\nReply in this form:\n\nTHOUGHT: why you act\n\n```bash\none command\n```", "Only one tool call is allowed in a turn (%d were received). None of them was run.")
	w := wording{
		[]string{"Now I insert the line.", "Let me apply the fix to `" + name + "`."},
		[]string{"I sent one block only.", "That was refused again, though it is a single command.", "Perhaps the heredoc is counted as a command.", "The separator may count as another action.", "I am confused: there is only one block in my reply.", "Maybe the quotes in my reply break the format."},
		[]string{"Let me write it in one line.", "I'll use another tool for the edit.", "Let me do it in a script.", "I'll join the commands.", "Let me send the edit again.", "I'll try it with `sed`."},
	}
	for k := range p.repeats() {
		if k > 1 && p.IntN(4) == 0 {
			entries = append(entries, h.shell("grep -n \"def "+name+"\" "+file, fmt.Sprintf("%d:    def %s(self):", at, name), 0).after(thought{"", p.pick("Is the file unchanged?", "Let me check the place.", "Let me make sure of the line.")}))
		}
		e := h.shell(p.pick(writes...), "", 0)
		if h.form == claudeCode {
			entries = append(entries, failed(e.Tool, e.Args, fmt.Sprintf(refusal, p.pickInt(2, 2, 3, 3, 4, 8))).after(w.of(p, k)))
			continue
		}
		e.Result = quoted(fmt.Sprintf(refusal, p.pickInt(2, 2, 3, 3, 4, 8)))
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 1
}

// importCycle is two modules that import each other, and a program that fails in the one or the other.
type importCycle struct {
	command string
	file    func(n int) string
	imports func(n int) []string // how module n may take what it needs of the other
	output  func(n int, imports [2]string) string
}

// importCycle returns a cycle of Python or TypeScript modules.
func (p *generator) importCycle(names []string) importCycle {
	pkg, class, lines := p.word(), []string{capitalized(names[0]), capitalized(names[1])}, []int{p.between(2, 20), p.between(2, 20)}
	outer := p.distinctWords(p.between(1, 7))
	if p.coin() {
		return importCycle{
			p.pick("python -m pytest tests -q", "python -c 'import "+pkg+"'", "python manage.py check", "python -m "+pkg+" --help"),
			func(n int) string { return pkg + "/" + names[n] + ".py" },
			func(n int) []string {
				other, name := names[1-n], class[1-n]
				return []string{"from " + pkg + "." + other + " import " + name, "from ." + other + " import " + name, "import " + pkg + "." + other, "from " + pkg + " import " + other, "from ." + other + " import " + name + " as _" + name, "from ." + other + " import Base" + name + ", " + name}
			},
			func(n int, imports [2]string) string {
				text := "Traceback (most recent call last):\n  File \"/src/" + pkg + "/__init__.py\", line 1, in <module>\n    from . import " + outer[0] + "\n"
				for k, module := range outer {
					next := names[n]
					if k+1 < len(outer) {
						next = outer[k+1]
					}
					text += fmt.Sprintf("  File \"/src/%s/%s.py\", line %d, in <module>\n    from %s import %s\n", pkg, module, len(module)+k, pkg, next)
				}
				text += fmt.Sprintf("  File \"/src/%s/%s.py\", line %d, in <module>\n    %s\n", pkg, names[n], lines[n]+p.IntN(2), imports[n])
				if !strings.Contains(imports[1-n], class[n]) {
					return text + fmt.Sprintf("  File \"/src/%s/%s.py\", line %d, in <module>\n    class %sView(%s.%s):\nAttributeError: partially initialized module '%s.%s' has no attribute '%s' (most likely due to a circular import)", pkg, names[1-n], lines[1-n]+9, class[1-n], names[n], class[n], pkg, names[n], class[n])
				}
				return text + fmt.Sprintf("  File \"/src/%s/%s.py\", line %d, in <module>\n    %s\nImportError: cannot import name '%s' from partially initialized module '%s.%s' (most likely due to a circular import) (/src/%s/%s.py)", pkg, names[1-n], lines[1-n]+p.IntN(2), imports[1-n], class[n], pkg, names[n], pkg, names[n])
			},
		}
	}
	return importCycle{
		p.pick("npm test -- --run", "npx vitest run", "npx tsx src/main.ts", "npm run build && node dist/main.js"),
		func(n int) string { return "src/" + names[n] + "/index.ts" },
		func(n int) []string {
			other, name := names[1-n], class[1-n]
			return []string{"import { " + name + " } from \"../" + other + "\";", "import { " + name + " } from \"../" + other + "/index\";", "import * as " + other + " from \"../" + other + "\";", "import { " + name + " } from \"..\";", "import { " + name + " } from \"@/" + other + "\";", "import { " + name + " } from \"../" + other + "/" + other + "\";"}
		},
		func(n int, _ [2]string) string {
			at := lines[1-n] + p.IntN(3)
			text := fmt.Sprintf("/workspace/src/%[1]s/index.ts:%[2]d\nexport class %[3]sView extends %[4]s {\n                   ^\n\nReferenceError: Cannot access '%[4]s' before initialization\n    at /workspace/src/%[1]s/index.ts:%[2]d:27", names[1-n], at, class[1-n], class[n])
			for _, frame := range []string{"ModuleJob.run (node:internal/modules/esm/module_job:234:25)", "async ModuleLoader.import (node:internal/modules/esm/loader:473:24)", "async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:122:5)"}[:len(outer)%4] {
				text += "\n    at " + frame
			}
			return text + "\n\nNode.js v20.11.1"
		},
	}
}

// circularImportMovedAround changes how one of two modules imports the other, and then the other; the two errors come in turn.
func circularImportMovedAround(p *generator) (entries []entry, _ int) {
	h, names := p.harness(), p.distinctWords(2)
	c, first := p.importCycle(names), p.IntN(2)
	w := wording{
		[]string{"There is a circular import. Let me change it in `" + c.file(first) + "`.", "I'll move the import."},
		[]string{"Now the other module cannot be imported.", "The cycle is still there.", "The error has moved to the other file.", "It is a circular import again.", ""},
		[]string{"Let me change the import there.", "I'll import it in another way.", "Let me move this import instead.", "Let me adjust the other side.", "Let me put the import back here."},
	}
	before := [2]string{c.imports(0)[0], c.imports(1)[0]}
	for k := range 2 * p.pickInt(3, 3, 4, 4, 5, 6, 8) {
		n := (first + k) % 2
		after := p.pick(c.imports(n)...)
		for after == before[n] {
			after = p.pick(c.imports(n)...)
		}
		edit := h.replace(c.file(n), before[n], after)
		before[n] = after
		entries = append(entries, edit.after(w.of(p, k)), h.shell(c.command, c.output(1-n, before), 1).after(p.runAgain()))
	}
	return entries, 4
}

// mergeHost is a service that merges a branch only if it has all commits of the main branch.
type mergeHost struct {
	updates []string
	checks  string
	row     string // of one check: its name, minutes, seconds and number
	merges  []string
	refusal string
}

func (p *generator) mergeHost(number int) mergeHost {
	repository := p.word() + "/" + p.word()
	if p.IntN(3) > 0 {
		return mergeHost{
			[]string{fmt.Sprintf("gh pr update-branch %d", number), fmt.Sprintf("gh pr update-branch %d --rebase", number), "git fetch origin && git merge origin/main --no-edit && git push", "git pull --rebase origin main && git push --force-with-lease"},
			fmt.Sprintf("gh pr checks %d --watch", number), "%s\tpass\t%dm%ds\thttps://github.example/" + repository + "/actions/runs/%d",
			[]string{fmt.Sprintf("gh pr merge %d --squash", number), fmt.Sprintf("gh pr merge %d --squash --delete-branch", number), fmt.Sprintf("gh pr merge %d --merge", number)},
			fmt.Sprintf("X Pull request %s#%d is not mergeable: the head branch is not up to date with the base branch.\nTo have the pull request merged after all the requirements have been met, add the `--auto` flag.", repository, number),
		}
	}
	return mergeHost{
		[]string{fmt.Sprintf("glab mr rebase %d", number), "git fetch origin && git rebase origin/main && git push --force-with-lease", fmt.Sprintf("glab mr rebase %d --skip-ci=false", number)},
		"glab ci status --live", "(success) • %02[2]dm %02[3]ds\t%[1]s #%[4]d",
		[]string{fmt.Sprintf("glab mr merge %d --yes", number), fmt.Sprintf("glab mr merge %d --squash --yes", number), fmt.Sprintf("glab mr merge %d --remove-source-branch --yes", number)},
		fmt.Sprintf("PUT https://gitlab.example/api/v4/projects/%s/merge_requests/%d/merge: 405 {message: 405 Method Not Allowed}: fast-forward merge is not possible, the source branch must be rebased", strings.ReplaceAll(repository, "/", "%2F"), number),
	}
}

// branchOutdatedBeforeMerge updates a branch and waits for its checks; meanwhile others merge, so that the branch is behind again.
func branchOutdatedBeforeMerge(p *generator) (entries []entry, _ int) {
	run, number := p.patientShell(), p.between(200, 9000)
	m, jobs := p.mergeHost(number), p.shuffled("build", "unit-tests", "lint", "integration (postgres)", "integration (mysql)", "e2e-chrome", "e2e-firefox", "typecheck", "docs", "license-check", "codeql", "container-scan")[:p.between(2, 12)]
	w := wording{
		[]string{"All reviews are in. The branch has to be current before I merge it.", "Let me bring the branch up to date."},
		[]string{"The branch is behind main again.", "Somebody merged in the meantime.", "It is not up to date.", "The merge was refused for the same reason.", ""},
		[]string{"Let me update it again.", "I'll bring in main and wait for the checks.", "Update, then merge.", "Let me rebase once more.", "I'll update the branch and try again."},
	}
	hash := func() string { return p.commit()[:9] }
	before := hash()
	for k := range p.pickInt(3, 4, 5, 5, 6, 7, 8, 10) {
		update, after := p.pick(m.updates...), hash()
		updated := "✓ PR branch updated"
		switch {
		case strings.HasPrefix(update, "git"):
			updated = fmt.Sprintf("From origin\n   %s..%s  main -> origin/main\nTo origin\n   %s..%s  HEAD -> %s", hash(), hash(), before, after, "refactor-"+fmt.Sprint(number))
		case strings.HasPrefix(update, "glab"):
			updated = "- Checking rebase status...\n✓ Rebase successful!"
		}
		checks := ""
		for _, job := range jobs {
			checks += fmt.Sprintf(m.row+"\n", job, 2*len(job)%17, p.between(11, 59), p.between(1e9, 2e9))
		}
		entries = append(entries, run(update, updated, 0).after(w.of(p, k)), run(m.checks, strings.TrimSpace(checks), 0).after(thought{"", p.pick("Wait for the checks.", "Now the checks have to pass again.", "Let me watch the checks.")}),
			run(p.pick(m.merges...), m.refusal, 1).after(thought{p.pick("All checks pass.", "The checks are green.", ""), p.pick("Now merge it.", "Let me merge.", "Merging.")}))
		before = after
	}
	return entries, 3
}
