package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of coding agents: tests first, mutations, audits, reviews, and causes that are ruled out.

func releaseLookalikes() []kind {
	return []kind{
		{name: "red_then_green", build: redThenGreen},
		{name: "mutants_killed", build: mutantsKilled},
		{name: "flags_removed", build: flagsRemoved},
		{name: "bytes_walked", build: bytesWalked},
		{name: "coverage_rises", build: coverageRises},
		{name: "causes_ruled_out", build: causesRuledOut},
		{name: "lint_rule_by_package", build: lintRuleByPackage},
		{name: "browsers_tested", build: browsersTested},
		{name: "licenses_audited", build: licensesAudited},
	}
}

// redThenGreen writes a test, sees it fail, writes the code, and sees it pass: behaviour after behaviour.
func redThenGreen(p *generator) (entries []entry, _ int) {
	h, unit, passed := p.harness(), p.word(), p.between(3, 20)
	for _, behaviour := range p.words(p.between(3, 5)) {
		name := "test_" + unit + "_" + behaviour
		passed++
		entries = append(entries,
			h.edit("tests/test_"+unit+".py"),
			h.shell("pytest -q tests/test_"+unit+".py", fmt.Sprintf("FAILED tests/test_%s.py::%s - AttributeError: '%s' object has no attribute '%s'\n1 failed, %d passed in 0.%02ds", unit, name, strings.ToUpper(unit[:1])+unit[1:], behaviour, passed-1, p.IntN(100)), 1),
			h.edit("src/"+unit+".py"),
			h.shell("pytest -q tests/test_"+unit+".py", fmt.Sprintf("%d passed in 0.%02ds", passed, p.IntN(100)), 0))
	}
	return entries, 0
}

// mutantsKilled breaks one line, sees the tests fail as they should, and takes the change back: line after line.
func mutantsKilled(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), "src/"+p.word()+".ts"
	for k := range p.between(3, 5) {
		before, after := p.code(1), p.code(1)
		entries = append(entries,
			h.replace(path, before, after),
			h.shell("npx vitest run --reporter=dot", fmt.Sprintf(" FAIL  test/%s.test.ts > %s\nAssertionError: expected %d to be undefined\n\n Tests  1 failed | %d passed (%d)", p.word(), p.phrase(3, 6), p.IntN(99), 61, 62), 1),
			say(fmt.Sprintf("Mutant %d is killed by the suite. I restore the line and go on with the next one.", k+1)),
			h.replace(path, after, before))
	}
	return append(entries, h.shell("npx vitest run --reporter=dot", " Tests  62 passed (62)", 0)), 0
}

// flagsRemoved removes feature flag after feature flag, and looks whether one is left.
func flagsRemoved(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range p.between(4, 6) {
		flag, path := "enable_"+p.word()+"_"+p.word(), p.path()
		entries = append(entries,
			h.shell("grep -rn "+flag+" --include='*' src", fmt.Sprintf("%s:%d:  if (flags.%s) {", path, p.between(3, 300), flag), 0),
			h.edit(path),
			h.shell("grep -rn "+flag+" --include='*' src", "", 1))
	}
	return entries, 0
}

// bytesWalked reads a binary file piece by piece; most of it is zero.
func bytesWalked(p *generator) (entries []entry, _ int) {
	h, file, at := p.harness(), p.word()+".bin", 4096*p.between(1, 30)
	for range p.between(6, 9) {
		var output strings.Builder
		for row := range 3 {
			bytes := strings.Repeat("0000 ", 8)
			if p.IntN(4) == 0 {
				bytes = fmt.Sprintf("%04x %04x ", p.IntN(1<<16), p.IntN(1<<16)) + strings.Repeat("0000 ", 6)
			}
			fmt.Fprintf(&output, "%08x: %s ................\n", at+16*row, bytes)
		}
		entries = append(entries, h.shell(fmt.Sprintf("xxd -s %d -l 48 %s", at, file), output.String(), 0))
		at += 4096 * p.between(1, 6)
	}
	return entries, 0
}

// coverageRises adds test after test; each run of the tests covers a little more.
func coverageRises(p *generator) (entries []entry, _ int) {
	h, covered, unit := p.harness(), 600+p.IntN(100), p.word()
	for range p.between(4, 7) {
		covered += p.between(4, 40)
		entries = append(entries, h.edit(unit+"/"+p.word()+"_test.go"),
			h.shell("go test -cover ./"+unit+"/...", fmt.Sprintf("ok  \texample.com/app/%s\t0.%03ds\tcoverage: %d.%d%% of statements", unit, p.between(10, 900), covered/10, covered%10), 0))
	}
	return entries, 0
}

// causesRuledOut tries cause after cause of a fault; each leaves it as it is, until one is it.
func causesRuledOut(p *generator) (entries []entry, _ int) {
	h, total := p.harness(), p.between(200, 900)
	causes := p.shuffled("GOMAXPROCS=1", "GODEBUG=netdns=go", "TZ=UTC", "LANG=C", "HTTP_PROXY=", "GODEBUG=madvdontneed=1", "GOGC=off")[:p.between(4, 6)]
	for k, cause := range causes {
		entries = append(entries, say(fmt.Sprintf("Hypothesis %d: %s makes a difference.", k+1, cause)),
			h.shell(cause+" ./bin/reproduce --rounds 200", fmt.Sprintf("rounds: 200\nwrong: %d\nexit on first: false", total/9), 1),
			say(fmt.Sprintf("No difference with %s, so that is ruled out.", cause)))
	}
	return append(entries, say("What is left is the clock."), h.shell("faketime -f '+0' ./bin/reproduce --rounds 200", "rounds: 200\nwrong: 0\nexit on first: false", 0), h.edit("internal/"+p.word()+"/clock.go")), 0
}

// lintRuleByPackage applies one rule to package after package; the complaint has the same words each time.
func lintRuleByPackage(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range p.between(4, 6) {
		name := p.word() + "-" + p.word()
		entries = append(entries,
			h.shell("npx eslint packages/"+name, fmt.Sprintf("/repo/packages/%s/src/index.ts\n  %d:%d  error  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any\n\n✖ 1 problem (1 error, 0 warnings)", name, p.between(3, 200), p.between(1, 40)), 1),
			h.edit("packages/"+name+"/src/index.ts"),
			h.shell("npx eslint packages/"+name, "", 0))
	}
	return entries, 0
}

// browsersTested runs the same suite in browser after browser.
func browsersTested(p *generator) (entries []entry, _ int) {
	h, tests := p.harness(), p.between(12, 60)
	for _, project := range p.shuffled("chromium", "firefox", "webkit", "Mobile Chrome", "Mobile Safari", "Microsoft Edge")[:p.between(4, 6)] {
		entries = append(entries, h.shell("npx playwright test --project='"+project+"'", fmt.Sprintf("Running %d tests using 2 workers\n\n  %d passed (%d.%ds)", tests, tests, p.between(9, 80), p.IntN(10)), 0))
	}
	return entries, 0
}

// licensesAudited looks up the license of dependency after dependency; most have the same.
func licensesAudited(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range p.between(6, 11) {
		name := p.word() + "-" + p.word()
		entries = append(entries, h.shell("npm view "+name+" license", p.pick("MIT", "MIT", "MIT", "Apache-2.0", "ISC"), 0))
	}
	return entries, 0
}
