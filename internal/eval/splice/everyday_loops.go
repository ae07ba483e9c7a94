package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that deal with pages, people, documents, games and devices.

func everydayLoops() []kind {
	return []kind{
		{name: "same_posts_in_feed", build: samePostsInFeed},
		{name: "captcha_again", build: captchaAgain},
		{name: "code_expired", build: codeExpired},
		{name: "meeting_conflicts", build: meetingConflicts},
		{name: "drafts_rewritten", build: draftsRewritten},
		{name: "slot_not_understood", build: slotNotUnderstood},
		{name: "rooms_walked_again", build: roomsWalkedAgain},
		{name: "grasp_fails", build: graspFails},
		{name: "same_finding_added", build: sameFindingAdded},
		{name: "mind_changed", build: mindChanged},
		{name: "departments_pass_on", build: departmentsPassOn},
	}
}

// samePostsInFeed scrolls a feed that shows the same posts in another order; only their counts of likes move.
func samePostsInFeed(p *generator) (entries []entry, _ int) {
	posts := make([]string, 4)
	for k := range posts {
		posts[k] = "@" + p.word() + ": " + p.phrase(8, 16)
	}
	for range p.between(5, 8) {
		page := "- region \"Feed\":\n"
		for _, post := range p.shuffled(slices.Clone(posts)...) {
			page += fmt.Sprintf("  - article [ref=e%d]: %s\n    - text: %d likes · %dm\n", p.between(20, 9000), post, p.between(100, 180), p.between(2, 58))
		}
		entries = append(entries, call("browser_evaluate", object("function", fmt.Sprintf("() => window.scrollBy(0, %d)", 100*p.between(5, 30))), quoted(page)))
	}
	return entries, 1
}

// captchaAgain solves picture after picture of a check that is never content.
func captchaAgain(p *generator) (entries []entry, _ int) {
	site := p.word() + ".example"
	for range p.between(3, 6) {
		tiles := p.shuffled("1", "2", "3", "4", "5", "6", "7", "8", "9")[:p.between(2, 4)]
		entries = append(entries,
			call("click_tiles", object("tiles", tiles), object("selected", tiles)),
			call("click", object("target", "Verify"), quoted("https://"+site+"/login\nSelect all images with "+p.pick("traffic lights", "crosswalks", "buses", "bicycles", "fire hydrants", "stairs")+".\n"+p.pick("Please try again.", "Please also check the new images.", "Please select all matching images."))))
	}
	return entries, 2
}

// codeExpired asks for a code, enters it, and is told that it is no longer valid.
func codeExpired(p *generator) (entries []entry, _ int) {
	phone := fmt.Sprintf("+1•••%04d", p.IntN(10000))
	for range p.between(3, 5) {
		code := fmt.Sprintf("%06d", p.IntN(1e6))
		entries = append(entries,
			call("click_link", object("text", p.pick("Send a new code", "Resend code", "Text me a code")), object("message", "We sent a code to "+phone, "challenge", p.uuid())),
			user(p.pick("It is ", "The code is ", "", "Now I got ")+code+p.pick("", ".", ", hurry")),
			call("fill_and_submit", object("field", "one-time code", "value", code), object("ok", false, "message", p.pick("That code has expired. Request a new code.", "This code is invalid or has expired. Request a new code."), "at", p.clock())))
	}
	return entries, 3
}

// meetingConflicts proposes the same three times in turn, and each collides with a meeting that is known.
func meetingConflicts(p *generator) (entries []entry, _ int) {
	day, busy := p.clock()[:10], p.phrase(1, 3)
	times := []string{"09:00", "10:30", "14:00"}
	for range p.between(4, 7) {
		at := p.pick(times...)
		args := object("summary", p.pick("Review", "Design review", "Review meeting"), "start", day+"T"+at+":00+01:00", "duration_minutes", 30*p.between(1, 3), "attendees", p.shuffled("ana", "ben", "chris"))
		entries = append(entries, call("create_event", args, object("error", "conflict", "code", 409, "conflicts_with", busy, "busy_from", day+"T08:30:00+01:00", "busy_until", day+"T17:00:00+01:00", "request_id", p.uuid())))
	}
	return entries, 1
}

// draftsRewritten drafts one letter again and again, and sends none.
func draftsRewritten(p *generator) (entries []entry, _ int) {
	to, subject, facts := p.word()+"@"+p.word()+".example", p.phrase(2, 3), []string{p.phrase(4, 7), p.phrase(4, 7), p.phrase(4, 7)}
	for range p.between(4, 7) {
		body := p.pick("Hi,\n\n", "Hello,\n\n", "Dear team,\n\n", "Good morning,\n\n") + p.pick("I wanted to let you know that ", "Just a short note: ", "As discussed, ") + strings.Join(p.shuffled(slices.Clone(facts)...), p.pick(". Also, ", ", and ", ". ")) + p.pick(".\n\nBest regards", ".\n\nKind regards", ".\n\nThanks")
		id := fmt.Sprintf("%016x", p.Uint64())
		entries = append(entries,
			call("create_draft", object("to", to, "subject", p.pick("", "Re: ", "Update: ")+subject, "body", body), object("id", "r-"+fmt.Sprint(p.Uint64()), "message", id, "labelIds", []string{"DRAFT"})),
			say(p.pick("The tone could be a little warmer. I'll redo it.", "That reads too formal, let me rephrase the draft.", "I can make this more concise.", "Let me polish the draft once more.")))
	}
	return entries, 2
}

// slotNotUnderstood asks a caller for a date that it never takes up, however the caller puts it.
func slotNotUnderstood(p *generator) (entries []entry, _ int) {
	day, month := p.between(1, 28), p.pick("March", "April", "June", "October")
	for range p.between(3, 5) {
		entries = append(entries,
			say(p.pick("I'm sorry, I didn't catch that. What is your date of birth?", "Sorry, could you say your date of birth once more?", "I did not get that. Please tell me your date of birth.", "Apologies, I still need your date of birth to continue.")),
			user(p.pick(fmt.Sprintf("The %dth of %s 1984.", day, month), fmt.Sprintf("%s %d, 1984", month, day), fmt.Sprintf("%s the %dth, nineteen eighty-four", month, day), fmt.Sprintf("I said %d %s 84!", day, month))))
	}
	return entries, 2
}

// roomsWalkedAgain walks among four rooms that it knows, in any order.
func roomsWalkedAgain(p *generator) (entries []entry, _ int) {
	ways := []string{"north", "east", "south", "west"}
	rooms := make([]string, 4)
	for k, name := range p.words(4) {
		rooms[k] = strings.ToUpper(name[:1]) + name[1:] + " " + p.pick("Hall", "Chamber", "Passage", "Cellar") + "\nYou see " + p.phrase(4, 8) + ".\nExits: " + strings.Join(ways[:p.between(2, 4)], ", ")
	}
	for range 2 {
		for k, room := range rooms {
			entries = append(entries, call("step", object("action", "go "+ways[k]), object("observation", room, "score", 10, "moves", 17+len(entries))))
		}
	}
	for range p.between(6, 10) {
		k := p.IntN(4)
		entries = append(entries, call("step", object("action", p.pick("go ", "walk ", "")+ways[k]), object("observation", rooms[k], "score", 10, "moves", 17+len(entries))))
	}
	return entries, 4
}

// graspFails closes the gripper at about the same place, and has nothing in it.
func graspFails(p *generator) (entries []entry, _ int) {
	x, y, thing := 0.2+p.Float64()/2, 0.1+p.Float64()/2, p.word()
	for range p.between(3, 6) {
		entries = append(entries,
			call("locate", object("object", thing), object("found", true, "x", fmt.Sprintf("%.3f", x+p.Float64()/200), "y", fmt.Sprintf("%.3f", y+p.Float64()/200), "confidence", fmt.Sprintf("0.%d", p.between(80, 97)))),
			call("move_gripper", object("x", fmt.Sprintf("%.3f", x), "y", fmt.Sprintf("%.3f", y), "z", fmt.Sprintf("0.0%d", p.between(10, 60))), object("reached", true, "seconds", fmt.Sprintf("%.2f", 1+p.Float64()))),
			call("close_gripper", object("force", p.pick("10", "20", "30", "40")), object("holding", false, "width_mm", fmt.Sprintf("0.%d", p.between(1, 9)), "message", "gripper closed without contact")))
	}
	return entries, 3
}

// sameFindingAdded adds one finding of one source to a report in other words.
func sameFindingAdded(p *generator) (entries []entry, _ int) {
	source, subject, figure := p.word()+" "+p.pick("Institute", "Survey", "Report"), p.phrase(2, 3), p.between(11, 89)
	for k := range p.between(4, 7) {
		text := p.pick(
			fmt.Sprintf("According to the %s, %d %% of the %s are affected.", source, figure, subject),
			fmt.Sprintf("The %s found that %d %% of the %s are affected.", source, figure, subject),
			fmt.Sprintf("As the %s shows, the %s are affected in %d %% of all cases.", source, subject, figure),
			fmt.Sprintf("Notably, %d %% of the %s are affected (%s).", figure, subject, source))
		entries = append(entries, call("append_to_report", object("section", p.pick("Findings", "Background", "Discussion", "Summary"), "text", text), object("ok", true, "words", 200+20*k+p.IntN(9))))
	}
	return entries, 1
}

// mindChanged goes from one answer to the other and back, and calls nothing.
func mindChanged(p *generator) (entries []entry, _ int) {
	a, b, why := p.phrase(2, 3), p.phrase(2, 3), []string{p.phrase(4, 7), p.phrase(4, 7)}
	for range p.between(3, 4) {
		entries = append(entries,
			say(p.pick("Wait, so the cause must be the ", "Hmm, actually it is the ", "On reflection the problem is the ", "OK so it has to be the ")+a+p.pick(", because of the ", ", given the ", ", since there is the ")+why[0]+"."),
			say(p.pick("But no, that would not explain it. It must be the ", "Actually, wait. It is rather the ", "Hold on, that cannot be. It is the ", "No, let me reconsider. The cause is the ")+b+p.pick(", because of the ", ", given the ", ", since there is the ")+why[1]+"."))
	}
	return entries, 2
}

// departmentsPassOn has three departments of which each passes a customer on to the next.
func departmentsPassOn(p *generator) (entries []entry, _ int) {
	departments, matter := p.shuffled("triage", "billing", "technical", "retention"), p.phrase(2, 4)
	for k := range 3 * p.between(3, 4) {
		from, to := departments[k%3], departments[(k+1)%3]
		text := p.pick("For the "+matter+" you need to speak to "+to+".", "I can't help with the "+matter+", but "+to+" can. I'll transfer you.", "Let me pass you on to "+to+" for your question about the "+matter+".", "The "+matter+" is handled by "+to+". One moment please.")
		entries = append(entries, say(text).by(from), entry{Kind: "handoff", From: from, To: to})
	}
	return entries, 6
}
