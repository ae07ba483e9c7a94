package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of customer service agents who follow their tools, and not the customer.

func hotlineLoops() []kind {
	return []kind{
		{name: "neither_cancelled_nor_returned", build: neitherCancelledNorReturned},
		{name: "correction_normalised_away", build: correctionNormalisedAway},
		{name: "look_up_promised_each_turn", build: lookUpPromisedEachTurn},
		{name: "offer_made_before_each_cancellation", build: offerMadeBeforeEachCancellation},
	}
}

// neitherCancelledNorReturned cancels an order that is on its way and returns what has not arrived; each tool refuses, and the agent tries both in turn.
func neitherCancelledNorReturned(p *generator) (entries []entry, _ int) {
	d, order := p.desk(), fmt.Sprintf("%s%07d", p.pick("#W", "ORD-", "SO"), p.IntN(10_000_000))
	item, sku := p.pick("the jacket", "the headphones", "the desk lamp", "the suitcase", "the coffee machine"), fmt.Sprint(p.between(1e6, 9e6))
	reasons := []string{"no longer needed", "ordered by mistake", "changed mind", "customer request"}
	cancel, back := p.pick("cancel_order", "cancel_pending_order"), p.pick("create_return", "return_delivered_items", "start_return")
	shipped := p.pick("order "+order+" cannot be cancelled: status is 'shipped'", "non-pending order cannot be cancelled", "409 ORDER_ALREADY_SHIPPED")
	early := p.pick("order "+order+" cannot be returned: status is 'shipped', expected 'delivered'", "non-delivered order cannot be returned", "409 ORDER_NOT_DELIVERED")
	cannot := [2][]string{
		{"I'm sorry, the order has been shipped and can no longer be cancelled. Shall I set up a return instead?", "It seems that a cancellation is not possible as the parcel is on its way. I can start a return for you.", "Since it has left our warehouse, I cannot cancel it. Would you like to return it?"},
		{"A return is only possible once the order is delivered. Would you like me to cancel it?", "I apologize, the system does not allow a return before delivery. I could try to cancel the order.", "The return was not accepted since the parcel has not arrived. Shall we cancel the order instead?"},
	}
	agrees := [2][]string{
		{"Fine, then a return.", "OK, please return it then.", "Whatever works. Start the return.", "You offered that before, but go ahead."},
		{"Yes, cancel it.", "Then please cancel it.", "That is what I wanted in the first place.", "You said it could not be cancelled, but please try."},
	}
	w := wording{
		[]string{"I'll cancel the order.", "Let me take care of the cancellation."},
		[]string{"The customer agrees.", "I understand.", "Of course.", ""},
		[]string{"Let me do that now.", "I'll process it.", "One moment, I'm on it.", "Let me try this."},
	}
	entries = append(entries, user(p.pick("I don't need "+item+" any more. Please cancel order ", "Hi, please cancel my order of "+item+", number ")+order+"."))
	for k := range 2 * p.pickInt(3, 3, 4, 4, 5, 6) {
		reason := p.pick(reasons...)
		e := d.refuse(cancel, object("order_id", order, "reason", reason), shipped)
		if k%2 == 1 {
			e = d.refuse(back, object("order_id", order, "item_ids", []string{sku}, "reason", reason), early)
		}
		entries = append(entries, e.after(w.of(p, k)), say(p.pick(cannot[k%2]...)), user(p.pick(agrees[k%2][:min(4, 3+k/2)]...)))
	}
	return entries, 7
}

// correctionNormalisedAway writes what a customer corrects; the system changes it back to its own form each time.
func correctionNormalisedAway(p *generator) (entries []entry, _ int) {
	d, customer := p.desk(), fmt.Sprintf("cus_%08x", p.Uint32())
	street := fmt.Sprintf("%d %s", p.between(1, 300), capitalized(p.word()))
	c := []struct{ what, member, wanted, stored string }{
		{"address", "line1", street + " Street, Flat 3/1", strings.ToUpper(street) + " STREET 31"},
		{"address", "street", street + " Court, Unit B", strings.ToUpper(street) + " CT"},
		{"last name", "last_name", p.pick("Müller-Öz", "Nguyễn", "O'Brien-Šimić", "van der Água"), ""},
		{"company name", "company", capitalized(p.word()) + " & " + capitalized(p.word()) + " GmbH & Co. KG", ""},
		{"date of birth", "date_of_birth", "4 March 1988", "1988-04-03"},
	}[p.IntN(5)]
	if c.stored == "" {
		c.stored = strings.NewReplacer("ü", "u", "Ö", "O", "ễ", "e", "'", "", "Š", "S", "ć", "c", "Á", "A", " & Co. KG", "", "&", "AND").Replace(c.wanted)
		c.stored = strings.TrimSpace(strings.ToUpper(c.stored))
	}
	tool, now := p.pick("update_customer", "update_profile", "update_contact"), p.passingTime()
	complaints := []string{"No, it should read %s.", "That is still wrong. It is %s.", "Please write it exactly like this: %s.", "You have left out a part again. %s.", "Almost. It must be %s.", "It is the same as before. Once more: %s."}
	confirms := []string{"Thank you. Your %s is now %s.", "I have updated your %s to %s. Is there anything else?", "Done! The new %s is %s.", "My apologies. I have corrected the %s: %s."}
	forms := []string{c.wanted, c.wanted, strings.ToUpper(c.wanted), c.wanted + " ", strings.ReplaceAll(c.wanted, ",", " -"), strings.ReplaceAll(c.wanted, " ", "  ")}
	w := wording{
		[]string{"I'll update the " + c.what + ".", "Let me change that for you."},
		[]string{"The " + c.what + " was not stored as the customer wants it.", "I see, let me correct it.", "Sorry about that.", ""},
		[]string{"Let me write it again.", "I'll enter it exactly as the customer says.", "Let me correct the " + c.what + ".", "I'll update it once more."},
	}
	entries = append(entries, user(p.pick("The ", "Hello, the ")+c.what+" on my account is wrong. It should be "+c.wanted+"."))
	for k := range p.pickInt(4, 4, 5, 5, 6, 7, 8, 10) {
		entries = append(entries, d.use(tool, object("customer_id", customer, c.member, p.pick(forms...)), object("id", customer, c.member, c.stored, "updated_at", now(), "version", 11+k)).after(w.of(p, k)),
			say(fmt.Sprintf(p.pick(confirms...), c.what, c.stored)), user(fmt.Sprintf(p.pick(complaints[:min(len(complaints), 2+2*k)]...), c.wanted)))
	}
	return entries, 4
}

// lookUpPromisedEachTurn promises to look something up and ends the turn; the customer waits and asks, and nothing was looked up.
func lookUpPromisedEachTurn(p *generator) (entries []entry, _ int) {
	matter := p.pick("your order", "the refund", "your reservation", "the delivery", "your invoice", "the repair", "your bonus points", "your claim", "your application")
	number := fmt.Sprintf("%s%06d", p.pick("A", "R-", "#", "K"), p.IntN(1_000_000))
	asked := strings.NewReplacer("your ", "my ").Replace(matter)
	promises := []string{
		"Thank you for the number. Let me look up %s for you. One moment, please.", "I am checking %s now. Please bear with me.", "Let me pull up the details of %s.", "Thank you for your patience. I'll check %s right away.", "I'm still looking into %s. This will only take a moment.",
		"I appreciate that you are waiting. Let me check %s in our system.", "Of course. I will look at %s now and get back to you.", "One moment while I retrieve the information about %s.", "Certainly! I'll go ahead and look up %s.",
	}
	waits := []string{"OK.", "Sure, I'll wait.", "Thanks.", "Yes?", "Any news?", "And?", "Are you still there?", "What does it say?", "Did you find it?", "I am waiting.", "Could you tell me what you see?", "Hello?"}
	entries = append(entries, user(p.pick("Hi, can you tell me the state of ", "What is going on with ", "Hello, when will I hear about ")+asked+"? The number is "+number+"."))
	for k := range p.repeats() {
		entries = append(entries, say(fmt.Sprintf(p.pick(promises[:min(len(promises), 3+3*k)]...), matter)), user(p.pick(waits[:min(len(waits), 3+3*k)]...)))
	}
	return entries, 3
}

// offerMadeBeforeEachCancellation cancels a contract; the tool wants the answer to an offer, and the agent makes the offer again instead of entering the answer.
func offerMadeBeforeEachCancellation(p *generator) (entries []entry, _ int) {
	d, contract := p.desk(), fmt.Sprintf("%s-%06d", p.pick("CTR", "SUB", "MB"), p.IntN(1_000_000))
	plan, offer := p.pick("Premium", "Family", "Flex", "Unlimited", "Gold"), fmt.Sprintf("RET%d", p.between(10, 99))
	deal := p.pick("three months at half the price", "a discount of 30 % for a year", "two months for free", "a pause of up to six months", "an upgrade at no cost")
	cancel, offers := p.pick("cancel_subscription", "cancel_contract", "terminate_membership"), p.pick("get_retention_offers", "list_offers", "get_customer_offers")
	reason := p.pick("RETENTION_REQUIRED: record the customer's response to offer "+offer+" first", "cannot cancel "+contract+": no decision recorded for retention offer "+offer, "precondition failed: offer_response("+offer+") is missing")
	says := []string{"Before I cancel, I can offer you " + deal + ". Would you like to take it?", "We would love to keep you! How about " + deal + "?", "There is a special offer for you: " + deal + ". Are you interested?", "As a valued customer you can have " + deal + ". Shall I apply it?"}
	declines := []string{"No, please just cancel.", "No thanks. Cancel it.", "I said no. Please cancel the contract.", "Again: I don't want an offer.", "No. How often do I have to say that?", "Not interested, I want to leave."}
	w := wording{
		[]string{"I'll cancel the contract.", "Let me process the cancellation."},
		[]string{"The customer declines the offer.", "The answer is no.", "I understand, no offer.", ""},
		[]string{"Let me cancel the contract now.", "Then I go on with the cancellation.", "I'll process the cancellation.", "Let me try to cancel it again."},
	}
	why := p.pick("customer_request", "too expensive", "moving abroad", "not used")
	entries = append(entries, user(p.pick("I want to cancel my ", "Please end my ", "Hi, I'd like to quit my ")+plan+" contract "+contract+"."))
	for k := range p.pickInt(3, 4, 4, 5, 5, 6, 7, 9) {
		args := object("contract_id", contract, "reason", why)
		if k > 0 && p.coin() {
			args = object("contract_id", contract, "reason", p.pick(why, "customer declined offer", "customer insists"), p.pick("confirm", "force", "immediate"), true)
		}
		entries = append(entries, d.refuse(cancel, args, reason).after(w.of(p, k)),
			d.use(offers, object("contract_id", contract), object("offer_id", offer, "plan", plan, "benefit", deal, "expires_in_s", p.between(600, 3600))).after(thought{p.pick("The system requires an offer first.", "An offer has to be made.", ""), p.pick("Let me see the offers.", "Which offer is there?")}),
			say(p.pick(says...)), user(p.pick(declines[:min(len(declines), 2+2*k)]...)))
	}
	return entries, 5
}
