package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of several agents that work for one another.

func roundtableLoops() []kind {
	return []kind{
		{name: "agreement_restated", build: agreementRestated},
		{name: "surfer_returns_to_same_page", build: surferReturnsToSamePage},
	}
}

// agreementRestated has three agents in a group agree with each other and repeat the points that are agreed; none does anything.
func agreementRestated(p *generator) (entries []entry, _ int) {
	matters := [][3]string{
		{"start the campaign in two cities", "keep the budget at 40,000", "measure by sign-ups"},
		{"move the warehouse in October", "keep the old lease for one month", "tell the carriers early"},
		{"publish the report in three parts", "lead with the regional figures", "leave the method for the appendix"},
	}
	points := matters[p.IntN(len(matters))]
	agents := p.shuffled("Product_Manager", "Strategist", "Analyst", "Marketing_Lead")[:3]
	leads := []string{
		"Great summary! I fully agree.", "Exactly. I think we are aligned.", "I agree with everything that was said.", "Well put, %s.", "Yes, %s, this is the right way.",
		"Absolutely. I have nothing to add to the plan itself.", "Thank you, %s. That matches my view.", "I second that.",
	}
	joins := []string{
		"To summarize: we %s, %s, and %s.", "So the plan is to %s, to %s, and to %s.", "In short, we %s, we %s, and we %s.",
		"Our key points are:\n1. %s\n2. %s\n3. %s\n", "As discussed, we will %s. We will also %s, and %s.",
	}
	endings := []string{"", " Let's move forward with this.", " I look forward to the next steps.", " Are we all on the same page?", " Who would like to take this on?", " Shall we proceed?"}
	for turn := range 3 * p.between(3, 4) {
		lead := p.pick(leads...)
		if strings.Contains(lead, "%s") {
			lead = fmt.Sprintf(lead, agents[(turn+2)%3])
		}
		if turn == 0 {
			lead = "I have put together what we said."
		}
		order := p.Perm(3)
		text := lead + " " + fmt.Sprintf(p.pick(joins...), points[order[0]], points[order[1]], points[order[2]]) + p.pick(endings...)
		entries = append(entries, say(strings.TrimSpace(strings.ReplaceAll(text, "\n ", "\n\n"))).by(agents[turn%3]))
	}
	return entries, 3
}

// surferReturnsToSamePage has an orchestrator send a surfer to a page in other words; the surfer ends at the top of the same list each time.
func surferReturnsToSamePage(p *generator) (entries []entry, _ int) {
	site, topic := p.word()+"-directory.example", p.pick("yoga studios", "chess clubs", "bike workshops", "language schools")
	names := []string{capitalized(p.word()) + " House", capitalized(p.word()) + " Centre", "The " + capitalized(p.word())}
	title := capitalized(topic) + " near you"
	page := "Here is a screenshot of [" + title + "](https://" + site + "/list). The viewport shows 14% of the webpage, and is positioned at the top of the page.\nAutomatic OCR of the page screenshot has detected the following text:\n\n" +
		title + "\nSponsored\n" + strings.Join(names, "\nDetails\n") + "\nDetails\nAll ratings   Distance   Open now\nSign in to see opening hours"
	instructions := []string{
		"Please visit the pages of the " + topic + " and note their opening hours.", "Please click on the details of each of the " + topic + " to find the opening hours.",
		"Return to the list of " + topic + " and collect the opening hours of each entry.", "Please open '" + names[0] + "' and tell us when it is open in the evening.",
		"Please focus on gathering the opening hours of the " + topic + ".", "Please look up when the listed " + topic + " are open.",
	}
	for round := range p.between(4, 6) {
		action := p.pick("I clicked 'Details'.", "I clicked '"+names[p.IntN(3)]+"'.", "I clicked the browser back button.", "I clicked the control.")
		if round == 0 {
			action = "I typed '" + topic + "' into the browser search bar."
		}
		entries = append(entries,
			say(instructions[(round*5)%len(instructions)]).by("Orchestrator"),
			entry{Kind: "handoff", From: "Orchestrator", To: "WebSurfer"},
			say(action+"\n\n"+page).by("WebSurfer"))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, say("Next speaker WebSurfer").by("Orchestrator"))
		}
	}
	return entries, 3
}
