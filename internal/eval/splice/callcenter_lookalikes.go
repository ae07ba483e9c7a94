package splice

import "fmt"

// The lookalikes of this file are the honest work of service agents: the same tools for one bill, recipient or passenger after the other.

func callcenterLookalikes() []kind {
	return []kind{
		{name: "bills_reissued_month_by_month", build: billsReissuedMonthByMonth},
		{name: "tour_stops_confirmed_with_recipients", build: tourStopsConfirmedWithRecipients},
		{name: "delayed_flight_followed_to_gate", build: delayedFlightFollowedToGate},
		{name: "passengers_of_cancelled_flight_rebooked", build: passengersOfCancelledFlightRebooked},
	}
}

// billsReissuedMonthByMonth voids the bill of month after month, which had the wrong tariff, and issues it anew.
func billsReissuedMonthByMonth(p *generator) (entries []entry, _ int) {
	d, contract, wrong, right := p.desk(), fmt.Sprintf("V-%d", p.between(100_000, 999_999)), p.pick("BASIC", "FLEX", "NIGHT"), p.pick("FIX12", "GREEN", "HEATPUMP")
	reason, reads, year := "wrong tariff "+wrong, p.coin(), p.between(2024, 2026)
	number, last := p.between(100_000, 900_000), ""
	for month := range p.between(5, 12) {
		period := fmt.Sprintf("%d-%02d", year, month+1)
		number += p.between(10, 4000)
		bill, kwh := fmt.Sprintf("R%d", number), p.between(120, 420)
		old := kwh*p.between(31, 34) + 1200
		if reads {
			entries = append(entries, d.use("get_bill", object("contract_id", contract, "period", period), object("bill_id", bill, "period", period, "tariff", wrong, "consumption_kwh", kwh, "total", money(old))).after(p.nextItem(last, period)))
		}
		void := d.use("void_bill", object("bill_id", bill, "reason", reason), object("bill_id", bill, "status", "voided"))
		if !reads {
			void = void.after(p.nextItem(last, period))
		}
		entries = append(entries, void, d.use("issue_bill", object("contract_id", contract, "period", period, "tariff", right), object("bill_id", fmt.Sprintf("R%d", number+p.between(500_000, 800_000)), "period", period, "status", "issued", "total", money(kwh*p.between(26, 29)+1100), "replaces", bill)))
		last = "the bill for " + period
	}
	return entries, 0
}

// tourStopsConfirmedWithRecipients asks one recipient of a delivery tour after the other whether the time suits; almost all say yes.
func tourStopsConfirmedWithRecipients(p *generator) (entries []entry, _ int) {
	d, tour, minute := p.desk(), fmt.Sprintf("T%d", p.between(100, 9999)), 8*60
	text, awaits := p.pick("Your delivery comes on %s between %s and %s. Reply YES if that suits you.", "Hello, we plan to deliver %s, %s-%s. Is somebody there? Please answer YES or NO."), p.coin()
	day, stops, last := p.day(6, 9), p.between(6, 11), ""
	for n := range stops {
		minute += p.between(15, 40)
		from, to := fmt.Sprintf("%02d:%02d", minute/60, minute%60), fmt.Sprintf("%02d:%02d", minute/60+1, minute%60)
		phone, stop := fmt.Sprintf("+4917%08d", p.between(1e7, 9e7)), n+1
		reply := p.pick("YES", "yes", "Yes", "YES", "Ja", "ok yes", "NO")
		sent := object("message_id", "SM"+p.uuid()[:12], "status", "delivered", "reply", reply)
		if awaits {
			sent = object("message_id", "SM"+p.uuid()[:12], "status", "queued")
		}
		entries = append(entries, d.use("send_sms", object("to", phone, "text", fmt.Sprintf(text, day, from, to)), sent).after(p.nextItem(last, fmt.Sprintf("stop %d", stop))))
		if awaits {
			entries = append(entries, d.use("wait_for_reply", object("from", phone, "timeout_minutes", 10), object("from", phone, "text", reply, "after_seconds", p.between(8, 540))))
		}
		state := "confirmed"
		if reply == "NO" {
			state = "deferred"
		}
		entries = append(entries, d.use("update_stop", object("tour", tour, "stop", stop, "state", state), object("tour", tour, "stop", stop, "state", state, "open_stops", stops-n-1)))
		last = fmt.Sprintf("stop %d", stop)
	}
	return entries, 0
}

// delayedFlightFollowedToGate asks for the state of a flight every some minutes until it has left; at each time the flight is further on.
func delayedFlightFollowedToGate(p *generator) (entries []entry, _ int) {
	d, flight, minute := p.desk(), fmt.Sprintf("%s%d", p.pick("QX", "NV", "HAT", "SK"), p.between(100, 2999)), p.between(7*60, 15*60)
	scheduled := minute + p.between(60, 120)
	departs, clock := scheduled, func(m int) string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }
	gate, tells := fmt.Sprintf("%c%d", 'A'+p.IntN(6), p.between(1, 60)), p.coin()
	var states []string
	for range p.between(2, 5) {
		states = append(states, "DELAYED")
	}
	states = append(states, "GATE_OPEN", "BOARDING", "FINAL_CALL", "GATE_CLOSED", "DEPARTED")
	w := wording{
		[]string{"Let me see how the flight stands.", "I'll follow the flight for the customer."},
		[]string{"The estimate has moved.", "It goes on.", "There is news.", ""},
		[]string{"I'll look again in a quarter of an hour.", "Next look.", "Let me see how it stands now.", "Checking after the pause."},
	}
	for k, state := range states {
		args := object("flight", flight, "date", "2026-06-11")
		if state == "DELAYED" {
			departs += p.between(5, 35)
		}
		at := "-"
		if state != "DELAYED" {
			at = gate
		}
		entries = append(entries, d.use("get_flight_status", args, object("flight", flight, "state", state, "scheduled_local", clock(scheduled-scheduled%5), "estimated_local", clock(departs), "gate", at, "as_of", clock(minute))).after(w.of(p, k)))
		if tells && p.coin() {
			message := map[string]string{"DELAYED": "Your flight " + flight + " is now expected to leave at " + clock(departs) + ".", "GATE_OPEN": "Please go to gate " + gate + ".", "BOARDING": "Boarding has begun at gate " + gate + ".", "FINAL_CALL": "This is the last call for " + flight + ".", "GATE_CLOSED": "The gate has closed.", "DEPARTED": "Your flight has left. Have a good trip!"}[state]
			entries = append(entries, d.use("notify_customer", object("channel", "push", "text", message), object("delivered", "yes", "id", p.uuid()[:8])))
		}
		minutes := p.pickInt(10, 15)
		if k+1 < len(states) && state == "DELAYED" && states[k+1] == "GATE_OPEN" {
			minutes = max(minutes, departs-45-minute)
		}
		if k+1 < len(states) {
			entries = append(entries, d.use("wait", object("minutes", minutes), object("resumed_at", clock(minute+minutes))))
			minute += minutes
		}
	}
	return entries, 0
}

// locator returns the code of a booking.
func (p *generator) locator() string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	code := make([]byte, 6)
	for k := range code {
		code[k] = letters[p.IntN(len(letters))]
	}
	return string(code)
}

// passengersOfCancelledFlightRebooked moves passenger after passenger of a cancelled flight to the next one, and the free seats get fewer.
func passengersOfCancelledFlightRebooked(p *generator) (entries []entry, _ int) {
	d, prefix := p.desk(), p.pick("QX", "NV", "HAT", "FR")
	from, to := fmt.Sprintf("%s%d", prefix, p.between(100, 999)), fmt.Sprintf("%s%d", prefix, p.between(1000, 1999))
	seats, mails, day := p.between(12, 60), p.coin(), p.day(6, 9)
	text, last := p.pick("Your flight "+from+" is cancelled. We have booked you on "+to+".", "We are sorry: "+from+" does not fly. Your new flight is "+to+"."), ""
	for range p.between(6, 12) {
		booking := p.locator()
		if seats--; seats == 0 {
			break
		}
		entries = append(entries, d.use("rebook_passenger", object("pnr", booking, "from_flight", from, "to_flight", to, "date", day, "waive_fee", "yes"), object("status", "rebooked", "pnr", booking, "flight", to, "seat", fmt.Sprintf("%d%c", p.between(4, 34), 'A'+p.IntN(6)), "seats_left", seats)).after(p.nextItem(last, "booking "+booking)))
		if mails {
			entries = append(entries, d.use("send_notification", object("pnr", booking, "text", text), object("status", "sent")))
		}
		last = "booking " + booking
	}
	return entries, 0
}
