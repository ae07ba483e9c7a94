package splice

import "fmt"

// The look-alikes of this file were written before the meter was changed for those of later_lookalikes.go, to report on.

func freshLookalikes() []kind {
	return []kind{
		{name: "keys_rotated", build: keysRotated},
		{name: "invoices_entered", build: invoicesEntered},
		{name: "error_moves_on", build: errorMovesOn},
		{name: "yes_or_no", build: yesOrNo},
		{name: "chapters_checked", build: chaptersChecked},
		{name: "hosts_patched", build: hostsPatched},
		{name: "time_left", build: timeLeft},
		{name: "nobody_answers", build: nobodyAnswers},
		{name: "thresholds_tried", build: thresholdsTried},
		{name: "downloads_resumed", build: downloadsResumed},
	}
}

// keysRotated replaces key after key.
func keysRotated(p *generator) (entries []entry, _ int) {
	for range p.between(5, 9) {
		name := p.word() + "-" + p.word()
		entries = append(entries, p.shell("vault write -f transit/keys/"+name+"/rotate", "Success! Data written to: transit/keys/"+name+"/rotate", 0))
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

// errorMovesOn mends one place after another: the same kind of error stands further down each time.
func errorMovesOn(p *generator) (entries []entry, _ int) {
	path, line := p.path(), p.between(3, 20)
	for range p.between(4, 7) {
		entries = append(entries, p.edit(path), p.shell("cargo check", fmt.Sprintf("error[E0425]: cannot find value `%s_%s` in this scope\n --> %s:%d:%d\n\nerror: could not compile `app` (bin \"app\") due to 1 previous error", p.word(), p.word(), path, line, p.between(1, 60)), 101))
		line += p.between(4, 60)
	}
	return append(entries, p.edit(path), p.shell("cargo check", "    Finished `dev` profile [unoptimized + debuginfo] target(s)", 0)), 0
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

// hostsPatched brings host after host up to date.
func hostsPatched(p *generator) (entries []entry, _ int) {
	for k := range p.between(5, 9) {
		entries = append(entries, p.shell(fmt.Sprintf("ssh web%02d sudo apt-get -y upgrade", k+1), "Reading package lists... Done\nBuilding dependency tree... Done\nCalculating upgrade... Done\n0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.", 0))
	}
	return entries, 0
}

// timeLeft looks at a backup of which less is left each time.
func timeLeft(p *generator) (entries []entry, _ int) {
	id, left := p.uuid(), p.between(400, 900)
	for range p.between(5, 9) {
		entries = append(entries, call("backup_status", object("id", id), object("id", id, "state", "running", "message", fmt.Sprintf("about %d minutes left, please wait", left), "checked_at", p.clock())))
		left -= p.between(20, 60)
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

// thresholdsTried measures under one threshold after the other.
func thresholdsTried(p *generator) (entries []entry, _ int) {
	model := p.word()
	for k := range p.between(5, 9) {
		entries = append(entries, p.shell(fmt.Sprintf("python evaluate.py --model %s --threshold 0.%d", model, 20+7*k), fmt.Sprintf("model %s\nprecision 0.%03d recall 0.%03d f1 0.%03d", model, p.IntN(1000), p.IntN(1000), p.IntN(1000)), 0))
	}
	return entries, 0
}

// downloadsResumed fetches file after file; some connections break once or twice.
func downloadsResumed(p *generator) (entries []entry, _ int) {
	for range p.between(3, 4) {
		file := p.word() + "-" + p.word() + ".tar"
		for range p.IntN(3) {
			entries = append(entries, p.shell("curl -C - -O https://data.example/"+file, "curl: (56) Recv failure: Connection reset by peer", 56))
		}
		entries = append(entries, p.shell("curl -C - -O https://data.example/"+file, fmt.Sprintf("100 %dM  100 %dM", p.between(100, 900), p.between(100, 900)), 0))
	}
	return entries, 0
}
