package splice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The lookalikes of this file are honest work of coding agents with a shell and an editor.

func workbenchLookalikes() []kind {
	return []kind{
		{name: "endpoints_implemented_by_spec", build: endpointsImplementedBySpec},
		{name: "header_inserted_in_every_file", build: headerInsertedInEveryFile},
		{name: "checks_turn_green", build: checksTurnGreen},
		{name: "benchmark_falls_with_each_edit", build: benchmarkFallsWithEachEdit},
	}
}

// handler returns the code of one endpoint about things of one name, in TypeScript or in Python.
func (p *generator) handler(python bool, endpoint, thing string) string {
	field := p.word()
	if python {
		return fmt.Sprintf("@router.post(\"/%[2]ss/%[1]s\")\ndef %[1]s_%[2]s(body: %[3]sIn, db: Session = Depends(get_db)):\n"+
			"    row = db.get(%[3]s, body.id)\n    if row is None or not row.%[4]s:\n        raise HTTPException(%[5]d)\n"+
			"    row.%[4]s = body.%[4]s\n    return service.%[1]s(row)",
			endpoint, thing, capitalized(thing), field, p.pickInt(404, 409, 422))
	}
	return fmt.Sprintf("router.post('/%[2]ss/%[1]s', async (req, res) => {\n  const row = await store.%[2]ss.find(req.body.id);\n"+
		"  if (!row?.%[3]s) return res.status(%[4]d).end();\n  res.json(await service.%[1]s(row, req.body.%[3]s));\n});", endpoint, thing,
		field, p.pickInt(404, 409, 422))
}

// endpointsImplementedBySpec writes one handler after another and runs the same tests, of which ever more pass.
func endpointsImplementedBySpec(p *generator) (entries []entry, _ int) {
	h, thing := p.harness(), p.pick("project", "invoice", "member", "device", "playlist")
	endpoints := p.shuffled("list", "create", "update", "archive", "restore", "search", "share", "export", "duplicate")[:p.between(6, 9)]
	file, command, python := "src/routes/"+thing+"s.ts", "npm test -- "+thing+"s", p.coin()
	if python {
		file, command = "app/api/"+thing+"s.py", "pytest tests/api/test_"+thing+"s.py -q"
	}
	done, last := "", map[bool]string{true: "router = APIRouter()", false: "const router = Router();"}[python]
	for k, endpoint := range endpoints {
		left, status, output := endpoints[k+1:], 0, ""
		for _, name := range left {
			status, output = 1, output+fmt.Sprintf("FAILED %s_%s - expected 200, got 404\n", name, thing)
		}
		output += fmt.Sprintf("%d failed, %d passed in %d.%02ds", len(left), 3*len(endpoints)-len(left), p.between(1, 6), p.IntN(100))
		code := p.handler(python, endpoint, thing)
		entries = append(
			entries, h.replaceAt(file, 9+8*k, last, last+"\n\n"+code).after(p.nextItem(done, "`"+endpoint+"`")),
			h.shell(command, output, status).after(p.runAgain()),
		)
		done, last = "`"+endpoint+"`", code
	}
	return entries, 0
}

// headerInsertedInEveryFile makes the same edit in one file after another, and now and then lists the files that are left.
func headerInsertedInEveryFile(p *generator) (entries []entry, _ int) {
	h := p.harness()
	language := [][3]string{
		{".go", "// ", "package main"}, {".py", "# ", "import os"}, {".ts", "// ", "import { z } from 'zod';"}, {".rs", "// ", "use std::fmt;"},
	}[p.IntN(4)]
	header := p.pick("SPDX-License-Identifier: Apache-2.0", "Copyright 2026 The Harbor Authors", "Code owners: platform team")
	paths := map[string]bool{}
	for len(paths) < 9 {
		paths[p.pick("core", "server", "client", "store", "tools")+"/"+p.word()+language[0]] = true
	}
	left, done, inShell := slices.Sorted(maps.Keys(paths)), "", p.coin()
	for len(left) > 0 {
		path := left[0]
		left = left[1:]
		e := h.replaceAt(path, 1, language[2], language[1]+header+"\n\n"+language[2])
		if inShell {
			e = h.shell("sed -i '1i "+language[1]+header+"' "+path, "", 0)
		}
		entries = append(entries, e.after(p.nextItem(done, "`"+path+"`")))
		done = "`" + path + "`"
		if len(left)%3 > 0 {
			continue
		}
		status := 0
		if len(left) == 0 {
			status = 1
		}
		list := h.shell("grep -rL '"+header+"' --include='*"+language[0]+"' .", strings.Join(left, "\n"), status)
		entries = append(entries, list.after(thought{"", "Let me see which files are left."}))
	}
	return entries, 0
}

// checksTurnGreen watches the checks of a pull request; at each look, more of them have ended.
func checksTurnGreen(p *generator) (entries []entry, _ int) {
	h, number := p.harness(), p.between(40, 4000)
	names := p.shuffled("lint", "unit (linux)", "unit (macos)", "unit (windows)", "build", "e2e (chromium)", "e2e (firefox)", "docs",
		"licenses", "codeql")[:p.between(6, 9)]
	ended := map[string]string{}
	w := wording{
		first: []string{"The branch is pushed. Let me see its checks.", "Let me watch the checks."},
		seen:  []string{"More checks have passed.", "Some are still running.", "Good so far.", "Nothing failed yet."},
		next:  []string{"Let me wait for the rest.", "I'll look again in a minute.", "Waiting for what is left."},
	}
	for n := 0; len(ended) < len(names); n++ {
		for _, name := range names[len(ended):min(len(names), len(ended)+p.between(1, 2))] {
			ended[name] = fmt.Sprintf("pass\t%dm%ds", n+1, p.IntN(60))
		}
		rows := make([]string, len(names))
		for k, name := range names {
			state := ended[name]
			if state == "" {
				state = "pending\t0"
			}
			rows[k] = fmt.Sprintf("%s\t%s\thttps://ci.example/run/%d/job/%d", name, state, 7_100_000+number, 100+k)
		}
		command, status := fmt.Sprintf("sleep %d; gh pr checks %d", 15*p.between(1, 8), number), 8
		if len(ended) == len(names) {
			status = 0
		}
		entries = append(entries, h.shell(command, strings.Join(rows, "\n"), status).after(w.of(p, n)))
	}
	return entries, 0
}

// benchmarkFallsWithEachEdit changes one hot function and measures it: each edit makes it faster.
func benchmarkFallsWithEachEdit(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.pick("Parse", "Encode", "Match", "Merge", "Tokenize")
	file, took := "internal/"+strings.ToLower(name)+"/"+strings.ToLower(name)+".go", p.between(60_000, 900_000)
	edits := [][2]string{
		{"out := []byte{}", "out := make([]byte, 0, len(input))"},
		{
			"fields := strings.Split(text, sep)",
			"fields := strings.SplitSeq(text, sep)",
		},
		{"if isSpace(rune(c)) {", "if spaces[c] {"},
		{"s := string(key)", "s := unsafe.String(&key[0], len(key))"},
		{"defer mu.Unlock()", "mu.Unlock()"},
		{"n := strings.Index(text, \"=\")", "n := strings.IndexByte(text, '=')"},
		{"b := new(bytes.Buffer)", "b := pool.Get().(*bytes.Buffer)"},
		{"for _, r := range []rune(text) {", "for _, r := range text {"},
	}
	p.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
	w := wording{
		first: []string{"The profile shows an allocation in the loop.", "Let me start with the allocation."},
		seen:  []string{"That helped.", "Faster, as expected.", "A clear gain.", "Better."},
		next: []string{
			"Next is the lookup.", "Now the next line of the profile.", "The copy is the next cost.",
			"Let me take the next hot spot.",
		},
	}
	pkg := "./internal/" + strings.ToLower(name)
	for k, edit := range edits[:p.between(5, 8)] {
		took = took * p.between(62, 91) / 100
		output := fmt.Sprintf("goos: linux\ngoarch: amd64\nBenchmark%s-8   \t%8d\t%10d ns/op\t%6d B/op\t%5d allocs/op\nPASS\n"+
			"ok  \texample.com/%s\t%d.%03ds",
			name, 1_500_000_000/took, took, took/9, took/4000, strings.ToLower(name), p.between(1, 4), p.IntN(1000))
		entries = append(
			entries, h.replaceAt(file, p.between(10, 300), "\t"+edit[0], "\t"+edit[1]).after(w.of(p, k)),
			h.shell("go test -bench "+name+" -benchmem "+pkg, output, 0).after(thought{"", p.pick("Let me measure it.", "Now the benchmark.",
				"Measure again.")}),
		)
	}
	return entries, 0
}
