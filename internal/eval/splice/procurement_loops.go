package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that buy for a company, by the tools of a system for procurement and of a framework of agents.

func procurementLoops() []kind {
	return []kind{
		{name: "supplier_lists_stay_empty", build: supplierListsStayEmpty},
		{name: "reused_input_refused_by_framework", build: reusedInputRefusedByFramework},
		{name: "request_passed_between_absent_approvers", build: requestPassedBetweenAbsentApprovers},
		{name: "invoice_match_stays_out_of_tolerance", build: invoiceMatchStaysOutOfTolerance},
	}
}

// procurement is a system for procurement, as a server of tools. Its results have three forms.
type procurement struct {
	*generator
	form   int
	server string
}

func (p *generator) procurement() procurement {
	return procurement{p, p.IntN(3), p.pick("erp", "coupa", "procure", "purchasing")}
}

// use returns a call of a tool with the result.
func (s procurement) use(tool string, args, result json.RawMessage) entry {
	switch s.form {
	case 0:
		return call("mcp__"+s.server+"__"+tool, args, content(string(result)))
	case 1:
		return call(tool, args, object("status", 200, "request_id", s.uuid(), "data", result))
	}
	return call(s.server+"_"+tool, args, result)
}

// refuse returns a call of a tool that the system does not carry out.
func (s procurement) refuse(tool string, args json.RawMessage, code, reason string) entry {
	switch s.form {
	case 0:
		return failed("mcp__"+s.server+"__"+tool, args, "MCP error: "+code+": "+reason)
	case 1:
		return call(tool, args, object("status", 422, "request_id", s.uuid(), "error", object("code", code, "message", reason)))
	}
	return call(s.server+"_"+tool, args, object("success", false, "error", code, "detail", reason))
}

// order returns the number of a purchase order.
func (s procurement) order() string { return fmt.Sprintf("PO-%06d", s.between(10_000, 899_999)) }

// supplier returns the name of a supplier.
func (s procurement) supplier() string {
	return capitalized(s.word()) + " " + s.pick("Metals", "Paper", "Components", "Packaging", "Tools", "Chemicals") + s.pick(" GmbH", " Ltd", " Inc.", " SAS", " BV")
}

// supplierListsStayEmpty lists suppliers and what belongs to them with one filter after another, and gets an empty list each time.
func supplierListsStayEmpty(p *generator) (entries []entry, _ int) {
	s, item := p.procurement(), p.pick("M8 stainless bolts", "nitrile gloves", "pallet wrap", "servo drives", "toner cartridges")
	stem := strings.Fields(item)
	category, country := p.pick("MRO", "direct", "office", "C-parts"), p.pick("DE", "PL", "NL", "US")
	filters := []json.RawMessage{
		object("category", category, "country", country), object("query", item), object("query", stem[len(stem)-1]), object("category", category),
		object("category", strings.ToLower(category), "status", "active"), object("query", item, "status", "approved"), object("country", country, "limit", 100), object("category", category, "include_inactive", true),
	}
	w := wording{
		[]string{"Let me list the suppliers for " + item + ".", "I'll look for suppliers."},
		[]string{"The list is empty.", "No suppliers for that filter.", "Nothing was returned.", "Empty again.", ""},
		[]string{"Let me widen the filter.", "I'll list them without the country.", "Let me search by another term.", "Let me list the suppliers again.", "Perhaps the category has another name."},
	}
	for k := range p.pickInt(5, 6, 6, 7, 8, 10, 12) {
		tool, filter := "list_suppliers", filters[0]
		if k > 0 {
			filter = filters[p.IntN(len(filters))]
		}
		if k > 1 && p.IntN(4) == 0 {
			tool = p.pick("list_catalog_items", "search_contracts")
		}
		entries = append(entries, s.use(tool, filter, object("items", []string{}, "total", 0)).after(w.of(p, k)))
	}
	return entries, 1
}

// reusedInputRefusedByFramework calls a tool that has given its answer with the same input; the framework answers instead, round after round.
func reusedInputRefusedByFramework(p *generator) (entries []entry, _ int) {
	s := p.procurement()
	agent, order, supplier := p.pick("Procurement Analyst", "Purchasing Specialist", "Sourcing Agent"), s.order(), s.supplier()
	tool := p.pick("get_purchase_order", "Purchase Order Lookup", "fetch_order_details")
	args := func() json.RawMessage { return object("order_number", order) }
	tools := strings.Join([]string{tool, "Send Mail", "Supplier Search"}, ", ")
	refusals := []string{
		"I tried reusing the same input, I must stop using this action input. I'll try something else instead.\n\nYou ONLY have access to the tools: " + tools,
		"I tried reusing the same input, I must stop using this action input. I'll try something else instead.",
	}
	w := wording{
		[]string{"I need the details of the order."},
		[]string{"I have to get the details of the order first.", "I should use the tool to look the order up.", "The details are needed for the answer.", "I must use the tool again.", ""},
		[]string{"Let me look up " + order + ".", "I'll fetch the order.", "Let me get the order details.", "Action: look up the order."},
	}
	answer := object("order_number", order, "supplier", supplier, "total", fmt.Sprintf("%d.%02d", p.between(200, 9000), p.IntN(100)), "currency", "EUR", "state", "confirmed")
	entries = append(entries, call(tool, args(), answer).by(agent).after(w.of(p, 0)))
	for k := range p.pickInt(4, 5, 5, 6, 7, 9) {
		input := args()
		if k > 0 && p.IntN(4) == 0 {
			input = object("order_number", order, "security_context", object("agent", agent))
		}
		entries = append(entries, call(tool, input, quoted(p.pick(refusals...))).by(agent).after(w.of(p, k+1)))
	}
	return entries, 1
}

// requestPassedBetweenAbsentApprovers gives a request to one approver, who is away and stands in for no one, and then to the other, who may not approve it.
func requestPassedBetweenAbsentApprovers(p *generator) (entries []entry, _ int) {
	s, request, now := p.procurement(), fmt.Sprintf("REQ-%05d", p.between(100, 99_999)), p.passingTime()
	names := p.shuffled("h.okafor", "m.lindgren", "j.alvarez", "t.nakamura", "s.petit")
	amount, limit := p.between(12, 60)*1000, p.pickInt(5, 10)*1000
	away := func() json.RawMessage {
		return object("request", request, "approver", names[0], "state", "returned", "note", fmt.Sprintf("%s is out of office and has no substitute", names[0]), "updated_at", now())
	}
	small := func() json.RawMessage {
		return object("request", request, "approver", names[1], "state", "returned", "note", fmt.Sprintf("the limit of %s is %d EUR, the request is over %d EUR", names[1], limit, amount), "updated_at", now())
	}
	w := wording{
		[]string{"I'll give the request to the approver."},
		[]string{"It was returned.", "That approver cannot take it.", "The request came back.", ""},
		[]string{"Let me assign it to the other approver.", "I'll reassign it.", "Let me pass it on.", "Let me route it to another approver."},
	}
	rounds := p.between(3, 5)
	for k := range rounds {
		entries = append(entries,
			s.use("assign_approver", object("request", request, "approver", names[0]), away()).after(w.of(p, 2*k)),
			s.use("assign_approver", object("request", request, "approver", names[1]), small()).after(w.of(p, 2*k+1)))
		if k > 0 && k < rounds-1 && p.coin() {
			entries = append(entries, s.use("get_request", object("request", request), object("request", request, "state", "returned", "amount_eur", amount, "approver", "")).after(thought{"", p.pick("Let me see its state.", "Where is the request now?")}))
		}
	}
	return entries, 2
}

// invoiceMatchStaysOutOfTolerance changes this and that of an invoice and matches it again, while the difference of price stays.
func invoiceMatchStaysOutOfTolerance(p *generator) (entries []entry, _ int) {
	s, order, invoice := p.procurement(), "", fmt.Sprintf("INV-%d", p.between(2000, 99_999))
	order = s.order()
	line, off, tolerance := p.between(1, 9)*10, fmt.Sprintf("%d.%d", p.between(3, 18), p.IntN(10)), p.pick("1.0", "2.0", "2.5")
	reason := func() string {
		return fmt.Sprintf("three-way match of %s and %s failed at line %d: price variance %s%% exceeds tolerance %s%% (run %d)", invoice, order, line, off, tolerance, p.between(10_000, 99_999))
	}
	changes := []func() entry{
		func() entry {
			return s.use("update_receipt", object("order", order, "line", line, "received", p.between(10, 400)), object("order", order, "updated", true))
		},
		func() entry {
			return s.use("set_invoice_field", object("invoice", invoice, "field", p.pick("payment_terms", "tax_code", "posting_date", "reference"), "value", p.word()), object("invoice", invoice, "updated", true))
		},
		func() entry {
			return s.use("link_receipt", object("invoice", invoice, "receipt", fmt.Sprintf("GR-%05d", p.between(100, 99_999))), object("invoice", invoice, "linked", true))
		},
	}
	w := wording{
		[]string{"Let me match the invoice with its order."},
		[]string{"Out of tolerance.", "The match failed.", "The variance is the same.", ""},
		[]string{"Let me run the match again.", "Now the match should succeed.", "I'll match it once more."},
	}
	for k := range p.pickInt(4, 4, 5, 6, 7) {
		if k > 0 && (k == 1 || p.IntN(4) > 0) {
			entries = append(entries, changes[p.IntN(len(changes))]().after(thought{p.pick("The match failed.", "Still a variance.", ""), p.pick("Let me correct the receipt and the invoice.", "I'll adjust a field.", "Perhaps this field is wrong.")}))
		}
		entries = append(entries, s.refuse("match_invoice", object("invoice", invoice, "order", order), "MATCH_EXCEPTION", reason()).after(w.of(p, k)))
	}
	return entries, 2
}
