package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that write, repair and set up programs.

func repairLookalikes() []kind {
	return []kind{
		{name: "missing_modules_installed", build: missingModulesInstalled},
		{name: "call_sites_updated", build: callSitesUpdated},
		{name: "definitions_followed", build: definitionsFollowed},
		{name: "fix_checked_without_patch", build: fixCheckedWithoutPatch},
		{name: "tests_grow", build: testsGrow},
		{name: "commits_inspected", build: commitsInspected},
		{name: "config_tested_after_changes", build: configTestedAfterChanges},
		{name: "kernel_compiled", build: kernelCompiled},
		{name: "endpoints_tried_out", build: endpointsTriedOut},
	}
}

// missingModulesInstalled starts a program, which lacks one module after the other, and installs each.
func missingModulesInstalled(p *generator) (entries []entry, _ int) {
	run, script := p.commands(), p.word()+".py"
	for k, module := range p.shuffled("yaml", "requests", "pandas", "sklearn", "click", "dotenv", "rich", "tqdm", "jinja2")[:p.between(4, 6)] {
		dist := map[string]string{"yaml": "PyYAML", "sklearn": "scikit-learn", "dotenv": "python-dotenv"}[module]
		if dist == "" {
			dist = module
		}
		entries = append(entries,
			run("python "+script, fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line %d, in <module>\n    import %s\nModuleNotFoundError: No module named '%s'", script, k+1, module, module), 1),
			run("pip install "+dist, fmt.Sprintf("Collecting %[1]s\n  Downloading %[1]s-%[2]d.%[3]d.%[4]d-py3-none-any.whl (%[5]d kB)\nInstalling collected packages: %[1]s\nSuccessfully installed %[1]s-%[2]d.%[3]d.%[4]d", dist, p.between(1, 8), p.IntN(30), p.IntN(9), p.between(20, 900)), 0))
	}
	return append(entries, run("python "+script, p.phrase(4, 9), 0)), 0
}

// callSitesUpdated renames a function at place after place; the same text is replaced in other files, and a search finds fewer.
func callSitesUpdated(p *generator) (entries []entry, _ int) {
	h, name, other := p.harness(), "get_"+p.word(), "fetch_"+p.word()
	files := make([]string, p.between(5, 8))
	places := make([]string, len(files))
	for k := range files {
		files[k] = fmt.Sprintf("src/%s/%s_%d.py", p.word(), p.word(), k)
		places[k] = fmt.Sprintf("%s:%d:    value = %s(config)", files[k], p.between(5, 300), name)
	}
	for k, file := range files {
		if k%3 == 0 {
			entries = append(entries, h.shell("grep -rn '"+name+"(' src/", strings.Join(places[k:], "\n"), 0))
		}
		entries = append(entries, h.replace(file, "    value = "+name+"(config)", "    value = "+other+"(config)"))
	}
	return append(entries, h.shell("grep -rn '"+name+"(' src/", "", 1), h.shell("python -m pytest -q", fmt.Sprintf("%d passed in %d.%02ds", p.between(20, 300), p.between(1, 20), p.IntN(100)), 0)), 0
}

// definitionsFollowed looks for a function, reads it, and goes on with the function that it calls.
func definitionsFollowed(p *generator) (entries []entry, _ int) {
	run, name := p.commands(), p.word()+"_"+p.word()
	for range p.between(4, 6) {
		next, file, at := p.word()+"_"+p.word(), "src/"+p.word()+"/"+p.word()+".py", p.between(10, 800)
		entries = append(entries,
			run("grep -rn 'def "+name+"' src/", fmt.Sprintf("%s:%d:    def %s(self):", file, at, name), 0),
			run(fmt.Sprintf("sed -n '%d,%dp' %s", at, at+15, file), "    def "+name+"(self):\n"+p.code(p.between(4, 8))+"\n        return self."+next+"()", 0))
		name = next
	}
	return entries, 0
}

// fixCheckedWithoutPatch runs a test with its change, without it, and with it again, and then does the same for a second test.
func fixCheckedWithoutPatch(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range 2 {
		name, file := p.word()+"_"+p.word(), p.path()
		test := "python -m pytest -q -k " + name
		others := p.between(10, 90)
		red := fmt.Sprintf("FAILED tests/test_%s.py::test_%s - AssertionError: %s\n1 failed, %d deselected in 0.%02ds", p.word(), name, p.phrase(2, 4), others, p.IntN(100))
		green := func() string { return fmt.Sprintf("1 passed, %d deselected in 0.%02ds", others, p.IntN(100)) }
		entries = append(entries,
			h.edit(file), h.shell(test, green(), 0),
			say("The test passes. I stash the change to see that the test fails without it."),
			h.shell("git stash", fmt.Sprintf("Saved working directory and index state WIP on main: %07x %s", p.IntN(1<<28), p.phrase(3, 5)), 0), h.shell(test, red, 1),
			h.shell("git stash pop", fmt.Sprintf("On branch main\nChanges not staged for commit:\n\tmodified:   %s\n\nDropped refs/stash@{0} (%08x%016x%016x)", file, p.Uint32(), p.Uint64(), p.Uint64()), 0), h.shell(test, green(), 0))
	}
	return entries, 0
}

// testsGrow adds behaviour after behaviour with its test; all tests pass each time, and there are more of them.
func testsGrow(p *generator) (entries []entry, _ int) {
	h, name, n := p.harness(), p.word(), p.between(3, 12)
	source, test := "src/"+name+".ts", "test/"+name+".test.ts"
	for range p.between(4, 6) {
		n += p.between(1, 3)
		entries = append(entries, h.edit(source), h.edit(test),
			h.shell("npm test", fmt.Sprintf("> vitest run\n\n ✓ %s (%d tests) %dms\n\n Test Files  1 passed (1)\n      Tests  %d passed (%d)\n   Duration  %d.%02ds", test, n, p.between(4, 90), n, n, p.between(0, 3), p.IntN(100)), 0))
	}
	return entries, 0
}

// commitsInspected looks at commit after commit that touched a file, to find the one that brought a change.
func commitsInspected(p *generator) (entries []entry, _ int) {
	run, file := p.commands(), p.path()
	hashes, log := make([]string, p.between(5, 8)), ""
	for k := range hashes {
		hashes[k] = fmt.Sprintf("%07x", p.IntN(1<<28))
		log += hashes[k] + " " + p.phrase(3, 7) + "\n"
	}
	entries = append(entries, run("git log --oneline -- "+file, log, 0))
	for _, hash := range hashes {
		entries = append(entries, run("git show "+hash+" -- "+file, fmt.Sprintf("commit %s%09x\nAuthor: %s <%s@example.com>\nDate:   %s\n\n    %s\n\n@@ -%d,6 +%d,7 @@\n-%s\n+%s", hash, p.Uint64N(1<<36), p.word(), p.word(), p.clock(), p.phrase(3, 7), p.between(1, 300), p.between(1, 300), p.code(1), p.code(2)), 0))
	}
	return entries, 0
}

// configTestedAfterChanges changes directive after directive of a web server; each time the configuration is tested, with one and the same
// answer.
func configTestedAfterChanges(p *generator) (entries []entry, _ int) {
	run := p.commands()
	for _, change := range p.shuffled("gzip on;", "client_max_body_size 20m;", "keepalive_timeout 30;", "server_tokens off;", "limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;", "access_log /var/log/nginx/access.json json;", "add_header X-Frame-Options DENY;")[:p.between(4, 6)] {
		entries = append(entries,
			run("sed -i '/^http {/a\\    "+change+"' /etc/nginx/nginx.conf", "", 0),
			run("nginx -t", "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful", 0))
	}
	return append(entries, run("nginx -s reload && curl -sI http://localhost/", fmt.Sprintf("HTTP/1.1 200 OK\nServer: nginx\nDate: %s\nContent-Type: text/html\nX-Frame-Options: DENY", p.clock()), 0)), 0
}

// kernelCompiled waits a minute or two at a time while a terminal shows what is compiled, until it is done.
func kernelCompiled(p *generator) (entries []entry, _ int) {
	lines := func() string {
		var screen strings.Builder
		for range p.between(4, 9) {
			fmt.Fprintf(&screen, "  %s      %s/%s/%s.o\n", p.pick("CC", "CC", "CC", "AR", "LD"), p.pick("drivers", "fs", "net", "kernel", "sound", "lib"), p.word(), p.word())
		}
		return screen.String()
	}
	wait := func(keystrokes string, seconds int, output string) entry {
		return call("bash_command", object("keystrokes", keystrokes, "duration", seconds), quoted("New Terminal Output:\n\n"+output))
	}
	entries = append(entries, wait("make -j$(nproc)\n", 30, lines()))
	for range p.between(5, 9) {
		entries = append(entries, wait("", p.pickInt(60, 120, 180), lines()))
	}
	return append(entries, wait("", 180, lines()+"  BUILD   arch/x86/boot/bzImage\nKernel: arch/x86/boot/bzImage is ready  (#1)\nroot@c0ffee:/usr/src/linux# ")), 0
}

// endpointsTriedOut calls endpoint after endpoint of a new service; the answers are short and alike.
func endpointsTriedOut(p *generator) (entries []entry, _ int) {
	run, port := p.commands(), p.pickInt(3000, 5000, 8000, 8080)
	for range p.between(6, 9) {
		noun := p.word()
		command := p.pick(
			fmt.Sprintf("curl -s -X POST localhost:%d/api/%s -H 'Content-Type: application/json' -d '{\"name\":\"%s\"}'", port, noun, p.word()),
			fmt.Sprintf("curl -s -X DELETE localhost:%d/api/%s/%d", port, noun, p.between(1, 99)), fmt.Sprintf("curl -s -X PUT localhost:%d/api/%s/%d -d '{\"active\":true}'", port, noun, p.between(1, 99)))
		entries = append(entries, run(command, p.pick(`{"ok":true}`, `{"ok":true}`, `{"ok":true,"id":`+fmt.Sprint(p.between(1, 99))+`}`), 0))
	}
	return entries, 0
}
