package splice

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// The loops of this file are those of agents that use trackers, shops and web pages by the tools of MCP servers.

func connectorLoops() []kind {
	return []kind{
		{name: "cursor_ignored", build: cursorIgnored},
		{name: "duplicates_created", build: duplicatesCreated},
		{name: "file_chooser_not_open", build: fileChooserNotOpen},
		{name: "iframe_not_reachable", build: iframeNotReachable},
	}
}

// cursorIgnored follows the cursor of a list; the server returns the first page each time, with another cursor.
func cursorIgnored(p *generator) (entries []entry, _ int) {
	tool := p.pick("mcp__crm__list_deals", "mcp__tracker__list_issues", "mcp__shop__list_products")
	items := make([]json.RawMessage, p.between(4, 7))
	for k := range items {
		items[k] = object("id", p.between(10_000, 99_999), "title", capitalized(p.word())+p.pick(" renewal", " upgrade", " pilot", " support contract", " migration"), "state", p.pick("open", "open", "waiting"), "owner", p.pick("aiko", "ben", "chloe"), "updated_at", p.clock())
	}
	words := wording{
		first: []string{"Let me list all open entries.", "I'll fetch the list."},
		seen:  []string{"There are more pages.", "has_more is true.", "The response has a next cursor.", "More to come.", ""},
		next:  []string{"Let me fetch the next page.", "Next page.", "I'll follow the cursor.", "Let me continue with the next page.", "Fetching the following page."},
	}
	cursor := ""
	for round := range p.between(5, 9) {
		args := object("state", "open", "limit", len(items))
		if cursor != "" {
			args = object("state", "open", "limit", len(items), "cursor", cursor)
		}
		cursor = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"o":%d,"n":"%08x"}`, (round+1)*len(items), p.Uint32()))
		page := object("items", items, "has_more", true, "next_cursor", cursor, "request_id", fmt.Sprintf("req_%012x", p.Uint64N(1<<48)))
		entries = append(entries, call(tool, args, content(string(page))).after(words.of(p, round)))
	}
	return entries, 1
}

// duplicatesCreated creates an entry, does not find it by a search, and creates it again; the index of the search lags behind.
func duplicatesCreated(p *generator) (entries []entry, _ int) {
	project, subject := p.pick("SHOP", "OPS", "WEB", "DATA", "MOB"), p.defects()[0]
	number := p.between(200, 4000)
	titles := []string{"Fix the " + subject, capitalized(subject) + " is broken", "Bug: " + subject, "Repair the " + subject, capitalized(subject) + ": error on save"}
	words := wording{
		first: []string{"I'll create the issue.", "Let me file an issue for this."},
		seen:  []string{"The search doesn't find the issue.", "No results, so it was not created.", "It isn't in the project.", "The issue seems to be missing.", "Zero issues found."},
		next:  []string{"Let me create it again.", "I'll create the issue once more.", "Let me file it again with another title.", "I'll try to create it again.", "Creating it anew."},
	}
	for round := range p.between(3, 5) {
		number += p.between(1, 6)
		title := titles[p.IntN(len(titles))]
		limit, query := p.pickInt(5, 10, 20), fmt.Sprintf(p.pick("project = %s AND summary ~ \"%s\"", "project = %s AND text ~ \"%s\" ORDER BY created DESC", "project = %s AND reporter = currentUser() AND summary ~ \"%s\""), project, subject)
		entries = append(entries,
			call("jira_create_issue", object("project_key", project, "summary", title, "issue_type", p.pick("Bug", "Task"), "description", p.report(subject)), object("message", "Issue created successfully", "issue", object("id", fmt.Sprint(p.between(10_000, 90_000)), "key", fmt.Sprintf("%s-%d", project, number), "summary", title))).after(words.of(p, round)),
			call("jira_search", object("jql", query, "limit", limit), object("total", 0, "start_at", 0, "max_results", limit, "issues", []string{})).after(thought{p.pick("", "It was created.", "Done."), p.pick("Let me verify that it is there.", "I'll look it up.", "Does the search find it?", "Let me check that it exists.")}))
	}
	return entries, 2
}

// defects returns parts of a product that may be broken, in any order.
func (p *generator) defects() []string {
	return p.shuffled("login redirect", "CSV export", "invoice footer", "search filter", "password reset", "date picker", "cart total", "avatar upload", "retry queue", "session timeout", "map marker", "unread counter")
}

// report returns what an issue says about a defect.
func (p *generator) report(subject string) string {
	return p.pick("The "+subject+" does not work after saving.", "Steps: sign in, open the settings, save. The "+subject+" shows an old state.", "Since the last release, the "+subject+" fails for some users.", "Expected: the "+subject+" works. Actual: an empty page.") + p.pick("", " Seen in Firefox and Chrome.", " No error in the console.", " Reported by support.")
}

// fileChooserNotOpen clicks on a button for files, which opens no chooser, and uploads a file, which needs one.
func fileChooserNotOpen(p *generator) (entries []entry, _ int) {
	url, file := "https://"+p.word()+".example/profile", "/srv/files/"+p.word()+p.pick(".pdf", ".png", ".docx")
	button := p.pick("Upload document", "Choose file", "Attach a file", "Browse")
	page := func(code string) json.RawMessage {
		return p.snapshot(code, url, "Your profile", "banner [ref]", "heading \"Documents\" [level=2] [ref]", "paragraph [ref]: No documents yet.", "button \""+button+"\" [ref] [cursor=pointer]", "text: PDF, PNG or DOCX, at most 10 MB", "button \"Save\" [disabled] [ref]", "contentinfo [ref]")
	}
	words := wording{
		first: []string{"I'll click the button to upload the file.", "Let me open the file chooser."},
		seen:  []string{"There is no file chooser.", "The tool says that no modal is present.", "No chooser opened.", "The upload needs an open file chooser.", "Still no documents on the page."},
		next:  []string{"Let me click the button again.", "I'll open the chooser first.", "Let me click on it once more.", "Let me try the click with another reference.", "I'll click and upload right after."},
	}
	for round := range p.between(3, 5) {
		entries = append(entries,
			call("browser_click", object("element", p.pick(button, button+" button", "The button "+button), "ref", fmt.Sprintf("e%d", p.between(8, 40))), page("await page.getByRole('button', { name: '"+button+"' }).click();")).after(words.of(p, round)),
			failed("browser_file_upload", object("paths", []string{file}), "### Result\nError: The tool \"browser_file_upload\" can only be used when there is related modal state present.\n### Modal state\n- There is no modal state present").after(thought{next: p.pick("Now I upload the file.", "Upload "+file+".", "Let me set the file.", "And the file.")}))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("browser_snapshot", object(), page("")).after(thought{next: p.pick("Let me look at the page.", "What does the page show?")}))
		}
	}
	return entries, 2
}

// iframeNotReachable wants to type into a field of a frame of another host, by scripts that the browser stops.
func iframeNotReachable(p *generator) (entries []entry, _ int) {
	host := "https://shop." + p.word() + ".example"
	codes := []string{
		"() => document.querySelector('iframe').contentWindow.document.querySelector('input[name=cardnumber]')",
		"() => window.frames[0].document.body.innerHTML",
		"() => { const f = document.querySelector('iframe[title=Payment]'); return f.contentWindow.document.forms.length }",
		"() => Array.from(document.querySelectorAll('iframe')).map(f => f.contentWindow.document.title)",
		"() => { document.querySelector('iframe').contentWindow.document.querySelector('input').value = '4242 4242 4242 4242' }",
		"() => window[0].document.getElementById('card-number').focus()",
	}
	words := wording{
		first: []string{"The card fields are in a frame. Let me reach into it.", "Let me read the fields of the payment form."},
		seen:  []string{"The frame is cross-origin, and the browser blocked it.", "Blocked again.", "SecurityError, as before.", "I can't reach the document of the frame.", "The fields aren't in the page itself."},
		next:  []string{"Let me try it by another property.", "I'll go through window.frames.", "Let me set the value directly.", "Perhaps contentWindow works.", "Let me query the frame in another way.", "I'll try to focus the field."},
	}
	for round := range p.between(5, 8) {
		code := codes[p.IntN(len(codes))]
		reason := fmt.Sprintf("### Result\nError: page.evaluate: SecurityError: Failed to read a named property 'document' from 'Window': Blocked a frame with origin %q from accessing a cross-origin frame.\n    at eval (eval at evaluate (:%d:30), <anonymous>:1:%d)", host, p.between(290, 310), len(code)/2)
		entries = append(entries, failed("browser_evaluate", object("function", code), reason).after(words.of(p, round)))
	}
	return entries, 1
}
