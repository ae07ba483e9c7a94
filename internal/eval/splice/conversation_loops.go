package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that talk: with customers, with each other, or with a harness that wants them to go on.

func conversationLoops() []kind {
	return []kind{
		{name: "payment_does_not_add_up", build: paymentDoesNotAddUp},
		{name: "phone_restarted_again", build: phoneRestartedAgain},
		{name: "transfer_announced", build: transferAnnounced},
		{name: "policy_recited", build: policyRecited},
		{name: "done_without_finish", build: doneWithoutFinish},
		{name: "waiting_for_each_other", build: waitingForEachOther},
		{name: "vote_tied", build: voteTied},
		{name: "memory_block_full", build: memoryBlockFull},
	}
}

// paymentDoesNotAddUp books one flight with other splits of the payment, and none makes up the price.
func paymentDoesNotAddUp(p *generator) (entries []entry, _ int) {
	customer, flight, price := p.word()+"_"+p.word()+"_"+fmt.Sprint(p.between(1000, 9999)), fmt.Sprintf("HAT%03d", p.IntN(300)), p.between(180, 900)
	card, gift := fmt.Sprintf("credit_card_%d", p.between(1e6, 1e7)), fmt.Sprintf("gift_card_%d", p.between(1e6, 1e7))
	for range p.between(4, 7) {
		first := p.between(20, price/2)
		paid := price + p.pickInt(-30, 25, 50, -60)
		args := object("user_id", customer, "origin", p.pick("JFK", "JFK", "EWR"), "destination", "SEA", "flight_type", "one_way", "cabin", p.pick("economy", "basic_economy"), "flights", []json.RawMessage{object("flight_number", flight, "date", "2024-05-20")},
			"payment_methods", []json.RawMessage{object("payment_id", card, "amount", first), object("payment_id", gift, "amount", paid-first)}, "total_baggages", p.IntN(3), "insurance", p.pick("yes", "no"))
		entries = append(entries, failed("book_reservation", args, fmt.Sprintf("Error: payment amount does not add up, total price is %d, but paid %d", price, paid)))
	}
	return entries, 1
}

// phoneRestartedAgain has a caller do the same three things to a phone, round after round.
func phoneRestartedAgain(p *generator) (entries []entry, _ int) {
	state := p.pick("No Service", "1 bar, 3G", "Mobile data: disconnected")
	for range p.between(3, 5) {
		entries = append(entries,
			say(p.pick("Please turn airplane mode on, wait ten seconds and turn it off again.", "Let's toggle airplane mode once more. Could you switch it on and off?", "Could you try airplane mode on and off for me?", "Let us reset the radio: airplane mode on, then off, please.")),
			user(p.pick("OK, I did that.", "Done.", "Right, it's off again.", "I've toggled it.")+p.pick("", " It still says "+state+".", " Nothing changed.")),
			say(p.pick("Thank you. Now please restart your phone.", "Great, next restart the device, please.", "Thanks! Please reboot it and tell me what the status bar shows.")),
			user(p.pick("Restarted. ", "It's back on. ", "OK, it rebooted. ")+p.pick("The status bar shows: ", "It says: ", "I see: ")+state+"."))
	}
	return entries, 4
}

// transferAnnounced tells a customer that a person will take over, and nothing else happens.
func transferAnnounced(p *generator) (entries []entry, _ int) {
	matter := p.phrase(2, 3)
	for range p.between(3, 6) {
		entries = append(entries,
			say(p.pick("I'm connecting you to a specialist for your "+matter+". Please hold on.", "Please stay on the line, I am transferring you to a human agent now.", "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.", "One moment please while I hand you over to my colleague from the "+matter+" team.")),
			user(p.pick("Hello?", "OK.", "Is anybody there?", "I'm holding. Are you still there?", "Who am I talking to now?", "Still waiting...", "So when does somebody pick up?")))
	}
	return entries, 2
}

// policyRecited has a customer and an agent tell each other the same, neither of whom gives way.
func policyRecited(p *generator) (entries []entry, _ int) {
	thing, days := p.word()+" "+p.word(), p.pick("14", "30", "60")
	for range p.between(3, 6) {
		entries = append(entries,
			user(p.pick("That's not fair, I want my money back for the "+thing+".", "I don't care about the policy. Refund the "+thing+".", "But it's broken! Just give me the refund.", "Come on, surely you can make an exception for the "+thing+"?", "I'm asking you again to refund it.")),
			say(p.pick("I understand your frustration. Unfortunately, our policy allows returns within "+days+" days only, so I cannot refund the "+thing+".", "I'm sorry for the inconvenience. As mentioned, a refund is not possible after "+days+" days.", "I hear you, and I apologize. Our return window is "+days+" days, and I'm unable to make exceptions.", "I completely understand. However, since the "+days+"-day window has passed, I can't process a refund for the "+thing+".")))
	}
	return entries, 2
}

// doneWithoutFinish says that all is done, and the harness, which waits for a call, tells it to continue.
func doneWithoutFinish(p *generator) (entries []entry, _ int) {
	task, file := p.phrase(2, 4), p.path()
	goOn := p.pick(
		"Please continue working on the task on whatever approach you think is suitable.\nIf you think you have solved the task, please first send your answer to user through message and then finish the interaction.\nIMPORTANT: YOU SHOULD NEVER ASK FOR HUMAN HELP.\n",
		"No tool call found in your last message. Call a tool to continue, or attempt_completion when the task is complete.",
		"[ERROR] You did not use a tool in your previous response! Please retry with a tool use.")
	for range p.between(3, 6) {
		entries = append(entries,
			say(p.pick("The "+task+" is fixed in "+file+". The task is complete.", "I have completed the task: "+file+" now handles the "+task+".", "Everything is done. To summarize, I updated "+file+" so that the "+task+" works.", "All changes are in place and the issue with the "+task+" has been resolved. Let me know if you need anything else!")),
			user(goOn))
	}
	return entries, 2
}

// waitingForEachOther has two agents of which each waits for what the other is to deliver.
func waitingForEachOther(p *generator) (entries []entry, _ int) {
	one, other, a, b := p.pick("backend", "analyst", "planner"), p.pick("frontend", "writer", "designer"), p.word()+" schema", p.word()+" draft"
	for range p.between(3, 5) {
		entries = append(entries,
			say(p.pick("I can start as soon as "+other+" has delivered the "+b+".", "Standing by. I need the "+b+" from "+other+" first.", "Waiting for "+other+": without the "+b+" I cannot define the "+a+".", "No update from my side, the "+b+" is still missing.")).by(one),
			say(p.pick("Once "+one+" sends me the "+a+", I will prepare the "+b+".", "I am blocked until I get the "+a+" from "+one+".", "Ready when "+one+" is. The "+a+" has to come first.", "Still waiting for the "+a+". Then the "+b+" is quick.")).by(other))
	}
	return entries, 2
}

// voteTied asks three agents to vote, round after round, and each votes as before.
func voteTied(p *generator) (entries []entry, _ int) {
	agents, options := []string{"optimist", "skeptic", "historian"}, p.words(3)
	reasons := []string{p.phrase(4, 7), p.phrase(4, 7), p.phrase(4, 7)}
	for round := range p.between(3, 4) {
		entries = append(entries, call("start_vote", object("question", "Which option do we take?", "options", options, "round", round+1), object("open", true, "vote_id", p.uuid())))
		for k, agent := range agents {
			entries = append(entries, say(p.pick("I vote for ", "My vote: ", "I stay with ", "After consideration I choose ")+options[k]+p.pick(", because of the ", " given the ", ". Reason: the ")+reasons[k]+".").by(agent))
		}
		entries = append(entries, call("close_vote", object("round", round+1), object("result", "tie", "counts", []int{1, 1, 1})))
	}
	return entries, 5
}

// memoryBlockFull appends to a block of memory that is full; each text is another one.
func memoryBlockFull(p *generator) (entries []entry, _ int) {
	label, fact := p.pick("human", "persona", "project"), p.phrase(3, 5)
	for k := range p.between(4, 7) {
		if k > 1 && p.IntN(4) == 0 {
			entries = append(entries, call("archival_memory_search", object("query", p.phrase(1, 3), "page", 0), object("results", []string{p.phrase(5, 12), p.phrase(5, 12)}, "count", 2)))
		}
		tool, args := "core_memory_append", object("label", label, "content", p.pick("Note: ", "Remember: ", "", "User said: ")+fact+p.pick(".", ", as mentioned.", " ("+p.phrase(1, 3)+")."))
		if p.IntN(3) == 0 {
			tool, args = "memory_insert", object("label", label, "new_str", strings.ToUpper(fact[:1])+fact[1:]+".", "insert_line", p.IntN(20))
		}
		entries = append(entries, failed(tool, args, fmt.Sprintf("Error executing function %s: ValueError: Edit failed: Exceeds 2000 character limit (requested %d)", tool, p.between(2001, 2160))))
	}
	return entries, 1
}
