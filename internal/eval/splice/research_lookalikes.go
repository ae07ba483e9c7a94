package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that do research, alone or with others.

func researchLookalikes() []kind {
	return []kind{
		{name: "tasks_claimed_in_turn", build: tasksClaimedInTurn},
		{name: "specialists_consulted", build: specialistsConsulted},
		{name: "figures_cross_checked", build: figuresCrossChecked},
		{name: "claims_get_sources", build: claimsGetSources},
	}
}

// tasksClaimedInTurn has two workers who take task after task of one board; now and then both want the same one.
func tasksClaimedInTurn(p *generator) (entries []entry, _ int) {
	workers, number, clock := []string{"researcher-1", "researcher-2"}, p.between(10, 400), p.passingTime()
	for k, topic := range p.topics()[:p.between(4, 6)] {
		task, title := fmt.Sprintf("T-%d", number+k), "Summarise the sources on "+topic
		a, b := workers[k%2], workers[1-k%2]
		entries = append(entries, call("claim_task", object("task_id", task, "worker", a), object("ok", true, "task_id", task, "title", title, "status", "claimed", "claimed_by", a, "lease_until", clock())).by(a).after(thought{next: p.pick("I'll take "+task+".", task+" is open, so I claim it.", "Next on the board is "+task+".")}))
		if p.IntN(3) == 0 {
			entries = append(entries, call("claim_task", object("task_id", task, "worker", b), object("ok", false, "error", "already_claimed", "task_id", task, "claimed_by", a, "waiting", []string{})).by(b).after(thought{next: "I'll work on " + task + "."}))
		}
		entries = append(entries, call("complete_task", object("task_id", task, "worker", a, "summary", capitalized(p.phrase(12, 20))+"."), object("ok", true, "task_id", task, "status", "done", "progress", "100%", "completed_at", clock())).by(a).after(thought{p.pick("The sources are read.", "The summary is written.", ""), p.pick("I'll hand in the result.", task+" is done.", "Completing it.")}))
	}
	return entries, 0
}

// specialistsConsulted has a coordinator hand one question after the other to a specialist, who answers and hands back.
func specialistsConsulted(p *generator) (entries []entry, _ int) {
	questions := [][3]string{
		{"tax-advisor", "Does the sale count as income in the year of the contract?", "No. It counts in the year of the payment, here 2026."},
		{"legal-counsel", "May the customer list be handed over with the company?", "Only with a notice to the customers and a right to object within 30 days."},
		{"hr-advisor", "What happens to the four apprentices?", "Their contracts pass to the buyer unchanged. The chamber has to be informed."},
		{"it-auditor", "Are the systems documented well enough for a handover?", "The ERP is. The warehouse scripts aren't, and one person knows them."},
		{"valuation-expert", "Is the price of 2.4 million plausible?", "Yes. By the multiples of the branch it is between 2.1 and 2.6 million."},
		{"insurance-broker", "Which policies end with the sale?", "The liability policy ends. The fleet can be transferred."},
	}
	p.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	for k, q := range questions[:p.between(4, 6)] {
		lead := p.pick("Next question: ", "I also need this: ", "Then: ", "Please look at this: ")
		if k == 0 {
			lead = "I'll ask the specialists one by one. "
		}
		entries = append(entries,
			say(lead+q[1]).by("coordinator"), entry{Kind: "handoff", From: "coordinator", To: q[0]},
			say(q[2]).by(q[0]), entry{Kind: "handoff", From: q[0], To: "coordinator"})
	}
	return entries, 0
}

// figuresCrossChecked reads the figure of country after country in two sources; most agree.
func figuresCrossChecked(p *generator) (entries []entry, _ int) {
	tool, done, year := p.pick("fetch", "WebFetch", "browse_page"), "", p.between(2019, 2024)
	for _, country := range p.shuffled("Laos", "Moldova", "Togo", "Bolivia", "Ghana", "Nepal", "Peru", "Samoa")[:p.between(3, 5)] {
		figure := p.between(280, 990)
		other := figure
		if p.IntN(4) == 0 {
			other += p.between(3, 30)
		}
		slug := strings.ToLower(country)
		entries = append(entries,
			call(tool, object("url", "https://data.worldbank.example/country/"+slug), quoted(fmt.Sprintf("# %s\n\n## Energy\n\nAccess to electricity reached %d.%d %% of the rural population in %d, up from the year before. The figure is based on household surveys and is revised once a year.\n\n## Water\n\nSee the separate table.", country, figure/10, figure%10, year))).after(p.nextItem(done, "the figure of "+country)),
			call(tool, object("url", "https://stats.unesco.example/profile/"+slug), quoted(fmt.Sprintf("%s - country profile\n\nElectrification, rural (%d): %d.%d %% of the population\nSource: national utility, grid connections\nMethod: connections per household\nNext update: next spring", country, year, other/10, other%10))).after(thought{fmt.Sprintf("%d.%d %% in the first source.", figure/10, figure%10), p.pick("And the second?", "Let me cross-check it.", "Compare it with the other source.")}))
		done = country
	}
	return entries, 0
}

// claimsGetSources has the claims of a report checked; each time one more has a source, until all have.
func claimsGetSources(p *generator) (entries []entry, _ int) {
	missing := p.distinct(p.between(3, 5))
	claims, said := len(missing)+p.between(1, 4), thought{next: "The draft is finished. Let me check its citations."}
	for k, name := range missing {
		flagged := make([]string, 0, len(missing))
		for _, left := range missing[k:] {
			flagged = append(flagged, "figure about the "+left+": no source")
		}
		source := fmt.Sprintf("https://%s.example/%s-%d", p.word(), name, p.between(2019, 2026))
		entries = append(entries,
			call("check_citations", object("path", "report.md"), object("ok", false, "claims", claims, "supported", claims-len(flagged), "unsupported", flagged, "check_id", p.uuid())).after(said),
			call("search_notes", object("query", name+" "+p.word()), object("notes", []string{capitalized(p.phrase(6, 10)) + ". Source: " + source})).after(thought{"The figure about the " + name + " has no source.", p.pick("I noted one. Let me find it.", "Let me look into my notes.", "Where did I read it?")}),
			call("add_citation", object("path", "report.md", "claim", "figure about the "+name, "url", source), object("ok", true, "path", "report.md", "footnote", k+1)).after(thought{"Here it is.", "I'll add the source."}))
		said = thought{fmt.Sprintf("%d to go.", len(missing)-k-1), p.pick("Check again.", "What is left?", "Run the check again.")}
	}
	return append(entries, call("check_citations", object("path", "report.md"), object("ok", true, "claims", claims, "supported", claims, "unsupported", []string{}, "check_id", p.uuid())).after(thought{"That was the last one.", "One more check."})), 0
}
