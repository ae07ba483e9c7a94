package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that browse, fetch pages, operate a telephone and do research in a team. The agent says what a
// model says at that step.

func onlineLoops() []kind {
	return []kind{
		{name: "scraper_extracts_nothing", build: scraperExtractsNothing},
		{name: "filter_without_effect", build: filterWithoutEffect},
		{name: "fetches_forbidden", build: fetchesForbidden},
		{name: "app_opens_at_login", build: appOpensAtLogin},
		{name: "analyst_asks_researcher_again", build: analystAsksResearcherAgain},
	}
}

// scraperExtractsNothing changes the selectors of a scraper; the page fills itself by a script, so that the scraper finds nothing.
func scraperExtractsNothing(p *generator) (entries []entry, _ int) {
	h, site, item := p.harness(), "https://"+p.word()+".example/"+p.word(), p.word()
	words := wording{
		first: []string{"I'll write the selector for the " + item + " cards.", "Let me fix the selector of the scraper.", "The cards are probably in a list. Let me adjust the scraper."},
		seen:  []string{"It extracted 0 items.", "The list is still empty.", "Still no " + item + "s found.", "The selector does not match anything.", "The scraper runs, but finds nothing."},
	}
	before := "cards = soup.select('div." + item + "')"
	for round := range p.between(4, 7) {
		after := "cards = soup.select('" + p.pick("."+item+"-card", "div[class*="+item+"]", "li."+item, "article", "[data-testid="+item+"]", "ul > li > a", "a[href*=\"/"+item+"/\"]", "section ."+item+"__title") + "')"
		does := p.pick("Let me try a different selector.", "Let me use another selector.", "Perhaps the class names changed. Let me match something else.", "The structure must be different. Let me adjust the selector.")
		if p.IntN(4) == 0 {
			after = p.pick("soup = BeautifulSoup(html, 'lxml')\n", "headers = {'User-Agent': 'Mozilla/5.0'}\n", "soup = BeautifulSoup(html, 'html5lib')\n") + after
			does = "Let me change how the page is fetched and parsed, too."
		}
		output := fmt.Sprintf("Fetching %s ...\n%s", site, p.pick("Status: 200\nFound 0 "+item+"s\nSaved 0 rows to output.csv", "Status: 200\nFound 0 "+item+"s\nSaved 0 rows to output.csv", "Status: 200\nFound 0 "+item+"s\nWARNING: nothing extracted\nSaved 0 rows to output.csv"))
		entries = append(entries,
			h.replace("scraper.py", before, after).after(words.then(p, round, does)),
			h.shell(p.pick("python scraper.py", "python3 scraper.py", "python scraper.py && wc -l output.csv", "timeout 60 python scraper.py"), output, 0).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// filterWithoutEffect sets a filter of a shop in other ways; the same results stay.
func filterWithoutEffect(p *generator) (entries []entry, _ int) {
	site, limit, title := "https://"+p.word()+".example/search?q="+p.word(), p.between(20, 90), "Search results"
	lines := []string{"heading \"Results\" [level=1] [ref]", "text: " + fmt.Sprint(p.between(80, 900)) + " results", "textbox \"Max price\" [ref]", "button \"Apply\" [ref]", "checkbox \"In stock\" [ref]"}
	for range p.between(3, 5) {
		lines = append(lines, fmt.Sprintf("link \"%s\" [ref]: $%d.%02d", p.phrase(2, 3), limit+p.between(20, 300), p.IntN(100)))
	}
	words := wording{
		first: []string{fmt.Sprintf("Now I filter the results by a price of at most $%d.", limit), "Let me set the price filter.", "I need to narrow down the results."},
		seen:  []string{"The results haven't changed.", "The filter wasn't applied.", fmt.Sprintf("The list still shows products above $%d.", limit), "The number of results is still the same.", "The filter doesn't seem to work."},
	}
	button := func(name, role string) entry {
		return call("browser_click", object("element", name+" "+role, "ref", fmt.Sprintf("e%d", p.between(4, 60))), p.snapshot("await page.getByRole('"+role+"', { name: '"+name+"' }).click();", site, title, lines...))
	}
	for round := range p.between(4, 9) {
		var e entry
		does := p.pick("Let me click Apply again.", "I'll apply the filter once more.")
		switch p.IntN(5) {
		case 0, 1:
			e = button("Apply", "button")
		case 2:
			does = p.pick("Let me enter the price again.", "Let me clear the field and type it again.")
			e = call("browser_type", object("element", "Max price textbox", "ref", fmt.Sprintf("e%d", p.between(4, 60)), "text", fmt.Sprint(limit), "submit", p.coin()), p.snapshot(fmt.Sprintf("await page.getByRole('textbox', { name: 'Max price' }).fill('%d');", limit), site, title, lines...))
		case 3:
			does = "Let me try to set it through the URL."
			e = call("browser_navigate", object("url", site+p.pick("&max_price=", "&price=0-", "&maxPrice=", "&filter=price_lte_")+fmt.Sprint(limit)), p.snapshot("", site, title, lines...))
		default:
			does = "Let me try the checkbox first."
			e = button("In stock", "checkbox")
		}
		entries = append(entries, e.after(words.then(p, round, does)))
	}
	return entries, 1
}

// fetchesForbidden fetches page after page of publishers that refuse robots, and searches in between with known results.
func fetchesForbidden(p *generator) (entries []entry, _ int) {
	topic := p.phrase(2, 4)
	urls := make([]string, 4)
	links := make([]json.RawMessage, len(urls))
	for k := range urls {
		urls[k] = "https://www." + p.word() + p.word() + ".example/" + strings.Join(p.words(3), "-")
		links[k] = object("title", p.phrase(3, 7), "url", urls[k])
	}
	words := wording{
		first: []string{"Let me read the first source about " + topic + ".", "I'll fetch the article.", "Let me open the most relevant result."},
		seen:  []string{"The site blocks the request.", "403 again.", "I can't access that page.", "That source is forbidden, too.", "The fetch failed."},
	}
	for round := range p.between(5, 10) {
		if round > 1 && p.IntN(4) == 0 {
			p.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
			query := p.pick("", "about ", "what is ") + topic + p.pick("", " article", " report", " analysis", " 2025")
			entries = append(entries, call("WebSearch", object("query", query), quoted(fmt.Sprintf("Web search results for query: %q\n\nLinks: %s", query, jsonOf(links)))).after(words.then(p, round, p.pick("Let me search for another article.", "Let me look for other sources.", "I'll search again."))))
			continue
		}
		url := p.pick(urls...)
		ways := [][2]string{
			{url, "Let me try another source."},
			{url, "Let me try this article."},
			{url + "?amp=1", "I'll try the AMP version."},
			{strings.Replace(url, "www.", "m.", 1), "Let me try the mobile page."},
			{"https://web.archive.org/web/2025/" + url, "Let me try the version on the web archive."},
			{strings.Replace(url, "www.", "", 1), "Let me try without www."},
			{url + "/print", "Let me try the printable version."},
		}
		way := ways[p.IntN(len(ways))]
		entries = append(entries, failed("WebFetch", object("url", way[0], "prompt", p.pick("Summarize what it says about ", "Extract the key facts on ", "What does the article say about ")+topic+"?"), "Request failed with status code 403").after(words.then(p, round, way[1])))
	}
	return entries, 1
}

// appOpensAtLogin opens an app, which asks to sign in, and goes back and opens it again.
func appOpensAtLogin(p *generator) (entries []entry, _ int) {
	app, minute := p.pick("Joplin", "Trello", "Slack", "Dropbox", "Strava"), p.between(500, 1100)
	login := []string{"Welcome to " + app, "Email", "Password", "Sign in", "Create account"}
	home := []string{"Phone", "Messages", "Chrome", "Camera"}
	words := wording{
		first: []string{"I need to open " + app + ".", "First, open the " + app + " app."},
		seen:  []string{app + " asks me to sign in, but I have no account.", "The login screen is shown again.", "I'm on the sign-in screen.", "The notes are not accessible without a login."},
		next:  []string{"I will go back and open the app again.", "Let me try to skip the login.", "Let me navigate back.", "I'll restart the app.", "Let me try opening it from the app drawer.", "Maybe it opens properly this time."},
	}
	act := func(kind, target string, labels []string) entry {
		minute += p.IntN(2)
		screen := fmt.Sprintf("UI element 0: UIElement(text='%d:%02d', resource_name='com.android.systemui:id/clock')", minute/60, minute%60)
		for k, label := range labels {
			screen += fmt.Sprintf("\nUI element %d: UIElement(text='%s', is_clickable=True, bbox_pixels=BoundingBox(x_min=%d, x_max=1000, y_min=%d, y_max=%d))", k+1, label, p.between(78, 82), 200*k+300, 200*k+420)
		}
		return call("android_action", object("action_type", kind, "target", target), quoted(screen))
	}
	for round := range p.between(3, 6) {
		entries = append(entries, act("open_app", app, login).after(words.of(p, round)))
		if round > 0 && p.coin() {
			entries = append(entries, act("click", p.pick("Sign in", "Welcome to "+app, "Create account"), login).after(thought{next: p.pick("Let me see whether it lets me in.", "There may be a way to skip this.", "")}))
		}
		entries = append(entries, act(p.pick("navigate_back", "navigate_home"), "", home).after(thought{app + " needs an account.", p.pick("Let me go back.", "I return to the home screen.")}))
	}
	return entries, 2
}

// analystAsksResearcherAgain has an analyst ask a researcher for a figure that is not published, in other words each time.
func analystAsksResearcherAgain(p *generator) (entries []entry, _ int) {
	company, figure := capitalized(p.word())+" "+p.pick("Inc", "GmbH", "Ltd"), p.pick("revenue by region", "customer churn", "headcount by team", "cost per order")
	pages := []json.RawMessage{
		object("title", company+" - official site", "url", "https://"+p.word()+".example", "snippet", p.phrase(8, 14)),
		object("title", company+" annual report", "url", "https://"+p.word()+".example/report", "snippet", p.phrase(8, 14)),
	}
	words := wording{
		first: []string{"I'll search for the figure.", "Let me search the web."},
		seen:  []string{"The analyst needs the " + figure + ".", "I could not find it before.", "The reports don't break it down."},
		next:  []string{"Let me search again.", "Let me search with other terms.", "I'll look once more."},
	}
	for round := range p.between(3, 5) {
		query := p.pick(company+" "+figure, figure+" of "+company, company+" "+figure+" 2025", company+" annual report "+figure)
		entries = append(entries,
			say(p.pick("I need the "+figure+" of "+company+" for the table. ", "The table still lacks the "+figure+". ", "Without the "+figure+" I cannot finish the analysis. ")+p.pick("Researcher, please find it.", "Please look it up.", "Could the researcher provide it?")).by("analyst"),
			entry{Kind: "handoff", From: "analyst", To: "researcher"},
			call("web_search", object("query", query), object("results", pages)).by("researcher").after(words.of(p, round)),
			say(p.pick("I could not find the "+figure+" of "+company+". ", "There is no public source for the "+figure+". ", "The reports of "+company+" do not contain the "+figure+". ")+p.pick("Handing back to the analyst.", "Please continue with the analysis.", "Over to you.")).by("researcher"),
			entry{Kind: "handoff", From: "researcher", To: "analyst"})
	}
	return entries, 5
}
