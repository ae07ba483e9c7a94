package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents in the offices of clinics and lawyers.

func caseworkLoops() []kind {
	return []kind{
		{name: "referral_fax_unanswered", build: referralFaxUnanswered},
		{name: "authorization_misses_same_field", build: authorizationMissesSameField},
		{name: "envelope_sent_and_voided", build: envelopeSentAndVoided},
		{name: "definitions_point_at_each_other", build: definitionsPointAtEachOther},
		{name: "redactions_lost_in_export", build: redactionsLostInExport},
	}
}

// referralFaxUnanswered sends a referral to a number at which a voice answers, again and again.
func referralFaxUnanswered(p *generator) (entries []entry, _ int) {
	number, patient, pages := fmt.Sprintf("+1555%07d", p.IntN(1e7)), fmt.Sprintf("MRN%07d", p.IntN(1e7)), p.between(2, 9)
	clinic, clock := p.pick("Lakeside Cardiology", "Northgate Orthopedics", "Riverbend Neurology"), p.passingTime()
	words := wording{
		first: []string{"I'll fax the referral to " + clinic + ".", "The referral is ready. Sending it by fax."},
		seen:  []string{"The fax failed.", "It was not delivered.", "The transmission failed again.", "No pages were sent.", "The other side did not take it."},
		next:  []string{"Let me send it again.", "I'll resend the fax.", "Let me try it with another cover sheet.", "I'll retry at a lower resolution.", "Let me send it once more with high priority."},
	}
	for round := range p.between(4, 6) {
		fax := fmt.Sprintf("fx_%d", p.between(10_000_000, 99_999_999))
		entries = append(entries,
			call("send_fax", object("to", number, "recipient", clinic, "documents", []string{"referral_" + patient + ".pdf"}, "cover_note", p.pick("Referral for "+patient+", please schedule.", "Please see the attached referral.", "URGENT: referral attached", "Resending the referral for "+patient+"."), "resolution", p.pick("standard", "fine")), object("fax_id", fax, "status", "queued", "pages", pages, "queued_at", clock())).after(words.of(p, round)),
			call("get_fax", object("fax_id", fax), object("fax_id", fax, "status", "failed", "to", number, "dial_attempts", 3, "pages_sent", 0, "error", "VOICE_ANSWERED", "detail", "The line was answered by a person or an answering machine. No fax tone was detected.", "ended_at", clock())).after(thought{next: p.pick("Was it delivered?", "Let me check the fax.", "Check the transmission.", "Did it go through?")}))
		if round > 0 && p.IntN(3) == 0 {
			other := fmt.Sprintf("MRN%07d", p.IntN(1e7))
			entries = append(entries, call("book_appointment", object("patient_id", other, "slot", fmt.Sprintf("2026-07-%02dT%02d:30", p.between(1, 28), p.between(8, 16))), object("patient_id", other, "status", "booked", "appointment", p.between(100_000, 999_999))).after(thought{next: "In the meantime I book the visit of " + other + "."}))
		}
	}
	return entries, 2
}

// authorizationMissesSameField rewrites the clinical part of a request; the insurer refuses it for the same missing identifier.
func authorizationMissesSameField(p *generator) (entries []entry, _ int) {
	patient := fmt.Sprintf("MRN%07d", p.IntN(1e7))
	procedure, diagnosis, _ := strings.Cut(p.pick("72148:M54.16", "29881:M23.221", "70553:G43.909", "93306:I50.22"), ":")
	reasons := p.shuffled(
		"Symptoms for more than six weeks. Conservative treatment without improvement.", "The patient has completed physical therapy and takes NSAIDs. Pain persists at 7 of 10.",
		"Medical necessity: progressive symptoms, see the attached note. Imaging is required before a decision on surgery.", "Conservative measures failed. The findings of the examination support the request.",
		"Requested by the treating physician after two visits. Please review with priority.", "Per the guideline, the study is indicated after failed conservative therapy.")
	words := wording{
		first: []string{"I'll submit the prior authorization.", "The request is complete. Submitting it to the payer."},
		seen:  []string{"The payer rejected it.", "Rejected again.", "It came back with an AAA error.", "The request was not accepted.", "The same rejection."},
		next:  []string{"Let me strengthen the clinical summary.", "I'll describe the medical necessity better.", "I'll resubmit with more detail.", "Let me mention the failed therapy.", "I'll submit it as urgent.", "Let me rewrite the justification."},
	}
	for round := range p.between(5, 7) {
		result := object("transaction", "278", "control_number", fmt.Sprintf("%09d", p.IntN(1e9)), "action", "not_processed", "errors", []json.RawMessage{object("segment", "AAA", "loop", "2010EA", "reject_reason", "43", "text", "Invalid/Missing Provider Identification", "follow_up", "C - Please correct and resubmit")}, "auth_number", nil)
		args := object("patient_id", patient, "procedure", procedure, "diagnosis", diagnosis, "units", 1, "urgency", p.pick("standard", "standard", "expedited"), "clinical_summary", reasons[round%len(reasons)], "rendering_provider", object("name", "Dr. Alvarez", "npi", ""))
		entries = append(entries, call("submit_prior_authorization", args, result).after(words.of(p, round)))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, call("list_prior_authorizations", object("patient_id", patient), object("patient_id", patient, "authorizations", []string{})).after(thought{next: p.pick("Is there an open request?", "Let me see what the payer has on file.")}))
		}
	}
	return entries, 1
}

// envelopeSentAndVoided sends a contract for signature, sees that the mail is refused, voids it, and sends it to the same address.
func envelopeSentAndVoided(p *generator) (entries []entry, _ int) {
	signer, document := p.pick("t.okafor", "l.brandt", "m.silva", "r.chen")+"@"+p.word()+"-holding.example", p.pick("NDA", "Lease", "Service agreement", "Side letter")+" "+capitalized(p.word())+".pdf"
	clock, tool := p.passingTime(), p.pick("mcp__esign__", "esign_", "")
	words := wording{
		first: []string{"I'll send the document for signature.", "The document is final. Let me create the envelope."},
		seen:  []string{"The old envelope is voided.", "It is voided.", "Voided."},
		next:  []string{"Now I send a new one.", "Let me create a fresh envelope.", "I'll send it again.", "Let me send it with another subject.", "Creating the envelope anew."},
	}
	for round := range p.between(3, 4) {
		id := p.uuid()
		entries = append(entries,
			call(tool+"create_envelope", object("document", document, "subject", p.pick("Please sign: ", "Signature requested: ", "For your signature: ")+document, "signers", []string{signer}, "send", true), object("envelope_id", id, "status", "sent", "status_changed_at", clock())).after(words.of(p, round)),
			call(tool+"get_envelope", object("envelope_id", id), object("envelope_id", id, "status", "sent", "documents", 1, "recipients", []json.RawMessage{object("email", signer, "role", "signer", "status", "autoresponded", "delivery_error", "550 5.1.1 The email account that you tried to reach does not exist")}, "checked_at", clock())).after(thought{next: p.pick("Has the signer received it?", "Let me check the envelope.", "Check the recipients.")}),
			call(tool+"void_envelope", object("envelope_id", id, "reason", p.pick("not delivered", "resend", "recipient did not get the mail")), object("envelope_id", id, "status", "voided", "status_changed_at", clock())).after(thought{p.pick("The mail was not delivered.", "It bounced."), p.pick("I'll void it and start over.", "Let me void this envelope.")}))
	}
	return entries, 3
}

// definitionsPointAtEachOther looks up three places of a contract, each of which refers to the next. Now and then it reads another clause.
func definitionsPointAtEachOther(p *generator) (entries []entry, _ int) {
	document, clause, schedule := "doc_"+fmt.Sprintf("%06x", p.IntN(1<<24)), fmt.Sprintf("%d.%d", p.between(3, 24), p.between(1, 9)), fmt.Sprint(p.between(1, 5))
	term, other := "Permitted Transferee", "Qualifying Affiliate"
	if p.coin() {
		term, other = "Relevant Period", "Reference Date"
	}
	places := []entry{
		call("get_definition", object("document_id", document, "term", term), content("\""+term+"\" has the meaning given to it in Clause "+clause+".")),
		call("get_clause", object("document_id", document, "number", clause), content(clause+"  For the purposes of this Agreement, a "+term+" shall be determined by reference to the "+other+" as defined in Schedule "+schedule+", and the Parties shall act in good faith in making such determination.")),
		call("get_schedule", object("document_id", document, "number", schedule), content("SCHEDULE "+schedule+"\nINTERPRETATION\n\n1.  In this Schedule, \""+other+"\" means, in relation to any "+term+", such "+other+" as corresponds to that "+term+" (as defined in Part A, Definitions).\n\n2.  Headings are for convenience only.")),
	}
	others := p.shuffled(
		"No failure or delay by a Party to exercise any right under this Agreement shall operate as a waiver of it.",
		"This Agreement may be executed in any number of counterparts, each of which is an original.",
		"Any notice under this Agreement must be in writing and delivered by hand or by courier to the registered office of the recipient.",
		"If any provision is held to be invalid or unenforceable, the remaining provisions continue in full force.")
	words := wording{
		first: []string{"What does " + term + " mean here?", "I need the definition of " + term + "."},
		seen:  []string{"It refers to another place.", "The meaning is given elsewhere.", "That points on to a further provision.", "This depends on another definition."},
		next:  []string{"Let me look there.", "Let me follow the reference.", "I'll read that provision.", "Let me read the place it names."},
	}
	for round := range p.between(9, 13) {
		entries = append(entries, places[round%3].after(words.of(p, round)))
		if at := round / 4; round > 3 && p.IntN(5) == 0 {
			number := fmt.Sprintf("%d.%d", 25+at, p.between(1, 9))
			entries = append(entries, call("get_clause", object("document_id", document, "number", number), content(number+"  "+others[at])).after(thought{next: "Let me see whether clause " + number + " says more."}))
		}
	}
	return entries, 3
}

// redactionsLostInExport marks names in a file and exports it; the marks are never applied, so that the check finds the names again.
func redactionsLostInExport(p *generator) (entries []entry, _ int) {
	file, count, version, clock := p.pick("exhibit_", "deposition_", "medical_record_")+fmt.Sprint(p.between(1, 40)), p.between(4, 9), 0, p.passingTime()
	findings := make([]json.RawMessage, count)
	for k := range findings {
		kind, text, _ := strings.Cut(p.pick("PERSON:J. Marlow", "PERSON:Dana Whitfield", "DATE_OF_BIRTH:03/14/1961", "PHONE:(555) 014-2298", "ADDRESS:18 Alder Court"), ":")
		findings[k] = object("page", 1+k*2+p.IntN(2), "type", kind, "text", text)
	}
	words := wording{
		first: []string{"I'll redact the personal data in " + file + ".", "Let me mark the personal data."},
		seen:  []string{fmt.Sprintf("The export still has %d findings.", count), "The names are still readable.", "The check finds personal data again.", "It isn't redacted."},
		next:  []string{"Let me redact them again.", "I'll mark them once more.", "Let me redo the redaction.", "I'll use other marks.", "Let me apply the marks to all pages."},
	}
	for round := range p.between(3, 5) {
		version++
		out := fmt.Sprintf("%s_redacted_v%d.pdf", file, version)
		entries = append(entries,
			call("add_redaction_marks", object("file", file+".pdf", "entities", []string{"PERSON", "PHONE", "DATE_OF_BIRTH", "ADDRESS"}, "fill", p.pick("black", "black", "white"), "pages", "all"), quoted(fmt.Sprintf("%d redaction marks added to %s.pdf (state: pending)", count, file))).after(words.of(p, round)),
			call("export_pdf", object("file", file+".pdf", "output", out, "flatten", p.coin()), quoted(fmt.Sprintf("Exported %s (%d KB) at %s", out, p.between(300, 900), strings.TrimSuffix(clock()[11:], "Z")))).after(thought{next: p.pick("Export the redacted file.", "Now the export.", "Let me write the PDF.")}),
			call("scan_personal_data", object("file", out), object("file", out, "findings", findings, "count", count, "passed", false)).after(thought{next: p.pick("Check the result.", "Is anything left?", "Let me scan the export.")}))
	}
	return entries, 3
}
