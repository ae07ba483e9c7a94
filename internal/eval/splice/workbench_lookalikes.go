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

// endpointsImplementedBySpec writes one handler after another and runs the same tests, of which ever more pass.
func endpointsImplementedBySpec(p *generator) (entries []entry, _ int) {
	h, thing := p.harness(), p.pick("project", "invoice", "member", "device", "playlist")
	endpoints := p.shuffled("list", "create", "update", "archive", "restore", "search", "share", "export", "duplicate")[:p.between(6, 9)]
	framework := p.IntN(2)
	file := []string{"src/routes/" + thing + "s.ts", "app/api/" + thing + "s.py"}[framework]
	command := []string{"npm test -- " + thing + "s", "pytest tests/api/test_" + thing + "s.py -q"}[framework]
	done := ""
	for k, endpoint := range endpoints {
		code := []string{
			fmt.Sprintf("router.post('/%ss/%s', async (req, res) => {\n%s\n  res.json(%s);\n});", thing, endpoint, p.code(p.between(2, 5)), thing),
			fmt.Sprintf("@router.post(\"/%ss/%s\")\ndef %s_%s(body: %sIn):\n%s\n    return %s", thing, endpoint, endpoint, thing,
				capitalized(thing), p.code(p.between(2, 5)), thing),
		}[framework]
		left := endpoints[k+1:]
		output, status := fmt.Sprintf("%d passed in %d.%02ds", 3*len(endpoints), p.between(1, 6), p.IntN(100)), 0
		if len(left) > 0 {
			output, status = "", 1
			for _, name := range left {
				output += fmt.Sprintf("FAILED %s_%s - expected 200, got 404\n", name, thing)
			}
			output += fmt.Sprintf("%d failed, %d passed in %d.%02ds", len(left), 3*len(endpoints)-len(left), p.between(1, 6), p.IntN(100))
		}
		entries = append(
			entries, h.replace(file, "// next endpoint", code+"\n\n// next endpoint").after(p.nextItem(done, "`"+endpoint+"`")), h.shell(command,
				output, status).after(p.runAgain()),
		)
		done = "`" + endpoint + "`"
	}
	return entries, 0
}

// headerInsertedInEveryFile makes the same edit in one file after another, and now and then counts the files that are left.
func headerInsertedInEveryFile(p *generator) (entries []entry, _ int) {
	h, ending := p.harness(), p.pick(".go", ".py", ".ts", ".java", ".rs")
	first := p.pick("package main", "import os", "import { z } from 'zod';", "use std::fmt;", "import java.util.List;")
	header := p.pick("SPDX-License-Identifier: Apache-2.0", "Copyright 2026 The Harbor Authors", "Code owners: platform team",
		"SPDX-License-Identifier: MIT")
	paths := map[string]bool{}
	for len(paths) < 9 {
		paths[p.pick("core", "server", "client", "store", "tools")+"/"+p.word()+ending] = true
	}
	left := slices.Sorted(maps.Keys(paths))
	done := ""
	for len(left) > 0 {
		path := left[0]
		left = left[1:]
		entries = append(entries, h.replace(path, first, "// "+header+"\n\n"+first).after(p.nextItem(done, "`"+path+"`")))
		done = "`" + path + "`"
		if len(left)%3 == 0 {
			output, status := strings.Join(left, "\n"), 0
			if len(left) == 0 {
				output, status = "", 1
			}
			entries = append(entries, h.shell("grep -rL '"+header+"' --include='*"+ending+"' .", output, status).after(thought{
				"",
				"Let me see which files are left.",
			}))
		}
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
	edits := p.shuffled(
		"buf := make([]byte, 0, len(input))", "table := lookup[:256:256]", "var scratch [64]byte", "if len(input) == 0 {\n\t\treturn "+
			"nil\n\t}", "out := pool.Get().(*buffer)",
		"n := bytes.IndexByte(input, sep)", "state = next[state][input[k]]", "keys = append(keys[:0], fields...)",
	)[:p.between(5, 8)]
	before := "out := []byte{}"
	w := wording{
		first: []string{"The profile shows an allocation in the loop.", "Let me start with the allocation."},
		seen:  []string{"That helped.", "Faster, as expected.", "A clear gain.", "Better."},
		next: []string{
			"Next is the lookup.", "Now the next line of the profile.", "The copy is the next cost.",
			"Let me take the next hot spot.",
		},
	}
	for k, after := range edits {
		took = took * p.between(62, 91) / 100
		output := fmt.Sprintf("goos: linux\ngoarch: amd64\nBenchmark%s-8   \t%8d\t%10d ns/op\t%6d B/op\t%5d allocs/op\nPASS\nok  "+
			"\texample.com/%s\t%d.%03ds",
			name, 1_500_000_000/took, took, took/9, took/4000, strings.ToLower(name), p.between(1, 4), p.IntN(1000))
		entries = append(entries, h.replace(file, "\t"+before, "\t"+after).after(w.of(p, k)),
			h.shell("go test -bench "+name+" -benchmem ./internal/"+strings.ToLower(name), output, 0).after(p.runAgain()))
		before = after
	}
	return entries, 0
}
