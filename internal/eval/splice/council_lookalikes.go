package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of groups of agents: the same exchange on one branch, question, figure or option after the
// other.

func councilLookalikes() []kind {
	return []kind{
		{name: "branches_of_workers_merged_in_turn", build: branchesOfWorkersMergedInTurn},
		{name: "questions_on_board_answered", build: questionsOnBoardAnswered},
		{name: "each_result_recomputed_by_verifier", build: eachResultRecomputedByVerifier},
		{name: "options_struck_out_in_debate", build: optionsStruckOutInDebate},
	}
}

// branchesOfWorkersMergedInTurn merges the branch of one worker after the other, runs the same tests, and tells the worker.
func branchesOfWorkersMergedInTurn(p *generator) (entries []entry, _ int) {
	integrator, h := p.pick("integrator", "merger", "release_lead"), p.harness()
	test, ext, _ := strings.Cut(p.pick("npm test --silent:.ts", "make test:.cc", "cargo test -q:.rs", "pytest -q:.py"), ":")
	tests, run := p.between(90, 400), h.shell
	told, now := p.coin(), p.passingTime()
	for k, topic := range p.distinctWords(p.between(5, 8)) {
		worker := fmt.Sprintf("worker-%d", k+1)
		branch, path := worker+"/"+topic, topic+"/"+p.word()+ext
		entries = append(entries, say(fmt.Sprintf(p.pick("My part, %s, is ready on `%s`.", "Finished %s. The branch is `%s`.", "%s is done, please merge `%s`."), topic, branch)).by(worker), handoff(worker, integrator))
		merged := fmt.Sprintf("Merge made by the 'ort' strategy.\n %s | %d ++++--\n %d files changed, %d insertions(+)", path, p.between(3, 200), p.between(1, 12), p.between(20, 900))
		if p.IntN(4) == 0 {
			entries = append(entries, run("git merge --no-ff "+branch, "CONFLICT (content): Merge conflict in src/main"+ext+"\nAutomatic merge failed; fix conflicts and then commit the result.", 1).by(integrator),
				h.edit("src/main"+ext).by(integrator).after(thought{"Both have added a line.", "I keep both."}), run("git commit -qam 'Merge "+branch+"'", "", 0).by(integrator))
		} else {
			entries = append(entries, run("git merge --no-ff "+branch, merged, 0).by(integrator))
		}
		tests += p.between(0, 12)
		entries = append(entries, run(test, fmt.Sprintf("%d passed, 0 failed (%d.%ds)", tests, p.between(2, 90), p.IntN(10)), 0).by(integrator).after(thought{"", p.pick("Now the tests.", "Do all tests pass with it?")}))
		if told {
			entries = append(entries, call("update_task", object("id", k+1, "status", "merged"), object("id", k+1, "status", "merged", "updated_at", now())).by(integrator))
		} else {
			entries = append(entries, say(p.pick("Merged, thank you.", "`"+branch+"` is merged. All tests pass.", "It is on main now.")).by(integrator))
		}
	}
	return entries, 0
}

// questionsOnBoardAnswered answers on a shared board the questions of several workers, each of them another one.
func questionsOnBoardAnswered(p *generator) (entries []entry, _ int) {
	lead, workers := p.pick("lead", "architect", "owner"), []string{"worker-1", "worker-2", "worker-3", "worker-4"}
	number, post, answer := p.between(10, 300), p.pick("post_question", "board_post", "ask_team"), p.pick("post_answer", "board_reply", "answer_question")
	h := p.harness()
	for range p.between(5, 9) {
		number += p.between(1, 4)
		worker, name, other := p.pick(workers...), p.word(), p.word()
		asked, reply, _ := strings.Cut(p.pick(
			"May I change the type of `%[1]s` in `%[2]s`?|Yes, %[2]s does not read it any more.", "May I change the type of `%[1]s` in `%[2]s`?|No, %[2]s depends on it.", "Where is `%[1]s` validated?|In %[2]s, before it is stored.",
			"Is `%[1]s` allowed to be empty?|Yes. In %[2]s it is optional.", "Does `%[1]s` still need `%[2]s`?|It does, until %[2]s is released.", "Which unit has `%[1]s` in `%[2]s`?|%[3]s.", "Who sets `%[1]s`?|%[4]s, please keep it there.",
		), "|")
		fill := strings.NewReplacer("%[1]s", name, "%[2]s", other, "%[3]s", p.pick("Milliseconds", "Bytes", "Cents", "Seconds"), "%[4]s", capitalized(other))
		question := fill.Replace(asked)
		reply = fill.Replace(reply)
		entries = append(entries, call(post, object("topic", name, "text", question), object("id", number, "state", "open")).by(worker))
		if p.IntN(3) > 0 {
			command := p.pick("grep -rn ", "rg -n ") + name + " src/" + other
			entries = append(entries, h.shell(command, fmt.Sprintf("src/%s/%s.go:%d:\t%s := %s.%s()", other, p.word(), p.between(5, 400), p.word(), other, name), 0).by(lead).after(thought{"", p.pick("A new question. Let me look at the code.", "Let me check `"+name+"`.", "I look that up.")}))
		}
		entries = append(entries, call(answer, object("id", number, "text", reply), object("id", number, "state", "answered")).by(lead))
	}
	return entries, 0
}

// eachResultRecomputedByVerifier has a worker compute figure after figure, and a verifier who computes each again by the same call.
func eachResultRecomputedByVerifier(p *generator) (entries []entry, _ int) {
	worker, verifier := p.pick("analyst", "solver", "worker"), p.pick("verifier", "checker", "auditor")
	table, column, d := p.word(), p.word(), p.desk()
	tool, member := p.pick("run_sql", "query"), p.pick("sql", "statement")
	sign := p.pick("sign_off", "mark_verified", "approve_figure")
	last := ""
	for _, group := range p.distinctWords(p.between(5, 8)) {
		args := object(member, fmt.Sprintf("SELECT count(*), sum(%s) FROM %s WHERE segment = '%s'", column, table, group))
		count, sum := p.between(3, 4000), fmt.Sprintf("%d.%02d", p.between(100, 900_000), p.IntN(100))
		compute := func(agent string, n int) entry {
			return d.use(tool, args, object("rows", [][]string{{fmt.Sprint(n), sum}})).by(agent)
		}
		if p.IntN(5) == 0 {
			count++
			entries = append(entries, compute(worker, count-1).after(p.nextItem(last, "the segment "+group)), compute(verifier, count).after(thought{"", "Let me compute it, too."}),
				say(fmt.Sprintf("I get %d rows for %s instead of %d. A row has come in since. Please compute it again.", count, group, count-1)).by(verifier), compute(worker, count))
		} else {
			entries = append(entries, compute(worker, count).after(p.nextItem(last, "the segment "+group)), compute(verifier, count).after(thought{"", p.pick("I check the figure of "+group+".", "Let me compute "+group+" independently.")}))
		}
		entries = append(entries, call(sign, object("figure", group, "value", sum, "rows", count), object("ok", true, "figure", group)).by(verifier))
		last = "the segment " + group
	}
	return entries, 0
}

// optionsStruckOutInDebate is a talk of agents who have several options and strike out one of them with each message, until one is left.
func optionsStruckOutInDebate(p *generator) (entries []entry, _ int) {
	agents := []string{p.pick("architect", "optimist", "Agent_A"), p.pick("operator", "skeptic", "Agent_B"), p.pick("economist", "moderator", "Agent_C")}[:p.between(2, 3)]
	options := p.shuffled("Kafka", "RabbitMQ", "NATS", "Redis streams", "SQS", "Pulsar", "ZeroMQ", "Postgres with polling", "a file share", "Kinesis")[:p.between(6, 10)]
	reasons := []string{
		"it needs a cluster of its own", "nobody of us has run it", "it costs more than the budget", "messages may come twice", "it has no client for our language", "it does not keep the order", "the licence has changed",
		"we would have to host it ourselves", "it loses messages at a restart", "it is bound to one cloud",
	}
	p.Shuffle(len(reasons), func(i, j int) { reasons[i], reasons[j] = reasons[j], reasons[i] })
	lists := p.coin()
	for k := range len(options) - 1 {
		text := fmt.Sprintf(p.pick("I would strike out %s, since %s.", "%s is not an option for me: %s.", "Against %s speaks that %s.", "We can drop %s, because %s."), options[k], reasons[k])
		if k > 0 {
			text = p.pick("Agreed. ", "Fair. ", "I follow you on "+options[k-1]+". ", "") + capitalized(text)
		}
		if lists {
			text += p.pick(" That leaves ", " Left: ", " Still in: ") + strings.Join(options[k+1:], ", ") + "."
		}
		entries = append(entries, say(text).by(agents[k%len(agents)]))
	}
	return append(entries, say("So we take "+options[len(options)-1]+".").by(agents[(len(options)-1)%len(agents)])), 0
}
