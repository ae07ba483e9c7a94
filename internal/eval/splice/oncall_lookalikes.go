package splice

import "fmt"

// The lookalikes of this file are honest work on call: one alert, one session, one dead letter or one silence after the other.

func oncallLookalikes() []kind {
	return []kind{
		{name: "alert_storm_triaged_in_turn", build: alertStormTriagedInTurn},
		{name: "lock_chain_followed_to_root", build: lockChainFollowedToRoot},
		{name: "dead_letters_judged_in_turn", build: deadLettersJudgedInTurn},
		{name: "silences_lifted_in_turn", build: silencesLiftedInTurn},
	}
}

// alertStormTriagedInTurn reads one page of a storm after the other and acknowledges it, merges it into the incident, or makes a note of it.
func alertStormTriagedInTurn(p *generator) (entries []entry, _ int) {
	incident, number, now, form := p.between(1000, 9999), p.between(10_000, 90_000), p.passingTime(), p.IntN(3)
	services := p.distinctWords(p.between(6, 14))
	cause := services[0]
	reads := p.IntN(4) > 0
	w := wording{
		[]string{fmt.Sprintf("There are %d open pages. I'll go through them.", len(services)), "Let me triage the pages, one by one."},
		[]string{"That is a consequence of the same outage.", "The same cause.", "It belongs to the incident.", "Related.", ""},
		[]string{"Next page.", "Now the page of `%s`.", "The next one is `%s`.", "On to the next."},
	}
	for k, service := range services {
		number += p.between(1, 4)
		title := service + p.pick("-api: high error rate", "-db: connections exhausted", "-web: p99 latency above 2 s", "-worker: queue is growing", ": target down")
		id, other := fmt.Sprintf("Q%X", uint64(number)*7_654_321), p.IntN(6) == 0
		t := w.nextOf(p, k, service)
		if reads {
			detail := fmt.Sprintf("calls to %s time out after %d s (%d errors in 5 min)", cause, p.between(2, 30), p.between(20, 9000))
			if other {
				detail = fmt.Sprintf("certificate of %s.example ends in %d days", service, p.between(1, 9))
			}
			entries = append(entries, call("get_incident", object("incident_id", id), content(string(object("id", id, "number", number, "title", title, "status", "triggered", "urgency", p.pick("high", "high", "low"), "created_at", now(), "detail", detail)))).after(t))
			t = thought{p.pick("The same outage.", "A consequence of `"+cause+"`.", ""), p.pick("I'll merge it.", "Into the incident.", "")}
			if other {
				t = thought{"That is something else.", "I acknowledge it and leave a note."}
			}
		}
		switch {
		case other && reads:
			entries = append(entries, call("add_note", object("incident_id", id, "content", "Not part of #"+fmt.Sprint(incident)+", handled tomorrow"), content("{\"ok\":true}")).after(t))
		case form == 0:
			entries = append(entries, call("manage_incidents", object("incident_ids", []string{id}, "status", "acknowledged"), content(string(object("id", id, "status", "acknowledged", "acknowledged_at", now())))).after(t))
		case form == 1:
			entries = append(entries, call("merge_incidents", object("target", incident, "source", id), content(fmt.Sprintf("Merged into #%d", incident))).after(t))
		default:
			entries = append(entries, call("http_request", object("method", "POST", "url", fmt.Sprintf("https://api.oncall.example/v2/alerts/%s/acknowledge", id), "body", object("note", "part of #"+fmt.Sprint(incident))), object("status", 202, "body", object("result", "Request will be processed", "took", float64(p.between(2, 40))/1000, "requestId", p.uuid()))).after(t))
		}
	}
	return entries, 0
}

// lockChainFollowedToRoot asks which session blocks a session, then which blocks that one, until one waits for nothing; it is ended.
func lockChainFollowedToRoot(p *generator) (entries []entry, _ int) {
	run, database, pid, form := p.waitingShell(), p.word(), p.between(1000, 9000), p.IntN(3)
	n := p.between(4, 8)
	ask := func(sql, output string) entry {
		if form == 1 {
			return run("mysql -N "+database+" -e \""+sql+"\"", output, 0)
		}
		if form == 2 {
			return call("query", object("database", database, "sql", sql), content(output))
		}
		return run("psql -d "+database+" -xc \""+sql+"\"", output, 0)
	}
	w := wording{
		[]string{fmt.Sprintf("Session %d waits for a lock. Who holds it?", pid), "Let me follow the chain of locks."},
		[]string{"That one waits as well.", "It is blocked, too.", "Not the root yet.", "It waits for another session.", ""},
		[]string{"Who blocks %s?", "Now session %s.", "Let me look at %s.", "On to %s."},
	}
	for k := range n {
		blocker := pid + p.between(1, 300)
		sql := fmt.Sprintf("SELECT pid, state, wait_event_type, pg_blocking_pids(pid) AS blocked_by, now() - query_start AS runs, left(query, 60) AS query FROM pg_stat_activity WHERE pid = %d", pid)
		output := fmt.Sprintf("-[ RECORD 1 ]---+-------------------------\npid             | %d\nstate           | active\nwait_event_type | Lock\nblocked_by      | {%d}\nruns            | 00:%02d:%02d.%06d\nquery           | %s %s SET %s = $1 WHERE id = $2", pid, blocker, p.between(1, 50), p.IntN(60), p.IntN(1_000_000), "UPDATE", p.word(), p.word())
		if k == n-1 {
			output = fmt.Sprintf("-[ RECORD 1 ]---+-------------------------\npid             | %d\nstate           | idle in transaction\nwait_event_type | Client\nblocked_by      | {}\nruns            | 0%d:%02d:%02d.%06d\nquery           | SELECT * FROM %s FOR UPDATE", pid, p.between(1, 9), p.IntN(60), p.IntN(60), p.IntN(1_000_000), p.word())
		}
		if form == 1 {
			sql = fmt.Sprintf("SELECT waiting_pid, blocking_pid, wait_age, locked_table, waiting_query FROM sys.innodb_lock_waits WHERE waiting_pid = %d", pid)
			output = fmt.Sprintf("%d\t%d\t00:%02d:%02d\t`%s`.`%s`\tUPDATE %s SET %s = ?", pid, blocker, p.between(1, 50), p.IntN(60), database, p.word(), p.word(), p.word())
			if k == n-1 {
				output = ""
			}
		}
		entries = append(entries, ask(sql, output).after(w.nextOf(p, k, fmt.Sprint(pid))))
		if k < n-1 {
			pid = blocker
		}
	}
	end, answer := fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid), "-[ RECORD 1 ]--------+--\npg_terminate_backend | t"
	if form == 1 {
		end, answer = fmt.Sprintf("KILL %d", pid), ""
	}
	waiting, none := "SELECT count(*) FROM "+p.pick("pg_locks WHERE NOT granted", "pg_stat_activity WHERE wait_event_type = 'Lock'"), "-[ RECORD 1 ]\ncount | 0"
	if form == 1 {
		waiting, none = "SELECT count(*) FROM sys.innodb_lock_waits", "0"
	}
	return append(entries, ask(end, answer).after(thought{"It waits for nothing and holds the lock: the root.", p.pick("I'll end this session.", "Let me end it.")}),
		ask(waiting, none).after(thought{"", "Does anybody still wait?"})), 0
}

// deadLettersJudgedInTurn takes one dead letter after the other, sends it again or drops it, and the queue gets shorter.
func deadLettersJudgedInTurn(p *generator) (entries []entry, _ int) {
	run, name, form := p.waitingShell(), p.word(), p.IntN(3)
	n, queue := p.between(5, 12), name+p.pick("-dlq", ".dead", "_failed")
	left, order := n+p.between(0, 40), p.between(1000, 90_000)
	w := wording{
		[]string{"I'll go through the dead letters one by one.", "Let me look at the first dead letter."},
		[]string{"Handled.", "That one is done.", "One less.", ""},
		[]string{"Next message.", "Let me take the next one.", "On to the next.", "Now message %s."},
	}
	reason := p.pick("timeout of the payment provider", "customer not found", "missing property 'currency'", "connection reset by peer")
	for k := range n {
		order += p.between(1, 400)
		id, drop, state := p.uuid(), p.IntN(4) == 0, p.pick("open", "open", "paid")
		does, done := "It can be processed now.", p.pick("I'll send it again.", "Replay it.", "")
		if drop {
			does, done, state = "This order was cancelled.", "I'll drop it.", "cancelled"
		}
		body := fmt.Sprintf("{\"order\":%d,\"state\":\"%s\",\"amount\":%d,\"error\":\"%s\"}", order, state, p.between(1, 900), reason)
		left--
		switch form {
		case 0:
			entries = append(entries, run("rabbitmqadmin get queue="+queue+" ackmode=ack_requeue_false count=1", fmt.Sprintf("+-------------+---------------+------------------------------------------------+-------------+\n| routing_key | message_count | payload | redelivered |\n+-------------+---------------+------------------------------------------------+-------------+\n| %s | %d | %s | False |\n+-------------+---------------+------------------------------------------------+-------------+", queue, left, body), 0).after(w.nextOf(p, k, fmt.Sprint(order))))
			if !drop {
				entries = append(entries, run("rabbitmqadmin publish exchange=amq.default routing_key="+name+" payload='"+body+"'", "Message published", 0).after(thought{does, done}))
			}
		case 1:
			entries = append(entries, call("peek_dead_letter", object("queue", queue, "count", 1), object("messageId", id, "body", body, "remaining", left+1)).after(w.nextOf(p, k, fmt.Sprint(order))),
				call(map[bool]string{true: "discard_dead_letter", false: "resubmit_dead_letter"}[drop], object("queue", queue, "messageId", id), object("ok", true)).after(thought{does, done}))
		case 2:
			job := fmt.Sprintf("%06x%018x", p.IntN(1<<24), p.Uint64())
			entries = append(entries, run("bin/rails runner 'j = Sidekiq::DeadSet.new.first; puts j.jid, j.klass, j.args.inspect, j[\"error_message\"]'", fmt.Sprintf("%s\n%sJob\n[%d, \"%s\"]\n%s", job[:24], capitalized(name), order, state, reason), 0).after(w.nextOf(p, k, fmt.Sprint(order))),
				run("bin/rails runner 'Sidekiq::DeadSet.new.find_job(\""+job[:24]+"\")."+map[bool]string{true: "delete", false: "retry"}[drop]+"; puts Sidekiq::DeadSet.new.size'", fmt.Sprint(left), 0).after(thought{does, done}))
		}
	}
	return entries, 0
}

// silencesLiftedInTurn ends the silences of a maintenance one by one; the command prints nothing, and an alert is looked up now and then.
func silencesLiftedInTurn(p *generator) (entries []entry, _ int) {
	run, form, hosts := p.waitingShell(), p.IntN(3), p.distinctWords(p.between(5, 12))
	ids, list := make([]string, len(hosts)), "ID                                    Matchers                  Ends At                  Created By  Comment"
	for k, host := range hosts {
		ids[k] = p.uuid()
		list += fmt.Sprintf("\n%s  instance=\"%s:9100\"  2026-06-%02d %02d:00:00 UTC  oncall  upgrade", ids[k], host, p.between(1, 28), p.IntN(24))
	}
	looks := p.IntN(3)
	w := wording{
		[]string{"The upgrade is over. I'll lift the silences one by one.", "Let me end the silence of `" + hosts[0] + "`."},
		[]string{"Lifted.", "No alert behind it.", "Done.", "That host is quiet.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "Then `%s`.", "On to `%s`."},
	}
	entries = append(entries, run("amtool silence query createdBy=oncall", list, 0).after(thought{"", p.pick("Which silences are there?", "Let me list the silences.", "")}))
	for k, host := range hosts {
		e := run("amtool silence expire "+ids[k], "", 0)
		switch form {
		case 1:
			e = run("curl -s -o /dev/null -w '%{http_code}' -X DELETE http://alertmanager:9093/api/v2/silence/"+ids[k], "200", 0)
		case 2:
			e = call("delete_silence", object("id", ids[k]), object("message", "silence deleted"))
		}
		entries = append(entries, e.after(w.nextOf(p, k, host)))
		if p.IntN(3) < looks {
			entries = append(entries, run("amtool alert query instance="+host+":9100", "", 0).after(thought{"", p.pick("Does anything fire there?", "Is the host quiet?", "")}))
		}
	}
	return append(entries, run("amtool silence query createdBy=oncall", "", 0).after(thought{"All are lifted.", "Is any left?"})), 0
}
