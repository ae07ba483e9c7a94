package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that move goods.

func logisticsLoops() []kind {
	return []kind{
		{name: "stock_moved_to_and_fro", build: stockMovedToAndFro},
		{name: "label_refused_for_valid_address", build: labelRefusedForValidAddress},
		{name: "load_tendered_to_same_carriers", build: loadTenderedToSameCarriers},
	}
}

// stockMovedToAndFro moves the last pieces of an article to the warehouse that lacks them, and back, since the other one then lacks them.
func stockMovedToAndFro(p *generator) (entries []entry, _ int) {
	sku, pieces, clock := fmt.Sprintf("%s-%04d", p.pick("BRK", "FLT", "PMP", "VLV"), p.IntN(1e4)), p.between(4, 60), p.passingTime()
	sites := p.shuffled("HAM1", "WAW2", "LYS1", "MAD3")[:2]
	orders := map[string]string{sites[0]: fmt.Sprintf("SO-%06d", p.IntN(1e6)), sites[1]: fmt.Sprintf("SO-%06d", p.IntN(1e6))}
	words := wording{
		first: []string{"The order " + orders[sites[1]] + " lacks " + sku + ". " + sites[0] + " has some.", "I'll cover the shortage with stock of " + sites[0] + "."},
		seen:  []string{"Now the other order is short.", "The shortage has moved.", "There is a shortage at the other site.", "One shortage is left."},
		next:  []string{"Let me transfer the stock.", fmt.Sprintf("I'll move the %d pieces there.", pieces), "A transfer will cover it.", "Let me move the stock to where it is short."},
	}
	for round := range p.between(6, 8) {
		from, to := sites[round%2], sites[1-round%2]
		short := []json.RawMessage{object("order", orders[from], "site", from, "sku", sku, "ordered", pieces, "allocated", 0, "short", pieces)}
		entries = append(entries,
			call("create_stock_transfer", object("sku", sku, "quantity", pieces, "from_site", from, "to_site", to, "reason", p.pick("shortage", "rebalancing", "cover order "+orders[to])), object("transfer", fmt.Sprintf("TR%08d", p.IntN(1e8)), "status", "booked", "sku", sku, "on_hand", object(from, 0, to, pieces), "booked_at", clock())).after(words.of(p, round)),
			call("list_shortages", object("sku", sku), object("shortages", short, "count", 1)).after(thought{next: p.pick("Is everything covered now?", "Check the shortages.", "Let me look at the shortages of "+sku+".")}))
	}
	return entries, 4
}

// labelRefusedForValidAddress wants a label for an address that the carrier refuses and that the check of addresses finds valid.
func labelRefusedForValidAddress(p *generator) (entries []entry, _ int) {
	shipment, street := fmt.Sprintf("shp_%08d", p.IntN(1e8)), fmt.Sprintf("%d %s Lane", p.between(2, 180), capitalized(p.word()))
	area, town, _ := strings.Cut(p.pick("F31:Ballinrobe", "V95:Ennistymon", "P85:Clonakilty"), ":")
	code := fmt.Sprintf("%s X%d", area, p.between(100, 999))
	carrier := p.pick("UPS", "DHL", "DPD")
	address := object("name", p.pick("Aoife Brennan", "Conor Walsh", "Niamh Daly"), "street1", street, "city", town, "zip", code, "country", "IE")
	words := wording{
		first: []string{"I'll buy the label.", "Let me create the label for " + shipment + "."},
		seen:  []string{"The address is valid.", "The check says that the address is deliverable.", "Nothing is wrong with the address.", "The address was verified."},
		next:  []string{"Let me create the label again.", "I'll retry the label.", "Now the label should work.", "Let me buy it with another service.", "Creating the label once more."},
	}
	for round := range p.between(3, 6) {
		service := p.pick("standard", "standard", "express", "saver")
		entries = append(entries,
			call("create_label", object("shipment_id", shipment, "carrier", carrier, "service", service, "to_address", address), object("object_status", "ERROR", "label_url", nil, "transaction", strings.ReplaceAll(p.uuid(), "-", ""), "messages", []json.RawMessage{object("source", carrier, "code", "120802", "text", "Address Validation Error on ShipTo address: the postal code is not served by this account.")})).after(words.of(p, round)),
			call("validate_address", address, object("is_valid", true, "deliverable", true, "residential", true, "normalized", address, "validation_id", fmt.Sprintf("%012x", p.Uint64N(1<<48)))).after(thought{p.pick("The carrier does not like the address.", "An address error."), p.pick("Let me validate the address.", "Is the address right?", "I'll check it.")}))
		if round > 0 && p.IntN(3) == 0 {
			other := fmt.Sprintf("shp_%08d", p.IntN(1e8))
			entries = append(entries, call("create_label", object("shipment_id", other, "carrier", carrier, "service", "standard", "to_address_id", fmt.Sprintf("adr_%06x", p.IntN(1<<24))), object("object_status", "SUCCESS", "label_url", "https://labels.example/"+other+".pdf", "transaction", strings.ReplaceAll(p.uuid(), "-", ""), "messages", []string{})).after(thought{next: "Meanwhile, the label of the other shipment, " + other + "."}))
		}
	}
	return entries, 2
}

// loadTenderedToSameCarriers offers a load to three carriers in turn, at the same rate; each has declined it in the round before.
func loadTenderedToSameCarriers(p *generator) (entries []entry, _ int) {
	load, rate, clock := fmt.Sprintf("LD-%06d", p.IntN(1e6)), p.between(900, 3200), p.passingTime()
	carriers := p.shuffled("Brightway Freight", "Oakline Transport", "Meridian Haulage", "Castor Logistics")[:3]
	words := wording{
		first: []string{"I'll tender the load to the carriers.", "Let me offer the load."},
		seen:  []string{"Declined.", "No capacity there.", "They can't take it.", "That carrier declined as well."},
		next:  []string{"Next carrier.", "Let me tender it to the next one.", "I'll offer it to the next on the list.", "Let me ask the next carrier."},
	}
	for round := range 3 * p.between(2, 3) {
		carrier, tender := carriers[round%3], fmt.Sprintf("tnd_%07d", p.IntN(1e7))
		t := words.of(p, round)
		if round > 0 && round%3 == 0 {
			t.next = p.pick("All have declined. I'll go through the list again.", "Let me start over with "+carrier+".", "Perhaps "+carrier+" has capacity now.")
		}
		entries = append(entries,
			call("tender_load", object("load", load, "carrier", carrier, "rate", rate, "currency", "EUR", "pickup", "2026-06-18T06:00", "note", p.pick("", "Please confirm", "Urgent", "Second request")), object("tender_id", tender, "status", "pending", "sent_at", clock())).after(t),
			call("get_tender", object("tender_id", tender), object("tender_id", tender, "load", load, "carrier", carrier, "status", "declined", "reason_code", "NO_CAPACITY", "answered_at", clock())).after(thought{next: p.pick("Have they answered?", "Check the answer.", "And?")}))
	}
	return entries, 6
}
