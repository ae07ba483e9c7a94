package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that pay, write mail, shop and book. The service takes what they send and does not do it.

func commerceLoops() []kind {
	return []kind{
		{name: "daily_limit_reached", build: dailyLimitReached},
		{name: "attachment_too_large", build: attachmentTooLarge},
		{name: "form_is_blank_again", build: formIsBlankAgain},
		{name: "cart_stays_empty", build: cartStaysEmpty},
		{name: "date_picker_jumps_back", build: datePickerJumpsBack},
	}
}

// dailyLimitReached transfers money in other amounts and ways; nothing is left of the limit of the day.
func dailyLimitReached(p *generator) (entries []entry, _ int) {
	payee, amount, invoice := p.pick("Hartmann GbR", "Okafor Consulting", "Lindqvist AB", "Novak & Sons"), p.between(400, 6000), fmt.Sprint(p.between(2000, 2900))
	iban := fmt.Sprintf("DE%02d5001051754%08d", p.between(10, 99), p.between(1e7, 9e7))
	words := wording{
		first: []string{"I'll make the transfer to " + payee + " now.", "Let me send the payment.", "The details are complete, so I transfer the amount."},
		seen:  []string{"The limit of today is used up.", "The bank rejected it: nothing is left for today.", "Rejected, LIMIT_EXCEEDED.", "That amount is over the limit as well.", "The remaining limit is 0.00."},
		next:  []string{"Let me try %d.00 EUR.", "I'll send %d.00 EUR first.", "Perhaps %d.00 EUR go through in another way.", "Now with %d.00 EUR.", "Let me resubmit it with %d.00 EUR."},
	}
	for round := range p.between(4, 8) {
		part := []int{amount, amount / 2, amount / 4, 100, 50, 10}[min(round, 1)*p.IntN(6)]
		tool := p.pick("create_transfer", "create_transfer", "create_instant_transfer", "schedule_transfer")
		args := object("from_account", p.pick("checking", "checking", "savings"), "to_name", payee, "to_iban", iban, "amount", part, "currency", "EUR", "reference", p.pick("Invoice ", "Part 1 invoice ", "Inv. ")+invoice, "execution", p.pick("today", "immediate"))
		result := object("status", "rejected", "code", "LIMIT_EXCEEDED", "message", "The daily transfer limit of this customer is used up. It applies to all accounts and kinds of transfer.", "limit", "5000.00", "used", "5000.00", "remaining", "0.00", "resets_at", "2026-06-18T00:00:00+02:00", "request_id", p.uuid())
		entries = append(entries, call(tool, args, result).after(words.then(p, round, strings.ReplaceAll(p.pick(words.next...), "%d", fmt.Sprint(part)))))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("get_limits", object("customer", "self"), object("daily", "5000.00", "used", "5000.00", "remaining", "0.00", "currency", "EUR", "changeable", false, "note", "Limits are changed in a branch.")).after(thought{next: p.pick("How much is left?", "Let me read the limits.")}))
		}
	}
	return entries, 1
}

// attachmentTooLarge packs a file in other ways and sends it; each message is over the size that the server takes.
func attachmentTooLarge(p *generator) (entries []entry, _ int) {
	run, name, to := p.commands(), p.word()+"-"+p.word(), p.word()+"@example.com"
	bytes := p.between(58e6, 64e6)
	words := wording{
		first: []string{"I'll pack the recording and send it.", "Let me attach " + name + ".mp4 to the mail.", "First I compress the file."},
		seen:  []string{"The server refuses the message because of its size.", "Still larger than 25 MB.", "It was rejected with 552.", "The archive is hardly smaller than the video.", "Too large."},
		next:  []string{"Let me compress it more.", "I'll pack it again.", "Let me use the highest level.", "Let me pack it in another way.", "A better compression should do it."},
	}
	for round := range p.between(3, 6) {
		kind := p.pick("zip", "tar.gz", "tar.xz", "7z", "tar.zst")
		pack := map[string]string{"zip": "zip -9", "tar.gz": "GZIP=-9 tar czf", "tar.xz": "XZ_OPT=-9e tar cJf", "7z": "7z a -mx=9", "tar.zst": "tar -I 'zstd -19' -cf"}[kind]
		file, size := name+p.pick("", "-small", "_v2")+"."+kind, bytes-p.between(1000, 90_000)
		reason := fmt.Sprintf("SMTP error 552 5.3.4: Your message exceeded the size limits of the recipient domain.\n  message size: %d bytes\n  limit: 26214400 bytes\n  queue id: %08X", size*4/3, p.Uint32())
		entries = append(entries,
			run(pack+" "+file+" "+name+".mp4 && ls -l "+file+" "+name+".mp4", fmt.Sprintf("-rw-r--r-- 1 agent agent %d Jun 17 10:%02d %s\n-rw-r--r-- 1 agent agent %d Jun 17 09:58 %s.mp4", size, p.IntN(60), file, bytes, name), 0).after(words.of(p, round)),
			failed("send_email", object("to", []string{to}, "subject", p.pick("Recording of the meeting", "The recording", "Recording (compressed)"), "body", "Hello,\n\nattached is the recording of "+p.phrase(2, 4)+".\n\nKind regards", "attachments", []string{"/srv/files/" + file}), reason).after(thought{next: p.pick("Now I send it.", "Let me send the smaller file.", "Sending the mail.", "This should fit.")}))
	}
	return entries, 2
}

// formIsBlankAgain fills in a form and sends it; the page comes back without any of the values.
func formIsBlankAgain(p *generator) (entries []entry, _ int) {
	url, name := "https://"+p.word()+".example/apply", p.pick("Ines Duarte", "Omar Haddad", "Kate Lowell")
	words := wording{
		first: []string{"I'll fill in the application.", "Let me enter the details.", "The form has three fields. I'll fill them in."},
		seen:  []string{"The form is blank again.", "My entries are gone.", "The page was reset: the session has expired.", "All fields are empty.", "It says that the session expired."},
		next:  []string{"I'll fill it in again.", "Let me enter everything once more.", "Let me fill it in faster.", "I'll enter the values and submit right away.", "Let me type them one by one."},
	}
	page := func(code, note string, values ...string) json.RawMessage {
		lines := []string{"banner [ref]", "heading \"Application\" [level=1] [ref]", "text: " + note, "textbox \"Full name\" [ref]" + values[0], "textbox \"Email\" [ref]" + values[1], "combobox \"Country\" [ref]" + values[2], "checkbox \"I accept the terms\" [ref]", "button \"Submit application\" [ref]", "link \"Privacy\" [ref]", "contentinfo [ref]"}
		return p.snapshot(code, url, "Application", lines...)
	}
	email := strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@example.com"
	for round := range p.between(3, 5) {
		fields := fmt.Sprintf(`[{"name":"Full name","value":%q},{"name":"Email","value":%q},{"name":"Country","value":%q}]`, name, email, p.pick("Portugal", "Portugal", "PT"))
		entries = append(entries,
			call("browser_fill_form", object("fields", json.RawMessage(fields)), page("await page.getByRole('textbox', { name: 'Full name' }).fill('"+name+"');", "Step 1 of 1", ": "+name, ": "+email, ": Portugal")).after(words.of(p, round)),
			call("browser_click", object("element", p.pick("Submit application button", "Submit", "the submit button"), "ref", fmt.Sprintf("e%d", p.between(20, 70))), page("await page.getByRole('button', { name: 'Submit application' }).click();", "Your session has expired. Please fill in the form again.", "", "", "")).after(thought{p.pick("Everything is filled in.", "", "The values are there."), p.pick("Submit.", "Now I submit the application.", "Let me send it.")}))
	}
	return entries, 2
}

// cartStaysEmpty puts a product into a cart that is empty when it is opened.
func cartStaysEmpty(p *generator) (entries []entry, _ int) {
	shop, product, price := "https://shop."+p.word()+".example", p.pick("Linen Shirt", "Desk Lamp", "Trail Backpack", "Cast Iron Pan"), p.between(19, 190)
	words := wording{
		first: []string{"I'll add the " + product + " to the cart.", "Let me add it to the basket.", "This is the product. Adding it."},
		seen:  []string{"The cart is empty.", "The item isn't in the cart.", "Still 0 items.", "The cart shows nothing."},
		next:  []string{"Let me go back and add it again.", "I'll select a size and add it.", "Let me click the button once more.", "Let me add it from the list instead.", "I'll try Buy now."},
	}
	for round := range p.between(3, 5) {
		button := p.pick("Add to cart", "Add to cart", "Buy now", "Add to cart (sticky bar)")
		path := shop + "/p/" + strings.ToLower(strings.ReplaceAll(product, " ", "-"))
		entries = append(entries,
			call("browser_click", object("element", button, "ref", fmt.Sprintf("e%d", p.between(30, 90))), p.snapshot("await page.getByRole('button', { name: 'Add to cart' }).click();", path, product, "navigation [ref]", "link \"Cart (0)\" [ref]", "heading \""+product+"\" [level=1] [ref]", fmt.Sprintf("text: $%d.00", price), "radiogroup \"Size\" [ref]", "radio \"M\" [checked] [ref]", "button \"Add to cart\" [active] [ref]", "text: Added! View your cart", "region \"Customers also bought\" [ref]")).after(words.of(p, round)),
			call("browser_navigate", object("url", shop+"/cart"), p.snapshot("", shop+"/cart", "Your cart", "navigation [ref]", "link \"Cart (0)\" [ref]", "heading \"Your cart is empty\" [level=1] [ref]", "paragraph [ref]: Looks like you have not added anything yet.", "link \"Continue shopping\" [ref]", "contentinfo [ref]")).after(thought{p.pick("It says that it was added.", "", "Added."), p.pick("Let me open the cart.", "Now check the cart.", "On to the cart for checkout.")}))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, call("browser_navigate", object("url", path), p.snapshot("", path, product, "link \"Cart (0)\" [ref]", "heading \""+product+"\" [level=1] [ref]", fmt.Sprintf("text: $%d.00", price), "button \"Add to cart\" [ref]")).after(thought{next: p.pick("Back to the product.", "Let me reload the product page.")}))
		}
	}
	return entries, 2
}

// datePickerJumpsBack pages a calendar to a month and picks a day; the calendar shows the first month again and keeps no date.
func datePickerJumpsBack(p *generator) (entries []entry, _ int) {
	url, day := "https://"+p.word()+".example/book", p.between(3, 27)
	words := wording{
		first: []string{"I need to choose a date in August.", "Let me open August in the calendar."},
		seen:  []string{"The calendar is back at June.", "No date is selected.", "It jumped back to June 2026.", "The arrival date is still empty."},
		next:  []string{"Let me go to August again.", "I'll page forward again.", "Let me click the next arrow once more.", "Again to August.", "I'll go forward and click the day faster."},
	}
	calendar := func(month, chosen string) json.RawMessage {
		lines := []string{"textbox \"Arrival\" [ref]" + chosen, "button \"Previous month\" [ref]", "heading \"" + month + " 2026\" [level=2] [ref]", "button \"Next month\" [ref]"}
		for d := day - 2; d <= day+2; d++ {
			lines = append(lines, fmt.Sprintf("gridcell \"%d %s 2026\" [ref]", d, month))
		}
		return p.snapshot("", url, "Choose your dates", append(lines, "button \"Search\" [disabled] [ref]")...)
	}
	click := func(element string, result json.RawMessage) entry {
		return call("browser_click", object("element", element, "ref", fmt.Sprintf("e%d", p.between(4, 60))), result)
	}
	for round := range p.between(3, 4) {
		entries = append(entries,
			click("Next month", calendar("July", "")).after(words.of(p, round)),
			click("Next month", calendar("August", "")).after(thought{next: p.pick("One more month.", "July. Next.", "")}),
			click(fmt.Sprintf("%d August 2026", day+p.between(-1, 1)), calendar("June", "")).after(thought{"August is shown.", p.pick("Now I pick the day.", fmt.Sprintf("I'll click on %d August.", day), "Select the date.")}))
	}
	return entries, 3
}
