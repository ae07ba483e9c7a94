package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that gather figures and facts, alone and in teams.

func newsroomLookalikes() []kind {
	return []kind{
		{name: "feeds_connected_in_turn", build: feedsConnectedInTurn},
		{name: "supervisor_assigns_each_section", build: supervisorAssignsEachSection},
		{name: "stops_entered_by_suggestion", build: stopsEnteredBySuggestion},
		{name: "quotes_checked_in_transcripts", build: quotesCheckedInTranscripts},
	}
}

// feedsConnectedInTurn replaces the sample rows of feed after feed by real ones; the script counts one more live feed each time.
func feedsConnectedInTurn(p *generator) (entries []entry, _ int) {
	h, names, rows := p.patient(), p.distinctWords(p.between(4, 7)), map[string]int{}
	for _, name := range names {
		rows[name] = 3
	}
	last := ""
	for k, name := range names {
		entries = append(entries, h.replace("feeds.yaml", "  "+name+":\n    source: sample", "  "+name+":\n    source: https://"+p.word()+".example/"+name+p.pick(".csv", ".json", "/latest")).after(p.nextItem(last, "the feed `"+name+"`")))
		rows[name] = p.between(40, 9000)
		output, total := "", 0
		for n, other := range names {
			kind := "sample"
			if n <= k {
				kind = "live"
			}
			output += fmt.Sprintf("%-12s %-7s %6d rows\n", other, kind, rows[other])
			total += rows[other]
		}
		entries = append(entries, h.shell("python ingest.py", fmt.Sprintf("%s%d of %d feeds live, %d rows", output, k+1, len(names), total), 0).after(thought{"", p.pick("Run it.", "Does it read real rows now?", "Let me see whether it is live.", "")}))
		last = "`" + name + "`"
	}
	return entries, 0
}

// supervisorAssignsEachSection sends a writer section after section of a report; each comes back written, and the next one follows.
func supervisorAssignsEachSection(p *generator) (entries []entry, _ int) {
	worker, tools := p.pick("writer", "section_writer", "report_writer"), p.coin()
	place, last := p.pick("Graz", "Ghent", "Tartu", "Aveiro", "Bergen"), ""
	sections := p.shuffled("Summary", "Population", "Housing", "Transport", "Budget", "Schools", "Climate", "Tourism", "Health")[:p.between(3, 5)]
	for _, section := range sections {
		low := strings.ToLower(section)
		text := "## " + section + "\n\n" + p.pick("This section is about the "+low+" of "+place+".", "The "+low+" of "+place+" has changed since "+fmt.Sprint(p.between(2005, 2020))+".") + fmt.Sprintf(" The %s rose by %d.%d %% between %d and %d, mostly because of the %s.", p.word(), p.between(1, 30), p.IntN(10), p.between(2008, 2014), p.between(2015, 2025), p.phrase(2, 3))
		out, back := handoff("supervisor", worker), handoff(worker, "supervisor")
		if tools {
			out = call("transfer_to_"+worker, object("task_description", "Write the section \""+section+"\" of the report on "+place+"."), quoted("Successfully transferred to "+worker)).by("supervisor")
			back = call("transfer_back_to_supervisor", object("section", section), quoted("Successfully transferred back to supervisor")).by(worker)
		}
		entries = append(entries, out.after(p.nextItem(last, "the section on "+low)), say(text).by(worker), back)
		last = "the section on " + low
	}
	return entries, 0
}

// stopsEnteredBySuggestion enters stop after stop of a tour: each is typed and the right suggestion chosen, and the tour gets longer.
func stopsEnteredBySuggestion(p *generator) (entries []entry, _ int) {
	v, length := p.visitor("routes"), 0
	stops := p.shuffled("Basel", "Colmar", "Freiburg", "Zürich", "Chur", "Como", "Bergamo", "Verona", "Trento", "Innsbruck", "Salzburg", "Linz")[:p.between(4, 6)]
	var chosen []string
	page := func(value string, suggestions []string) sight {
		at := sight{"/plan", "Plan a tour", []string{strings.TrimSuffix(`textbox "Add a stop": `+value, ": ")}}
		for _, s := range suggestions {
			at.elements = append(at.elements, `button "`+s+`"`)
		}
		for k, stop := range chosen {
			at.elements = append(at.elements, fmt.Sprintf(`text "%d. %s"`, k+1, stop))
		}
		at.elements = append(at.elements, fmt.Sprintf(`text "%s, %d km"`, plural(len(chosen), "stop"), length))
		return at
	}
	entries = append(entries, v.open(page("", nil)).after(thought{"", p.pick("Let me open the planner.", "I'll start with an empty tour.")}))
	last := ""
	for _, stop := range stops {
		right := stop + p.pick(", main station", ", old town", ", centre")
		suggestions := p.shuffled(right, stop+", airport", stop+p.word())
		entries = append(entries, v.act(`textbox "Add a stop"`, stop, page(stop, suggestions)).after(p.nextItem(last, stop)))
		chosen = append(chosen, right)
		if len(chosen) > 1 {
			length += p.between(40, 190)
		}
		entries = append(entries, v.act(`button "`+right+`"`, "", page("", nil)).after(thought{"", p.pick("The suggestions are there. I take "+right+".", "Let me choose "+right+".", "")}))
		last = stop
	}
	return entries, 0
}

// quotesCheckedInTranscripts looks up quote after quote of an article in the transcript of who said it; some are there in other words.
func quotesCheckedInTranscripts(p *generator) (entries []entry, _ int) {
	run, last := p.patientShell(), ""
	for range p.between(5, 7) {
		name, words := p.person(), p.distinctWords(6)
		file := "transcripts/" + strings.ToLower(name) + p.pick("_1.txt", "_2.txt", ".txt")
		quote := fmt.Sprintf("%s %s the %s", words[0], p.pick("is not", "was never", "will be"), words[1])
		hit := fmt.Sprintf("%d:[00:%02d:%02d] %s: %s, and I think the %s %s of the %s.", p.between(20, 900), p.IntN(60), p.IntN(60), strings.ToUpper(name[:1])+".", capitalized(quote), words[2], p.pick("is a part", "is the end", "shows the cost"), words[3])
		t := p.nextItem(last, "the quote of "+name)
		last = "the quote of " + name
		if p.IntN(3) > 0 {
			entries = append(entries, run("grep -n -i '"+quote+"' "+file, hit, 0).after(t))
			continue
		}
		entries = append(entries, run("grep -n -i '"+quote+"' "+file, "", 1).after(t),
			run("grep -n -i '"+words[0]+".*"+words[1]+"' "+file, strings.Replace(hit, " the "+words[1], " the whole "+words[1], 1), 0).after(thought{p.pick("Not in these words.", "No literal hit."), p.pick("Let me look for the two nouns.", "Perhaps it was said a little differently.")}))
	}
	return entries, 0
}
