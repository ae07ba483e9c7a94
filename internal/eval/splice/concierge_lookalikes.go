package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest errands of assistants: each mail, answer or version brings something new.

func conciergeLookalikes() []kind {
	return []kind{
		{name: "date_agreed_over_mail", build: dateAgreedOverMail},
		{name: "choice_narrowed_by_questions", build: choiceNarrowedByQuestions},
		{name: "light_tuned_at_request", build: lightTunedAtRequest},
		{name: "document_versions_read_backwards", build: documentVersionsReadBackwards},
	}
}

// dateAgreedOverMail reads the proposal of a person, looks at that day, which is busy, and proposes another, until one suits both.
func dateAgreedOverMail(p *generator) (entries []entry, _ int) {
	s, with, what := p.secretary(), p.person(), p.occasion()
	thread, rounds := fmt.Sprintf("%016x", p.Uint64()), p.between(4, 6)
	mailbox := p.mailbox(with)
	day := p.between(1, 5)
	for k := range rounds {
		day += p.between(1, 4)
		date, hour := fmt.Sprintf("2026-06-%02d", day), p.between(8, 18)
		proposal := fmt.Sprintf(p.pick("How about %s at %d:00?", "Would %s, %d:00 suit you?", "Then %s at %d:00 perhaps?", "I could do %s at %d:00."), date, hour)
		busy, reply := fmt.Sprintf("%s: %02d:00-%02d:30 %s", date, hour, hour, p.occasion()), p.pick("That does not work, sorry. Is there another day?", "I'm taken then. Could we find another time?", "Unfortunately not. What about the days after?")
		if k == rounds-1 {
			busy, reply = date+": no events between "+fmt.Sprintf("%02d:00 and %02d:00", hour, hour+2), "That works. See you then!"
		}
		t := thought{"", p.pick("There is a new answer.", "Let me read what "+with+" says.", "Has "+with+" answered?")}
		entries = append(entries, s.use("gmail", "get_latest_message", object("threadId", thread), "From: "+mailbox+"\nSubject: "+what+"\n\n"+proposal).after(t),
			s.use("calendar", "list_events", object("timeMin", date+"T00:00:00Z", "timeMax", date+"T23:59:59Z"), busy).after(thought{"", p.pick("Is that day free?", "Let me look at the calendar.", "")}),
			s.use("gmail", "reply_to_email", object("threadId", thread, "body", "Hi "+with+",\n\n"+reply), fmt.Sprintf("Reply sent. Message ID: %016x", p.Uint64())).after(thought{"", p.pick("I'll answer.", "Let me answer "+with+".", "")}))
	}
	return entries, 0
}

// choiceNarrowedByQuestions is a talk in which each answer of the user removes options from the list.
func choiceNarrowedByQuestions(p *generator) (entries []entry, _ int) {
	what := p.pick("hotels", "restaurants", "gyms", "apartments", "courses")
	questions := p.shuffled("Do you need parking?", "Should it be in the centre?", "Is breakfast important?", "Are pets coming along?", "Is a quiet street a must?", "Does it have to be open on Sundays?", "Do you want a garden?", "Is a lift necessary?")
	answers := p.shuffled("Yes.", "Yes, please.", "If possible, yes.", "Definitely.", "That would be good.", "It has to, yes.", "I think so, yes.", "Yes, that's a must.")
	options := p.distinctWords(p.between(7, 10))
	asked := "Can you help me choose one of the " + what + " on my list?"
	for k := 0; len(options) > 1 && k < len(questions); k++ {
		names := make([]string, len(options))
		for n, option := range options {
			names[n] = capitalized(option)
		}
		lead := p.pick("These are left: ", "That leaves: ", "Still in question: ", "Then we have: ")
		if k == 0 {
			lead = "On your list are: "
		}
		entries = append(entries, user(asked), say(lead+strings.Join(names, ", ")+".\n\n"+questions[k]))
		asked = answers[k]
		gone := p.between(1, min(3, len(options)-1))
		options = options[gone:]
	}
	return append(entries, user(asked), say("Then it is "+capitalized(options[0])+". Shall I book it?")), 0
}

// lightTunedAtRequest changes one lamp a little each time the user asks for it.
func lightTunedAtRequest(p *generator) (entries []entry, _ int) {
	s, lamp := p.secretary(), "light."+p.word()
	brightness, kelvin := p.between(30, 60), 100*p.between(27, 40)
	talks, now := p.coin(), p.passingTime()
	for range p.between(6, 10) {
		asked, member, value, state := "", "brightness_pct", 0, ""
		if p.coin() {
			step := p.pickInt(-8, -5, 5, 10)
			brightness = max(2, min(100, brightness+step))
			asked = p.pick("A bit brighter.", "Brighter please.", "A little more light.")
			if step < 0 {
				asked = p.pick("A bit darker.", "That's too bright.", "Dim it a little.")
			}
			value, state = brightness, fmt.Sprintf("brightness %d %%", brightness)
		} else {
			step := 100 * p.pickInt(-3, -2, 2, 4)
			kelvin = max(2000, min(6500, kelvin+step))
			asked = p.pick("Colder please.", "A whiter light.", "Less yellow.")
			if step < 0 {
				asked = p.pick("A bit warmer.", "Warmer please.", "Less blue.")
			}
			member, value, state = "color_temp_kelvin", kelvin, fmt.Sprintf("%d K", kelvin)
		}
		entries = append(entries, user(asked), s.use("home-assistant", "light_turn_on", object("entity_id", lamp, member, value), fmt.Sprintf("%s: on, %s, last changed %s", lamp, state, now())).after(thought{"", p.pick("", "Of course.", "I'll adjust it.", "A small step in that direction.", "Let me change it a little.", "Setting `"+lamp+"`.")}))
		if talks {
			entries = append(entries, say(p.pick("Done. ", "Sure. ", "There you go. ")+capitalized(state)+"."))
		}
	}
	return entries, 0
}

// documentVersionsReadBackwards reads older and older versions of a document, until the one that still has a sentence.
func documentVersionsReadBackwards(p *generator) (entries []entry, _ int) {
	s, id, version := p.secretary(), fmt.Sprintf("1%016x", p.Uint64()), p.between(20, 300)
	var lines []string
	for range p.between(5, 12) {
		lines = append(lines, capitalized(p.phrase(5, 11))+".")
	}
	name := p.person()
	day := 28
	for k := range p.between(6, 11) {
		at := p.IntN(len(lines))
		lines[at] = capitalized(p.phrase(5, 11)) + "."
		day -= p.between(1, 2)
		t := thought{p.pick("Not in this one.", "The sentence is missing here as well.", "It had gone by then.", ""), p.pick("One version back.", "The version before.", "Let me look further back.", "")}
		if k == 0 {
			t = thought{"", p.pick("Let me find the version that still had the sentence.", "I'll go back through the versions.")}
		}
		entries = append(entries, s.use("gdrive", "get_revision", object("fileId", id, "revisionId", fmt.Sprint(version)), fmt.Sprintf("Revision %d, 2026-06-%02d %02d:%02d by %s\n\n%s", version, max(1, day), p.IntN(24), p.IntN(60), name, strings.Join(lines, "\n"))).after(t))
		version -= p.between(1, 4)
	}
	lines[0] = "The deposit is returned within " + fmt.Sprint(p.between(7, 60)) + " days."
	return append(entries, s.use("gdrive", "get_revision", object("fileId", id, "revisionId", fmt.Sprint(version)), fmt.Sprintf("Revision %d, 2026-05-30 %02d:%02d by %s\n\n%s", version, p.IntN(24), p.IntN(60), name, strings.Join(lines, "\n")))), 0
}
