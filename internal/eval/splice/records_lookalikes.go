package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents on records, by tools: of a database, a repository, a customer list, a mailbox. The
// agent says what is done and what comes next.

func recordsLookalikes() []kind {
	return []kind{
		{name: "report_queries", build: reportQueries},
		{name: "sheets_cleaned", build: sheetsCleaned},
		{name: "issues_triaged", build: issuesTriaged},
		{name: "contacts_merged", build: contactsMerged},
		{name: "attachments_saved", build: attachmentsSaved},
		{name: "meetings_moved", build: meetingsMoved},
		{name: "products_explained", build: productsExplained},
	}
}

// reportQueries asks a database for one figure of a report after the other. Some are NULL, as the report says then.
func reportQueries(p *generator) (entries []entry, _ int) {
	table, done := p.word()+"s", ""
	for _, column := range p.distinct(p.between(4, 8)) {
		query := p.pick("SELECT SUM(", "SELECT AVG(", "SELECT MAX(", "SELECT COUNT(DISTINCT ") + column + ") FROM " + table
		answer, seen := fmt.Sprintf("[(%d.%02d,)]", p.between(10, 99_999), p.IntN(100)), "the figure for "+column
		if p.IntN(5) == 0 {
			answer, seen = "[(None,)]", "the note that "+column+" has no values"
		}
		entries = append(entries, call("sql_db_query", object("query", query), quoted(answer)).after(p.nextItem(done, "the figure for "+column)))
		done = seen
	}
	return entries, 0
}

// sheetsCleaned cleans one sheet of a workbook after the other.
func sheetsCleaned(p *generator) (entries []entry, _ int) {
	file, done := p.word()+".xlsx", ""
	for _, sheet := range p.distinct(p.between(4, 7)) {
		code := fmt.Sprintf("df = pd.read_excel('%s', sheet_name='%s')\nn = len(df)\ndf = df.dropna(how='all').drop_duplicates()\nprint(n, '->', len(df))\ndf.to_csv('clean/%s.csv', index=False)", file, sheet, sheet)
		rows := p.between(40, 5000)
		entries = append(entries, call("execute_python", object("code", code), quoted(fmt.Sprintf("%d -> %d", rows, rows-p.IntN(30)))).after(p.nextItem(done, "the sheet "+sheet)))
		done = "the sheet " + sheet
	}
	return entries, 0
}

// issuesTriaged reads issue after issue and labels it.
func issuesTriaged(p *generator) (entries []entry, _ int) {
	owner, repo, number, done := p.word(), p.word(), p.between(100, 4000), ""
	for range p.between(3, 6) {
		number += p.between(1, 9)
		label, title := p.pick("bug", "enhancement", "question", "documentation", "duplicate"), p.phrase(3, 7)
		id := fmt.Sprintf("issue #%d", number)
		entries = append(entries,
			call("mcp__github__get_issue", object("owner", owner, "repo", repo, "issue_number", number), object("number", number, "title", title, "state", "open", "labels", []string{}, "body", p.phrase(10, 30))).after(p.nextItem(done, id)),
			call("mcp__github__update_issue", object("owner", owner, "repo", repo, "issue_number", number, "labels", []string{label}), object("number", number, "title", title, "state", "open", "labels", []string{label})).after(thought{"This one is about the " + title + ".", "I label it as " + label + "."}))
		done = id
	}
	return entries, 0
}

// contactsMerged looks for the duplicates of contact after contact and merges them.
func contactsMerged(p *generator) (entries []entry, _ int) {
	done := ""
	for _, name := range p.distinct(p.between(3, 5)) {
		email, a, b := name+"@"+p.word()+".example", fmt.Sprint(p.between(1e8, 9e8)), fmt.Sprint(p.between(1e8, 9e8))
		found := []json.RawMessage{object("id", a, "email", email, "createdate", p.clock()), object("id", b, "email", email, "createdate", p.clock())}
		if p.IntN(4) == 0 {
			entries = append(entries, call("hubspot_search_contacts", object("query", email), object("total", 1, "results", found[:1])).after(p.nextItem(done, "the contacts of "+name)))
			done = "the check of " + name + ", who has one contact only,"
			continue
		}
		entries = append(entries,
			call("hubspot_search_contacts", object("query", email), object("total", 2, "results", found)).after(p.nextItem(done, "the contacts of "+name)),
			call("hubspot_merge_contacts", object("primaryObjectId", a, "objectIdToMerge", b), object("id", a, "archived", false, "updatedAt", p.clock())).after(thought{"There are two contacts with " + email + ".", "I merge the newer one into the older one."}))
		done = "the merge of " + name
	}
	return entries, 0
}

// attachmentsSaved reads mail after mail and saves its invoice.
func attachmentsSaved(p *generator) (entries []entry, _ int) {
	done := ""
	for _, vendor := range p.distinct(p.between(3, 5)) {
		id, attachment := fmt.Sprintf("%016x", p.Uint64()), fmt.Sprintf("invoice-%d.pdf", p.between(1000, 99_999))
		entries = append(entries,
			call("read_email", object("messageId", id), object("from", "billing@"+vendor+".example", "subject", p.pick("Your invoice", "Invoice for "+p.phrase(1, 2), "Rechnung"), "attachments", []string{attachment})).after(p.nextItem(done, "the mail of "+vendor)),
			call("download_attachment", object("messageId", id, "filename", attachment, "savePath", "invoices/"+vendor), object("saved", "invoices/"+vendor+"/"+attachment, "size", p.between(20_000, 900_000))).after(thought{"It has " + attachment + ".", "I save it to the folder of " + vendor + "."}))
		done = "the invoice of " + vendor
	}
	return entries, 0
}

// meetingsMoved moves meeting after meeting of a week by one hour.
func meetingsMoved(p *generator) (entries []entry, _ int) {
	month, done := p.between(1, 12), ""
	for k, topic := range p.distinct(p.between(4, 7)) {
		hour, day := p.between(8, 15), k+p.between(1, 2)
		title := capitalized(topic) + p.pick(" sync", " review", " planning", " 1:1")
		start := fmt.Sprintf("2026-%02d-%02dT%02d:00:00", month, day, hour+1)
		entries = append(entries, call("update_event", object("event_id", fmt.Sprintf("%026x", p.Uint64()), "start", start, "end", strings.Replace(start, ":00:00", ":45:00", 1)), object("status", "confirmed", "summary", title, "start", start, "updated", p.clock())).after(p.nextItem(done, title)))
		done = title
	}
	return entries, 0
}

// productsExplained answers a customer about one product after the other.
func productsExplained(p *generator) (entries []entry, _ int) {
	asked := ""
	for _, product := range p.shuffled("Laptop", "Office Chair", "Water Bottle", "Running Shoes", "Headphones", "Desk Lamp", "Backpack")[:p.between(3, 5)] {
		id, price, color := fmt.Sprint(p.between(1e9, 9e9)), p.between(20, 900), p.pick("black", "blue", "silver", "red")
		if asked != "" {
			entries = append(entries, user(p.pick("Thanks. And the ", "Okay. What about the ", "Good. Do you also have the ")+product+"?"))
		}
		asked = product
		entries = append(entries,
			call("get_product_details", object("product_id", id), object("name", product, "product_id", id, "variants", []json.RawMessage{object("item_id", fmt.Sprint(p.between(1e9, 9e9)), "options", object("color", color), "available", true, "price", price)})).after(thought{p.pick("The customer asks about the "+product+".", "Now the question is about the "+product+".", "The next product is the "+product+"."), p.pick("Let me look it up.", "I'll get its variants and prices.", "Let me check whether we have it.")}),
			say(fmt.Sprintf("The %s is available in %s for $%d. ", product, color, price)+p.pick("Is there anything else you would like to know?", "Can I help you with another product?", "Shall I reserve one for you?")))
	}
	return entries, 0
}
