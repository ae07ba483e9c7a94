package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that serve customers, call MCP servers and work in teams.

func assistantLoops() []kind {
	return []kind{
		{name: "exchange_refused", build: exchangeRefused},
		{name: "confirmed_but_not_done", build: confirmedButNotDone},
		{name: "no_flights_any_way", build: noFlightsAnyWay},
		{name: "list_passed_as_string", build: listPassedAsString},
		{name: "mail_never_found", build: mailNeverFound},
		{name: "tester_sends_back", build: testerSendsBack},
	}
}

// exchangeRefused changes the items of an order to others; the one way to pay, or the state of the order, forbids each.
func exchangeRefused(p *generator) (entries []entry, _ int) {
	order, item := fmt.Sprintf("#W%07d", p.IntN(1e7)), fmt.Sprintf("%010d", p.Uint64N(1e10))
	tool, reason := "modify_pending_order_items", "Error: insufficient gift card balance to pay for the new item"
	switch p.IntN(3) {
	case 0:
		tool, reason = "exchange_delivered_order_items", "Error: non-delivered order cannot be exchanged"
	case 1:
		reason = "Error: non-pending order cannot be modified"
	}
	options := []string{fmt.Sprintf("%010d", p.Uint64N(1e10)), fmt.Sprintf("%010d", p.Uint64N(1e10)), fmt.Sprintf("%010d", p.Uint64N(1e10)), fmt.Sprintf("%010d", p.Uint64N(1e10))}
	payments := []string{fmt.Sprintf("gift_card_%07d", p.IntN(1e7)), fmt.Sprintf("credit_card_%07d", p.IntN(1e7))}
	for round := range p.between(4, 6) {
		if round > 1 {
			entries = append(entries, p.sometimes("I apologize for the inconvenience. Let me try another variant of the item.", "It seems there was an issue. Let me attempt that again.", "Let me process this with the other option.")...)
		}
		payment := payments[0]
		if !strings.Contains(reason, "gift card") {
			payment = p.pick(payments...)
		}
		entries = append(entries, call(tool, object("order_id", order, "item_ids", []string{item}, "new_item_ids", []string{p.pick(options...)}, "payment_method_id", payment), quoted(reason)))
	}
	return entries, 1
}

// confirmedButNotDone asks a customer to confirm a change, is told yes, looks the order up again and asks again.
func confirmedButNotDone(p *generator) (entries []entry, _ int) {
	order, item, price := fmt.Sprintf("#W%07d", p.IntN(1e7)), p.pick("Water Bottle", "Desk Lamp", "Hiking Boots", "Mechanical Keyboard", "Backpack"), p.between(20, 300)
	details := object("order_id", order, "status", p.pick("pending", "delivered"), "items", []json.RawMessage{object("name", item, "item_id", fmt.Sprintf("%010d", p.Uint64N(1e10)), "price", price)}, "address", object("city", p.pick("Austin", "Denver", "Seattle"), "zip", fmt.Sprint(p.between(10_000, 99_999))))
	for range p.between(3, 5) {
		entries = append(entries,
			call("get_order_details", object("order_id", order), details),
			say(p.pick("Thank you. Here are the details of the change:\n", "To proceed with your request, I need your confirmation:\n", "Just to confirm:\n", "I have found your order. Here is a summary:\n")+fmt.Sprintf("- Order: %s\n- Item: %s ($%d)\n- Refund: original payment method\n", order, item, price)+p.pick("Do you confirm (yes/no)?", "Would you like to proceed?", "Please reply with 'yes' to continue.", "Is this correct?")),
			user(p.pick("Yes, please go ahead.", "Yes.", "yes, I confirm", "I already said yes. Please do it.", "Yes, that's correct!")))
	}
	return entries, 3
}

// noFlightsAnyWay searches one route on a few dates and from neighbouring airports, over and over; there are no flights.
func noFlightsAnyWay(p *generator) (entries []entry, _ int) {
	to, day := p.pick("LAS", "BOS", "DEN", "MIA"), p.between(14, 26)
	for round := range p.between(6, 11) {
		if round > 1 {
			entries = append(entries, p.sometimes("I'm sorry, there are no flights on this date. Let me check another one.", "Let me look at one-stop flights as well.", "Let me check the nearby airports.", "I'll search again for you.")...)
		}
		args := object("origin", p.pick("JFK", "EWR", "LGA"), "destination", to, "date", fmt.Sprintf("2024-05-%d", day+p.IntN(3)))
		entries = append(entries, call(p.pick("search_direct_flight", "search_onestop_flight"), args, quoted("[]")))
	}
	return entries, 1
}

// listPassedAsString calls a tool with a text in place of a list.
func listPassedAsString(p *generator) (entries []entry, _ int) {
	tool := [][2]string{{"read_multiple_files", "paths"}, {"create_entities", "entities"}, {"add_labels_to_issue", "labels"}, {"notion_append_block_children", "children"}, {"sheets_update_values", "values"}}[p.IntN(5)]
	a, b := p.word(), p.word()
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The argument must be an array. Let me fix the format.", "Let me correct the parameter.", "I need to pass it as a list.")...)
		}
		value := p.pick(`["`+a+`", "`+b+`"]`, `["`+a+`","`+b+`"]`, a+","+b, `['`+a+`', '`+b+`']`, "["+a+", "+b+"]", `[\"`+a+`\", \"`+b+`\"]`, `["`+a+`"]`)
		entries = append(entries, failed(tool[0], object(tool[1], value), fmt.Sprintf("MCP error -32602: Invalid arguments for tool %s: [\n  {\n    \"code\": \"invalid_type\",\n    \"expected\": \"array\",\n    \"received\": \"string\",\n    \"path\": [\n      %q\n    ],\n    \"message\": \"Expected array, received string\"\n  }\n]", tool[0], tool[1])))
	}
	return entries, 1
}

// mailNeverFound searches a mailbox by other operators; there is nothing, or the same two newsletters.
func mailNeverFound(p *generator) (entries []entry, _ int) {
	name, topic := p.pick("anna", "marcus", "priya", "tom"), p.word()
	letters := []json.RawMessage{
		object("id", fmt.Sprintf("%016x", p.Uint64()), "from", "news@"+p.word()+".example", "subject", "Your weekly "+topic+" digest", "snippet", p.phrase(6, 12)),
		object("id", fmt.Sprintf("%016x", p.Uint64()), "from", "hello@"+p.word()+".example", "subject", p.phrase(3, 6), "snippet", p.phrase(6, 12)),
	}
	queries := p.shuffled("from:"+name+" subject:"+topic, "from:"+name+" "+topic, "subject:("+topic+")", topic+" has:attachment", "in:anywhere "+topic, "\""+topic+"\" newer_than:30d", name+" "+topic+" filename:pdf", "to:me "+topic, "label:inbox "+topic, "from:("+name+") newer_than:1y")
	for round, query := range queries[:p.between(5, 9)] {
		if round > 1 {
			entries = append(entries, p.sometimes("No message from "+name+" yet. Let me broaden the search.", "Let me try different keywords.", "Let me search in all folders.")...)
		}
		result := object("messages", []string{}, "resultSizeEstimate", 0)
		if strings.HasPrefix(query, "in:") || strings.HasPrefix(query, "\"") || strings.HasPrefix(query, "to:") {
			result = object("messages", letters, "resultSizeEstimate", 2)
		}
		entries = append(entries, call("search_emails", object("query", query, "maxResults", p.pickInt(5, 10, 20, 50)), result))
	}
	return entries, 1
}

// testerSendsBack has a coder change a file and a tester find the failure that was there before.
func testerSendsBack(p *generator) (entries []entry, _ int) {
	h, file, name, got := p.harness(), p.path(), p.word(), p.between(2, 90)
	for range p.between(3, 5) {
		output := fmt.Sprintf("--- FAIL: Test%s (0.%02ds)\n    %s_test.go:%d: got %d, want %d\nFAIL\nFAIL\texample.com/%s\t0.%03ds", capitalized(name), p.IntN(10), name, p.between(30, 34), got, got+1, name, p.IntN(400))
		entries = append(entries,
			h.edit(file).by("coder"),
			say(p.pick("I have fixed the off-by-one error. ", "The boundary is handled now. ", "I adjusted the calculation. ", "Done: the index is corrected. ")+p.pick("Please test again.", "Over to the tester.", "Ready for verification.")).by("coder"),
			entry{Kind: "handoff", From: "coder", To: "tester"},
			h.shell(p.pick("go test ./...", "go test ./... -run Test"+capitalized(name), "go test -count=1 ./..."), output, 1).by("tester"),
			say(p.pick("The test still fails: ", "Verification failed. ", "Not fixed yet: ")+fmt.Sprintf("got %d, want %d. ", got, got+1)+p.pick("Please fix it.", "Back to the coder.", "Please have another look.")).by("tester"),
			entry{Kind: "handoff", From: "tester", To: "coder"})
	}
	return entries, 6
}
