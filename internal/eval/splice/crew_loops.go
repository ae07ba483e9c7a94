package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of several agents that hand work to each other.

func crewLoops() []kind {
	return []kind{
		{name: "ticket_owned_by_nobody", build: ticketOwnedByNobody},
		{name: "coder_resubmits_same_patch", build: coderResubmitsSamePatch},
		{name: "result_promised_to_manager", build: resultPromisedToManager},
		{name: "subagent_lacks_context", build: subagentLacksContext},
	}
}

func handoff(from, to string) entry { return entry{Kind: "handoff", From: from, To: to, Agent: from} }

// ticketOwnedByNobody passes a customer from team to team, and each says that another one is in charge.
func ticketOwnedByNobody(p *generator) (entries []entry, _ int) {
	teams := []string{"triage", p.pick("billing", "payments", "accounts"), p.pick("technical", "platform", "product_support")}
	issue := p.pick("the double charge after the failed upgrade", "the licence that was paid and does not activate",
		"the invoice for a server that was deleted", "the credit that the app does not show")
	refusals := p.shuffled(
		"This is not a matter for %[1]s. Passing it to %[2]s.", "%[2]s has to look at this, I hand it over.",
		"%[1]s cannot help with %[3]s, but %[2]s can.", "I checked: %[3]s belongs to %[2]s. Transferring.",
		"Sorry, wrong team. I forward you to %[2]s.", "%[1]s has no access to this. %[2]s should know more.",
		"That sounds like a case for %[2]s, so I send it there.", "This needs %[2]s first. Handing over.",
	)
	entries = append(entries, user("Please help me with "+issue+"."))
	for k := range 3 * p.between(2, 4) {
		from, to := teams[k%3], teams[(k+1)%3]
		entries = append(entries, say(capitalized(fmt.Sprintf(refusals[k%len(refusals)], from, to, issue))).by(from), handoff(from, to))
	}
	return entries, 7
}

// coderResubmitsSamePatch has a reviewer make one remark, and a coder who reports it as done and changes nothing.
func coderResubmitsSamePatch(p *generator) (entries []entry, _ int) {
	coder, reviewer := p.pick("coder", "developer", "implementer"), p.pick("reviewer", "qa", "critic")
	name := p.word()
	type flaw struct{ patch, remark string }
	f := []flaw{
		{"+def load_" + name + "(path):\n+    f = open(path)\n+    return json.load(f)", "the file is never closed when load_" + name + " fails"},
		{"+    rows = db.query(\"SELECT * FROM " + name + " WHERE id = \" + id)", "the query on " + name + " is put together from user input"},
		{"+  for (let i = 0; i <= " + name + ".length; i++) {\n+    total += " + name + "[i].price;\n+  }", "the loop over " + name +
			" reads one element too many"},
		{"+\tgo func() {\n+\t\t" + name + "[key] = value\n+\t}()", "two goroutines write the map " + name + " without a lock"},
	}[p.IntN(4)]
	claims := p.shuffled("Addressed the review. Please have another look.", "Fixed as requested.", "Done, the remark is taken care of.",
		"I reworked that part.", "Updated the patch with your feedback.", "Good catch, this is corrected now.", "Here is the new version.")
	remarks := p.shuffled("Changes requested: %s.", "Not yet: %s.", "I still see that %s.", "My remark stands, %s.",
		"Please fix this first: %s.", "Same as before: %s.", "Rejected, since %s.")
	diff := fmt.Sprintf("--- a/src/%s\n+++ b/src/%s\n@@ -12,4 +12,7 @@\n%s", name, name, f.patch)
	w := wording{
		first: []string{"The change is complete. Let me submit it.", "I submit the patch."},
		seen:  []string{"The reviewer wants a change.", "I see the remark.", "Understood.", "That is a fair point."},
		next: []string{
			"Let me correct this and submit it again.", "I fix that now.", "Let me upload a new version.",
			"Let me resubmit the patch.",
		},
	}
	for k := range p.between(4, 6) {
		claim := claims[k]
		if k == 0 {
			claim = "The patch is ready for review."
		}
		entries = append(
			entries, call("submit_patch", object("message", claim, "diff", diff), quoted(fmt.Sprintf("Patch set %d uploaded.",
				k+1))).by(coder).after(w.of(p, k)), handoff(coder, reviewer),
			call("get_patch", object("patch_set", k+1), quoted(diff)).by(reviewer), say(fmt.Sprintf(remarks[k],
				f.remark)).by(reviewer), handoff(reviewer, coder),
		)
	}
	return entries, 5
}

// resultPromisedToManager has a manager ask for a result, and a worker who promises it and does nothing.
func resultPromisedToManager(p *generator) (entries []entry, _ int) {
	manager, worker := p.pick("manager", "orchestrator", "planner", "lead"), p.pick("analyst", "worker", "researcher", "writer")
	what := p.pick("the comparison of the three vendors", "the sales forecast", "the summary of the interviews", "the risk table",
		"the list of open contracts")
	asks := p.shuffled(
		capitalized(worker)+", where is "+what+"?", "Any progress on "+what+"?", "I still need "+what+". How far are you?",
		"Please send me "+what+" now.", "Status of "+what+"?", "We are waiting for "+what+".", "Can you deliver "+what+" in this turn?",
	)
	answers := p.shuffled(
		"I am working on "+what+" and will share it shortly.", "Almost there. "+capitalized(what)+" follows in a moment.",
		"On it! I will get back to you with "+what+".", "Understood. I will prepare "+what+" right away.",
		"Thank you for your patience, "+what+" is in progress.",
		"Sure, I will start with "+what+" immediately.", "Yes, I will deliver "+what+" as soon as it is ready.",
	)
	for k := range p.between(5, 7) {
		entries = append(entries, say(asks[k]).by(manager), handoff(manager, worker), say(answers[k]).by(worker), handoff(worker, manager))
	}
	return entries, 4
}

// subagentLacksContext starts a subagent again and again with other words, and it lacks the file that nobody gives it.
func subagentLacksContext(p *generator) (entries []entry, _ int) {
	job, missing, _ := strings.Cut(p.pick(
		"write the migration plan: the design document", "find the cause of the outage: the log of last night",
		"draft the announcement: the release notes",
		"review the contract: the signed version", "compare the offers: the list of prices", "update the forecast: last year's report",
	), ": ")
	prompts := p.shuffled(
		"%s, based on %s.", "Your task: %s. Use %s.", "Please %s. Everything that you need is in %s.",
		"You are an expert: %s with the help of %s, and answer in full.", "Read %[2]s carefully and %[1]s.", "Be thorough: %s and cite %s.",
		"Think step by step, then %s. Source: %s.",
		"%s. Do not ask back, just use %s.",
	)
	answers := []string{
		"I do not have access to " + missing + ". Please provide its contents so that I can " + job + ".", "To " + job + " I need " + missing +
			", which was not included in the prompt.",
		"I could not find " + missing + ". Could you share it? Then I can " + job + ".", "No file with " + missing +
			" is available to me, so I cannot " + job + " yet.",
	}
	tool, w := p.pick("Task", "delegate_work", "run_subagent"), wording{
		first: []string{"I give this to a subagent.", "Let me delegate this."},
		seen:  []string{"The subagent did not do it.", "It asks for the input.", "That answer does not help.", "The subagent misunderstood."},
		next: []string{
			"Let me instruct it more clearly.", "Let me delegate it again with a better prompt.", "I'll start another subagent.",
			"Let me put it in other words.",
		},
	}
	for k, prompt := range prompts[:p.between(5, 8)] {
		text := capitalized(fmt.Sprintf(prompt, job, missing))
		args := object("description", capitalized(job), "prompt", text, "subagent_type", p.pick("general-purpose", "researcher"))
		result := fmt.Sprintf("%s\n\n(%d tokens, %d tool calls, %ds)", p.pick(answers...), p.between(800, 9000), p.IntN(4), p.between(4, 60))
		entries = append(entries, call(tool, args, quoted(strings.TrimSpace(result))).after(w.of(p, k)))
	}
	return entries, 1
}
