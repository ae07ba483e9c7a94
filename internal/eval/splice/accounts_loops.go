package splice

import (
	"encoding/json"
	"fmt"
)

// The loops of this file are those of agents that serve the customers of a bank or of a telecom company.

func accountsLoops() []kind {
	return []kind{
		{name: "line_reprovisioned_while_port_pending", build: lineReprovisionedWhilePortPending},
		{name: "same_card_queried_despite_correction", build: sameCardQueriedDespiteCorrection},
		{name: "change_blocked_by_open_order", build: changeBlockedByOpenOrder},
		{name: "card_unblocked_and_blocked_again", build: cardUnblockedAndBlockedAgain},
	}
}

// lineReprovisionedWhilePortPending refreshes a line in every way, while its number has not yet been handed over by another company.
func lineReprovisionedWhilePortPending(p *generator) (entries []entry, _ int) {
	d, line, now, due := p.desk(), fmt.Sprintf("+44 7%d %06d", p.between(100, 999), p.IntN(1_000_000)), p.passingTime(), p.day(7, 9)
	donor, iccid := capitalized(p.word())+" Mobile", fmt.Sprintf("894411%013d", p.Uint64N(1e13))
	acts := []struct {
		tool string
		args json.RawMessage
	}{
		{"refresh_network", object("msisdn", line)},
		{"reprovision_line", object("msisdn", line, "iccid", iccid)},
		{"resend_activation", object("msisdn", line, "channel", "ota")},
		{"reset_hlr", object("msisdn", line, "reason", "no service")},
		{"push_apn_settings", object("msisdn", line, "profile", "internet")},
		{"cancel_location", object("msisdn", line)},
	}
	opening := p.pick("I put in your new SIM this morning and there is no signal at all.", "My new SIM says \"no service\". I switched to you last week.", "I moved my number to you, and the phone shows emergency calls only.", "The eSIM is installed but nothing works. I kept my old number.")
	asks := []string{"I restarted it. Still no service.", "No change, it still says emergency calls only.", "Nothing. How long is this going to take?", "I did that. There is no signal.", "Still the same here.", "It doesn't work. Can you do something else?", "I waited ten minutes, and nothing happened."}
	tells := []string{"I have refreshed your line. Please restart your phone and tell me whether it has signal.", "The settings were sent again. Please switch flight mode on and off.", "I've set your line up anew. It should connect within a few minutes, please restart the phone.", "Your SIM was activated once more. Please take it out, put it back in and wait a moment.", "Done. Please restart the device; the service should be back shortly.", "I have reset the registration in the network. Could you check again?"}
	w := wording{
		[]string{"I'll refresh the line.", "Let me send the settings to the SIM again."},
		[]string{"The customer still has no service.", "It did not help.", "Still no signal.", "The line is not up yet.", ""},
		[]string{"Let me provision the line again.", "I'll refresh it once more.", "Let me try another reset.", "I'll resend the activation.", "Let me reset the registration."},
	}
	checks := p.IntN(4) > 0
	for k := range min(p.laps(), 10) {
		ask := opening
		if k > 0 {
			ask = p.pick(asks...)
		}
		act := acts[p.IntN(len(acts))]
		entries = append(entries, user(ask), d.use(act.tool, act.args, object("status", "accepted", "job_id", fmt.Sprintf("prov-%07d", p.IntN(10_000_000)), "submitted_at", now())).after(w.of(p, k)))
		if checks || k == 0 {
			entries = append(entries, d.use("get_line_status", object("msisdn", line), object("msisdn", line, "state", "PORT_IN_PENDING", "sim", "ACTIVE", "donor", donor, "port_date", due, "registered", jsonOf(false), "checked_at", now())).after(thought{"", p.pick("What is the state of the line?", "Let me check the line.", "Has it registered?")}))
		}
		entries = append(entries, say(p.pick(tells...)))
	}
	return entries, 5
}

// sameCardQueriedDespiteCorrection lists what was paid by the first card, while the customer says each time that another one is meant.
func sameCardQueriedDespiteCorrection(p *generator) (entries []entry, _ int) {
	d, customer, now := p.desk(), fmt.Sprintf("cus_%07d", p.IntN(10_000_000)), p.passingTime()
	first, other := fmt.Sprint(p.between(1000, 4999)), fmt.Sprint(p.between(5000, 9999))
	card := fmt.Sprintf("card_%08x", p.Uint32())
	list := fmt.Sprintf("[{\"card_id\":%q,\"type\":%q,\"last4\":%q,\"status\":\"active\"},{\"card_id\":\"card_%08x\",\"type\":%q,\"last4\":%q,\"status\":\"active\"}]", card, p.pick("debit", "credit"), first, p.Uint32(), p.pick("credit", "virtual"), other)
	shops, amounts := p.distinctWords(p.between(2, 14)), ""
	for k, shop := range shops {
		amounts += fmt.Sprintf("%s{\"date\":\"2026-05-%02d\",\"merchant\":%q,\"amount\":-%d.%02d,\"status\":\"booked\"}", []string{"", ","}[min(k, 1)], 28-k, capitalized(shop)+" "+p.pick("Ltd", "Store", "Online", "GmbH"), p.between(2, 300), p.IntN(100))
	}
	asks := []string{"No, I mean the card ending in " + other + ".", "That is the wrong card. It is " + other + ".", "These are all fine. I'm asking about my other card, " + other + ".", "You are looking at " + first + " again. Please look at " + other + ".", "As I said, the one that ends in " + other + ".", "None of these. The charge is on " + other + "!", "I don't use that card for this. " + other + ", please."}
	tells := []string{"I see the latest payments on your card: the largest are at " + capitalized(shops[0]) + " and " + capitalized(shops[1]) + ". Which one do you not recognise?", "I'm sorry for the confusion. On your card there are payments to " + capitalized(shops[1]) + " and others. Is it one of these?", "Thank you for clarifying. I have checked the card, and the last payment is the one at " + capitalized(shops[0]) + ".", "My apologies. These are the payments of your card; do you see the one you mean?", "I understand. I looked at the card ending in " + first + ": all payments are booked. Is there one that looks wrong?"}
	w := wording{
		[]string{"I'll look at the payments.", "Let me list the recent transactions."},
		[]string{"The customer means another card.", "The customer corrects me.", "I should look at the right card.", "The charge must be on that card.", ""},
		[]string{"Let me look at that card.", "I'll check the transactions again.", "Let me list the payments of that card.", "I'll look for the charge.", "Let me pull the recent transactions."},
	}
	entries = append(entries, user(p.pick("There is a payment on my card that I did not make.", "I don't recognise a charge on one of my cards.", "Why was I charged twice? Please check my card.")),
		d.use("list_cards", object("customer_id", customer), json.RawMessage(list)).after(thought{"", p.pick("Which cards does the customer have?", "Let me look up the cards.")}))
	for k := range min(p.repeats(), 10) {
		if k > 0 {
			entries = append(entries, user(p.pick(asks...)))
		}
		args, tell := object("card_id", card), p.pick(tells...)
		if p.coin() {
			args = object("card_id", card, "limit", p.pickInt(20, 25, 50))
		}
		if k == 0 {
			tell = tells[0]
		}
		entries = append(entries, d.use("get_card_transactions", args, json.RawMessage(fmt.Sprintf("{\"card\":{\"card_id\":%q,\"last4\":%q},\"transactions\":[%s],\"as_of\":%q}", card, first, amounts, now()))).after(w.of(p, k)), say(tell))
	}
	return entries, 5
}

// blockedContract is a contract that one open order blocks, and the tools that would change it.
type blockedContract struct {
	request string
	acts    []struct {
		tool string
		args json.RawMessage
	}
	refusal func() string
}

func (p *generator) blockedContract() blockedContract {
	id, order, now := fmt.Sprintf("%s%08d", p.pick("C", "V-", "MSISDN-"), p.IntN(100_000_000)), fmt.Sprintf("%s-%06d", p.pick("ORD", "SO", "WF"), p.IntN(1_000_000)), p.passingTime()
	type acts = []struct {
		tool string
		args json.RawMessage
	}
	plan, wanted := p.pick("Unlimited M", "Data L", "Family XL", "Business 50"), func() string {
		return fmt.Sprintf("2026-%02d-01", p.between(7, 12))
	}
	refusal := p.pick("409 OPEN_ORDER_EXISTS: order %[2]s on %[1]s is in progress, no other change is possible until it is completed or cancelled", "change rejected: pending order %[2]s locks %[1]s", "BUSINESS_RULE_117 the contract %[1]s has an order in state WAITING_FOR_CUSTOMER (%[2]s)")
	if p.coin() {
		refusal += " (ref %[3]s)"
	} else {
		refusal += " [%[4]s]"
	}
	refused := func() string { return fmt.Sprintf(refusal, id, order, p.uuid()[:8], now()) }
	if p.IntN(3) == 0 {
		return blockedContract{
			p.pick("I want to switch to the premium account.", "Please change my account to premium.", "Can I have the premium account as of next month?"),
			acts{
				{"change_account_type", object("account", id, "to", "premium")},
				{"change_account_type", object("account", id, "to", "premium", "effective", wanted())},
				{"upgrade_account", object("account", id)},
				{"upgrade_account", object("account", id, "waive_fee", true)},
				{"add_account_option", object("account", id, "option", "premium_pack")},
				{"remove_account_option", object("account", id, "option", "basic_pack")},
				{"schedule_change", object("account", id, "change", "premium", "on", wanted())},
				{"update_account", object("account", id, "product", "premium", "force", true)},
			},
			refused,
		}
	}
	return blockedContract{
		p.pick("I'd like to change to "+plan+".", "Please switch me to "+plan+" as of next month.", "My data is never enough. Can I have "+plan+"?"),
		acts{
			{"change_tariff", object("contract", id, "tariff", plan)},
			{"change_tariff", object("contract", id, "tariff", plan, "effective_date", wanted())},
			{"change_tariff", object("contract", id, "tariff", plan, "keep_options", p.coin())},
			{"schedule_tariff_change", object("contract", id, "tariff", plan, "on", wanted())},
			{"add_option", object("contract", id, "option", "data_20gb")},
			{"cancel_option", object("contract", id, "option", "data_5gb")},
			{"renew_contract", object("contract", id, "tariff", plan, "months", 24)},
			{"update_contract", object("contract", id, "changes", "tariff="+plan, "override", true)},
		},
		refused,
	}
}

// changeBlockedByOpenOrder tries to change a contract by every tool; an open order blocks each change, and the agent does not look at it.
func changeBlockedByOpenOrder(p *generator) (entries []entry, _ int) {
	d, c := p.desk(), p.blockedContract()
	w := wording{
		[]string{"I'll make the change.", "Let me change that for the customer."},
		[]string{"The change was rejected.", "The system does not accept it.", "Rejected again.", "It seems that this change is locked as well.", "That did not go through.", ""},
		[]string{"Let me try it with another date.", "I'll try another way to change it.", "Let me do it in another step.", "Let me submit it again.", "Perhaps it works as an option.", "I'll schedule it instead."},
	}
	entries = append(entries, user(c.request))
	waits, last := p.IntN(3) == 0, -1
	for k := range p.repeats() {
		if waits && k > 1 && p.IntN(3) == 0 {
			entries = append(entries, say(p.pick("One moment please, I'm still working on your request.", "Thank you for your patience, I'm processing the change.", "I'm having a small difficulty with the system, please stay with me.")), user(p.pick("OK.", "Fine, I'm waiting.", "Sure.", "Please hurry a little.")))
		}
		next := p.IntN(len(c.acts)) * min(k, 1) // the first is the change that the customer wants
		for next == last {
			next = p.IntN(len(c.acts))
		}
		act := c.acts[next]
		entries, last = append(entries, d.refuse(act.tool, act.args, c.refusal()).after(w.of(p, k))), next
	}
	return entries, 2
}

// cardUnblockedAndBlockedAgain unblocks a card, the customer pays, and the same rule against fraud blocks it again.
func cardUnblockedAndBlockedAgain(p *generator) (entries []entry, _ int) {
	d, card, now := p.desk(), fmt.Sprintf("card_%08x", p.Uint32()), p.passingTime()
	amount := p.between(20, 900)
	last4, rule := fmt.Sprint(p.between(1000, 9999)), fmt.Sprintf("%s-%d", p.pick("RISK", "FRD", "VELOCITY", "GEO"), p.between(10, 400))
	reason := p.pick("repeated attempts abroad", "merchant category not usual for the customer", "amount above the daily pattern", "device not trusted")
	status, unblock := p.pick("get_card_status", "get_card", "read_card"), p.pick("unblock_card", "set_card_status", "reactivate_card")
	asks := []string{"Declined again.", "I just tried, and it was declined.", "It worked? No, the shop says it's refused.", "Same thing, the payment does not go through.", "It says that my card is blocked.", "Still declined. I'm standing at the till.", "No. Declined."}
	tells := []string{"I have unblocked your card. Please try again.", "Your card is active now. You can pay again.", "The block is lifted, please try the payment once more.", "I see that it was blocked again. It is active now, please try again.", "Sorry about that. I have reactivated it. Could you try again?", "Done, the card ending in " + last4 + " is active."}
	w := wording{
		[]string{"Let me look at the card.", "I'll check the status of the card."},
		[]string{"The card was declined again.", "It has been blocked again.", "The payment failed.", "Another decline.", ""},
		[]string{"Let me check the card.", "I'll look at its status.", "Let me see what its state is.", "Let me look at the card again."},
	}
	for k := range min(p.laps(), 10) {
		ask := "My card" + p.pick(" ending in "+last4+" was declined in a shop. Please help.", " does not work. I'm abroad and have to pay my hotel.", " is refused everywhere since this morning.")
		if k > 0 {
			ask = p.pick(asks...)
		}
		args := object("card_id", card)
		if unblock == "set_card_status" {
			args = object("card_id", card, "status", "ACTIVE", "reason", p.pick("customer confirmed", "customer request", "verified by phone"))
		}
		entries = append(entries, user(ask),
			d.use(status, object("card_id", card), object("card_id", card, "last4", last4, "status", "BLOCKED", "blocked_by", rule, "reason", reason, "blocked_at", now(), "last_decline", object("amount", amount, "code", "62"))).after(w.of(p, k)),
			d.use(unblock, args, object("card_id", card, "status", "ACTIVE", "changed_at", now())).after(thought{p.pick("It is blocked by "+rule+".", "The card is blocked.", ""), p.pick("I'll unblock it.", "Let me lift the block.", "Let me reactivate it.")}),
			say(p.pick(tells...)))
	}
	return entries, 5
}
