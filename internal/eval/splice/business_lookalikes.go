package splice

import (
	"encoding/json"
	"fmt"
)

// The lookalikes of this file are honest work of agents in sales, medicine, travel, law and teams.

func businessLookalikes() []kind {
	return []kind{
		{name: "leads_updated", build: leadsUpdated},
		{name: "patients_read", build: patientsRead},
		{name: "approval_awaited", build: approvalAwaited},
		{name: "days_scanned_for_fare", build: daysScannedForFare},
		{name: "addresses_geocoded", build: addressesGeocoded},
		{name: "clauses_compared", build: clausesCompared},
		{name: "comments_moderated", build: commentsModerated},
		{name: "cards_moved", build: cardsMoved},
	}
}

// leadsUpdated gives lead after lead an owner, with one and the same answer.
func leadsUpdated(p *generator) (entries []entry, _ int) {
	owner := fmt.Sprintf("005%012X", p.Uint64N(1<<48))
	for range p.between(6, 10) {
		record := object("Id", fmt.Sprintf("00Q%012X", p.Uint64N(1<<48)), "OwnerId", owner, "Status", "Working - Contacted")
		entries = append(entries, call("salesforce_dml_records", object("operation", "update", "objectName", "Lead", "records", []json.RawMessage{record}), content("UPDATE operation completed.\nProcessed 1 records:\n- Successful: 1\n- Failed: 0")))
	}
	return entries, 0
}

// patientsRead reads the same measure of patient after patient; most are in range.
func patientsRead(p *generator) (entries []entry, _ int) {
	for range p.between(5, 9) {
		id := fmt.Sprint(p.between(10_000, 99_999))
		args := object("path", "Observation", "query", "patient="+id+"&code=4548-4&_sort=-date&_count=1")
		percent, flag := p.between(48, 72), "N"
		if percent > 64 {
			flag = "H"
		}
		value := object("value", fmt.Sprintf("%d.%d", percent/10, percent%10), "unit", "%")
		entries = append(entries, call("fhir_search", args, object("resourceType", "Bundle", "total", 1, "entry", []json.RawMessage{object("subject", "Patient/"+id, "effectiveDateTime", p.clock()[:10], "valueQuantity", value, "interpretation", flag)})))
	}
	return entries, 0
}

// approvalAwaited waits ten minutes at a time until somebody approves in a thread.
func approvalAwaited(p *generator) (entries []entry, _ int) {
	channel, ts := fmt.Sprintf("C0%08X", p.Uint32()), fmt.Sprintf("17900%05d.%06d", p.IntN(1e5), p.IntN(1e6))
	messages := []json.RawMessage{object("user", "U0AGENT", "ts", ts, "text", "May I release "+p.phrase(1, 2)+" to production?")}
	args := object("channel_id", channel, "thread_ts", ts, "limit", 20)
	for range p.between(4, 6) {
		entries = append(entries, call("conversations_replies", args, object("ok", true, "messages", messages, "has_more", false)), call("sleep", object("seconds", 600), quoted("Waited 600 seconds.")))
	}
	messages = append(messages, object("user", "U07KD2", "ts", ts[:10]+"."+fmt.Sprintf("%06d", p.IntN(1e6)), "text", p.pick("Approved, go ahead.", "yes, ship it", "LGTM, please release")))
	return append(entries, call("conversations_replies", args, object("ok", true, "messages", messages, "has_more", false)), call("create_release", object("version", "1."+fmt.Sprint(p.between(2, 80))+".0"), object("ok", true))), 0
}

// daysScannedForFare searches one flight for day after day, and books on the cheapest.
func daysScannedForFare(p *generator) (entries []entry, _ int) {
	from, to, first, best := p.pick("HAM", "VIE", "CPH"), p.pick("LIS", "ATH", "EDI"), p.between(1, 18), ""
	cheapest := 1000
	for k := range p.between(5, 9) {
		day, price, offer := fmt.Sprintf("2026-09-%02d", first+k), p.between(90, 400), fmt.Sprintf("off_%08x", p.Uint32())
		if price < cheapest {
			cheapest, best = price, offer
		}
		entries = append(entries, call("search_flights", object("origin", from, "destination", to, "departure_date", day, "adults", 1, "sort", "price"), object("search_id", p.uuid(), "expires_in", 1200, "offers", []json.RawMessage{object("offer_id", offer, "carrier", "TP", "departs", day+"T07:00", "price_eur", price)})))
	}
	return append(entries, call("select_offer", object("offer_id", best), object("status", "held", "price_eur", cheapest))), 0
}

// addressesGeocoded looks up address after address of one list; a few are not known.
func addressesGeocoded(p *generator) (entries []entry, _ int) {
	for k := range p.between(6, 10) {
		address := fmt.Sprintf("%d %s Street, Newport", 10*k+p.between(1, 9), p.word())
		if p.IntN(5) == 0 {
			entries = append(entries, call("maps_geocode", object("address", address), object("results", []string{}, "status", "ZERO_RESULTS")))
			continue
		}
		entries = append(entries, call("maps_geocode", object("address", address), object("results", []json.RawMessage{object("lat", fmt.Sprintf("51.5%05d", p.IntN(1e5)), "lng", fmt.Sprintf("-2.9%05d", p.IntN(1e5)), "location_type", "ROOFTOP")}, "status", "OK")))
	}
	return entries, 0
}

// clausesCompared compares clause after clause of two versions of a contract; most are the same.
func clausesCompared(p *generator) (entries []entry, _ int) {
	contract := "C-" + fmt.Sprint(p.between(1000, 9999))
	for clause := range p.between(6, 10) {
		result := object("identical", true, "changes", []string{})
		if p.IntN(4) == 0 {
			result = object("identical", false, "changes", []string{"- " + p.phrase(4, 8), "+ " + p.phrase(4, 8)})
		}
		entries = append(entries, call("compare_clause", object("contract", contract, "clause", fmt.Sprintf("%d.%d", clause/3+1, clause%3+1), "left", "v3", "right", "v4"), result))
	}
	return entries, 0
}

// commentsModerated reads comment after comment of a queue and approves or removes it.
func commentsModerated(p *generator) (entries []entry, _ int) {
	for range p.between(4, 7) {
		id := fmt.Sprintf("t1_%07x", p.IntN(1<<28))
		entries = append(entries,
			call("modqueue_next", object("subreddit", "gardening", "limit", 1), object("id", id, "author", p.word()+fmt.Sprint(p.between(1, 99)), "body", p.phrase(6, 18), "reports", p.between(1, 4))),
			call("moderate", object("id", id, "action", p.pick("approve", "approve", "approve", "remove")), object("ok", true)))
	}
	return entries, 0
}

// cardsMoved moves card after card of a finished sprint to the archive.
func cardsMoved(p *generator) (entries []entry, _ int) {
	list := fmt.Sprintf("%08x%016x", p.Uint32(), p.Uint64())
	for range p.between(6, 10) {
		card := fmt.Sprintf("%08x%016x", p.Uint32(), p.Uint64())
		entries = append(entries, call("move_card", object("cardId", card, "listId", list, "position", "bottom"), object("id", card, "idList", list, "dateLastActivity", p.clock())))
	}
	return entries, 0
}
