package splice

import "fmt"

// The lookalikes of this file are the honest work of agents that use a browser by numbered elements.

func navigatorLookalikes() []kind {
	return []kind{
		{name: "invoices_fetched_row_by_row", build: invoicesFetchedRowByRow},
		{name: "variants_entered_in_shop_admin", build: variantsEnteredInShopAdmin},
		{name: "export_watched_on_its_page", build: exportWatchedOnItsPage},
		{name: "slots_tried_until_one_is_free", build: slotsTriedUntilOneIsFree},
	}
}

// invoicesFetchedRowByRow clicks the same kind of button in row after row of a list, which downloads one invoice each.
func invoicesFetchedRowByRow(p *generator) (entries []entry, _ int) {
	n := p.navigator(p.word(), "Invoices")
	number, last := p.between(20_000, 90_000), ""
	rows := p.between(5, 9)
	elements := make([]string, rows)
	for k := range elements {
		elements[k] = fmt.Sprintf("button Download INV-%d", number-k)
	}
	for k := range rows {
		name := fmt.Sprintf("INV-%d", number-k)
		entries = append(entries, n.act("click", object("index", n.first+k), fmt.Sprintf("Clicked button \"Download\"\nDownloaded file: /tmp/downloads/%s.pdf (%d KB)", name, p.between(30, 400)), elements...).after(p.nextItem(last, name)))
		if k == rows/2 && p.coin() {
			entries = append(entries, n.act("scroll", object("down", true, "pages", 1), "Scrolled down 1 page", elements...).after(thought{"", "The others are further down."}))
		}
		last = name
	}
	return entries, 0
}

// variantsEnteredInShopAdmin enters variant after variant of an article: its name, its price, and the button that saves it.
func variantsEnteredInShopAdmin(p *generator) (entries []entry, _ int) {
	article := p.pick("Rain jacket", "Running shoe", "Desk lamp", "Backpack")
	n, last := p.navigator("shop-admin", "Add variant | "+article), ""
	colours := p.shuffled("navy", "black", "sand", "olive", "rust", "white")
	saved := 0
	for k := range p.between(3, 4) {
		name := colours[k] + " / " + p.pick("S", "M", "L", "XL")
		sku, price := fmt.Sprintf("%s-%04d", p.letters(3), p.between(1, 9999)), fmt.Sprintf("%d.%d0", p.between(20, 190), p.pickInt(0, 5, 9))
		elements := []string{"input name=option value=" + name, "input name=price", "button Save variant", fmt.Sprintf("span %d variants", saved)}
		entries = append(entries, n.act("input", object("index", n.first, "text", name), "Typed '"+name+"'", elements...).after(p.nextItem(last, name)))
		elements[1] = "input name=price value=" + price
		entries = append(entries, n.act("input", object("index", n.first+1, "text", price), "Typed '"+price+"'", elements...).after(thought{"", p.pick("Now the price.", "")}))
		saved++
		entries = append(entries, n.click(2, "Save variant", "input name=option", "input name=price", "button Save variant", fmt.Sprintf("span %d variants, last %s", saved, sku)).after(thought{"", p.pick("Let me save it.", "")}))
		last = name
	}
	return entries, 0
}

// exportWatchedOnItsPage reads the page of an export after each wait. The page shows a higher percentage each time, and the file in the end.
func exportWatchedOnItsPage(p *generator) (entries []entry, _ int) {
	n := p.navigator(p.word(), "Exports")
	rows := p.between(20_000, 900_000)
	done := p.between(2, 15)
	w := wording{
		[]string{"The export has begun. Let me wait for it."},
		[]string{"It gets on.", "Not finished yet.", "Eval: success - more is done.", ""},
		[]string{"Let me wait a little longer.", "I'll wait and look again.", "Waiting."},
	}
	for k := 0; done < 100; k++ {
		entries = append(entries, n.act("wait", object("seconds", 20), "Waited for 20 seconds", "button Cancel", fmt.Sprintf("span Preparing export: %d%% (%d of %d rows)", done, rows*done/100, rows)).after(w.of(p, k)))
		done += p.between(9, 24)
	}
	entries = append(entries, n.act("wait", object("seconds", 20), "Waited for 20 seconds", "button Download", fmt.Sprintf("span Ready (%d rows)", rows)).after(w.of(p, 1)))
	return append(entries, n.click(0, "Download", "button Download", fmt.Sprintf("span Ready (%d rows)", rows)).after(thought{"It is ready.", "Let me download it."})), 0
}

// slotsTriedUntilOneIsFree clicks slot after slot that somebody else takes at the same moment, until one is held.
func slotsTriedUntilOneIsFree(p *generator) (entries []entry, _ int) {
	n := p.navigator(p.pick("townhall", "clinic", "consulate", "tyres"), "Choose a time")
	hour, minute := 8, p.pickInt(0, 10, 15, 30)
	slot := func() string {
		minute += p.pickInt(10, 15, 20)
		hour, minute = hour+minute/60, minute%60
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	n.first += p.between(1, 9)
	offered := []string{slot(), slot(), slot()}
	for k := range p.between(4, 7) {
		t := thought{p.pick("Somebody was faster.", "That one has just been taken.", "Gone.", ""), p.pick("Let me take the next one, "+offered[0]+".", "Then "+offered[0]+".", "I'll try "+offered[0]+".")}
		if k == 0 {
			t = thought{"", offered[0] + " suits. Let me take it."}
		}
		taken := offered[0]
		offered = append(offered[1:], slot())
		entries = append(entries, n.click(1, taken, "span "+taken+" has just been booked by somebody else", "button "+offered[0], "button "+offered[1], "button "+offered[2]).after(t))
	}
	entries = append(entries, n.click(1, offered[0], "span "+offered[0]+" is held for you for 5:00 minutes", "button Confirm").after(thought{"", "Then " + offered[0] + "."}))
	return append(entries, n.click(1, "Confirm", fmt.Sprintf("h1 Your appointment is booked, number %d", p.between(10_000, 99_999))).after(thought{"This one is held.", "Let me confirm it."})), 0
}
