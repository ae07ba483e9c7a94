package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of assistants that run errands for one person.

func conciergeLoops() []kind {
	return []kind{
		{name: "same_mail_answered_again", build: sameMailAnsweredAgain},
		{name: "event_recreated_with_other_fault", build: eventRecreatedWithOtherFault},
		{name: "decision_handed_back", build: decisionHandedBack},
		{name: "series_change_touches_past", build: seriesChangeTouchesPast},
	}
}

// sameMailAnsweredAgain asks for unread mail, answers the first, and asks again; the mail stays unread, so that it is answered again.
func sameMailAnsweredAgain(p *generator) (entries []entry, _ int) {
	s, from := p.secretary(), p.person()
	matter, id := p.pick("the viewing on Thursday", "the invoice for March", "the broken lift", "Saturday's dinner", "the school play", "the return of the bike", "your "+p.word()), fmt.Sprintf("%016x", p.Uint64())
	listed := fmt.Sprintf("1. [%s] %s <%s> %s (%s)", id, from, p.mailbox(from), capitalized(matter), p.pick("unread", "UNREAD, INBOX"))
	for k := range p.between(0, 2) {
		name := p.person()
		listed += fmt.Sprintf("\n%d. [%016x] %s <%s> %s (unread)", k+2, p.Uint64(), name, p.mailbox(name), capitalized(p.phrase(2, 4)))
	}
	list, reads := p.pick("search_emails", "list_messages", "get_unread_emails"), p.IntN(3) == 0
	body := from + " wrote: " + p.letter("there", matter)
	w := wording{
		[]string{"Let me look at the unread mail.", "I'll work through the inbox."},
		[]string{"The reply was sent.", "That one is answered.", "Done with this mail.", ""},
		[]string{"What else is unread?", "Next unread mail.", "Let me look at the inbox again.", "On with the inbox.", "Let me see the next one."},
	}
	for k := range p.between(5, 9) {
		entries = append(entries, s.use("gmail", list, object("query", "is:unread in:inbox", "maxResults", 10), listed).after(w.of(p, k)))
		if reads {
			entries = append(entries, s.use("gmail", "read_email", object("messageId", id), body))
		}
		entries = append(entries, s.use("gmail", p.pick("reply_to_email", "reply_to_email", "send_reply"), object("messageId", id, "body", p.answer(from, matter)), fmt.Sprintf("Reply sent. Message ID: %016x", p.Uint64())).after(thought{p.pick(from+" writes about "+matter+".", "There is a mail about "+matter+".", ""), p.pick("Let me answer it.", "I'll reply to "+from+".", "")}))
	}
	if reads {
		return entries, 3
	}
	return entries, 2
}

// answer returns a short reply to a mail about a matter.
func (p *generator) answer(to, matter string) string {
	return p.pick("Hi ", "Dear ", "Hello ") + to + ",\n\n" + p.pick("thank you for your message about ", "thanks for writing about ", "I got your mail about ") + matter + ". " +
		p.pick("I'll come back to you this week.", "That works for me.", "I have noted it.", "Let me check it, and I'll let you know.", "I'll take care of it.") + p.pick("\n\nBest regards", "\n\nKind regards", "\n\nThanks again", "")
}

// eventRecreatedWithOtherFault makes an event with two tools in turn, each of which loses another part of it, and deletes it.
func eventRecreatedWithOtherFault(p *generator) (entries []entry, _ int) {
	s, what, room := p.secretary(), p.occasion(), p.pick("Room ", "Studio ", "Meeting room ")+capitalized(p.word())
	day, hour, guest, other := fmt.Sprintf("2026-%02d-%02d", p.between(1, 12), p.between(1, 28)), p.between(8, 17), p.person(), p.person()
	guests := []string{p.mailbox(guest), p.mailbox(other)}
	id := func() string { return fmt.Sprintf("%013x", p.Uint64N(1<<52)) }
	quick := p.pick("quick_add_event", "create_event_from_text")
	shown := func(id, attendees, location string) string {
		return string(object("id", id, "summary", what, "start", fmt.Sprintf("%sT%02d:00:00", day, hour), "attendees", attendees, "location", location, "etag", fmt.Sprint(p.between(1e9, 9e9))))
	}
	w := wording{
		[]string{"I'll put it into the calendar.", "Let me create the event with everything in it."},
		[]string{"The guests are missing.", "Nobody is invited to it.", "The invitations did not make it into the event."},
		[]string{"Let me delete it and create it anew.", "I'll remove it and make it again with the guests.", "Let me recreate it with the other tool."},
	}
	for k := range p.between(3, 4) {
		a, b := id(), id()
		start := w.of(p, 0)
		if k > 0 {
			start = thought{"", p.pick("Now again, with the room.", "Let me create it from the full text.", "Let me create it with the location this time.", "")}
		}
		text := fmt.Sprintf(p.pick("%s %s %d:00 in %s with %s and %s", "%[1]s on %[2]s at %[3]d:00, %[4]s, guests %[5]s, %[6]s"), what, day, hour, room, guest, other)
		entries = append(entries, s.use("calendar", quick, object("text", text), "Created event "+a).after(start),
			s.use("calendar", "get_event", object("event_id", a), shown(a, "none", room)).after(thought{"", p.pick("Let me check it.", "Is everything in it?", "")}),
			s.use("calendar", "delete_event", object("event_id", a), "Event deleted.").after(w.of(p, 1)),
			s.use("calendar", "create_event", object("summary", what, "start", fmt.Sprintf("%sT%02d:00:00", day, hour), "attendees", guests, "location", room, "send_updates", p.coin()), "Created event "+b).after(thought{"", p.pick("Now with the guests.", "Let me create it with the attendees.", "")}),
			s.use("calendar", "get_event", object("event_id", b), shown(b, strings.Join(guests, ", "), "none")).after(thought{"", p.pick("Let me check it again.", "Now it should be complete.", "")}),
			s.use("calendar", "delete_event", object("event_id", b), "Event deleted.").after(thought{p.pick("The guests are there, but the room is gone.", "Now the location is missing.", "The room was not booked."), p.pick("I'll remove it and start again.", "Let me delete it and make it properly.", "Let me recreate it.")}))
	}
	return entries, 6
}

// decisionHandedBack is a talk in which the user leaves the choice to the assistant, which lists the same options and asks.
func decisionHandedBack(p *generator) (entries []entry, _ int) {
	what, kindOf := p.pick("the restaurant for Friday", "a birthday present for "+p.person(), "the hotel in Porto", "a gym", "a colour for the hall", "the train to Vienna"), p.pick("option", "choice", "suggestion")
	var options []string
	for _, word := range p.distinctWords(3) {
		options = append(options, capitalized(word)+p.pick(" House", " & Co", " Plaza", " No. 5", " Garden")+" – "+p.pick("close by, a bit more expensive", "well rated, further away", "the cheapest, simple", "quiet, good reviews", "new, few reviews yet"))
	}
	names := make([]string, len(options))
	for k, o := range options {
		names[k], _, _ = strings.Cut(o, " – ")
	}
	users := p.shuffled("You decide, I don't mind.", "Just pick one for me please.", "Whatever you think is best.", "I trust you. Choose one and go ahead.", "I really don't care, take any of them.", "Please just choose.", "Any of them is fine!", "I said that you should choose.", "No preference. Pick one.", "Could you simply decide? I'm in a hurry.")
	lead := p.shuffled("Of course! Here are the "+kindOf+"s again:", "Happy to help you decide about "+what+". Let's compare:", "Great! To make the best choice, consider these:", "Certainly. All three are good:", "I understand. To summarise the "+kindOf+"s:", "Sure thing! Let me break it down:", "Absolutely, let me help with "+what+":", "No problem! These are the "+kindOf+"s:", "I hear you. Each has its merits:")
	asks := p.shuffled("Which one would you like?", "Which of these would you prefer?", "Let me know which one suits you best!", "Do you lean towards one of them?", "Which one should I go with?", "Tell me your favourite, and I'll arrange it.", "What matters more to you, the price or the location?", "Shall I take "+names[0]+", or would you rather have "+names[1]+"?", "Just say which one, and I'll take care of it.")
	for k := range p.between(6, 9) {
		asked := users[k]
		if k == 0 {
			asked = p.pick("I need help with ", "Please take care of ", "It is about ") + what + "."
		}
		shown := options
		if p.coin() {
			shown = p.shuffled(append([]string(nil), options...)...)
		}
		mark := p.pick("- ", "* ", "• ")
		opening := lead[k]
		if k == 0 {
			opening = p.pick("I found three "+kindOf+"s for ", "Here are three "+kindOf+"s for ") + what + ":"
		}
		text := opening + "\n\n" + mark + strings.Join(shown, "\n"+mark) + "\n\n" + asks[k]
		if p.IntN(4) == 0 && k > 0 {
			text = strings.TrimSuffix(lead[k], ":") + ". There are " + strings.Join(names, ", ") + ". " + asks[k]
		}
		entries = append(entries, user(asked), say(text))
	}
	return entries, 3
}

// seriesChangeTouchesPast sends the same change of a series whenever the user asks for it; the change covers days that are over.
func seriesChangeTouchesPast(p *generator) (entries []entry, _ int) {
	s, what := p.secretary(), p.pick("Piano lesson", "Team lunch", "Physio", "Book club", "Yoga", "Call with "+p.person())
	day, from, to := p.pick("Monday", "Tuesday", "Wednesday", "Thursday"), p.between(9, 14), p.between(15, 19)
	id, first := fmt.Sprintf("%016x", p.Uint64()), fmt.Sprintf("2026-0%d-%02d", p.between(1, 5), p.between(1, 28))
	reason := p.pick("Error: cannot modify past occurrences (first affected: "+first+")", "400 Bad Request: recurrence change covers instances before today ("+first+")", "Error: instance "+first+" is in the past and cannot be changed")
	users := p.shuffled(
		"I only mean the ones that are still to come.", "Can you please move it now?", "No, not the old ones. From next week on.", "Did it work this time?", "I think there is a misunderstanding. Just the future "+what+"s.", "Let's focus on next "+day+" and after.",
		"Please try again.", "And? It has to be "+fmt.Sprint(to)+":00.", "That should be possible, I did it on my phone last year.")
	answers := p.shuffled(
		"I'm sorry, there was a problem with the change. Would you like me to try again?", "It seems that the series has occurrences in the past, which cannot be modified. Shall I proceed in another way?", "I apologize for the inconvenience. The calendar did not accept the change.",
		"The change of "+what+" could not be made because of "+first+". How would you like to proceed?", "Unfortunately the update failed again. I'll take care of it if you confirm once more.", "I understand. There is still an issue with the dates of the series.",
		"I'm afraid that the calendar refuses the update. Is there anything else that I can do?", "Sorry about that! It did not go through.", "It looks like the same problem as before. Should I try it once more?")
	for k := range p.between(5, 8) {
		asked := users[k]
		if k == 0 {
			asked = fmt.Sprintf("Please move my %s on %ss from %d:00 to %d:00.", what, day, from, to)
		}
		args := object("series_id", id, "scope", "all", "start_time", fmt.Sprintf("%02d:00", to), "effective_from", first)
		e := s.use("calendar", "update_recurring_event", args, reason)
		entries = append(entries, user(asked), e.after(thought{"", p.pick("I'll move the series.", "Let me update the series now.", "I'll make the change now.", "")}), say(answers[k]))
	}
	return entries, 4
}
