package splice

import (
	"encoding/json"
	"fmt"
)

// The loops of this file are those of agents that keep accounts, by the tools of an accounting system.

func financeLoops() []kind {
	return []kind{
		{name: "journal_posted_and_reversed", build: journalPostedAndReversed},
		{name: "bank_feed_brings_nothing", build: bankFeedBringsNothing},
		{name: "report_returned_to_draft", build: reportReturnedToDraft},
		{name: "own_approval_not_counted", build: ownApprovalNotCounted},
	}
}

// money returns an amount of cents with two decimals.
func money(cents int) string {
	if cents < 0 {
		return "-" + money(-cents)
	}
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}

// journalPostedAndReversed posts an entry on the wrong side, which doubles a difference, reverses it, and posts it again.
func journalPostedAndReversed(p *generator) (entries []entry, _ int) {
	account, number, gap := p.pick("1200", "1000", "1810"), p.between(200, 8000), p.between(1500, 90_000)
	statement, clock := p.between(2_000_000, 90_000_000), p.passingTime()
	balance := func(difference int) entry {
		return call("get_bank_reconciliation", object("account", account, "period", "2026-05"), object("account", account, "period", "2026-05", "ledger_balance", money(statement+difference), "statement_balance", money(statement), "difference", money(difference), "status", "unreconciled", "as_of", clock()))
	}
	words := wording{
		first: []string{"The ledger is off by " + money(gap) + ". I'll post an adjusting entry.", "I'll correct the difference with a journal entry."},
		seen:  []string{"We are back at " + money(gap) + ".", "The old difference is there again.", "The difference of " + money(gap) + " remains.", "Still unreconciled."},
		next:  []string{"Let me post the adjustment.", "I'll book the difference against another account.", "Let me post the entry again.", "An adjusting entry should clear it.", "I'll post it to the right offset account."},
	}
	for round := range p.between(3, 4) {
		document := fmt.Sprintf("JE-2026-%05d", number)
		number += p.between(1, 4)
		offset := p.pick("6855 Bank charges", "1999 Suspense", "4905 Rounding", "3790 Clearing")
		lines := []json.RawMessage{object("account", account, "debit", money(gap)), object("account", offset[:4], "credit", money(gap))}
		entries = append(entries,
			call("post_journal_entry", object("date", "2026-05-31", "memo", p.pick("Adjustment ", "Reconciliation difference ", "Correction ")+offset[5:], "lines", lines), object("document", document, "status", "posted", "posted_at", clock())).after(words.of(p, round)),
			balance(2*gap).after(thought{next: p.pick("Let me look at the reconciliation.", "Is it balanced now?", "Check the difference.")}),
			call("reverse_journal_entry", object("document", document, "reason", p.pick("wrong entry", "difference increased", "reversal of adjustment")), object("document", fmt.Sprintf("JE-2026-%05d", number), "reverses", document, "status", "posted", "posted_at", clock())).after(thought{p.pick("The difference has doubled.", "That made it "+money(2*gap)+"."), p.pick("I'll reverse the entry.", "Let me undo it.")}),
			balance(gap).after(thought{next: p.pick("And the reconciliation now?", "Let me see where that leaves us.", "Check again.")}))
		number += p.between(1, 4)
	}
	return entries, 4
}

// bankFeedBringsNothing synchronises a bank account over other ranges of dates; the consent for it has expired, as each answer says.
func bankFeedBringsNothing(p *generator) (entries []entry, _ int) {
	connection, account := fmt.Sprintf("conn_%08x", p.Uint32()), "NL"+fmt.Sprint(p.between(10, 99))+"BANK0"+fmt.Sprint(p.between(100_000_000, 999_999_999))
	clock, last := p.passingTime(), fmt.Sprintf("2026-05-%02dT05:00:12Z", p.between(2, 28))
	words := wording{
		first: []string{"The transactions of the last week are missing. I'll sync the feed.", "Let me import the latest bank transactions."},
		seen:  []string{"There are no new transactions.", "Nothing was imported.", "The list is still empty.", "The sync ran but brought nothing.", "Zero transactions."},
		next:  []string{"Let me sync again.", "I'll widen the range of dates.", "Let me run a full sync.", "I'll trigger the import once more.", "Maybe an earlier start date helps.", "Let me refresh the feed again."},
	}
	for round := range p.between(4, 6) {
		from := fmt.Sprintf("2026-%02d-01", p.between(3, 6))
		entries = append(entries,
			call("sync_bank_feed", object("connection_id", connection, "from", from, "full", p.coin()), object("job_id", "sync_"+fmt.Sprintf("%012x", p.Uint64N(1<<48)), "state", "completed", "imported", 0, "duplicates", 0, "connection_state", "reauthorization_required", "finished_at", clock())).after(words.of(p, round)),
			call("list_bank_transactions", object("account", account, "from", from, "reconciled", false), object("transactions", []string{}, "total", 0, "last_imported_at", last, "connection_state", "reauthorization_required")).after(thought{next: p.pick("Now list the transactions.", "Let me see what came in.", "Are they there?", "Let me look at the account.")}))
	}
	return entries, 2
}

// reportReturnedToDraft submits an expense report; it comes back for a receipt, and the agent rewrites the comment of the line instead.
func reportReturnedToDraft(p *generator) (entries []entry, _ int) {
	report, line, amount := fmt.Sprintf("EXP-%06d", p.IntN(1e6)), p.between(2, 9), p.between(2600, 48_000)
	what, merchant, revision := p.pick("Hotel", "Dinner with client", "Taxi to the airport", "Conference fee"), capitalized(p.word())+p.pick(" GmbH", " Ltd", " Inc.", " BV"), p.between(1, 3)
	submit := func() entry {
		revision++
		violation := object("line", line, "rule", "RECEIPT_REQUIRED", "severity", "blocking", "message", "An itemised receipt must be attached to expenses over 25.00 EUR.")
		return call("submit_expense_report", object("report_id", report), object("report_id", report, "status", "draft", "outcome", "returned", "revision", revision, "violations", []json.RawMessage{violation}, "attachments", 0))
	}
	words := wording{
		first: []string{"Line " + fmt.Sprint(line) + " violates a rule. I'll add a comment.", "The report was returned. Let me give more detail in that line."},
		seen:  []string{"It was returned again.", "The report is in draft again.", "The same line is rejected.", "The policy check still fails."},
		next:  []string{"I'll explain the expense better.", "Let me rewrite the justification.", "I'll make the comment more specific.", "Let me add the business purpose.", "I'll mention the merchant in the comment.", "Let me set another category and comment."},
	}
	entries = append(entries, submit().after(thought{next: p.pick("All lines are entered. I'll submit the report.", "Now submit the report.")}))
	for round := range p.between(4, 6) {
		comment := p.pick(what+", "+money(amount)+" EUR, paid by card.", what+" at "+merchant+" during the trip to the customer.", "Business expense: "+what+". The receipt was seen by the employee.", "Necessary expense for the project "+capitalized(p.word())+".", "Receipt available on request. "+what+" at "+merchant+".", "Justification: "+what+" for the visit at "+capitalized(p.word())+".")
		entries = append(entries,
			call("update_expense_line", object("report_id", report, "line", line, "comment", comment, "category", p.pick("travel", "travel", "meals", "other")), object("report_id", report, "line", line, "amount", money(amount), "currency", "EUR", "receipt", nil, "saved", true)).after(words.of(p, round)),
			submit().after(thought{next: p.pick("Submit it again.", "Now it should pass.", "Resubmitting the report.", "Let me submit.")}))
	}
	return entries, 2
}

// ownApprovalNotCounted approves a payment run that waits for a second person; the agent is the first one each time.
func ownApprovalNotCounted(p *generator) (entries []entry, _ int) {
	run, total, payments, clock := fmt.Sprintf("PR-2026-%04d", p.between(100, 999)), p.between(500_000, 20_000_000), p.between(4, 90), p.passingTime()
	args := object("payment_run", run)
	words := wording{
		first: []string{"The payment run is complete. I'll approve it.", "Let me approve the payments."},
		seen:  []string{"It is still waiting for approval.", "The run has not been released.", "One approval is missing.", "The state has not changed."},
		next:  []string{"I'll approve it.", "Let me approve the run again.", "Let me add the approval with a comment.", "I'll give the second approval.", "Another approval is needed, so I approve."},
	}
	for round := range p.between(3, 6) {
		entries = append(entries,
			call("approve_payment_run", object("payment_run", run, "comment", p.pick("", "Checked and approved", "Second approval", "Approved, please release")), object("payment_run", run, "accepted", true, "approved_by", []string{"svc-ap-agent"}, "approvals", "1 of 2", "recorded_at", clock())).after(words.of(p, round)),
			call("get_payment_run", args, object("payment_run", run, "state", "AWAITING_SECOND_APPROVER", "payments", payments, "total", money(total), "currency", "EUR", "approved_by", []string{"svc-ap-agent"}, "eligible_approvers", []string{"cfo", "head-of-treasury"}, "read_at", clock())).after(thought{next: p.pick("Is the run released now?", "Let me look at the run.", "Check the state.")}))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, failed("release_payment_run", args, "FORBIDDEN_TRANSITION: "+run+" cannot be released in state AWAITING_SECOND_APPROVER. A second approver other than svc-ap-agent must approve it.").after(thought{next: p.pick("Let me release it.", "Perhaps I can release it directly.")}))
		}
	}
	return entries, 2
}
