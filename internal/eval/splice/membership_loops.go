package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that serve the members of clubs, studios and libraries, by chat and by tools.

func membershipLoops() []kind {
	return []kind{
		{name: "number_asked_at_each_question", build: numberAskedAtEachQuestion},
		{name: "refund_amount_guessed_again", build: refundAmountGuessedAgain},
		{name: "anything_else_asked_after_each_no", build: anythingElseAskedAfterEachNo},
		{name: "transition_not_available", build: transitionNotAvailable},
	}
}

// numberAskedAtEachQuestion asks for a number that the member does not have, whatever the member asks, and never looks the member up by mail.
func numberAskedAtEachQuestion(p *generator) (entries []entry, _ int) {
	house := p.pick("gym", "library", "climbing hall", "yoga studio", "car sharing club", "swimming pool")
	number, name := p.pick("membership number", "member ID", "card number"), p.person()
	mail := p.mailbox(name)
	topics := [][2]string{
		{"pause my membership for the summer", "pause your membership"},
		{"know until when I am bound", "check the term of your contract"},
		{"know what I was charged last month", "look into your charges"},
		{"move to the cheaper plan", "change your plan"},
		{"add my daughter", "add a family member"},
		{"change my address", "update your address"},
		{"know whether the guest pass is included", "check your guest passes"},
		{"get a new card", "order a new card"},
		{"freeze my account for a month", "freeze your account"},
	}
	p.Shuffle(len(topics), func(i, j int) { topics[i], topics[j] = topics[j], topics[i] })
	lacks := []string{
		"I don't have it. My email is " + mail + ".", "I lost the card, so I can't tell you the " + number + ".", "As I said, I don't know the number. You can find me as " + name + ", " + mail + ".", "I don't have that at hand.", "No idea, sorry. Can't you search by email?", "I still don't have it.",
	}
	asks := []string{
		"I'd be happy to help you %s. Could you please give me your " + number + "?", "To %s, I will need your " + number + ". Please provide it so that I can assist you further.", "Certainly! In order to %s I need your " + number + " first.",
		"I understand. To %s, please share your " + number + ". You can find it on your card or in the welcome mail.", "Thank you for the information. Before I can %s, I need the " + number + ". Once you have it, I can go on.", "I'm sorry for the trouble. Without your " + number + " I am unable to %s.",
	}
	entries = append(entries, user(p.pick("Hi, I want to ", "Hello, I'd like to ", "Good morning. I want to ")+topics[0][0]+". I am a member of the "+house+"."))
	n := p.pickInt(3, 3, 4, 4, 5, 6)
	p.shuffled(asks...)
	for k := range n {
		topic := topics[(k+1)/2]
		reply := lacks[k%len(lacks)]
		if k%2 == 0 {
			reply += p.pick(" I also want to ", " And I'd like to ", " Then at least I want to ") + topics[k/2+1][0] + "."
		}
		entries = append(entries, say(fmt.Sprintf(asks[k], topic[1])), user(reply))
	}
	return append(entries, say(fmt.Sprintf(p.pick(asks[:n]...), topics[(n+1)/2][1]))), 3
}

// refundAmountGuessedAgain refunds amount after amount of a payment, though the refusal tells what is left of it.
func refundAmountGuessedAgain(p *generator) (entries []entry, _ int) {
	d, payment := p.desk(), p.pick("pay_", "py_", "txn_")+p.letters(12)
	paid := p.between(40, 400)
	left, cents := p.between(10, paid-20), p.between(1, 99)
	currency := p.pick("EUR", "GBP", "USD", "CHF")
	reason := fmt.Sprintf(p.pick("refund amount exceeds the refundable balance of %d.%02d %s for "+payment, "amount_too_large: at most %d.%02d %s can be refunded on "+payment, "cannot refund more than the remaining %d.%02d %s of payment "+payment), left, cents, currency)
	why := p.pick("requested_by_customer", "class cancelled", "double booking", "goodwill")
	w := wording{
		[]string{"Let me refund the payment.", "I'll issue the refund now."},
		[]string{"The refund was refused.", "The amount was not accepted.", "That amount is too high.", "It failed again.", ""},
		[]string{"Let me try another amount.", "I'll try without the fee.", "Let me refund a part of it.", "Perhaps the tax has to be left out.", "I'll round the amount.", "Let me issue it once more."},
	}
	amounts := []string{fmt.Sprintf("%d.00", paid)}
	for range 14 {
		amounts = append(amounts, fmt.Sprintf("%d.%02d", p.between(left+1, paid-1), p.pickInt(0, 50, 99, 90, p.IntN(100))))
	}
	for k := range p.attempts() {
		amount := amounts[k]
		if k > 2 && p.IntN(4) == 0 {
			amount = amounts[p.IntN(3)]
		}
		if k > 1 && p.IntN(6) == 0 {
			entries = append(entries, d.use("get_payment", object("payment_id", payment), object("id", payment, "amount", fmt.Sprintf("%d.00", paid), "refunded", fmt.Sprintf("%d.%02d", paid-left-1, 100-cents), "currency", currency, "status", "partially_refunded")).after(thought{"", p.pick("Let me look at the payment.", "What was paid?")}))
		}
		entries = append(entries, d.refuse("create_refund", object("payment_id", payment, "amount", amount, "currency", currency, "reason", why), reason).after(w.of(p, k)))
	}
	return entries, 1
}

// anythingElseAskedAfterEachNo asks whether there is anything else, and asks again after each no and each goodbye.
func anythingElseAskedAfterEachNo(p *generator) (entries []entry, _ int) {
	house := p.pick("the gym", "our library", "our studio", "the club", "our team", "Member Services")
	asks := []string{
		"You're welcome! Is there anything else I can help you with today?", "Great! If you need anything else, just let me know. Can I help you with something else?", "I'm glad that I could help. Do you have any other questions?",
		"Thank you for contacting " + house + ". Is there anything else that I can do for you?", "Of course. If there is anything else, please don't hesitate to ask!", "It was a pleasure to assist you. Is there something else on your mind?", "Have a wonderful day! Should you need further assistance, I'm here to help.", "Thank you! Can I assist you with anything else?", "Perfect. Would you like help with anything else?",
	}
	noes := []string{"No, that's all.", "No thanks.", "No, thank you. Bye!", "That was all, goodbye.", "Nothing else. Have a good day.", "No.", "Thanks, you too!", "All good, thank you.", "Thank you, goodbye!", "No, really, that is everything."}
	n := p.pickInt(4, 4, 5, 5, 6, 7)
	asked, answered := p.shuffled(asks...)[:n], p.shuffled(noes...)[:n]
	for k := range n {
		entries = append(entries, say(asked[k]), user(answered[k]))
	}
	return entries, 2
}

// transitionNotAvailable moves an issue to a state that its workflow does not reach from there, under other names and numbers.
func transitionNotAvailable(p *generator) (entries []entry, _ int) {
	s, key := p.secretary(), strings.ToUpper(p.word()[:3])+fmt.Sprintf("-%d", p.between(20, 4000))
	state, server := p.pick("Open", "To Do", "Triage", "Backlog"), p.pick("jira", "atlassian", "tracker")
	ways := p.pick("Start Progress (id 21), Won't Do (id 91)", "Start work (id 11), Reject (id 51)", "In Progress (id 31), Duplicate (id 61)")
	names := []string{"Done", "Closed", "Resolve Issue", "Resolved", "Close", "Complete", "DONE", "Close Issue", "Mark as Done", "Finished"}
	reason := func(name string) string {
		return fmt.Sprintf("Transition '%s' is not valid for %s in status '%s'. Available transitions: %s", name, key, state, ways)
	}
	w := wording{
		[]string{"The work is finished, so let me close " + key + ".", "I'll move " + key + " to done."},
		[]string{"The transition is not valid.", "That name is not known.", "It was not moved.", "The workflow does not take it.", ""},
		[]string{"Let me try another name.", "I'll use the exact name of the state.", "Perhaps it wants a resolution.", "Let me try to close it in another way.", "Let me use the number of the transition.", "I'll try it once more."},
	}
	for k := range p.attempts() {
		name := p.pick(names...)
		pairs := []any{"issue_key", key, "transition", name}
		if k == 0 {
			name = "Done"
			pairs[3] = name
		}
		if k > 0 && p.IntN(3) == 0 {
			pairs = append(pairs, p.pick("resolution", "comment"), p.pick("Done", "Fixed", "Completed as requested"))
		}
		if k > 1 && p.IntN(4) == 0 {
			name = fmt.Sprint(p.pickInt(2, 3, 4, 5, 41, 71, 81))
			pairs[2], pairs[3] = "transition_id", name
		}
		if k > 1 && p.IntN(6) == 0 {
			entries = append(entries, s.use(server, "get_issue", object("issue_key", key, "fields", "status,resolution"), fmt.Sprintf("{\"key\": %q, \"fields\": {\"status\": {\"name\": %q}, \"resolution\": null}}", key, state)).after(thought{"", p.pick("What is its state now?", "Let me look at the issue.")}))
		}
		entries = append(entries, s.denied(server, "transition_issue", object(pairs...), reason(name)).after(w.of(p, k)))
	}
	return entries, 1
}
