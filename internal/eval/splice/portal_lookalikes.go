package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are the honest work of browser agents: the same click or the same page, with something else to read each time.

func portalLookalikes() []kind {
	return []kind{
		{name: "table_sorted_by_each_column", build: tableSortedByEachColumn},
		{name: "price_read_in_each_country", build: priceReadInEachCountry},
		{name: "first_request_approved_until_none_left", build: firstRequestApprovedUntilNoneLeft},
		{name: "map_panned_along_route", build: mapPannedAlongRoute},
	}
}

// tableSortedByEachColumn sorts one table by one column after the other, and notes which row comes first.
func tableSortedByEachColumn(p *generator) (entries []entry, _ int) {
	b, columns := p.browser(), p.shuffled("Price", "Rating", "Reviews", "Weight", "Battery life", "Release date", "Warranty", "Noise level", "Power", "Capacity")[:p.between(5, 8)]
	names, path := p.distinctWords(p.between(4, 14)), "/compare/"+p.word()
	values := map[string][]int{}
	for _, name := range names {
		for range columns {
			values[name] = append(values[name], p.between(1, 990))
		}
	}
	table := func(sorted int) page {
		at := page{path, "Comparison", nil}
		for k, column := range columns {
			mark := ""
			if k == sorted {
				mark = " ▼"
			}
			at.elements = append(at.elements, "columnheader \""+column+mark+"\"")
		}
		if sorted >= 0 {
			slices.SortFunc(names, func(a, b string) int { return values[b][sorted] - values[a][sorted] })
		}
		for _, name := range names {
			at.elements = append(at.elements, "row \""+capitalized(name)+" "+strings.Trim(fmt.Sprint(values[name]), "[]")+"\"")
		}
		return at
	}
	w := wording{
		[]string{"The user wants to know which one leads in each column.", "Let me sort by one column after the other."},
		[]string{"I have the leader of that column.", "Noted.", "The order has changed.", ""},
		[]string{"Next: %s.", "Now sort by %s.", "Let me sort by %s.", "Then %s."},
	}
	entries = append(entries, b.open(table(-1)))
	for k, column := range columns {
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, column)
		}
		entries = append(entries, b.click(column, "", table(k)).after(t))
	}
	return entries, 0
}

// priceReadInEachCountry opens the page of one product in the store of one country after the other.
func priceReadInEachCountry(p *generator) (entries []entry, _ int) {
	b, product := p.browser(), p.word()+"-"+p.word()
	price, byList := p.between(40, 1200), p.coin()
	countries := p.shuffled("United States:us:USD", "Germany:de:EUR", "France:fr:EUR", "Spain:es:EUR", "Italy:it:EUR", "Austria:at:EUR", "Ireland:ie:EUR", "Netherlands:nl:EUR", "Poland:pl:PLN", "Sweden:se:SEK", "Japan:jp:JPY", "Canada:ca:CAD", "Brazil:br:BRL", "Mexico:mx:MXN")[:p.between(6, 11)]
	links := p.IntN(9)
	w := wording{
		[]string{"I compare the price in the stores of several countries.", "Let me read the price country by country."},
		[]string{"I have the price.", "The same price as before.", "A little more than in the last one.", "Noted.", ""},
		[]string{"Next: %s.", "Now %s.", "On to %s.", "Let me open the store for %s."},
	}
	last := 0
	for k, of := range countries {
		name, rest, _ := strings.Cut(of, ":")
		code, currency, _ := strings.Cut(rest, ":")
		rate := map[string]int{"PLN": 43, "SEK": 112, "JPY": 1550, "CAD": 14, "BRL": 56, "MXN": 190}[currency]
		costs := price * max(10, rate) / 10
		if p.coin() {
			costs += p.between(1, 60)
		}
		at := page{"/" + code + "/p/" + product, capitalized(product) + " | " + name, []string{"heading \"" + capitalized(product) + "\"", fmt.Sprintf("text \"%s %d.00\"", currency, costs), "button \"Add to bag\"", "combobox \"Country\": " + name}}
		for n := range links {
			at.elements = append(at.elements, "link \""+capitalized(vocabulary[(n*31+len(product))%len(vocabulary)])+"\"")
		}
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, name)
		}
		if t.seen == "The same price as before." && costs != last || t.seen == "A little more than in the last one." {
			t.seen = ""
		}
		last = costs
		if byList && k > 0 {
			place, ref := b.place("Country\""), b.ref
			args := [][]any{{"element", "Country", "ref", fmt.Sprintf("e%d", ref+2*place), "values", []string{name}}, {"index", place, "text", name}, {"target", "Country", "value", name}}[b.form]
			entries = append(entries, call([]string{"browser_select_option", "select_dropdown_option", "select"}[b.form], object(args...), b.shown("☑️  Selected option "+name, at)).after(t))
			continue
		}
		entries = append(entries, b.open(at).after(t))
	}
	return entries, 0
}

// firstRequestApprovedUntilNoneLeft clicks on the same button of the first row; the row leaves the list, until the list is empty.
func firstRequestApprovedUntilNoneLeft(p *generator) (entries []entry, _ int) {
	b := p.browser()
	thing, label, _ := strings.Cut(p.pick("leave request:Approve", "access request:Approve", "order:Mark as shipped", "comment:Publish", "timesheet:Approve", "invoice:Release", "alert:Acknowledge", "notification:Dismiss"), ":")
	var rows []string
	for range p.between(5, 12) {
		rows = append(rows, fmt.Sprintf("row \"%s %s, %s %d\"", p.person(), capitalized(p.word()), p.pick("Mon", "Tue", "Wed", "Thu", "Fri"), 100+len(rows)*13+p.IntN(10)))
	}
	tool, total := p.coin(), len(rows)
	list := func(done int) page {
		at := page{"/" + strings.ReplaceAll(thing, " ", "-") + "s?state=open", capitalized(thing) + "s", []string{fmt.Sprintf("heading \"Open %ss\"", thing)}}
		if done == total {
			return at.with("text: Nothing to do. All " + thing + "s are handled.")
		}
		for _, row := range rows[done:min(total, done+8)] {
			at.elements = append(at.elements, row, "button \""+label+"\"")
		}
		if tool {
			return at.with(fmt.Sprintf("text: %d open", total-done))
		}
		return at
	}
	w := wording{
		[]string{"All of them may be approved. I start with the first.", "I handle the list from the top."},
		[]string{"It has left the list.", "Done, the next one is at the top now.", "One less.", ""},
		[]string{"Let me click on \"" + label + "\" for the next one.", "Next.", "The same for the first of the rest.", "Now the next one."},
	}
	entries = append(entries, b.open(list(0)))
	for k := range total {
		entries = append(entries, b.click(label, "", list(k+1)).after(w.of(p, k)))
	}
	return entries, 0
}

// mapPannedAlongRoute moves a map along a road by the same steps, and reads the stations that come into view.
func mapPannedAlongRoute(p *generator) (entries []entry, _ int) {
	b, thing := p.browser(), p.pick("charging station", "camp site", "petrol station", "rest area", "pharmacy")
	key, lat, lon := p.pick("ArrowRight", "ArrowDown"), 47+p.Float64(), 8+3*p.Float64()
	w := wording{
		[]string{"I follow the road on the map.", "Let me move the map along the route."},
		[]string{"Noted the ones in view.", "New markers are in view.", "I have these.", "Nothing in this part.", ""},
		[]string{"Let me move on.", "Further along the road.", "Pan on.", "On to the next part."},
	}
	view := func(k int) (page, bool) {
		at := page{fmt.Sprintf("/maps/@%.4f,%.4f,12z", lat, lon), "Map", []string{"searchbox \"Search\": " + thing, "button \"Zoom in\"", "button \"Zoom out\"", fmt.Sprintf("region \"Map, centred at %.4f, %.4f\"", lat, lon)}}
		found := p.IntN(4)
		if k == 0 {
			found = 2
		}
		for range found {
			at.elements = append(at.elements, fmt.Sprintf("button \"%s %s, %d.%d km\"", capitalized(thing), capitalized(p.word()), 4*k+p.IntN(4), p.IntN(10)))
		}
		return at, found == 0
	}
	at, empty := view(0)
	entries = append(entries, b.open(at))
	for k := range p.between(6, 13) {
		if lon += 0.06; key == "ArrowDown" {
			lat, lon = lat-0.04, lon-0.06
		}
		t := w.of(p, k)
		if empty != (t.seen == "Nothing in this part.") {
			t.seen = ""
		}
		at, empty = view(k + 1)
		var args json.RawMessage
		switch b.form {
		case 0:
			args = object("key", key)
		case 1:
			args = object("keys", key)
		default:
			args = object("key", key, "times", 4)
		}
		entries = append(entries, call([]string{"browser_press_key", "send_keys", "press"}[b.form], args, b.shown("⌨️  Sent keys: "+key, at)).after(t))
	}
	return entries, 0
}
