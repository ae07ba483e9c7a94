package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of assistants in an office: one slide, field, mail or letter after the other.

func paperworkLookalikes() []kind {
	return []kind{
		{name: "speaker_notes_written_slide_by_slide", build: speakerNotesWrittenSlideBySlide},
		{name: "fields_reached_by_tab", build: fieldsReachedByTab},
		{name: "answers_entered_from_mail", build: answersEnteredFromMail},
		{name: "letters_merged_for_each_recipient", build: lettersMergedForEachRecipient},
	}
}

// speakerNotesWrittenSlideBySlide reads one slide after the other and writes its notes; each write is confirmed by the same words.
func speakerNotesWrittenSlideBySlide(p *generator) (entries []entry, _ int) {
	s, deck, index := p.secretary(), fmt.Sprintf("1%x", p.Uint64()), p.coin()
	first, reads := p.between(1, 3), p.IntN(4) > 0
	get, set := p.pick("get_slide", "get_page", "read_slide"), p.pick("set_speaker_notes", "update_notes", "add_speaker_notes")
	confirm := p.pick("Speaker notes updated successfully.", "ok", "Notes saved.")
	w := wording{
		[]string{"I'll write notes for each slide.", "Let me begin with the first slide."},
		[]string{"The notes are written.", "Done with that slide.", "Saved.", ""},
		[]string{"Next slide.", "Now slide %d.", "On to slide %d.", "Let me read slide %d.", "The next one."},
	}
	for k := range p.between(7, 15) {
		number, lines := first+k, []string{"Title: " + capitalized(p.phrase(2, 6))}
		for range p.between(0, 9) {
			lines = append(lines, "- "+capitalized(p.phrase(3, 9)))
		}
		which := any(number)
		if !index {
			which = fmt.Sprintf("g%x_0_%d", p.Uint32(), number)
		}
		t := w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "%d", fmt.Sprint(number))
		write := s.use("slides", set, object("presentation_id", deck, "slide", which, "notes", capitalized(p.phrase(8, 30))+". "+capitalized(p.phrase(5, 20))+"."), confirm)
		if !reads {
			entries = append(entries, write.after(t))
			continue
		}
		entries = append(entries, s.use("slides", get, object("presentation_id", deck, "slide", which), strings.Join(lines, "\n")).after(t), write.after(thought{"", p.pick("Now its notes.", "I write the notes.", "")}))
	}
	return entries, 0
}

// fields returns the names and the values of the fields of a form, in any order.
func (p *generator) fields() [][2]string {
	person := p.person()
	fields := [][2]string{
		{"First name", person},
		{"Last name", capitalized(p.word())},
		{"Email", p.mailbox(person)},
		{"Phone", fmt.Sprintf("+49 30 %d", p.between(1e6, 9e6))},
		{"Date of birth", fmt.Sprintf("%02d/%02d/%d", p.between(1, 12), p.between(1, 28), p.between(1950, 2005))},
		{"Street", fmt.Sprintf("%s Street %d", capitalized(p.word()), p.between(1, 200))},
		{"Postal code", fmt.Sprint(p.between(10_000, 99_999))},
		{"City", p.pick("Leipzig", "Porto", "Ghent", "Tampere", "Graz", "Cork")},
		{"Company", capitalized(p.word()) + " Ltd"},
		{"VAT number", fmt.Sprintf("DE%d", p.between(1e8, 9e8))},
		{"Cost centre", fmt.Sprint(p.between(1000, 9999))},
		{"Reference", p.id()},
		{"Amount", fmt.Sprintf("%d.%02d", p.between(5, 900), p.IntN(100))},
		{"Remarks", capitalized(p.phrase(2, 6))},
	}
	p.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields
}

// fieldsReachedByTab fills in a long form by keys: a value is typed, and the same key goes to the next field.
func fieldsReachedByTab(p *generator) (entries []entry, _ int) {
	d, title := p.desktop(), capitalized(p.word())+" "+p.pick("registration", "application", "intake form", "expense claim", "customer record")
	all := p.fields()
	fields := all[:p.between(6, len(all))]
	values := make([]string, len(fields))
	view := func(focus int) string {
		elements := []element{{"heading", title, ""}}
		for k, field := range fields {
			state := values[k]
			if k == focus {
				state += " (focused)"
			}
			elements = append(elements, element{"entry", field[0], strings.TrimSpace(state)})
		}
		return d.screen(title, append(elements, element{"push-button", "Submit", ""}))
	}
	w := wording{
		[]string{"I click into the first field.", "The first field gets the focus."},
		[]string{"That field is filled.", "The value is in.", "Good.", ""},
		[]string{"Tab to the next field.", "Next field.", "I go on with Tab.", "On to the next one."},
	}
	entries = append(entries, d.act("left_click", fields[0][0], view(0)).after(w.of(p, 0)))
	for k, field := range fields {
		values[k] = field[1]
		name := strings.ToLower(field[0])
		entries = append(entries, d.act("type", values[k], view(k)).after(thought{"", p.pick("Type the "+name+".", "The "+name+" is "+values[k]+".", "")}))
		if k < len(fields)-1 {
			entries = append(entries, d.act("key", "Tab", view(k+1)).after(w.of(p, k+1)))
		}
	}
	return append(entries, d.act("left_click", "Submit", d.screen(title, []element{{"heading", "Thank you", ""}, {"label", "Reference", p.id()}})).after(thought{"All fields are filled.", "Submit the form."})), 0
}

// answersEnteredFromMail reads one answer after the other and enters it into a sheet; most answers say the same.
func answersEnteredFromMail(p *generator) (entries []entry, _ int) {
	s, sheet, row, event := p.secretary(), fmt.Sprintf("1%x", p.Uint64()), p.between(2, 30), p.occasion()
	read, add := p.pick("read_email", "get_message", "gmail_read"), p.pick("append_row", "update_cells", "add_row")
	answers := [][3]string{{"Yes, I'll be there!", "yes", ""}, {"Thanks for the invitation, I'm coming.", "yes", ""}, {"Sorry, I can't make it.", "no", ""}, {"Count me in.", "yes", ""}, {"We are two, no meat please.", "yes", "+1, vegetarian"}, {"Yes, happy to join.", "yes", ""}, {"I'll be there, maybe ten minutes late.", "yes", "late"}, {"Unfortunately I'm away that week.", "no", ""}}
	day := p.between(1, 9)
	w := wording{
		[]string{"I go through the answers one by one.", "Let me read the first answer."},
		[]string{"Entered.", "That one is in the sheet.", "Noted.", ""},
		[]string{"Next mail.", "The next answer.", "Now the following mail.", "On to the next one."},
	}
	people := p.shuffled("Amara", "Benedikt", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Katya", "Liam", "Mei", "Noor", "Oskar", "Priya", "Rafael", "Sofia")
	for k := range p.between(6, 14) {
		day += p.IntN(3)
		answer, id := answers[p.IntN(len(answers))], fmt.Sprintf("19%014x", p.Uint64N(1<<56))
		text := fmt.Sprintf("From: %s\nSubject: Re: %s\nDate: %02d Jun 2026 %02d:%02d\n\n%s", p.mailbox(people[k]), event, min(30, day), p.between(7, 22), p.IntN(60), answer[0])
		for range p.IntN(12) {
			text += "\n> " + p.phrase(3, 10)
		}
		entries = append(entries, s.use("gmail", read, object("message_id", id), text).after(w.of(p, k)),
			s.use("sheets", add, object("spreadsheet_id", sheet, "range", fmt.Sprintf("Guests!A%d:C%d", row+k, row+k), "values", []string{people[k], answer[1], answer[2]}), p.pick("1 row updated", "updatedRows: 1")).after(thought{p.pick("", people[k]+" says "+answer[1]+"."), p.pick("I enter it.", "Into the sheet.", "")}))
	}
	return entries, 0
}

// lettersMergedForEachRecipient copies a template, fills in a name and exports it, for one recipient after the other.
func lettersMergedForEachRecipient(p *generator) (entries []entry, _ int) {
	s, template, server := p.secretary(), p.word()+"_"+p.pick("invoice", "letter", "certificate", "offer", "badge"), p.pick("word", "docs", "office")
	merged, exports := p.coin(), p.coin()
	run := p.operator()
	w := wording{
		[]string{"I'll make one copy for each recipient.", "Let me begin with the first recipient."},
		[]string{"That one is done.", "Finished.", "The letter is ready.", ""},
		[]string{"Next recipient.", "Now the next one.", "On to the next letter.", "The same for %s."},
	}
	for k := range p.between(6, 12) {
		name := p.person() + " " + capitalized(p.word())
		file, t := strings.ReplaceAll(strings.ToLower(name), " ", "_"), w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "%s", name)
		file = template + "_" + file
		fill := s.use(server, "search_and_replace", object("filename", file+".docx", "find_text", "{{name}}", "replace_text", name), p.pick("Replaced 2 occurrences.", "Replacements made: 2"))
		if !merged {
			entries = append(entries, s.use(server, "copy_document", object("source", template+".docx", "destination", file+".docx"), "Document copied to "+file+".docx").after(t), fill)
		} else {
			entries = append(entries, s.use(server, "create_from_template", object("template", template+".docx", "fields", map[string]string{"name": name, "number": fmt.Sprint(1000 + k)}, "output", file+".docx"), "Created "+file+".docx").after(t))
		}
		if exports {
			entries = append(entries, s.use(server, "convert_to_pdf", object("filename", file+".docx"), fmt.Sprintf("Exported %s.pdf (%d kB)", file, p.between(40, 90))))
		} else {
			entries = append(entries, run("soffice --headless --convert-to pdf "+file+".docx", fmt.Sprintf("convert /home/user/%[1]s.docx as a Writer document -> /home/user/%[1]s.pdf using filter : writer_pdf_Export", file), 0))
		}
	}
	return entries, 0
}
