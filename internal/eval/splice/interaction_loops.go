package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that deal with pages, people, other agents, servers, robots and games.

func interactionLoops() []kind {
	return []kind{
		{name: "stale_element", build: staleElement},
		{name: "banner_returns", build: bannerReturns},
		{name: "refund_refused", build: refundRefused},
		{name: "identity_not_found", build: identityNotFound},
		{name: "paywall_everywhere", build: paywallEverywhere},
		{name: "resource_not_found", build: resourceNotFound},
		{name: "plan_sent_back", build: planSentBack},
		{name: "robot_at_wall", build: robotAtWall},
		{name: "inventory_full", build: inventoryFull},
		{name: "memory_searched_again", build: memorySearchedAgain},
	}
}

// staleElement finds an element and clicks it, and the page has another by then.
func staleElement(p *generator) (entries []entry, _ int) {
	label, session := p.phrase(1, 2), fmt.Sprintf("chrome=1%d.0.%d.%d", p.between(20, 48), p.between(5000, 8000), p.between(20, 200))
	for range p.between(3, 6) {
		element := fmt.Sprintf("f.%X.d.%X.e.%d", p.Uint64(), p.Uint64(), p.between(2, 99))
		using, value := "css selector", "button."+p.word()
		if p.coin() {
			using, value = "xpath", "//button[normalize-space()='"+label+"']"
		}
		entries = append(entries,
			call("find_element", object("using", using, "value", value), object("element", element)),
			failed("click_element", object("element", element), "stale element reference: stale element not found in the current frame\n  (Session info: "+session+")"))
	}
	return entries, 2
}

// bannerReturns accepts the cookies, opens the page again, and has the banner again.
func bannerReturns(p *generator) (entries []entry, _ int) {
	site, article := p.word()+".example", p.word()
	for range p.between(3, 6) {
		url := "https://" + site + "/" + article + p.pick("", "?ref=home", "#content", "?consent=1")
		banner := fmt.Sprintf("- Page URL: %s\n- Page Title: %s\n- dialog \"We value your privacy\" [ref=e%d]:\n  - paragraph: We and our %d partners store and access information on a device.\n  - button \"Accept all\" [ref=e%d]\n  - button \"Manage options\" [ref=e%d]", url, article, p.between(2, 900), 842, p.between(2, 900), p.between(2, 900))
		entries = append(entries,
			call("browser_navigate", object("url", url), quoted(banner)),
			call("browser_click", object("element", "Accept all button", "ref", fmt.Sprintf("e%d", p.between(2, 900))), quoted("- Page URL: "+url+"\n- Page Title: \n- Page Snapshot: (empty)")))
	}
	return entries, 2
}

// refundRefused asks for a refund for one reason after another; the policy refuses each.
func refundRefused(p *generator) (entries []entry, _ int) {
	order, amount := fmt.Sprintf("#W%07d", p.IntN(1e7)), fmt.Sprintf("%d.%02d", p.between(20, 900), p.IntN(100))
	for range p.between(4, 7) {
		reason := p.pick("item arrived damaged", "customer is not satisfied", "late delivery", "goodwill gesture", "wrong item", "duplicate order", "no longer needed") + p.pick("", ", customer insists", ", loyal customer", " ("+p.phrase(2, 4)+")")
		var answer json.RawMessage = quoted(p.pick("Error: ", "Error: request refused: ") + "order " + order + " is outside of the 30-day return window, and no refund can be issued.")
		entries = append(entries, call("issue_refund", object("order_id", order, "amount", amount, "reason", reason), answer))
	}
	return entries, 1
}

// identityNotFound asks for name and postcode again, and finds nobody.
func identityNotFound(p *generator) (entries []entry, _ int) {
	first, last, zip := p.word(), p.word(), fmt.Sprintf("%05d", p.IntN(100000))
	for range p.between(3, 5) {
		entries = append(entries,
			say(p.pick("I could not verify your identity. ", "Thanks. ", "I'm sorry for the trouble. ", "")+p.pick("Could you please give me your full name and zip code?", "Please confirm your first name, last name and zip code.", "May I have your name and zip code, so that I can locate your account?")),
			user(p.pick("", "As I said: ", "Again, ", "Sure, ")+first+" "+last+", "+zip+p.pick(".", ". That is all correct.", "!")),
			call("find_user_id_by_name_zip", object("first_name", first, "last_name", last, "zip", zip), quoted("Error: user not found")))
	}
	return entries, 3
}

// paywallEverywhere opens one article by way of other hosts, and each asks to subscribe.
func paywallEverywhere(p *generator) (entries []entry, _ int) {
	article, teaser := p.word()+"-"+p.word()+"-"+p.word(), p.phrase(8, 14)
	for _, host := range p.shuffled("www.%s.example", "archive.example/newest/%s", "webcache.example/search?q=cache:%s", "m.%s.example", "amp.%s.example", "reader.example/proxy/%s", "web.archive.example/web/2026/%s")[:p.between(4, 7)] {
		page := "# " + strings.ReplaceAll(article, "-", " ") + "\n\n" + teaser + "…\n\n" + p.pick("Subscribe to continue reading.", "To continue reading this article, please subscribe.", "This article is for subscribers only. Already a subscriber? Log in.") + fmt.Sprintf("\n\nFrom $%d a month. Cancel at any time.", p.between(1, 9))
		entries = append(entries, call("fetch", object("url", "https://"+fmt.Sprintf(host, article), "max_length", 1000*p.between(3, 9)), quoted(page)))
	}
	return entries, 1
}

// resourceNotFound reads resources of a server by names that it guesses.
func resourceNotFound(p *generator) (entries []entry, _ int) {
	scheme, name := p.pick("docs", "file", "repo", "notes"), p.word()
	for range p.between(4, 7) {
		uri := scheme + "://" + p.pick("", "/", "main/", "project/", "latest/") + name + p.pick("", ".md", ".json", "/index", "/README.md", "/"+p.word())
		entries = append(entries, failed("read_mcp_resource", object("server", scheme+"-server", "uri", uri), "MCP error -32002: Resource not found: "+uri))
	}
	return entries, 1
}

// planSentBack has a critic that sends a plan back for the same reason in other words, and a planner that sends it again.
func planSentBack(p *generator) (entries []entry, _ int) {
	steps, missing := make([]string, 4), p.phrase(2, 3)
	for k := range steps {
		steps[k] = p.phrase(3, 6)
	}
	for range p.between(3, 5) {
		plan := p.pick("Revised plan:", "Here is the updated plan:", "I have reworked the plan:", "Plan:")
		for k, step := range steps {
			plan += fmt.Sprintf("\n%d. %s", k+1, p.pick("", "First ", "Then ", "We ")+step)
		}
		objection := p.pick("The plan does not say how we deal with the ", "Still missing: the ", "I cannot approve this without the ", "Please address the ") + missing + p.pick(".", ". Sending it back.", " before we go on.")
		entries = append(entries, say(plan).by("planner"), entry{Kind: "handoff", From: "planner", To: "critic"},
			say(objection).by("critic"), entry{Kind: "handoff", From: "critic", To: "planner"})
	}
	return entries, 4
}

// robotAtWall turns and drives against the same wall; its pose jitters.
func robotAtWall(p *generator) (entries []entry, _ int) {
	x, y := float64(p.between(10, 90))/10, float64(p.between(10, 90))/10
	pose := func() string {
		return fmt.Sprintf("x=%.3f y=%.3f theta=%.2f", x+p.Float64()/50, y+p.Float64()/50, p.Float64()*6.28)
	}
	for range p.between(4, 7) {
		entries = append(entries,
			call("rotate", object("degrees", p.pick("-30", "-15", "15", "30", "45", "90")), object("ok", true, "pose", pose())),
			call("drive", object("distance_m", fmt.Sprintf("0.%d", p.between(3, 9))), object("ok", false, "reason", fmt.Sprintf("obstacle at %.2f m, motion aborted", 0.2+p.Float64()/20), "pose", pose())))
	}
	return entries, 2
}

// inventoryFull cannot take a thing up, drops another one, and takes that up again.
func inventoryFull(p *generator) (entries []entry, _ int) {
	wanted, carried := p.word(), p.words(3)
	for range p.between(4, 7) {
		other := p.pick(carried...)
		entries = append(entries,
			call("act", object("action", p.pick("take ", "pick up ", "get ")+wanted), quoted(p.pick("Your inventory is full.", "You can't carry any more.", "You are carrying too many things already."))),
			call("act", object("action", "drop "+other), quoted("Dropped.")),
			call("act", object("action", "take "+other), quoted("Taken.")))
	}
	return entries, 3
}

// memorySearchedAgain searches its memory in other words; it finds the same notes with other scores.
func memorySearchedAgain(p *generator) (entries []entry, _ int) {
	topic, notes := p.words(2), make([]string, 3)
	for k := range notes {
		notes[k] = p.phrase(6, 12)
	}
	for range p.between(5, 8) {
		found := make([]string, len(notes))
		for k, note := range p.shuffled(slices.Clone(notes)...) {
			found[k] = fmt.Sprintf("%.4f %s", 0.9-0.1*float64(k)-p.Float64()/10, note)
		}
		query := p.pick("what do I know about ", "user preference ", "notes on ", "", "earlier decision ") + strings.Join(p.shuffled(slices.Clone(topic)...), " ") + p.pick("", "?", " "+p.word())
		entries = append(entries, call("search_memory", object("query", query, "top_k", p.pick("3", "5", "10")), object("results", found)))
	}
	return entries, 1
}
