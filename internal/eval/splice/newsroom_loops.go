package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that gather figures and facts: data, browser and research agents, alone and in teams.

func newsroomLoops() []kind {
	return []kind{
		{name: "join_keys_of_other_types", build: joinKeysOfOtherTypes},
		{name: "supervisor_never_finishes", build: supervisorNeverFinishes},
		{name: "suggestion_replaces_entry", build: suggestionReplacesEntry},
		{name: "script_falls_back_to_samples", build: scriptFallsBackToSamples},
	}
}

// joinKeysOfOtherTypes rewrites a join whose keys have different types; casts and aliases are put everywhere but at the key.
func joinKeysOfOtherTypes(p *generator) (entries []entry, _ int) {
	d, words := p.database(), p.distinctWords(6)
	left, right, key, value, day := words[0]+"s", words[1]+"_"+words[2], words[0]+"_id", words[3], words[4]+"_at"
	reason := p.pick("operator does not exist: integer = character varying", "operator does not exist: bigint = text", "operator does not exist: uuid = character varying")
	queries := []string{
		"SELECT a." + key + ", SUM(b." + value + ") FROM " + left + " a JOIN " + right + " b ON a.id = b." + key + " GROUP BY 1",
		"SELECT a.id, SUM(b." + value + "::numeric) AS total FROM " + left + " a JOIN " + right + " b ON a.id = b." + key + " GROUP BY a.id ORDER BY total DESC LIMIT 20",
		"WITH t AS (SELECT " + key + ", SUM(" + value + ") AS total FROM " + right + " GROUP BY 1) SELECT a.*, t.total FROM " + left + " a JOIN t ON a.id = t." + key,
		"SELECT a.id, COUNT(*) FROM " + left + " a, " + right + " b WHERE a.id = b." + key + " GROUP BY a.id",
		"SELECT * FROM " + left + " WHERE id IN (SELECT " + key + " FROM " + right + " WHERE " + value + " > 0) LIMIT 100",
		"SELECT a.id, b." + value + " FROM " + left + " a LEFT JOIN " + right + " b ON b." + key + " = a.id WHERE b." + day + "::date >= '2026-01-01'",
		"SELECT a.id FROM " + left + " a WHERE EXISTS (SELECT 1 FROM " + right + " b WHERE b." + key + " = a.id AND CAST(b." + value + " AS numeric) > 0)",
		"SELECT a.id, AVG(COALESCE(b." + value + ", 0)) FROM " + left + " AS a INNER JOIN " + right + " AS b ON (a.id = b." + key + ") GROUP BY a.id",
		"SELECT CAST(a.id AS integer), SUM(b." + value + ") FROM " + left + " a JOIN " + right + " b ON a.id = b." + key + " WHERE a." + day + " IS NOT NULL GROUP BY 1",
	}
	w := wording{
		[]string{"Let me join the two tables.", "I'll sum up `" + value + "` by " + words[0] + "."},
		[]string{"The query fails.", "There is a problem with the types.", "The same kind of error.", "The operator does not exist.", "Hmm, it still complains.", ""},
		[]string{"Let me write the join in another way.", "I'll use a CTE.", "Let me add a cast.", "Perhaps a subquery works.", "Let me simplify the query.", "I'll reorder the join."},
	}
	last := ""
	for k := range p.attempts() {
		query := p.pick(queries...)
		for query == last {
			query = p.pick(queries...)
		}
		last = query
		eq, shown := strings.Index(query, "= "), query
		if at := strings.Index(query, "id IN ("); at > 0 {
			eq = at + len("id ")
		}
		from := max(0, eq-30)
		shown = "..." + query[from:min(len(query), eq+22)] + "..."
		entries = append(entries, d.refused(query, "UndefinedFunction", fmt.Sprintf("%s\nLINE 1: %s\n%s^\nHINT:  No operator matches the given name and argument types. You might need to add explicit type casts.", reason, shown, strings.Repeat(" ", 8+3+eq-from))).after(w.of(p, k)))
	}
	return entries, 1
}

// supervisorNeverFinishes sends a question to a specialist who answers it and hands back; the supervisor sends it again instead of finishing.
func supervisorNeverFinishes(p *generator) (entries []entry, _ int) {
	worker := p.pick("research_expert", "researcher", "web_researcher", "data_analyst")
	topic, place, year := p.pick("population", "number of visitors", "unemployment rate", "number of new flats", "budget"), p.pick("Graz", "Ghent", "Tartu", "Aveiro", "Bergen"), p.between(2015, 2025)
	figure, source := fmt.Sprintf("%d,%03d", p.between(2, 400), p.IntN(1000)), p.pick("the city's statistical office", "the annual report of the city", "the national statistics office")
	if topic == "unemployment rate" {
		figure = fmt.Sprintf("%d.%d %%", p.between(2, 12), p.IntN(10))
	}
	answers := []string{
		"The %s of %s in %d was %s, according to %s.", "I found the %s of %s for %d: %[4]s (source: %[5]s).", "According to %[5]s, the %[1]s of %[2]s in %[3]d was %[4]s.", "Result: %[2]s, %[1]s, %[3]d: %[4]s. Source: %[5]s.", "As stated before, the %s of %s in %d was %s. The source is %s.",
	}
	tasks := []string{"Find the %s of %s in %d.", "Please research the %s of %s for the year %d.", "Determine the %s of %s, %d, with a source.", "What was the %s of %s in %d?", "Look up the %s of %s in %d and report back."}
	w := wording{
		[]string{"I'll let the " + worker + " handle this."},
		[]string{"The answer has arrived.", "", "I have received a result."},
		[]string{"The " + worker + " should work on the question.", "Let me route this to the " + worker + ".", "Next: " + worker + ".", "I'll ask the " + worker + " for it."},
	}
	form := p.IntN(3)
	for k := range p.pickInt(3, 3, 4, 4, 5, 6) {
		task := fmt.Sprintf(p.pick(tasks...), topic, place, year)
		out, back := handoff("supervisor", worker), handoff(worker, "supervisor")
		switch form {
		case 0:
			out, back = call("transfer_to_"+worker, object(), quoted("Successfully transferred to "+worker)).by("supervisor"), call("transfer_back_to_supervisor", object(), quoted("Successfully transferred back to supervisor")).by(worker)
		case 1:
			out = call("transfer_to_"+worker, object("task_description", task), quoted("Successfully transferred to "+worker)).by("supervisor")
			back = call("transfer_back_to_supervisor", object(), quoted("Successfully transferred back to supervisor")).by(worker)
		}
		known := answers
		if k == 0 {
			known = answers[:len(answers)-1]
		}
		entries = append(entries, out.after(w.of(p, k)), say(fmt.Sprintf(p.pick(known...), topic, place, year, figure, source)).by(worker), back)
	}
	return entries, 3
}

// misread is a place, and the one that a field suggests first for it.
var misread = [][2]string{
	{"Bern", "Berlin, Germany"}, {"Frankfurt (Oder)", "Frankfurt am Main, Germany"}, {"Portland, ME", "Portland, OR, USA"}, {"Birmingham, AL", "Birmingham, United Kingdom"}, {"San José, Costa Rica", "San Jose, CA, USA"}, {"Córdoba, Spain", "Córdoba, Argentina"}, {"Valence", "Valencia, Spain"}, {"Newcastle, Australia", "Newcastle upon Tyne, United Kingdom"},
}

// suggestionReplacesEntry types a place into a field, which takes its first suggestion for it, another place.
func suggestionReplacesEntry(p *generator) (entries []entry, _ int) {
	v := p.visitor(p.pick("fares", "bus", "rail", "stays"))
	place := misread[p.IntN(len(misread))]
	field, from := p.pick("To", "Destination", "Going to", "Where to?"), p.pick("Zürich, Switzerland", "Lyon, France", "Denver, CO, USA")
	short, _, _ := strings.Cut(place[0], " (")
	short, _, _ = strings.Cut(short, ",")
	ways := []string{place[0], short, place[0], short + " ", strings.ToLower(short), strings.ToUpper(short), place[0] + " Central", short + " station"}
	page := func(value string, alone bool) sight {
		at := sight{"/search", "Search trips", []string{`textbox "From": ` + from, `textbox "` + field + `"`, `textbox "Date": ` + "18 June", `button "Search"`}}
		if value != "" {
			at.elements[1] += ": " + value
			at.elements = append(at.elements, `button "Clear `+field+`"`)
		}
		if !alone {
			at.elements = append(at.elements, `text "Top result: `+value+`"`)
		}
		return at
	}
	w := wording{
		[]string{"Let me enter the destination.", "I'll type the place into the field."},
		[]string{"It shows " + place[1] + ".", "The field has the wrong place.", "That is not the place that I typed.", "The site chose another place.", ""},
		[]string{"Let me type it again.", "I'll enter the full name.", "Let me correct the field.", "I'll fill the field once more.", "Let me try another spelling."},
	}
	entries = append(entries, v.open(page("", true)).after(thought{"", p.pick("Let me open the search.", "I'll start at the search form.")}))
	for k := range p.attempts() - 1 {
		text := ways[0]
		if k > 0 {
			text = p.pick(ways...)
		}
		entries = append(entries, v.act(`textbox "`+field+`"`, text, page(place[1], p.coin())).after(w.of(p, k)))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, v.act(`button "Clear `+field+`"`, "", page("", true)).after(thought{"", p.pick("Let me clear the field first.", "I'll empty the field.")}))
		}
	}
	return entries, 2
}

// scriptFallsBackToSamples writes script after script that should read a service; each makes up rows when the service refuses, and the real ones are never read.
func scriptFallsBackToSamples(p *generator) (entries []entry, _ int) {
	h, thing := p.patient(), p.word()
	host := "https://api." + p.word() + ".example/v1/" + thing + "s"
	status := p.pick("401 Client Error: Unauthorized", "403 Client Error: Forbidden")
	refusal := status + " for url: " + host
	forms := [][2]string{ // what a script prints when it falls back, in the program and in its output
		{"print(f'Warning: {e}')\n        print('Using sample data instead')", "Warning: " + refusal + "\nUsing sample data instead"},
		{"print(f'Could not fetch " + thing + "s ({e}), falling back to sample data')", "Could not fetch " + thing + "s (" + refusal + "), falling back to sample data"},
		{"print(f'API error: {e} - using synthetic data')", "API error: " + refusal + " - using synthetic data"},
	}
	stems := p.shuffled("fetch_"+thing, "fetch_"+thing+"_v2", "simple_fetch", "robust_fetch", "get_"+thing+"s", "final_fetch", "collect", "report", "pipeline", "build_report")
	reuse := p.coin()
	w := wording{
		[]string{"Let me write a script that reads the " + thing + "s and sums them up.", "I'll fetch the data of the " + thing + "s."},
		[]string{"It ran, with sample data.", "The service did not answer as expected.", "The script works, apart from the data.", "These are not the real figures yet.", ""},
		[]string{"Let me write a more robust version.", "I'll simplify the script.", "Let me restructure it.", "Let me handle the error better.", "I'll write a new version that reads the service first.", "Let me improve the fallback."},
	}
	for k := range p.passes() {
		file := stems[k] + ".py"
		if reuse {
			file = stems[0] + ".py"
		}
		samples, sum, form, out := "", 0, forms[p.IntN(len(forms))], p.pick("report", "out", thing+"s")+".csv"
		names := p.distinctWords(p.between(3, 6))
		for _, name := range names {
			value := p.between(10, 900)
			sum += value
			samples += fmt.Sprintf("    {%q: %q, \"value\": %d},\n", thing, name, value)
		}
		label := p.pick("Rows", "Loaded rows", "Records")
		code := "import csv\nimport requests\n\nSAMPLE = [\n" + samples + "]\n\ndef load():\n    try:\n        r = requests.get('" + host + "'" + p.pick("", ", timeout=10", ", timeout=30", ", params={'limit': 1000}", ", headers={'Accept': 'application/json'}") + ")\n        r.raise_for_status()\n        return r.json()" + p.pick("", "['items']", "['data']") + "\n    except Exception as e:\n        " + form[0] + "\n        return SAMPLE\n\nrows = load()\nprint('" + label + ":', len(rows))\nprint('Total:', sum(r['value'] for r in rows))\nwith open('" + out + "', 'w') as f:\n    csv.DictWriter(f, rows[0].keys()).writerows(rows)\nprint('Wrote " + out + "')\n"
		output := fmt.Sprintf("%s\n%s: %d\nTotal: %d\nWrote %s", form[1], label, len(names), sum, out)
		entries = append(entries, h.create(file, code).after(w.of(p, k)), h.shell("python "+file, output, 0).after(thought{"", p.pick("Run it.", "Let me run the script.", "Does it read the real data now?", "")}))
	}
	return entries, 2
}
