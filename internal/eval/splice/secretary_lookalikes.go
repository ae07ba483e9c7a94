package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of personal assistants: one mail, one file, one part of a page after the other.

func secretaryLookalikes() []kind {
	return []kind{
		{name: "subscriptions_cancelled_in_turn", build: subscriptionsCancelledInTurn},
		{name: "scans_filed_one_by_one", build: scansFiledOneByOne},
		{name: "long_page_fetched_by_index", build: longPageFetchedByIndex},
		{name: "errands_ticked_off_in_note", build: errandsTickedOffInNote},
	}
}

// distinctWords returns n different words.
func (p *generator) distinctWords(n int) []string {
	return p.shuffled(append([]string(nil), vocabulary...)...)[:n]
}

// subscriptionsCancelledInTurn cancels one newsletter after the other, and the number of those that are left falls.
func subscriptionsCancelledInTurn(p *generator) (entries []entry, _ int) {
	s, names := p.secretary(), p.distinctWords(p.between(6, 10))
	left, counts := p.between(len(names), 40), p.coin()
	w := wording{
		[]string{"I'll start with the mails of " + names[0] + ".example."},
		[]string{"Unsubscribed.", "That one is cancelled.", "One less.", ""},
		[]string{"Next newsletter.", "Now the next one.", "Let me cancel the next subscription.", "The same for the next sender."},
	}
	tool, done := p.pick("unsubscribe", "cancel_subscription"), p.pick("Unsubscribed from %s.", "200 OK: you will not receive any more mail from %s.", "The sender %s confirmed the removal of your address.")
	for k, name := range names {
		sender := p.pick("news", "offers", "hello", "weekly") + "@" + name + ".example"
		entries = append(entries, s.use("mail", tool, object("message_id", fmt.Sprintf("%016x", p.Uint64())), fmt.Sprintf(done, sender)).after(w.of(p, k)))
		if left--; counts {
			entries = append(entries, s.use("mail", "search_emails", object("query", "unsubscribe newer_than:30d", "count_only", true), fmt.Sprintf("%d senders", left)))
		}
	}
	return entries, 0
}

// scansFiledOneByOne reads each scan of a folder and moves it to where it belongs; the folder gets empty.
func scansFiledOneByOne(p *generator) (entries []entry, _ int) {
	s, inbox, archive := p.secretary(), "/"+p.pick("home/docs", "drive", "data")+"/"+p.pick("Inbox", "Scans", "Downloads"), "/"+p.pick("Archive", "Records")
	var scans []string
	for range p.between(5, 8) {
		scans = append(scans, fmt.Sprintf("%s_%04d.pdf", p.pick("scan", "IMG", "doc"), len(scans)*113+p.between(1, 100)))
	}
	often := p.between(1, 3)
	for k, scan := range scans {
		if k%often == 0 {
			entries = append(entries, s.use("filesystem", "list_directory", object("path", inbox), "[FILE] "+strings.Join(scans[k:], "\n[FILE] ")).after(thought{"", p.pick("What is left in the folder?", "Let me see what is there.")}))
		}
		from, year := capitalized(p.word())+" "+p.pick("Ltd", "GmbH", "Insurance", "Bank", "Clinic"), p.between(2018, 2026)
		what := p.pick("Invoice", "Statement", "Contract", "Policy", "Receipt")
		target := fmt.Sprintf("%s/%d/%s_%s.pdf", archive, year, what, strings.Fields(from)[0])
		entries = append(entries,
			s.use("filesystem", "read_text_file", object("path", inbox+"/"+scan, "head", p.pickInt(10, 20, 30)), fmt.Sprintf("%s\n%s no. %d\nDate: %02d.%02d.%d\n%s", from, what, p.between(1000, 99999), p.between(1, 28), p.between(1, 12), year, p.phrase(4, 9))).after(p.nextItem(strings.Repeat("the last scan", min(k, 1)), "`"+scan+"`")),
			s.use("filesystem", "move_file", object("source", inbox+"/"+scan, "destination", target), "Successfully moved "+inbox+"/"+scan+" to "+target).after(thought{"This is a " + strings.ToLower(what) + " of " + from + ".", ""}))
	}
	return entries, 0
}

// longPageFetchedByIndex reads a long page by parts; the server says at the end of each part how to get the next.
func longPageFetchedByIndex(p *generator) (entries []entry, _ int) {
	s, parts := p.secretary(), p.between(6, 10)
	url, size := "https://"+p.word()+".example/"+p.word()+"/"+p.word(), p.pickInt(2000, 5000, 8000)
	w := wording{
		[]string{"Let me read the page."},
		[]string{"The page goes on.", "There is more.", "Truncated again.", ""},
		[]string{"Let me read on.", "Let me fetch the next part.", "I'll get more of the content.", "On with the rest."},
	}
	for k := range parts {
		text := fmt.Sprintf("Contents of %s:\n## %s\n\n%s", url, capitalized(p.phrase(2, 4)), p.page())
		if k+1 < parts {
			text += fmt.Sprintf("\n\n<error>Content truncated. Call the fetch tool with a start_index of %d to get more content.</error>", (k+1)*size)
		}
		entries = append(entries, s.use("fetch", "fetch", object("url", url, "max_length", size, "start_index", k*size), text).after(w.of(p, k)))
	}
	return entries, 0
}

// errand returns something to do for a user, and the call that does it.
func (s secretary) errand() (todo string, done entry) {
	name, what := s.person(), s.word()
	switch s.IntN(5) {
	case 0:
		return "Write to " + name + " about the " + what, s.use("gmail", "send_email", object("to", []string{s.mailbox(name)}, "subject", capitalized(what), "body", s.letter(name, "the "+what)), fmt.Sprintf("Email sent successfully with ID: %016x", s.Uint64()))
	case 1:
		return "Lunch with " + name, s.use("calendar", "create_event", object("summary", "Lunch with "+name, "start", s.clock()), fmt.Sprintf("Event created: Lunch with %s (id: %013x)", name, s.Uint64N(1<<52)))
	case 2:
		return "Order a new " + what, s.use("shop", "place_order", object("item", what, "quantity", s.between(1, 4)), fmt.Sprintf("Order %d placed. Total: %d.%02d EUR", s.between(10000, 99999), s.between(5, 300), s.IntN(100)))
	case 3:
		return "Pay the bill for the " + what, s.use("bank", "make_payment", object("payee", capitalized(what)+" Services", "amount", s.between(20, 900)), fmt.Sprintf("Payment %s accepted.", s.uuid()[:8]))
	}
	return "Remind " + name + " of the " + what, s.use("reminders", "create_reminder", object("title", what+" for "+name, "due", s.clock()), fmt.Sprintf("Reminder #%d created.", s.between(100, 999)))
}

// errandsTickedOffInNote does one errand after the other and writes the whole list again each time, with one more of them ticked off.
func errandsTickedOffInNote(p *generator) (entries []entry, _ int) {
	s, note, reply := p.secretary(), p.pick("Errands", "To do", "This week"), p.pick("Note updated.", "Saved.", "The note was saved successfully.")
	var todos []string
	var acts []entry
	for range p.between(5, 8) {
		todo, done := s.errand()
		todos, acts = append(todos, todo), append(acts, done)
	}
	for k := range todos {
		text := ""
		for n, todo := range todos {
			text += "- [" + []string{" ", "x"}[max(0, min(1, k-n+1))] + "] " + todo + "\n"
		}
		last := ""
		if k > 0 {
			last = "the errand \"" + todos[k-1] + "\""
		}
		entries = append(entries, acts[k].after(p.nextItem(last, "\""+todos[k]+"\"")),
			s.use("notes", "update_note", object("title", note, "content", text), reply).after(thought{"", p.pick("Let me tick it off.", "Let me update the list.", "I'll mark it as done.")}))
	}
	return entries, 0
}
