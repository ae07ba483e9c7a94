package splice

import (
	"encoding/json"
	"fmt"
)

// The lookalikes of this file are the honest work of agents that buy for a company.

func procurementLookalikes() []kind {
	return []kind{
		{name: "overdue_orders_chased_in_turn", build: overdueOrdersChasedInTurn},
		{name: "quotes_awaited_until_the_deadline", build: quotesAwaitedUntilTheDeadline},
		{name: "duplicate_vendors_merged_pair_by_pair", build: duplicateVendorsMergedPairByPair},
		{name: "locked_records_posted_when_free", build: lockedRecordsPostedWhenFree},
	}
}

// overdueOrdersChasedInTurn looks at overdue order after overdue order and asks its supplier for a date.
func overdueOrdersChasedInTurn(p *generator) (entries []entry, _ int) {
	s, last := p.procurement(), ""
	for range p.between(4, 6) {
		order, supplier, days := s.order(), s.supplier(), p.between(2, 40)
		t := p.nextItem(last, order)
		if p.IntN(3) > 0 {
			entries = append(entries, s.use("get_order", object("order", order), object("order", order, "supplier", supplier, "state", "overdue", "days_late", days, "confirmed_date", nil)).after(t))
			t = thought{"", p.pick("No date is confirmed. Let me ask for one.", "Let me remind them.")}
		}
		entries = append(entries, s.use("send_reminder", object("order", order, "template", "delivery_date_request", "language", p.pick("en", "de", "fr", "pl")), object("message_id", "msg_"+p.letters(10), "to", supplier, "sent", true)).after(t))
		last = order
	}
	return entries, 0
}

// quotesAwaitedUntilTheDeadline asks now and then for the quotes to a tender: more of them are there from time to time, until it closes.
func quotesAwaitedUntilTheDeadline(p *generator) (entries []entry, _ int) {
	s, tender := p.procurement(), fmt.Sprintf("RFQ-%04d", p.between(10, 9999))
	invited := p.between(4, 8)
	received, minutes := p.IntN(2), p.between(200, 300)
	w := wording{
		[]string{"The tender is open. Let me see which quotes are there."},
		[]string{"It is still open.", "Some are missing.", "The deadline has not passed.", ""},
		[]string{"Let me look again later.", "I'll check again in half an hour.", "Let me see whether more have come."},
	}
	for k := 0; minutes > 0; k++ {
		entries = append(entries, s.use("get_tender", object("tender", tender), object("tender", tender, "state", "open", "invited", invited, "received", received, "closes_in_minutes", minutes)).after(w.of(p, k)))
		received = min(invited, received+p.pickInt(0, 0, 1, 1, 2))
		minutes -= p.between(30, 60)
	}
	entries = append(entries, s.use("get_tender", object("tender", tender), object("tender", tender, "state", "closed", "invited", invited, "received", max(received, 2), "closes_in_minutes", 0)).after(w.of(p, 1)))
	return append(entries, s.use("compare_quotes", object("tender", tender), object("tender", tender, "best", s.supplier(), "total_eur", p.between(900, 90_000))).after(thought{"The tender is closed.", "Let me compare the quotes."})), 0
}

// duplicateVendorsMergedPairByPair compares the two records of a vendor and merges them, pair after pair; one pair is no duplicate.
func duplicateVendorsMergedPairByPair(p *generator) (entries []entry, _ int) {
	s, last := p.procurement(), ""
	pairs := p.between(3, 5)
	differs := p.IntN(pairs)
	for k := range pairs {
		name := s.supplier()
		first := p.between(10_000, 49_999)
		keep, drop := fmt.Sprintf("V%05d", first), fmt.Sprintf("V%05d", first+p.between(1, 40_000))
		tax := fmt.Sprintf("%s%09d", p.pick("DE", "NL", "FR", "PL"), p.between(1, 999_999_999))
		same := k != differs
		entries = append(entries, s.use("compare_vendors", object("left", keep, "right", drop), object("name", name, "tax_id", tax, "same_tax_id", same, "same_bank", same, "open_orders", []int{p.IntN(9), p.IntN(4)})).after(p.nextItem(last, name)))
		if same {
			entries = append(entries, s.use("merge_vendors", object("keep", keep, "drop", drop), object("keep", keep, "moved_orders", p.IntN(30), "moved_invoices", p.IntN(200), "job", p.uuid())).after(thought{p.pick("One and the same.", "Same tax number.", ""), p.pick("Let me merge them.", "I'll keep the older record.")}))
		} else {
			entries = append(entries, s.use("mark_distinct", object("left", keep, "right", drop), object("marked", true)).after(thought{"These are two companies.", "Let me mark them as distinct."}))
		}
		last = name
	}
	return entries, 0
}

// lockedRecordsPostedWhenFree posts receipt after receipt; a record that somebody has open is refused, and posted a little later.
func lockedRecordsPostedWhenFree(p *generator) (entries []entry, _ int) {
	s, now, last := p.procurement(), p.passingTime(), ""
	receipts := p.between(4, 6)
	for k := range receipts {
		order := s.order()
		args := object("order", order, "quantity", p.between(1, 500), "storage", fmt.Sprintf("%s-%02d", p.pick("A", "B", "C"), p.between(1, 40)))
		t := p.nextItem(last, order)
		locked := p.pickInt(0, 0, 1, 2)
		if k == 0 {
			locked = 1
		}
		for range locked {
			entries = append(entries, s.refuse("post_receipt", args, "RECORD_LOCKED", fmt.Sprintf("%s is open in session %d of user %s", order, p.between(100_000, 999_999), p.pick("kmeyer", "rsingh", "adupont"))).after(t))
			t = thought{p.pick("Somebody has it open.", "It is locked.", "Locked for the moment."), p.pick("I'll wait a little and post it again.", "Let me retry in a minute.", "Once more.")}
		}
		entries = append(entries, s.use("post_receipt", args, posted(p, order, now())).after(t))
		last = order
	}
	return entries, 0
}

// posted returns the document of a receipt that was posted.
func posted(p *generator, order, at string) json.RawMessage {
	return object("order", order, "document", fmt.Sprintf("50%08d", p.between(1, 99_999_999)), "posted_at", at)
}
