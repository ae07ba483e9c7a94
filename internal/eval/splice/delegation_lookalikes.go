package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of groups of agents: one item, reviewer, task or piece of evidence after the other.

func delegationLookalikes() []kind {
	return []kind{
		{name: "prompt_loop_picks_next_item", build: promptLoopPicksNextItem},
		{name: "diff_read_by_each_reviewer", build: diffReadByEachReviewer},
		{name: "tasks_given_to_idle_teammates", build: tasksGivenToIdleTeammates},
		{name: "handoffs_carry_new_evidence", build: handoffsCarryNewEvidence},
	}
}

// promptLoopPicksNextItem follows one prompt that comes again and again; each time it does the next item of the plan, and commits it.
func promptLoopPicksNextItem(p *generator) (entries []entry, _ int) {
	h, file := p.harness(), p.pick("PLAN.md", "fix_plan.md", "TODO.md", "progress.md")
	prompt := fmt.Sprintf(p.pick("Study %s. Pick the most important open item, implement it, run the tests and commit. Only one item per loop.", "Read %s, choose the next unfinished task and complete it. Update the file when the tests pass.", "Continue with the work in %s. Do ONE task, then stop."), file)
	items := p.distinctWords(p.between(4, 7))
	for k, item := range items {
		items[k] = p.pick("Add ", "Support ", "Validate ", "Export ") + item + p.pick("s", " view", " endpoint", " checks")
	}
	test, ext, _ := strings.Cut(p.pick("npm test --silent:.ts", "cargo test -q:.rs", "go test ./...:.go", "pytest -q:.py"), ":")
	tests := p.between(10, 90)
	for k, item := range items {
		plan := ""
		for n, other := range items {
			plan += "- [" + []string{" ", "x"}[max(0, min(1, k-n))] + "] " + other + "\n"
		}
		path := "src/" + strings.ToLower(strings.Fields(item)[1]) + ext
		entries = append(entries, user(prompt), h.shell("cat "+file, strings.TrimRight(plan, "\n"), 0).after(thought{"", p.pick("Let me read the plan.", "First the plan.", "")}))
		for range p.between(1, 2) {
			entries = append(entries, h.edit(path).after(thought{"", p.pick("The next open item is \""+item+"\".", "I'll do \""+item+"\".", "Let me write the code.")}))
		}
		tests += p.between(1, 6)
		entries = append(entries, h.shell(test, fmt.Sprintf("%d passed (%d.%ds)", tests, p.between(1, 40), p.IntN(10)), 0).after(p.runAgain()),
			h.replace(file, "- [ ] "+item, "- [x] "+item), h.shell("git commit -qam \""+item+"\" && git log -1 --oneline", fmt.Sprintf("%07x %s", p.IntN(1<<28), item), 0),
			say(fmt.Sprintf(p.pick("\"%s\" is done and committed.", "Finished \"%s\". All tests pass.", "I completed \"%s\" and ticked it off."), item)))
	}
	return entries, 0
}

// diffReadByEachReviewer has several reviewers read one and the same diff; each looks for something else, and most find nothing.
func diffReadByEachReviewer(p *generator) (entries []entry, _ int) {
	h, unit, lead := p.harness(), p.word(), p.pick("lead", "coordinator", "review_manager")
	diff := fmt.Sprintf("diff --git a/src/%[1]s.py b/src/%[1]s.py\nindex %07[2]x..%07[3]x 100644\n--- a/src/%[1]s.py\n+++ b/src/%[1]s.py\n@@ -%[4]d,7 +%[4]d,12 @@", unit, p.IntN(1<<28), p.IntN(1<<28), p.between(3, 200))
	for range p.between(4, 50) {
		diff += "\n" + p.pick("+", "-", " ", "+") + p.python(1)[0]
	}
	aspects := [][3]string{
		{"security", "grep -nE 'eval|exec|subprocess|pickle' src/%s.py", "injection"},
		{"performance", "grep -nE 'for .* in|while ' src/%s.py", "slow loops"},
		{"naming", "grep -nE 'def [a-z]*[A-Z]' src/%s.py", "names"},
		{"tests", "grep -rln %s tests/", "missing tests"},
		{"types", "mypy src/%s.py", "type errors"},
		{"docs", "grep -n '\"\"\"' src/%s.py", "missing docs"},
		{"errors", "grep -nE 'except( Exception)?:' src/%s.py", "swallowed errors"},
		{"dependencies", "grep -nE '^(import|from)' src/%s.py", "new dependencies"},
	}
	p.Shuffle(len(aspects), func(i, j int) { aspects[i], aspects[j] = aspects[j], aspects[i] })
	command := p.pick("git diff main...HEAD", "git diff origin/main", fmt.Sprintf("gh pr diff %d", p.between(3, 900)))
	for k, a := range aspects[:p.between(5, 8)] {
		who, output, verdict := a[0]+"-reviewer", "", fmt.Sprintf(p.pick("No findings for %s.", "I looked for %s and found nothing.", "%s: nothing to report."), a[2])
		status := strings.Count(a[1][:4], "grep")
		if a[0] == "types" {
			output = "Success: no issues found in 1 source file"
		}
		if p.IntN(3) == 0 {
			at := p.between(5, 240)
			status, output, verdict = 0, fmt.Sprintf("%d:        %s", at, p.word()+" = "+p.word()+"("+p.word()+")"), fmt.Sprintf("One finding on %s at line %d: %s.", a[2], at, p.phrase(3, 8))
		}
		entries = append(entries, handoff(lead, who).after(thought{strings.Repeat("The review is in. ", min(k, 1)), "Now the view on " + a[0] + "."}), h.shell(command, diff, 0).by(who).after(thought{"", p.pick("Let me read the change.", "First the diff.", "")}),
			h.shell(fmt.Sprintf(a[1], unit), output, status).by(who).after(thought{"", p.pick("Let me look for "+a[2]+".", "Now I check "+a[2]+".")}), say(capitalized(verdict)).by(who), handoff(who, lead))
	}
	return entries, 0
}

// tasksGivenToIdleTeammates gives the next task to whichever teammate reports that it is idle; the list of tasks gets done.
func tasksGivenToIdleTeammates(p *generator) (entries []entry, _ int) {
	lead, mates, now := p.pick("team-lead", "lead", "coordinator"), []string{"dev-1", "dev-2", "dev-3"}[:p.between(2, 3)], p.passingTime()
	tasks, asUser := p.distinctWords(p.between(6, 10)), p.coin()
	for k, task := range tasks {
		tasks[k] = p.pick("Port", "Test", "Document", "Review") + " the " + task + " module"
	}
	busy := map[string]int{}
	for k, task := range tasks {
		mate := mates[min(k, len(mates)-1)]
		if k >= len(mates) {
			mate = p.pick(mates...)
			note := string(object("type", "idle_notification", "from", mate, "timestamp", now(), "idleReason", "available", "completedTaskId", fmt.Sprint(busy[mate]+1)))
			if asUser {
				entries = append(entries, user("<teammate-message teammate_id=\""+mate+"\">\n"+note+"\n</teammate-message>"))
			} else {
				entries = append(entries, say(p.pick("Finished", "Done with", "I have completed")+" \""+tasks[busy[mate]]+"\". I am idle.").by(mate))
			}
		}
		busy[mate] = k
		entries = append(entries, call("TaskUpdate", object("taskId", fmt.Sprint(k+1), "owner", mate, "status", "in_progress"), quoted(fmt.Sprintf("Updated task #%d owner, status", k+1))).by(lead).after(thought{strings.Repeat("One more task is done.", min(k/len(mates), 1)), p.pick("Next: \""+task+"\".", mate+" takes the next task.", "I give \""+task+"\" to "+mate+".")}),
			call("SendMessage", object("type", "message", "recipient", mate, "content", fmt.Sprintf("Please start task #%d: %s.", k+1, task), "summary", "Start the next task"), object("success", true, "message", "Message sent to "+mate+"'s inbox")).by(lead))
		if p.IntN(3) == 0 {
			list := ""
			for n, other := range tasks {
				state := "completed"
				if n > k {
					state = "pending"
				}
				for _, at := range busy {
					if at == n {
						state = "in_progress"
					}
				}
				list += fmt.Sprintf("#%d [%s] %s\n", n+1, state, other)
			}
			entries = append(entries, call("TaskList", object(), quoted(strings.TrimRight(list, "\n"))).by(lead).after(thought{"", p.pick("Where do we stand?", "Let me look at the list.")}))
		}
	}
	return entries, 0
}

// handoffsCarryNewEvidence hands an incident to and fro between two agents; each finds another piece of evidence that narrows the cause.
func handoffsCarryNewEvidence(p *generator) (entries []entry, _ int) {
	first, second, _ := strings.Cut(p.pick("application:database", "frontend:backend", "network:platform", "sre:developer"), ":")
	agents, run, service := [2]string{first + p.pick("_agent", "-expert", ""), second + p.pick("_agent", "-expert", "")}, p.commands(), p.workload()
	now, pid := p.passingTime(), p.between(1000, 60_000)
	looks := [][3]string{
		{"kubectl logs deploy/" + service + " --since=10m | grep -c 'timeout'", fmt.Sprint(p.between(40, 900)), "%s timeouts in ten minutes, all in calls of the other side"},
		{"psql -Atc \"select count(*) from pg_stat_activity where state='active'\"", fmt.Sprint(p.between(90, 100)), "%s active connections, close to the limit"},
		{"kubectl top pod -l app=" + service, service + "-0   " + fmt.Sprint(p.between(900, 1990)) + "m   412Mi", "CPU is high: %s"},
		{"psql -Atc \"select pid, wait_event from pg_stat_activity where wait_event_type='Lock'\"", fmt.Sprintf("%d | transactionid", pid), "one session waits for a lock: %s"},
		{"psql -Atc \"select pg_blocking_pids(" + fmt.Sprint(pid) + ")\"", fmt.Sprintf("{%d}", pid+p.between(2, 90)), "it is blocked by session %s"},
		{"kubectl logs deploy/" + service + " --since=1h | grep 'begin batch' | tail -1", now() + " begin batch size=" + fmt.Sprint(p.between(10_000, 900_000)), "a batch began just before: %s"},
		{"kubectl get cronjob " + service + "-import -o jsonpath='{.spec.schedule}'", fmt.Sprintf("*/%d * * * *", p.pickInt(5, 10, 15)), "the import is scheduled at %s, which overlaps"},
		{"git log -3 --format='%h %ad %s' -- deploy/" + service + ".yaml", fmt.Sprintf("%07x %s Raise batch size", p.IntN(1<<28), now()[:10]), "the batch size was raised here: %s"},
	}
	n := p.between(5, len(looks))
	for k, look := range looks[:n] {
		who, other := agents[k%2], agents[(k+1)%2]
		entries = append(entries, run(look[0], look[1], 0).by(who).after(thought{"", p.pick("Let me look at my side.", "I check that.", "Let me follow this up.", "Is that visible here?")}),
			say(p.pick("New evidence: ", "I found this: ", "From my side: ", "")+fmt.Sprintf(look[2], look[1])+p.pick(". Please check what this means for you.", ". Over to you.", ". Can you see the cause?")).by(who))
		if k < n-1 {
			entries = append(entries, handoff(who, other))
		}
	}
	return entries, 0
}
