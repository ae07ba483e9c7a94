package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work through browsers, databases, ticket systems, MCP servers and talk.

func serviceLoops() []kind {
	return []kind{
		{name: "invalid_arguments", build: invalidArguments},
		{name: "rate_limited", build: rateLimited},
		{name: "question_asked_again", build: questionAskedAgain},
		{name: "invalid_form", build: invalidForm},
		{name: "missing_column", build: missingColumn},
		{name: "export_never_ready", build: exportNeverReady},
		{name: "click_without_effect", build: clickWithoutEffect},
		{name: "login_redirect", build: loginRedirect},
		{name: "pages_not_found", build: pagesNotFound},
		{name: "unknown_tool", build: unknownTool},
		{name: "same_comment", build: sameComment},
		{name: "plan_without_step", build: planWithoutStep},
		{name: "search_by_other_tools", build: searchByOtherTools},
		{name: "shuffled_checks", build: shuffledChecks},
		{name: "apologies", build: apologies},
		{name: "reworded_handoffs", build: rewordedHandoffs},
		{name: "setting_back_and_forth", build: settingBackAndForth},
		{name: "closed_door", build: closedDoor},
	}
}

// clickWithoutEffect clicks on a page that stays as it is; the references of its elements are new each time.
func clickWithoutEffect(p *generator) (entries []entry, _ int) {
	title, parts := p.phrase(2, 4), p.words(6)
	for range p.between(6, 10) {
		var page strings.Builder
		fmt.Fprintf(&page, "- Page URL: https://shop.example/cart\n- Page Title: %s\n- Page Snapshot:\n", title)
		for _, part := range parts {
			fmt.Fprintf(&page, "  - button %q [ref=e%d]\n", part, p.between(10, 9999))
		}
		target := p.pick("#submit", "button.primary", "text="+parts[0], fmt.Sprintf("ref=e%d", p.between(10, 9999)), "//button[1]")
		entries = append(entries, call("browser_click", object("element", target), quoted(page.String())))
	}
	return entries, 1
}

// loginRedirect opens pages that all lead to the login.
func loginRedirect(p *generator) (entries []entry, _ int) {
	host := p.word() + ".example"
	for range p.between(6, 10) {
		page := object("url", "https://"+host+"/login?next=/"+p.word(), "title", "Sign in", "text", "Sign in to continue. Email Password Forgot your password?")
		entries = append(entries, call("browser_navigate", object("url", "https://"+host+"/"+p.word()+"/"+p.word()), page))
	}
	return entries, 1
}

// pagesNotFound guesses addresses of one host.
func pagesNotFound(p *generator) (entries []entry, _ int) {
	host := p.word() + ".example"
	for range p.between(6, 11) {
		url := "https://" + host + "/" + p.word() + "/" + p.word()
		entries = append(entries, failed("fetch_page", object("url", url), "HTTP 404 Not Found: "+url))
	}
	return entries, 1
}

// missingColumn rewords a query, and the column is missing in each.
func missingColumn(p *generator) (entries []entry, _ int) {
	column, table := p.word()+"_id", p.word()
	for range p.between(6, 10) {
		query := p.pick("SELECT * FROM ", "SELECT count(*) FROM ", "SELECT id FROM ") + table + p.pick("", " JOIN "+p.word()+" USING (id)") + " WHERE " + column + p.pick(" = ", " > ", " IN ") + fmt.Sprint(p.between(1, 999))
		entries = append(entries, failed("query_database", object("query", query), fmt.Sprintf("ERROR:  column %q does not exist\nLINE 1: %s\n        ^ (position %d)", column, query, p.between(20, 60))))
	}
	return entries, 1
}

// invalidArguments calls a tool of an MCP server without what it requires.
func invalidArguments(p *generator) (entries []entry, _ int) {
	tool, field := p.pick("jira_create_issue", "github_search_code", "notion_update_page", "slack_post_message"), p.word()
	for range p.between(5, 9) {
		entries = append(entries, failed(tool, object("title", p.phrase(2, 5), p.word(), p.word()), fmt.Sprintf("MCP error -32602: Invalid arguments for tool %s: [{\"code\":\"invalid_type\",\"expected\":\"string\",\"received\":\"undefined\",\"path\":[%q],\"message\":\"Required\"}]", tool, field)))
	}
	return entries, 1
}

// unknownTool calls tools that do not exist.
func unknownTool(p *generator) (entries []entry, _ int) {
	known := strings.Join(p.words(5), ", ")
	tool := p.word() + "_" + p.word()
	for range p.between(5, 9) {
		entries = append(entries, failed(tool, object("input", p.phrase(1, 4)), "Error: "+tool+" is not a valid tool, try one of ["+known+"]."))
	}
	return entries, 1
}

// rateLimited calls at once again after it was told to wait.
func rateLimited(p *generator) (entries []entry, _ int) {
	tool := p.pick("search_api", "list_messages", "get_quote")
	for range p.between(6, 12) {
		entries = append(entries, failed(tool, object("query", p.phrase(1, 3)), fmt.Sprintf("429 Too Many Requests: rate limit exceeded, retry after %d seconds (request id %s)", p.between(20, 60), p.uuid())))
	}
	return entries, 1
}

// sameComment writes one comment in other words; each has an id of its own.
func sameComment(p *generator) (entries []entry, _ int) {
	ticket, topic := p.id(), p.words(6)
	for k := range p.between(6, 9) {
		text := p.pick("Update: ", "Status: ", "FYI: ", "") + strings.Join(topic, " ") + p.pick(" is done.", " has been done.", " was completed.", " done") + strings.Repeat(" "+p.word(), k%2)
		entries = append(entries, call("add_comment", object("ticket", ticket, "text", text), object("comment_id", p.between(1000, 9999), "status", "created")))
	}
	return entries, 1
}

// planWithoutStep writes its plan again and does none of it.
func planWithoutStep(p *generator) (entries []entry, _ int) {
	steps := make([]string, 5)
	for k := range steps {
		steps[k] = "[ ] " + p.phrase(3, 6)
	}
	for range p.between(5, 8) {
		entries = append(entries, call("update_plan", object("explanation", p.phrase(3, 6), "plan", p.shuffled(append([]string(nil), steps...)...)), quoted("Plan updated")))
	}
	return entries, 1
}

// questionAskedAgain asks a person what they have answered.
func questionAskedAgain(p *generator) (entries []entry, _ int) {
	what, answer := p.phrase(1, 2), p.id()
	for range p.between(4, 7) {
		entries = append(entries,
			say(p.pick("Could you please give me the number of your ", "May I have the number of your ", "To help you I need the number of your ")+what+p.pick("?", ", please?", " so that I can look it up?")),
			entry{Kind: "message", Role: "user", Text: p.pick("It is ", "As I said, it is ", "Again: ", "The number is ") + answer + "."})
	}
	return entries, 2
}

// searchByOtherTools asks several search tools for one thing, which find what is known.
func searchByOtherTools(p *generator) (entries []entry, _ int) {
	topic, found := p.words(4), object("results", p.words(6))
	for k := range p.between(6, 10) {
		tool := []string{"web_search", "search_docs", "tavily_search", "wikipedia"}[k%4]
		entries = append(entries, call(tool, object("query", strings.Join(p.shuffled(topic...), " ")), found))
	}
	return entries, 1
}

// shuffledChecks asks the same four things in another order each time.
func shuffledChecks(p *generator) (entries []entry, _ int) {
	round := make([]entry, 4)
	for k := range round {
		round[k] = p.call()
	}
	for range p.between(5, 7) {
		p.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		entries = append(entries, round...)
	}
	return entries, 4
}

// apologies are messages that announce another attempt, in other words, and make none.
func apologies(p *generator) (entries []entry, _ int) {
	topic := p.phrase(4, 6)
	for range p.between(6, 9) {
		entries = append(entries, say(p.pick("I apologize for the confusion about the ", "Sorry for the trouble with the ", "I am sorry, there was an error in the ")+topic+
			p.pick(". Let me try once more to correct the ", ". I will now try again to correct the ", ". Allow me to correct the ")+topic+"."))
	}
	return entries, 1
}

// rewordedHandoffs hands a task back and forth with the same message in other words.
func rewordedHandoffs(p *generator) (entries []entry, _ int) {
	topic := p.phrase(4, 6)
	for range p.between(4, 7) {
		for _, handoff := range []entry{{Kind: "handoff", From: "planner", To: "coder"}, {Kind: "handoff", From: "coder", To: "planner"}} {
			text := say(p.pick("Over to you: please finish the ", "Please take the ", "I hand you the ") + topic + p.pick(", I cannot go on with it.", ", since it is yours.", ", it belongs to your part."))
			text.Agent = handoff.From
			entries = append(entries, text, handoff)
		}
	}
	return entries, 4
}

// settingBackAndForth turns a setting on and off, and the check says the same each time.
func settingBackAndForth(p *generator) (entries []entry, _ int) {
	name := p.word() + "." + p.word()
	check := call("check_service", object("service", p.word()), object("healthy", false, "reason", p.phrase(3, 6)))
	for k := range 2 * p.between(3, 5) {
		entries = append(entries, call("set_config", object("key", name, "value", k%2 == 0), object("updated", true)), check)
	}
	return entries, 3
}

// invalidForm sends a form with other values; one field is refused each time.
func invalidForm(p *generator) (entries []entry, _ int) {
	field := p.pick("email", "phone", "postcode", "date")
	for range p.between(5, 9) {
		entries = append(entries, call("submit_form", object("form", "signup", "name", p.phrase(2, 2), field, p.phrase(1, 2)), object("ok", false, "errors", []string{field + ": invalid format"})))
	}
	return entries, 1
}

// closedDoor walks about in a game and comes back to a door that stays closed.
func closedDoor(p *generator) (entries []entry, _ int) {
	room := "You are in the " + p.word() + " room. There is a door to the north."
	for range p.between(6, 10) {
		command := p.pick("go north", "open door", "north", "unlock door", "push door", "walk through the door")
		reply := p.pick("The door is locked.", "The door is locked. You can't go that way.", "You can't go that way. "+room)
		entries = append(entries, call("send_command", object("command", command), quoted(reply)))
	}
	return entries, 1
}

// exportNeverReady asks for a download that is not ready, under a new request id each time.
func exportNeverReady(p *generator) (entries []entry, _ int) {
	id := p.id()
	for range p.between(12, 18) {
		var answer json.RawMessage = object("request_id", p.uuid(), "took_ms", p.between(3, 90), "export", id, "state", "preparing", "url", "")
		entries = append(entries, call("get_export", object("id", id), answer))
	}
	return entries, 1
}
