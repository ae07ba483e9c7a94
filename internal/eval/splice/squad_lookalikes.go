package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of several agents: messages of one form, each of which has something that the others
// did not have.

func squadLookalikes() []kind {
	return []kind{
		{name: "interface_agreed_field_by_field", build: interfaceAgreedFieldByField},
		{name: "code_block_gets_further", build: codeBlockGetsFurther},
		{name: "register_paged_for_orchestrator", build: registerPagedForOrchestrator},
		{name: "progress_ledger_moves_on", build: progressLedgerMovesOn},
	}
}

// interfaceAgreedFieldByField is a talk in which two agents agree on one member of an interface after the other; the schema grows.
func interfaceAgreedFieldByField(p *generator) (entries []entry, _ int) {
	first, second := p.pick("planner", "architect", "backend_dev"), p.pick("coder", "frontend_dev", "reviewer")
	kinds, schema, whole := []string{"string", "integer", "boolean", "string (date)", "array of string", "number"}, "", p.coin()
	for k, name := range p.distinctWords(p.between(6, 9)) {
		of := p.pick(kinds...)
		offer := fmt.Sprintf(p.pick("Next, `%s`: I suggest %s, because the %s needs it.", "What about `%s`? It could be %s, as in the %s.", "For `%s` I propose %s. The %s reads it."), name, of, p.word())
		answer := p.pick("Agreed", "Fine with me", "Yes", "OK")
		if p.IntN(3) == 0 {
			of = p.pick(kinds...) + ", optional"
			answer = "I'd rather have " + of + " here, since the " + p.word() + " may not know it"
		}
		line := fmt.Sprintf("  %s: %s", name, of)
		schema += line + "\n"
		if answer += ". "; whole {
			answer += "The schema is now:\n```\n" + schema + "```"
		} else {
			answer += fmt.Sprintf("I added `%s`, it is number %d of the list.", strings.TrimSpace(line), k+1)
		}
		entries = append(entries, say(offer).by(first), say(answer).by(second))
	}
	return entries, 0
}

// codeBlockGetsFurther posts a program again with one line mended after each failure, and each time it gets one line further.
func codeBlockGetsFurther(p *generator) (entries []entry, _ int) {
	coder, run, names := p.pick("coder", "assistant", "Python_Expert", "engineer"), p.executed(), p.distinctWords(p.between(5, 7))
	var first, mended []string
	for _, name := range names {
		column := p.word()
		first = append(first, fmt.Sprintf("%s = load('%s').groupby('%s').sum()", name, name, column))
		mended = append(mended, fmt.Sprintf(p.pick("%s = load('%s').rename(columns=str.lower).groupby('%s').sum()", "%s = load('%s').dropna().groupby('%s').sum()", "%s = load('%s').astype(str).groupby('%s').size()"), name, name, column))
	}
	output := ""
	for k := range len(names) + 1 {
		code := "import pandas as pd\nfrom source import load\n\n"
		for n, name := range names {
			line := first[n]
			if n < k {
				line = mended[n]
			}
			code += line + "\nprint('" + name + "', len(" + name + "))\n"
		}
		lead := p.pick("I see the issue. Here is the corrected code:", "That part works now. Here's the updated version:", "Let me fix that. Please run this:", "The next step failed, so I changed it:")
		if k == 0 {
			lead = "Please run this code:"
		} else {
			output += fmt.Sprintf("%s %d\n", names[k-1], p.between(10, 90_000))
		}
		entries = append(entries, say(lead+"\n\n```python\n"+code+"```").by(coder))
		if k == len(names) {
			return append(entries, run(0, strings.TrimSpace(output))), 0
		}
		reason := fmt.Sprintf(p.pick("KeyError: '%s'", "ValueError: cannot convert '%s' to float", "AttributeError: 'Series' object has no attribute '%s'"), p.word())
		entries = append(entries, run(1, fmt.Sprintf("%sTraceback (most recent call last):\n  File \"/tmp/tmp%06x/code.py\", line %d, in <module>\n%s", output, p.IntN(1<<24), 4+2*k, reason)))
	}
	return entries, 0
}

// registerPagedForOrchestrator reads a long file page by page for an orchestrator that asks for the next page each time.
func registerPagedForOrchestrator(p *generator) (entries []entry, _ int) {
	lead, worker, file := p.pick("Orchestrator", "Manager", "supervisor"), p.pick("FileSurfer", "reader", "archivist"), p.word()+"_"+p.word()
	pages, from := p.between(9, 40), p.between(1, 3)
	for k := range p.between(5, 9) {
		ask := p.pick("Please scroll down one page in the register and report the entries.", "Continue with the next page of `"+file+".pdf`.", "Please read the next page and list what it has.", "Next page, please. We need all entries.")
		text := fmt.Sprintf("Address: file:///workspace/%s.pdf\nViewport position: Showing page %d of %d.\n=======================", file, from+k, pages)
		for range p.between(3, 6) {
			text += fmt.Sprintf("\n%d. %s %s, %s, %d.%02d", p.between(100, 999), p.person(), capitalized(p.word()), p.phrase(2, 4), p.between(10, 999), p.IntN(100))
		}
		done := thought{"", p.pick("This is for "+worker+".", "Next speaker: "+worker+".")}
		if k > 0 {
			done.seen = p.pick("The entries of this page are noted.", fmt.Sprintf("Page %d is read.", from+k-1), "There are more pages.")
		}
		entries = append(entries, entry{Kind: "handoff", Agent: lead, From: lead, To: worker}.after(done), say(ask).by(lead), say(text).by(worker))
	}
	return entries, 0
}

// progressLedgerMovesOn writes the same ledger of progress before each step, and each step brings another part of the answer.
func progressLedgerMovesOn(p *generator) (entries []entry, _ int) {
	lead, helpers := p.pick("Orchestrator", "MagenticOneOrchestrator"), []string{"WebSurfer", "FileSurfer", "Coder", "Assistant"}
	what, places := p.pick("population", "elevation", "annual rainfall", "rent index", "number of pupils"), p.distinctWords(p.between(5, 8))
	ending := p.pick("ford", "ham", "burg", "ville", "ton")
	known := 0
	answer := func(reason string, yes bool) json.RawMessage { return object("reason", reason, "answer", yes) }
	for _, place := range places {
		place += ending
		helper := p.pick(helpers...)
		ledger := object(
			"is_request_satisfied", answer(fmt.Sprintf("The %s of %d of %d places is known.", what, known, len(places)), false),
			"is_in_loop", answer("Each step concerns another place.", false),
			"is_progress_being_made", answer(p.pick("The last step gave a figure.", "We go on through the list.", "The team makes progress."), true),
			"next_speaker", object("reason", p.pick("It can look this up.", "It has the tools for this."), "answer", helper),
			"instruction_or_question", object("reason", "The next place of the list.", "answer", "Please find the "+what+" of "+capitalized(place)+"."))
		known++
		found := fmt.Sprintf(p.pick("The %s of %s is %d.%d, according to %s.", "I found it: %s of %s = %d.%d (source: %s).", "For the %s of %s the page says %d.%d, see %s."), what, capitalized(place), p.between(3, 900), p.IntN(10), p.word()+".example/"+place)
		entries = append(entries, say(string(ledger)).by(lead), say(found).by(helper))
	}
	return entries, 0
}
