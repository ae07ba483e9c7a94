package splice

import (
	"encoding/json"
	"fmt"
)

// The lookalikes of this file are honest work of agents that serve customers, browse, plan and work in teams.

func assistantLookalikes() []kind {
	return []kind{
		{name: "several_orders_modified", build: severalOrdersModified},
		{name: "user_declines_offers", build: userDeclinesOffers},
		{name: "results_opened_one_by_one", build: resultsOpenedOneByOne},
		{name: "months_paged", build: monthsPaged},
		{name: "cart_filled", build: cartFilled},
		{name: "tester_finds_other_defects", build: testerFindsOtherDefects},
		{name: "calendars_checked", build: calendarsChecked},
		{name: "alarms_set", build: alarmsSet},
	}
}

// severalOrdersModified changes the address of order after order; each time the customer is asked and says yes.
func severalOrdersModified(p *generator) (entries []entry, _ int) {
	address := object("address1", fmt.Sprintf("%d %s Street", p.between(1, 900), p.word()), "city", p.pick("Austin", "Denver", "Seattle"), "zip", fmt.Sprint(p.between(10_000, 99_999)))
	for range p.between(3, 5) {
		order, item := fmt.Sprintf("#W%07d", p.IntN(1e7)), p.word()+" "+p.pick("lamp", "boots", "bottle", "keyboard", "jacket")
		entries = append(entries,
			call("get_order_details", object("order_id", order), object("order_id", order, "status", "pending", "items", []json.RawMessage{object("name", item, "item_id", fmt.Sprintf("%010d", p.Uint64N(1e10)), "price", p.between(20, 300))})),
			say(p.pick("Next is order ", "I can change the address of order ", "Now order ")+order+" with the "+item+". Shall I ship it to the new address, too (yes/no)?"),
			user(p.pick("Yes.", "Yes, please.", "yes")),
			call("modify_pending_order_address", object("order_id", order, "address", address), object("order_id", order, "status", "pending", "address", address)))
	}
	return entries, 0
}

// userDeclinesOffers offers flights of other days to a customer, who declines one after the other and takes the last.
func userDeclinesOffers(p *generator) (entries []entry, _ int) {
	from, to, day := p.pick("JFK", "SFO", "ORD"), p.pick("LAS", "BOS", "MIA"), p.between(10, 16)
	rounds := p.between(4, 6)
	for k := range rounds {
		number, price, departs := fmt.Sprintf("HAT%03d", p.IntN(300)), p.between(80, 400), fmt.Sprintf("%02d:%02d:00", p.between(5, 22), p.IntN(60))
		reply := p.pick("That is too early for me.", "Too expensive. Is there something cheaper?", "That does not work. What about the day after?", "I'd rather not leave on that day.", "Hmm, no. Another one?")
		if k == rounds-1 {
			reply = "That one works. Please book it."
		}
		entries = append(entries,
			call("search_direct_flight", object("origin", from, "destination", to, "date", fmt.Sprintf("2024-05-%d", day+k)), jsonOf([]json.RawMessage{object("flight_number", number, "origin", from, "destination", to, "scheduled_departure_time_est", departs, "prices", object("economy", price))})),
			say(fmt.Sprintf("On May %d there is flight %s at %s for $%d. Would you like to take it?", day+k, number, departs[:5], price)),
			user(reply))
	}
	return entries, 0
}

// resultsOpenedOneByOne opens result after result of one list, and goes back to the list in between.
func resultsOpenedOneByOne(p *generator) (entries []entry, _ int) {
	site := "https://" + p.word() + ".example"
	names := make([]string, p.between(4, 6))
	lines := make([]string, len(names))
	for k := range names {
		names[k] = fmt.Sprintf("%s %s %d", p.word(), p.word(), k+1)
		lines[k] = fmt.Sprintf("link \"%s\" [ref]: $%d.99", names[k], p.between(10, 400))
	}
	for k, name := range names {
		entries = append(entries, call("browser_click", object("element", name+" link", "ref", fmt.Sprintf("e%d", p.between(4, 60))), p.snapshot("await page.getByRole('link', { name: '"+name+"' }).click();", fmt.Sprintf("%s/item/%d", site, p.between(100, 99_999)), name, "heading \""+name+"\" [level=1] [ref]", "text: "+p.phrase(10, 20), fmt.Sprintf("text: Rated %d.%d of 5 by %d customers", p.between(2, 4), p.IntN(10), p.between(3, 900)), "button \"Add to cart\" [ref]")))
		if k < len(names)-1 {
			entries = append(entries, call("browser_navigate_back", object(), p.snapshot("await page.goBack();", site+"/search", "Search results", lines...)))
		}
	}
	return entries, 0
}

// monthsPaged goes on month by month in a calendar until the month of the journey, and chooses a day.
func monthsPaged(p *generator) (entries []entry, _ int) {
	months := []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	url, first := "https://"+p.word()+".example/", p.IntN(12)
	for k := range p.between(5, 9) {
		at := first + k
		month := fmt.Sprintf("%s %d", months[at%12], 2026+at/12)
		entries = append(entries, call("browser_click", object("element", "Next month button", "ref", fmt.Sprintf("e%d", p.between(4, 60))), p.snapshot("await page.getByRole('button', { name: 'Next month' }).click();", url, "Choose your dates", "button \"Previous month\" [ref]", "heading \""+month+"\" [level=2] [ref]", fmt.Sprintf("grid \"%s\" [ref]: from $%d", month, p.between(40, 400)), "button \"Next month\" [ref]")))
	}
	return append(entries, call("browser_click", object("element", "15th", "ref", "e31"), p.snapshot("await page.getByRole('gridcell', { name: '15' }).click();", url, "Choose your dates", "text: Departure on the 15th", "button \"Continue\" [ref]"))), 0
}

// cartFilled searches for thing after thing of a list and puts each into the cart.
func cartFilled(p *generator) (entries []entry, _ int) {
	total := 0
	for k := range p.between(4, 6) {
		product, id, price := p.phrase(1, 2), fmt.Sprint(p.between(1000, 99_999)), p.between(100, 2500)
		total += price
		entries = append(entries,
			call("search_products", object("query", product), object("results", []json.RawMessage{object("id", id, "name", product+" "+p.word(), "price_cents", price), object("id", fmt.Sprint(p.between(1000, 99_999)), "name", product+" "+p.word(), "price_cents", p.between(100, 2500))})),
			call("add_to_cart", object("product_id", id, "quantity", 1), object("message", "Added to cart", "items", k+1, "total_cents", total)))
	}
	return entries, 0
}

// testerFindsOtherDefects has a coder mend defect after defect that a tester names, until all tests pass.
func testerFindsOtherDefects(p *generator) (entries []entry, _ int) {
	h, file := p.harness(), p.path()
	rounds := p.between(3, 5)
	for k := range rounds {
		name, left := capitalized(p.word()), rounds-1-k
		output, verdict, status := fmt.Sprintf("--- FAIL: Test%s (0.%02ds)\n    %s_test.go:%d: %s\nFAIL\nFAIL\texample.com/%s\t0.%03ds", name, p.IntN(10), p.word(), p.between(10, 300), p.phrase(3, 7), p.word(), p.IntN(400)), fmt.Sprintf("That defect is mended. Of %d others, Test%s is next.", left, name), 1
		if left == 0 {
			output, verdict, status = fmt.Sprintf("ok  \texample.com/%s\t0.%03ds", p.word(), p.IntN(400)), "All tests pass.", 0
		}
		entries = append(entries,
			h.edit(file).by("coder"),
			entry{Kind: "handoff", From: "coder", To: "tester"},
			h.shell("go test ./...", output, status).by("tester"),
			say(verdict).by("tester"))
		if left > 0 {
			entries = append(entries, entry{Kind: "handoff", From: "tester", To: "coder"})
		}
	}
	return entries, 0
}

// calendarsChecked looks up when person after person is busy, and creates the event.
func calendarsChecked(p *generator) (entries []entry, _ int) {
	day := p.clock()[:10]
	guests := []string{}
	for range p.between(5, 8) {
		guest, busy := p.word()+"."+p.word()+"@example.com", []json.RawMessage{}
		if p.coin() {
			hour := p.between(9, 15)
			busy = append(busy, object("start", fmt.Sprintf("%sT%02d:00:00Z", day, hour), "end", fmt.Sprintf("%sT%02d:30:00Z", day, hour+1)))
		}
		guests = append(guests, guest)
		entries = append(entries, call("freebusy_query", object("calendar_id", guest, "time_min", day+"T08:00:00Z", "time_max", day+"T18:00:00Z"), object("kind", "calendar#freeBusy", "busy", busy)))
	}
	return append(entries, call("create_event", object("summary", p.phrase(2, 4), "start", day+"T17:00:00Z", "attendees", guests), object("status", "confirmed", "id", fmt.Sprintf("%016x", p.Uint64())))), 0
}

// alarmsSet sets alarm after alarm in the clock of a telephone, by the same buttons.
func alarmsSet(p *generator) (entries []entry, _ int) {
	list := []string{}
	for _, day := range p.shuffled("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[:p.between(3, 5)] {
		hour, minute := p.between(5, 9), 5*p.IntN(12)
		list = append(list, fmt.Sprintf("%02d:%02d %s", hour, minute, day))
		entries = append(entries,
			call("android_action", object("action_type", "click", "target", "Add alarm"), quoted("UI element 0: UIElement(text='Select time')\nUI element 1: UIElement(text='OK')")),
			call("android_action", object("action_type", "input_text", "target", "time", "text", fmt.Sprintf("%02d%02d", hour, minute)), quoted(fmt.Sprintf("UI element 0: UIElement(text='%02d:%02d')\nUI element 1: UIElement(text='OK')", hour, minute))),
			call("android_action", object("action_type", "click", "target", day), object("alarms", list)))
	}
	return entries, 0
}
