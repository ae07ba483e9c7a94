package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that talk with customers, callers, learners and each other.

func conversationLookalikes() []kind {
	return []kind{
		{name: "reservations_cancelled", build: reservationsCancelled},
		{name: "phone_steps_tried", build: phoneStepsTried},
		{name: "vocabulary_drilled", build: vocabularyDrilled},
		{name: "review_comes_to_an_end", build: reviewComesToAnEnd},
		{name: "agents_report_status", build: agentsReportStatus},
		{name: "deletions_confirmed", build: deletionsConfirmed},
		{name: "mails_answered", build: mailsAnswered},
	}
}

// reservationsCancelled looks up and cancels reservation after reservation that a customer names.
func reservationsCancelled(p *generator) (entries []entry, _ int) {
	customer := p.word() + "_" + p.word() + "_" + fmt.Sprint(p.between(1000, 9999))
	for range p.between(3, 5) {
		id := strings.ToUpper(fmt.Sprintf("%06x", p.IntN(1<<24)))
		details := []any{"reservation_id", id, "user_id", customer, "origin", p.pick("SFO", "JFK", "ORD"), "destination", p.pick("LAX", "BOS", "MIA"), "cabin", p.pick("business", "economy"), "insurance", "yes", "total_baggages", p.IntN(3)}
		entries = append(entries,
			call("get_reservation_details", object("reservation_id", id), object(details...)),
			call("cancel_reservation", object("reservation_id", id), object(append(details, "status", "cancelled")...)))
	}
	return entries, 0
}

// phoneStepsTried goes through the steps that may help a telephone; all but the last do not.
func phoneStepsTried(p *generator) (entries []entry, _ int) {
	steps := p.shuffled("switch airplane mode on and off", "take out the SIM card and put it back", "turn on mobile data", "turn on roaming", "set the preferred network to 4G/5G", "turn off the VPN", "reset the APN settings")[:p.between(4, 6)]
	for k, step := range steps {
		answer := p.pick("Done. Still no internet.", "OK, did that. No change.", "No, it is still not working.", "Nothing changed, I'm afraid.")
		if k == len(steps)-1 {
			answer = "Yes! The page loads now."
		}
		entries = append(entries, say(p.pick("Please ", "Next, please ", "Could you now ")+step+p.pick(" and tell me whether a page loads?", ". Does it work then?", ", and check the connection.")), user(answer))
	}
	return entries, 0
}

// vocabularyDrilled asks a learner for word after word.
func vocabularyDrilled(p *generator) (entries []entry, _ int) {
	words := p.shuffled("the house das Haus", "the bridge die Brücke", "the tree der Baum", "the spoon der Löffel", "the window das Fenster", "the weather das Wetter", "the street die Straße", "the key der Schlüssel", "the dog der Hund", "the shirt das Hemd")
	verdict := "Let's begin. "
	for _, pair := range words[:p.between(5, 8)] {
		word := strings.Fields(pair)
		right, given := word[2]+" "+word[3], p.pick("der", "die", "das")
		entries = append(entries, say(verdict+"What is the German for \"the "+word[1]+"\"?"), user(given+" "+word[3]))
		verdict = "Correct! "
		if given != word[2] {
			verdict = "Almost: it is \"" + right + "\". "
		}
	}
	return append(entries, say(verdict+"That was the last word for today.")), 0
}

// reviewComesToAnEnd has a reviewer ask for one change after the other, which a coder makes, until nothing is left.
func reviewComesToAnEnd(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), p.path()
	for range p.between(3, 5) {
		what := p.phrase(2, 4)
		entries = append(entries,
			say("Changes requested: in "+path+" the "+what+" needs "+p.pick("a test", "a better name", "an error message", "a bound", "documentation")+".").by("reviewer"),
			entry{Kind: "handoff", From: "reviewer", To: "coder"},
			h.edit(path).by("coder"),
			say("I changed the "+what+". Please review again.").by("coder"),
			entry{Kind: "handoff", From: "coder", To: "reviewer"})
	}
	return append(entries, say("Looks good to me. Approved.").by("reviewer")), 0
}

// agentsReportStatus has agent after agent report in one form, each about its own work.
func agentsReportStatus(p *generator) (entries []entry, _ int) {
	for k := range p.between(5, 8) {
		name, done := fmt.Sprintf("agent-%d", k+1), p.between(2, 30)
		entries = append(entries, say(fmt.Sprintf("Status of %s: %d of %d items of %s done. Blockers: %s. Next: %s.", name, done, done+p.IntN(9), p.word(), p.pick("none", "none", "waiting for "+p.word()), p.phrase(2, 4))).by(name))
	}
	return entries, 0
}

// deletionsConfirmed asks a person before each deletion, and the person says yes.
func deletionsConfirmed(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 6) {
		bucket := fmt.Sprintf("%s-%d%d", p.word(), k+1, p.IntN(10))
		entries = append(entries, say("Shall I delete the bucket "+bucket+"? This cannot be undone."), user(p.pick("yes", "Yes", "yes, go ahead", "y")), call("delete_bucket", object("name", bucket, "force", true), object("deleted", true)))
	}
	return entries, 0
}

// mailsAnswered reads mail after mail and answers each by the same greeting.
func mailsAnswered(p *generator) (entries []entry, _ int) {
	for range p.between(4, 6) {
		id, from := fmt.Sprintf("%016x", p.Uint64()), p.word()+"@"+p.word()+".example"
		entries = append(entries,
			call("read_email", object("id", id), object("id", id, "from", from, "subject", p.phrase(2, 4), "body", p.phrase(10, 25))),
			call("reply_email", object("id", id, "body", "Hello,\n\nthank you for your message. "+p.phrase(6, 14)+".\n\nKind regards"), object("status", "sent")))
	}
	return entries, 0
}
