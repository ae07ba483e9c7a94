package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents in the offices of clinics and lawyers.

func caseworkLookalikes() []kind {
	return []kind{
		{name: "scale_answered_alike", build: scaleAnsweredAlike},
		{name: "denied_claims_resubmitted", build: deniedClaimsResubmitted},
		{name: "documents_tagged_for_privilege", build: documentsTaggedForPrivilege},
		{name: "redline_points_close", build: redlinePointsClose},
		{name: "signatures_come_in", build: signaturesComeIn},
	}
}

// scaleAnsweredAlike asks the items of a questionnaire by one stem; the patient gives nearly the same answer to each.
func scaleAnsweredAlike(p *generator) (entries []entry, _ int) {
	stem, scale := "Over the last two weeks, how often have you ", "\n0 = not at all, 1 = several days, 2 = more than half the days, 3 = nearly every day"
	items := p.shuffled("had little interest in doing things?", "had trouble falling asleep?", "felt tired?", "had a poor appetite?", "had trouble concentrating?", "felt nervous?", "been unable to stop worrying?", "had trouble relaxing?", "become easily annoyed?", "had headaches?", "felt short of breath?")
	usual := p.pick("0", "1", "Not at all", "several days", "No, not at all")
	for k, item := range items[:p.between(7, 11)] {
		lead := p.pick("", "Thank you. ", "Thanks, noted. ")
		if k == 0 {
			lead = "I'll ask you some questions before your visit. "
		}
		answer := usual
		if p.IntN(5) == 0 {
			answer = p.pick("2", "3, that's been bad", "more than half the days")
		}
		entries = append(entries, say(fmt.Sprintf("%s%d. %s%s%s", lead, k+1, stem, item, scale)), user(answer))
	}
	return append(entries, call("save_questionnaire", object("form", "intake", "answers", len(entries)/2), object("saved", true, "score", p.between(3, 18)))), 0
}

// deniedClaimsResubmitted corrects claim after claim, each denied for a reason of its own, and resubmits it.
func deniedClaimsResubmitted(p *generator) (entries []entry, _ int) {
	reasons := [][4]string{
		{"CO-16", "Claim lacks information: missing referring provider", "referring_provider", "1740283779"},
		{"CO-4", "The procedure code is inconsistent with the modifier", "modifier", "59"},
		{"CO-11", "The diagnosis is inconsistent with the procedure", "diagnosis", "M17.11"},
		{"CO-22", "This care may be covered by another payer", "other_payer", "none"},
		{"CO-140", "Patient identification number and name do not match", "member_id", "W294410733"},
		{"CO-181", "Procedure code was invalid on the date of service", "procedure", "99213"},
		{"CO-58", "Treatment was rendered in an invalid place of service", "place_of_service", "11"},
	}
	p.Shuffle(len(reasons), func(i, j int) { reasons[i], reasons[j] = reasons[j], reasons[i] })
	number, done := p.between(10_000, 80_000), ""
	for _, reason := range reasons[:p.between(4, 7)] {
		number += p.between(1, 40)
		claim := fmt.Sprintf("CLM%06d", number)
		entries = append(entries,
			call("get_claim", object("claim_id", claim), object("claim_id", claim, "status", "denied", "billed", money(p.between(4000, 90_000)), "adjustment", reason[0], "reason", reason[1])).after(p.nextItem(done, claim)),
			call("correct_claim", object("claim_id", claim, "field", reason[2], "value", reason[3]), object("claim_id", claim, "updated", []string{reason[2]})).after(thought{reason[1] + ".", p.pick("I'll correct it from the chart.", "The chart has the right value.", "Let me correct the "+strings.ReplaceAll(reason[2], "_", " ")+".")}),
			call("resubmit_claim", object("claim_id", claim, "frequency", "7"), object("claim_id", claim, "status", "accepted", "clearinghouse", "999A")).after(thought{next: p.pick("Resubmit.", "Send it again.", "Now it can go out.")}))
		done = claim
	}
	return entries, 0
}

// documentsTaggedForPrivilege reads document after document of a case and tags it; most get the same tag.
func documentsTaggedForPrivilege(p *generator) (entries []entry, _ int) {
	number, total := p.between(1000, 80_000), p.between(8, 16)
	letters := []string{
		"The %s has arrived, %d pieces. I'll send you the papers tomorrow.", "Can we move the call about the %s? I have %d minutes.",
		"Please find the offer for the %s attached. It is valid for %d days.", "The customer complains about the %s. It is the complaint number %d this year.",
		"Thanks for the figures. The %s is %d percent above the plan, which nobody expected. Let us talk about it on Monday, and bring the breakdown by month, please.",
		"I have signed the order for the %s, no. %d.",
	}
	for k := range total {
		number += p.between(1, 4)
		id, tag := fmt.Sprintf("ABC%07d", number), "not_privileged"
		letter := fmt.Sprintf(p.pick(letters...), p.word(), p.between(2, 90))
		text := fmt.Sprintf("From: %s@%s.example\nTo: %s@%s.example\nSubject: %s\n\n%s", p.pick("kim", "ana", "joe", "lee"), p.word(), p.pick("pat", "sam", "uwe", "liz"), p.word(), p.pick("Re: ", "Fwd: ", "")+capitalized(p.word())+p.pick(" delivery", " pricing", " meeting", " contract", " complaint"), letter)
		if p.IntN(4) == 0 {
			tag, text = "attorney_client", text+p.pick("\n\nPrivileged and confidential. Please advise.", "\n\nWould this be a breach? I need your legal advice before we answer.")
		}
		entries = append(entries,
			call("get_document", object("bates", id), quoted(text)).after(thought{next: p.pick("Next document.", "Open "+id+".", "Now "+id+".", "Let me read "+id+".")}),
			call("tag_document", object("bates", id, "tag", tag), object("bates", id, "tag", tag, "reviewed", k+1, "total", total)).after(thought{next: p.pick("Tag it as "+tag+".", tag+".", "This one is "+tag+".")}))
	}
	return entries, 0
}

// redlinePointsClose has the counsel of two sides settle point after point of a contract; fewer are open each time.
func redlinePointsClose(p *generator) (entries []entry, _ int) {
	points := [][3]string{
		{"the cap on liability", "We propose 12 months of fees instead of 6.", "We can accept 12 months if gross negligence is excluded from the cap."},
		{"the notice period", "Thirty days are too short. Please make it ninety.", "We meet in the middle at sixty."},
		{"the governing law", "We need the law of England.", "Agreed, with arbitration in London."},
		{"the audit right", "Once a year at most, with two weeks' notice.", "Fine, and any time after a breach."},
		{"the term", "Two years with a renewal of one.", "Accepted as it is."},
		{"late payment", "Eight percent over base is not usual. Four.", "Four is acceptable."},
	}
	p.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	points = points[:p.between(4, 6)]
	for k, point := range points {
		entries = append(entries,
			say(p.pick("On ", "Next, ", "As to ")+point[0]+": "+point[1]).by("buyer_counsel"), entry{Kind: "handoff", From: "buyer_counsel", To: "seller_counsel"},
			say(point[2]).by("seller_counsel"),
			call("close_point", object("document", "msa_draft.docx", "point", point[0], "agreed_by", []string{"buyer_counsel", "seller_counsel"}), object("status", "closed", "open_points", len(points)-k-1)).by("seller_counsel").after(thought{next: p.pick("We agree on ", "That settles ", "I'll close ") + point[0] + "."}),
			entry{Kind: "handoff", From: "seller_counsel", To: "buyer_counsel"})
	}
	return entries, 0
}

// signaturesComeIn looks at an envelope day after day; each time somebody has opened or signed it, until all have.
func signaturesComeIn(p *generator) (entries []entry, _ int) {
	id, day := p.uuid(), p.between(1, 8)
	clock := func(hour int) string {
		return fmt.Sprintf("2026-06-%02dT%02d:%02d:%02dZ", day, hour, p.IntN(60), p.IntN(60))
	}
	names := p.shuffled("a.moreau", "b.lindqvist", "c.adeyemi", "d.tanaka", "e.novak")[:p.between(3, 5)]
	states := make([]string, len(names))
	for k := range states {
		states[k] = "sent"
	}
	for signed := 0; signed < len(names); {
		day++
		status := "sent"
		recipients := make([]json.RawMessage, len(names))
		if states[signed] == "sent" && p.coin() {
			states[signed] = "delivered"
		} else {
			states[signed] = "completed"
			signed++
		}
		if signed == len(names) {
			status = "completed"
		}
		for k, name := range names {
			recipients[k] = object("email", name+"@example.com", "order", k+1, "status", states[k])
		}
		entries = append(entries, call("get_envelope", object("envelope_id", id), object("envelope_id", id, "status", status, "recipients", recipients, "checked_at", clock(9))).after(thought{next: p.pick("Who has signed?", "Let me check the envelope.", "How far are the signatures?", "Has the next one signed?")}))
		if signed < len(names) && p.coin() {
			entries = append(entries, call("send_reminder", object("envelope_id", id, "email", names[signed]+"@example.com"), object("sent", true, "to", names[signed]+"@example.com", "at", clock(10))).after(thought{fmt.Sprintf("%d of %d have signed.", signed, len(names)), "I'll remind " + names[signed] + "."}))
		}
	}
	return append(entries, call("download_signed_document", object("envelope_id", id), object("file", "signed_"+id[:8]+".pdf", "pages", p.between(4, 40)))), 0
}
