package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of several agents that take turns.

func crewLookalikes() []kind {
	return []kind{
		{name: "patch_matures_in_review", build: patchMaturesInReview},
		{name: "subtasks_delegated_in_turn", build: subtasksDelegatedInTurn},
		{name: "chapters_pass_through_desk", build: chaptersPassThroughDesk},
	}
}

// patchMaturesInReview goes between a coder and a reviewer, whose remarks are met one by one.
func patchMaturesInReview(p *generator) (entries []entry, _ int) {
	coder, reviewer, name := p.pick("coder", "developer", "implementer"), p.pick("reviewer", "qa", "critic"), p.word()
	type point struct{ remark, line string }
	points := []point{
		{"close the file when parsing fails", "+    with open(path) as f:"},
		{
			"the retry has no upper limit",
			"+    for attempt in range(MAX_ATTEMPTS):",
		},
		{"use a parameter in the query", "+    rows = db.query(\"SELECT * FROM " + name +
			" WHERE id = %s\", (id,))"},
		{"the name of the function says nothing", "+def parse_" + name + "_header(path):"},
		{
			"add a test for the empty file",
			"+def test_empty_" + name + "():",
		},
		{"the cache needs a lock", "+    with self._lock:"},
		{"log the error with its cause", "+        log.exception(\"cannot read %s\", path)"},
		{
			"document the unit of the timeout",
			"+    # timeout is in seconds",
		},
	}
	p.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	points = points[:p.between(5, 7)]
	diff := "--- a/" + name + ".py\n+++ b/" + name + ".py"
	for k, point := range points {
		remark := fmt.Sprintf(p.pick("Open remarks: %d. First: %s.", "%d to go. Now: %s.", "Remarks left: %d. Please start here: %s."),
			len(points)-k, point.remark)
		diff += "\n" + point.line
		entries = append(
			entries, say(capitalized(remark)).by(reviewer), handoff(reviewer, coder),
			call("submit_patch", object("message", p.pick("Met: ", "Done: ", "Now: ")+point.remark, "diff", diff),
				quoted(fmt.Sprintf("Patch set %d uploaded (+%d).", k+2, k+1))).by(coder).
				after(thought{p.pick("", "A fair remark.", "Right.", "I see."), p.pick("Let me change that.", "I fix this one.", "Let me address it.",
					"I take this remark now.")}), handoff(coder, reviewer),
		)
	}
	return append(entries, say("All remarks are met. Approved.").by(reviewer)), 0
}

// subtasksDelegatedInTurn gives one part of a task after another to a worker, and gets its result.
func subtasksDelegatedInTurn(p *generator) (entries []entry, _ int) {
	boss, worker := p.pick("manager", "orchestrator", "planner"), p.pick("analyst", "worker", "researcher")
	region := p.shuffled("Bavaria", "Catalonia", "Flanders", "Galicia", "Lombardy", "Normandy", "Saxony", "Tyrol", "Wallonia")[:p.between(5,
		8)]
	what := p.pick("the number of charging stations", "the number of organic farms", "the nights spent by tourists in thousands",
		"the vacancies for nurses",
		"the number of cargo bikes")
	for k, name := range region {
		value, change := p.between(30, 90_000), p.between(-30, 60)
		entries = append(
			entries, say(fmt.Sprintf("Please find %s in %s. That is part %d of %d.", what, name, k+1, len(region))).by(boss), handoff(boss, worker),
			call("web_search", object("query", what+" "+name), object("answer", fmt.Sprintf("%s in %s: %d, %+d %% against the year before",
				capitalized(strings.TrimPrefix(what,
					"the ")), name, value, change), "source", "https://"+p.word()+".example/"+strings.ToLower(name))).by(worker).
				after(thought{"", p.pick("Let me look that up.", "I search for "+name+".", "Let me find the figure for "+name+".")}),
			say(fmt.Sprintf("%s: %d (%+d %%).%s", name, value, change, p.pick("", " The source is the regional office.",
				" The figure is preliminary."))).by(worker), handoff(worker, boss),
		)
	}
	return entries, 0
}

// chaptersPassThroughDesk has each chapter of a manual go from a translator to an editor and into the book.
func chaptersPassThroughDesk(p *generator) (entries []entry, _ int) {
	book := p.pick("manual", "guide", "handbook", "primer")
	chapters := p.shuffled("Unpacking", "First start", "Cleaning", "Storage", "Faults", "Spare parts", "Warranty", "Disposal",
		"Safety")[:p.between(5, 7)]
	words, done := 0, ""
	for k, title := range chapters {
		sentences := p.shuffled(
			"Keep the device away from water.", "Use only the parts in the box.", "Ask a specialist before you open the housing.",
			"Press the key for three seconds.",
			"The lamp turns green when it is done.", "Wait until the motor has stopped.", "Wear gloves.", "Note the number on the back.",
			"A dry cloth is enough.",
		)[:p.between(3, 6)]
		text := "# " + title + "\n\n" + strings.Join(sentences, " ") + p.pick(" See page ", " The table is on page ",
			" For pictures see page ") + fmt.Sprint(p.between(3, 90)) + "."
		n := len(strings.Fields(text))
		words += n
		file := fmt.Sprintf("%s/%02d.md", book, k+1)
		entries = append(
			entries, call("write_file", object("path", file, "content", text), quoted(fmt.Sprintf("Wrote %s (%d words).", file,
				n))).by("translator").
				after(p.nextItem(done, "\""+title+"\"")), handoff("translator", "editor"),
			call("read_file", object("path", file), quoted(text)).by("editor"),
			call("approve_chapter", object("path", file, "changes", p.IntN(9)), object("chapter", title, "approved", k+1, "of", len(chapters),
				"words_so_far", words)).by("editor"), handoff("editor", "translator"),
		)
		done = "\"" + title + "\""
	}
	return entries, 0
}
