package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of browser agents: the same fields and buttons, for one matter after the other.

func surfingLookalikes() []kind {
	return []kind{
		{name: "tax_bands_looked_up_by_address", build: taxBandsLookedUpByAddress},
		{name: "banner_refused_at_each_shop", build: bannerRefusedAtEachShop},
		{name: "same_data_entered_for_each_job", build: sameDataEnteredForEachJob},
		{name: "mailbox_emptied_page_by_page", build: mailboxEmptiedPageByPage},
	}
}

// taxBandsLookedUpByAddress asks the site of a council for address after address; the answers have the same form, and some are equal.
func taxBandsLookedUpByAddress(p *generator) (entries []entry, _ int) {
	v, what := p.visitor(p.pick("-council", "-borough", "-county")), p.pick("Council tax band", "Bin collection day", "School catchment area", "Flood zone", "Parking zone")
	values := map[string][]string{"Council tax band": {"Band B", "Band C", "Band D"}, "Bin collection day": {"Monday", "Wednesday", "Thursday"}, "School catchment area": {"North", "Riverside"}, "Flood zone": {"Zone 1", "Zone 2"}, "Parking zone": {"A", "C1", "C2"}}[what]
	form := func(text string, answer ...string) sight {
		return sight{"/my-address", what, append([]string{`heading "` + what + `"`, strings.TrimSuffix(`textbox "Address or postcode": `+text, ": "), `button "Find"`}, answer...)}
	}
	v.see(form(""))
	street, at, back, last := capitalized(p.word())+p.pick(" Road", " Street", " Lane"), p.between(1, 20), p.coin(), ""
	for range p.between(5, 10) {
		at += p.between(1, 30)
		if p.IntN(3) == 0 {
			street = capitalized(p.word()) + p.pick(" Road", " Street", " Lane")
		}
		address := fmt.Sprintf("%d %s", at, street)
		found := []string{`text "Address: ` + address + `"`, `text "` + what + `: ` + p.pick(values...) + `"`, `text "` + p.pick("Reference ", "Property ") + fmt.Sprint(p.between(100_000, 999_999)) + `"`}
		entries = append(entries, v.act(`textbox "Address or postcode"`, address, form(address)).after(p.nextItem(last, address)),
			v.act(`button "Find"`, "", form(address, append(found, `link "Search for another address"`)...)))
		if back {
			entries = append(entries, v.act(`link "Search for another address"`, "", form("")).after(thought{found[1][6:len(found[1])-1] + ".", ""}))
		}
		last = address
	}
	return entries, 0
}

// bannerRefusedAtEachShop opens one shop after the other, refuses the same banner of cookies at each, and reads a price.
func bannerRefusedAtEachShop(p *generator) (entries []entry, _ int) {
	v, article := p.visitor("-shop"), p.pick("Robot vacuum X10", "Noise-cancelling headphones", "Espresso machine", "Mountain bike 29", "E-reader 7 inch", "Air purifier")
	banner := []string{`text "` + p.pick("We value your privacy", "This site uses cookies", "We and our partners store and access information on a device") + `"`, `button "` + p.pick("Accept all", "Allow all cookies") + `"`, `button "` + p.pick("Reject all", "Only necessary", "Decline") + `"`, `button "Settings"`}
	reject := banner[2]
	searches := p.coin()
	w := wording{
		[]string{"I'll compare the prices, shop by shop."},
		[]string{"I noted this price.", "That is one more price.", "Good, now I know it for this shop.", ""},
		[]string{"Next shop.", "Now the next one.", "Let me open the next shop.", "On to the next offer."},
	}
	for k, shop := range p.distinctWords(p.between(5, 9)) {
		v.site = "https://www." + shop + p.pick("-shop", "store", "24", "-electro") + ".example"
		v.frame = v.frame[:0]
		for _, word := range p.distinctWords(p.IntN(12)) {
			v.frame = append(v.frame, `link "`+capitalized(word)+`"`)
		}
		product := []string{`heading "` + article + `"`, `text "` + fmt.Sprintf("%d.%02d EUR", p.between(180, 260), p.pickInt(0, 49, 90, 99)) + `"`, `text "` + p.pick("In stock", "Delivery in 2 days", "Available from Monday") + `"`, `button "Add to cart"`}
		page := sight{"/" + strings.ToLower(strings.Fields(article)[0]) + fmt.Sprintf("-%d", p.between(1000, 99_999)), article + " | " + capitalized(shop), append(product, banner...)}
		start := page
		if searches {
			start = sight{"/", capitalized(shop), append([]string{`textbox "Search"`, `button "Find"`}, banner...)}
		}
		entries = append(entries, v.open(start).after(w.of(p, k)))
		start.elements = start.elements[:len(start.elements)-len(banner)]
		entries = append(entries, v.act(reject, "", start).after(thought{p.pick("A cookie banner.", "The banner covers the page.", ""), p.pick("I refuse the cookies.", "Let me reject it.", "")}))
		if searches {
			page.elements, start.elements = product, []string{`textbox "Search": ` + article, `button "Find"`}
			entries = append(entries, v.act(`textbox "Search"`, article, start), v.act(`button "Find"`, "", page))
		}
	}
	return entries, 0
}

// sameDataEnteredForEachJob applies for one job after the other, with the same name, mail and telephone number in the same fields.
func sameDataEnteredForEachJob(p *generator) (entries []entry, _ int) {
	v, name := p.visitor("-jobs"), p.person()+" "+capitalized(p.word())
	mail := strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@mail.example"
	phone := fmt.Sprintf("+49 151 %07d", p.between(1e6, 9e6))
	role := p.pick("Data Engineer", "Nurse", "Warehouse Clerk", "Accountant", "Web Developer", "Technician")
	fields, last := p.between(2, 3), ""
	for range p.between(4, 7) {
		firm := capitalized(p.word()) + " " + p.pick("GmbH", "Ltd", "AG", "Inc")
		title, number := p.pick("", "Senior ", "Junior ")+role, p.between(1000, 99_999)
		filled := []string{"", "", ""}
		form := func() sight {
			elements := []string{`heading "` + title + ` at ` + firm + `"`}
			for n, label := range []string{"Full name", "Email", "Phone"} {
				elements = append(elements, strings.TrimSuffix(`textbox "`+label+`": `+filled[n], ": "))
			}
			return sight{fmt.Sprintf("/apply/%d", number), "Apply: " + title, append(elements, `button "Submit application"`)}
		}
		entries = append(entries, v.open(form()).after(p.nextItem(last, "the job at "+firm)))
		for n, value := range []string{name, mail, phone}[:fields] {
			filled[n] = value
			entries = append(entries, v.act([]string{`textbox "Full name"`, `textbox "Email"`, `textbox "Phone"`}[n], value, form()))
		}
		done := sight{fmt.Sprintf("/apply/%d/done", number), "Application sent", []string{`heading "Thank you, your application was received"`, `text "` + title + ` at ` + firm + `"`, `text "Reference ` + strings.ToUpper(p.uuid()[:6]) + `"`, `link "Back to the results"`}}
		entries = append(entries, v.act(`button "Submit application"`, "", done))
		last = "the application to " + firm
	}
	return entries, 0
}

// mailboxEmptiedPageByPage selects all mails of a page and deletes them, page after page; the number of mails falls.
func mailboxEmptiedPageByPage(p *generator) (entries []entry, _ int) {
	v, size := p.visitor("-mail"), p.pickInt(25, 50, 100)
	rounds, folder := p.between(5, 11), p.pick("Promotions", "Spam", "Newsletters", "Notifications")
	left := size*(rounds-1) + p.between(1, size)
	var mails []string
	list := func(selected bool) sight {
		elements := []string{`text "` + fmt.Sprintf("1-%d of %d", min(size, left), left) + `"`, `checkbox "Select all"`}
		if selected {
			elements[1] += ": checked"
			elements = append(elements, `button "Delete"`, `button "Archive"`)
		}
		return sight{"/" + strings.ToLower(folder), folder, append(elements, mails...)}
	}
	receive := func() {
		mails = nil
		for range min(left, p.between(3, 14)) {
			mails = append(mails, `link "`+capitalized(p.word())+` - `+capitalized(p.phrase(2, 6))+`"`)
		}
	}
	w := wording{
		[]string{"Let me select the mails of the first page.", "I'll empty the folder page by page."},
		[]string{"These are deleted.", "One page less.", "That page is gone.", ""},
		[]string{"Now the next page.", "Select the next ones.", "On with the rest.", "The same for what is left."},
	}
	receive()
	v.see(list(false))
	for k := range rounds {
		entries = append(entries, v.act(`checkbox "Select all"`, "", list(true)).after(w.of(p, k)))
		n := min(size, left)
		left -= n
		receive()
		after := list(false)
		if left == 0 {
			after.elements = []string{`text "Nothing in ` + folder + `"`}
		}
		after.elements = append(after.elements, fmt.Sprintf(`text "%s moved to Bin"`, plural(n, "conversation")))
		entries = append(entries, v.act(`button "Delete"`, "", after).after(thought{"", p.pick("", "Delete them.")}))
	}
	return entries, 0
}
