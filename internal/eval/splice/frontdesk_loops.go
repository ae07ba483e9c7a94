package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of customer service agents with tools.

func frontdeskLoops() []kind {
	return []kind{
		{name: "account_reviewed_again", build: accountReviewedAgain},
		{name: "return_refused_for_window", build: returnRefusedForWindow},
		{name: "details_requested_again", build: detailsRequestedAgain},
		{name: "live_agent_queue_closed", build: liveAgentQueueClosed},
	}
}

// customer is a person with one order, as the tools of a shop tell it.
type customer struct {
	*generator
	name, mail, order, article, prefix string
	price                              int
}

func (p *generator) customer() customer {
	first, last := p.pick("Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hanna"), p.pick("Novak", "Osei", "Petit", "Rossi",
		"Silva", "Tanaka", "Weber", "Yilmaz")
	return customer{
		p, first + " " + last, strings.ToLower(fmt.Sprintf("%c%s%d@mail.example", first[0], last, p.between(10, 99))), fmt.Sprintf("#W%d",
			p.between(1_000_000, 9_999_999)),
		p.pick("hair dryer", "desk lamp", "rain jacket", "coffee grinder", "bike helmet", "keyboard", "air fryer", "tent"), p.pick("", "",
			"crm_", "mcp__shop__"), p.between(15, 400),
	}
}

// lookup calls one of the shop's tools.
func (c customer) lookup(tool, argument, value string, result json.RawMessage) entry {
	if c.prefix == "" {
		result = quoted(string(result))
	}
	return call(c.prefix+tool, object(argument, value), result)
}

func (c customer) profile() entry {
	return c.lookup("get_user_details", "email", c.mail, object("name", c.name, "email", c.mail, "orders", []string{c.order}, "tier",
		"standard", "payment_methods", []string{"credit_card_88" + c.order[5:]}))
}

func (c customer) orderDetails(state string) entry {
	return c.lookup("get_order_details", "order_id", c.order, object("order_id", c.order, "status", state, "item", c.article, "price",
		c.price, "currency", "EUR"))
}

// accountReviewedAgain reads the profile, the order and the rules before it answers, and reads them again instead of an answer.
func accountReviewedAgain(p *generator) (entries []entry, _ int) {
	c := p.customer()
	type request struct{ question, state, query, rule string }
	r := []request{
		{
			"where is my money for the %s that I sent back?", "return received", "refund time",
			"Refunds are paid within 5 working days after the return arrives.",
		},
		{"can I still change the colour of the %s?", "processing", "order changes", "Orders can be changed until they are packed."},
		{"my %s has not come yet. What now?", "in transit", "late parcels", "Parcels that are late by more than 7 days are replaced."},
		{
			"may I return the %s without its box?", "delivered", "return packaging",
			"Returns are taken in any packaging that protects the article.",
		},
	}[p.IntN(4)]
	reads := []entry{
		c.profile(), c.orderDetails(r.state),
		c.lookup("search_policy", "query", r.query, object("title", capitalized(r.query), "text", r.rule)),
	}
	w := wording{
		first: []string{"Let me look at the account.", "I check the details first."},
		seen: []string{
			"I have the details of the order.", "Let me make sure that I understand the case.",
			"Before I answer I want to be sure.", "",
		},
		next: []string{
			"Let me review the case again.", "Let me look at this once more.", "I'll check it again.",
			"Let me go over the details again.", "Let me verify this before I reply.",
		},
	}
	question := fmt.Sprintf(r.question, c.article) + " The order is " + c.order + ", my mail is " + c.mail + "."
	entries = append(entries, user(p.pick("Hi, ", "Hello, ", "Good morning, ", "Hey there, ")+question))
	for k := range p.between(3, 5) {
		if k > 0 {
			p.Shuffle(len(reads), func(i, j int) { reads[i], reads[j] = reads[j], reads[i] })
		}
		for n := range reads {
			if k == 0 && n > 0 {
				entries = append(entries, reads[n])
				continue
			}
			entries = append(entries, reads[n].after(w.of(p, 3*k+n)))
		}
	}
	return entries, 4
}

// returnRefusedForWindow asks for the same return by all tools and reasons, and the shop refuses for one cause.
func returnRefusedForWindow(p *generator) (entries []entry, _ int) {
	c := p.customer()
	days := p.between(34, 120)
	refusal := p.pick(
		fmt.Sprintf("Error: order %s was delivered %d days ago; the return window of 30 days is closed", c.order, days),
		fmt.Sprintf("{\"error\":\"RETURN_WINDOW_EXPIRED\",\"order_id\":\"%s\",\"delivered_days_ago\":%d}", c.order, days),
		fmt.Sprintf("RETURN_NOT_ALLOWED: the period for returns of %s ended (%d days since delivery)", c.order, days),
	)
	reasons := []string{
		"no longer needed", "damaged", "wrong size", "defective", "ordered by mistake", "not as described", "arrived late",
		"customer request",
	}
	w := wording{
		first: []string{"I start the return for you.", "Let me process this return."},
		seen: []string{
			"The return was not accepted.", "The system refused it.", "That did not go through.",
			"It is refused with this reason, too.",
		},
		next: []string{
			"Let me try it with another reason.", "Let me see if it works in another way.", "I'll submit it again.",
			"Let me enter it differently.", "Let me put it in as an exception.",
		},
	}
	entries = append(entries, user("I want to send back the "+c.article+" from order "+c.order+p.pick(". Please arrange that.",
		", it does not suit me.", ". How do I get my money?")))
	for k, reason := range p.shuffled(reasons...)[:p.between(5, 8)] {
		tool := c.prefix + p.pick("return_delivered_order_items", "return_delivered_order_items", "create_return", "issue_refund",
			"exchange_delivered_order_items")
		args := object("order_id", c.order, "item", c.article, "reason", reason)
		if p.coin() {
			args = object("order_id", c.order, "item", c.article, "reason", reason, "refund_to", p.pick("original_payment", "gift_card",
				"store_credit"))
		}
		if c.prefix == "" {
			entries = append(entries, call(tool, args, quoted(refusal)).after(w.of(p, k)))
			continue
		}
		entries = append(entries, failed(tool, args, refusal).after(w.of(p, k)))
	}
	return entries, 2
}

// detailsRequestedAgain asks for what the customer has just given.
func detailsRequestedAgain(p *generator) (entries []entry, _ int) {
	c := p.customer()
	code := fmt.Sprint(p.between(10000, 99999))
	asks := p.shuffled(
		"To find your order I need the order number and your postal code. Could you send me both?",
		"Could you please give me your order number and postal code so that I can look into it?",
		"I am happy to help with the "+c.article+". What is your order number, and what is your postal code?",
		"Thank you for your patience. May I have the order number and the postal code?",
		"Before I can go on, please confirm your order number and postal code.",
		"Of course. Please share your order number together with the postal code of the delivery address.",
		"I understand. To look that up, please provide the order number and the postal code.",
	)
	answers := p.shuffled(
		"I said it already: "+c.order+", "+code+".", "Again: order "+c.order+", postal code "+code+".",
		"It is above. "+c.order+" and "+code+".", c.order+". "+code+". Can you read this?",
		"For the last time, "+c.order+", "+code+"!", "The number is "+c.order+" and the code is "+code+", as I wrote before.",
		"You asked me that before. "+c.order+" / "+code,
	)
	entries = append(entries, user(p.pick("My ", "Hello, my ", "Hi! The ")+c.article+p.pick(" never arrived.", " came broken.",
		" has a missing part.")), say(asks[0]), user(p.pick("Sure, ", "Yes, ", "Here you are: ")+c.order+p.pick(", postal code ", " and ",
		", ")+code))
	for k := range p.between(4, 6) {
		entries = append(entries, say(asks[k+1]), user(answers[k]))
	}
	return entries, 3
}

// liveAgentQueueClosed hands the customer to a person again and again, while the queue takes nobody.
func liveAgentQueueClosed(p *generator) (entries []entry, _ int) {
	c := p.customer()
	tool := c.prefix + p.pick("transfer_to_human_agents", "escalate_to_human", "request_live_agent")
	reply := p.pick("The queue is closed. Hours: Mon to Fri, 9:00 to 17:00 CET.", "No agents available outside business hours.",
		"Transfer rejected: queue 'support-l2' is closed")
	summaries := p.shuffled(
		"The customer "+c.name+" wants compensation for the "+c.article+".", "The customer asks for a person because of order "+c.order+".",
		"Complaint about a late "+c.article+", the customer insists on a supervisor.",
		"The customer is upset and wants to talk to somebody.", "Order "+c.order+": decision beyond my authority.",
		"Needs a person: goodwill credit for "+c.order+".", "Urgent: "+c.name+" waits for a supervisor.",
		"Customer requests human agent.",
	)
	w := wording{
		first: []string{"I connect you with a colleague. Please hold.", "I transfer you to a person now."},
		seen:  []string{"The transfer did not go through.", "Nobody took the call.", "I am sorry for the wait.", ""},
		next: []string{
			"Let me try to connect you again.", "I am transferring you now.", "Let me reach a colleague for you.",
			"One more moment, I hand you over to a person.", "Let me escalate this again.",
		},
	}
	entries = append(entries, user(p.pick("I want to talk to a person about my ", "Get me a human, please. It is about the ",
		"Let me speak with your supervisor about the ")+c.article+"."))
	for k, summary := range summaries[:p.between(5, 8)] {
		args := object("summary", summary, "priority", p.pick("normal", "high", "urgent"))
		entries = append(entries, call(tool, args, object("status", "rejected", "message", reply, "request_id", p.uuid()[:8])).after(w.of(p, k)))
	}
	return entries, 2
}
