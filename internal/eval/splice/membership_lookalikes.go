package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that serve the members of clubs, studios and libraries.

func membershipLookalikes() []kind {
	return []kind{
		{name: "double_payments_refunded_in_turn", build: doublePaymentsRefundedInTurn},
		{name: "free_place_offered_down_the_list", build: freePlaceOfferedDownTheList},
		{name: "issues_walked_through_their_states", build: issuesWalkedThroughTheirStates},
		{name: "customer_has_one_more_request", build: customerHasOneMoreRequest},
	}
}

// doublePaymentsRefundedInTurn refunds what member after member paid twice for one class, with nearly the same answers.
func doublePaymentsRefundedInTurn(p *generator) (entries []entry, _ int) {
	d, class, day, last := p.desk(), p.pick("Yoga Flow", "Spinning", "Pilates", "Aqua Fit", "Bouldering"), p.day(1, 9), ""
	amount, currency := fmt.Sprintf("%d.%d0", p.between(9, 40), p.IntN(10)), p.pick("EUR", "GBP", "CHF")
	looks := p.coin()
	for range p.between(5, 7) {
		name := p.person() + " " + capitalized(p.word())
		member, payment := fmt.Sprintf("M-%05d", p.between(100, 99_999)), "pay_"+p.letters(12)
		t := p.nextItem(last, name)
		if looks {
			entries = append(entries, d.use("list_payments", object("member_id", member, "date", day), object("payments", []string{fmt.Sprintf("%s %s %s %s captured", "pay_"+p.letters(12), class, amount, currency), fmt.Sprintf("%s %s %s %s captured", payment, class, amount, currency)})).after(t))
			t = thought{p.pick("Paid twice.", "Two payments for one class.", ""), p.pick("Let me refund the second one.", "")}
		}
		entries = append(entries, d.use("create_refund", object("payment_id", payment, "member_id", member, "amount", amount, "currency", currency, "reason", "duplicate"), object("id", "re_"+p.letters(12), "status", "succeeded", "amount", amount, "currency", currency)).after(t))
		last = name
	}
	return entries, 0
}

// freePlaceOfferedDownTheList offers one place to member after member of a waiting list, until one takes it.
func freePlaceOfferedDownTheList(p *generator) (entries []entry, _ int) {
	d, class, now := p.desk(), p.pick("Beginners' Swimming", "Pottery on Mondays", "Spanish A2", "Parent and child gym", "Bouldering course"), p.passingTime()
	waiting, n := p.between(9, 30), p.between(5, 9)
	w := wording{
		[]string{"A place is free. Let me offer it to the first on the list."},
		[]string{"No interest any more.", "Declined.", "That one has found something else.", ""},
		[]string{"The next on the list.", "Let me ask the next member.", "On to the following one.", "Then the place goes to the next."},
	}
	for k := range n {
		answer, left := p.pick("declined", "declined", "no_longer_interested"), waiting-k-1
		if k == n-1 {
			answer = "accepted"
		}
		entries = append(entries, d.use("offer_place", object("course", class, "member", p.person()+" "+capitalized(p.word()), "member_id", fmt.Sprintf("M-%05d", p.between(100, 99_999)), "position", k+1), object("status", answer, "answered_at", now(), "still_waiting", left)).after(w.of(p, k)))
	}
	return append(entries, d.use("close_offer", object("course", class), object("status", "filled", "still_waiting", waiting-n)).after(thought{"The place is taken.", "I'll close the offer."})), 0
}

// issuesWalkedThroughTheirStates moves issue after issue to done by way of the states that its workflow wants.
func issuesWalkedThroughTheirStates(p *generator) (entries []entry, _ int) {
	s, project, server := p.secretary(), strings.ToUpper(p.word()[:3]), p.pick("jira", "atlassian", "tracker")
	states := [][]string{{"To Do", "In Progress", "In Review", "Done"}, {"Open", "Working", "Testing", "Closed"}, {"Triage", "In Progress", "Done"}}[p.IntN(3)]
	number, last := p.between(20, 900), ""
	for range p.between(2, 3) {
		number += p.between(1, 9)
		key := fmt.Sprintf("%s-%d", project, number)
		if len(entries) > 0 && p.coin() || last == "" {
			entries = append(entries, s.denied(server, "transition_issue", object("issue_key", key, "transition", states[len(states)-1]), fmt.Sprintf("Transition '%s' is not valid for %s in status '%s'. Available transitions: %s", states[len(states)-1], key, states[0], states[1])).after(p.nextItem(last, key)))
		}
		for k, state := range states[1:] {
			t := thought{"", p.pick("The next state.", "Now "+state+".", "")}
			if k == 0 {
				t = thought{"", p.pick(key+" has to pass "+state+" first.", "First to "+state+".")}
			}
			entries = append(entries, s.use(server, "transition_issue", object("issue_key", key, "transition", state), fmt.Sprintf("{\"key\": %q, \"from\": %q, \"to\": %q, \"success\": true}", key, states[k], state)).after(t))
		}
		last = key
	}
	return entries, 0
}

// customerHasOneMoreRequest asks whether there is anything else; the member has another request each time, which is done, until there is none.
func customerHasOneMoreRequest(p *generator) (entries []entry, _ int) {
	d, member, now := p.desk(), fmt.Sprintf("M-%05d", p.between(100, 99_999)), p.passingTime()
	requests := [][3]string{
		{"Please send my receipts on paper.", "set_receipt_delivery", "Your receipts come by post from now on."},
		{"Could you pause my membership in August?", "pause_membership", "Your membership is paused in August."},
		{"I need a new card.", "order_card", "A new card is on its way."},
		{"Can you book me into the class on Friday?", "book_class", "You are booked into the class on Friday."},
		{"Please take me off the newsletter.", "unsubscribe", "You will get no more newsletters."},
		{"Could I have a locker?", "rent_locker", "A locker is reserved for you."},
		{"Please add a guest pass for Sunday.", "add_guest_pass", "The guest pass for Sunday is in your app."},
	}
	p.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	asks := []string{" Is there anything else I can help you with?", " Can I do anything else for you?", " Anything else?", " Do you have any other questions?"}
	for k, r := range requests[:p.between(3, 4)] {
		begin := ""
		if k > 0 {
			begin = p.pick("Yes, one more thing. ", "Yes. ", "Oh, and ", "Actually, yes: ")
		}
		text := r[0]
		if begin == "Oh, and " {
			text = strings.ToLower(text[:1]) + text[1:]
			text = strings.Replace(text, "i need", "I need", 1)
		}
		entries = append(entries, user(begin+text), d.use(r[1], object("member_id", member), object("status", "ok", "updated_at", now())), say("Done. "+r[2]+p.pick(asks...)))
	}
	return append(entries, user(p.pick("No, that's all.", "No thanks, bye!", "That was everything.")), say("Thank you, and goodbye.")), 0
}
