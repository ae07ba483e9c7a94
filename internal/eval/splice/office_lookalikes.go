package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work with orders, forms, documents and people.

func officeLookalikes() []kind {
	return []kind{
		{name: "orders_looked_up", build: ordersLookedUp},
		{name: "checkout_pages", build: checkoutPages},
		{name: "interview", build: interview},
		{name: "months_summed_up", build: monthsSummedUp},
		{name: "invoices_entered", build: invoicesEntered},
		{name: "yes_or_no", build: yesOrNo},
		{name: "chapters_checked", build: chaptersChecked},
		{name: "nobody_answers", build: nobodyAnswers},
	}
}

// ordersLookedUp looks up the orders of one customer; most are in the same state.
func ordersLookedUp(p *generator) (entries []entry, _ int) {
	user := p.word() + "_" + p.word()
	for range p.between(5, 8) {
		id := fmt.Sprintf("#W%07d", p.IntN(1e7))
		entries = append(entries, call("get_order_details", object("order_id", id), object("order_id", id, "user_id", user, "status", p.pick("delivered", "delivered", "pending"), "items", []string{p.phrase(1, 3), p.phrase(1, 3)}, "total", fmt.Sprint(p.between(10, 999)))))
	}
	return entries, 0
}

// checkoutPages goes on from page to page of a checkout, whose references are new each time.
func checkoutPages(p *generator) (entries []entry, _ int) {
	for _, title := range []string{"Cart", "Address", "Delivery", "Payment", "Review", "Thank you"} {
		page := fmt.Sprintf("- Page URL: https://shop.example/checkout/%s\n- Page Title: %s\n- Page Snapshot:\n", strings.ToLower(strings.Fields(title)[0]), title)
		for _, part := range p.words(4) {
			page += fmt.Sprintf("  - textbox %q [ref=s1e%d]\n", part, p.between(10, 9999))
		}
		page += fmt.Sprintf("  - button \"Continue\" [ref=s1e%d]\n", p.between(10, 9999))
		entries = append(entries, call("browser_click", object("element", "Continue", "ref", fmt.Sprintf("s1e%d", p.between(10, 9999))), quoted(page)))
	}
	return entries, 0
}

// interview asks a person for one thing after another.
func interview(p *generator) (entries []entry, _ int) {
	for _, what := range p.shuffled("full name", "date of birth", "street and city", "membership number", "preferred airport", "phone number")[:p.between(4, 6)] {
		entries = append(entries, say("Thank you. Could you please tell me your "+what+"?"), entry{Kind: "message", Role: "user", Text: p.pick("It is ", "Sure: ", "") + p.phrase(1, 3) + "."})
	}
	return entries, 0
}

// monthsSummedUp asks for the same sum of month after month.
func monthsSummedUp(p *generator) (entries []entry, _ int) {
	table := p.word()
	for month := range p.between(6, 12) {
		query := fmt.Sprintf("SELECT sum(amount) FROM %s WHERE month = '2026-%02d'", table, month+1)
		entries = append(entries, call("run_query", object("sql", query), object("columns", []string{"sum"}, "rows", []string{fmt.Sprint(p.between(1000, 99999))})))
	}
	return entries, 0
}

// invoicesEntered enters invoice after invoice, and each is acknowledged in the same words.
func invoicesEntered(p *generator) (entries []entry, _ int) {
	for range p.between(6, 12) {
		args := object("vendor", p.word()+" "+p.pick("Ltd", "GmbH", "Inc"), "number", fmt.Sprintf("R-%05d", p.IntN(100000)), "amount", fmt.Sprintf("%d.%02d", p.between(10, 9000), p.IntN(100)), "due", p.clock()[:10])
		entries = append(entries, call("enter_invoice", args, object("status", "booked", "ledger", "accounts payable")))
	}
	return entries, 0
}

// yesOrNo asks a person one thing after another that is answered by yes or no.
func yesOrNo(p *generator) (entries []entry, _ int) {
	for _, what := range p.shuffled("travel insurance", "a window seat", "an invoice by mail", "extra luggage", "a vegetarian meal", "a rental car")[:p.between(4, 6)] {
		entries = append(entries, say("Noted. Would you also like "+what+"?"), entry{Kind: "message", Role: "user", Text: p.pick("Yes.", "No.", "Yes, please.", "No, thank you.")})
	}
	return entries, 0
}

// chaptersChecked checks chapter after chapter, and most are found to be right.
func chaptersChecked(p *generator) (entries []entry, _ int) {
	for k := range p.between(6, 10) {
		entries = append(entries, call("check_spelling", object("file", fmt.Sprintf("chapters/%02d-%s.md", k+1, p.word())), object("checked_words", p.between(900, 9000), "issues", []string{})))
	}
	return entries, 0
}

// nobodyAnswers calls one customer after the other, and most do not answer.
func nobodyAnswers(p *generator) (entries []entry, _ int) {
	for range p.between(4, 6) {
		name := p.word() + " " + p.word()
		entries = append(entries, call("place_call", object("to", fmt.Sprintf("+49%09d", p.IntN(1e9)), "name", name), object("result", p.pick("no answer", "no answer", "voicemail"), "seconds", p.between(20, 40))),
			call("add_note", object("customer", name, "note", "Called, "+p.phrase(2, 4)), object("saved", true)))
	}
	return entries, 0
}
