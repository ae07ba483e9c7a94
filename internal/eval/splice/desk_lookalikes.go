package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are honest work of agents that deal with queues, people, mail, robots and games.

func deskLookalikes() []kind {
	return []kind{
		{name: "queue_drained", build: queueDrained},
		{name: "dates_changed_by_user", build: datesChangedByUser},
		{name: "robot_crosses_room", build: robotCrossesRoom},
		{name: "shards_in_parallel", build: shardsInParallel},
		{name: "days_backfilled", build: daysBackfilled},
		{name: "guests_invited", build: guestsInvited},
		{name: "transfer_in_percent", build: transferInPercent},
		{name: "word_guessed", build: wordGuessed},
		{name: "wizard_pages", build: wizardPages},
	}
}

// queueDrained takes message after message from a queue and deletes it.
func queueDrained(p *generator) (entries []entry, _ int) {
	queue := "https://sqs.eu-west-1.example/" + p.word()
	for range p.between(4, 7) {
		receipt := p.uuid()
		entries = append(entries,
			call("sqs_receive_message", object("queue_url", queue, "max_number", 1), object("message_id", p.uuid(), "receipt_handle", receipt, "body", `{"type":"`+p.word()+`.created","id":`+fmt.Sprint(p.between(1000, 99999))+`}`)),
			call("sqs_delete_message", object("queue_url", queue, "receipt_handle", receipt), object("http_status", 200)))
	}
	return entries, 0
}

// datesChangedByUser searches flights anew each time a person changes their mind.
func datesChangedByUser(p *generator) (entries []entry, _ int) {
	from, to := strings.ToUpper(p.word()[:3]), strings.ToUpper(p.word()[:3])
	for _, day := range p.shuffled("3", "7", "11", "15", "19", "24")[:p.between(3, 5)] {
		price := p.between(80, 900)
		entries = append(entries,
			user(p.pick("What about the ", "Hm, and on the ", "Too expensive. How is the ", "Could you also check the ")+day+"th?"),
			call("search_direct_flight", object("origin", from, "destination", to, "date", "2026-05-"+day), object("flights", []string{fmt.Sprintf("HAT%03d %02d:%02d economy $%d", p.IntN(300), p.IntN(24), p.IntN(60), price)})),
			say(fmt.Sprintf("On May %s there is one direct flight for $%d. Shall I book it?", day, price)))
	}
	return entries, 0
}

// robotCrossesRoom drives, is blocked now and then, turns, and gets on.
func robotCrossesRoom(p *generator) (entries []entry, _ int) {
	x, y := 0.2, 0.4
	for k := range p.between(6, 10) {
		if k%3 == 2 {
			entries = append(entries,
				call("drive", object("distance_m", "0.8"), object("ok", false, "reason", fmt.Sprintf("obstacle at %.2f m, motion aborted", 0.2+p.Float64()/5), "pose", fmt.Sprintf("x=%.2f y=%.2f", x, y))),
				call("rotate", object("degrees", p.pick("-45", "30", "60", "90")), object("ok", true, "pose", fmt.Sprintf("x=%.2f y=%.2f", x, y))))
			continue
		}
		x, y = x+0.3+p.Float64()/2, y+p.Float64()/2
		entries = append(entries, call("drive", object("distance_m", "0.8"), object("ok", true, "pose", fmt.Sprintf("x=%.2f y=%.2f", x, y))))
	}
	return entries, 0
}

// shardsInParallel gives one order to several agents, each for its part; most find nothing.
func shardsInParallel(p *generator) (entries []entry, _ int) {
	what, all := p.phrase(2, 4), p.between(5, 8)
	for k := range all {
		prompt := fmt.Sprintf("You are reviewer %d of %d. Review the files of shard %d for mistakes in the %s. Report each with its line.", k+1, all, k+1, what)
		report := p.pick("No issues found.", "No issues found.", "One issue: "+p.path()+":"+fmt.Sprint(p.between(1, 300))+" "+p.phrase(4, 8))
		entries = append(entries, call("Task", object("description", fmt.Sprintf("Review shard %d", k+1), "prompt", prompt, "subagent_type", "general-purpose"), quoted(fmt.Sprintf("Shard %d: %d files reviewed. %s", k+1, p.between(10, 60), report))))
	}
	return entries, 0
}

// daysBackfilled runs one job for each of several days.
func daysBackfilled(p *generator) (entries []entry, _ int) {
	h, dag, first := p.harness(), p.word()+"_daily", p.between(1, 12)
	for k := range p.between(6, 12) {
		day := fmt.Sprintf("2026-03-%02d", first+k)
		entries = append(entries, h.shell("airflow dags backfill "+dag+" -s "+day+" -e "+day, fmt.Sprintf("[%s] INFO - [backfill progress] | finished run 1 of 1 | tasks waiting: 0 | succeeded: 4 | running: 0 | failed: 0\n[%s] INFO - Backfill done for DAG <DAG: %s>. Exiting.", p.clock(), p.clock(), dag), 0))
	}
	return entries, 0
}

// guestsInvited writes one letter to guest after guest.
func guestsInvited(p *generator) (entries []entry, _ int) {
	text := p.phrase(12, 25)
	for range p.between(6, 12) {
		name := p.word()
		id := fmt.Sprintf("%016x", p.Uint64())
		entries = append(entries, call("gmail_send", object("to", name+"@"+p.word()+".example", "subject", "Invitation", "body", "Dear "+name+",\n\n"+text), object("id", id, "threadId", id, "labelIds", []string{"SENT"})))
	}
	return entries, 0
}

// transferInPercent looks at a transfer that gets on, in steps that may be small.
func transferInPercent(p *generator) (entries []entry, _ int) {
	h, log, done := p.harness(), "/tmp/"+p.word()+".log", p.between(1, 20)
	for ; done < 100; done += p.between(6, 12) {
		entries = append(entries, h.shell("sleep 30; tail -c 80 "+log, fmt.Sprintf("  %d,%03d,%03d  %d%%   %d.%02dMB/s    0:%02d:%02d", done, p.IntN(1000), p.IntN(1000), done, p.between(8, 11), p.IntN(100), (100-done)/10, p.IntN(60)), 0))
	}
	return entries, 0
}

// wordGuessed guesses a word and is told which letters are right; more are right each time.
func wordGuessed(p *generator) (entries []entry, _ int) {
	guesses := p.shuffled("crane", "slate", "pound", "brick", "moist", "lumpy", "vigor", "ghost")
	for k := range p.between(4, 6) {
		marks := []string{"gray", "gray", "gray", "yellow", "gray"}
		for n := range min(k, 4) {
			marks[n] = "green"
		}
		entries = append(entries, call("guess", object("word", guesses[k]), object("feedback", marks, "guesses_left", 6-k)))
	}
	return entries, 0
}

// wizardPages goes on from page to page of an installer by one button.
func wizardPages(p *generator) (entries []entry, _ int) {
	titles := slices.Clone([]string{"Welcome", "License agreement", "Choose components", "Installation folder", "Start menu", "Ready to install", "Installing", "Completed"})
	for k, title := range titles {
		screen := fmt.Sprintf("Window \"%s Setup\" (step %d of %d)\n  heading: %s\n  text: %s\n  button: < Back\n  button: Next >\n  button: Cancel", p.word(), k+1, len(titles), title, p.phrase(6, 12))
		entries = append(entries, call("computer", object("action", "left_click", "coordinate", []string{"612", "454"}), quoted(screen)))
	}
	return entries, 0
}
