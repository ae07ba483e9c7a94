package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of customer service agents: one field, one card, one login or one meter after the other.

func hotlineLookalikes() []kind {
	return []kind{
		{name: "fields_of_profile_corrected", build: fieldsOfProfileCorrected},
		{name: "gift_cards_redeemed_in_turn", build: giftCardsRedeemedInTurn},
		{name: "logins_reset_for_employees", build: loginsResetForEmployees},
		{name: "meter_readings_taken_in_turn", build: meterReadingsTakenInTurn},
	}
}

// fieldsOfProfileCorrected changes one field of a profile after the other, as the customer goes through a letter; the tool answers alike.
func fieldsOfProfileCorrected(p *generator) (entries []entry, _ int) {
	d, customer, full := p.desk(), fmt.Sprintf("cus_%08x", p.Uint32()), p.coin()
	fields := p.shuffled("first_name:first name:"+p.person(), "last_name:last name:"+capitalized(p.word()), "street:street:"+capitalized(p.word())+" Road", fmt.Sprintf("house_number:house number:%d", p.between(1, 300)), "city:town:"+p.pick("Leeds", "Graz", "Porto", "Utrecht"), fmt.Sprintf("postal_code:postcode:%d", p.between(10_000, 99_999)), fmt.Sprintf("phone:phone number:+44 20 7946 0%d", p.between(100, 999)), "email:e-mail:"+p.mailbox(p.person()), "language:language:"+p.pick("German", "French", "Polish"), "company:company:"+capitalized(p.word())+" Ltd", "salutation:salutation:"+p.pick("Mx", "Ms", "Mr"))
	tool, now := p.pick("update_customer", "update_profile", "update_contact"), p.passingTime()
	asks := []string{"The %s is wrong as well, it should be %s.", "And the %s has to be %s.", "Then the %s. It is %s.", "Please change the %s to %s.", "Next is the %s: %s."}
	confirms := []string{"Done, the %s is %s now.", "Thank you. Your %s is now %s. Is there anything else?", "I have updated the %s to %s. What else is wrong?", "The %s is corrected: %s."}
	w := wording{
		[]string{"I'll correct it.", "Let me change that for you."},
		[]string{"The customer has another correction.", "Another field.", ""},
		[]string{"Let me correct that too.", "I'll update this field.", "One moment, I change it."},
	}
	profile := []any{"id", customer}
	for k, f := range fields[:p.between(5, 9)] {
		parts := strings.SplitN(f, ":", 3)
		ask := fmt.Sprintf(p.pick(asks...), parts[1], parts[2])
		if k == 0 {
			ask = "You sent me a letter and most of it is wrong. The " + parts[1] + " should be " + parts[2] + "."
		}
		profile = append(profile, parts[0], parts[2])
		result := object("id", customer, "updated", []string{parts[0]}, "updated_at", now())
		if full {
			result = object(append(append([]any(nil), profile...), "updated_at", now())...)
		}
		entries = append(entries, user(ask), d.use(tool, object("customer_id", customer, parts[0], parts[2]), result).after(w.of(p, k)), say(fmt.Sprintf(p.pick(confirms...), parts[1], parts[2])))
	}
	return append(entries, user(p.pick("No, that was all. Thank you.", "Now it is right, thanks."))), 0
}

// giftCardsRedeemedInTurn redeems the code of one card after the other; the balance rises, and a few cards are expired or already used.
func giftCardsRedeemedInTurn(p *generator) (entries []entry, _ int) {
	d, account, balance := p.desk(), fmt.Sprintf("acc_%06d", p.IntN(1_000_000)), 0
	code := func() string {
		return fmt.Sprintf("%04X-%04X-%04X", p.IntN(1<<16), p.IntN(1<<16), p.IntN(1<<16))
	}
	asks := []string{"The next one is %s.", "Then %s.", "Another one: %s.", "%s", "And %s, please."}
	w := wording{
		[]string{"I'll redeem the first card.", "Let me redeem it."},
		[]string{"Another code.", "Here is the next code.", ""},
		[]string{"Let me redeem this one.", "I'll add it.", "One moment, I enter the code."},
	}
	terse := p.coin()
	for k := range p.between(5, 10) {
		c := code()
		ask := fmt.Sprintf(p.pick(asks...), c)
		if k == 0 {
			ask = "I was given a lot of gift cards and want them all on my account. The first one is " + c + "."
		}
		entries = append(entries, user(ask))
		args := object("account_id", account, "code", c)
		if p.IntN(6) == 0 {
			why := p.pick("expired", "already redeemed")
			entries = append(entries, d.refuse("redeem_gift_card", args, "card "+c+" is "+why).after(w.of(p, k)), say("I'm sorry, this card is "+why+". What is the next code?"))
			continue
		}
		amount := p.pickInt(10, 10, 20, 25, 25, 50)
		balance += amount
		entries = append(entries, d.use("redeem_gift_card", args, object("status", "redeemed", "amount", amount, "balance", balance)).after(w.of(p, k)))
		if terse {
			entries = append(entries, say(fmt.Sprintf(p.pick("Added %d. Your balance is %d.", "%d more, that makes %d."), amount, balance)))
			continue
		}
		entries = append(entries, say(fmt.Sprintf(p.pick("Thank you. %d euros were added, your balance is %d euros. What is the next code?", "The card was worth %d euros. You have %d euros now. Please tell me the next one."), amount, balance)))
	}
	return append(entries, user(p.pick("That was the last one, thanks.", "No more cards. Thank you."))), 0
}

// loginsResetForEmployees looks up one employee after the other, and sends each a link to set a new password; all answers are alike.
func loginsResetForEmployees(p *generator) (entries []entry, _ int) {
	d, company, minutes := p.desk(), p.word(), p.pickInt(15, 30, 60)
	names := p.shuffled("Amara", "Benedikt", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Katya", "Liam", "Mei", "Noor")[:p.between(5, 11)]
	looks, batch := p.IntN(3) > 0, p.coin()
	send := p.pick("send_password_reset", "reset_login", "trigger_password_reset")
	if batch {
		entries = append(entries, user("I am the administrator of "+company+". After the move, these people cannot sign in: "+strings.Join(names, ", ")+". Please reset their logins."))
	}
	last := ""
	for k, name := range names {
		if !batch {
			entries = append(entries, user([]string{"I am the administrator of " + company + ". Please reset the login of " + name + ".", p.pick("Now ", "Next is ", "And ", "The same for ", "Then ") + name + "."}[min(k, 1)]))
		}
		id := fmt.Sprintf("usr_%06x", p.IntN(1<<24))
		t := p.nextItem(last, name)
		if looks {
			entries = append(entries, d.use("find_user", object("tenant", company, "name", name), object("user_id", id, "email", strings.ToLower(name)+"@"+company+".example", "state", p.pick("active", "active", "locked"))).after(t))
			t = thought{"", p.pick("Send the link.", "Let me reset it.", "")}
		}
		args := object("tenant", company, "user_id", id)
		if !looks {
			args = object("tenant", company, "email", strings.ToLower(name)+"@"+company+".example")
		}
		entries = append(entries, d.use(send, args, object("ok", true, "delivery", "email", "valid_minutes", minutes)).after(t))
		if !batch {
			entries = append(entries, say(fmt.Sprintf(p.pick("Done, %s will get an e-mail.", "%s has a link now, it is valid for a while.", "I have reset the login of %s."), name)))
		}
		last = name
	}
	if !batch {
		entries = append(entries, user(p.pick("That was the last one.", "That is everybody, thanks.")))
	}
	return append(entries, say(fmt.Sprintf("All %d logins are reset. The links are valid for %d minutes.", len(names), minutes))), 0
}

// meterReadingsTakenInTurn takes the reading of one flat after the other; some readings look wrong, and the customer confirms or corrects them.
func meterReadingsTakenInTurn(p *generator) (entries []entry, _ int) {
	d, what := p.desk(), p.pick("water", "electricity", "gas", "heating")
	house, day := fmt.Sprintf("B%04d", p.IntN(10_000)), p.day(1, 12)
	verbose := p.coin()
	w := wording{
		[]string{"I'll enter the first reading.", "Let me enter it."},
		[]string{"The next reading.", "Another flat.", ""},
		[]string{"Let me enter this one.", "I'll submit it.", "Entering the reading."},
	}
	for k := range p.between(6, 11) {
		meter, value := fmt.Sprintf("%s-%02d", house, k+1), p.between(200, 90_000)
		ask := fmt.Sprintf(p.pick("Flat %d: %d.", "Number %d has %d.", "Next is flat %d, the meter says %d.", "%d: %d"), k+1, value)
		if k == 0 {
			ask = fmt.Sprintf("I manage the house %s and have the %s readings of all flats. Flat 1 has %d.", house, what, value)
		}
		tool := "submit_meter_reading"
		entries = append(entries, user(ask))
		if p.IntN(5) == 0 {
			corrected := value + p.pickInt(-90, 90, 900, 0)
			entries = append(entries, d.refuse(tool, object("meter", meter, "type", what, "value", value, "date", day), fmt.Sprintf("implausible value %d for %s, set confirmed=true to accept", value, meter)).after(w.of(p, k)),
				say(fmt.Sprintf("For flat %d, %d is far from the last reading. Is it correct?", k+1, value)),
				user(map[bool]string{true: p.pick("Yes, it is. The flat was empty.", "Yes, that is right.", "I checked it, it is right."), false: fmt.Sprintf("Sorry, I misread it. It is %d.", corrected)}[corrected == value]),
				d.use(tool, object("meter", meter, "type", what, "value", corrected, "date", day, "confirmed", true), object("ok", true, "stored", true)), say(p.pick("Thank you, it is stored.", "Done.")))
			continue
		}
		entries = append(entries, d.use(tool, object("meter", meter, "type", what, "value", value, "date", day), object("ok", true, "stored", true)).after(w.of(p, k)))
		if verbose {
			entries = append(entries, say(fmt.Sprintf(p.pick("Stored %d for flat %d. What is the next one?", "%d for flat %d, thank you. Next, please."), value, k+1)))
			continue
		}
		entries = append(entries, say(p.pick("Thank you. Next?", "Stored. And the next flat?", "Noted, please go on.")))
	}
	return append(entries, user("That was all of them.")), 0
}
