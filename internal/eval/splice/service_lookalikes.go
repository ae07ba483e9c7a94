package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work with browsers, databases, ticket systems, and in talk with people.

func serviceLookalikes() []kind {
	return []kind{
		{name: "fill_form", build: fillForm},
		{name: "cursor_pages", build: cursorPages},
		{name: "many_tickets", build: manyTickets},
		{name: "user_asks_again", build: userAsksAgain},
		{name: "sums", build: sums},
		{name: "plan_gets_on", build: planGetsOn},
		{name: "many_tables", build: manyTables},
		{name: "migrations", build: migrations},
		{name: "scroll_down", build: scrollDown},
		{name: "back_off", build: backOff},
		{name: "scheduled_check", build: scheduledCheck},
		{name: "moves", build: moves},
		{name: "reports_of_steps", build: reportsOfSteps},
		{name: "many_texts", build: manyTexts},
	}
}

// migrations change table after table.
func migrations(p *generator) (entries []entry, _ int) {
	for range p.between(6, 9) {
		entries = append(entries, call("execute_sql", object("query", "ALTER TABLE "+p.word()+" ADD COLUMN "+p.word()+"_"+p.word()+" text"), quoted("ALTER TABLE")))
	}
	return entries, 0
}

// manyTables describes table after table; some are empty.
func manyTables(p *generator) (entries []entry, _ int) {
	for range p.between(5, 8) {
		table := p.word() + "_" + p.word()
		entries = append(entries, call("query_database", object("query", "SELECT count(*) FROM "+table), object("rows", []string{fmt.Sprint(p.between(0, 90000))})))
	}
	return entries, 0
}

// fillForm types into field after field.
func fillForm(p *generator) (entries []entry, _ int) {
	for _, field := range p.shuffled("first name", "last name", "street", "city", "postcode", "country", "phone", "company")[:p.between(5, 8)] {
		entries = append(entries, call("browser_type", object("element", field, "text", p.phrase(1, 2)), quoted("Typed into "+field+".")))
	}
	return entries, 0
}

// scrollDown shows the rest of a page, screen by screen.
func scrollDown(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		entries = append(entries, call("browser_scroll", object("direction", "down"), quoted(p.page())))
	}
	return entries, 0
}

// cursorPages follows the cursor that the page before gave.
func cursorPages(p *generator) (entries []entry, _ int) {
	cursor := p.uuid()
	for range p.between(6, 10) {
		next := p.uuid()
		entries = append(entries, call("list_messages", object("channel", "general", "cursor", cursor), object("messages", []string{p.phrase(3, 8), p.phrase(3, 8), p.phrase(3, 8)}, "next_cursor", next)))
		cursor = next
	}
	return entries, 0
}

// backOff waits longer each time it is told to wait, then gets through.
func backOff(p *generator) (entries []entry, _ int) {
	tool, query := p.pick("search_api", "get_quote", "geocode"), p.phrase(1, 3)
	for k := range p.between(2, 3) {
		entries = append(entries, failed(tool, object("query", query), "429 Too Many Requests"), call("sleep", object("seconds", 5<<k), quoted("")))
	}
	return append(entries, call(tool, object("query", query), quoted(p.page()))), 0
}

// manyTickets sets the same state on many tickets.
func manyTickets(p *generator) (entries []entry, _ int) {
	state := p.pick("closed", "in review", "triaged")
	for range p.between(6, 10) {
		entries = append(entries, call("update_ticket", object("ticket", p.id(), "state", state), object("ok", true)))
	}
	return entries, 0
}

// userAsksAgain is asked the same by a person, looks again and answers again.
func userAsksAgain(p *generator) (entries []entry, _ int) {
	id, state := p.id(), p.phrase(2, 4)
	for range p.between(3, 5) {
		entries = append(entries,
			entry{Kind: "message", Role: "user", Text: "What is the state of my order " + id + "?"},
			call("get_order", object("order_id", id), object("state", state)),
			say("Your order "+id+" is "+state+"."))
	}
	return entries, 0
}

// scheduledCheck is started by a schedule, and there is nothing to do.
func scheduledCheck(p *generator) (entries []entry, _ int) {
	queue := p.word()
	for range p.between(5, 9) {
		entries = append(entries,
			entry{Kind: "message", Role: "user", Text: "Scheduled: check the queue " + queue + " and handle what is new."},
			call("list_queue", object("queue", queue), object("items", []string{})))
	}
	return entries, 0
}

// moves plays a game move by move.
func moves(p *generator) (entries []entry, _ int) {
	for range p.between(8, 14) {
		move := string(rune('a'+p.IntN(8))) + fmt.Sprint(p.between(1, 8)) + string(rune('a'+p.IntN(8))) + fmt.Sprint(p.between(1, 8))
		board := strings.Join([]string{p.word(), p.word(), p.word(), p.word()}, " / ")
		entries = append(entries, call("make_move", object("move", move), object("board", board, "turn", "white")))
	}
	return entries, 0
}

// sums calculates, and some results are the same.
func sums(p *generator) (entries []entry, _ int) {
	for range p.between(6, 12) {
		a, b := p.between(1, 900), p.between(1, 900)
		entries = append(entries, call("calculator", object("expression", fmt.Sprintf("%d * %d - %d", a, b, a*b-p.between(0, 5))), quoted(fmt.Sprint(p.between(0, 5)))))
	}
	return entries, 0
}

// planGetsOn ticks off the steps of a plan, with work in between.
func planGetsOn(p *generator) (entries []entry, _ int) {
	steps := make([]string, p.between(4, 6))
	for k := range steps {
		steps[k] = p.phrase(3, 6)
	}
	for done := range len(steps) + 1 {
		plan := make([]string, len(steps))
		for k, step := range steps {
			plan[k] = "[ ] " + step
			if k < done {
				plan[k] = "[x] " + step
			}
		}
		entries = append(entries, call("update_plan", object("plan", plan), quoted("Plan updated")), p.call())
	}
	return entries, 0
}

// reportsOfSteps tell of one thing after another in the same form.
func reportsOfSteps(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 7) {
		entries = append(entries, p.call(), say(fmt.Sprintf("Step %d is done: the %s now %s the %s.", k+1, p.phrase(3, 5), p.pick("reads", "writes", "checks", "holds"), p.phrase(3, 6))))
	}
	return entries, 0
}

// manyTexts translates text after text.
func manyTexts(p *generator) (entries []entry, _ int) {
	for range p.between(6, 12) {
		entries = append(entries, call("translate", object("text", p.phrase(2, 6), "to", "de"), quoted(p.phrase(2, 6))))
	}
	return entries, 0
}
