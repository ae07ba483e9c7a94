package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that deal with people, documents, forms and games.

func everydayLookalikes() []kind {
	return []kind{
		{name: "mail_page_by_page", build: mailPageByPage},
		{name: "sensors_checked", build: sensorsChecked},
		{name: "document_in_parts", build: documentInParts},
		{name: "user_asks_daily", build: userAsksDaily},
		{name: "newsletters_queued", build: newslettersQueued},
		{name: "application_pages", build: applicationPages},
		{name: "tiles_merged", build: tilesMerged},
		{name: "user_repeats_date", build: userRepeatsDate},
		{name: "agents_begin_alike", build: agentsBeginAlike},
		{name: "transactions_matched", build: transactionsMatched},
		{name: "companies_researched", build: companiesResearched},
	}
}

// mailPageByPage lists the mail of a search by the token of the page before.
func mailPageByPage(p *generator) (entries []entry, _ int) {
	query, token := "from:"+p.word()+" older_than:1y", ""
	for range p.between(5, 9) {
		next := fmt.Sprintf("%020d", p.Uint64())
		ids := make([]string, p.between(4, 8))
		for k := range ids {
			ids[k] = fmt.Sprintf("%016x", p.Uint64())
		}
		entries = append(entries, call("gmail_messages_list", object("q", query, "maxResults", len(ids), "pageToken", token), object("messages", ids, "nextPageToken", next, "resultSizeEstimate", 201)))
		token = next
	}
	return entries, 0
}

// sensorsChecked goes through a house, and each window and door is closed.
func sensorsChecked(p *generator) (entries []entry, _ int) {
	for _, room := range p.shuffled("kitchen", "bedroom", "bathroom", "hall", "garage", "cellar", "office", "nursery")[:p.between(5, 8)] {
		entity := "binary_sensor." + room + "_" + p.pick("window", "door")
		entries = append(entries, call("ha_get_state", object("entity_id", entity), object("entity_id", entity, "state", "off", "friendly_state", "Closed", "battery", fmt.Sprint(p.between(40, 100)))))
	}
	return entries, 0
}

// documentInParts reads a long document, twenty pages at a time.
func documentInParts(p *generator) (entries []entry, _ int) {
	path := "/docs/" + p.word() + "-annual-report.pdf"
	for k := range p.between(5, 9) {
		pages := fmt.Sprintf("%d-%d", 20*k+1, 20*k+20)
		entries = append(entries, call("Read", object("file_path", path, "pages", pages), quoted("PDF pages "+pages+" of "+path+"\n\n"+p.page()+"\n"+p.page())))
	}
	return entries, 0
}

// userAsksDaily is asked the same by a person day after day, and looks each time; the parcel comes in the end.
func userAsksDaily(p *generator) (entries []entry, _ int) {
	number, days := fmt.Sprintf("00340434%012d", p.Uint64N(1e12)), p.between(3, 5)
	for k := range days {
		state := "In transit"
		if k == days-1 {
			state = "Delivered"
		}
		entries = append(entries,
			user(p.pick("Good morning, ", "Hi again, ", "Hello, ", "")+"any news of my parcel?"),
			call("track_parcel", object("tracking_number", number), object("tracking_number", number, "status", state)),
			say(p.pick("Your parcel is ", "The status is now: ", "The carrier says: ")+strings.ToLower(state)+"."))
	}
	return entries, 0
}

// newslettersQueued sends one template to segment after segment.
func newslettersQueued(p *generator) (entries []entry, _ int) {
	template := "d-" + fmt.Sprintf("%016x", p.Uint64())
	for range p.between(6, 10) {
		entries = append(entries, call("send_template", object("template_id", template, "segment", p.word()+"-"+p.word(), "send_at", "2026-12-01T08:00:00Z"), object("status", 202, "message", "Accepted")))
	}
	return entries, 0
}

// applicationPages fills the pages of an application, which look the same and ask for other things.
func applicationPages(p *generator) (entries []entry, _ int) {
	all := p.between(6, 9)
	for k := range all {
		field := p.phrase(1, 3)
		page := fmt.Sprintf("- Page URL: https://visa.example/application?step=%d\n- Page Title: Application form\n- Page Snapshot:\n  - heading \"Section %d of %d\" [ref=e%d]\n  - textbox %q [ref=e%d]\n  - button \"Save and continue\" [ref=e%d]", k+2, k+2, all+1, p.between(2, 30), p.phrase(1, 3), p.between(30, 60), p.between(60, 90))
		entries = append(entries,
			call("browser_type", object("element", field, "ref", fmt.Sprintf("e%d", p.between(30, 60)), "text", p.phrase(1, 2)), quoted("Typed.")),
			call("browser_click", object("element", "Save and continue", "ref", fmt.Sprintf("e%d", p.between(60, 90))), quoted(page)))
	}
	return entries, 0
}

// tilesMerged plays 2048; moves come again, and the board and the score go on.
func tilesMerged(p *generator) (entries []entry, _ int) {
	score := 4 * p.between(10, 90)
	for range p.between(8, 14) {
		score += 4 << p.IntN(4)
		rows := make([]string, 4)
		for k := range rows {
			cells := make([]string, 4)
			for n := range cells {
				cells[n] = p.pick("0", "0", "2", "4", "8", "16", "32", "64")
			}
			rows[k] = strings.Join(cells, " ")
		}
		entries = append(entries, call("move", object("direction", p.pick("left", "down", "left", "down", "right")), object("board", rows, "score", score, "over", false)))
	}
	return entries, 0
}

// userRepeatsDate asks a person for several things, of which more than one has the same answer.
func userRepeatsDate(p *generator) (entries []entry, _ int) {
	day := fmt.Sprintf("the %dth of %s", p.between(4, 20), p.pick("March", "May", "September"))
	questions := p.shuffled("On which day would you like to fly out?", "From when do you need the rental car?", "And the hotel, from which day?", "When should the airport transfer be?", "From which day shall the insurance run?")
	for _, question := range questions[:p.between(3, 5)] {
		entries = append(entries, say(p.pick("", "All right. ", "Noted. ", "Thank you. ")+question), user(p.pick("", "Also ", "Again ", "Same day, ")+day+"."))
	}
	return append(entries, call("book_trip", object("start", day, "services", []string{"flight", "car", "hotel"}), object("booking", strings.ToUpper(fmt.Sprintf("%06x", p.IntN(1<<24))), "status", "confirmed"))), 0
}

// agentsBeginAlike has several agents of which each reads the same guide, lists the same folder and does its own part.
func agentsBeginAlike(p *generator) (entries []entry, _ int) {
	h, parts := p.harness(), p.words(p.between(4, 6))
	guide, list := call("Read", object("file_path", "CONTRIBUTING.md"), quoted(p.page())), h.shell("ls packages", strings.Join(parts, "\n"), 0)
	for k, part := range parts {
		name, tests := fmt.Sprintf("worker-%d", k+1), p.between(3, 60)
		entries = append(entries, guide.by(name), list.by(name),
			h.edit("packages/"+part+"/index.ts").by(name),
			h.shell("npm test -w packages/"+part, fmt.Sprintf("Tests:       %d passed, %d total", tests, tests), 0).by(name))
	}
	return entries, 0
}

// transactionsMatched matches payment after payment with an invoice.
func transactionsMatched(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		amount := fmt.Sprintf("%d.%02d", p.between(10, 4000), p.IntN(100))
		entries = append(entries, call("match_transaction", object("transaction", fmt.Sprintf("TX%08d", p.IntN(1e8)), "invoice", fmt.Sprintf("INV-%05d", p.IntN(1e5)), "amount", amount), object("matched", true, "difference", "0.00")))
	}
	return entries, 0
}

// companiesResearched looks up the same about company after company; some pages are not to be had.
func companiesResearched(p *generator) (entries []entry, _ int) {
	for range p.between(4, 6) {
		name := p.word() + " " + p.pick("Robotics", "Foods", "Energy", "Labs", "Logistics")
		url := "https://www." + strings.ReplaceAll(name, " ", "-") + ".example/about"
		entries = append(entries, call("web_search", object("query", name+" headquarters employees founded"), object("results", []string{url + " " + p.phrase(5, 9), p.phrase(6, 10)})))
		if p.IntN(3) == 0 {
			entries = append(entries, failed("fetch", object("url", url), "HTTP 403 Forbidden"))
			continue
		}
		entries = append(entries, call("fetch", object("url", url), quoted(name+" was founded in "+fmt.Sprint(p.between(1950, 2020))+". "+p.page())))
	}
	return entries, 0
}
