package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of customer service agents: one line, one number, one trip or one system after the other.

func claimsLookalikes() []kind {
	return []kind{
		{name: "charges_of_statement_explained", build: chargesOfStatementExplained},
		{name: "number_dictated_in_groups", build: numberDictatedInGroups},
		{name: "missing_flights_credited_in_turn", build: missingFlightsCreditedInTurn},
		{name: "address_changed_in_each_system", build: addressChangedInEachSystem},
	}
}

// chargesOfStatementExplained looks up one charge after another that a customer does not know; the customer remembers some and disputes others.
func chargesOfStatementExplained(p *generator) (entries []entry, _ int) {
	d, card := p.desk(), fmt.Sprintf("card_%04d", p.IntN(10_000))
	amounts := make([]string, p.between(5, 9))
	for k := range amounts {
		amounts[k] = fmt.Sprintf("%d.%02d", 9*k+p.between(2, 9), p.IntN(100))
	}
	asks := []string{"And the one over %s?", "What is the charge of %s?", "There is also %s. What was that?", "Then %s. I don't know that one either.", "Next is %s."}
	mine := []string{"Oh, right, that was me.", "I remember, that is fine.", "OK, that was my wife.", "Yes, I know that one."}
	remembered := ""
	for k, amount := range amounts {
		ask := remembered + fmt.Sprintf(p.pick(asks...), amount)
		if k == 0 {
			ask = "I don't know some charges on my statement. What is the one over " + amount + "?"
		}
		merchant := capitalized(p.word()) + p.pick(" Media", " Store", " Parking", " Foods", "*Online", " Travel")
		transaction := fmt.Sprintf("txn_%08x", p.Uint32())
		entries = append(entries, user(ask), d.use("find_transaction", object("card", card, "amount", amount), object("id", transaction, "merchant", merchant, "amount", amount, "currency", "EUR", "date", p.day(1, 3), "status", "settled")).after(thought{"", p.pick("Let me look it up.", "One moment, I check this charge.", "I'll find it.")}),
			say(fmt.Sprintf(p.pick("The charge of %s is from %s. Do you recognise it?", "%s was paid to %s. Is that yours?", "I see %s at %s. Did you make this payment?"), amount, merchant)))
		if p.IntN(3) > 0 {
			remembered = p.pick(mine...) + " "
			continue
		}
		remembered = ""
		entries = append(entries, user(p.pick("No, that was not me.", "I have never heard of them. Please dispute it.", "No. I want that money back.")),
			d.use("open_dispute", object("transaction_id", transaction, "reason", "not recognised"), object("dispute_id", fmt.Sprintf("dp_%06d", p.IntN(1_000_000)), "status", "opened", "provisional_credit", amount)),
			say(p.pick("I have opened a dispute for it.", "Done, the amount is credited until the case is decided.")))
	}
	return append(entries, user(remembered+"That was the last one, thank you.")), 0
}

// numberDictatedInGroups takes down a long number that a caller says group by group, and says each group again.
func numberDictatedInGroups(p *generator) (entries []entry, _ int) {
	what, size := p.pick("account number", "serial number", "contract number", "tracking number", "meter number"), p.between(2, 4)
	spoken := strings.Fields("zero one two three four five six seven eight nine")
	words, collected := p.coin(), ""
	rounds, tool := p.between(6, 10), p.coin()
	ends := []string{"Go on, please.", "And the next?", "Next group, please.", "Yes?", "What comes after that?"}
	entries = append(entries, say(p.pick("Please tell me the "+what+", a few digits at a time.", "I'm ready. Please read the "+what+" to me slowly.")))
	for k := range rounds {
		group, aloud := "", []string{}
		for range size {
			digit := p.IntN(10)
			group += fmt.Sprint(digit)
			aloud = append(aloud, spoken[digit])
		}
		heard, echo := strings.Join(strings.Split(group, ""), " "), strings.Join(aloud, ", ")
		if words {
			heard = strings.Join(aloud, " ")
		}
		if k > 0 && p.IntN(5) == 0 {
			heard = p.pick("Then ", "Now ", "OK, ") + heard
		}
		collected += group
		entries = append(entries, user(heard))
		if tool {
			entries = append(entries, call("update_slot", object("name", strings.ReplaceAll(what, " ", "_"), "value", collected), object("ok", true, "digits", len(collected))))
		}
		if k == rounds-1 {
			return append(entries, say(fmt.Sprintf("%s. That is complete: %s. Is this right?", capitalized(echo), collected)), user(p.pick("Yes.", "Correct.", "Yes, that's it."))), 0
		}
		entries = append(entries, say(capitalized(echo)+". "+p.pick(ends...)))
	}
	return entries, 0
}

// missingFlightsCreditedInTurn credits the miles of one flight after the other that the account of a customer lacks; the balance rises.
func missingFlightsCreditedInTurn(p *generator) (entries []entry, _ int) {
	d, member, balance := p.desk(), fmt.Sprintf("M%08d", p.IntN(100_000_000)), p.between(500, 60_000)
	check, rounds := p.coin(), p.between(5, 9)
	airline, last, now := p.pick("XQ", "LH", "HAT", "NV"), "", p.passingTime()
	entries = append(entries, user(fmt.Sprintf("%d flights are missing in my account %s, I have uploaded the boarding passes.", rounds, member)))
	for k := range rounds {
		flight, date := fmt.Sprintf("%s%d", airline, 100+k*97+p.between(1, 90)), p.day(1, 5)
		from, to := p.pick("HAM", "OSL", "LIS", "VIE"), p.pick("BCN", "DUB", "ATH", "KEF")
		flown := object("flight", flight, "date", date, "from", from, "to", to, "status", "flown", "fare_class", p.pick("K", "M", "Y"))
		entries = append(entries, d.use("get_flown_segment", object("member_id", member, "flight", flight, "date", date), flown).after(p.nextItem(last, flight+" of "+date)))
		if p.IntN(6) == 0 {
			entries = append(entries, d.refuse("credit_miles", object("member_id", member, "flight", flight, "date", date), "fare class of "+flight+" earns no miles").after(thought{"It was flown.", "Let me credit it."}))
			last = "that flight"
			continue
		}
		miles := p.pickInt(250, 500, 500, 750)
		balance += miles
		entries = append(entries, d.use("credit_miles", object("member_id", member, "flight", flight, "date", date), object("status", "credited", "miles", miles, "balance", balance)).after(thought{"It was flown.", "Let me credit it."}))
		if check {
			entries = append(entries, d.use("get_member", object("member_id", member), object("member_id", member, "tier", "silver", "balance", balance, "updated_at", now())))
		}
		last = flight
	}
	return append(entries, say(fmt.Sprintf("All boarding passes are handled. Your balance is %d miles.", balance))), 0
}

// addressChangedInEachSystem writes one new address into system after system, each of which answers in nearly the same way.
func addressChangedInEachSystem(p *generator) (entries []entry, _ int) {
	d, customer := p.desk(), fmt.Sprintf("%d", p.between(100_000, 999_999))
	street := fmt.Sprintf("%d %s Lane", p.between(1, 200), capitalized(p.word()))
	city, code := p.pick("Leeds", "Graz", "Utrecht", "Porto"), fmt.Sprint(p.between(10_000, 99_999))
	systems := p.shuffled("crm", "billing", "shipping", "loyalty", "newsletter", "warranty", "subscriptions", "repair_desk", "payments", "archive")
	reads, member := p.coin(), p.pick("system", "target", "service")
	before := [2]string{fmt.Sprintf("%d %s Road", p.between(1, 90), capitalized(p.word())), p.pick("Bath", "Linz", "Delft", "Braga")}
	separate := p.coin()
	entries = append(entries, user(fmt.Sprintf("I have moved. My new address is %s, %s %s. Please change it everywhere.", street, code, city)))
	last := ""
	for _, system := range systems[:p.between(6, 10)] {
		tool, args := "update_address", object(member, system, "customer_id", customer, "street", street, "postal_code", code, "city", city)
		if separate {
			tool, args = system+"_update_address", object("customer_id", customer, "street", street, "postal_code", code, "city", city)
		}
		if reads {
			entries = append(entries, d.use("get_address", object(member, system, "customer_id", customer), object("street", before[0], "city", before[1], "source", system)).after(p.nextItem(last, "the system "+system)))
		}
		e := d.use(tool, args, object("ok", true, "updated", 1))
		if !reads {
			e = e.after(p.nextItem(last, "the system "+system))
		}
		entries = append(entries, e)
		last = system
	}
	return append(entries, say("Your address is changed in all of our systems.")), 0
}
