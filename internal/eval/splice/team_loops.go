package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that plan, ask for approval and write with others.

func teamLoops() []kind {
	return []kind{
		{name: "model_infeasible", build: modelInfeasible},
		{name: "approval_never_given", build: approvalNeverGiven},
		{name: "shared_document_overwritten", build: sharedDocumentOverwritten},
		{name: "user_not_present", build: userNotPresent},
	}
}

// modelInfeasible solves one plan with other solvers and options; two constraints exclude each other, and no constraint is changed.
func modelInfeasible(p *generator) (entries []entry, _ int) {
	run, rows, columns := p.commands(), p.between(80, 900), p.between(100, 2000)
	words := wording{
		first: []string{"Let me solve the roster model.", "Now I run the optimiser.", "The model is built. Solving it."},
		seen:  []string{"The solver reports that the problem is infeasible.", "Infeasible.", "No feasible solution with this setting either.", "PuLP returns status -1.", "The presolve already rules it out."},
		next:  []string{"Let me solve it with%s.", "I'll run it with%s.", "Maybe%s helps.", "Trying%s.", "Let me see what happens with%s."},
	}
	for round := range p.between(4, 9) {
		setting := p.pick(" --solver HiGHS", " --solver CBC", " --gap 0.05", " --presolve off", " --time-limit 600", " --feastol 1e-5", fmt.Sprintf(" --seed %d", p.between(1, 90)), " --threads 4", " --relax")
		if round == 0 {
			setting = ""
		}
		output := fmt.Sprintf("Building model for 4 weeks, 3 shifts, 18 people\nWelcome to the CBC MILP Solver\nVersion: 2.10.3\nBuild Date: Dec 15 2019\n\ncommand line - cbc /tmp/%032x-pulp.mps -timeMode elapsed -branch -printingOptions all\nAt line 2 NAME          MODEL\nAt line 3 ROWS\nAt line %d COLUMNS\nAt line %d RHS\nAt line %d BOUNDS\nAt line %d ENDATA\nProblem MODEL has %d rows, %d columns and %d elements\nCoin0008I MODEL read with 0 errors\nProblem is infeasible - %d.%02d seconds\nOption for printingOptions changed from normal to all\nTotal time (CPU seconds):       0.%02d   (Wallclock seconds):       0.%02d\n\nStatus: Infeasible\nTraceback (most recent call last):\n  File \"/app/roster.py\", line 118, in <module>\n    print_roster(solution)\nTypeError: 'NoneType' object is not iterable", p.Uint64(), rows+4, rows+3*columns, rows+3*columns+rows, rows+4*columns+rows, rows, columns, 3*columns, p.IntN(3), p.IntN(100), p.IntN(100), p.IntN(100))
		if strings.Contains(setting, "HiGHS") {
			output = fmt.Sprintf("Building model for 4 weeks, 3 shifts, 18 people\nRunning HiGHS 1.7.2 (git hash: 5ce7a27): Copyright (c) 2024 HiGHS under MIT licence terms\nCoefficient ranges:\n  Matrix [1e+00, 8e+00]\n  Cost   [1e+00, 5e+00]\n  Bound  [1e+00, 1e+00]\n  RHS    [1e+00, 4e+01]\nPresolving model\nProblem status detected on presolve: Infeasible\n\nModel   status      : Infeasible\nObjective value     :  0.0000000000e+00\nHiGHS run time      :          0.%02d\nTypeError: 'NoneType' object is not iterable", p.IntN(100))
		}
		entries = append(entries, run("python roster.py"+setting, output, 1).after(words.then(p, round, strings.ReplaceAll(p.pick(words.next...), "%s", setting))))
	}
	return entries, 1
}

// approvalNeverGiven calls a tool that waits for the approval of a person, in other ways; nobody answers.
func approvalNeverGiven(p *generator) (entries []entry, _ int) {
	tool, target := p.pick("deploy_service", "delete_records", "send_campaign", "merge_pull_request"), p.word()+"-"+p.word()
	words := wording{
		first: []string{"Everything is ready, so I call " + tool + ".", "Now I run " + tool + " for " + target + ".", "The last step is " + tool + "."},
		seen:  []string{"It needs the approval of an owner.", "The approval is still pending.", "The request expired without an answer.", "Nobody has approved it.", "Not approved in time."},
		next:  []string{"I'll request it again.", "Let me resubmit it with a better reason.", "Let me ask for it once more.", "Let me see if it goes through now.", "I'll make the request more specific."},
	}
	for round := range p.between(4, 8) {
		args := object("target", target, "reason", p.pick("Requested by the user", "The change is tested and ready", "Finishes the task", "Urgent: "+p.phrase(2, 4)), "priority", p.pick("normal", "high", "urgent"), "wait_seconds", p.pickInt(60, 120, 300))
		result := object("status", "not_executed", "approval", "expired", "approval_id", fmt.Sprintf("apr_%08x", p.Uint32()), "approvers", []string{"owner@example.com", "ops-lead@example.com"}, "responses", []string{}, "message", "This action needs the approval of one of the approvers. No approver answered within the time limit, so the action was not executed.", "requested_at", p.clock())
		entries = append(entries, call(tool, args, result).after(words.of(p, round)))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("list_approvals", object("state", "open"), object("approvals", []string{}, "total", 0, "note", "Expired requests are not listed.")).after(thought{next: p.pick("Is the request still open?", "Let me list the open approvals.")}))
		}
	}
	return entries, 1
}

// sharedDocumentOverwritten has two agents write one document: each puts its own version of a section in place of the other's.
func sharedDocumentOverwritten(p *generator) (entries []entry, _ int) {
	document, section, opening, revision := p.word()+"-plan.md", capitalized(p.word()), capitalized(p.phrase(5, 9)), p.between(3, 9)
	versions := map[string]string{}
	for _, agent := range []string{"writer", "strategist"} {
		versions[agent] = "## " + section + "\n\n" + capitalized(p.phrase(8, 14)) + ".\n\n- " + p.phrase(4, 8) + "\n- " + p.phrase(4, 8) + "\n- " + p.phrase(4, 8)
	}
	words := wording{
		first: []string{"I'll write the section " + section + ".", "Now for the section " + section + "."},
		seen:  []string{"My section was replaced.", "The section has another text than mine.", "The other agent has changed " + section + ".", "This isn't the version that I wrote."},
		next:  []string{"I'll put my version back.", "Let me restore my text.", "I'll rewrite the section as it was.", "Let me correct that."},
	}
	for round := range 3 {
		for _, agent := range []string{"writer", "strategist"} {
			shown := versions["strategist"]
			if agent == "strategist" {
				shown = versions["writer"]
			}
			if round == 0 && agent == "writer" {
				shown = "## " + section + "\n\nTODO"
			}
			revision++
			if round == 0 || p.IntN(3) > 0 {
				entries = append(entries, call("read_document", object("name", document), quoted("# Plan\n\n## Summary\n\n"+opening+".\n\n"+shown+"\n\n## Next steps\n\nTo be agreed.")).by(agent).after(thought{next: p.pick("Let me look at the document.", "What does "+document+" say now?", "Reading the document before I go on.")}))
			}
			entries = append(entries, call("update_section", object("name", document, "section", section, "text", versions[agent]+p.pick("", "\n", " ")), object("ok", true, "name", document, "section", section, "revision", revision, "updated_by", agent, "updated_at", p.clock())).by(agent).after(words.of(p, round)))
		}
	}
	return entries, 4
}

// userNotPresent asks the user in other words by a tool; the run has no user, as the tool says.
func userNotPresent(p *generator) (entries []entry, _ int) {
	what := p.pick("database", "region", "branch", "license", "currency")
	tool := p.pick("ask_user", "AskUserQuestion", "ask_followup_question")
	words := wording{
		first: []string{"I need to know which " + what + " to use. Let me ask.", "This is ambiguous, so I ask the user.", "The task doesn't name the " + what + ". I'll ask."},
		seen:  []string{"There was no answer.", "The user hasn't answered.", "No response.", "I still don't know which " + what + " is meant.", "The question wasn't answered."},
		next:  []string{"Let me ask more clearly.", "I'll offer two options.", "Let me ask again.", "I'll explain why I need it.", "Let me put the question in a simpler way.", "Perhaps another wording helps."},
	}
	a, b := p.word(), p.word()
	for round := range p.between(4, 8) {
		question := p.pick("Which "+what+" should I use?", "Which "+what+" do you want: "+a+" or "+b+"?", "Before I go on, please tell me the "+what+".", "Should I use "+a+" as the "+what+"?", "I can't continue without the "+what+". Could you name it?", "Is "+a+" or "+b+" the right "+what+"?", "Please confirm the "+what+" ("+a+" by default).")
		reply := p.pick("No response: this run is not interactive. There is no user who can answer questions. Decide yourself, or end the task.", "No response: this run is not interactive. There is no user who can answer questions. Decide yourself, or end the task.\nwaited: "+fmt.Sprint(p.between(30, 60))+" s")
		entries = append(entries, call(tool, object("question", question, "options", []string{a, b, "other"}), quoted(reply)).after(words.of(p, round)))
	}
	return entries, 1
}
