package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that write and operate software.

func engineeringLoops() []kind {
	return []kind{
		{name: "command_times_out", build: commandTimesOut},
		{name: "drift_returns", build: driftReturns},
		{name: "release_in_progress", build: releaseInProgress},
		{name: "workflow_fails_at_same_step", build: workflowFailsAtSameStep},
		{name: "multiple_heads", build: multipleHeads},
		{name: "joins_without_rows", build: joinsWithoutRows},
		{name: "substitution_without_match", build: substitutionWithoutMatch},
		{name: "page_still_old", build: pageStillOld},
		{name: "file_unchanged", build: fileUnchanged},
		{name: "call_cut_off", build: callCutOff},
		{name: "use_rejected", build: useRejected},
		{name: "reviewers_disagree", build: reviewersDisagree},
		{name: "panels_read_again", build: panelsReadAgain},
	}
}

// commandTimesOut runs a program in other ways, and each of them runs out of time.
func commandTimesOut(p *generator) (entries []entry, _ int) {
	h, script := p.harness(), p.word()
	for range p.between(4, 6) {
		command := p.pick("npm run "+script, "timeout 120 npm run "+script, "CI=1 npm run "+script, "npx "+script+" --run", "node scripts/"+script+".js", "npm run "+script+" -- --verbose 2>&1 | tail -20", "npm run "+script+" > /tmp/out.txt; cat /tmp/out.txt")
		printed := p.pick("", "", fmt.Sprintf("> app@1.%d.0 %s\n> node scripts/%s.js\n\n", p.IntN(9), script, script))
		entries = append(entries, h.shell(command, printed+"Command timed out after 2m 0.0s", 143))
	}
	return entries, 1
}

// driftReturns applies a change that the next plan wants to make again.
func driftReturns(p *generator) (entries []entry, _ int) {
	h, resource, key := p.harness(), "aws_"+p.word()+"_"+p.word()+".main", p.word()
	id := fmt.Sprintf("arn:aws:iam::%012d:%s", p.Uint64N(1e12), p.word())
	for range p.between(3, 5) {
		change := fmt.Sprintf("  # %s will be updated in-place\n  ~ resource {\n        id   = \"%s\"\n      ~ tags = {\n          + \"%s\" = \"managed\"\n        }\n    }\n\nPlan: 0 to add, 1 to change, 0 to destroy.", resource, id, key)
		entries = append(entries,
			h.shell("terraform plan"+p.pick("", " -refresh=true", " -detailed-exitcode", " -no-color"), fmt.Sprintf("%s: Refreshing state... [id=%s]\n\nTerraform will perform the following actions:\n\n%s", resource, id, change), 0),
			say(p.pick("The plan still shows a change, so I apply it.", "There is a pending change. I apply it now.", "One change is left; applying.", "Let me apply this to bring the state in line.")),
			h.shell("terraform apply -auto-approve"+p.pick("", " -parallelism=5", " -no-color"), fmt.Sprintf("%s\n%s: Modifying... [id=%s]\n%s: Modifications complete after %ds [id=%s]\n\nApply complete! Resources: 0 added, 1 changed, 0 destroyed.", change, resource, id, resource, p.between(1, 9), id), 0))
	}
	return entries, 3
}

// releaseInProgress upgrades, rolls back and looks at a release that another operation holds.
func releaseInProgress(p *generator) (entries []entry, _ int) {
	h, name, revision := p.harness(), p.word(), p.between(4, 40)
	const held = "another operation (install/upgrade/rollback) is in progress"
	for range p.between(3, 4) {
		entries = append(entries,
			h.shell("helm upgrade "+name+" ./chart"+p.pick("", " --atomic", " --install", " --force", " --timeout 10m", " -f values.yaml"), "Error: UPGRADE FAILED: "+held, 1),
			h.shell("helm status "+name+p.pick("", " -n default", " | head -5"), fmt.Sprintf("NAME: %s\nLAST DEPLOYED: %s\nNAMESPACE: default\nSTATUS: pending-upgrade\nREVISION: %d", name, "Sun Nov 22 06:11:09 2026", revision), 0))
	}
	return entries, 2
}

// workflowFailsAtSameStep edits a workflow, pushes it and waits for the run, which fails where the one before failed.
func workflowFailsAtSameStep(p *generator) (entries []entry, _ int) {
	h, step, input := p.harness(), p.phrase(2, 3), p.word()
	for range p.between(3, 5) {
		id := p.between(100_000_000, 999_999_999)
		output := fmt.Sprintf("X main CI · %d\nTriggered via push about %d minutes ago\n\nJOBS\nX build in %ds (ID %d)\n  ✓ Set up job\n  ✓ Run actions/checkout@v4\n  X %s\n  - Post Run actions/checkout@v4\n\nANNOTATIONS\nX Input required and not supplied: %s\nbuild: .github#%d", id, p.between(1, 4), p.between(20, 90), p.between(1e9, 9e9), step, input, p.between(10, 60))
		message := p.pick("Fix CI", "ci: pass "+input, "Try again", "Fix workflow input", "ci: fix "+step)
		entries = append(entries, h.edit(".github/workflows/ci.yml"),
			h.shell("git commit -qam '"+message+"' && git push", fmt.Sprintf("To github.example:acme/app.git\n   %07x..%07x  main -> main", p.IntN(1<<28), p.IntN(1<<28)), 0),
			h.shell(fmt.Sprintf("gh run watch %d --exit-status; gh run view %d", id, id), output, 1))
	}
	return entries, 3
}

// multipleHeads migrates with other arguments, and the migrations have two heads all the while.
func multipleHeads(p *generator) (entries []entry, _ int) {
	h, a, b := p.harness(), fmt.Sprintf("%012x", p.Uint64N(1<<48)), fmt.Sprintf("%012x", p.Uint64N(1<<48))
	for range p.between(5, 7) {
		switch p.IntN(4) {
		case 0:
			entries = append(entries, h.shell("alembic heads"+p.pick("", " --verbose", " | cat"), a+" (head)\n"+b+" (head)", 0))
		default:
			command := p.pick("alembic upgrade head", "python -m alembic upgrade head", "alembic -c alembic.ini upgrade head", "alembic upgrade head --sql", "alembic upgrade +1", "flask db upgrade", "alembic stamp head && alembic upgrade head")
			entries = append(entries, h.shell(command, "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.\nERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads\n  FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads", 255))
		}
	}
	return entries, 1
}

// joinsWithoutRows joins two tables in other ways, and no row comes back.
func joinsWithoutRows(p *generator) (entries []entry, _ int) {
	h, left, right, day := p.harness(), p.word()+"s", p.word()+"_log", p.clock()[:10]
	for range p.between(5, 8) {
		column := p.word()
		query := fmt.Sprintf("SELECT a.id, b.%s FROM %s a %s %s b ON %s WHERE %s", column, left, p.pick("JOIN", "INNER JOIN", "RIGHT JOIN"), right,
			p.pick("a.id = b."+left+"_id", "lower(a.code) = lower(b.code)", "a.id::text = b.ref", "trim(a.ref) = trim(b.ref)"), p.pick("b.created_at::date = '"+day+"'", "b.created_at >= '"+day+"'", "date_trunc('day', b.created_at) = '"+day+"'", "to_char(b.created_at, 'YYYY-MM-DD') = '"+day+"'"))
		entries = append(entries, h.shell("psql -d app -c \""+query+"\"", " id | "+column+"\n----+------\n(0 rows)\n\nTime: "+fmt.Sprintf("%d.%03d ms", p.between(1, 40), p.IntN(1000)), 0))
	}
	return entries, 1
}

// substitutionWithoutMatch replaces by patterns that match nothing, and looks at the line that stays.
func substitutionWithoutMatch(p *generator) (entries []entry, _ int) {
	h, path, name, old := p.harness(), p.path(), p.word(), p.word()
	line := fmt.Sprintf("%d:\t%s(\"%s/*\", %s)", p.between(10, 300), name, old, p.word())
	for range p.between(4, 6) {
		pattern := p.pick(name+`\("`+old+`/*"`, name+`(\\"`+old+`/\*\\"`, `^`+name+`("`+old+`.*"`, name+`( "`+old+`/\*"`, `\b`+old+`/+"`)
		entries = append(entries,
			h.shell("sed -i "+p.pick("", "-E ", "-r ")+"'s|"+pattern+"|"+name+"(\""+p.word()+"/*\"|"+p.pick("", "g")+"' "+path, "", 0),
			h.shell("grep -n '"+p.pick(old, name, old+"/")+"' "+path, line, 0))
	}
	return entries, 2
}

// pageStillOld edits a template, builds it, and reads the old title from the server.
func pageStillOld(p *generator) (entries []entry, _ int) {
	h, title, port := p.harness(), p.phrase(2, 4), p.between(3000, 9000)
	for range p.between(3, 5) {
		var output strings.Builder
		fmt.Fprintf(&output, "vite v5.4.%d building for production...\n✓ %d modules transformed.\n", p.IntN(20), p.between(120, 140))
		for _, chunk := range p.words(2) {
			fmt.Fprintf(&output, "dist/assets/%s-%07x.js  %d.%02d kB\n", chunk, p.IntN(1<<28), p.between(3, 90), p.IntN(100))
		}
		fmt.Fprintf(&output, "✓ built in %d.%02ds", p.between(1, 9), p.IntN(100))
		entries = append(entries, h.edit(p.pick("index.html", "src/App.vue", "src/layout/Header.vue", "vite.config.ts")),
			h.shell(p.pick("npm run build", "rm -rf dist && npm run build", "npx vite build"), output.String(), 0),
			h.shell(fmt.Sprintf("curl -s %slocalhost:%d/%s | grep '<title>'", p.pick("", "-H 'Cache-Control: no-cache' ", "-L "), port, p.pick("", "?v="+fmt.Sprint(p.IntN(1000)), "index.html")), "    <title>"+title+"</title>", 0))
	}
	return entries, 3
}

// fileUnchanged reads one file four or five times in a row.
func fileUnchanged(p *generator) (entries []entry, _ int) {
	path := p.path()
	entries = append(entries, call("Read", object("file_path", path), quoted(p.page())))
	for range p.between(3, 4) {
		entries = append(entries,
			say(p.pick("Let me look at the file again to be precise.", "I need to see the exact text.", "Let me read the current state of "+path+".", "I'll re-read it before I edit.")),
			call("Read", object("file_path", path), quoted("File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current — refer to that instead of re-reading.")))
	}
	return entries, 2
}

// callCutOff writes a long file at once, and the call arrives without its content.
func callCutOff(p *generator) (entries []entry, _ int) {
	path := p.word() + "/" + p.word() + ".html"
	for range p.between(3, 6) {
		entries = append(entries,
			say(p.pick("Now I create the complete page.", "Let me write the full file.", "I write the whole page in one go.", "Let me try to write the file again.", "I'll create it now with all sections.")),
			failed("Write", object("file_path", path), "InputValidationError: Write failed due to the following issue:\nThe required parameter `content` is missing"))
	}
	return entries, 3
}

// useRejected tries the same in other commands, and the person rejects each.
func useRejected(p *generator) (entries []entry, _ int) {
	branch := p.word()
	for range p.between(4, 6) {
		command := p.pick("git push --force origin "+branch, "git push -f", "git push --force-with-lease origin HEAD:"+branch, "git push origin +"+branch, "git push --force-with-lease", "git push origin :"+branch+" && git push origin "+branch)
		entries = append(entries, failed("Bash", object("command", command, "description", p.pick("Push the branch", "Update the remote branch", "Force push the rebased branch")), "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."))
	}
	return entries, 1
}

// reviewersDisagree has two reviewers of whom each wants what the other one does not, and a coder who does as told.
func reviewersDisagree(p *generator) (entries []entry, _ int) {
	h, path, a, b := p.harness(), p.path(), p.word(), p.word()
	line := "\t%s := " + p.word() + "." + p.word() + "()"
	ask := func(from, to string) string {
		return p.pick("Please rename `"+from+"` to `"+to+"`, which is what we use elsewhere.", "`"+from+"` is misleading here. I suggest `"+to+"`.", "Nit, but blocking: `"+to+"` instead of `"+from+"`.", "Changes requested: the name should be `"+to+"`.")
	}
	for range p.between(3, 4) {
		entries = append(entries,
			say(ask(a, b)).by("reviewer-1"), h.replace(path, fmt.Sprintf(line, a), fmt.Sprintf(line, b)).by("coder"),
			say(ask(b, a)).by("reviewer-2"), h.replace(path, fmt.Sprintf(line, b), fmt.Sprintf(line, a)).by("coder"))
	}
	return entries, 4
}

// panelsReadAgain goes round twelve to fifteen panels of a dashboard; their figures jitter.
func panelsReadAgain(p *generator) (entries []entry, _ int) {
	panels := p.words(p.between(12, 15))
	base := make([]int, len(panels))
	for k := range base {
		base[k] = p.between(50, 900)
	}
	for round := range 3 {
		for k, panel := range panels {
			at := fmt.Sprintf("2026-03-04T10:%02d:%02dZ", 8*round+k/2, 30*(k%2)+p.IntN(20))
			query := fmt.Sprintf("avg(rate(%s_total{job=\"app\"}[5m]))", panel+fmt.Sprint(k))
			entries = append(entries, call("query_prometheus", object("expr", query, "time", at), object("status", "success", "resultType", "vector", "value", fmt.Sprintf("%d.%03d", base[k], p.IntN(1000)), "took_ms", p.between(2, 60))))
		}
	}
	return entries, len(panels)
}
