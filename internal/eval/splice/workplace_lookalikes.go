package splice

import (
	"fmt"
)

// The lookalikes of this file are honest work of agents that work in documents, browsers, workshops and games.

func workplaceLookalikes() []kind {
	return []kind{
		{name: "paragraphs_appended", build: paragraphsAppended},
		{name: "password_rules_met", build: passwordRulesMet},
		{name: "axes_calibrated", build: axesCalibrated},
		{name: "turns_ended", build: turnsEnded},
		{name: "shelves_counted", build: shelvesCounted},
	}
}

// paragraphsAppended writes paragraph after paragraph of a document, and each is acknowledged by the same empty reply.
func paragraphsAppended(p *generator) (entries []entry, _ int) {
	id := "1" + fmt.Sprintf("%016x", p.Uint64())
	for range p.between(5, 9) {
		entries = append(entries, call("docs_append_text", object("document_id", id, "text", p.phrase(15, 40)+".\n\n"), object("documentId", id, "replies", []string{})))
	}
	return entries, 0
}

// passwordRulesMet sets a password; one rule after the other is named and met.
func passwordRulesMet(p *generator) (entries []entry, _ int) {
	word, digits := p.word(), fmt.Sprint(p.between(100, 999))
	tries := [][2]string{
		{word, "Password must have at least 12 characters."},
		{word + p.word() + "xyz", "Password must contain an upper case letter."},
		{"Q" + word + p.word() + "xyz", "Password must contain a digit."},
		{"Q" + word + p.word() + digits, "Password must contain a special character."},
		{"Q" + word + "-" + p.word() + digits, "Password changed."},
	}
	for _, try := range tries {
		entries = append(entries, call("browser_fill_form", object("field", "New password", "value", try[0], "submit", true), quoted("Page: Change password\nalert: "+try[1])))
	}
	return entries, 0
}

// axesCalibrated calibrates a machine; the error gets smaller with each pass.
func axesCalibrated(p *generator) (entries []entry, _ int) {
	for _, axis := range []string{"x", "y", "z"} {
		off := p.between(900, 4000)
		for off > 60 {
			entries = append(entries, call("calibrate_axis", object("axis", axis, "feed", 600), object("axis", axis, "error_um", off, "ok", off < 100)))
			off /= p.between(2, 4)
		}
	}
	return entries, 0
}

// turnsEnded ends turn after turn of a game, while a city builds.
func turnsEnded(p *generator) (entries []entry, _ int) {
	turn, gold, left := p.between(20, 90), p.between(50, 300), p.between(6, 9)
	for ; left >= 0; left-- {
		gold += p.between(4, 9)
		entries = append(entries, call("end_turn", object(), object("turn", turn, "gold", gold, "building", "granary", "turns_left", left)))
		turn++
	}
	return entries, 0
}

// shelvesCounted asks for the stock of place after place; most are empty.
func shelvesCounted(p *generator) (entries []entry, _ int) {
	sku := fmt.Sprintf("SKU-%05d", p.IntN(100_000))
	for aisle := range p.between(7, 12) {
		place, count := fmt.Sprintf("A%02d-%d", aisle+1, p.between(1, 6)), 0
		if p.IntN(4) == 0 {
			count = p.between(1, 40)
		}
		entries = append(entries, call("query_stock", object("sku", sku, "location", place), object("on_hand", count, "reserved", 0)))
	}
	return entries, 0
}
