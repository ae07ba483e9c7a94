package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that book journeys, by tools, at a browser, and in talk alone.

func travelLoops() []kind {
	return []kind{
		{name: "hold_lapses_before_payment", build: holdLapsesBeforePayment},
		{name: "declined_itinerary_proposed_again", build: declinedItineraryProposedAgain},
		{name: "fare_gone_at_checkout", build: fareGoneAtCheckout},
		{name: "waiting_room_reentered", build: waitingRoomReentered},
	}
}

// holdLapsesBeforePayment holds seats and pays; each hold expires at the time of its creation, so that there is nothing to pay for.
func holdLapsesBeforePayment(p *generator) (entries []entry, _ int) {
	offer, total, clock := "off_"+fmt.Sprintf("%010x", p.Uint64N(1<<40)), p.between(9000, 180_000), p.passingTime()
	words := wording{
		first: []string{"I'll hold the seats first.", "Let me put the offer on hold."},
		seen:  []string{"The hold has expired.", "It says that the hold has lapsed.", "The payment came too late.", "The hold is no longer valid."},
		next:  []string{"Let me hold the seats again.", "I'll create a new hold.", "A new hold, then the payment right away.", "Let me place another hold.", "I'll repeat the hold."},
	}
	for round := range p.between(3, 6) {
		hold, at := "hld_"+fmt.Sprintf("%08x", p.Uint32()), clock()
		entries = append(entries,
			call("create_hold", object("offer_id", offer, "passengers", 2), object("hold_id", hold, "offer_id", offer, "state", "held", "total", money(total), "currency", "USD", "created_at", at, "expires_at", at)).after(words.of(p, round)),
			failed("pay_hold", object("hold_id", hold, "amount", money(total), "payment_method", p.pick("pm_card_visa", "pm_card_visa", "pm_balance")), fmt.Sprintf("409 Conflict: {\"error\":\"hold_expired\",\"hold_id\":%q,\"expired_at\":%q}", hold, at)).after(thought{next: p.pick("Now pay.", "Let me pay for the hold.", "I'll pay it at once.", "Pay "+money(total)+" USD.")}))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("get_offer", object("offer_id", offer), object("offer_id", offer, "available", true, "total", money(total), "currency", "USD", "hold_minutes", 0)).after(thought{next: "Is the offer still available?"}))
		}
	}
	return entries, 2
}

// declinedItineraryProposedAgain proposes one itinerary in other words to a traveller, who declines it for the same reason each time.
func declinedItineraryProposedAgain(p *generator) (entries []entry, _ int) {
	from, to, hours, price := p.pick("Lisbon", "Bologna", "Krakow"), p.pick("Bangkok", "Nairobi", "Colombo"), p.between(9, 17), p.between(380, 990)
	airline, hub, _ := strings.Cut(p.pick("TK:Istanbul", "QR:Doha", "ET:Addis Ababa"), ":")
	flights := fmt.Sprintf("%s %d and %s %d", airline, p.between(100, 999), airline, p.between(100, 999))
	proposals := p.shuffled(
		"I found a good option for you: %s via %s, with a layover of %d hours. The fare is %d EUR.", "How about %s? You change planes in %s, where you have %d hours. It costs %d EUR.",
		"The best match is %s with one stop in %s (%d h). The total is %d EUR. Shall I book it?", "I would recommend %s. There is a stop in %s of %d hours, and the price is only %d EUR.",
		"There is a comfortable connection by %s through %s, with a transit time of %d hours, for %d EUR. Would that suit you?")
	declines := []string{
		"That's the same connection. The layover is too long.", "I told you that I don't want to wait that long in " + hub + ".",
		"Again, not with that layover please.", "No. Anything with a shorter stop?", "You've already suggested that. Too long a wait.",
	}
	for round := range p.between(4, 6) {
		ask := "I need a flight from " + from + " to " + to + " on the 14th. Not too long a layover, please."
		lead := ""
		if round == 1 {
			ask = fmt.Sprintf("No, %d hours in %s is too long.", hours, hub)
		}
		if round > 1 {
			ask = p.pick(declines...)
		}
		if round > 0 {
			lead = p.pick("", "I understand. ", "Of course. ", "Thank you for the feedback. ", "Let me look for something else. ")
		}
		entries = append(entries, user(ask), say(lead+fmt.Sprintf(proposals[round%len(proposals)], flights, hub, hours, price)))
	}
	return entries, 3
}

// fareGoneAtCheckout selects a fare that the list shows and the checkout does not have, and searches again.
func fareGoneAtCheckout(p *generator) (entries []entry, _ int) {
	host, fare := "https://www."+p.word()+"-air.example", p.between(49, 190)
	departures := []string{"06:15", "11:40", "19:05"}
	list := []string{"heading \"Outbound flights, Fri 19 June\" [level=1] [ref]"}
	for k, time := range departures {
		list = append(list, fmt.Sprintf("radio \"%s, direct, %d EUR\" [ref]", time, fare+k*30))
	}
	list = append(list, "button \"Continue\" [disabled] [ref]")
	chosen := slices.Clone(list)
	chosen[1] = fmt.Sprintf("radio \"%s, direct, %d EUR\" [checked] [ref]", departures[0], fare)
	chosen[4] = "button \"Continue\" [ref]"
	words := wording{
		first: []string{"Let me search the flights.", "I'll start the search."},
		seen:  []string{"The fare isn't available any more.", "The site asks me to search again.", "That fare is gone.", "It couldn't be confirmed."},
		next:  []string{"I'll search again.", "Back to the results.", "Let me repeat the search.", "Let me search for the flights once more."},
	}
	click := func(element, code, path, title string, lines ...string) entry {
		return call("browser_click", object("element", element, "ref", fmt.Sprintf("e%d", p.between(12, 90))), p.snapshot("await page."+code+".click();", host+path, title, lines...))
	}
	for round := range p.between(3, 4) {
		entries = append(entries,
			click(p.pick("Search flights button", "Search flights"), "getByRole('button', { name: 'Search flights' })", "/book/select", "Select your flight", list...).after(words.of(p, round)),
			click(fmt.Sprintf("%s, %d EUR", departures[0], fare), "getByRole('radio', { name: '"+departures[0]+"' })", "/book/select", "Select your flight", chosen...).after(thought{next: p.pick("The one at "+departures[0]+" is the cheapest.", fmt.Sprintf("I'll take the fare of %d EUR.", fare), "Select the first flight.")}),
			click(p.pick("Continue", "Continue button"), "getByRole('button', { name: 'Continue' })", "/book/start?error=fare", "Book a flight", fmt.Sprintf("alert [ref]: The fare of %d EUR is no longer available. Please search again.", fare), "textbox \"From\" [ref]: BUD", "textbox \"To\" [ref]: OPO", "button \"Search flights\" [ref]").after(thought{next: p.pick("Continue to the checkout.", "On to the passengers.", "Now continue.")}))
	}
	return entries, 3
}

// waitingRoomReentered loads the page of a shop again and again; each time it is put at the end of the line, as the page warns.
func waitingRoomReentered(p *generator) (entries []entry, _ int) {
	host, ahead := "https://tickets."+p.word()+".example", p.between(9000, 60_000)
	event := capitalized(p.word()) + p.pick(" Festival", " Arena Tour", " Derby")
	words := wording{
		first: []string{"Let me open the ticket shop.", "I'll go to the page of the " + event + "."},
		seen:  []string{"We are still in the waiting room.", "It is still the queue.", "The shop has not opened yet.", "There are people ahead of us.", "Not there yet."},
		next:  []string{"Let me reload the page.", "I'll open it again.", "Let me refresh.", "Let me try the page once more.", "Maybe it works now."},
	}
	for round := range p.between(5, 8) {
		page := []string{
			"heading \"You are in line for " + event + "\" [level=1] [ref]", fmt.Sprintf("text: Number of people ahead of you: %d", ahead),
			"paragraph [ref]: You have joined the end of the line. Keep this page open and do not reload it. Each time you reload or reopen it, you lose your place.", "text: Queue ID " + p.uuid(),
		}
		ahead += p.between(200, 2400)
		url := host + "/event"
		if round > 0 {
			url = host + p.pick("/", "/event", "/event?retry=1", "/tickets")
		}
		entries = append(entries, call("browser_navigate", object("url", url), p.snapshot("await page.goto('"+url+"');", host+"/waiting-room", "Waiting room", page...)).after(words.of(p, round)))
	}
	return entries, 1
}
