package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of browser agents at portals, catalogues and listings.

func portalLoops() []kind {
	return []kind{
		{name: "download_never_arrives", build: downloadNeverArrives},
		{name: "sort_order_toggled", build: sortOrderToggled},
		{name: "redirected_to_home_country", build: redirectedToHomeCountry},
		{name: "carousel_goes_round", build: carouselGoesRound},
	}
}

// downloadNeverArrives clicks on a download and looks into the folder, which stays empty.
func downloadNeverArrives(p *generator) (entries []entry, _ int) {
	b, label := p.browser(), p.pick("Download CSV", "Export", "Download PDF", "Save report", "Download all", "Get file")
	folder, name, listing := p.pick("/srv/downloads", "~/Downloads", "/tmp/browser-downloads"), p.word()+"-"+p.word(), p.IntN(3)
	path, rows := "/"+p.pick("reports", "statements", "exports")+"/"+fmt.Sprint(p.between(100, 99_999)), p.between(0, 12)
	at := page{path, capitalized(name), []string{"heading \"" + capitalized(name) + "\"", "link \"Back to overview\""}}
	for range rows {
		at.elements = append(at.elements, fmt.Sprintf("row \"%s %s %d\"", p.day(1, 6), p.word(), p.between(10, 9000)))
	}
	at.elements = append(at.elements, "button \""+label+"\"")
	none := p.pick("(empty)", "No files found.", "Directory is empty: "+folder)
	note := p.pick("alert \"Your download will begin shortly.\"", "status \"Preparing file… done\"", "")
	after := at
	if note != "" {
		after = at.with(note)
	}
	look := func() entry {
		switch listing {
		case 0:
			return call("list_directory", object("path", folder), quoted(none))
		case 1:
			return p.harness().shell("ls -la "+folder, "total 0", 0)
		}
		return call("list_downloads", object(), object("downloads", []string{}, "checked_at", p.clock()))
	}
	w := wording{
		[]string{"The report is shown. Let me download it.", "Now I click on \"" + label + "\"."},
		[]string{"The file is not there.", "The folder is still empty.", "The download has not arrived.", "Nothing was downloaded.", "No file yet.", ""},
		[]string{"Let me click on \"" + label + "\" again.", "I'll start the download once more.", "Let me try the download again.", "Perhaps the click did not register."},
	}
	entries = append(entries, b.open(at))
	for k := range p.repeats() {
		if k > 1 && p.IntN(4) == 0 {
			url := "https://" + b.site + path + p.pick("/download", ".csv", "/export?format=csv", "/file")
			entries = append(entries, failed([]string{"browser_navigate", "go_to_url", "navigate"}[b.form], object("url", url), "page.goto: net::ERR_ABORTED at "+url+"; maybe frame was detached?").after(thought{p.pick("The file is not there.", ""), p.pick("Let me open the address of the file.", "I'll try the direct link.")}))
		} else {
			entries = append(entries, b.click(label, p.pick("", "", " button"), after).after(w.of(p, k)))
		}
		entries = append(entries, look().after(thought{p.pick("", "The download has started."), p.pick("Let me check the folder.", "Is the file there?", "Let me look at the downloads.", "")}))
	}
	return entries, 3
}

// sortOrderToggled wants the cheapest row first; the table sorts its prices as texts, so that each click on its header gives one of two wrong orders.
func sortOrderToggled(p *generator) (entries []entry, _ int) {
	b, column := p.browser(), p.pick("Price", "Total", "Amount", "Rate", "Cost")
	amounts := p.shuffled("7.95", "9.99", "18.50", "39.00", "64.20", "88.75", "129.00", "245.00", "310.40", "1,099.00", "1,250.00", "2,450.00", "10,400.00", "3,080.00")[:p.between(5, 13)]
	amounts = append(amounts, "1,349.00", "8.40", "999.00") // as texts, 1,… come first and 999.00 last
	var rows []string
	for k, name := range p.distinctWords(len(amounts)) {
		rows = append(rows, amounts[k]+"|"+capitalized(name)+" "+p.pick("Basic", "Plus", "X", "Pro", "Mini"))
	}
	path := "/" + p.pick("offers", "plans", "products", "quotes")
	table := func(mark string) page {
		at := page{path, "Offers", []string{"columnheader \"Name\"", "columnheader \"" + column + mark + "\"", "columnheader \"Rating\""}}
		for _, row := range rows {
			amount, name, _ := strings.Cut(row, "|")
			at.elements = append(at.elements, "row \""+name+" "+amount+" EUR\"")
		}
		return at
	}
	w := wording{
		[]string{"I sort by " + strings.ToLower(column) + " to find the cheapest.", "Let me sort the table."},
		[]string{"The cheapest is not at the top.", "This order is not right.", "It seems to be sorted the other way round.", "Now it is descending.", "The first row is still not the lowest.", ""},
		[]string{"Let me click on " + column + " again.", "I'll change the order.", "Let me sort once more.", "Click on the header again."},
	}
	entries = append(entries, b.open(table("")))
	slices.Sort(rows)
	for k := range max(5, p.repeats()) {
		entries = append(entries, b.click(column, "", table([]string{" ▲", " ▼"}[k%2])).after(w.of(p, k)))
		slices.Reverse(rows)
	}
	return entries, 3
}

// redirectedToHomeCountry opens the page of one country in other ways, and the site shows that of another country.
func redirectedToHomeCountry(p *generator) (entries []entry, _ int) {
	b, product := p.browser(), p.word()+"-"+p.word()
	wanted, code, _ := strings.Cut(p.pick("Germany:de", "France:fr", "United Kingdom:gb", "Japan:jp", "Brazil:br"), ":")
	home, homeCode := "United States", p.pick("us", "en-us")
	price := fmt.Sprintf("$%d.%02d", p.between(19, 900), p.IntN(100))
	notice := p.pick("text \"You are shopping in the United States.\"", "dialog \"We have redirected you to your local store\"", "banner \"Ships to: United States\"")
	at := page{"/" + homeCode + "/p/" + product, capitalized(product) + " | " + home, []string{notice, "heading \"" + capitalized(product) + "\"", "text \"" + price + "\"", "button \"Add to bag\"", "link \"Country: " + home + "\"", "combobox \"Country\": " + home}}
	for range p.IntN(8) {
		at.elements = append(at.elements, "link \""+capitalized(p.phrase(1, 3))+"\"")
	}
	paths := []string{"/" + code + "/p/" + product, "/" + code + "-" + code + "/p/" + product, "/p/" + product + "?country=" + strings.ToUpper(code), "/" + code + "/", "/p/" + product + "?locale=" + code + "&noredirect=1", "/" + code + "/p/" + product + "?redirect=false", "/country/" + code + "?return=/p/" + product}
	w := wording{
		[]string{"I need the price in " + wanted + ".", "Let me open the page for " + wanted + "."},
		[]string{"The price is in dollars.", "I was sent back to the page of the United States.", "It still shows the store of the United States.", "That is not the store of " + wanted + ".", "The country did not change.", ""},
		[]string{"Let me open the address for " + wanted + ".", "I'll choose " + wanted + " in the list of countries.", "Let me try another address.", "I'll set the country by a parameter.", "Let me switch to " + wanted + " again."},
	}
	for k := range p.repeats() {
		var e entry
		if k > 0 && p.IntN(3) == 0 {
			place, ref := b.place("Country\""), b.ref
			args := [][]any{{"element", "Country", "ref", fmt.Sprintf("e%d", ref+2*place), "values", []string{wanted}}, {"index", place, "text", wanted}, {"target", "Country", "value", wanted}}[b.form]
			e = call([]string{"browser_select_option", "select_dropdown_option", "select"}[b.form], object(args...), b.shown("☑️  Selected option "+wanted, at))
		} else {
			asked := at
			asked.path = p.pick(paths...)
			e = b.open(asked)
			e.Result = b.shown("🔗  Navigated to https://"+b.site+asked.path, at)
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 1
}

// carouselGoesRound clicks from picture to picture for one that is not there; after the last comes the first again.
func carouselGoesRound(p *generator) (entries []entry, _ int) {
	b := p.browser()
	thing, wanted, _ := strings.Cut(p.pick("flat:floor plan", "hotel:picture of the gym", "car:picture of the dashboard", "house:picture of the garage", "camera:picture of the ports", "boat:picture of the cabin"), ":")
	pictures := p.distinctWords(p.between(3, 8))
	numbered, label := p.coin(), p.pick("Next photo", "Next slide", "Next", "›")
	at := func(k int) page {
		n := k % len(pictures)
		alt := fmt.Sprintf("img \"%s %s\"", capitalized(thing), pictures[n])
		shows := page{"/" + thing + "s/" + fmt.Sprint(len(pictures)*7919+len(label)), capitalized(thing), []string{"button \"Close\"", alt, "button \"Previous photo\"", "button \"" + label + "\""}}
		if numbered {
			return shows.with(fmt.Sprintf("text: %d / %d", n+1, len(pictures)))
		}
		return shows
	}
	w := wording{
		[]string{"I look for the " + wanted + " among the pictures.", "Let me go through the pictures."},
		[]string{"That is not the " + wanted + ".", "Another picture of the " + thing + ".", "Not this one.", "The " + wanted + " is not shown yet.", ""},
		[]string{"Let me go on to the next picture.", "Next.", "I'll look at the next one.", "Let me click on.", "On to the next picture."},
	}
	entries = append(entries, b.open(at(0)))
	rounds := p.pickInt(2, 2, 2, 3, 3)
	for k := 1; k <= rounds*len(pictures)+p.IntN(len(pictures)); k++ {
		entries = append(entries, b.click(label, "", at(k)).after(w.of(p, k-1)))
	}
	return entries, len(pictures)
}
