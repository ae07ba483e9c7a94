package splice

import "fmt"

// The lookalikes of this file are honest conversations with customers, in which the same tool and nearly the same sentence come again.

func helpdeskLookalikes() []kind {
	return []kind{
		{name: "mail_arrives_after_correction", build: mailArrivesAfterCorrection},
		{name: "quotes_recalculated", build: quotesRecalculated},
		{name: "place_in_queue_told", build: placeInQueueTold},
	}
}

// mailArrivesAfterCorrection sends a confirmation twice, sees that the address is an old one, corrects it, and sends it again.
func mailArrivesAfterCorrection(p *generator) (entries []entry, _ int) {
	name, booking := p.pick("ines.duarte", "omar.haddad", "kate.lowell", "jon.berg"), fmt.Sprintf("BK%06d", p.IntN(1e6))
	old, current, clock := name+"@old-mail.example", name+"@example.com", p.passingTime()
	send := func(to, said string) entry {
		return call("resend_confirmation", object("booking_id", booking, "channel", "email"), object("status", "sent", "to", to, "template", "booking_confirmation_v3", "message_id", fmt.Sprintf("<%016x@mailer.example>", p.Uint64()), "queued_at", clock())).after(thought{next: said})
	}
	entries = []entry{
		user("Hello, I booked yesterday (" + booking + ") and never got the confirmation."),
		send(old, "I'll send the confirmation again."),
		say("I have sent the confirmation of " + booking + " again. Please look into your inbox in a few minutes."),
		user(p.pick("I waited ten minutes. There is nothing.", "Nothing has arrived, not even in the spam folder.")),
	}
	if p.coin() {
		entries = append(entries,
			call("get_delivery_log", object("booking_id", booking), object("booking_id", booking, "deliveries", []string{old + ": 250 accepted", old + ": 250 accepted"})).after(thought{next: "Let me see where the mails went."}))
	}
	return append(entries,
		say("It went to "+old+". Is that address still right?"),
		user("Oh, no, I don't use that any more. It's "+current+"."),
		call("update_contact", object("booking_id", booking, "email", current), object("booking_id", booking, "email", current, "updated_at", clock())).after(thought{"The address on file is outdated.", "I'll correct it."}),
		send(current, "Now I send it to the new address."),
		say("I have corrected the address and sent the confirmation of "+booking+" to "+current+"."),
		user(p.pick("It's here now, thank you!", "Got it. Thanks!", "Perfect, it has arrived."))), 0
}

// quotesRecalculated calculates an insurance anew each time the customer asks what another choice would cost.
func quotesRecalculated(p *generator) (entries []entry, _ int) {
	deductible, cover, monthly := 250, p.pick("basic", "comfort"), p.between(2000, 9000)
	vehicle, theft, kilometres := p.pick("Polo 1.0", "Yaris Hybrid", "Megane E-Tech", "i30"), true, 12_000
	requests := []struct {
		text   string
		change func()
	}{
		{"What if the deductible is 500?", func() { deductible = 500 }},
		{"And with a deductible of 1,000?", func() { deductible = 1000 }},
		{"What would the premium cover cost?", func() { cover = "premium" }},
		{"And if I leave out theft?", func() { theft = false }},
		{"I forgot: it will be about 20,000 km a year.", func() { kilometres = 20_000 }},
	}
	text, order := "Hi, what would it cost to insure my "+vehicle+"?", p.Perm(len(requests))
	for k := range p.between(4, 5) {
		quote := object("quote_id", "q_"+fmt.Sprintf("%08x", p.Uint32()), "vehicle", vehicle, "cover", cover, "deductible", deductible, "theft", theft, "km_per_year", kilometres, "monthly_premium", fmt.Sprintf("%d.%02d", monthly/100, monthly%100), "currency", "EUR", "valid_until", "2026-07-31")
		entries = append(entries, user(text),
			call("calculate_quote", object("vehicle", vehicle, "cover", cover, "deductible", deductible, "theft", theft, "km_per_year", kilometres), quote).after(thought{next: p.pick("Let me calculate that.", "I'll recalculate the quote.", "One moment, a new quote.")}),
			say(fmt.Sprintf(p.pick("With %s cover and a deductible of %d EUR, it is %d.%02d EUR a month.", "That makes %[3]d.%02[4]d EUR a month (%[1]s, deductible %[2]d EUR).", "For %s cover with a deductible of %d EUR, you would pay %d.%02d EUR a month."), cover, deductible, monthly/100, monthly%100)))
		text = requests[order[k]].text
		requests[order[k]].change()
		monthly = monthly*p.between(80, 96)/100 + p.IntN(900)
	}
	return append(entries, user("The last one is fine. Please send me the offer."), say("I'll send you the offer now.")), 0
}

// placeInQueueTold tells a waiting customer the place in the queue; it falls each time, until a person takes over.
func placeInQueueTold(p *generator) (entries []entry, _ int) {
	place, ticket, clock := p.between(5, 9), fmt.Sprintf("chat-%06d", p.IntN(1e6)), p.passingTime()
	entries = append(entries, user(p.pick("I want to talk to a person, please.", "Can I speak with a human agent?")))
	for ; place > 0; place -= p.between(1, 2) {
		minutes := 2*place + p.IntN(2)
		entries = append(entries,
			call("queue_position", object("ticket", ticket), object("ticket", ticket, "position", place, "estimated_minutes", minutes, "agents_online", p.between(3, 5), "checked_at", clock())).after(thought{next: p.pick("Let me see how long it will take.", "Where in the queue is the customer now?", "I'll check the queue.")}),
			say(fmt.Sprintf(p.pick("Thank you for waiting. You are number %d in the queue, which takes about %d minutes.", "You are now number %d in the queue. I expect about %d minutes."), place, minutes)))
		if p.coin() {
			entries = append(entries, user(p.pick("Ok.", "How long will it take?", "I'm still here.", "Thanks, I'll wait.")))
		}
	}
	return append(entries,
		call("queue_position", object("ticket", ticket), object("ticket", ticket, "position", 0, "estimated_minutes", 0, "assigned_to", p.pick("Marta", "Deniz", "Owen"), "checked_at", clock())),
		say("A colleague is with you now.")), 0
}
