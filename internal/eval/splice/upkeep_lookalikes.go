package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest upkeep: one alert, one advisory, one fuzz target or one image after the other.

func upkeepLookalikes() []kind {
	return []kind{
		{name: "scanner_alerts_judged_in_turn", build: scannerAlertsJudgedInTurn},
		{name: "vulnerable_calls_searched_in_turn", build: vulnerableCallsSearchedInTurn},
		{name: "fuzz_targets_run_in_turn", build: fuzzTargetsRunInTurn},
		{name: "images_rescanned_after_bump", build: imagesRescannedAfterBump},
	}
}

// scannerAlertsJudgedInTurn reads one alert of one rule after the other with the code it points to, and closes it with a reason or notes it.
func scannerAlertsJudgedInTurn(p *generator) (entries []entry, _ int) {
	h, s, mcp := p.harness(), p.secretary(), p.coin()
	owner, repository, number := p.word(), p.word()+"-"+p.word(), p.between(20, 900)
	rule := p.pick("py/path-injection", "js/xss-through-dom", "go/request-forgery", "py/clear-text-logging-sensitive-data")
	now, sorted := p.passingTime(), 0
	n := p.between(5, 10)
	reasons := []string{"false positive", "won't fix", "used in tests"}
	for k := range n {
		number += p.between(1, 4)
		path, line := p.word()+"/"+p.word()+"."+rule[:2], p.between(10, 700)
		t := thought{p.pick("That one is sorted.", "Next alert.", ""), fmt.Sprintf(p.pick("Alert %d.", "Now alert %d.", "Let me read alert %d.", "On to %d."), number)}
		if k == 0 {
			t = thought{"", fmt.Sprintf("I'll go through the alerts of `%s`, beginning with %d.", rule, number)}
		}
		alert := object("number", number, "state", "open", "rule", rule, "severity", "error", "path", path, "start_line", line, "created_at", now())
		args := object("owner", owner, "repo", repository, "alertNumber", number)
		url := fmt.Sprintf("repos/%s/%s/code-scanning/alerts/%d", owner, repository, number)
		code := p.code(12)
		if strings.HasPrefix(rule, "py") {
			code = strings.Join(p.python(12), "\n")
		}
		if mcp {
			entries = append(entries, s.use("github", "get_code_scanning_alert", args, string(alert)).after(t))
		} else {
			entries = append(entries, h.shell("gh api "+url+" --jq '{number,state,rule:.rule.id,path:.most_recent_instance.location.path,line:.most_recent_instance.location.start_line}'", string(alert), 0).after(t))
		}
		entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' %s", line-3, line+8, path), code, 0).after(thought{"", p.pick("Let me read the code.", "What does the code do?", "")}))
		if p.IntN(4) == 0 {
			entries = append(entries, h.shell(fmt.Sprintf("echo '- [ ] #%d %s:%d' >> SECURITY_TODO.md", number, path, line), "", 0).after(thought{"The value comes from a request, so this one is real.", "I note it for a fix."}))
			continue
		}
		sorted++
		reason := reasons[p.IntN(len(reasons))]
		closed := object("number", number, "state", "dismissed", "dismissed_reason", reason, "dismissed_at", now())
		why := thought{p.pick("The value is a constant here.", "The path is checked two lines above.", "This is a fixture of a test.", "The input comes from our own configuration."), p.pick("Close it.", "I'll dismiss it.", "")}
		if mcp {
			entries = append(entries, s.use("github", "update_code_scanning_alert", object("owner", owner, "repo", repository, "alertNumber", number, "state", "dismissed", "dismissed_reason", reason), string(closed)).after(why))
			continue
		}
		entries = append(entries, h.shell("gh api -X PATCH "+url+" -f state=dismissed -f \"dismissed_reason="+reason+"\"", string(closed), 0).after(why))
	}
	return append(entries, say(fmt.Sprintf("I went through %d alerts of `%s`: %d are dismissed with a reason, %d have to be fixed.", n, rule, sorted, n-sorted))), 0
}

// vulnerableCallsSearchedInTurn looks for the call that each advisory is about; the code uses almost none of them, so the answers are empty.
func vulnerableCallsSearchedInTurn(p *generator) (entries []entry, _ int) {
	h, places := p.harness(), p.pick("src", "app", ".", "lib services")
	known := [][3]string{
		{"lodash", "_\\.(template|zipObjectDeep)\\(", "const render = _.template(text);"},
		{"minimist", "minimist\\(", "const argv = minimist(process.argv.slice(2));"},
		{"jsonwebtoken", "jwt\\.verify\\(", "const claims = jwt.verify(token, key);"},
		{"node-forge", "forge\\.util\\.parseUrl", "const url = forge.util.parseUrl(target);"},
		{"ejs", "ejs\\.render", "return ejs.render(page, data);"},
		{"js-yaml", "yaml\\.load\\(", "const config = yaml.load(text);"},
		{"xml2js", "parseString\\(", "parseString(body, done);"},
		{"semver", "new Range\\(", "const range = new Range(wanted);"},
		{"follow-redirects", "maxRedirects", "maxRedirects: 5,"},
		{"tar", "tar\\.(x|extract)\\(", "await tar.x({ file, cwd });"},
		{"axios", "axios\\(.*proxy", "await axios({ url, proxy });"},
		{"marked", "marked\\.parse", "el.innerHTML = marked.parse(text);"},
		{"handlebars", "Handlebars\\.compile", "const page = Handlebars.compile(source);"},
		{"moment", "moment\\.locale\\(", "moment.locale(user.language);"},
		{"sharp", "sharp\\(.*webp", "await sharp(file).webp().toBuffer();"},
		{"ws", "maxHeadersCount", "server.maxHeadersCount = 0;"},
		{"undici", "fetch\\(.*integrity", "await fetch(url, { integrity });"},
		{"qs", "qs\\.parse\\(", "const filter = qs.parse(query);"},
	}
	p.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	known = known[:p.between(6, 13)]
	w := wording{
		[]string{"I'll check for each advisory whether we use the faulty function.", "Let me see which of the advisories concern us."},
		[]string{"Not used.", "No match, so that one does not concern us.", "Nothing.", "We do not call it.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "Then `%s`.", "On to `%s`."},
	}
	var used []string
	for k, one := range known {
		name, pattern := one[0], one[1]
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, name)
		}
		if len(used) > 0 && used[len(used)-1] == known[max(0, k-1)][0] {
			t.seen = "We call it there, so I note it."
		}
		hits := ""
		if p.IntN(6) == 0 {
			used = append(used, name)
			for range p.between(1, 4) {
				hits += fmt.Sprintf("%s/%s.ts:%d:    %s\n", strings.Fields(places)[0], p.word(), p.between(3, 500), one[2])
			}
		}
		if h.form == claudeCode {
			found := quoted("No matches found")
			if hits != "" {
				found = quoted(strings.TrimSpace(hits))
			}
			entries = append(entries, call("Grep", object("pattern", pattern, "path", strings.Fields(places)[0], "output_mode", "content", "-n", true), found).after(t))
			continue
		}
		status := 0
		if hits == "" {
			status = 1
		}
		entries = append(entries, h.shell("grep -rnE '"+pattern+"' "+places+" --include=*.ts --include=*.js", strings.TrimSpace(hits), status).after(t))
	}
	if len(used) == 0 {
		return append(entries, say(fmt.Sprintf("None of the %d advisories concerns a function that we call.", len(known)))), 0
	}
	return append(entries, say("Of "+fmt.Sprint(len(known))+" advisories, these concern us: "+strings.Join(used, ", ")+".")), 0
}

// fuzzTargetsRunInTurn runs each fuzz target for the same time; none of them fails, and the outputs differ by counts.
func fuzzTargetsRunInTurn(p *generator) (entries []entry, _ int) {
	run, form, seconds := p.waitingShell(), p.IntN(3), p.pickInt(30, 60, 120)
	names, unit := p.distinctWords(p.between(5, 11)), p.word()
	w := wording{
		[]string{"I'll run each target for a while.", "Let me fuzz them in turn."},
		[]string{"No crash.", "That one holds.", "Nothing found.", "Clean.", ""},
		[]string{"Next target: `%s`.", "Now `%s`.", "Then `%s`.", "On to `%s`."},
	}
	for k, name := range names {
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, name)
		}
		perSecond, corpus := p.between(900, 90_000), p.between(12, 900)
		command, output := fmt.Sprintf("go test ./%s -run='^$' -fuzz='^Fuzz%s$' -fuzztime=%ds", unit, capitalized(name), seconds), fmt.Sprintf("fuzz: elapsed: 0s, gathering baseline coverage: 0/%[1]d completed\nfuzz: elapsed: 0s, gathering baseline coverage: %[1]d/%[1]d completed, now fuzzing with 4 workers\n", corpus)
		switch form {
		case 0:
			for at := 3; at <= seconds; at += 3 * p.between(1, 4) {
				output += fmt.Sprintf("fuzz: elapsed: %ds, execs: %d (%d/sec), new interesting: %d (total: %d)\n", at, at*perSecond, perSecond+p.IntN(99), at/9, corpus+at/9)
			}
			output += fmt.Sprintf("PASS\nok  \texample.com/%s\t%d.%03ds", unit, seconds, p.IntN(1000))
		case 1:
			command, output = fmt.Sprintf("cargo fuzz run %s -- -max_total_time=%d", name, seconds), fmt.Sprintf("INFO: Running with entropic power schedule (0xFF, 100).\nINFO: Seed: %d\n#%d\tINITED cov: %d ft: %d corp: %d/%dKb exec/s: %d rss: %dMb\n#%d\tDONE   cov: %d ft: %d corp: %d/%dKb lim: 4096 exec/s: %d rss: %dMb\nDone %d runs in %d second(s)", p.Uint32(), corpus, 3*corpus, 5*corpus, corpus, corpus/4, perSecond, p.between(40, 90), perSecond*seconds, 3*corpus+9, 5*corpus+30, corpus+4, corpus/4+1, perSecond, p.between(90, 400), perSecond*seconds, seconds+1)
		case 2:
			command, output = fmt.Sprintf("python fuzz/%s_fuzzer.py -atheris_runs=%d -max_total_time=%d", name, perSecond*seconds, seconds), fmt.Sprintf("INFO: Instrumenting %s\nINFO: Using built-in libfuzzer\nINFO: Seed: %d\n#%d\tpulse  cov: %d ft: %d corp: %d/%db exec/s: %d rss: %dMb\nDone %d in %d second(s)", name, p.Uint32(), perSecond, corpus, 2*corpus, corpus/3, 9*corpus, perSecond, p.between(60, 200), perSecond*seconds, seconds)
		}
		entries = append(entries, run(command, strings.TrimSpace(output), 0).after(t))
	}
	return entries, 0
}

// imagesRescannedAfterBump raises the base image of one service after the other, builds it and scans it; all scans are clean.
func imagesRescannedAfterBump(p *generator) (entries []entry, _ int) {
	h := harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}
	names, grype := p.distinctWords(p.between(4, 9)), p.IntN(3) == 0
	before, after := "FROM node:20.11-bookworm-slim", "FROM node:20.18-bookworm-slim"
	steps := []string{"RUN groupadd app && useradd -g app app", "RUN apt-get update && apt-get install -y --no-install-recommends tini", "WORKDIR /app", "COPY package.json package-lock.json ./", "RUN npm ci --omit=dev", "COPY . .", "RUN npm run build", "RUN chown -R app /app"}
	if p.coin() {
		steps[3], steps[4], steps[6] = "COPY requirements.txt ./", "RUN pip install --no-cache-dir -r requirements.txt", "RUN python -m compileall -q ."
		before, after = "FROM python:3.12.2-slim", "FROM python:3.12.8-slim"
	}
	registry, said := p.word()+".example/", func(texts ...string) thought { return thought{"", p.pick(texts...)} }
	last := ""
	for _, name := range names {
		t := p.nextItem(last, "`"+name+"`")
		last = "`" + name + "`"
		image, digest := registry+name+":next", p.commit()+p.commit()[:24]
		built, skipped := "#0 building with \"default\" instance using docker driver\n", p.IntN(3)
		for n, step := range steps[skipped:] {
			built += fmt.Sprintf("#%d [%d/%d] %s\n#%[1]d DONE %[5]d.%[6]ds\n", n+4, n+1, len(steps)-skipped, step, p.IntN(20), p.IntN(10))
		}
		built += fmt.Sprintf("#%d exporting to image\n#%[1]d writing image sha256:%[2]s done\n#%[1]d naming to %[3]s done\n#%[1]d DONE %[4]d.%[5]ds", len(steps)+5, digest, image, p.between(0, 9), p.IntN(10))
		command, report := "trivy image --severity HIGH,CRITICAL --quiet "+image, fmt.Sprintf("\n%s (debian 12.8)\n%s\nTotal: 0 (HIGH: 0, CRITICAL: 0)", image, strings.Repeat("=", len(image)+14))
		if grype {
			command, report = "grype "+image+" --fail-on high --quiet", "No vulnerabilities found"
		}
		entries = append(entries, h.replace("services/"+name+"/Dockerfile", before, after).after(t),
			h.shell("docker build --progress=plain -t "+image+" services/"+name, built, 0).after(said("Build it.", "Let me build the image.", "")),
			h.shell(command, report, 0).after(said("Scan it.", "Now the scan.", "Is it clean?", "")))
	}
	return entries, 0
}
