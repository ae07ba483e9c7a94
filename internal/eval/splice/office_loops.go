package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that keep notes, plans, mail, calendars and sheets.

func officeLoops() []kind {
	return []kind{
		{name: "tickets_searched_again", build: ticketsSearchedAgain},
		{name: "notes_rewritten", build: notesRewritten},
		{name: "todos_rewritten", build: todosRewritten},
		{name: "facts_stored_again", build: factsStoredAgain},
		{name: "announced_without_call", build: announcedWithoutCall},
		{name: "sums_rearranged", build: sumsRearranged},
		{name: "message_bounces", build: messageBounces},
		{name: "chart_redrawn", build: chartRedrawn},
		{name: "same_slots_offered", build: sameSlotsOffered},
		{name: "formula_broken", build: formulaBroken},
		{name: "delegated_again", build: delegatedAgain},
	}
}

// ticketsSearchedAgain searches with other filters, and finds the same tickets in another order.
func ticketsSearchedAgain(p *generator) (entries []entry, _ int) {
	tickets := make([]string, 5)
	for k := range tickets {
		tickets[k] = fmt.Sprintf("%s-%d: %s (%s)", strings.ToUpper(p.word()[:3]), p.between(100, 999), p.phrase(4, 7), p.pick("open", "in progress"))
	}
	project := p.word()
	for range p.between(6, 9) {
		filter := "project = " + project + p.pick(" AND text ~ ", " AND summary ~ ", " AND labels = ", " OR description ~ ") + p.word() + p.pick("", " ORDER BY created", " ORDER BY updated DESC")
		entries = append(entries, call("jira_search", object("jql", filter), object("total", len(tickets), "issues", p.shuffled(slices.Clone(tickets)...))))
	}
	return entries, 1
}

// notesRewritten writes the same notes again, in another order.
func notesRewritten(p *generator) (entries []entry, _ int) {
	path, lines := p.path(), make([]string, 7)
	for k := range lines {
		lines[k] = "- " + p.phrase(5, 9)
	}
	for range p.between(5, 8) {
		text := "# Findings\n" + strings.Join(p.shuffled(slices.Clone(lines)...), "\n")
		entries = append(entries, call("write_file", object("path", path, "content", text), quoted(fmt.Sprintf("Successfully wrote %d bytes to %s", len(text), path))))
	}
	return entries, 1
}

// todosRewritten sets its list of tasks again and does none of them.
func todosRewritten(p *generator) (entries []entry, _ int) {
	tasks := make([]string, 6)
	for k := range tasks {
		tasks[k] = p.phrase(3, 6) + p.pick(" (pending)", " (in progress)")
	}
	for range p.between(5, 8) {
		entries = append(entries, call("TodoWrite", object("todos", p.shuffled(slices.Clone(tasks)...)), quoted("Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable")))
	}
	return entries, 1
}

// factsStoredAgain stores the same facts in other words.
func factsStoredAgain(p *generator) (entries []entry, _ int) {
	subject, object1, object2 := p.word(), p.phrase(2, 3), p.phrase(2, 3)
	for range p.between(5, 8) {
		facts := p.shuffled(p.pick("It uses ", "Uses ", "It works with ")+object1, p.pick("Depends on ", "It depends on ", "Needs ")+object2)
		entries = append(entries, call("memory_add_observations", object("entity", subject, "contents", facts), object("status", "ok", "entity", subject, "added", facts)))
	}
	return entries, 1
}

// announcedWithoutCall says what it will do, is told that it did not, and says so again.
func announcedWithoutCall(p *generator) (entries []entry, _ int) {
	topic := p.phrase(3, 5)
	for range p.between(5, 8) {
		entries = append(entries,
			say(p.pick("I will now run the ", "Now I am going to run the ", "Let me run the ")+topic+p.pick(" to see what it says.", " and look at its output.", ".")),
			entry{Kind: "message", Role: "user", Text: "No tool call was found in your response. Use exactly one tool call, or submit."})
	}
	return entries, 2
}

// sumsRearranged calculates one sum in other orders.
func sumsRearranged(p *generator) (entries []entry, _ int) {
	parts, result := make([]string, 5), p.between(100, 900)
	for k := range parts {
		parts[k] = fmt.Sprint(p.between(2, 99))
	}
	for range p.between(5, 8) {
		code := "print(" + strings.Join(p.shuffled(slices.Clone(parts)...), " + ") + ")"
		entries = append(entries, call("python", object("code", code), quoted(fmt.Sprint(result, "\n"))))
	}
	return entries, 1
}

// messageBounces sends mail to other addresses of one domain, which all bounce.
func messageBounces(p *generator) (entries []entry, _ int) {
	domain, text := p.word()+".example", p.phrase(6, 12)
	for range p.between(5, 8) {
		to := p.word() + "@" + domain
		var answer json.RawMessage = object("id", p.uuid(), "to", to, "state", "bounced", "diagnostic", "550 5.1.1 <"+to+">: Recipient address rejected: User unknown in virtual mailbox table")
		entries = append(entries, call("send_email", object("to", to, "subject", p.phrase(2, 3), "body", text), answer))
	}
	return entries, 1
}

// chartRedrawn draws the same numbers with other settings, and cannot see the picture.
func chartRedrawn(p *generator) (entries []entry, _ int) {
	frame, x, y := p.word(), p.word(), p.word()
	for range p.between(6, 9) {
		code := fmt.Sprintf("%s.plot(x='%s', y='%s', kind='%s', color='%s')\nplt.title('%s')\nplt.show()", frame, x, y, p.pick("line", "bar", "area"), p.pick("red", "navy", "green", "black"), p.phrase(1, 3))
		entries = append(entries, call("run_cell", object("code", code), quoted("<Figure size 640x480 with 1 Axes>")))
	}
	return entries, 1
}

// sameSlotsOffered asks for an appointment in other words, and is offered the same ones.
func sameSlotsOffered(p *generator) (entries []entry, _ int) {
	slots := make([]string, 3)
	for k := range slots {
		slots[k] = fmt.Sprintf("%s %d:%02d with Dr %s", p.pick("Monday", "Tuesday", "Thursday"), p.between(8, 16), 15*p.IntN(4), p.word())
	}
	for range p.between(5, 8) {
		wish := p.pick("earliest", "any time", "as soon as possible", "next free", "this week") + p.pick("", " for a check-up", " with any doctor", ", mornings preferred")
		entries = append(entries, call("find_appointments", object("wish", wish, "days_ahead", p.between(3, 30)), object("slots", p.shuffled(slices.Clone(slots)...))))
	}
	return entries, 1
}

// formulaBroken writes one cell in other ways, and reads that its formula is broken.
func formulaBroken(p *generator) (entries []entry, _ int) {
	sheet, cell := p.word(), fmt.Sprintf("%c%d", 'B'+rune(p.IntN(8)), p.between(2, 40))
	for range p.between(5, 8) {
		formula := p.pick("=VLOOKUP(", "=INDEX(", "=XLOOKUP(", "=SUMIF(", "=LOOKUP(") + p.word() + "!A:" + p.pick("C", "D", "F") + ", " + p.pick("2", "3", "A2") + ")"
		entries = append(entries, call("set_cell", object("sheet", sheet, "cell", cell, "formula", formula), object("cell", cell, "value", "#REF!")))
	}
	return entries, 1
}

// delegatedAgain hands the same task to a helper in other words, which reports the same.
func delegatedAgain(p *generator) (entries []entry, _ int) {
	topic, report := p.phrase(2, 3), p.page()
	for range p.between(4, 7) {
		prompt := p.pick("Find out all about ", "Please research ", "Look into ", "Do a deep search on ") + topic + p.pick(" and report back.", " and list what you find.", ", be thorough.", " with sources.")
		entries = append(entries, call("Task", object("description", "Research "+topic, "prompt", prompt), quoted(p.pick("Here is what I found:\n", "Summary of findings:\n", "I have finished the research.\n")+report)))
	}
	return entries, 1
}
