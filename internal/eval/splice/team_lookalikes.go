package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that plan, ask for approval, do research and write with others.

func teamLookalikes() []kind {
	return []kind{
		{name: "constraints_relaxed", build: constraintsRelaxed},
		{name: "approvals_given", build: approvalsGiven},
		{name: "sections_edited_in_turn", build: sectionsEditedInTurn},
		{name: "requirements_asked", build: requirementsAsked},
		{name: "quarters_pulled", build: quartersPulled},
	}
}

// constraintsRelaxed relaxes constraint after constraint of a plan that has no solution; the conflict is another one each time, until there is a solution.
func constraintsRelaxed(p *generator) (entries []entry, _ int) {
	h, names, rows := p.harness(), p.distinct(p.between(3, 5)), p.between(200, 900)
	for k, name := range names {
		rows -= p.between(1, 12)
		a, b := "c_"+name+"_max", "c_"+name+"_min"
		output := fmt.Sprintf("Building model for 4 weeks, 3 shifts, 18 people\nOptimize a model with %d rows, %d columns and %d nonzeros\nPresolve removed %d rows and %d columns\nPresolve time: 0.0%ds\n\nModel is infeasible\nBest objective -, best bound -, gap -\n\nIIS computed: %d constraints, %d bounds\nIIS runtime: 0.%02d seconds\n  %s: %d x <= %d\n  %s: %d x >= %d\n\nStatus: INFEASIBLE", rows, 3*rows, 9*rows, p.between(10, 90), p.between(10, 90), p.IntN(9), 2, p.IntN(4), p.IntN(100), a, p.between(2, 9), p.between(10, 30), b, p.between(2, 9), p.between(31, 60))
		t := thought{p.pick("That conflict is gone. ", "", "One conflict less. ") + "Now " + a + " and " + b + " contradict each other.", "I'll relax the minimum of " + name + "."}
		entries = append(entries,
			h.shell("python roster.py --iis", output, 1).after(thought{next: p.pick("Solve it and see what conflicts.", "Let me compute the conflict.", "Run the solver.")}),
			h.replace("constraints.yaml", b+": "+fmt.Sprint(p.between(31, 60)), b+": "+fmt.Sprint(p.between(5, 10))+p.pick("", "  # agreed with the user", fmt.Sprintf("  # relaxed, conflict %d", k+1))).after(t))
	}
	return append(entries, h.shell("python roster.py --iis", fmt.Sprintf("Building model for 4 weeks, 3 shifts, 18 people\nOptimize a model with %d rows, %d columns and %d nonzeros\nFound heuristic solution: objective %d\nExplored 1 nodes in 0.%02d seconds\nOptimal solution found (tolerance 1.00e-04)\nBest objective %d, gap 0.0%%\n\nStatus: OPTIMAL\nroster written to roster.csv", rows, 3*rows, 9*rows, p.between(400, 900), p.IntN(100), p.between(100, 399)), 0).after(thought{next: "That should be the last conflict. Solving again."})), 0
}

// approvalsGiven calls a tool for one target after the other; each call waits for a person, who approves it.
func approvalsGiven(p *generator) (entries []entry, _ int) {
	tool, done := p.pick("deploy_service", "rotate_credentials", "archive_project"), ""
	for _, target := range p.distinct(p.between(3, 6)) {
		approval := fmt.Sprintf("apr_%08x", p.Uint32())
		entries = append(entries, call(tool, object("target", target, "reason", "Part of the change of June"), object("status", "waiting_for_approval", "approval_id", approval, "approvers", []string{"owner@example.com", "ops-lead@example.com"}, "message", "One of the approvers has been asked. Call wait_for_approval to go on.")).after(p.nextItem(done, target)))
		entries = append(entries, call("wait_for_approval", object("approval_id", approval, "timeout_seconds", 600), object("status", "executed", "approval_id", approval, "approved_by", p.pick("owner@example.com", "ops-lead@example.com"), "waited_seconds", p.between(12, 400), "target", target, "result", object("state", "ok", "revision", p.between(10, 400), "finished_at", p.clock()))).after(thought{"It needs an approval.", p.pick("I'll wait for it.", "Waiting for "+approval+".", "Let me wait until somebody answers.")}))
		done = target
	}
	return entries, 0
}

// sectionsEditedInTurn has a writer write section after section of a document, and an editor shorten each.
func sectionsEditedInTurn(p *generator) (entries []entry, _ int) {
	document, revision, done := p.word()+"-plan.md", p.between(3, 9), ""
	update := func(agent, section, text string) entry {
		revision++
		return call("update_section", object("name", document, "section", section, "text", text), object("ok", true, "name", document, "section", section, "revision", revision, "words", len(strings.Fields(text)), "updated_by", agent, "updated_at", p.clock())).by(agent)
	}
	for _, name := range p.distinct(p.between(3, 5)) {
		section := capitalized(name)
		kept := capitalized(p.phrase(8, 14)) + ".\n\n- " + p.phrase(4, 8) + "\n- " + p.phrase(4, 8)
		entries = append(entries,
			update("writer", section, kept+"\n- "+p.phrase(4, 8)+"\n\n"+capitalized(p.phrase(10, 20))+".").after(p.nextItem(done, "the section "+section)),
			update("editor", section, kept).after(thought{p.pick("The last paragraph repeats the list.", "This is longer than it has to be.", "The section reads well, but it's long."), "I'll shorten " + section + "."}))
		done = "the section " + section
	}
	return entries, 0
}

// requirementsAsked asks the user question after question about a project by a tool; each is answered.
func requirementsAsked(p *generator) (entries []entry, _ int) {
	tool := p.pick("ask_user", "AskUserQuestion", "ask_followup_question")
	questions := [][4]string{
		{"database", "PostgreSQL", "SQLite", "It runs on one small machine."},
		{"license", "MIT", "Apache-2.0", "The company prefers it."},
		{"region", "eu-central-1", "us-east-1", "Our customers are in Europe."},
		{"authentication", "OAuth", "API keys", "Only machines call it."},
		{"test runner", "vitest", "jest", "The other packages use it."},
		{"currency", "EUR", "USD", "All prices are in it."},
		{"deployment", "Kubernetes", "Fly.io", "We have a cluster."},
	}
	p.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	seen := ""
	for _, q := range questions[:p.between(3, 5)] {
		choice := p.pick(q[1], q[2])
		entries = append(entries, call(tool, object("question", "Which "+q[0]+" should the project use?", "options", []string{q[1], q[2], "other"}), object("answer", choice, "comment", p.pick("", q[3]), "answered_by", "user", "after_seconds", p.between(4, 200))).after(thought{seen, p.pick("Next, the ", "I also need to know the ", "Then the ") + q[0] + "."}))
		seen = choice + p.pick(" it is.", " as the "+q[0]+".", ", noted.")
	}
	answers := make([]string, 0, len(entries))
	for _, e := range entries {
		answers = append(answers, string(e.Result))
	}
	return append(entries, call("write_file", object("path", "docs/decisions.md", "content", "# Decisions\n\n"+strings.Join(answers, "\n")), quoted("File created successfully at: docs/decisions.md")).after(thought{"That is everything I need.", "I'll write the answers down."})), 0
}

// quartersPulled gets the statement of one quarter after the other from an MCP server; the form is the same, the figures are not.
func quartersPulled(p *generator) (entries []entry, _ int) {
	ticker, year, done := strings.ToUpper(p.word()[:4]), p.between(2021, 2024), ""
	revenue := p.between(900, 40_000)
	for k := range p.between(4, 9) {
		quarter := fmt.Sprintf("Q%d %d", k%4+1, year+k/4)
		revenue = revenue * p.between(94, 112) / 100
		filed := fmt.Sprintf("%d-%02d-%02d", year+k/4+(k%4+1)/4, []int{5, 8, 11, 2}[k%4], p.between(1, 28))
		statement := fmt.Sprintf("# %s, %s (millions of USD)\n\n| item | value |\n|---|---|\n| revenue | %d |\n| cost of revenue | %d |\n| gross profit | %d |\n| research and development | %d |\n| selling, general and administrative | %d |\n| operating income | %d |\n| net income | %d |\n| diluted shares | %d |\n\nfiled: %s", ticker, quarter, revenue, revenue*6/10, revenue*4/10, revenue/10+p.IntN(40), revenue/8+p.IntN(40), revenue*17/100, revenue*13/100, 400+k, filed)
		entries = append(entries, call("mcp__financials__income_statement", object("ticker", ticker, "period", quarter), content(statement)).after(p.nextItem(done, quarter)))
		done = quarter
	}
	return entries, 0
}
