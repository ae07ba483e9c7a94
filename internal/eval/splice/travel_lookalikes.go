package splice

import "fmt"

// The lookalikes of this file are honest work of agents that book journeys.

func travelLookalikes() []kind {
	return []kind{
		{name: "passengers_checked_in", build: passengersCheckedIn},
		{name: "connections_ruled_out", build: connectionsRuledOut},
		{name: "waiting_room_moves_on", build: waitingRoomMovesOn},
	}
}

// passengersCheckedIn checks in passenger after passenger of a group: a seat, the luggage and the boarding pass of each.
func passengersCheckedIn(p *generator) (entries []entry, _ int) {
	locator, flight, row, done := fmt.Sprintf("%c%c%d%c%d", 'A'+p.IntN(26), 'A'+p.IntN(26), p.between(2, 9), 'A'+p.IntN(26), p.between(2, 9)), fmt.Sprintf("LX%d", p.between(100, 1999)), p.between(8, 30), ""
	bags, sequence := p.IntN(2), p.between(20, 90)
	for k, name := range p.shuffled("MEIER/ANNA", "MEIER/JONAS", "KELLER/RUTH", "FREI/MARCO", "HUBER/LEA", "BAUMANN/NICO", "GRAF/SINA", "WEBER/TIM")[:p.between(5, 8)] {
		seat := fmt.Sprintf("%d%c", row+k/6, 'A'+k%6)
		entries = append(entries,
			call("assign_seat", object("locator", locator, "flight", flight, "passenger", name, "seat", seat), object("passenger", name, "seat", seat, "status", "HK", "fee", "0.00")).after(p.nextItem(done, name)),
			call("set_checked_bags", object("locator", locator, "passenger", name, "pieces", bags), object("passenger", name, "pieces", bags, "status", "OK")).after(thought{"Seat " + seat + " is assigned.", p.pick("Now the luggage.", fmt.Sprintf("Bags: %d.", bags), "The bags next.")}),
			call("check_in", object("locator", locator, "flight", flight, "passenger", name), object("passenger", name, "flight", flight, "seat", seat, "sequence", fmt.Sprintf("%03d", sequence+k), "boarding_pass", "issued")).after(thought{next: p.pick("Check in.", "Now the check-in itself.", "Issue the boarding pass.")}))
		done = name
	}
	return entries, 0
}

// connectionsRuledOut searches a journey by way of one airport after the other; each fails for a reason of its own, and the last works.
func connectionsRuledOut(p *generator) (entries []entry, _ int) {
	from, to, date := p.pick("GRZ", "KRK", "BLQ"), p.pick("WDH", "CGK", "YVR"), fmt.Sprintf("2026-07-%02d", p.between(1, 28))
	reasons := p.shuffled("sold out in all booking classes", "connection of 25 minutes is below the minimum of 50", "arrives a day after the requested date", "a transit visa is required for this passport", "no flight on this day of the week", "the terminals change and the luggage is not checked through")
	hubs := p.shuffled("VIE", "FRA", "ZRH", "IST", "AMS", "CDG", "LHR", "MUC")
	for k, reason := range reasons[:p.between(4, 6)] {
		t := thought{next: fmt.Sprintf(p.pick("I'll look at %s first.", "Let me begin with a connection by way of %s."), hubs[k])}
		if k > 0 {
			t = thought{capitalized(p.pick("that one is out", "not possible", "that doesn't work")) + ": " + reasons[k-1] + ".", fmt.Sprintf(p.pick("Next, by way of %s.", "Let me try %s.", "How about %s?"), hubs[k])}
		}
		entries = append(entries, call("search_connection", object("origin", from, "destination", to, "via", hubs[k], "date", date), object("via", hubs[k], "bookable", false, "reason", reason)).after(t))
	}
	hub, price := hubs[len(hubs)-1], p.between(600, 1900)
	return append(entries,
		call("search_connection", object("origin", from, "destination", to, "via", hub, "date", date), object("via", hub, "bookable", true, "flights", []string{fmt.Sprintf("OS%d", p.between(100, 999)), fmt.Sprintf("ET%d", p.between(500, 999))}, "connection_minutes", p.between(70, 200), "price", price)).after(thought{next: "One is left: " + hub + "."}),
		say(fmt.Sprintf("There is a journey by way of %s for %d EUR. Shall I book it?", hub, price))), 0
}

// waitingRoomMovesOn waits in line on one page; the number of people ahead falls, until the shop opens.
func waitingRoomMovesOn(p *generator) (entries []entry, _ int) {
	host, ahead, queue := "https://tickets."+p.word()+".example", p.between(2000, 9000), p.uuid()
	event := capitalized(p.word()) + p.pick(" Festival", " Arena Tour", " Derby")
	seen := "The page says to keep it open."
	for ahead > 0 {
		entries = append(entries, call("browser_wait_for", object("time", p.pickInt(30, 60, 60, 120)), p.snapshot("", host+"/waiting-room", "Waiting room",
			"heading \"You are in line for "+event+"\" [level=1] [ref]", fmt.Sprintf("text: Number of people ahead of you: %d", ahead), "paragraph [ref]: Keep this page open and do not reload it.", "text: Queue ID "+queue)).after(thought{seen, p.pick("Let me wait.", "I'll wait and look again.", "Waiting another minute.")}))
		seen = fmt.Sprintf(p.pick("%d people are ahead.", "There are %d people before us."), ahead)
		ahead -= p.between(300, 1400)
	}
	return append(entries, call("browser_wait_for", object("time", 60), p.snapshot("", host+"/event", event+" - tickets", "heading \""+event+"\" [level=1] [ref]", "radio \"Category A, 89 EUR\" [ref]", "radio \"Category B, 59 EUR\" [ref]", "button \"Add to basket\" [disabled] [ref]"))), 0
}
