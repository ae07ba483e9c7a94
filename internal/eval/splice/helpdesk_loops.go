package splice

import "fmt"

// The loops of this file are those of agents that talk to customers. A turn of the loop has a message of the customer and what the agent does.

func helpdeskLoops() []kind {
	return []kind{
		{name: "language_not_served", build: languageNotServed},
		{name: "voucher_refused_at_checkout", build: voucherRefusedAtCheckout},
		{name: "mail_resent_to_old_address", build: mailResentToOldAddress},
	}
}

// languageNotServed asks a customer to write in English; the customer does not understand that, and asks the same again.
func languageNotServed(p *generator) (entries []entry, _ int) {
	asked := [][]string{
		{"Hola, mi pedido no ha llegado. ¿Dónde está?", "¿Me puede decir dónde está mi pedido?", "No entiendo. Solo quiero saber cuándo llega mi pedido.", "Mi pedido, por favor. Ya pasaron dos semanas.", "¿Hay alguien que hable español? Es por mi pedido.", "Perdón, no hablo inglés. ¿Dónde está mi pedido?"},
		{"Bonjour, je voudrais annuler ma réservation.", "Je ne comprends pas. Je veux annuler ma réservation.", "Annuler, s'il vous plaît. La réservation de samedi.", "Est-ce que quelqu'un parle français ? C'est pour une annulation.", "Désolée, je ne parle pas anglais. Je veux seulement annuler.", "Pouvez-vous annuler ma réservation ?"},
		{"Dzień dobry, drukarka nie działa. Co mam zrobić?", "Nie rozumiem. Drukarka nie drukuje.", "Drukarka pokazuje błąd. Proszę o pomoc.", "Czy ktoś mówi po polsku? Chodzi o drukarkę.", "Przepraszam, nie znam angielskiego. Drukarka nie działa.", "Co mam zrobić z drukarką?"},
	}[p.IntN(3)]
	answers := []string{
		"I'm sorry, but I can only help in English. Could you please write your question in English?",
		"Thank you for your message. At the moment we offer support in English only. Please describe your request in English.",
		"I apologize for the inconvenience. Please rephrase your request in English so that I can assist you.",
		"Unfortunately, I can assist you in English only. How can I help you today?",
		"I understand that this is frustrating. I am only able to answer in English. Could you write in English, please?",
	}
	order := p.Perm(len(asked) - 1)
	for round := range p.between(4, 5) {
		text := asked[0]
		if round > 0 {
			text = asked[1+order[round]]
		}
		entries = append(entries, user(text), say(p.pick(answers...)))
	}
	return entries, 2
}

// voucherRefusedAtCheckout issues voucher after voucher; the shop takes none, since the article is excluded from all of them.
func voucherRefusedAtCheckout(p *generator) (entries []entry, _ int) {
	customer, percent, article := fmt.Sprintf("cus_%06d", p.IntN(1e6)), p.pickInt(10, 15, 20), p.pick("gift card", "headphones", "e-reader", "coffee machine")
	complaints := []string{
		"It says the code is not valid for the items in my cart.", "Same message. The code is not valid for my items.", "That one doesn't work either.", "I typed it exactly as you sent it. It is refused.",
		"No, the checkout says 'not valid for the items in your cart' again.", "Still refused for the " + article + ".",
	}
	answers := []string{
		"I'm sorry about that. I have issued a new voucher for you: %s. It gives you %d %% off.", "I apologize for the trouble. Here is a replacement code: %s, worth %d %%.",
		"Thank you for your patience. Please use this new code at checkout: %s. It takes %d %% off.", "Let me make this right. Your new voucher is %s, with a discount of %d %%.",
	}
	for round := range p.between(3, 5) {
		code := fmt.Sprintf("%s-%04X%04X", p.pick("SORRY", "THANKS", "SAVE"), p.IntN(1<<16), p.IntN(1<<16))
		text := fmt.Sprintf("Hi, the voucher from your newsletter doesn't work for the %s in my cart.", article)
		if round > 0 {
			text = p.pick(complaints...)
		}
		entries = append(entries, user(text),
			call("issue_voucher", object("customer_id", customer, "percent_off", percent, "reason", p.pick("goodwill", "replacement", "voucher not accepted")), object("code", code, "percent_off", percent, "valid", true, "expires_on", fmt.Sprintf("2026-%02d-%02d", p.between(7, 12), p.between(1, 28)), "excludes", []string{article}, "voucher_id", p.uuid())).after(thought{next: p.pick("I'll issue a replacement voucher.", "Let me create a new code.", "A new voucher should solve this.", "I'll generate another code.")}),
			say(fmt.Sprintf(p.pick(answers...), code, percent)))
	}
	return entries, 3
}

// mailResentToOldAddress sends a confirmation again and again to the address on file, which the customer no longer has.
func mailResentToOldAddress(p *generator) (entries []entry, _ int) {
	name := p.pick("ines.duarte", "omar.haddad", "kate.lowell", "jon.berg")
	address, booking, clock := name+"@old-mail.example", fmt.Sprintf("BK%06d", p.IntN(1e6)), p.passingTime()
	complaints := []string{
		"I still have nothing.", "Nothing in my inbox, and I checked the spam folder.", "It has not arrived.", "No mail yet. Are you sure that it was sent?", "I've waited and refreshed. Nothing.", "Still no confirmation.",
	}
	answers := []string{
		"I have resent the confirmation of %s. It should arrive within a few minutes.", "The confirmation for booking %s is on its way to you again. Please check your spam folder as well.",
		"I've just sent it once more. Please look out for a mail about %s.", "Done. The mail for %s was sent again. Is there anything else I can help you with?", "I'm sorry for the inconvenience. I sent the confirmation of %s again.",
	}
	for round := range p.between(3, 6) {
		text := "Hello, I booked yesterday (" + booking + ") and never got the confirmation."
		if round > 0 {
			text = p.pick(complaints...)
		}
		entries = append(entries, user(text),
			call("resend_confirmation", object("booking_id", booking, "channel", "email"), object("status", "sent", "to", address, "template", "booking_confirmation_v3", "message_id", fmt.Sprintf("<%016x@mailer.example>", p.Uint64()), "queued_at", clock())).after(thought{next: p.pick("I'll resend the confirmation.", "Let me send it again.", "Resending the mail.", "Let me trigger the mail once more.")}),
			say(fmt.Sprintf(p.pick(answers...), booking)))
	}
	return entries, 3
}
