package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that browse pages and collect data from them.

func scraperLoops() []kind {
	return []kind{
		{name: "extraction_asked_in_other_words", build: extractionAskedInOtherWords},
		{name: "typed_text_piles_up", build: typedTextPilesUp},
		{name: "links_open_unseen_tabs", build: linksOpenUnseenTabs},
		{name: "scrape_stops_at_same_count", build: scrapeStopsAtSameCount},
	}
}

// extractionAskedInOtherWords asks a tool that reads the page for the same data in other words, and the page does not have them.
func extractionAskedInOtherWords(p *generator) (entries []entry, _ int) {
	thing, part, _ := strings.Cut(p.pick("laptop:prices", "laptop:delivery times", "apartment:phone numbers", "apartment:deposits", "job:salaries", "hotel:ratings", "hotel:prices", "course:starting dates", "used car:seller names", "restaurant:opening hours"), ":")
	url, form := "https://"+p.word()+p.pick("-list", "finder", "-market")+".example/"+p.word()+"?page=1", p.IntN(3)
	goals := []string{
		"Extract the %[2]s of all %[1]ss", "Get every %[1]s with its name and %[2]s", "List %[2]s for each %[1]s as JSON", "extract %[1]s name, link and %[2]s from the results", "Find the %[2]s in the %[1]s cards",
		"Extract all visible %[2]s", "Return a table of %[1]ss and %[2]s", "Extract the data of the first 10 %[1]ss including %[2]s", "What are the %[2]s of the %[1]ss on this page?", "Extract %[2]s from the page content, also from hidden elements",
	}
	none := []string{
		"The page lists %[1]ss, but no %[2]s are given in the content.", "No %[2]s could be found on the page.", "The provided page content does not contain %[2]s for any %[1]s.", "I could not extract %[2]s: the content has only titles and links.",
		"Unfortunately the %[2]s are not part of the text of this page.",
	}
	w := wording{
		[]string{"The results are shown. Let me extract the data.", "Now I extract the " + part + "."},
		[]string{"The extraction did not return the " + part + ".", "The " + part + " are missing.", "The result is not complete.", "Verdict: failed. Nothing was extracted.", ""},
		[]string{"Let me extract again with a clearer goal.", "I'll ask for the fields one by one.", "Let me be more specific.", "Let me extract it as a table.", "Next goal: extract the " + part + " from the page."},
	}
	for k := range p.repeats() {
		goal := fmt.Sprintf(p.pick(goals...), thing, part)
		answer := fmt.Sprintf(p.pick(none...), thing, part)
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, call("scroll_down", object("amount", p.pickInt(400, 800, 1200)), quoted("🔍  Scrolled down the page")))
		}
		var e entry
		switch form {
		case 0:
			e = call("extract_content", object("goal", goal, "should_strip_link_urls", p.coin()), quoted("📄  Extracted from page\n: ```json\n{\""+strings.ReplaceAll(part, " ", "_")+"\": [], \"note\": \""+answer+"\"}\n```"))
		case 1:
			e = call("extract_structured_data", object("query", goal, "extract_links", p.coin()), quoted("<url>\n"+url+"\n</url>\n<query>\n"+goal+"\n</query>\n<result>\n"+answer+"\n</result>"))
		default:
			e = call("ask_page", object("instruction", goal), object("success", true, "data", []string{}, "message", answer, "elapsed_ms", p.between(900, 9000)))
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 1
}

// typedTextPilesUp types a value into a field that appends it to what it has, and each attempt to replace the text makes it longer.
func typedTextPilesUp(p *generator) (entries []entry, _ int) {
	b := p.browser()
	field, value, _ := strings.Cut(p.pick("Company:"+capitalized(p.word())+" Ltd", "Full name:"+p.person()+" "+capitalized(p.word()), "City:Rotterdam", "Keywords:"+p.word()+" "+p.word(), fmt.Sprintf("Phone:+49 30 %d", p.between(100_000, 999_999)), fmt.Sprintf("Amount:%d.00", p.between(20, 900))), ":")
	holds, path := p.pick(value, value, "0", capitalized(p.word())), p.pick("/form", "/form?step=2", "/request/new")
	form := func() page {
		return page{path, "Your details", []string{
			"textbox \"E-mail\": info@" + b.site, "textbox \"" + field + "\": " + holds, "checkbox \"Newsletter\"", "button \"Back\"", "button \"Continue\"",
		}}
	}
	w := wording{
		[]string{"I fill in the " + strings.ToLower(field) + ".", "Now the field " + field + "."},
		[]string{"The value is not right.", "The field has the text more than once now.", "The old text is still there.", "It was appended instead of replaced.", ""},
		[]string{"Let me clear the field and type it again.", "I'll select all and enter it once more.", "Let me enter the correct value.", "Let me try to overwrite it.", "I'll fill it again."},
	}
	entries = append(entries, b.open(form()))
	for k := range p.pickInt(4, 5, 5, 6, 7, 8, 10) {
		if k > 1 && p.IntN(3) > 0 {
			keys := p.pick("Control+A", "Delete", "Control+a", "Backspace", "Meta+A")
			e := call([]string{"browser_press_key", "send_keys", "press"}[b.form], object([]string{"key", "keys", "key"}[b.form], keys), b.shown("⌨️  Sent keys: "+keys, form()))
			entries = append(entries, e.after(w.of(p, k)))
		}
		e := b.enter(field, value, form())
		holds += value
		e.Result = b.shown(fmt.Sprintf("⌨️  Input %s into index %d", value, b.place(field)), form())
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 2
}

// tabbed adds the list of tabs to what an action shows.
func (b *browser) tabbed(e entry, at page, tabs []string) entry {
	list := ""
	switch b.form {
	case 0:
		for k, tab := range tabs {
			list += fmt.Sprintf("\n- %d: %s(https://%s%s)", k, map[bool]string{true: "(current) [" + at.title + "] "}[k == 0], b.site, tab)
		}
		var parts []struct{ Text string }
		if json.Unmarshal(e.Result, &parts) == nil && len(parts) == 1 {
			e.Result = content("### Open tabs" + list + "\n\n" + parts[0].Text)
		}
	case 1:
		for k, tab := range tabs {
			list += fmt.Sprintf("Tab %04x: https://%s%s\n", 4096+577*k, b.site, tab)
		}
		var text string
		if json.Unmarshal(e.Result, &text) == nil {
			e.Result = quoted(strings.Replace(text, "Interactive elements:", "Available tabs:\n"+list+"Interactive elements:", 1))
		}
	default:
		e.Result = object("page", e.Result, "open_tabs", len(tabs))
	}
	return e
}

// linksOpenUnseenTabs clicks on a link that opens in another tab, sees the same page in its own tab, and clicks again.
func linksOpenUnseenTabs(p *generator) (entries []entry, _ int) {
	b, thing := p.browser(), p.pick("report", "data sheet", "listing", "profile", "tender", "article")
	at := page{"/search?q=" + p.word(), "Results", []string{"link \"Home\"", "textbox \"Search\""}}
	for _, name := range p.distinctWords(p.between(4, 7)) {
		at.elements = append(at.elements, "link \""+capitalized(name)+" "+thing+"\"", "link \"View "+name+"\"")
	}
	place := 2 * p.between(1, (len(at.elements)-2)/2)
	name := func(n int) string { return strings.Trim(strings.TrimPrefix(at.elements[n], "link "), "\"") }
	wanted := []string{name(place), name(place + 1)}
	w := wording{
		[]string{"Let me open the " + thing + " \"" + wanted[0] + "\".", "I click on the " + thing + "."},
		[]string{"The page did not change.", "I am still on the list of results.", "The click had no effect.", "The details did not open.", ""},
		[]string{"Let me click on it again.", "I'll click on the other link of this result.", "Let me try the title instead.", "Let me click once more and wait.", "I'll try to open the " + thing + " again."},
	}
	tabs := []string{at.path}
	entries = append(entries, b.tabbed(b.open(at), at, tabs))
	opened := fmt.Sprintf("/%s/%d", strings.ReplaceAll(thing, " ", "-"), p.between(1000, 99_999))
	for k := range min(14, p.repeats()) {
		if k > 1 && p.IntN(4) == 0 {
			look := call([]string{"browser_snapshot", "wait", "get_page"}[b.form], []json.RawMessage{object(), object("seconds", p.between(2, 5)), object()}[b.form], b.shown("🕒  Waited for some seconds", at))
			entries = append(entries, b.tabbed(look, at, tabs).after(thought{"", p.pick("Let me look at the page.", "Perhaps it needs some time.")}))
		}
		tabs = append(tabs, opened)
		entries = append(entries, b.tabbed(b.click(p.pick(wanted...), p.pick("", " of the "+thing, " link"), at), at, tabs).after(w.of(p, k)))
	}
	return entries, 2
}

// scrapeStopsAtSameCount changes a scraper that is to collect more items than the site has, and it collects the same number each time.
func scrapeStopsAtSameCount(p *generator) (entries []entry, _ int) {
	h, thing := p.harness(), p.word()
	pages, each := p.between(2, 9), p.pickInt(10, 12, 20, 24, 25)
	rest := p.between(1, each)
	found := (pages-1)*each + rest
	target := (found/50 + 1) * 50
	script := p.pick("scrape.py", "scraper/"+thing+"s.py", "collect_"+thing+".py")
	changes := [][2]string{
		{"time.sleep(1)", "time.sleep(3)"},
		{"time.sleep(3)", "page.wait_for_load_state('networkidle')"},
		{"for n in range(10):", "for n in range(40):"},
		{"params = {'page': n}", "params = {'page': n, 'per_page': 100}"},
		{"headers = {}", "headers = {'User-Agent': 'Mozilla/5.0'}"},
		{"soup.select('.card')", "soup.select('[class*=card]')"},
		{"if not items:\n        break", "if not items and n > 20:\n        break"},
		{"seen = set()", "seen = set()\nretries = 3"},
		{"page.mouse.wheel(0, 2000)", "page.mouse.wheel(0, 8000)"},
		{"requests.get(", "session.get("},
		{"'lxml'", "'html.parser'"},
		{"timeout=10", "timeout=60"},
	}
	p.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	w := wording{
		[]string{fmt.Sprintf("There should be %d %ss. Let me make the scraper wait longer.", target, thing), "The scraper misses some items. Let me change how it pages."},
		[]string{fmt.Sprintf("Still %d of %d.", found, target), "The number of items is the same.", "It stops at the same place.", "No more items than before.", "We need more " + thing + "s."},
		[]string{"Let me scroll further.", "Perhaps the site blocks us. Let me change the request.", "I'll try another selector.", "Let me raise the limits.", "Let me adjust the paging.", "Let me try with longer waits."},
	}
	logged := p.coin()
	for k := range p.repeats() {
		output := ""
		for n := 1; logged && n <= pages+1; n++ {
			count := each
			if n == pages {
				count = rest
			}
			output += fmt.Sprintf("page %d: %d items (%d ms)\n", n, map[bool]int{true: count}[n <= pages], p.between(90, 4000))
		}
		output += fmt.Sprintf("Collected %d unique items (target: %d). Saved to %ss.csv", found, target, thing)
		change := changes[k%len(changes)]
		entries = append(entries, h.replace(script, change[0], change[1]).after(w.of(p, k)), h.shell("python3 "+script, output, 0).after(p.runAgain()))
		if k > 0 && p.IntN(5) == 0 {
			entries = append(entries, h.shell("wc -l "+thing+"s.csv", fmt.Sprintf("%d %ss.csv", found+1, thing), 0))
		}
	}
	return entries, 2
}
