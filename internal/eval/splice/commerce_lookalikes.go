package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that pay, write mail, shop and book.

func commerceLookalikes() []kind {
	return []kind{
		{name: "transfers_in_parts", build: transfersInParts},
		{name: "attachment_sent_in_parts", build: attachmentSentInParts},
		{name: "attendees_registered", build: attendeesRegistered},
		{name: "coupons_tried", build: couponsTried},
		{name: "parcels_tracked", build: parcelsTracked},
	}
}

// transfersInParts pays an invoice in parts below the limit of one transfer; less is left each time.
func transfersInParts(p *generator) (entries []entry, _ int) {
	payee, part := p.pick("Hartmann GbR", "Okafor Consulting", "Lindqvist AB"), p.pickInt(1000, 2000, 2500)
	parts := p.between(3, 6)
	iban := fmt.Sprintf("DE%02d5001051754%08d", p.between(10, 99), p.between(1e7, 9e7))
	balance := part*parts + p.between(500, 9000)
	for k := range parts {
		balance -= part
		t := thought{p.pick(fmt.Sprintf("%d of %d parts are paid.", k, parts), fmt.Sprintf("%d.00 EUR are left to pay.", part*(parts-k)), "That part was accepted."), fmt.Sprintf("Next is part %d.", k+1)}
		if k == 0 {
			t = thought{fmt.Sprintf("One transfer may be at most %d.00 EUR.", part), fmt.Sprintf("So I pay the %d.00 EUR in %d parts.", part*parts, parts)}
		}
		entries = append(entries, call("create_transfer", object("from_account", "checking", "to_name", payee, "to_iban", iban, "amount", part, "currency", "EUR", "reference", fmt.Sprintf("Invoice 2107, part %d of %d", k+1, parts)), object("status", "executed", "transfer_id", fmt.Sprintf("tr_%08x", p.Uint32()), "amount", fmt.Sprintf("%d.00", part), "payee", payee, "balance_after", fmt.Sprintf("%d.00", balance), "paid_of_invoice", fmt.Sprintf("%d.00", part*(k+1)), "open_of_invoice", fmt.Sprintf("%d.00", part*(parts-k-1)), "executed_at", p.clock())).after(t))
	}
	return append(entries, call("list_transactions", object("account", "checking", "limit", parts), object("total", fmt.Sprintf("-%d.00", part*parts), "count", parts, "payee", payee, "balance", fmt.Sprintf("%d.00", balance))).after(thought{"All parts are paid.", "Let me check the account."})), 0
}

// attachmentSentInParts splits a file and sends a mail with each part.
func attachmentSentInParts(p *generator) (entries []entry, _ int) {
	run, name, to, n := p.commands(), p.word()+"-"+p.word(), p.word()+"@example.com", p.between(3, 6)
	var listing strings.Builder
	for k := range n {
		fmt.Fprintf(&listing, "-rw-r--r-- 1 agent agent %d Jun 17 10:14 %s.zip.%03d\n", 18874368-k/(n-1)*p.between(1000, 9e6), name, k+1)
	}
	entries = append(entries, run("split -b 18M --numeric-suffixes=1 -a 3 "+name+".zip "+name+".zip. && ls -l "+name+".zip.*", listing.String(), 0).after(thought{"The archive is over the limit of 25 MB.", "I'll split it into parts of 18 MB."}))
	for k := range n {
		done := ""
		if k > 0 {
			done = fmt.Sprintf("part %d", k)
		}
		file := fmt.Sprintf("/srv/files/%s.zip.%03d", name, k+1)
		entries = append(entries, call("send_email", object("to", []string{to}, "subject", fmt.Sprintf("Recording (%d of %d)", k+1, n), "body", fmt.Sprintf("Hello,\n\nthis is part %d of %d of the recording. Please put all parts into one folder and join them.\n\nKind regards", k+1, n), "attachments", []string{file}), object("status", "sent", "message_id", fmt.Sprintf("<%s@mail.example.com>", p.uuid()), "accepted", []string{to}, "rejected", []string{}, "size", 25165824-k, "response", fmt.Sprintf("250 2.0.0 OK: queued as %08X", p.Uint32()))).after(p.nextItem(done, fmt.Sprintf("part %d of %d", k+1, n))))
	}
	return entries, 0
}

// attendeesRegistered fills in and sends the same form for person after person.
func attendeesRegistered(p *generator) (entries []entry, _ int) {
	url, done := "https://"+p.word()+".example/register", ""
	page := func(title string, lines ...string) json.RawMessage { return p.snapshot("", url, title, lines...) }
	names := p.shuffled("Ines Duarte", "Omar Haddad", "Kate Lowell", "Jun Ishii", "Petra Novak")[:p.between(3, 4)]
	for k, name := range names {
		email := strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@example.com"
		fields := fmt.Sprintf(`[{"name":"Full name","value":%q},{"name":"Email","value":%q},{"name":"Meal","value":%q}]`, name, email, p.pick("vegetarian", "vegan", "no preference"))
		entries = append(entries,
			call("browser_fill_form", object("fields", json.RawMessage(fields)), page("Register", "heading \"Register an attendee\" [level=1] [ref]", "textbox \"Full name\" [ref]: "+name, "textbox \"Email\" [ref]: "+email, "combobox \"Meal\" [ref]", "checkbox \"I accept the terms\" [checked] [ref]", "button \"Register\" [ref]", "contentinfo [ref]")).after(p.nextItem(done, name)),
			call("browser_click", object("element", "Register button", "ref", fmt.Sprintf("e%d", p.between(20, 70))), page("Registered", "heading \"Thank you\" [level=1] [ref]", fmt.Sprintf("text: %s is registered. Number R-%05d.", name, p.IntN(1e5)), fmt.Sprintf("text: %d of %d places taken", 40+k, 60), "link \"Register another attendee\" [ref]", "contentinfo [ref]")).after(thought{"The form has the details of " + name + ".", p.pick("Submit it.", "I register them.", "Send the form.")}))
		if k < len(names)-1 {
			entries = append(entries, call("browser_click", object("element", "Register another attendee", "ref", fmt.Sprintf("e%d", p.between(20, 70))), page("Register", "heading \"Register an attendee\" [level=1] [ref]", "textbox \"Full name\" [ref]", "textbox \"Email\" [ref]", "combobox \"Meal\" [ref]", "checkbox \"I accept the terms\" [ref]", fmt.Sprintf("text: %d places are free", 19-k), "button \"Register\" [ref]")).after(thought{name + " has a number.", fmt.Sprintf("%d to go. Open an empty form.", len(names)-k-1)}))
		}
		done = name
	}
	return entries, 0
}

// couponsTried applies the coupons that a customer has, one after the other; each is refused for a reason of its own, until one is accepted.
func couponsTried(p *generator) (entries []entry, _ int) {
	total, cart := p.between(60, 400), fmt.Sprintf("cart_%06d", p.between(1000, 999_999))
	codes := p.distinct(p.between(3, 5))
	reasons := p.shuffled("The coupon expired on 31 May 2026.", "The coupon is for orders of new customers.", fmt.Sprintf("The order must be at least $%d.00.", total+p.between(20, 200)), "The coupon is for the category Shoes, of which the cart has no item.", "The coupon was used on 4 April 2026.")
	seen := ""
	for k, word := range codes {
		code := strings.ToUpper(word) + fmt.Sprint(p.pickInt(5, 10, 15, 20))
		t := thought{seen, p.pick("The customer also has ", "Next coupon: ", "I'll apply ") + code + "."}
		if k == 0 {
			t = thought{"The customer has " + fmt.Sprint(len(codes)) + " coupons.", "The best one is " + code + "."}
		}
		if k == len(codes)-1 {
			off := total * p.pickInt(5, 10, 15) / 100
			entries = append(entries, call("apply_coupon", object("cart_id", cart, "code", code), object("applied", true, "code", code, "subtotal", fmt.Sprintf("%d.00", total), "discount", fmt.Sprintf("%d.00", off), "total", fmt.Sprintf("%d.00", total-off), "currency", "USD")).after(t))
			break
		}
		entries = append(entries, call("apply_coupon", object("cart_id", cart, "code", code), object("applied", false, "code", code, "reason", reasons[k], "subtotal", fmt.Sprintf("%d.00", total), "discount", "0.00", "total", fmt.Sprintf("%d.00", total), "currency", "USD")).after(t))
		seen = p.pick("That one isn't valid here. ", "Refused. ", "") + reasons[k]
	}
	return append(entries, say("The coupon was accepted, and the discount is in your cart. The others could not be used: each has a condition that this order does not meet.")), 0
}

// parcelsTracked looks up parcel after parcel of an order; most are at the same depot.
func parcelsTracked(p *generator) (entries []entry, _ int) {
	done, depot, n := "", p.pick("Leipzig", "Rotterdam", "Lyon"), p.between(4, 8)
	for k := range n {
		number := fmt.Sprintf("1Z%010d", p.Uint64N(1e10))
		hub := p.pick("Cologne", "Metz", "Genk") + " hub"
		events := []json.RawMessage{
			object("time", fmt.Sprintf("2026-06-15T%02d:%02d:00Z", p.IntN(24), p.IntN(60)), "place", hub, "event", "Arrived at hub"), object("time", fmt.Sprintf("2026-06-16T%02d:%02d:00Z", p.IntN(24), p.IntN(60)), "place", hub, "event", "Departed"), object("time", fmt.Sprintf("2026-06-17T%02d:%02d:00Z", p.IntN(24), p.IntN(60)), "place", depot, "event", "Arrived at depot"),
		}
		state := p.pick("in depot", "in depot", "out for delivery", "delivered")
		entries = append(entries, call("track_parcel", object("number", number), object("number", number, "carrier", "UPS", "state", state, "weight_kg", p.between(1, 30), "expected", fmt.Sprintf("2026-06-%02d", p.between(18, 21)), "events", events)).after(p.nextItem(done, fmt.Sprintf("parcel %d of %d", k+1, n))))
		done = fmt.Sprintf("parcel %d", k+1)
	}
	return append(entries, say(fmt.Sprintf("I have looked up all %d parcels. Those in the depot %s arrive by 21 June; the table below has the state of each.", n, depot))), 0
}
