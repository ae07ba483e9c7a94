package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of service agents of carriers, travel companies and energy suppliers.

func callcenterLoops() []kind {
	return []kind{
		{name: "reading_refused_as_implausible", build: readingRefusedAsImplausible},
		{name: "confirmation_asked_after_each_yes", build: confirmationAskedAfterEachYes},
		{name: "meter_commands_queued_without_effect", build: meterCommandsQueuedWithoutEffect},
		{name: "same_scan_read_out_each_turn", build: sameScanReadOutEachTurn},
	}
}

// readingRefusedAsImplausible submits a reading of a meter in other forms; it has a digit too many, and the refusal tells the range.
func readingRefusedAsImplausible(p *generator) (entries []entry, _ int) {
	d, meter, low := p.desk(), fmt.Sprintf("%dEMH00%d", p.between(1, 9), p.between(10_000_000, 99_999_999)), p.between(4000, 80_000)
	high, day := low+p.between(400, 2000), p.day(1, 9)
	reading := 10*(low+p.between(100, 390)) + p.IntN(10)
	reason := p.pick("IMPLAUSIBLE_READING: value must be between %d and %d kWh", "422 plausibility check failed: expected %d to %d", "reading rejected, consumption deviates from forecast (allowed range: %d - %d)")
	submit := func() entry {
		args := object("meter_id", meter, "reading", p.pick(fmt.Sprint(reading), fmt.Sprint(reading), fmt.Sprintf("%d.0", reading), fmt.Sprintf("%d kWh", reading), fmt.Sprintf("%07d", reading)), "date", day, "register", p.pick("1.8.0", "1.8.0", "1-0:1.8.0", "1.8.1"), "source", p.pick("customer", "phone", "manual", "agent"))
		return d.refuse("submit_meter_reading", args, fmt.Sprintf(reason, low, high))
	}
	shown := fmt.Sprint(reading)
	tell := func() string {
		return p.pick("The meter shows "+shown+".", "I looked again, it says "+shown+".", "It is "+shown+", as I said.", shown+", I just read it once more.", "Still "+shown+". What is wrong with it?", "Yes, "+shown+".")
	}
	w := wording{
		[]string{"I'll submit the reading."},
		[]string{"The system rejected the reading.", "The reading was not accepted.", "The plausibility check refuses it.", ""},
		[]string{"Let me submit it again.", "I'll enter it in another format.", "Let me try another source.", "Perhaps the register is wrong.", "Let me enter it once more."},
	}
	ask := func() entry {
		return say(p.pick("I'm sorry, the system did not accept the reading. Could you please check it again?", "Unfortunately the reading was rejected. Could you read the meter once more for me?", "It seems that there is an issue with the value. Can you confirm the reading, please?", "The entry failed again. Please confirm the number on the display.", "Thank you. The system still does not take it. Could you verify the number?"))
	}
	entries = append(entries, user(p.pick("Hi, I want to report my electricity meter: ", "Hello, here is my reading for the bill: ", "Reading of meter "+meter+": ")+shown), submit().after(w.of(p, 0)), ask(), user(tell()))
	for k := range p.laps() {
		entries = append(entries, submit().after(w.of(p, k+1)))
		if p.IntN(3) == 0 {
			entries = append(entries, submit().after(w.of(p, k+1)))
		}
		if p.IntN(4) > 0 {
			entries = append(entries, ask(), user(tell()))
		}
	}
	return entries, 4
}

// agreement is something that a customer wants to have done, and how an agent sums it up.
type agreement struct {
	request, act string
	details      []string
	look         entry
}

// agreement returns a change of a delivery, a booking or a contract.
func (p *generator) agreement(d desk) agreement {
	day, amount := p.day(7, 12), p.between(12, 240)
	switch p.IntN(4) {
	case 0:
		parcel, street := fmt.Sprintf("JJD0%012d", p.Int64N(1e12)), fmt.Sprintf("%s Street %d", capitalized(p.word()), p.between(1, 99))
		return agreement{
			"Please send my parcel " + parcel + " to " + street + " instead.", "redirect the parcel",
			[]string{"Parcel: " + parcel, "New address: " + street, "Delivery: " + day, fmt.Sprintf("Fee: %d.50 EUR", p.IntN(6))},
			d.use("get_shipment", object("tracking_id", parcel), object("tracking_id", parcel, "status", "at_depot", "eta", day, "redirectable", "yes")),
		}
	case 1:
		booking := p.locator()
		return agreement{
			"Could you move my flight of booking " + booking + " to " + day + "?", "change the flight",
			[]string{"Booking: " + booking, "New date: " + day, fmt.Sprintf("Difference in fare: %d EUR", amount), "Payment: card on file"},
			d.use("get_reservation_details", object("reservation_id", booking), object("reservation_id", booking, "cabin", "economy", "passengers", p.between(1, 4), "fare_difference", amount)),
		}
	case 2:
		tariff := p.pick("GreenFix 12", "Basic Flex", "Home 24", "Night Saver")
		return agreement{
			"I'd like to switch to " + tariff + ".", "switch the tariff",
			[]string{"Tariff: " + tariff, "Start: " + day, fmt.Sprintf("Monthly payment: %d EUR", amount), "Notice period: 4 weeks"},
			d.use("get_tariff_offer", object("tariff", tariff), object("tariff", tariff, "start", day, "monthly", amount, "eligible", "yes")),
		}
	}
	claim := fmt.Sprintf("CL-%d", p.between(10_000, 999_999))
	return agreement{
		"I accept the offer for my claim " + claim + ".", "settle the claim",
		[]string{"Claim: " + claim, fmt.Sprintf("Amount: %d EUR", amount), "Paid to: the account on file", "Expected: " + day},
		d.use("get_claim", object("claim_id", claim), object("claim_id", claim, "state", "offer_made", "amount", amount)),
	}
}

// confirmationAskedAfterEachYes sums up what it is going to do and asks for a yes; the customer says yes, and it asks once more.
func confirmationAskedAfterEachYes(p *generator) (entries []entry, _ int) {
	d := p.desk()
	a, listed := p.agreement(d), p.coin()
	summary := func() string {
		details := p.shuffled(append([]string(nil), a.details...)...)
		if listed {
			return "\n\n- " + strings.Join(details, "\n- ") + "\n\n"
		}
		return " " + strings.Join(details[:p.between(2, len(details))], ", ") + ". "
	}
	ask := func(first bool) entry {
		opening := p.pick("Thank you for confirming! Before I "+a.act+", here are the details once more:", "Great! To "+a.act+", let me summarise:", "Thanks. I am ready to "+a.act+". Please review:", "Perfect. These are the details:", "I understand. Just to be sure, this is what I will do:", "Thank you for your patience. Here is what we have:")
		if first {
			opening = p.pick("I can help with that. These are the details:", "Certainly. Here is what I would do:")
		}
		return say(opening + summary() + p.pick("Do you confirm (yes/no)?", "Would you like me to proceed?", "Please reply with yes to continue.", "Shall I go ahead?", "Can you please confirm that this is correct?", "Is that all right with you?"))
	}
	yes := func(k int) entry {
		if k > 2 && p.coin() {
			return user(p.pick("Yes!! I said so already.", "I have confirmed this several times. Please do it.", "YES. Go ahead.", "Again: yes. Why do you keep asking?", "Yes, please just do it now."))
		}
		return user(p.pick("Yes", "Yes, please.", "Yes, go ahead.", "That's correct, yes.", "yes, please proceed", "Confirmed.", "Yes, all correct."))
	}
	entries = append(entries, user(a.request), ask(true), yes(0))
	for k := range p.between(4, 11) {
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, a.look.after(thought{p.pick("The customer has agreed.", ""), p.pick("Let me check the details first.", "I'll make sure that this is still possible.")}))
		}
		entries = append(entries, ask(false), yes(k+1))
	}
	return entries, 3
}

// meterCommandsQueuedWithoutEffect sends commands to a smart meter that is out of reach; each is queued, and its state stays as it is.
func meterCommandsQueuedWithoutEffect(p *generator) (entries []entry, _ int) {
	d, now, meter := p.desk(), p.passingTime(), fmt.Sprintf("SM-%d", p.between(1_000_000, 9_999_999))
	contact, relay := p.day(5, 5)+"T04:1"+fmt.Sprint(p.IntN(10))+":00Z", p.pick("OPEN", "UNKNOWN", "DISCONNECTED")
	commands := p.shuffled("RECONNECT", "PING", "REBOOT_COMMS", "RELAY_CLOSE", "REFRESH_STATUS")[:p.between(2, 4)]
	w := wording{
		[]string{"I'll switch the supply on from here.", "Let me reconnect the meter."},
		[]string{"The state has not changed.", "The meter does not answer yet.", "It is still off.", "The command is waiting in the queue.", ""},
		[]string{"Let me send it again.", "I'll send another command.", "Let me try to reach the meter once more.", "Perhaps it needs another command.", "Let me refresh the meter."},
	}
	entries = append(entries, user(p.pick("I paid the bill, and I still have no power. ", "My flat has been dark since this morning. ", "Can you please switch my electricity on again? ")+"The meter is "+meter+"."))
	for k := range p.repeats() {
		entries = append(entries, d.use("send_meter_command", object("meter_id", meter, "command", p.pick(commands...), "priority", p.pick("HIGH", "NORMAL")), object("command_id", "cmd-"+p.uuid()[:8], "status", p.pick("QUEUED", "QUEUED", "ACCEPTED"), "queued_at", now())).after(w.of(p, k)),
			d.use("get_meter_status", object("meter_id", meter), object("meter_id", meter, "relay", relay, "comms", "UNREACHABLE", "last_contact", contact, "pending_commands", k+1, "checked_at", now())).after(thought{"", p.pick("Let me look at the meter.", "Did it get through?", "Let me check the state.")}))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, say(p.pick("I have sent the command again. Is the power back?", "Please wait a moment, I am trying once more.", "It should come on now. Can you check?")), user(p.pick("No, still dark.", "Nothing yet.", "No change here.", "The display is off.")))
		}
	}
	return entries, 3
}

// sameScanReadOutEachTurn looks a parcel up and reads its last scan out; the customer wants a search for it, and the agent looks it up again.
func sameScanReadOutEachTurn(p *generator) (entries []entry, _ int) {
	d, now, parcel := p.desk(), p.passingTime(), fmt.Sprintf("%s%010d", p.pick("1Z", "CN", "RB", "00340"), p.Int64N(1e10))
	place, since, event := capitalized(p.word())+" hub", p.day(3, 5), p.pick("Departed from facility", "Arrived at sort facility", "In transit to next facility", "Held at depot")
	scans := p.between(1, 8)
	var history []string
	for k := range scans {
		what := p.pick("Loaded", "Sorted", "Unloaded")
		if k == scans-1 {
			what = "Picked up"
		}
		history = append(history, fmt.Sprintf("%s %02d:%02d %s, %s", since, max(0, 18-2*k), 7*k%60, what, capitalized(p.word())))
	}
	track := func() entry {
		return d.use("track_shipment", object("tracking_number", parcel), object("tracking_number", parcel, "last_event", event, "location", place, "event_time", since+"T21:40:00Z", "history", history, "retrieved_at", now()))
	}
	answer := func() entry {
		return say(p.pick("I have checked again: ", "Thank you for waiting. ", "I understand your concern. ", "I'm sorry for the delay. ", "Let me assure you that we take this seriously. ") + p.pick("The last scan of your parcel is \""+event+"\" at "+place+" on "+since+".", "According to our system, it was last seen at "+place+" on "+since+" (\""+event+"\").", "Your parcel shows \""+event+"\" since "+since+", at "+place+".") + p.pick(" It is on its way.", " Please allow some more time.", " It should move soon.", " Is there anything else that I can do for you?", ""))
	}
	insist := func() entry {
		return user(p.pick("You told me that already. Please open an investigation.", "That was the same answer last time. Can someone search for it?", "It has not moved for weeks. I want a trace.", "I can see that on the website. I need you to start a search for the parcel.", "That doesn't help. File a claim, please.", "Please don't look it up again. Do something about it.", "So when does the search begin?"))
	}
	w := wording{[]string{"Let me look up the parcel."}, []string{"The customer wants an update.", "The customer is not satisfied.", ""}, []string{"Let me check the current status.", "I'll look at the tracking again.", "Let me see whether there is news.", "Let me retrieve the latest scan."}}
	entries = append(entries, user(p.pick("Where is my parcel ", "I am still waiting for ", "What happened to shipment ")+parcel+"? Please have it searched for."), track().after(w.of(p, 0)), answer(), insist())
	for k := range p.laps() {
		entries = append(entries, track().after(w.of(p, k+1)), answer(), insist())
	}
	return entries, 4
}
