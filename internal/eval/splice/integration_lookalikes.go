package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents over APIs: one ticket, delivery, page or question after the other.

func integrationLookalikes() []kind {
	return []kind{
		{name: "outage_reply_posted_to_each_ticket", build: outageReplyPostedToEachTicket},
		{name: "deliveries_sent_again_one_by_one", build: deliveriesSentAgainOneByOne},
		{name: "filtered_scan_pages_mostly_empty", build: filteredScanPagesMostlyEmpty},
		{name: "record_read_again_for_each_question", build: recordReadAgainForEachQuestion},
	}
}

// outageReplyPostedToEachTicket posts one and the same reply to ticket after ticket of an outage, and closes each.
func outageReplyPostedToEachTicket(p *generator) (entries []entry, _ int) {
	s, service := p.secretary(), p.word()
	text := fmt.Sprintf(p.pick("The outage of the %s service is over since %02d:%02d UTC. Please tell us if you still see errors.", "We have fixed the problem with %s (%02d:%02d UTC). Sorry for the trouble.", "Hello, the incident that affected %s was resolved at %02d:%02d UTC. We close this ticket as a duplicate of the incident."), service, p.IntN(24), p.IntN(60))
	server, read, comment, closes := "zendesk", "get_ticket", "add_ticket_comment", "update_ticket"
	if p.coin() {
		server, read, comment, closes = "servicedesk", "get_request", "add_comment", "close_request"
	}
	number, reads, posted := p.between(1000, 60_000), p.coin(), p.between(100_000, 900_000)
	w := wording{
		[]string{"The incident is over. I'll answer the tickets that report it.", "Let me start with the first ticket."},
		[]string{"Answered.", "That one is closed.", "Closed as a duplicate.", ""},
		[]string{"Next ticket, same reply.", "On to the next one.", "Now the next ticket.", "The same for the next."},
	}
	for k := range p.between(6, 14) {
		number += p.between(1, 9)
		posted += p.between(1, 30)
		t := w.of(p, k)
		if reads {
			entries = append(entries, s.use(server, read, object("id", number), fmt.Sprintf("#%d (open) from %s: %s", number, p.person(), fmt.Sprintf(p.pick("%s is down?", "Cannot reach %s", "Error 503 in %s", "Is there a problem with %s?"), service))).after(t))
			t = thought{"", p.pick("This one is about the incident, too.", "The same incident.", "")}
		}
		entries = append(entries, s.use(server, comment, object("id", number, "body", text, "public", true), fmt.Sprintf("Comment %d added to ticket %d", posted, number)).after(t),
			s.use(server, closes, object("id", number, "status", "solved"), fmt.Sprintf("Ticket %d updated: status open -> solved", number)))
	}
	return entries, 0
}

// deliveriesSentAgainOneByOne sends failed deliveries of a webhook again, each by its number; most are accepted with an empty answer.
func deliveriesSentAgainOneByOne(p *generator) (entries []entry, _ int) {
	hook, owner, run, id := p.between(10_000, 90_000_000), p.word()+"/"+p.word(), p.commands(), p.between(1_000_000, 90_000_000)
	now := p.passingTime()
	var failedOnes []int
	list := ""
	for range p.between(6, 14) {
		id += p.between(3, 900)
		failedOnes = append(failedOnes, id)
		list += fmt.Sprintf("%d\t%s\t%s\t%d\n", id, p.pick("push", "pull_request", "check_run", "release", "issues"), now(), p.pickInt(500, 502, 503, 504))
	}
	entries = append(entries, run(fmt.Sprintf("gh api repos/%s/hooks/%d/deliveries --jq '.[] | select(.status_code>=500) | [.id,.event,.delivered_at,.status_code] | @tsv'", owner, hook), strings.TrimRight(list, "\n"), 0).after(thought{"", p.pick("Which deliveries have failed?", "Let me list what was lost during the outage.")}))
	checks := p.coin()
	for k, one := range failedOnes {
		entries = append(entries, run(fmt.Sprintf("gh api -X POST repos/%s/hooks/%d/deliveries/%d/attempts", owner, hook, one), "{}", 0).after(thought{strings.Repeat(p.pick("", "Accepted.", "That one went out."), min(k, 1)), p.pick(fmt.Sprintf("I send %d again.", one), fmt.Sprintf("Now delivery %d.", one), fmt.Sprintf("Redeliver %d.", one))}))
		if checks {
			entries = append(entries, run(fmt.Sprintf("gh api repos/%s/hooks/%d/deliveries?per_page=1 --jq '.[0] | [.id,.redelivery,.status_code,.duration] | @tsv'", owner, hook), fmt.Sprintf("%d\ttrue\t200\t0.%02d", one+p.between(100_000, 900_000), p.between(4, 99)), 0).after(thought{"", p.pick("Did it arrive?", "")}))
		}
	}
	return entries, 0
}

// filteredScanPagesMostlyEmpty pages through a large table with a filter; most pages have no item, and each has another key to go on with.
func filteredScanPagesMostlyEmpty(p *generator) (entries []entry, _ int) {
	table, attribute, value := p.word()+"-"+p.pick("events", "sessions", "audit", "orders"), p.pick("state", "tenant", "country", "kind"), p.word()
	form, pages, found := p.IntN(3), p.between(7, 14), 0
	w := wording{
		[]string{"Let me scan the table for the items.", "I'll look for the items with " + attribute + " = " + value + "."},
		[]string{"No item on this page, but there are more pages.", "Empty page, with a key to go on.", "Nothing here yet.", ""},
		[]string{"On with the next page.", "Let me go on from the key.", "Next page.", "I'll continue the scan."},
	}
	key := ""
	for k := range pages {
		items, before := []json.RawMessage{}, found
		if p.IntN(5) == 0 || k == pages-1 && found == 0 {
			found++
			items = append(items, object("id", p.uuid(), attribute, value, "at", p.clock()))
		}
		next := p.uuid()
		if k == pages-1 {
			next = ""
		}
		t := w.of(p, k)
		if before > 0 && p.coin() {
			t.seen = fmt.Sprintf(p.pick("%d found so far.", "So far I have %d."), before)
		}
		switch form {
		case 0:
			command := fmt.Sprintf("aws dynamodb scan --table-name %s --filter-expression '#a = :v' --expression-attribute-names '{\"#a\":\"%s\"}' --expression-attribute-values '{\":v\":{\"S\":\"%s\"}}' --max-items 1000", table, attribute, value)
			more := ""
			if key != "" {
				command += " --starting-token " + key
			}
			if next != "" {
				more = fmt.Sprintf(",\n    \"NextToken\": \"%s\"", next)
			}
			text := string(jsonOf(items))
			entries = append(entries, call("Bash", object("command", command, "description", "Scan the table"), quoted(fmt.Sprintf("{\n    \"Items\": %s,\n    \"Count\": %d,\n    \"ScannedCount\": %d%s\n}", text, len(items), p.between(700, 1000), more))).after(t))
		case 1:
			entries = append(entries, call("http_request", object("method", "GET", "url", "https://api.example/v1/"+table, "params", object("filter", attribute+" eq "+value, "page_token", key)), object("status", 200, "body", object("items", items, "next_page_token", next))).after(t))
		default:
			entries = append(entries, call("mcp__store__list_documents", object("collection", table, "where", object(attribute, value), "pageToken", key), content(string(object("documents", items, "nextPageToken", next)))).after(t))
		}
		key = next
	}
	return entries, 0
}

// recordReadAgainForEachQuestion reads the record of an order whenever the customer asks something new about it, and answers that.
func recordReadAgainForEachQuestion(p *generator) (entries []entry, _ int) {
	d, id, item := p.desk(), fmt.Sprintf("#W%07d", p.between(1_000_000, 9_999_999)), p.word()
	city, carrier, total, quantity, day, card := p.pick("Porto", "Gent", "Turku", "Graz"), p.pick("DHL", "UPS", "PostNord"), fmt.Sprintf("%d.%02d", p.between(20, 900), p.IntN(100)), p.between(1, 6), p.between(1, 28), p.between(1000, 9999)
	record := object("order_id", id, "item", item, "quantity", quantity, "total", total, "ship_to", city, "carrier", carrier, "expected", fmt.Sprintf("2026-06-%02d", day), "payment", fmt.Sprintf("card ending in %d", card), "gift_wrap", false, "invoice", "sent by mail")
	asks := [][3]string{
		{"How many did I order?", "What quantity is in the order?", fmt.Sprintf("Your order has %d of the %s.", quantity, item)},
		{"Where does it go?", "Which address did I use?", "It is shipped to your address in " + city + "."},
		{"Who delivers it?", "Is it UPS?", "The carrier is " + carrier + "."},
		{"And when will it come?", "When can I expect it?", fmt.Sprintf("It is expected on June %d.", day)},
		{"What did it cost in total?", "How much was it again?", "The total is " + total + " euros."},
		{"Which card did I pay with?", "How did I pay?", fmt.Sprintf("You paid with the card ending in %d.", card)},
		{"Is it gift wrapped?", "Did I tick the gift wrap?", "No, gift wrap was not chosen."},
		{"Do I get an invoice?", "Where is my invoice?", "The invoice was sent to you by mail."},
	}
	p.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
	read := p.pick("get_order_details", "get_order", "lookup_order")
	for k, ask := range asks[:p.between(5, 8)] {
		lead := p.pick("", "", "Thanks. ", "Okay. ", "One more thing: ")
		if k == 0 {
			lead = "I have a question about order " + id + ". "
		}
		entries = append(entries, user(lead+p.pick(ask[:2]...)), d.use(read, object("order_id", id), record).after(thought{"", p.pick("Let me look at the order.", "I look that up.", "Let me check the order.", "")}), say(ask[2]+p.pick("", "", " Can I help with anything else?", " Is there anything else?")))
	}
	return entries, 0
}
