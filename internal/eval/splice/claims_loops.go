package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of customer service agents whose tools follow rules.

func claimsLoops() []kind {
	return []kind{
		{name: "whole_booking_resent_for_one_leg", build: wholeBookingResentForOneLeg},
		{name: "tickets_opened_instead_of_answer", build: ticketsOpenedInsteadOfAnswer},
		{name: "verified_customer_not_recognised", build: verifiedCustomerNotRecognised},
		{name: "ambiguous_match_not_resolved", build: ambiguousMatchNotResolved},
	}
}

// desk is the place of a service agent. A stretch has one way to name the tools and to wrap their results.
type desk struct {
	*generator
	form int
}

func (p *generator) desk() desk { return desk{p, p.IntN(4)} }

func (d desk) tool(name string) string {
	return []string{name, name, "mcp__crm__" + name, "support." + name}[d.form]
}

// use returns a call that brings a result.
func (d desk) use(tool string, args, result json.RawMessage) entry {
	switch d.form {
	case 1:
		result = quoted(string(result))
	case 2:
		result = content(string(result))
	}
	return call(d.tool(tool), args, result)
}

// refuse returns a call that a rule refuses.
func (d desk) refuse(tool string, args json.RawMessage, reason string) entry {
	switch d.form {
	case 0:
		return call(d.tool(tool), args, quoted("Error: "+reason))
	case 3:
		return call(d.tool(tool), args, object("ok", false, "error", reason, "request_id", d.uuid()))
	}
	return failed(d.tool(tool), args, "Error: "+reason)
}

// day returns a date in some months of 2026, from the first to the last.
func (p *generator) day(first, last int) string {
	return fmt.Sprintf("2026-%02d-%02d", p.between(first, last), p.between(1, 28))
}

// wholeBookingResentForOneLeg sends all legs of a booking again to change the last; the first is over, and one error refuses each.
func wholeBookingResentForOneLeg(p *generator) (entries []entry, _ int) {
	d, booking := p.desk(), fmt.Sprintf("%c%c%04X", 'A'+p.IntN(26), 'A'+p.IntN(26), p.IntN(1<<16))
	what, number := p.pick("flight", "train", "ferry"), p.pick("HAT", "ICE", "QX", "NV")
	leg := func() string { return fmt.Sprintf("%s%03d", number, p.between(2, 999)) }
	legs, gone := []string{leg(), leg(), leg()}[:p.between(2, 3)], p.day(1, 5)
	wanted := leg()
	reason := fmt.Sprintf(p.pick("%s %s not available on date %s", "segment 1 (%[2]s, %[3]s) has already been used and cannot be changed", "%s %s on %s is closed for changes"), what, legs[0], gone)
	from, to, _ := strings.Cut(p.pick("Hamburg:Munich", "Lisbon:Madrid", "Dublin:Holyhead", "Oslo:Copenhagen"), ":")
	w := wording{
		[]string{"I will change the last leg of your booking to " + wanted + " now."},
		[]string{"I apologize for the confusion.", "Thank you for clarifying.", "I understand.", "Understood, only the last leg."},
		[]string{"Let me make the change to " + wanted + " now.", "Let's proceed with the change of the last leg.", "I'll update your booking accordingly.", "I will try the update again."},
	}
	issues := []string{
		"It seems there is an issue with " + what + " " + legs[0] + " on " + gone + ". Would you like me to look for another one on that route?",
		"Unfortunately the update did not go through, since " + legs[0] + " is not available on " + gone + ". Shall we choose another date for it?",
		"There is still a problem with " + legs[0] + " on " + gone + ". As it is a part of your booking, we need to settle it first. How would you like to go on?",
		"The system does not accept the change because of " + legs[0] + ". Would you prefer a different " + what + " on " + gone + "?",
	}
	wishes := []string{
		"No, that part of the trip is over. I only want the last leg changed to " + wanted + ".", "I don't want to change " + legs[0] + ". It is about the last leg.", "I think there is a misunderstanding. Please just put me on " + wanted + ".",
		"Can we focus on the last leg, please?", "I have already travelled on " + legs[0] + ". Why do you ask about it?", "Please only change the last part of my trip, nothing else.",
	}
	entries = append(entries, user(p.pick("Hi, p", "Hello, could you p", "P")+"lease change the last leg of booking "+booking+" to "+wanted+"."))
	last, cabin, card := p.day(6, 12), p.pick("economy", "business"), fmt.Sprintf("credit_card_%d", p.between(1000, 9999))
	for k := range p.pickInt(3, 4, 5, 5, 6, 7) {
		var sent []json.RawMessage
		for n, number := range append(append([]string(nil), legs...), wanted) {
			date := last
			if n == 0 {
				date = gone
			}
			sent = append(sent, object(what+"_number", number, "date", date))
		}
		args := object("reservation_id", booking, what+"s", sent, "cabin", cabin)
		if p.coin() {
			args = object("reservation_id", booking, "cabin", cabin, what+"s", sent, "payment_id", card)
		}
		entries = append(entries, d.refuse("update_reservation_"+what+"s", args, reason).after(w.of(p, k)))
		if k > 0 && p.IntN(3) == 0 {
			entries = append(entries, d.use("search_direct_"+what, object("origin", from, "destination", to, "date", gone), json.RawMessage("[]")))
		}
		entries = append(entries, say(p.pick(issues...)), user(p.pick(wishes...)))
	}
	return entries, 4
}

// ticketsOpenedInsteadOfAnswer opens another ticket whenever the customer asks what has become of the matter.
func ticketsOpenedInsteadOfAnswer(p *generator) (entries []entry, _ int) {
	d, number := p.desk(), p.between(10_000, 90_000)
	matter := p.pick("the refund of my cancelled order", "the wrong meter reading on my bill", "my parcel that is marked as delivered", "the deposit for the rental car", "my blocked account", "the missing part of the wardrobe")
	about := strings.NewReplacer("my ", "the ").Replace(matter)
	subjects := p.shuffled("Customer asks about %s", "Request: %s", "Follow-up on %s", "%s not solved", "Escalation: %s", "Status of %s wanted", "Complaint about %s", "Urgent: %s")
	promises := []string{
		"I have opened ticket %s for you. Our team will contact you within 24 hours.", "Your request is registered under %s. A colleague will be in touch shortly.", "I've created the case %s with high priority. You will hear from us soon.",
		"Thank you for your patience. I have forwarded this to the team in charge, the reference is %s.", "I'm sorry for the trouble. %s is now open, and we will get back to you.",
	}
	replies := []string{
		"That is what you told me before. What is the status?", "I have several tickets by now. Can you just look into it?", "Nobody has contacted me. What happens with %s?", "Another number? Please tell me what is going on.",
		"I don't need a new ticket, I need an answer.", "Again: what about %s?", "And when will somebody look at it? I have been waiting for days.",
	}
	fill := func(text, with string) string {
		if strings.Contains(text, "%s") {
			return fmt.Sprintf(text, with)
		}
		return text
	}
	w := wording{
		[]string{"I'll create a ticket for this.", "Let me register your request."},
		[]string{"The customer asks for the status.", "The customer is not satisfied.", "I understand the frustration.", ""},
		[]string{"Let me open a ticket with a higher priority.", "I'll create a new case for it.", "Let me escalate this by a ticket.", "I will forward it again."},
	}
	entries = append(entries, user(p.pick("Hello, I'd like to know what has become of ", "Hi. I am calling about ", "Good evening, it is about ")+matter+"."))
	tool, prefix, now := p.pick("create_ticket", "open_case", "create_support_ticket"), p.pick("CS", "SUP", "CASE"), p.passingTime()
	for k := range p.pickInt(3, 4, 5, 6, 6, 7, 8) {
		number += p.between(1, 40)
		id := fmt.Sprintf("%s-%d", prefix, number)
		args := object("subject", capitalized(fmt.Sprintf(subjects[k%len(subjects)], about)), "description", capitalized(p.pick("The customer wants to know the state of ", "Please check ", "The customer has asked again about ")+about+"."), "priority", p.pick("normal", "high", "urgent"))
		entries = append(entries, d.use(tool, args, object("ticket_id", id, "status", "open", "queue", "second-level", "created_at", now())).after(w.of(p, k)),
			say(fmt.Sprintf(p.pick(promises...), id)), user(fill(p.pick(replies...), matter)))
	}
	return entries, 4
}

// verifiedCustomerNotRecognised verifies the identity of a customer with success, and the next tool demands that it be verified.
func verifiedCustomerNotRecognised(p *generator) (entries []entry, _ int) {
	d, customer := p.desk(), fmt.Sprintf("C%07d", p.IntN(10_000_000))
	born, code := fmt.Sprintf("%d-%02d-%02d", p.between(1950, 2004), p.between(1, 12), p.between(1, 28)), p.between(1000, 9999)
	act := []struct{ wish, tool, member, value string }{
		{"change my phone number", "update_phone_number", "phone", fmt.Sprintf("+44 20 7946 0%d", p.between(100, 999))},
		{"get a new card", "replace_card", "reason", "lost"},
		{"close my account", "close_account", "effective", p.day(7, 12)},
		{"raise the limit of my card", "set_card_limit", "limit", fmt.Sprint(1000 * p.between(2, 9))},
		{"change my delivery address", "update_address", "address", fmt.Sprintf("%d %s Street", p.between(1, 90), capitalized(p.word()))},
	}[p.IntN(5)]
	now, verify := p.passingTime(), p.pick("verify_identity", "authenticate_customer", "verify_customer")
	reason := p.pick("verification_required: the customer has not been verified in this session", "403 STEP_UP_REQUIRED (current level 0, required level 2)", "identity of "+customer+" is not verified, call "+verify+" first", "permission denied: unverified customer")
	w := wording{
		[]string{"First I verify the customer.", "I need to verify your identity first."},
		[]string{"The verification was required again.", "It says that the customer is not verified.", "The session may have been lost.", "That is strange, the verification was successful.", ""},
		[]string{"Let me verify the customer again.", "I'll repeat the verification and then make the change.", "Let me authenticate once more.", "One moment, I'll run the check again."},
	}
	entries = append(entries, user(p.pick("I want to ", "Please help me, I'd like to ", "Hello! I need to ")+act.wish+fmt.Sprintf(". My customer number is %s, born %s, the code is %d.", customer, born, code)))
	for k := range p.repeats() {
		checked := object("verified", true, "customer_id", customer, "level", 2, "verification_id", p.uuid(), "verified_at", now())
		args := object("customer_id", customer, "date_of_birth", born, "code", fmt.Sprint(code))
		if k > 0 && p.coin() {
			args = object("customer_id", customer, "method", p.pick("date_of_birth", "code", "security_question"), "date_of_birth", born)
		}
		action := object("customer_id", customer, act.member, act.value)
		if k > 0 && p.coin() {
			action = object("customer_id", customer, act.member, act.value, p.pick("verified", "confirmed", "force"), true)
		}
		entries = append(entries, d.use(verify, args, checked).after(w.of(p, k)), d.refuse(act.tool, action, reason).after(thought{p.pick("The customer is verified.", ""), p.pick("Now I can make the change.", "Let me make the change.", "")}))
		if k > 0 && p.IntN(6) == 0 {
			entries = append(entries, user(p.pick("Is it done?", "How long does this take?", "Are you still there?")), say(p.pick("One moment please, I am working on it.", "I am verifying your data, please bear with me.", "Almost done, thank you for waiting.")))
		}
	}
	return entries, 3
}

// ambiguousMatchNotResolved calls a tool by a name that fits two things; the tool asks for one of two ids, and the agent sends other names.
func ambiguousMatchNotResolved(p *generator) (entries []entry, _ int) {
	d, first, second := p.desk(), p.between(1000, 5000), p.between(5001, 9999)
	of := []struct{ wish, tool, member, id, name, here, there string }{
		{"cancel the Premium plan of my studio", "cancel_subscription", "plan", "SUB", "Premium", "Home", "Studio"},
		{"freeze the gym contract of my daughter", "freeze_contract", "contract", "CTR", "Fitness Flex", "Anna", "Mia"},
		{"move the appointment for the winter tyres", "reschedule_appointment", "appointment", "APT", "Tyre change", "summer", "winter"},
		{"return the second pair of shoes", "create_return", "item", "ITM", "Trail Runner", "size 41", "size 43"},
		{"end the insurance of my old car", "terminate_policy", "policy", "POL", "Car Basic", "plate B-XK 12", "plate B-LM 77"},
	}[p.IntN(5)]
	name := strings.ToLower(of.name)
	spellings := []string{
		of.name, name, of.name + " " + of.there, of.name + " (" + of.there + ")", of.there + " " + of.name, of.name + ", " + of.there, "the " + name + " for " + of.there, name + "_" + strings.ReplaceAll(strings.ToLower(of.there), " ", "_"), strings.ToUpper(of.name), of.there, of.name + " - " + of.there, "second " + of.name,
	}
	w := wording{
		[]string{"I'll do that for you.", "Let me take care of it."},
		[]string{"There is more than one match.", "The name was not specific enough.", "It still matches two of them.", "The tool needs a clearer name.", ""},
		[]string{"Let me use the full name.", "I'll be more specific.", "Let me try it with " + of.there + " in the name.", "Let me write it in another way.", "I'll try another spelling."},
	}
	customer := fmt.Sprintf("cus_%06x", p.IntN(1<<24))
	entries = append(entries, user(p.pick("Please ", "Hi, can you ", "I'd like you to ")+of.wish+"."))
	for k := range p.repeats() {
		args := object("customer_id", customer, of.member, p.pick(spellings...))
		if p.IntN(3) == 0 {
			args = object("customer_id", customer, of.member, p.pick(spellings...), "reason", p.pick("customer request", "requested by customer", "no longer needed"))
		}
		candidates := []string{fmt.Sprintf("%s-%d (%s, %s)", of.id, first, of.name, of.here), fmt.Sprintf("%s-%d (%s, %s)", of.id, second, of.name, of.there)}
		entries = append(entries, d.refuse(of.tool, args, "2 matches: "+strings.Join(p.shuffled(candidates...), "; ")+". Pass "+of.member+"_id.").after(w.of(p, k)))
	}
	return entries, 2
}
