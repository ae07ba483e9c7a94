package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work on records by tools: of a database, a shop, a repository, a customer list. The agent
// says what a model says at that step.

func recordsLoops() []kind {
	return []kind{
		{name: "sum_is_null", build: sumIsNull},
		{name: "order_id_guessed", build: orderIDGuessed},
		{name: "variant_insisted_on", build: variantInsistedOn},
		{name: "token_lacks_permission", build: tokenLacksPermission},
		{name: "mcp_not_connected", build: mcpNotConnected},
		{name: "contact_already_exists", build: contactAlreadyExists},
	}
}

// sumIsNull asks for a sum in other queries; the column has no values.
func sumIsNull(p *generator) (entries []entry, _ int) {
	table, column, day := p.word()+"s", p.pick("amount", "total", "revenue", "net_value"), p.word()+"_date"
	year := p.between(2019, 2025)
	words := wording{
		first: []string{"I should query the total directly.", "Let me compute the sum.", "Now I can write the query."},
		seen:  []string{"The query returned None.", "The result is NULL again.", "No value is returned.", "That gives None as well.", "The sum is empty, which cannot be right."},
		next:  []string{"Let me check the filter.", "Let me rewrite the query.", "Let me write the aggregate differently.", "Maybe the dates have another format.", "Let me try another form of the query.", "I should double check the query."},
	}
	for round := range p.between(4, 8) {
		sum := p.pick("SUM("+column+")", "SUM(CAST("+column+" AS REAL))", "AVG("+column+")", "MAX("+column+")", "SUM("+column+" * 1.0)", "SUM("+table+"."+column+")")
		where := p.pick(fmt.Sprintf("strftime('%%Y', %s) = '%d'", day, year), fmt.Sprintf("%s BETWEEN '%d-01-01' AND '%d-12-31'", day, year, year), fmt.Sprintf("%s LIKE '%d%%'", day, year), fmt.Sprintf("%s >= '%d-01-01'", day, year), "1 = 1")
		query := "SELECT " + sum + " FROM " + table + " WHERE " + where
		if p.IntN(4) == 0 {
			query = "SELECT x FROM (" + strings.Replace(query, " FROM", " AS x FROM", 1) + ")"
		}
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("sql_db_query_checker", object("query", query), quoted("```sql\n"+query+"\n```")).after(thought{next: p.pick("Let me check the query first.", "I double check the query before I execute it.")}))
		}
		entries = append(entries, call("sql_db_query", object("query", query), quoted("[(None,)]")).after(words.of(p, round)))
	}
	return entries, 1
}

// orderIDGuessed looks up an order under other spellings of the number that the customer gave.
func orderIDGuessed(p *generator) (entries []entry, _ int) {
	number := fmt.Sprint(p.between(1_000_000, 9_999_999))
	words := wording{
		first: []string{"Let me look up your order.", "I'll check the order for you."},
		seen:  []string{"The order was not found.", "That format is not accepted either.", "Still no order under that number.", "The order ID may need another format."},
		next:  []string{"Let me try it in another form.", "Let me try another format of the order ID.", "Let me check once more.", "Let me look it up again."},
	}
	for round := range p.between(4, 8) {
		id := p.pick("#W", "W", "#", "", "#w", "#W0", "ORDER-", "#W-") + number
		if p.IntN(4) == 0 {
			id = "#W" + number[:6]
		}
		entry := call("get_order_details", object("order_id", id), quoted("Error: order not found"))
		entries = append(entries, entry.after(words.of(p, round)))
		if round == 2 && p.coin() {
			entries = append(entries, say("I could not find an order with the number "+id+". Could you check the number, please?"), user(p.pick("It is "+number+". It's on my confirmation email.", "I have "+number+" here.", "The email says "+number+".")))
		}
	}
	return entries, 1
}

// variantInsistedOn looks up a product again whenever the customer insists on a variant that it does not have.
func variantInsistedOn(p *generator) (entries []entry, _ int) {
	product, id := p.pick("Laptop", "Office Chair", "Water Bottle", "Running Shoes", "Headphones"), fmt.Sprint(p.between(1e9, 9e9))
	color, size := p.pick("blue", "red", "green"), p.pick("15 inch", "size 11", "1000ml", "large")
	variants := make([]json.RawMessage, p.between(2, 4))
	for k := range variants {
		variants[k] = object("item_id", fmt.Sprint(p.between(1e9, 9e9)), "options", object("color", p.pick("black", "silver", "white"), "size", size), "available", k > 0, "price", p.between(20, 2000))
	}
	details := object("name", product, "product_id", id, "variants", variants)
	words := wording{
		first: []string{"Let me check the available variants.", "I'll look at the options of this product."},
		seen:  []string{"The customer wants the " + color + " one.", "The customer insists on " + color + ".", "I should check whether a " + color + " variant exists."},
		next:  []string{"Let me look up the product again.", "Let me check the variants once more.", "I'll double-check the availability."},
	}
	for round := range p.between(3, 6) {
		entries = append(entries,
			call("get_product_details", object("product_id", id), details).after(words.of(p, round)),
			say(p.pick("I'm sorry, but the "+product+" is not available in "+color+". ", "Unfortunately, there is no "+color+" variant of the "+product+". ", "I have checked again: we do not have the "+product+" in "+color+". ")+p.pick("Would you like another color?", "We have it in black, silver or white.", "Is there anything else that would work for you?")),
			user(p.pick("I really want the "+color+" one, "+size+".", "Are you sure? It has to be "+color+".", "No other color. Please check for "+color+" again.", "I saw it in "+color+" last week. Can you look again?", "Only "+color+" works for me.")))
	}
	return entries, 3
}

// tokenLacksPermission calls other tools of GitHub's MCP server, and the token may use none of them on this repository.
func tokenLacksPermission(p *generator) (entries []entry, _ int) {
	owner, repo, branch, path := p.word(), p.word()+"-"+p.word(), "fix/"+p.word(), p.path()
	words := wording{
		first: []string{"Now I'll create the branch.", "Let me push the change to GitHub.", "I'll open the pull request."},
		seen:  []string{"I get a 403.", "The token has no access to this.", "Permission denied again.", "The API refuses this as well.", "Resource not accessible, once more."},
		next:  []string{"Let me try another way.", "Let me see if %s is allowed.", "Perhaps %s works.", "Let me try %s instead."},
	}
	for round := range p.between(4, 8) {
		tool, url := "", ""
		args := []any{"owner", owner, "repo", repo}
		switch p.IntN(5) {
		case 0:
			tool, url, args = "create_branch", "git/refs", append(args, "branch", branch, "from_branch", p.pick("main", "master"))
		case 1:
			tool, url, args = "create_or_update_file", "contents/"+path, append(args, "path", path, "branch", p.pick(branch, "main"), "message", "Fix "+p.phrase(1, 3), "content", p.code(2))
		case 2:
			tool, url, args = "push_files", "git/trees", append(args, "branch", branch, "message", "Fix "+p.phrase(1, 3))
		case 3:
			tool, url, args = "create_pull_request", "pulls", append(args, "title", "Fix "+p.phrase(2, 4), "head", branch, "base", "main")
		default:
			tool, url, args = "create_issue", "issues", append(args, "title", p.phrase(2, 5), "body", p.phrase(6, 14))
		}
		reason := fmt.Sprintf("failed to call %s: %s https://api.github.com/repos/%s/%s/%s: 403 Resource not accessible by personal access token []", tool, p.pick("POST", "PUT"), owner, repo, url)
		entries = append(entries, failed("mcp__github__"+tool, object(args...), reason).after(words.then(p, round, strings.ReplaceAll(p.pick(words.next...), "%s", tool))))
	}
	return entries, 1
}

// mcpNotConnected calls the tools of an MCP server that has ended.
func mcpNotConnected(p *generator) (entries []entry, _ int) {
	server := p.pick("postgres", "filesystem", "linear", "notion", "puppeteer")
	reason := p.pick("MCP error -32000: Connection closed", "Not connected", "MCP error -32001: Request timed out", "Error: MCP server '"+server+"' is not connected")
	tools := map[string][]string{
		"postgres": {"query", "list_tables", "describe_table"}, "filesystem": {"read_file", "list_directory", "list_allowed_directories"},
		"linear": {"list_issues", "get_issue", "list_teams"}, "notion": {"search", "retrieve_page", "list_users"}, "puppeteer": {"puppeteer_navigate", "puppeteer_screenshot", "puppeteer_evaluate"},
	}[server]
	words := wording{
		first: []string{"I'll use the " + server + " tools for this.", "Let me query " + server + ".", "First I fetch the data from " + server + "."},
		seen:  []string{"The " + server + " server is not responding.", "The connection was closed.", "That tool failed, too.", "Same connection error.", "The MCP server still isn't available."},
		next:  []string{"Let me retry.", "Let me try a simpler call.", "Let me try another tool of the server.", "Maybe it was a temporary problem. I'll try again.", "Let me try again with fewer arguments.", "Let me check if the server is back."},
	}
	for round := range p.between(3, 9) {
		args := object(p.pick("query", "id", "path", "input"), p.phrase(1, 3))
		if p.IntN(3) == 0 {
			args = object()
		}
		entries = append(entries, failed("mcp__"+server+"__"+p.pick(tools...), args, reason).after(words.of(p, round)))
	}
	return append(entries, failed("mcp__"+server+"__"+tools[0], object(), reason).after(words.of(p, 1))), 1
}

// contactAlreadyExists creates a contact with other values, instead of updating the one that the error names.
func contactAlreadyExists(p *generator) (entries []entry, _ int) {
	first, last, id := p.pick("Anna", "Marcus", "Priya", "Tom"), capitalized(p.word()), p.between(1e8, 9e8)
	email := strings.ToLower(first+"."+last) + "@example.com"
	words := wording{
		first: []string{"I'll add " + first + " as a new contact.", "Let me create the contact.", "Now I create the contact in HubSpot."},
		seen:  []string{"The contact could not be created.", "It says that the contact already exists.", "There is a conflict.", "The creation failed again with a 409.", "Still a conflict."},
		next:  []string{"Let me try with fewer properties.", "Let me try with other properties.", "I'll try again with another set of fields.", "Let me retry the creation.", "Let me correct the input and create it again."},
	}
	for round := range p.between(4, 8) {
		properties := object("email", p.pick(email, email, strings.ToUpper(email[:1])+email[1:]), "firstname", first, p.pick("company", "jobtitle", "lifecyclestage", "phone", "city"), p.phrase(1, 2), "lastname", p.pick(last, last, strings.ToLower(last)))
		reason := fmt.Sprintf("Request failed with status code 409: %s", object("status", "error", "message", fmt.Sprintf("Contact already exists. Existing ID: %d", id), "correlationId", p.uuid(), "category", "CONFLICT"))
		entries = append(entries, failed(p.pick("hubspot_create_contact", "hubspot_create_contact", "hubspot-batch-create-objects"), object("properties", properties), reason).after(words.of(p, round)))
	}
	return entries, 1
}
