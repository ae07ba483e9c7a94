package splice

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The lookalikes of this file are honest work of agents that keep accounts.

func financeLookalikes() []kind {
	return []kind{
		{name: "goal_seek_converges", build: goalSeekConverges},
		{name: "period_closed_by_entity", build: periodClosedByEntity},
		{name: "receipts_attached_to_lines", build: receiptsAttachedToLines},
		{name: "intercompany_pairs_eliminated", build: intercompanyPairsEliminated},
	}
}

// goalSeekConverges halves an interval for a rate in a cell until the value of another cell is near zero.
func goalSeekConverges(p *generator) (entries []entry, _ int) {
	sheet, input, output := p.pick("Model", "Lease", "Bond"), fmt.Sprintf("B%d", p.between(3, 9)), fmt.Sprintf("F%d", p.between(20, 48))
	root, slope := float64(p.between(310, 980))/10_000, float64(p.between(400, 2500))*1000
	low, high, value := 0.01, 0.12, 1e9
	for round := 0; value > 15 || value < -15; round++ {
		rate := (low + high) / 2
		value = slope * (root - rate) * (1 - 2*(rate-root))
		if value > 0 {
			low = rate
		} else {
			high = rate
		}
		entries = append(entries,
			call("update_cells", object("range", sheet+"!"+input, "values", [][]string{{fmt.Sprintf("%.6f", rate)}}), object("updatedRange", sheet+"!"+input, "updatedRows", 1, "updatedColumns", 1, "updatedCells", 1)).after(thought{next: fmt.Sprintf(p.pick("Set the rate to %.4f %%.", "Let me try %.4f %%.", "Next: %.4f %%."), 100*rate)}),
			call("get_cells", object("range", sheet+"!"+output), object("range", sheet+"!"+output, "majorDimension", "ROWS", "values", [][]string{{fmt.Sprintf("%.2f", value)}})).after(thought{next: p.pick("What is the present value now?", "Read the result.", "And the value?")}))
		if p.IntN(4) == 0 {
			entries = append(entries, say(fmt.Sprintf(p.pick("The value is %.2f, with a rate of %.4f %%.", "That gives %.2f at %.4f %%."), value, 100*rate)+p.pick("", " The interval is half as wide now.")))
		}
	}
	return entries, 0
}

// periodClosedByEntity closes the month of company after company by the same three steps, which have the same outcome nearly everywhere.
func periodClosedByEntity(p *generator) (entries []entry, _ int) {
	done, clock := "", p.passingTime()
	for _, entity := range p.shuffled("DE01", "FR01", "IT02", "ES01", "PL01", "NL03", "SE01", "AT01", "PT01")[:p.between(5, 9)] {
		warnings := []string{}
		if p.IntN(5) == 0 {
			warnings = append(warnings, fmt.Sprintf("%d goods receipts without an invoice, accrued", p.between(2, 9)))
		}
		entries = append(entries,
			call("run_depreciation", object("entity", entity, "period", "2026-05"), object("entity", entity, "period", "2026-05", "status", "posted", "run", fmt.Sprintf("DEP-%s-%04d", entity, p.IntN(1e4)))).after(p.nextItem(done, "the close of "+entity)),
			call("run_close_checks", object("entity", entity, "period", "2026-05"), object("entity", entity, "passed", true, "open_items", 0, "warnings", warnings)).after(thought{"Depreciation is posted.", p.pick("Now the checks.", "Run the checks.", "Check the period.")}),
			call("lock_period", object("entity", entity, "period", "2026-05"), object("entity", entity, "period", "2026-05", "locked", true, "locked_at", clock())).after(thought{"The checks pass.", p.pick("I can lock the period.", "Lock it.", "Locking "+entity+".")}))
		done = entity
	}
	return entries, 0
}

// receiptsAttachedToLines submits an expense report, which comes back for its receipts; line after line gets one, until it is accepted.
func receiptsAttachedToLines(p *generator) (entries []entry, _ int) {
	report, missing := fmt.Sprintf("EXP-%06d", p.IntN(1e6)), p.Perm(9)[:p.between(3, 5)]
	slices.Sort(missing)
	merchants := p.shuffled("Hotel Adria", "Taxi Kowalski", "Trattoria Nonna", "Rail Express", "Copy Point", "Sky Lounge")
	submit := func(lines []int) entry {
		if len(lines) == 0 {
			return call("submit_expense_report", object("report_id", report), object("report_id", report, "status", "submitted", "outcome", "accepted", "violations", []string{}))
		}
		violations := make([]json.RawMessage, len(lines))
		for k, line := range lines {
			violations[k] = object("line", line+1, "rule", "RECEIPT_REQUIRED", "message", "An itemised receipt must be attached to expenses over 25.00 EUR.")
		}
		return call("submit_expense_report", object("report_id", report), object("report_id", report, "status", "draft", "outcome", "returned", "violations", violations))
	}
	entries = append(entries, submit(missing).after(thought{next: p.pick("All lines are entered. I'll submit the report.", "Now submit the report.")}))
	for k, line := range missing {
		file := fmt.Sprintf("receipt_%d.pdf", p.between(10_000, 99_999))
		entries = append(entries,
			call("search_mail", object("query", merchants[k]+" receipt", "has_attachment", true), object("messages", []json.RawMessage{object("from", "billing@"+p.word()+".example", "subject", "Your receipt from "+merchants[k], "attachment", file)})).after(thought{fmt.Sprintf("Line %d has no receipt.", line+1), p.pick("It was "+merchants[k]+". Let me look into the mail.", "Let me find the one of "+merchants[k]+".")}),
			call("attach_receipt", object("report_id", report, "line", line+1, "file", file), object("report_id", report, "line", line+1, "receipt", file, "saved", true)).after(thought{"Here it is.", p.pick("I'll attach it.", "Attach "+file+".")}),
			submit(missing[k+1:]).after(thought{next: p.pick("Submit it again.", "What else is missing?", "Let me submit.")}))
	}
	return entries, 0
}

// intercompanyPairsEliminated eliminates the balances of pair after pair of companies; less is left each time.
func intercompanyPairsEliminated(p *generator) (entries []entry, _ int) {
	codes := p.shuffled("DE01", "FR01", "IT02", "ES01", "PL01", "NL03")
	pairs := [][2]string{{codes[0], codes[1]}, {codes[0], codes[2]}, {codes[1], codes[3]}, {codes[2], codes[4]}, {codes[3], codes[5]}, {codes[4], codes[5]}, {codes[1], codes[5]}}[:p.between(4, 7)]
	amounts, left := make([]int, len(pairs)), 0
	for k := range pairs {
		amounts[k] = p.between(10_000, 9_000_000)
		left += amounts[k]
	}
	done := ""
	for k, pair := range pairs {
		name := pair[0] + "/" + pair[1]
		left -= amounts[k]
		entries = append(entries,
			call("get_intercompany_balance", object("company", pair[0], "partner", pair[1], "period", "2026-Q2"), object("receivable", money(amounts[k]), "payable", money(amounts[k]), "difference", "0.00", "currency", "EUR")).after(p.nextItem(done, name)),
			call("post_elimination", object("company", pair[0], "partner", pair[1], "amount", money(amounts[k]), "period", "2026-Q2"), object("status", "posted", "document", fmt.Sprintf("ELIM-%05d", p.IntN(1e5)), "left_to_eliminate", money(left))).after(thought{"Both sides agree.", p.pick("Eliminate it.", "I'll post the elimination.", "Post "+money(amounts[k])+".")}))
		done = name
	}
	return entries, 0
}
