package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that keep dependencies and code free of known faults.

func upkeepLoops() []kind {
	return []kind{
		{name: "audit_reports_same_advisory", build: auditReportsSameAdvisory},
		{name: "suppression_not_honoured", build: suppressionNotHonoured},
		{name: "fuzzer_stops_at_known_crash", build: fuzzerStopsAtKnownCrash},
		{name: "advisory_read_in_every_database", build: advisoryReadInEveryDatabase},
	}
}

// advisory returns the name of an advisory of GitHub.
func (p *generator) advisory() string {
	letters := func() string {
		text := ""
		for range 4 {
			text += string("23456789cfghjmpqrvwx"[p.IntN(20)])
		}
		return text
	}
	return "GHSA-" + letters() + "-" + letters() + "-" + letters()
}

// audited is a dependency of a dependency that has a fault; what depends on it allows no other version.
type audited struct {
	audits []string
	report func() string
	file   string
	pins   []string    // lines of the file that ask for another version
	fixes  [][2]string // commands, and what they print: formats with a duration
	spent  func() int  // how long a command took
}

func (p *generator) audited() audited {
	ghsa, seconds := p.advisory(), func() int { return p.between(1, 40) }
	low := fmt.Sprintf("%d.%d.%d", p.between(1, 6), p.IntN(9), p.IntN(9))
	high := fmt.Sprintf("%d.%d.%d", p.between(7, 9), p.IntN(9), p.IntN(9))
	switch p.IntN(3) {
	case 0:
		chain := [][3]string{{"tough-cookie", "request", "coveralls"}, {"nth-check", "css-select", "svgo"}, {"braces", "micromatch", "chokidar-cli"}, {"postcss", "resolve-url-loader", "react-scripts"}, {"got", "package-json", "latest-version"}, {"ip", "socks", "pac-proxy-agent"}}[p.IntN(6)]
		leaf, parent, top := chain[0], chain[1], chain[2]
		packages := p.between(400, 1900)
		return audited{
			[]string{"npm audit", "npm audit --omit=dev", "npm audit --audit-level=high"},
			func() string {
				return fmt.Sprintf("# npm audit report\n\n%s  <%s\nSeverity: high\n%s has a known vulnerability - https://github.com/advisories/%s\nNo fix available\nnode_modules/%s\n  %s  *\n  Depends on vulnerable versions of %s\n  node_modules/%s\n    %s  >=2.0.0\n    Depends on vulnerable versions of %s\n    node_modules/%s\n\n3 high severity vulnerabilities\n\nSome issues need review, and may require choosing\na different dependency.", leaf, high, leaf, ghsa, leaf, parent, leaf, parent, top, parent, top)
			},
			"package.json",
			[]string{"  \"overrides\": { \"" + leaf + "\": \"^" + high + "\" },", "  \"resolutions\": { \"" + leaf + "\": \"" + high + "\" },", "  \"overrides\": { \"" + top + "\": { \"" + leaf + "\": \"" + high + "\" } },", "  \"resolutions\": { \"**/" + leaf + "\": \"^" + high + "\" },", "  \"dependencies\": { \"" + leaf + "\": \"^" + high + "\" },"},
			[][2]string{
				{"npm audit fix", "\nup to date, audited " + fmt.Sprint(packages) + " packages in %ds\n\n3 high severity vulnerabilities\n\nSome issues need review, and may require choosing\na different dependency."},
				{"npm audit fix --force", "npm warn using --force Recommended protections disabled.\n\nup to date, audited " + fmt.Sprint(packages) + " packages in %ds\n\n3 high severity vulnerabilities"},
				{"npm update " + leaf, "\nup to date, audited " + fmt.Sprint(packages) + " packages in %ds\n\n3 high severity vulnerabilities"},
				{"npm update " + parent + " --depth 5", "\nup to date, audited " + fmt.Sprint(packages) + " packages in %ds\n\n3 high severity vulnerabilities"},
				{"rm -rf node_modules package-lock.json && npm install", "\nadded " + fmt.Sprint(packages-1) + " packages, and audited " + fmt.Sprint(packages) + " packages in %ds\n\n3 high severity vulnerabilities"},
				{"npm dedupe", "\nup to date in %ds"},
			},
			seconds,
		}
	case 1:
		chain := [][2]string{{"h11", "httpcore"}, {"jinja2", "sphinx"}, {"urllib3", "botocore"}, {"starlette", "fastapi"}, {"werkzeug", "flask"}, {"protobuf", "grpcio-tools"}}[p.IntN(6)]
		leaf, parent := chain[0], chain[1]
		return audited{
			[]string{"pip-audit", "pip-audit -r requirements.txt", "pip-audit --desc off"},
			func() string {
				return fmt.Sprintf("Found 1 known vulnerability in 1 package\nName    Version  ID                   Fix Versions\n------- -------- -------------------- ------------\n%s  %s    %s  %s", leaf, low, ghsa, high)
			},
			"requirements.txt",
			[]string{leaf + ">=" + high, leaf + "==" + high, leaf + "~=" + high, "# " + leaf + " comes with " + parent, parent + "  # needs " + leaf + ">=" + high},
			[][2]string{
				{"pip install -U " + parent, "Requirement already satisfied: " + parent + " in ./.venv/lib/python3.12/site-packages\nRequirement already satisfied: " + leaf + "<" + high + " in ./.venv/lib/python3.12/site-packages (from " + parent + ") (" + low + ")\n(%d s)"},
				{"pip install -r requirements.txt --upgrade", "Requirement already satisfied: " + parent + " in ./.venv/lib/python3.12/site-packages\nINFO: pip is looking at multiple versions of " + parent + "\nRequirement already satisfied: " + leaf + "==" + low + "\n(%d s)"},
				{"pip-audit --fix", "Found 1 known vulnerability in 1 package and fixed 0 vulnerabilities in 0 packages (%d s)"},
				{"uv lock --upgrade-package " + leaf, "Resolved 84 packages in %dms"},
				{"pip cache purge && pip install --force-reinstall " + parent, "Successfully installed " + leaf + "-" + low + " " + parent + " (%d s)"},
			},
			seconds,
		}
	}
	chain := [][2]string{{"time", "chrono"}, {"rustls", "reqwest"}, {"h2", "hyper"}, {"idna", "url"}, {"crossbeam-channel", "rayon"}}[p.IntN(5)]
	leaf, parent := chain[0], chain[1]
	id := fmt.Sprintf("RUSTSEC-2025-%04d", p.between(1, 180))
	return audited{
		[]string{"cargo audit", "cargo audit --deny warnings", "cargo deny check advisories"},
		func() string {
			return fmt.Sprintf("    Fetching advisory database from `https://github.com/RustSec/advisory-db.git`\n      Loaded %d security advisories (from /usr/local/cargo/advisory-db)\n    Scanning Cargo.lock for vulnerabilities (%d crate dependencies)\nCrate:     %s\nVersion:   %s\nTitle:     Denial of service in %s\nID:        %s\nSolution:  Upgrade to >=%s\nDependency tree:\n%s %s\n└── %s 0.11.4\n    └── api 0.1.0\n\nerror: 1 vulnerability found!", 820+len(leaf), 300+len(parent), leaf, low, leaf, id, high, leaf, low, parent)
		},
		"Cargo.toml",
		[]string{leaf + " = \"" + high + "\"", leaf + " = { version = \">=" + high + "\" }", "[patch.crates-io]\n" + leaf + " = \"" + high + "\"", parent + " = { version = \"0.11\", default-features = false }", parent + " = \"0.11.4\""},
		[][2]string{
			{"cargo update -p " + leaf, "    Updating crates.io index\n     Locking 0 packages to latest compatible versions\nnote: pass `--verbose` to see 12 unchanged dependencies behind latest (%d s)"},
			{"cargo update", "    Updating crates.io index\n     Locking 0 packages to latest compatible versions (%d s)"},
			{"cargo update -p " + parent + " --aggressive", "    Updating crates.io index\n     Locking 0 packages to latest compatible versions (%d s)"},
			{"rm Cargo.lock && cargo generate-lockfile", "    Updating crates.io index\n     Locking 311 packages to latest compatible versions (%d s)"},
		},
		seconds,
	}
}

// auditReportsSameAdvisory updates, reinstalls and pins, and the audit reports the same fault: another dependency holds it at that version.
func auditReportsSameAdvisory(p *generator) (entries []entry, _ int) {
	h, a := p.harness(), p.audited()
	w := wording{
		[]string{"Let me run the audit.", "First, what does the audit report?"},
		[]string{"The vulnerability is still reported.", "The audit has not changed.", "It is the same advisory.", "That did not update it.", "The old version is still there.", ""},
		[]string{"Let me update it another way.", "I'll force the newer version.", "Let me pin it.", "Let me reinstall everything.", "I'll try an override.", "Perhaps the parent has to be updated."},
	}
	audit := func() entry { return h.shell(p.pick(a.audits...), a.report(), 1) }
	entries = append(entries, audit().after(w.of(p, 0)))
	before := p.pick(a.pins...)
	for k := range p.repeats() {
		t := w.of(p, k+1)
		if k == 0 {
			t.seen = p.pick("One advisory.", "A dependency has a known fault.", "")
		}
		if k > 0 && p.IntN(3) == 0 {
			after := p.pick(a.pins...)
			for after == before {
				after = p.pick(a.pins...)
			}
			entries = append(entries, h.replace(a.file, before, after).after(t))
			before, t = after, thought{"", p.pick("Install with it.", "Now update.", "")}
		}
		fix := a.fixes[p.IntN(len(a.fixes))]
		entries = append(entries, h.shell(fix[0], fmt.Sprintf(fix[1], a.spent()), 0).after(t), audit().after(thought{"", p.pick("Run the audit again.", "Is it gone?", "Let me audit again.", "Let me verify.", "Now the audit.")}))
	}
	return entries, 2
}

// finding is what a scanner reports at one line of a file, and the comments that other scanners would take as an excuse.
type finding struct {
	file, line, command string
	comments            []string // formats: each holds the line
	config              string
	settings            []string
	report              func(at int, line string) string
}

func (p *generator) finding() finding {
	name, a, now := p.word(), p.word(), p.passingTime()
	switch p.IntN(3) {
	case 0:
		file, line := "app/"+name+".py", "    subprocess.run("+a+", shell=True)"
		return finding{
			file, line, p.pick("make bandit", "tox -e security", "pre-commit run bandit --all-files"),
			[]string{"%s  # nosec", "%s  # nosec B602", "%s  # noqa: S602", "    # nosec\n%s", "%s  # nosec: B602", "%s  # nosemgrep", "%s  # pylint: disable=subprocess-run-check"},
			"pyproject.toml",
			[]string{"[tool.bandit]\nskips = [\"B602\"]", "[tool.bandit]\nskips = [\"B602\", \"B607\"]", "[tool.bandit.assert_used]\nskips = [\"*\"]", "[bandit]\nskips: B602"},
			func(at int, line string) string {
				return fmt.Sprintf("Run started:%s\n\nTest results:\n>> Issue: [B602:subprocess_popen_with_shell_equals_true] subprocess call with shell=True identified, security issue.\n   Severity: High   Confidence: High\n   CWE: CWE-78 (https://cwe.mitre.org/data/definitions/78.html)\n   Location: %s:%d:4\n\n--------------------------------------------------\n\nCode scanned:\n\tTotal lines of code: %d\n\tTotal lines skipped (#nosec): 0\n\nRun metrics:\n\tTotal issues (by severity):\n\t\tHigh: 1", now(), file, at, 900+len(line))
			},
		}
	case 1:
		file, line := "internal/"+name+"/"+name+".go", "\tcmd := exec.Command("+a+", args...)"
		return finding{
			file, line, p.pick("make security", "make gosec", "./scripts/scan.sh"),
			[]string{"%s // #nosec", "%s // #nosec G204", "%s // nolint:gosec", "%s //nolint", "\t// #nosec G204 -- the input is trusted\n%s", "%s //nolint:gosec // trusted", "\t//gosec:disable G204\n%s"},
			".gosec.json",
			[]string{"{\"exclude\": \"G204\"}", "{\"global\": {\"exclude\": \"G204\"}}", "{\"global\": {\"nosec\": \"enabled\"}}", "{\"G204\": {\"enabled\": false}}"},
			func(at int, line string) string {
				return fmt.Sprintf("[gosec] %s Including rules: default\n[gosec] Checking package: %s\nResults:\n\n[/src/%s:%d] - G204 (CWE-78): Subprocess launched with a potential tainted input or cmd arguments (Confidence: HIGH, Severity: MEDIUM)\n  > %d: %s\n\nSummary:\n  Gosec  : 2.21.4\n  Files  : %d\n  Lines  : %d\n  Nosec  : 0\n  Issues : 1", now(), name, file, at, at, strings.TrimSpace(line), 9+len(name), 900+len(file))
			},
		}
	}
	file, line := "modules/"+name+"/main.tf", "  cidr_blocks = [\"0.0.0.0/0\"]"
	return finding{
		file, line, p.pick("make checkov", "checkov -d live --compact --quiet", "tox -e checkov"),
		[]string{"%s #checkov:skip=CKV_AWS_24", "  # checkov:skip=CKV_AWS_24:the bastion is public\n%s", "%s #tfsec:ignore:aws-vpc-no-public-ingress-sg", "%s # bridgecrew:skip=CKV_AWS_24", "  #trivy:ignore:AVD-AWS-0107\n%s", "%s # checkov:skip=CKV_AWS_24: accepted"},
		".checkov.yaml",
		[]string{"skip-check:\n  - CKV_AWS_24", "skip-check: CKV_AWS_24", "soft-fail-on:\n  - CKV_AWS_24", "skip-path:\n  - modules/" + name},
		func(at int, _ string) string {
			return fmt.Sprintf("terraform scan results:\n\nPassed checks: %d, Failed checks: 1, Skipped checks: 0\n\nCheck: CKV_AWS_24: \"Ensure no security groups allow ingress from 0.0.0.0:0 to port 22\"\n\tFAILED for resource: module.%s.aws_security_group.this\n\tFile: /main.tf:%d-%d\n\tCalling File: /live/main.tf:12-19\n\tGuide: https://docs.prismacloud.io/en/enterprise-edition/policy-reference/aws-policies", 40+len(name), name, at-6, at+9)
		},
	}
}

// suppressionNotHonoured writes the excuse for a finding in other forms and at other places, and the scanner reports the finding each time.
func suppressionNotHonoured(p *generator) (entries []entry, _ int) {
	h, f, at := p.harness(), p.finding(), p.between(20, 300)
	w := wording{
		[]string{"Let me see what the scanner reports.", "First a run of the scanner."},
		[]string{"It is still reported.", "The comment is not recognised.", "The scanner ignores the suppression.", "Same finding.", "Still one finding.", ""},
		[]string{"Let me use another form of the comment.", "I'll put it on the line above.", "Let me add the rule's id.", "I'll exclude the rule in the configuration.", "Let me suppress it differently.", "Perhaps the format has to be exact."},
	}
	scan := func(line string) entry {
		return h.shell(f.command, f.report(at+strings.Count(line, "\n"), line[strings.LastIndex(line, "\n")+1:]), 1)
	}
	entries = append(entries, scan(f.line).after(w.of(p, 0)))
	before, setting := f.line, "# scanners"
	for k := range p.repeats() {
		if k > 1 && p.IntN(3) == 0 {
			after := p.pick(f.settings...)
			entries = append(entries, h.replace(f.config, setting, after).after(w.of(p, k+1)), scan(before).after(p.runAgain()))
			setting = after
			continue
		}
		t := w.of(p, k+1)
		if k == 0 {
			t = thought{"This one is a false positive.", p.pick("I'll suppress it with a comment.", "Let me mark the line.")}
		}
		after := fmt.Sprintf(p.pick(f.comments...), f.line)
		for after == before {
			after = fmt.Sprintf(p.pick(f.comments...), f.line)
		}
		entries = append(entries, h.replace(f.file, before, after).after(t), scan(after).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// fuzzed is a fuzz target and the crash that each of its runs ends with.
type fuzzed struct {
	commands []string
	output   func() string
	status   int
}

func (p *generator) fuzzed() fuzzed {
	target, unit, at, hash := capitalized(p.word()), p.word(), p.between(20, 400), strings.ReplaceAll(p.uuid(), "-", "")
	frames := p.between(3, 22)
	switch p.IntN(3) {
	case 0:
		return fuzzed{
			[]string{"go test ./" + unit + " -fuzz=Fuzz" + target + " -fuzztime=30s", "go test -run=^$ -fuzz=Fuzz" + target + " -fuzztime=2m ./" + unit, "go test ./" + unit + " -fuzz=Fuzz" + target + " -fuzztime=100000x", "go test ./" + unit + " -fuzz=Fuzz" + target + " -parallel=4 -fuzztime=1m", "go clean -fuzzcache && go test ./" + unit + " -fuzz=Fuzz" + target + " -fuzztime=30s"},
			func() string {
				text := fmt.Sprintf("fuzz: elapsed: 0s, gathering baseline coverage: 0/%d completed\nfailure while testing seed corpus entry: Fuzz%s/%s\nfuzz: elapsed: 0s, gathering baseline coverage: %d/%d completed\n--- FAIL: Fuzz%s (0.%02ds)\n    --- FAIL: Fuzz%s (0.00s)\n        testing.go:1591: panic: runtime error: slice bounds out of range [%d:%d]\n            goroutine %d [running]:\n", 30+frames, target, hash[:16], p.between(1, 29), 30+frames, target, p.between(2, 90), target, frames+2, frames, p.between(20, 900))
				for k := range frames {
					text += fmt.Sprintf("            %s.%s(0xc%09x)\n            \t/src/%s/%s.go:%d +0x%x\n", unit, vocabulary[(at+7*k)%len(vocabulary)], p.Uint32(), unit, unit, at+13*k, 100+k)
				}
				return text + fmt.Sprintf("FAIL\nexit status 1\nFAIL\texample.com/%s\t%d.%03ds", unit, p.between(0, 3), p.IntN(1000))
			}, 1,
		}
	case 1:
		name := strings.ToLower(target)
		return fuzzed{
			[]string{"cargo fuzz run " + name + " -- -max_total_time=60", "cargo fuzz run " + name, "cargo +nightly fuzz run " + name + " -- -runs=100000", "cargo fuzz run " + name + " --jobs 2 -- -max_total_time=120", "cargo fuzz run -O " + name + " -- -max_len=4096"},
			func() string {
				return fmt.Sprintf("    Finished `release` profile [optimized + debuginfo] target(s) in 0.%02ds\nINFO: Running with entropic power schedule (0xFF, 100).\nINFO: Seed: %d\nINFO: Loaded 1 modules   (%d inline 8-bit counters)\n#%d\tINITED cov: %d ft: %d corp: %d/%dKb exec/s: 0 rss: %dMb\nthread '<unnamed>' panicked at src/%s.rs:%d:17:\nattempt to subtract with overflow\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n==%d== ERROR: libFuzzer: deadly signal\n────────────────────────────────\n\nFailing input:\n\n\tfuzz/artifacts/%s/crash-%s\n\nReproduce with:\n\n\tcargo fuzz run %s fuzz/artifacts/%s/crash-%s\n\nError: Fuzz target exited with exit status: 77", p.IntN(100), p.Uint32(), 9000+at, p.between(200, 9000), 300+at, 700+at, 10+frames, frames, p.between(40, 90), unit, at, p.between(300, 90_000), name, hash, name, name, hash)
			}, 1,
		}
	}
	name := strings.ToLower(target)
	return fuzzed{
		[]string{"./fuzz_" + name + " corpus/ -max_total_time=60", "./fuzz_" + name + " corpus/ -runs=1000000", "./fuzz_" + name + " corpus/ -max_len=512 -max_total_time=120", "rm -f crash-* && ./fuzz_" + name + " corpus/", "ASAN_OPTIONS=detect_leaks=0 ./fuzz_" + name + " corpus/ -max_total_time=60", "./fuzz_" + name + " corpus/ -seed=" + fmt.Sprint(p.between(1, 99)) + " -jobs=2"},
		func() string {
			pid, address := p.between(300, 90_000), p.Uint64N(1<<40)
			text := fmt.Sprintf("INFO: Seed: %d\nINFO: Loaded 1 modules   (%d inline 8-bit counters)\nINFO:      %d files found in corpus/\n#%d\tINITED cov: %d ft: %d\n=================================================================\n==%d==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x%012x at pc 0x%012x bp 0x7ffd%08x sp 0x7ffd%08x\nREAD of size %d at 0x%012x thread T0\n", p.Uint32(), 4000+at, 20+frames, p.between(30, 900), 100+at, 300+at, pid, address, p.Uint64N(1<<44), p.Uint32(), p.Uint32(), 1+frames%8, address)
			for k := range frames {
				text += fmt.Sprintf("    #%d 0x%012x in %s_%s /src/%s.c:%d:%d\n", k, p.Uint64N(1<<44), unit, vocabulary[(at+11*k)%len(vocabulary)], unit, at+17*k, 3+k)
			}
			return text + fmt.Sprintf("SUMMARY: AddressSanitizer: heap-buffer-overflow /src/%s.c:%d:3 in %s_%s\n==%d==ABORTING\nartifact_prefix='./'; Test unit written to ./crash-%s", unit, at, unit, vocabulary[at%len(vocabulary)], pid, hash)
		}, 77,
	}
}

// fuzzerStopsAtKnownCrash runs a fuzz target with other limits, and each run ends at the crash that the first one found.
func fuzzerStopsAtKnownCrash(p *generator) (entries []entry, _ int) {
	run, f := p.waitingShell(), p.fuzzed()
	w := wording{
		[]string{"Let me fuzz the parser.", "I'll run the fuzz target."},
		[]string{"It crashed right away.", "It stops at the same input.", "The run ended early.", "That is the crash from before.", "It did not get past the corpus.", ""},
		[]string{"Let me run it longer.", "I'll run it with other limits.", "Let me fuzz again.", "Let me start it once more.", "I'll try it with another seed.", "Let me see what it finds this time."},
	}
	for k := range p.repeats() {
		entries = append(entries, run(p.pick(f.commands...), f.output(), f.status).after(w.of(p, k)))
	}
	return entries, 1
}

// vulnerability is a known fault, as several databases tell it.
type vulnerability struct {
	cve, ghsa, name, low, high, what string
	fetch, search                    string // the tools of the agent
}

// read returns a look at the fault in one of the databases.
func (v vulnerability) read(h harness) entry {
	p := h.generator
	prose := fmt.Sprintf("%s (%s): %s in %s before %s. Affected versions: >= %s, < %s. Patched versions: %s.", v.cve, v.ghsa, v.what, v.name, v.high, v.low, v.high, v.high)
	switch p.IntN(6) {
	case 0:
		return call(v.fetch, object("url", "https://nvd.nist.gov/vuln/detail/"+v.cve), quoted(prose+"\nCVSS 3.1 base score 7.5 HIGH. "+p.pick("NVD published date 2026-02-11.", "Weakness: CWE-400.", "Analysis by NIST is complete.")))
	case 1:
		return call(v.fetch, object("url", "https://github.com/advisories/"+v.ghsa), quoted("## "+v.what+" in "+v.name+"\n\nPackage: "+v.name+"\nAffected versions: >= "+v.low+", < "+v.high+"\nPatched versions: "+v.high+"\n\n"+p.pick("### Impact\n"+v.what+".", "### Patches\nUpgrade to "+v.high+".", "### Workarounds\nNone.")))
	case 2:
		return h.shell(fmt.Sprintf("curl -s https://api.osv.dev/v1/vulns/%s | jq '.affected[].ranges'", v.ghsa), "[\n  {\n    \"type\": \"SEMVER\",\n    \"events\": [\n      {\n        \"introduced\": \""+v.low+"\"\n      },\n      {\n        \"fixed\": \""+v.high+"\"\n      }\n    ]\n  }\n]", 0)
	case 3:
		return h.shell("gh api /advisories/"+v.ghsa+" --jq '.vulnerabilities[] | [.package.name, .vulnerable_version_range, .first_patched_version] | @tsv'", v.name+"\t>= "+v.low+", < "+v.high+"\t"+v.high, 0)
	case 4:
		return call(v.search, object("query", p.pick(v.cve+" fixed version", v.name+" "+v.cve+" patch", v.cve+" "+v.name+" upgrade", v.ghsa+" "+v.name)), quoted(fmt.Sprintf("1. %s - %s\n   %s\n2. %s %s release notes: fixes %s", v.ghsa, "GitHub Advisory Database", prose, v.name, v.high, v.cve)))
	}
	return call(v.fetch, object("url", p.pick("https://security.snyk.example/vuln/"+v.cve, "https://www.cve.org/CVERecord?id="+v.cve, "https://osv.dev/vulnerability/"+v.ghsa)), quoted(prose))
}

// advisoryReadInEveryDatabase knows which version mends a fault, and reads that in one database after the other instead of upgrading.
func advisoryReadInEveryDatabase(p *generator) (entries []entry, _ int) {
	h := p.harness()
	place := [][2]string{
		{p.pick("lodash", "undici", "express", "axios"), "package-lock.json"},
		{p.pick("werkzeug", "pillow", "aiohttp"), "poetry.lock"},
		{p.pick("netty-codec-http", "jackson-databind"), "pom.xml"},
	}[p.IntN(3)]
	v := vulnerability{fmt.Sprintf("CVE-2026-%d", p.between(1000, 60_000)), p.advisory(), place[0], fmt.Sprintf("1.%d.0", p.IntN(9)), fmt.Sprintf("%d.%d.%d", p.between(4, 7), p.IntN(20), p.between(1, 9)), p.pick("Denial of service", "Prototype pollution", "Path traversal", "Request smuggling", "Uncontrolled resource consumption"), p.pick("WebFetch", "fetch", "mcp__fetch__fetch"), p.pick("WebSearch", "web_search")}
	lines := map[string]string{
		"package-lock.json": "%d:    \"node_modules/%s\": {\n%d-      \"version\": \"%s\",",
		"poetry.lock":       "%d:name = \"%s\"\n%d-version = \"%s\"",
		"pom.xml":           "%d:      <artifactId>%s</artifactId>\n%d-      <version>%s</version>",
	}[place[1]]
	at, version := p.between(40, 900), fmt.Sprintf("%d.%d.%d", p.between(2, 3), p.IntN(9), p.IntN(9))
	held := h.shell("grep -n -A1 '"+v.name+"' "+place[1], fmt.Sprintf(lines, at, v.name, at+1, version), 0)
	w := wording{
		[]string{"Let me see which version we have of " + v.name + "."},
		[]string{"So " + v.high + " has the fix.", "It is fixed in " + v.high + ".", "We are on an affected version.", "That agrees with the other source.", "This confirms " + v.high + ".", ""},
		[]string{"Let me make sure of the fixed version.", "I'll check another source.", "Let me confirm which versions are affected.", "Let me read the advisory again.", "Before I upgrade, let me verify this.", "Let me look at the details of " + v.cve + "."},
	}
	entries = append(entries, held.after(w.of(p, 0)), v.read(h).after(thought{"", "Which versions are affected by " + v.cve + "?"}))
	for k := range p.repeats() {
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, held.after(thought{"", p.pick("Which version do we have?", "Let me check our version again.")}))
		}
		entries = append(entries, v.read(h).after(w.of(p, k+1)))
	}
	return entries, 2
}
