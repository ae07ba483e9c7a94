package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that do research, alone or with others.

func researchLoops() []kind {
	return []kind{
		{name: "task_claimed_and_released", build: taskClaimedAndReleased},
		{name: "delegation_never_ends", build: delegationNeverEnds},
		{name: "two_figures_weighed_again", build: twoFiguresWeighedAgain},
		{name: "claims_stay_unsupported", build: claimsStayUnsupported},
	}
}

// taskClaimedAndReleased has two workers who want one task: each claims it, finds that the other one has wanted it, and releases it.
func taskClaimedAndReleased(p *generator) (entries []entry, _ int) {
	task, title, clock := fmt.Sprintf("T-%d", p.between(10, 400)), "Summarise the sources on "+p.topics()[0], p.passingTime()
	workers := p.shuffled("researcher-1", "researcher-2")
	held := []string{"The other one asked for it first.", "I don't want to do it twice.", "There is another claim on it.", "It seems that the other worker is on it.", "To avoid a conflict:"}
	for round := range p.between(4, 6) {
		a, b := workers[round%2], workers[1-round%2]
		entries = append(entries,
			call("claim_task", object("task_id", task, "worker", a), object("ok", true, "task_id", task, "title", title, "status", "claimed", "claimed_by", a, "lease_until", clock())).by(a).after(thought{next: p.pick("I'll take "+task+".", task+" is free, so I claim it.", "Let me claim the task.", "It is open. I'll do it.")}),
			call("claim_task", object("task_id", task, "worker", b), object("ok", false, "error", "already_claimed", "task_id", task, "claimed_by", a, "waiting", []string{b})).by(b).after(thought{next: p.pick("I'll work on "+task+".", "Let me take "+task+" next.", "I'll claim the summary.", "Claiming "+task+".")}),
			call("release_task", object("task_id", task, "worker", a, "reason", p.pick("another worker is waiting", "conflict", "requested by "+b, "leave it to "+b)), object("ok", true, "task_id", task, "status", "open", "progress", "0%", "released_at", clock())).by(a).after(thought{p.pick(held...), p.pick("I'll release it to "+b+".", "Let me give it back.", "I release "+task+".")}))
	}
	return entries, 3
}

// topics returns subjects of research, in any order.
func (p *generator) topics() []string {
	return p.shuffled("heat pumps in old buildings", "passkeys", "warehouse robots", "electronic prescriptions", "sodium-ion batteries", "night trains", "satellite internet on ships", "synthetic test data", "vertical farming", "carbon border tariffs")
}

// delegationNeverEnds has each agent pass the whole task on to another one; none does anything else.
func delegationNeverEnds(p *generator) (entries []entry, _ int) {
	topic := p.topics()[0]
	names := append([]string{"orchestrator"}, p.shuffled("research-lead", "task-planner", "analysis-manager", "domain-coordinator", "workstream-owner", "project-supervisor", "senior-analyst", "query-router", "report-manager")...)
	reasons := []string{
		"This needs a closer look at %s. I'm passing it to the %s, who is best placed to handle it.", "The request is about %s. I'll delegate it to the %s.",
		"To answer this, somebody should study %s. Handing over to the %s with all details.", "My part is to assign the work. The %[2]s will take over the question of %[1]s.",
		"I have broken the task down: study %s, then report. The %s will carry it out.", "A task on %s like this is best done by the %s. Please find out what the user asked for and report back.",
	}
	for round := range p.between(5, 8) {
		from, to := names[round], names[round+1]
		entries = append(entries,
			say(fmt.Sprintf(p.pick(reasons...), topic, strings.ReplaceAll(to, "-", " "))).by(from),
			entry{Kind: "handoff", From: from, To: to})
	}
	return entries, 2
}

// twoFiguresWeighedAgain reads two sources in turn that give two figures for one thing, in other forms of their pages, and decides nothing.
func twoFiguresWeighedAgain(p *generator) (entries []entry, _ int) {
	country, year, tool := p.pick("Laos", "Moldova", "Togo", "Bolivia"), p.between(2019, 2024), p.pick("fetch", "WebFetch", "browse_page")
	hosts := p.shuffled("https://data.worldbank.example/country/", "https://stats.unesco.example/profile/", "https://www.factbook.example/")[:2]
	low := p.between(280, 700)
	figures := []string{fmt.Sprintf("%d.%d", low/10, low%10), fmt.Sprintf("%d.%d", low/10+2, low%10)}
	passages := []string{
		"# %s\n\n## Energy\n\nAccess to electricity reached %s %% of the rural population in %d, up from the year before. The figure is based on household surveys and is revised once a year.\n\n## Water\n\nSee the separate table.",
		"%[1]s - country profile\n\nElectrification, rural (%[3]d): %[2]s %% of the population\nSource: national utility, grid connections\nMethod: connections per household\nNext update: next spring",
	}
	words := wording{
		first: []string{"Two sources give this figure. Let me read the first.", "Let me look the figure up."},
		seen:  []string{"The two figures differ.", figures[0] + " and " + figures[1] + " can't both be right.", "They still disagree.", "I want to be sure which one is right.", "Hmm, " + figures[0] + " here and " + figures[1] + " there."},
		next:  []string{"Let me check the first source again.", "Let me verify once more.", "I'll read it again, carefully.", "Let me go back to the first one.", "Let me compare them again."},
	}
	for round := range p.between(3, 5) {
		for k, host := range hosts {
			url := host + strings.ToLower(country) + p.pick("", "#energy", "?print=1", "?lang=en", "/", "?view=full")
			said := words.of(p, round)
			if k == 1 {
				said = thought{p.pick("It says "+figures[0]+" %.", figures[0]+" % here.", ""), p.pick("And the other source?", "Now the second source.", "Let me compare it with the other one.", "What does the other page say?")}
			}
			entries = append(entries, call(tool, object("url", url), quoted(fmt.Sprintf(passages[k], country, figures[k], year))).after(said))
		}
	}
	return entries, 2
}

// claimsStayUnsupported writes a report again and has its claims checked; the same claims lack a source, since none was looked for.
func claimsStayUnsupported(p *generator) (entries []entry, _ int) {
	topic, share := p.topics()[0], p.between(20, 80)
	openings := []string{"The market for %s has changed a lot in recent years.", "In recent years, much has happened around %s.", "This report is about %s and where it is heading.", "The field of %s is at a turning point.", "Interest in %s keeps growing."}
	claims := [][]string{
		{"About %d %% of all companies use it.", "Adoption stands at %d %%.", "It is in use at %d %% of companies.", "Studies put its adoption at %d %%."},
		{"Costs have fallen by half since 2020.", "Since 2020, it has become half as expensive.", "Compared with 2020, prices are down by 50 percent."},
		{"Analysts expect further growth.", "Experts predict that the growth will go on.", "Forecasts point upwards."},
	}
	words := wording{
		first: []string{"I'll write the report.", "Now I have the outline. Let me write the text."},
		seen:  []string{"Three claims have no source.", "The checker still finds three unsupported claims.", "The same three claims are flagged.", "It is not satisfied with the sources."},
		next:  []string{"Let me phrase them more carefully.", "I'll rewrite these paragraphs.", "Let me reword the claims.", "Let me revise the report.", "I'll make the wording more cautious."},
	}
	for round := range p.between(3, 6) {
		opening, adoption := capitalized(fmt.Sprintf(p.pick(openings...), topic)), fmt.Sprintf(p.pick(claims[0]...), share)
		text := "# " + capitalized(topic) + "\n\n" + opening + " " + adoption + "\n\n" + p.pick(claims[1]...) + " " + p.pick("This matters for buyers.", "Buyers will notice.", "That is good news for users.") + "\n\n" + p.pick(claims[2]...)
		result := object("ok", false, "claims", 3, "supported", 0, "unsupported", []string{"share of companies that use it: no source", "fall of costs since 2020: no source", "expected growth: no source"}, "hint", "Add a source of the collected notes to each claim.", "check_id", p.uuid())
		entries = append(entries,
			call("write_report", object("path", "report.md", "content", text), object("ok", true, "path", "report.md", "words", len(strings.Fields(text)))).after(words.of(p, round)),
			call("check_citations", object("path", "report.md"), result).after(thought{p.pick("", "The text is saved."), p.pick("Let me check the citations.", "Does it pass the check?", "Now the citation check.", "Checking again.")}))
	}
	return entries, 2
}
