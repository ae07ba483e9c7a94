package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents at a bank or a telecom company: one order, one charge, one SIM or one payee after the other.

func accountsLookalikes() []kind {
	return []kind{
		{name: "standing_orders_moved_to_new_account", build: standingOrdersMovedToNewAccount},
		{name: "fraud_disputes_filed_in_turn", build: fraudDisputesFiledInTurn},
		{name: "sims_of_company_activated", build: simsOfCompanyActivated},
		{name: "payees_screened_one_by_one", build: payeesScreenedOneByOne},
	}
}

// iban returns the number of an account; its check digits are not valid.
func (p *generator) iban() string {
	return fmt.Sprintf("%s00%018d", p.pick("DE", "AT", "PL", "IE"), p.Uint64N(1e18))
}

// standingOrdersMovedToNewAccount sets up each standing order at the new account and ends it at the old one; all answers are alike.
func standingOrdersMovedToNewAccount(p *generator) (entries []entry, _ int) {
	d, from, to, first := p.desk(), p.iban(), p.iban(), fmt.Sprintf("2026-%02d-01", p.between(7, 12))
	payees := p.distinctWords(p.between(4, 9))
	ids, amounts, list := make([]string, len(payees)), make([]int, len(payees)), ""
	for k, payee := range payees {
		ids[k], amounts[k] = fmt.Sprintf("so_%06x", p.IntN(1<<24)), 5*p.between(2, 240)
		list += fmt.Sprintf("%s{\"id\":%q,\"payee\":%q,\"amount\":%d,\"interval\":\"monthly\"}", []string{"", ","}[min(k, 1)], ids[k], capitalized(payee)+p.pick(" Ltd", " Insurance", " Rent", " Energy", ""), amounts[k])
	}
	chats := p.coin()
	entries = append(entries, user("I have a new account with you. Please move all my standing orders from "+from+" to "+to+"."),
		d.use("list_standing_orders", object("iban", from), json.RawMessage("["+list+"]")).after(thought{"", p.pick("Let me list the standing orders.", "Which orders are there?")}))
	last := ""
	for k, payee := range payees {
		t := p.nextItem(last, capitalized(payee))
		last = payee
		entries = append(entries,
			d.use("create_standing_order", object("iban", to, "payee_of", ids[k], "amount", amounts[k], "interval", "monthly", "first", first), object("id", fmt.Sprintf("so_%06x", p.IntN(1<<24)), "status", "active", "next", first)).after(t),
			d.use("cancel_standing_order", object("iban", from, "id", ids[k]), object("id", ids[k], "status", "cancelled")).after(thought{"", p.pick("End the old one.", "Now cancel it at the old account.", "")}))
		if chats && k+1 < len(payees) && p.IntN(3) == 0 {
			entries = append(entries, say(fmt.Sprintf("%d of %d are moved, I'm going on.", k+1, len(payees))), user(p.pick("Great.", "OK, thanks.", "Good, take your time.")))
		}
	}
	return append(entries, say(fmt.Sprintf("All %d standing orders run from the new account as of %s.", len(payees), first))), 0
}

// fraudDisputesFiledInTurn disputes one charge after the other of a stolen card; each is filed by the same tool with the same reason.
func fraudDisputesFiledInTurn(p *generator) (entries []entry, _ int) {
	d, card, now := p.desk(), fmt.Sprintf("card_%08x", p.Uint32()), p.passingTime()
	shops, returned := p.distinctWords(p.between(5, 11)), 0
	batch := p.IntN(3) == 0
	asks := []string{"And %d.%02d at %s.", "%d.%02d, %[3]s. Not mine.", "Then %d.%02d to %s.", "I did not pay %d.%02d at %s either.", "The next one is %d.%02d at %s."}
	tells := []string{"Filed under %s. What is the next one?", "That is dispute %s, the money is back for now. Which one is next?", "Thank you, %s is open. Please go on.", "Disputed as %s. Are there more?"}
	w := wording{
		[]string{"I'll file the first dispute.", "Let me dispute the charge."},
		[]string{"Another charge.", "Filed.", "That dispute is open.", ""},
		[]string{"Let me file this one.", "I'll dispute it.", "Now the next charge.", "The next dispute."},
	}
	if batch {
		entries = append(entries, user("My card was stolen. All of these are not mine: "+strings.Join(shops, ", ")+". Please dispute them."))
	}
	amounts, ids, booked := make([]int, len(shops)), make([]string, len(shops)), ""
	for k, shop := range shops {
		amounts[k], ids[k] = p.between(300, 90_000), "tx_"+p.uuid()[:8]
		booked += fmt.Sprintf("%s{\"id\":%q,\"merchant\":%q,\"amount\":%q}", []string{"", ","}[min(k, 1)], ids[k], capitalized(shop), money(amounts[k]))
	}
	for k, shop := range shops {
		amount, merchant := amounts[k], capitalized(shop)
		if !batch {
			ask := fmt.Sprintf(p.pick(asks...), amount/100, amount%100, merchant)
			if k == 0 {
				ask = "My card was stolen, and there are many charges that I did not make. The first is " + money(amount) + " at " + merchant + "."
			}
			entries = append(entries, user(ask))
		}
		if k == 0 {
			entries = append(entries, d.use("list_card_transactions", object("card_id", card, "days", p.pickInt(7, 14, 30)), json.RawMessage("["+booked+"]")).after(thought{"", p.pick("Let me look at the charges.", "Which charges are there?")}))
		}
		id, tell := fmt.Sprintf("DSP-%07d", p.IntN(10_000_000)), p.pick(tells...)
		args := object("card_id", card, "transaction_id", ids[k], "reason", "fraud_card_stolen", "amount", money(amount))
		if returned += amount; p.IntN(7) == 0 {
			returned -= amount
			tell = "This charge is not yet booked, so I recorded it as %s. What is the next one?"
			entries = append(entries, d.use("file_dispute", args, object("status", "recorded", "dispute_id", id, "provisional_credit", "none", "note", "the charge is not yet booked", "filed_at", now())).after(w.of(p, k)))
		} else {
			entries = append(entries, d.use("file_dispute", args, object("status", "open", "dispute_id", id, "provisional_credit", money(amount), "filed_at", now())).after(w.of(p, k)))
		}
		if !batch {
			entries = append(entries, say(fmt.Sprintf(tell, id)))
		}
	}
	if !batch {
		entries = append(entries, user(p.pick("That was the last one.", "No, that is all. Thank you.")))
	}
	return append(entries, say(fmt.Sprintf("%d disputes are filed, and %s is credited for now.", len(shops), money(returned)))), 0
}

// simsOfCompanyActivated activates one SIM after the other of a company, and looks until each is active.
func simsOfCompanyActivated(p *generator) (entries []entry, _ int) {
	d, company, base := p.desk(), capitalized(p.word())+" Ltd", p.Uint64N(1e11)
	n, now, dictated := p.between(5, 10), p.passingTime(), p.coin()
	plan := p.pick("Fleet S", "IoT 100", "Business M", "Data only")
	if !dictated {
		entries = append(entries, user(fmt.Sprintf("We are %s and have received %d SIM cards, in a row from 8944%011d00. Please activate all of them with %s.", company, n, base, plan)))
	}
	last := ""
	for k := range n {
		iccid := fmt.Sprintf("8944%011d%02d", base, k)
		if dictated {
			ask := fmt.Sprintf(p.pick("Next: %s.", "%s", "And %s.", "The next card is %s."), iccid)
			if k == 0 {
				ask = "I'm calling for " + company + ". We have new SIM cards for " + plan + ". The first is " + iccid + "."
			}
			entries = append(entries, user(ask))
		}
		t := p.nextItem(last, "card "+iccid)
		last = "card " + iccid
		number := fmt.Sprintf("+44 7%d %06d", p.between(100, 999), p.IntN(1_000_000))
		entries = append(entries, d.use("activate_sim", object("iccid", iccid, "plan", plan), object("iccid", iccid, "status", "ACTIVATING", "requested_at", now())).after(t))
		for range p.pickInt(0, 0, 0, 1) {
			entries = append(entries, d.use("get_sim", object("iccid", iccid), object("iccid", iccid, "status", "ACTIVATING", "checked_at", now())).after(thought{"", p.pick("Is it active?", "")}))
		}
		entries = append(entries, d.use("get_sim", object("iccid", iccid), object("iccid", iccid, "status", "ACTIVE", "msisdn", number, "checked_at", now())).after(thought{"", p.pick("Is it active?", "Let me check it.", "")}))
		if dictated {
			entries = append(entries, say(p.pick("It is active with the number "+number+". The next one, please.", "Active: "+number+".", "Done, the number is "+number+". Please go on.")))
		}
	}
	if dictated {
		entries = append(entries, user(p.pick("That was the last one.", "No more cards, thank you.")))
	}
	return append(entries, say(fmt.Sprintf("All %d cards are active with %s.", n, plan))), 0
}

// payeesScreenedOneByOne screens one payee of a payment file after the other; almost none is on a list, and the answers are alike.
func payeesScreenedOneByOne(p *generator) (entries []entry, _ int) {
	d, file, lists := p.desk(), fmt.Sprintf("PAY-%06d", p.IntN(1_000_000)), []string{"EU", "OFAC", "UN", "HMT"}[:p.between(2, 4)]
	names, held, terse := p.distinctWords(p.between(6, 14)), []string(nil), p.coin()
	w := wording{
		[]string{"I'll screen the payees, one by one.", "Let me begin with the first payee."},
		[]string{"No hit.", "Clear.", "That payee is not listed.", "Nothing.", ""},
		[]string{"Next: %s.", "Now %s.", "On to %s.", "Let me screen %s."},
	}
	payees := make([]string, len(names))
	for k, name := range names {
		payees[k] = capitalized(name) + " " + p.pick("Trading", "GmbH", "Ltd", "Logistics", "SA", "Services")
	}
	entries = append(entries, d.use("get_payment_file", object("id", file), object("id", file, "status", "pending_screening", "payees", payees)).after(thought{"", p.pick("Who is paid by "+file+"?", "Let me read the payment file.")}))
	for k, name := range names {
		payee, t := payees[k], w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, payee)
		}
		if len(held) > 0 && held[len(held)-1] == names[max(0, k-1)] {
			t.seen = "A possible match. I keep that payment back."
		}
		args := object("name", payee, "country", p.pick("DE", "FR", "AE", "SG", "GB", "TR"), "lists", lists, "threshold", 85)
		if terse {
			args = object("name", payee, "payment_file", file)
		}
		result := object("hits", []string{}, "total", 0)
		if !terse {
			result = object("query", payee, "lists", lists, "total", 0, "hits", []string{}, "screening_id", p.uuid())
		}
		if p.IntN(8) == 0 {
			held = append(held, name)
			result = object("hits", []string{strings.ToUpper(payee) + fmt.Sprintf(" (EU, score %d)", p.between(85, 97))}, "total", 1)
		}
		entries = append(entries, d.use("screen_payee", args, result).after(t))
	}
	if len(held) == 0 {
		return append(entries, say(fmt.Sprintf("All %d payees of %s are clear.", len(names), file))), 0
	}
	return append(entries, say(fmt.Sprintf("%d payees of %s are clear, and %d are kept back for a person to look at.", len(names)-len(held), file, len(held)))), 0
}
