package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that browse, fetch pages, operate a telephone and do research in a team. The agent
// says what is done and what comes next.

func onlineLookalikes() []kind {
	return []kind{
		{name: "scraper_extracts_more", build: scraperExtractsMore},
		{name: "filters_narrow_results", build: filtersNarrowResults},
		{name: "sources_read_in_turn", build: sourcesReadInTurn},
		{name: "notifications_turned_off", build: notificationsTurnedOff},
		{name: "researcher_reports_by_topic", build: researcherReportsByTopic},
	}
}

// scraperExtractsMore mends one selector of a scraper after the other; each run fills one more column.
func scraperExtractsMore(p *generator) (entries []entry, _ int) {
	h, columns, rows := p.harness(), p.distinct(p.between(3, 6)), p.between(12, 60)
	for k, column := range columns {
		var output strings.Builder
		fmt.Fprintf(&output, "Status: 200\nFound %d items", rows)
		for n, name := range columns {
			filled := 0
			if n <= k {
				filled = rows - p.IntN(2)
			}
			fmt.Fprintf(&output, "\n%s: %d of %d filled", name, filled, rows)
		}
		entries = append(entries,
			h.replace("scraper.py", "'"+column+"': None", "'"+column+"': card.select_one('."+column+"').get_text(strip=True)").after(thought{fmt.Sprintf("%d columns are filled.", k), "Let me add the selector for " + column + "."}),
			h.shell("python scraper.py", output.String(), 0).after(thought{next: "Now run it and see whether " + column + " is extracted."}))
	}
	return entries, 0
}

// filtersNarrowResults sets filter after filter of a shop; each leaves fewer results.
func filtersNarrowResults(p *generator) (entries []entry, _ int) {
	url, left, done := "https://"+p.word()+".example/search?q="+p.word(), p.between(400, 2000), ""
	for _, name := range p.distinct(p.between(4, 7)) {
		left = left*p.between(30, 80)/100 + 1
		url += "&" + name + "=1"
		entries = append(entries, call("browser_click", object("element", name+" checkbox", "ref", fmt.Sprintf("e%d", p.between(4, 60))), p.snapshot("await page.getByRole('checkbox', { name: '"+name+"' }).check();", url, "Search results", "heading \"Results\" [level=1] [ref]", fmt.Sprintf("text: %d results", left), "checkbox \""+name+"\" [checked] [ref]", fmt.Sprintf("link \"%s\" [ref]: $%d.99", p.phrase(2, 3), p.between(10, 400)))).after(p.nextItem(done, "the filter "+name)))
		done = fmt.Sprintf("the filter leaves %d results, so it", left)
	}
	return entries, 0
}

// sourcesReadInTurn fetches source after source of a question. Some refuse robots; the agent takes the next one.
func sourcesReadInTurn(p *generator) (entries []entry, _ int) {
	topic, seen := p.phrase(2, 3), ""
	for _, site := range p.distinct(p.between(4, 7)) {
		args := object("url", "https://www."+site+".example/"+strings.Join(p.words(3), "-"), "prompt", "What does the article say about "+topic+"?")
		t := thought{seen, p.pick("Let me read the article of "+site+".", "Next source: "+site+".", "Now the page of "+site+".")}
		if p.IntN(4) == 0 {
			entries = append(entries, failed("WebFetch", args, "Request failed with status code "+p.pick("403", "404", "429")).after(t))
			seen = "The page of " + site + " can't be fetched, so I leave it out."
			continue
		}
		entries = append(entries, call("WebFetch", args, quoted("The article of "+site+" says about "+topic+": "+p.phrase(15, 30)+". "+p.phrase(8, 20)+".")).after(t))
		seen = p.pick("That adds "+p.phrase(1, 2)+".", "Useful: "+p.phrase(2, 4)+".", "This source confirms the part about "+p.word()+".")
	}
	return entries, 0
}

// notificationsTurnedOff turns off the notifications of app after app of a telephone, on the same screens.
func notificationsTurnedOff(p *generator) (entries []entry, _ int) {
	done, apps := "", p.shuffled("Calendar", "Chrome", "Clock", "Gmail", "Maps", "Photos", "YouTube")
	screen := func(labels ...string) []byte {
		text := "UI element 0: UIElement(text='App notifications')"
		for k, label := range labels {
			text += fmt.Sprintf("\nUI element %d: UIElement(text='%s', is_clickable=True)", k+1, label)
		}
		return quoted(text)
	}
	for k, app := range apps[:p.between(3, 5)] {
		entries = append(entries,
			call("android_action", object("action_type", "click", "target", app), screen(app, "All "+app+" notifications: on")).after(p.nextItem(done, app)),
			call("android_action", object("action_type", "click", "target", "All "+app+" notifications"), screen(app, "All "+app+" notifications: off")).after(thought{"The switch of " + app + " is on.", "I turn it off."}),
			call("android_action", object("action_type", "navigate_back"), screen(append([]string{fmt.Sprintf("%d apps off", k+1)}, apps...)...)).after(thought{app + " is off now.", "Back to the list."}))
		done = app
	}
	return entries, 0
}

// researcherReportsByTopic has an analyst ask a researcher about topic after topic, and get a report of each.
func researcherReportsByTopic(p *generator) (entries []entry, _ int) {
	company := capitalized(p.word()) + " Inc"
	for _, topic := range p.distinct(p.between(3, 4)) {
		entries = append(entries,
			say("The next part is about "+topic+". Please find what "+company+" says about "+topic+".").by("analyst"),
			entry{Kind: "handoff", From: "analyst", To: "researcher"},
			p.search(company+" "+topic).by("researcher").after(thought{"The analyst needs the part about " + topic + ".", "Let me search for it."}),
			say("On "+topic+": "+p.phrase(8, 16)+". I hand this back for the report.").by("researcher"),
			entry{Kind: "handoff", From: "researcher", To: "analyst"})
	}
	return entries, 0
}
