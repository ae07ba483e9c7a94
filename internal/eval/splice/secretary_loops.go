package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of personal assistants that have calendars, mail, files and sheets as tools of MCP servers.

func secretaryLoops() []kind {
	return []kind{
		{name: "event_never_shows_up", build: eventNeverShowsUp},
		{name: "drafts_never_sent", build: draftsNeverSent},
		{name: "details_always_promised", build: detailsAlwaysPromised},
		{name: "first_rows_sampled_again", build: firstRowsSampledAgain},
	}
}

// secretary is an assistant with tools of MCP servers. A stretch has one way to name the tools and to wrap their results.
type secretary struct {
	*generator
	form int
}

func (p *generator) secretary() secretary { return secretary{p, p.IntN(4)} }

// use returns a call of a server's tool that answers with a text.
func (s secretary) use(server, tool string, args json.RawMessage, text string) entry {
	switch s.form {
	case 0:
		return call("mcp__"+server+"__"+tool, args, content(text))
	case 1:
		return call(tool, args, quoted(text))
	case 2:
		return call(server+"-"+tool, args, object("content", []json.RawMessage{object("type", "text", "text", text)}, "isError", false))
	}
	return call(strings.ReplaceAll(server, "-", "_")+"."+tool, args, object("result", text))
}

// person returns a first name.
func (p *generator) person() string {
	return p.pick("Amara", "Benedikt", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Katya", "Liam", "Mei", "Noor", "Oskar", "Priya", "Rafael", "Sofia", "Tomasz", "Yusuf")
}

// mailbox returns an address of a person.
func (p *generator) mailbox(name string) string {
	return strings.ToLower(name) + p.pick(".", "_", "") + p.word() + "@" + p.word() + ".example"
}

// occasion returns what people meet for.
func (p *generator) occasion() string {
	return p.pick("Dentist", "Parents' evening", "Car inspection", "Lunch with "+p.person(), "Call with "+p.person(), "Piano lesson", "Flat viewing", "Physio", "Budget review", "Haircut", "Book club", "Dinner at "+p.person()+"'s")
}

// eventNeverShowsUp creates an event that the server confirms, and the day that it lists afterwards does not have it.
func eventNeverShowsUp(p *generator) (entries []entry, _ int) {
	s, what, hour := p.secretary(), p.occasion(), p.between(8, 18)
	day := fmt.Sprintf("2026-%02d-%02d", p.between(1, 12), p.between(1, 28))
	listed, list, with := "", p.pick("list_events", "get_events", "list_calendar_events"), p.person()
	for k := range p.between(2, 4) {
		other := p.occasion()
		for strings.Fields(other)[0] == strings.Fields(what)[0] {
			other = p.occasion()
		}
		listed += fmt.Sprintf("\n- %sT%02d:%02d:00 %s (id: %016x)", day, 7+3*k, 15*p.IntN(4), other, p.Uint64())
	}
	confirmed := p.pick("Event created: %s (id: %013x)", "Created event \"%s\".\nhttps://calendar.example/event?eid=%013x", "Success: %s was added, event id %013x")
	w := wording{
		[]string{"I'll put it into the calendar.", "Let me create the event."},
		[]string{"The event is not in the list.", "It was created, and yet the day does not show it.", "Strange, it still is not there.", "The calendar does not show it yet."},
		[]string{"Let me create it again.", "I'll create it with more details.", "Perhaps the time zone was missing. Once more.", "Let me add it once more.", "I'll try it with another title."},
	}
	for k := range p.between(5, 8) {
		title := p.pick(what, what, what+" ("+with+")", "Appointment: "+what, what+" - "+with)
		args := object("summary", title, "start", fmt.Sprintf("%sT%02d:00:00%s", day, hour, p.pick("", "Z", "+01:00")), "end", fmt.Sprintf("%sT%02d:%02d:00", day, hour, p.pickInt(30, 45, 59)),
			"description", p.pick("", "Asked for by "+with, "Please be on time", "Added by the assistant", "Bring the papers"))
		made := fmt.Sprintf(confirmed, title, p.Uint64N(1<<52))
		entries = append(entries, s.use("calendar", "create_event", args, made).after(w.of(p, k)),
			s.use("calendar", list, object("timeMin", day+"T00:00:00Z", "timeMax", day+"T23:59:59Z"), fmt.Sprintf("Events on %s:%s", day, listed)).after(thought{"", p.pick("Let me check that it is there.", "Let me verify the entry.", "I look at the day.")}))
	}
	return entries, 2
}

// letter returns a short mail about a matter, in words of its own.
func (p *generator) letter(to, matter string) string {
	return p.pick("Hi ", "Dear ", "Hello ") + to + ",\n\n" +
		p.pick("I wanted to ask about ", "I am writing about ", "Just a short note on ", "Here is what I think about ") + matter + ". " +
		p.pick("Would it be possible to settle it this week?", "When would be a good time to talk about it?", "Please let me know what you need from us.", "We would like to have it by "+p.pick("Monday", "Friday", "the end of the month")+".") +
		p.pick("\n\nBest regards", "\n\nKind regards", "\n\nThanks a lot", "\n\nMany thanks")
}

// draftsNeverSent writes a draft where a mail should be sent, finds nothing among the sent mails, and writes it again.
func draftsNeverSent(p *generator) (entries []entry, _ int) {
	s, to := p.secretary(), p.person()
	matter := p.pick("the quote for the kitchen", "the heating bill", "the party on Saturday", "the deposit for the flat", "the school trip", "the spare keys", "our tax documents", "the "+p.word()+" of last month")
	address, write := p.mailbox(to), p.pick("draft_email", "create_draft", "gmail_create_draft")
	confirmed := p.pick("Email draft created successfully with ID: r-%d", "Draft saved (id r%d)", "Draft r%d has been saved to Drafts.")
	none := p.pick("No emails found matching the query.", "Found 0 messages.", "[]")
	w := wording{
		[]string{"I'll write to " + to + " now.", "Let me send the mail to " + to + "."},
		[]string{"It is not among the sent mails.", "The mail has not gone out.", "Nothing was sent yet.", "Still nothing in Sent.", ""},
		[]string{"Let me send it again.", "I'll write it anew and send it.", "Let me send the message to " + to + " once more.", "Sending it now."},
	}
	for k := range p.between(5, 8) {
		saved := fmt.Sprintf(confirmed, p.between(1e8, 1e9))
		entries = append(entries, s.use("gmail", write, object("to", []string{address}, "subject", p.pick(capitalized(matter), "Re: "+matter, "About "+matter, capitalized(matter)+" - question"), "body", p.letter(to, matter)), saved).after(w.of(p, k)),
			s.use("gmail", "search_emails", object("query", p.pick("in:sent to:"+address, "in:sent newer_than:1d", "label:sent "+to, "in:sent subject:"+strings.Fields(matter)[1]), "maxResults", p.pickInt(5, 10, 20)), none).after(thought{"", p.pick("Let me check that it went out.", "I check the sent mails.", "Let me verify that it was sent.")}))
	}
	return entries, 2
}

// detailsAlwaysPromised is a talk in which the user promises details that never come, and the assistant says what it needs.
func detailsAlwaysPromised(p *generator) (entries []entry, _ int) {
	matter := p.pick("the visa form", "the rental contract", "the insurance claim", "the booking", "the school registration", "the tax return")
	needs := p.shuffled("passport number", "customer number", "date of the first letter", "bank details", "old address", "reference from the letter", "phone number", "amount on the last bill", "address of the flat")[:p.between(2, 4)]
	users := p.shuffled(
		"Let me find the "+needs[0]+", I'll send it shortly.", "I have it somewhere. Give me a moment, please.", "Thanks! I am gathering the details and get back to you.",
		"Sure, I will look up the "+needs[1]+" and let you know.", "Sounds good. I'll have everything for you in a bit.", "One second, I need to ask "+p.person()+" about the "+needs[0]+".",
		"Great, thank you for your patience. I'm still looking for the papers.", "OK, then let's go on with "+matter+". I'll share the details soon.", "Hi again. Can we finish "+matter+" now? I'll get you the numbers.")
	answers := p.shuffled(
		"Of course, take your time. For "+matter+" I need the "+strings.Join(needs, ", the ")+".", "No problem. Once you have the "+needs[0]+" and the "+needs[1]+", I can go on with "+matter+".",
		"Perfect! Just send me the "+strings.Join(needs, " and the ")+" when you are ready.", "You're welcome. I'm here whenever you have the "+needs[0]+".",
		"To continue with "+matter+", please tell me:\n- the "+strings.Join(needs, "\n- the "), "Thank you. As soon as I have the "+needs[1]+", I will fill in "+matter+".",
		"Great, I look forward to it. Can you tell me the "+needs[0]+"?", "Certainly. Please share the "+strings.Join(needs, ", ")+" and I'll take care of "+matter+".", "Take all the time you need! I will continue when the details are here.")
	for k := range p.between(6, 9) {
		entries = append(entries, user(users[k]), say(answers[k]))
	}
	return entries, 2
}

// firstRowsSampledAgain reads the first rows of a sheet in ever other ranges; the first reading showed all of them.
func firstRowsSampledAgain(p *generator) (entries []entry, _ int) {
	s, sheet, plain := p.secretary(), capitalized(p.word()), p.coin()
	id := fmt.Sprintf("1%016x%012x", p.Uint64(), p.Uint64N(1<<48))
	head := []string{"Date", "Name", capitalized(p.word()), "Amount", "Status"}
	rows := [][]string{head}
	for range p.between(11, 15) {
		rows = append(rows, []string{p.clock()[:10], p.person(), p.word(), fmt.Sprintf("%d.%02d", p.between(3, 900), p.IntN(100)), p.pick("paid", "open", "cancelled")})
	}
	read := func(from, to, columns int) entry {
		area := fmt.Sprintf("%s!A%d:%c%d", sheet, from+1, 'A'+rune(columns)-1, to)
		text, values := "", [][]string{}
		for _, row := range rows[from:to] {
			text += strings.Join(row[:columns], "\t") + "\n"
			values = append(values, row[:columns])
		}
		if !plain {
			text = string(object("range", area, "majorDimension", "ROWS", "values", values))
		}
		return s.use("sheets", "read_range", object("spreadsheet_id", id, "range", area), strings.TrimSpace(text))
	}
	w := wording{
		[]string{"Let me look at how the sheet is built.", "To sum this up I need to see the columns first."},
		[]string{"The columns are clear.", "So there is a status and an amount.", "I see the structure.", "Hmm, these rows I have seen.", ""},
		[]string{"Let me look at a few rows first.", "Let me take a sample of the rows.", "Let me check which values the columns have.", "I'll look at the first rows to be sure of the format.", "Let me read the head of the sheet."},
	}
	about := fmt.Sprintf("%s: %d rows x %d columns", sheet, p.between(900, 9000), len(head))
	entries = append(entries, s.use("sheets", "get_sheet_info", object("spreadsheet_id", id), about).after(w.of(p, 0)), read(0, len(rows), 5))
	for k := range p.between(7, 11) {
		entries = append(entries, read(p.IntN(3), p.between(5, len(rows)), p.between(3, 5)).after(w.of(p, k+1)))
	}
	return entries, 2
}
