package splice

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that use trackers, shops and web pages by the tools of MCP servers.

func connectorLookalikes() []kind {
	return []kind{
		{name: "overlapping_pages", build: overlappingPages},
		{name: "checked_then_created", build: checkedThenCreated},
		{name: "photos_uploaded", build: photosUploaded},
		{name: "quantity_set_by_clicks", build: quantitySetByClicks},
	}
}

// overlappingPages follows the cursor of a list that is sorted by change; about half of each page was on the page before.
func overlappingPages(p *generator) (entries []entry, _ int) {
	tool, cursor, size := p.pick("mcp__crm__list_deals", "mcp__tracker__list_issues", "mcp__shop__list_orders"), "", p.between(5, 7)
	item := func() json.RawMessage {
		return object("id", p.between(10_000, 99_999), "title", capitalized(p.word())+p.pick(" renewal", " upgrade", " pilot", " support contract", " migration"), "state", p.pick("open", "open", "waiting"), "owner", p.pick("aiko", "ben", "chloe"), "updated_at", p.clock())
	}
	var page []json.RawMessage
	pages := p.between(5, 8)
	for k := range pages {
		page = page[len(page)-min(len(page), p.between(2, 3)):]
		for len(page) < size {
			page = append(page, item())
		}
		args := object("state", "open", "limit", size)
		if cursor != "" {
			args = object("state", "open", "limit", size, "cursor", cursor)
		}
		cursor = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"o":%d,"n":"%08x"}`, (k+1)*size, p.Uint32()))
		said := thought{p.pick("Some were on the last page, the others are new.", "The list moves while I read it.", "A few new ones.", ""), p.pick("The next page.", "Let me go on.", "Following the cursor.")}
		if k == 0 {
			said = thought{next: "Let me list the open entries."}
		}
		body := object("items", page, "has_more", k < pages-1, "next_cursor", cursor, "request_id", fmt.Sprintf("req_%012x", p.Uint64N(1<<48)))
		entries = append(entries, call(tool, args, content(string(body))).after(said))
	}
	return entries, 0
}

// checkedThenCreated looks whether an entry exists, finds nothing, and creates it: entry after entry.
func checkedThenCreated(p *generator) (entries []entry, _ int) {
	project, done, number := p.pick("SHOP", "OPS", "WEB", "DATA", "MOB"), "", p.between(200, 4000)
	for _, subject := range p.defects()[:p.between(3, 6)] {
		number += p.between(1, 3)
		entries = append(entries,
			call("jira_search", object("jql", fmt.Sprintf("project = %s AND summary ~ %q", project, subject), "limit", 5), object("total", 0, "start_at", 0, "max_results", 5, "issues", []string{})).after(p.nextItem(done, "the finding about the "+subject)),
			call("jira_create_issue", object("project_key", project, "summary", "Fix the "+subject, "issue_type", "Bug", "description", p.report(subject)), object("message", "Issue created successfully", "issue", object("id", fmt.Sprint(p.between(10_000, 90_000)), "key", fmt.Sprintf("%s-%d", project, number), "summary", "Fix the "+subject))).after(thought{p.pick("There is no issue for it yet.", "Not reported so far.", "No duplicate."), p.pick("I'll create it.", "Let me file it.", "So I file one.")}))
		done = fmt.Sprintf("the issue %s-%d", project, number)
	}
	return entries, 0
}

// photosUploaded uploads picture after picture by the same two steps; the page shows one more each time.
func photosUploaded(p *generator) (entries []entry, _ int) {
	url := "https://" + p.word() + ".example/listing/" + fmt.Sprint(p.between(1000, 9000))
	shown := []string{"banner [ref]", "heading \"Photos\" [level=2] [ref]", "button \"Add photo\" [ref] [cursor=pointer]"}
	for k, name := range p.distinct(p.between(3, 5)) {
		file := name + ".jpg"
		said := thought{p.pick("The photo is there.", fmt.Sprintf("%d photos so far.", k), "Uploaded."), p.pick("The next one: ", "Now ", "Next, ") + file + "."}
		if k == 0 {
			said = thought{next: "I'll add the photos one by one, first " + file + "."}
		}
		click := textOf(p.snapshot("await page.getByRole('button', { name: 'Add photo' }).click();", url, "Edit listing", shown...)) + "\n### Modal state\n- [File chooser]: can be handled by the \"browser_file_upload\" tool"
		shown = append(shown, "img \""+file+"\" [ref]", "button \"Remove "+file+"\" [ref]")
		entries = append(entries,
			call("browser_click", object("element", "Add photo button", "ref", fmt.Sprintf("e%d", p.between(8, 40))), content(click)).after(said),
			call("browser_file_upload", object("paths", []string{"/srv/photos/" + file}), p.snapshot("await fileChooser.setFiles(['/srv/photos/"+file+"']);", url, "Edit listing", shown...)).after(thought{next: p.pick("Choose the file.", "Upload it.", "")}))
	}
	return entries, 0
}

// textOf returns the text of content.
func textOf(result json.RawMessage) string {
	var parts []struct{ Text string }
	if err := json.Unmarshal(result, &parts); err != nil || len(parts) == 0 {
		return ""
	}
	return parts[0].Text
}

// quantitySetByClicks clicks on a plus button until the cart has as many as the user wants; the page differs by that number alone.
func quantitySetByClicks(p *generator) (entries []entry, _ int) {
	shop, product, price := "https://shop."+p.word()+".example/cart", p.pick("Bath towel", "Wine glass", "Folding chair", "LED candle"), p.between(4, 90)
	wanted := p.between(5, 8)
	page := func(code string, quantity int) json.RawMessage {
		return p.snapshot(code, shop, "Your cart", "banner [ref]", "heading \"Your cart\" [level=1] [ref]", "link \""+product+"\" [ref]", "button \"Decrease quantity\" [ref]", fmt.Sprintf("spinbutton \"Quantity\" [ref]: \"%d\"", quantity), "button \"Increase quantity\" [ref]", fmt.Sprintf("text: Subtotal $%d.00", quantity*price), "button \"Checkout\" [ref]", "contentinfo [ref]")
	}
	for quantity := 2; quantity <= wanted; quantity++ {
		said := thought{p.pick(fmt.Sprintf("The quantity is %d.", quantity-1), fmt.Sprintf("%d of %d.", quantity-1, wanted), ""), p.pick("One more.", "Again.", "Increase it once more.", "Next click.")}
		if quantity == 2 {
			said = thought{next: fmt.Sprintf("The user wants %d. The field is read-only, so I click on plus.", wanted)}
		}
		entries = append(entries, call("browser_click", object("element", "Increase quantity button", "ref", fmt.Sprintf("e%d", p.between(20, 24))), page("await page.getByRole('button', { name: 'Increase quantity' }).click();", quantity)).after(said))
	}
	return append(entries, call("browser_click", object("element", "Checkout button", "ref", "e41"), p.snapshot("await page.getByRole('button', { name: 'Checkout' }).click();", strings.Replace(shop, "/cart", "/checkout", 1), "Checkout", "heading \"Checkout\" [level=1] [ref]", "textbox \"Email\" [ref]", fmt.Sprintf("text: Total $%d.00", wanted*price))).after(thought{fmt.Sprintf("%d are in the cart.", wanted), "Now to the checkout."})), 0
}
