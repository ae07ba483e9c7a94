package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of customer service agents.

func frontdeskLookalikes() []kind {
	return []kind{
		{name: "order_refunded_line_by_line", build: orderRefundedLineByLine},
		{name: "security_questions_passed", build: securityQuestionsPassed},
		{name: "line_tested_after_each_step", build: lineTestedAfterEachStep},
		{name: "rebooking_narrowed_by_customer", build: rebookingNarrowedByCustomer},
	}
}

// orderRefundedLineByLine refunds each article of one order by a call of its own.
func orderRefundedLineByLine(p *generator) (entries []entry, _ int) {
	c := p.customer()
	articles := p.shuffled("plates", "bowls", "glasses", "napkins", "candles", "vase", "tablecloth", "cutlery", "jug", "tray",
		"lantern")[:p.between(6, 9)]
	refunded, done := 0, ""
	entries = append(entries, user("The parcel of order "+c.order+" fell off the van. Please refund everything: "+strings.Join(articles,
		", ")+"."))
	for k, article := range articles {
		amount := p.between(400, 9900)
		refunded += amount
		result := object("order_id", c.order, "refunded_item", article, "amount", fmt.Sprintf("%d.%02d", amount/100, amount%100),
			"total_refunded", fmt.Sprintf("%d.%02d", refunded/100, refunded%100), "items_left", len(articles)-k-1)
		e := call(c.prefix+"refund_item", object("order_id", c.order, "item", article, "reason", "damaged in transit"), result)
		entries = append(entries, e.after(p.nextItem(done, "the refund for the "+article)))
		done = "the refund for the " + article
	}
	return entries, 0
}

// securityQuestionsPassed asks a customer one question after another; each answer is checked by the same tool.
func securityQuestionsPassed(p *generator) (entries []entry, _ int) {
	c := p.customer()
	type question struct{ key, text, answer string }
	all := []question{
		{"birth_date", "What is your date of birth?", fmt.Sprintf("%d %s %d", p.between(1, 28), p.pick("March", "July", "October"),
			p.between(1950, 2004))},
		{"street", "In which street do you live?", p.pick("Mill Lane", "Am Anger", "Via Roma", "Elm Road")},
		{
			"last_payment",
			"How much was your last payment?", fmt.Sprintf("%d.%02d euros", p.between(10, 200), p.IntN(100)),
		},
		{"phone", "What are the last four digits of your phone number?", fmt.Sprint(p.between(1000, 9999))},
		{
			"joined",
			"In which year did you open the account?", fmt.Sprint(p.between(2008, 2024)),
		},
		{"bank", "At which bank is your account for payments?", p.pick("Nordbank", "Caixa Sul", "First Harbor")},
		{
			"pet",
			"What is the name of your first pet?", p.pick("Minka", "Rex", "Pepper", "Bello"),
		},
	}
	p.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:p.between(5, 7)]
	for k, q := range all {
		left := len(all) - k - 1
		entries = append(
			entries, say(p.pick("Thank you. ", "That is right. ", "Good. ", "")+q.text), user(p.pick("It's ", "That would be ", "", "")+q.answer),
			call(c.prefix+"verify_identity", object("email", c.mail, "question", q.key, "answer", q.answer), object("match", true, "verified", k+1,
				"questions_left", left)).
				after(thought{"", p.pick("Let me check that.", "I verify the answer.", "One moment, please.",
					"Let me compare this with the account.")}),
		)
	}
	return append(entries, say("Thank you, "+c.name+", you are verified. What can I do for you?")), 0
}

// minutesLater returns a time of one day, some minutes after the last one.
func (p *generator) minutesLater(minutes *int) string {
	*minutes += p.between(2, 9)
	return fmt.Sprintf("2027-03-09T%02d:%02d:%02dZ", *minutes/60, *minutes%60, p.IntN(60))
}

// lineTestedAfterEachStep tells a customer what to do, and measures the line anew after each step.
func lineTestedAfterEachStep(p *generator) (entries []entry, _ int) {
	line := fmt.Sprintf("DSL-%d", p.between(100_000, 999_999))
	steps := [][2]string{
		{"Please plug the router straight into the first socket.", "Done, it sits in the first socket now."},
		{"Please remove the splitter between the socket and the router.", "OK, the splitter is out."},
		{"Please use the cable that came with the router.", "I found it in the box and swapped it."},
		{"Please take the fax machine off the second socket.", "It is unplugged."},
		{"Please start the update of the router under System.", "It says that the update is installed."},
		{"Please move the router away from the microwave.", "It stands on the shelf now."},
		{"Please switch the channel of the wireless network to automatic.", "I set it to auto."},
	}
	p.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	minutes := p.between(480, 900)
	down, loss, margin := p.between(2000, 9000), p.between(180, 400), p.between(30, 45)
	for _, step := range steps[:p.between(5, 7)] {
		down, loss, margin = down+p.between(2500, 14000), loss*p.between(35, 80)/100, margin+p.between(6, 22)
		result := object("line", line, "downstream_kbit_s", down, "packet_loss_permille", loss, "snr_margin_tenth_db", margin, "tested_at",
			p.minutesLater(&minutes))
		entries = append(
			entries, say(step[0]), user(step[1]), call("run_line_test", object("line_id", line), result).
				after(thought{p.pick("", "Thank you."), p.pick("Let me measure the line now.", "I test the line again.",
					"Let me see whether that helped.")}),
			say(fmt.Sprintf("Better: the line is at %d kbit/s now and loses %d of 1000 packets.", down, loss)),
		)
	}
	return entries, 0
}

// rebookingNarrowedByCustomer searches flights anew for each wish of the customer, and finds other ones.
func rebookingNarrowedByCustomer(p *generator) (entries []entry, _ int) {
	cities := p.shuffled("LIS", "VIE", "OSL", "ATH", "DUB", "WAW")
	from, to, day, month := cities[0], cities[1], p.between(4, 14), p.pick("May", "June", "September")
	for k := range p.between(5, 7) {
		wish := fmt.Sprintf("My flight was cancelled. I need another one from %s to %s on %s %d.", from, to, month, day)
		switch {
		case k == 0:
		case p.coin():
			day += p.between(1, 2)
			wish = fmt.Sprintf(p.pick("That is too late for me. What about %s %d?", "Hmm, what is there on %s %d?",
				"Too expensive. My boss says that %s %d would do as well."), month, day)
		default:
			from = cities[k%4+2]
			wish = "I could get to " + from + p.pick(" by train. Is there something from there?", ". Anything from that airport?")
		}
		flights, offers := make([]json.RawMessage, p.between(2, 3)), make([]string, 0, 3)
		for n := range flights {
			number, price := fmt.Sprintf("HX%d", p.between(100, 999)), p.between(60, 700)
			departs := fmt.Sprintf("%02d:%02d", p.between(5, 22), 5*p.IntN(12))
			flights[n] = object("flight", number, "from", from, "to", to, "departs", departs, "price", price, "seats", p.between(1, 40))
			offers = append(offers, fmt.Sprintf("%s at %s for %d €", number, departs, price))
		}
		args := object("origin", from, "destination", to, "date", fmt.Sprintf("%s %d, 2027", month, day))
		entries = append(
			entries, user(wish),
			call("search_direct_flight", args, jsonOf(flights)).after(thought{"", p.pick("Let me look.", "I check the flights for that.",
				"One moment, I search.", "Let me see what is free.")}),
			say("There are: "+strings.Join(offers, "; ")+p.pick(". Would one of them suit you?", ". Which one shall I book?",
				". What do you think?")),
		)
	}
	return entries, 0
}
