package splice

import (
	"encoding/json"
	"fmt"
)

// The loops of this file are those of agents that work in sales, medicine, travel, accounts and teams.

func businessLoops() []kind {
	return []kind{
		{name: "validation_rule_refuses", build: validationRuleRefuses},
		{name: "version_conflict", build: versionConflict},
		{name: "reminders_unanswered", build: remindersUnanswered},
		{name: "thread_read_at_once", build: threadReadAtOnce},
		{name: "search_session_expires", build: searchSessionExpires},
		{name: "address_not_geocoded", build: addressNotGeocoded},
		{name: "cent_moved_around", build: centMovedAround},
		{name: "card_moves_back", build: cardMovesBack},
	}
}

// validationRuleRefuses updates an opportunity with other fields; a rule of the organization refuses each.
func validationRuleRefuses(p *generator) (entries []entry, _ int) {
	id, rule := fmt.Sprintf("006%012X", p.Uint64N(1<<48)), p.pick("A primary contact role is required before the stage can be Closed Won.", "Discounts above 20% need an approved quote.", "Loss reason must be filled by the regional manager.")
	for range p.between(4, 7) {
		fields := []any{"Id", id, "StageName", p.pick("Closed Won", "Closed Won", "Negotiation/Review", "Contracting")}
		switch p.IntN(4) {
		case 0:
			fields = append(fields, "CloseDate", p.clock()[:10])
		case 1:
			fields = append(fields, "Amount", 100*p.between(20, 900))
		case 2:
			fields = append(fields, "NextStep", p.phrase(2, 5), "Probability", 5*p.between(10, 20))
		}
		entries = append(entries, call("salesforce_dml_records", object("operation", "update", "objectName", "Opportunity", "records", []json.RawMessage{object(fields...)}),
			content("UPDATE operation completed.\nProcessed 1 records:\n- Successful: 0\n- Failed: 1\n\nErrors:\nRecord 1:\n  - "+rule+" [FIELD_CUSTOM_VALIDATION_EXCEPTION]"+p.pick("", "\n    Fields: StageName"))))
	}
	return entries, 1
}

// versionConflict writes a prescription under guessed versions, and none is the current one.
func versionConflict(p *generator) (entries []entry, _ int) {
	id := fmt.Sprint(p.between(1000, 99_999))
	for range p.between(4, 5) {
		version := p.between(2, 7)
		body := object("resourceType", "MedicationRequest", "id", id, "status", p.pick("active", "active", "on-hold"), "intent", "order", "note", p.phrase(2, 6))
		outcome := object("severity", "error", "code", "processing", "diagnostics", fmt.Sprintf("HAPI-0989: Trying to update MedicationRequest/%s/_history/%d but this is not the current version", id, version))
		entries = append(entries, call("fhir_update", object("path", "MedicationRequest/"+id, "if_match", fmt.Sprintf("W/\"%d\"", version), "resource", body), object("status", 409, "resourceType", "OperationOutcome", "issue", []json.RawMessage{outcome})))
	}
	return entries, 1
}

// remindersUnanswered sends a reminder in other words, looks for an answer at once, and has none.
func remindersUnanswered(p *generator) (entries []entry, _ int) {
	to, amount := fmt.Sprintf("+49151%08d", p.IntN(1e8)), fmt.Sprintf("%d.%02d EUR", p.between(20, 900), p.IntN(100))
	for range p.between(3, 6) {
		text := p.pick("Hello, a friendly reminder that ", "Hi! Please note that ", "Dear customer, ", "Just checking in: ") + amount + p.pick(" is still open.", " has not been paid yet.", " remains outstanding.") + p.pick("", " Please reply YES to confirm.", " Let us know when you have paid.", " Thank you!")
		entries = append(entries,
			call("twilio_send_sms", object("to", to, "body", text), object("sid", fmt.Sprintf("SM%016x%016x", p.Uint64(), p.Uint64()), "status", "queued", "num_segments", "1")),
			call("twilio_list_messages", object("from", to, "direction", "inbound", "page_size", p.pickInt(5, 10, 20)), object("messages", []string{}, "page", 0, "uri", "/2010-04-01/Accounts/AC1/Messages.json?From="+to)))
	}
	return entries, 2
}

// threadReadAtOnce reads a thread again and again without a pause; nobody has answered.
func threadReadAtOnce(p *generator) (entries []entry, _ int) {
	channel, ts := fmt.Sprintf("C0%08X", p.Uint32()), fmt.Sprintf("17900%05d.%06d", p.IntN(1e5), p.IntN(1e6))
	question, ack := p.phrase(6, 12)+"?", p.pick("I'll have a look", "checking with the team", ":eyes:")
	messages := []json.RawMessage{object("user", "U0AGENT", "ts", ts, "text", question), object("user", "U07KD2", "ts", ts[:10]+"."+fmt.Sprintf("%06d", p.IntN(1e6)), "text", ack)}
	for range p.between(6, 10) {
		tool, args := "conversations_replies", object("channel_id", channel, "thread_ts", ts, "limit", p.pickInt(5, 10, 50, 100))
		if p.IntN(3) == 0 {
			tool, args = "conversations_history", object("channel_id", channel, "oldest", ts, "limit", p.pickInt(3, 20))
		}
		entries = append(entries, call(tool, args, object("ok", true, "messages", messages, "has_more", false, "latest_reply", ts, "request_id", p.uuid())))
	}
	return entries, 1
}

// searchSessionExpires searches for flights and selects one; by then the session of the search is over.
func searchSessionExpires(p *generator) (entries []entry, _ int) {
	from, to, day, price := p.pick("HAM", "VIE", "CPH"), p.pick("LIS", "ATH", "EDI"), p.clock()[:10], p.between(90, 400)
	for range p.between(3, 5) {
		search, offers := p.uuid(), make([]json.RawMessage, 3)
		for k := range offers {
			offers[k] = object("offer_id", fmt.Sprintf("off_%08x", p.Uint32()), "carrier", []string{"TP", "LH", "KL"}[k], "departs", fmt.Sprintf("%sT%02d:%02d", day, 7+4*k, 5*k), "price_eur", price+17*k+p.IntN(3))
		}
		var chosen struct {
			ID string `json:"offer_id"`
		}
		if err := json.Unmarshal(offers[p.IntN(2)], &chosen); err != nil {
			return nil, 0
		}
		entries = append(entries,
			call("search_flights", object("origin", from, "destination", to, "departure_date", day, "adults", 1, "sort", p.pick("price", "duration", "best")), object("search_id", search, "expires_in", p.pickInt(60, 120), "offers", offers)),
			call("select_offer", object("search_id", search, "offer_id", chosen.ID), object("error", object("code", "SEARCH_EXPIRED", "message", p.pick("Your search session has expired. Please search again.", "This search is no longer available. Please search again."), "trace_id", p.uuid()))))
	}
	return entries, 2
}

// addressNotGeocoded writes one address in other ways, and no service knows it.
func addressNotGeocoded(p *generator) (entries []entry, _ int) {
	street, number, city := p.pick("Alder", "Kestrel", "Quarry", "Harrow", "Linden", "Orchard")+p.pick("side", "wood", " Hill", "gate", "field"), p.between(1, 240), p.pick("Neustadt", "Springfield", "San Pedro", "Newport")
	for range p.between(4, 8) {
		address := p.pick(fmt.Sprintf("%s Road %d, %s", street, number, city), fmt.Sprintf("%d %s Rd, %s", number, street, city), fmt.Sprintf("%d %s Road", number, street), fmt.Sprintf("%s Rd. %d %s", street, number, city), fmt.Sprintf("%s Street %d, %s", street, number, city))
		entries = append(entries, call("maps_geocode", object("address", address, "region", p.pick("", "us", "de", "gb")), object("results", []string{}, "status", "ZERO_RESULTS")))
	}
	return entries, 1
}

// centMovedAround changes the prices of an invoice, whose sum is a cent too high or a cent too low.
func centMovedAround(p *generator) (entries []entry, _ int) {
	id, total := fmt.Sprintf("INV-%06d", p.IntN(1e6)), p.between(10_000, 900_000)
	prices := []int{p.between(500, 20_000), p.between(500, 20_000), p.between(500, 20_000)}
	for range p.between(4, 6) {
		sum := total + p.pickInt(-1, 1)
		line := p.IntN(len(prices))
		price := prices[line] + p.between(-2, 2)
		entries = append(entries,
			call("update_line_item", object("invoice", id, "line", line+1, "unit_price", fmt.Sprintf("%d.%02d", price/100, price%100)), object("updated", true, "line", line+1)),
			call("validate_invoice", object("invoice", id), object("valid", false, "violations", []string{fmt.Sprintf("BR-CO-13: Invoice total amount without VAT (%d.%02d) does not equal the sum of line net amounts (%d.%02d)", total/100, total%100, sum/100, sum%100)})))
	}
	return entries, 2
}

// cardMovesBack moves a card to the list of what is done; a rule of the board moves it back.
func cardMovesBack(p *generator) (entries []entry, _ int) {
	card, list, title := fmt.Sprintf("%08x%016x", p.Uint32(), p.Uint64()), fmt.Sprintf("%08x%016x", p.Uint32(), p.Uint64()), p.phrase(2, 5)
	for range p.between(3, 5) {
		entries = append(entries,
			call("move_card", object("cardId", card, "listId", list, "position", p.pick("top", "bottom")), object("id", card, "idList", list, "dateLastActivity", p.clock())),
			call("get_card", object("cardId", card, "includeActions", p.coin()), object("id", card, "name", title, "list", "In review", "lastAction", object("type", "updateCard", "by", "Butler", "rule", "checklist is incomplete", "date", p.clock()))),
			say(p.pick("The card is still in review. I move it to Done.", "It did not stay in Done, let me move it again.", "The board shows In review, so the move has to be repeated.", "I'll move the card once more.")))
	}
	return entries, 3
}
