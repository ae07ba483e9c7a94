package splice

import "fmt"

// The lookalikes of this file are honest work of agents that move goods.

func logisticsLookalikes() []kind {
	return []kind{
		{name: "pallets_scanned_in", build: palletsScannedIn},
		{name: "route_gets_shorter", build: routeGetsShorter},
		{name: "carriers_tendered_down_the_guide", build: carriersTenderedDownTheGuide},
	}
}

// palletsScannedIn books pallet after pallet of a delivery; the answers differ by a number.
func palletsScannedIn(p *generator) (entries []entry, _ int) {
	delivery, prefix, serial, total := fmt.Sprintf("ASN%07d", p.IntN(1e7)), fmt.Sprintf("00%09d", p.IntN(1e9)), p.between(100_000, 8_000_000), p.between(15, 34)
	for k := range total {
		serial += p.between(1, 3)
		label := fmt.Sprintf("%s%08d", prefix, serial)
		entries = append(entries, call("receive_pallet", object("delivery", delivery, "sscc", label, "dock", 4), object("sscc", label, "status", "received", "bin", fmt.Sprintf("%c-%02d-%d", 'A'+k/8, p.between(1, 30), p.between(1, 4)), "outstanding", total-k-1)).after(thought{next: p.pick("Next pallet.", "Scan the next one.", "", fmt.Sprintf("Pallet %d of %d.", k+1, total))}))
	}
	return entries, 0
}

// routeGetsShorter swaps stops of a route; a swap that makes it longer is taken back by the tool, and the route gets shorter.
func routeGetsShorter(p *generator) (entries []entry, _ int) {
	route, stops, metres := fmt.Sprintf("RT-%04d", p.IntN(1e4)), p.between(9, 16), p.between(90_000, 240_000)
	pairs := make([][2]int, 0, stops*stops)
	for a := range stops {
		for b := a + 1; b < stops; b++ {
			pairs = append(pairs, [2]int{a + 1, b + 1})
		}
	}
	p.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	kilometres := func() string { return fmt.Sprintf("%d.%d", metres/1000, metres%1000/100) }
	for _, pair := range pairs[:p.between(10, 16)] {
		kept, tried := p.IntN(3) > 0, p.between(300, metres/15)
		next := thought{fmt.Sprintf("The route has %s km.", kilometres()), fmt.Sprintf(p.pick("Let me swap the stops %d and %d.", "What if %d and %d change places?", "Swap %d with %d."), pair[0], pair[1])}
		if kept {
			metres -= tried
		}
		longer := metres
		if !kept {
			longer += tried
		}
		entries = append(entries, call("swap_stops", object("route", route, "first", pair[0], "second", pair[1]), object("route", route, "distance_km", fmt.Sprintf("%d.%d", longer/1000, longer%1000/100), "kept", kept, "best_km", kilometres())).after(next))
	}
	return entries, 0
}

// carriersTenderedDownTheGuide offers a load to one carrier after the other of a list; each declines in the same words, and the last accepts.
func carriersTenderedDownTheGuide(p *generator) (entries []entry, _ int) {
	load, rate, clock := fmt.Sprintf("LD-%06d", p.IntN(1e6)), p.between(900, 3200), p.passingTime()
	carriers := p.shuffled("Brightway Freight", "Oakline Transport", "Meridian Haulage", "Castor Logistics", "Halden Cargo", "Pinto Express", "Two Rivers Trucking", "Nordhafen Spedition")[:p.between(4, 8)]
	for k, carrier := range carriers {
		tender, status, reason := fmt.Sprintf("tnd_%07d", p.IntN(1e7)), "declined", p.pick("NO_CAPACITY", "NO_CAPACITY", "NO_CAPACITY", "EQUIPMENT")
		rate += p.between(20, 90)
		t := thought{"", "I'll go down the routing guide, " + carrier + " first."}
		if k > 0 {
			t = thought{carriers[k-1] + p.pick(" declined.", " has no truck.", " can't take it."), p.pick("Next on the guide is ", "Now ", "I'll tender it to ") + carrier + "."}
		}
		if k == len(carriers)-1 {
			status, reason = "accepted", ""
		}
		entries = append(entries,
			call("tender_load", object("load", load, "carrier", carrier, "rate", rate, "currency", "EUR", "pickup", "2026-06-18T06:00"), object("tender_id", tender, "status", "pending", "sent_at", clock())).after(t),
			call("get_tender", object("tender_id", tender), object("tender_id", tender, "load", load, "carrier", carrier, "status", status, "reason_code", reason, "answered_at", clock())).after(thought{next: p.pick("Have they answered?", "Check the answer.", "And?")}))
	}
	return entries, 0
}
