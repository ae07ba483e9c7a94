package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that browse, research and operate a telephone.

func webLoops() []kind {
	return []kind{
		{name: "combobox_clears", build: comboboxClears},
		{name: "navigation_times_out", build: navigationTimesOut},
		{name: "fact_not_found_online", build: factNotFoundOnline},
		{name: "list_swiped_up_and_down", build: listSwipedUpAndDown},
	}
}

// snapshot returns what a browser's MCP server says after an action; the references are new each time.
func (p *generator) snapshot(code, url, title string, lines ...string) json.RawMessage {
	var text strings.Builder
	if code != "" {
		fmt.Fprintf(&text, "### Ran Playwright code\n```js\n%s\n```\n\n", code)
	}
	fmt.Fprintf(&text, "### Page state\n- Page URL: %s\n- Page Title: %s\n- Page Snapshot:\n```yaml\n- generic [active] [ref=e1]:\n", url, title)
	at := p.between(2, 40)
	for _, line := range lines {
		at += p.between(1, 6)
		fmt.Fprintf(&text, "  - %s\n", strings.Replace(line, "[ref]", fmt.Sprintf("[ref=e%d]", at), 1))
	}
	text.WriteString("```")
	return content(text.String())
}

// comboboxClears types a place into a field, which is empty when the agent looks.
func comboboxClears(p *generator) (entries []entry, _ int) {
	site, city, label := "https://"+p.word()+".example/", p.pick("Lisbon", "Osaka", "Denver", "Krakow"), p.pick("Where to?", "Destination", "City or airport", "Pick-up location")
	lines := []string{"heading \"" + p.phrase(2, 4) + "\" [level=1] [ref]", "combobox \"" + label + "\" [ref]", "textbox \"Date\" [ref]: 2026-06-1" + fmt.Sprint(p.IntN(10)), "button \"Search\" [disabled] [ref]", "link \"" + p.phrase(1, 3) + "\" [ref]", "text: Please choose a destination."}
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The field is still empty. Let me type it again.", "The suggestion list did not open. Let me type slowly.", "I need to select the city from the dropdown.", "The search button is still disabled.")...)
		}
		text, ref := p.pick(city, city+" ", strings.ToLower(city), city[:3], city+", all airports"), fmt.Sprintf("e%d", p.between(4, 60))
		act := call("browser_type", object("element", label+" combobox", "ref", ref, "text", text, "slowly", p.coin()), p.snapshot(fmt.Sprintf("await page.getByRole('combobox', { name: '%s' }).fill('%s');", label, text), site, label, lines...))
		if round > 0 && p.IntN(3) == 0 {
			act = call("browser_click", object("element", label+" combobox", "ref", ref), p.snapshot(fmt.Sprintf("await page.getByRole('combobox', { name: '%s' }).click();", label), site, label, lines...))
		}
		entries = append(entries, act)
		if p.coin() {
			entries = append(entries, call("browser_snapshot", object(), p.snapshot("", site, label, lines...)))
		}
	}
	return entries, 1
}

// navigationTimesOut opens one site by other addresses, and each runs into the same limit.
func navigationTimesOut(p *generator) (entries []entry, _ int) {
	host, path := p.word()+p.word()+".example", p.pick("", "products", "about", "reports/"+p.word())
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The page did not load. Let me try again.", "Let me try the address without www.", "Maybe the site is slow. I'll navigate again.", "Let me try the home page first.")...)
		}
		url := p.pick("https://", "https://www.", "http://", "https://") + host + "/" + p.pick(path, path, "", path+"?lang=en")
		if round > 0 && p.IntN(5) == 0 {
			entries = append(entries, call("browser_snapshot", object(), p.snapshot("", "about:blank", "")))
			continue
		}
		entries = append(entries, failed("browser_navigate", object("url", url), fmt.Sprintf("TimeoutError: page.goto: Timeout %s000ms exceeded.\nCall log:\n  - navigating to %q, waiting until %q", p.pick("30", "30", "60"), url, p.pick("load", "domcontentloaded"))))
	}
	return entries, 1
}

// factNotFoundOnline searches for a fact in other words and opens pages among the same six, none of which has it.
func factNotFoundOnline(p *generator) (entries []entry, _ int) {
	subject, fact := p.phrase(2, 3), p.pick("founding year", "number of employees in 1987", "original architect", "maiden voyage", "exact population", "first edition publisher")
	pages, texts := make([]json.RawMessage, 6), make([]string, 6)
	for k := range pages {
		pages[k] = object("title", p.phrase(3, 7), "url", fmt.Sprintf("https://%s.example/%s", p.word(), p.word()), "snippet", p.phrase(10, 20))
		texts[k] = p.page()
	}
	search := func() entry {
		order := p.Perm(6)[:4]
		results := make([]json.RawMessage, len(order))
		for k, at := range order {
			results[k] = pages[at]
		}
		query := p.pick("", "", "what is the ") + p.pick(subject+" "+fact, fact+" of "+subject, fact+" "+subject+" history", subject+" wikipedia "+fact, subject+" facts", subject+" "+fact+" site:archive.org", subject+" official "+fact)
		return call("web_search", object("query", query), object("results", results))
	}
	entries = append(entries, search(), search())
	for range p.between(5, 9) {
		entries = append(entries, p.sometimes("The results don't mention the "+fact+". Let me refine the search.", "Let me check this source for the "+fact+".", "I could not find it yet. Let me search with other keywords.", "Let me look for a more specific source.")...)
		if p.IntN(3) > 0 {
			entries = append(entries, search())
			continue
		}
		at := p.IntN(6)
		var page struct {
			URL string `json:"url"`
		}
		if err := json.Unmarshal(pages[at], &page); err != nil {
			return nil, 0
		}
		entries = append(entries, call("visit_webpage", object("url", page.URL), quoted(texts[at])))
	}
	return entries, 1
}

// listSwipedUpAndDown looks for a name in a list that does not have it, down to its end and up to its beginning again.
func listSwipedUpAndDown(p *generator) (entries []entry, _ int) {
	wanted, minute := p.pick("Emilia", "Noah", "Yusuf", "Hanna"), p.between(500, 1100)
	names := make([]string, 12)
	for k := range names {
		names[k] = p.phrase(2, 2)
	}
	swipe := func(direction string, window int) entry {
		minute += p.IntN(2)
		screen := fmt.Sprintf("UI element 0: UIElement(text='%d:%02d', resource_name='com.android.systemui:id/clock')\n", minute/60, minute%60)
		for k, name := range names[4*window : 4*window+4] {
			screen += fmt.Sprintf("UI element %d: UIElement(text='%s', content_description=None, class_name='android.widget.TextView', is_clickable=True, bbox_pixels=BoundingBox(x_min=168, x_max=1080, y_min=%d, y_max=%d))\n", k+1, name, 300*k+p.between(280, 290), 300*k+p.between(480, 490))
		}
		return call("android_action", object("action_type", "scroll", "direction", direction, "reason", p.pick("Look for "+wanted+" in the list.", wanted+" is not visible yet, so I scroll "+direction+".", "Find the contact.")), quoted(screen))
	}
	window, direction := 2, "up"
	entries = append(entries, swipe("down", 0), swipe("down", 1), swipe("down", 2))
	for range p.between(6, 11) {
		switch {
		case window == 0:
			direction = "down"
		case window == 2:
			direction = "up"
		case p.IntN(4) == 0:
			direction = p.pick("up", "down")
		}
		if direction == "down" {
			window++
		} else {
			window--
		}
		entries = append(entries, swipe(direction, window))
	}
	return entries, 3
}
