package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of groups of agents: a planner and a worker, a lead and a subagent, two coders on one machine.

func councilLoops() []kind {
	return []kind{
		{name: "first_step_replanned_again", build: firstStepReplannedAgain},
		{name: "server_killed_in_turn", build: serverKilledInTurn},
		{name: "subagent_report_not_where_looked_for", build: subagentReportNotWhereLookedFor},
		{name: "decision_left_to_worker", build: decisionLeftToWorker},
	}
}

// firstStepReplannedAgain has a planner who makes a new plan after each report, and each plan begins with the step that was just done.
func firstStepReplannedAgain(p *generator) (entries []entry, _ int) {
	planner, worker := p.pick("planner", "replanner", "Planner", "orchestrator"), p.pick("executor", "worker", "Coder", "developer")
	h, unit := p.harness(), p.word()
	goals := []struct{ first, then []string }{
		{[]string{"Survey the structure of the repository", "Get an overview of the code base", "Inspect the project layout", "Understand the existing code of " + unit}, []string{"Write the migration of " + unit, "Add tests for " + unit, "Replace the old " + unit + " module", "Update the documentation", "Run all tests", "Remove dead code"}},
		{[]string{"Inspect the raw data of " + unit, "Look at the columns of " + unit, "Get to know the data set " + unit, "Explore the input files"}, []string{"Clean the columns", "Join the regions", "Fit the model", "Draw the chart", "Write the report", "Check for outliers"}},
		{[]string{"Review the current configuration of " + unit, "Look at how " + unit + " is deployed", "Check the state of the deployment"}, []string{"Change the limits of " + unit, "Roll out to staging", "Watch the error rate", "Roll out to production", "Write the runbook"}},
	}[p.IntN(3)]
	files := p.distinctWords(p.between(3, 9))
	listing := strings.Join(files, ".py\n") + ".py\nREADME.md"
	readme := "# " + capitalized(unit) + "\n\n" + p.page()
	lists, shows := []string{"ls -1 " + unit, "ls " + unit + "/", "find " + unit + " -maxdepth 1 -type f -printf '%f\\n'"}, []string{"cat " + unit + "/README.md", "head -50 " + unit + "/README.md", "sed -n '1,80p' " + unit + "/README.md"}
	reports := []string{
		"Step 1 is done. " + capitalized(unit) + " has %d files, and the README explains how they belong together.", "I surveyed " + unit + ": %d files and a README. Ready for the next step.",
		"Result of the step: there are %d files in " + unit + ". The README describes the layout.", "Done. I found %d files and read the README of " + unit + ".",
	}
	looks := wording{
		[]string{"I begin with the first step.", "Let me look around in " + unit + "."},
		[]string{"The plan is updated.", "A new plan.", ""},
		[]string{"The first step: let me look at " + unit + ".", "I start with step 1.", "Let me list the files.", "First an overview of " + unit + "."},
	}
	leads := []string{"Based on the result, here is the updated plan:", "Updated plan:", "I have revised the plan:", "New plan, given what we know:", "The plan is adjusted as follows:"}
	for k := range p.pickInt(3, 4, 4, 5, 6, 7, 8) {
		lead := p.pick(leads...)
		if k == 0 {
			lead = "Here is the plan:"
		}
		plan := lead + "\n1. " + p.pick(goals.first...)
		for n, step := range p.shuffled(append([]string(nil), goals.then...)...)[:p.between(3, 5)] {
			plan += fmt.Sprintf("\n%d. %s", n+2, step)
		}
		entries = append(entries, say(plan).by(planner), handoff(planner, worker),
			h.shell(p.pick(lists...), listing, 0).by(worker).after(looks.of(p, k)), h.shell(p.pick(shows...), readme, 0).by(worker),
			say(fmt.Sprintf(p.pick(reports...), len(files)+1)).by(worker), handoff(worker, planner))
	}
	return entries, 6
}

// serverKilledInTurn has two coders on one machine; each ends the server of the other one to start its own on the same port.
func serverKilledInTurn(p *generator) (entries []entry, _ int) {
	first, second, _ := strings.Cut(p.pick("frontend:backend", "coder_a:coder_b", "worker-1:worker-2", "ui_dev:api_dev"), ":")
	agents := [2]string{first, second}
	port, now := p.pickInt(3000, 5173, 8000, 8080, 4200), p.passingTime()
	run := p.commands()
	starts := [2]string{p.pick("npm run dev -- --port %d > dev.log 2>&1 & sleep 3; tail -1 dev.log", "npx vite --port %d > vite.log 2>&1 & sleep 4; tail -1 vite.log"), p.pick("python manage.py runserver %d > web.log 2>&1 & sleep 3; tail -1 web.log", "uvicorn app:api --port %d > api.log 2>&1 & sleep 2; tail -1 api.log")}
	tests := [2]string{p.pick("npx playwright test", "npx cypress run", "npm run e2e"), p.pick("pytest tests/api -q", "python -m pytest tests/smoke", "newman run smoke.json")}
	failures := [2]int{p.between(3, 30), p.between(3, 30)}
	broken := [2]string{"Error: expect(page).toHaveTitle(expected) failed\nReceived: \"404 Not Found\"\n  %d failed\n  (%d.%ds)", "E  AssertionError: expected JSON, got '<!doctype html>'\n%d failed in %d.%ds"}
	said := [2]thought{
		{p.pick("Another server answers on my port.", "My server is gone again.", "Something else is listening there.", "The port is taken by another process."), p.pick("Let me stop it and start mine.", "I'll free the port.", "Kill it and restart.")},
		{p.pick("The wrong server is running.", "My process was ended.", "The port is in use by something else."), p.pick("I end that process and start mine again.", "Let me free the port first.", "I'll kill it and start over.")},
	}
	for k := range 2 * p.pickInt(3, 3, 4, 5, 6) {
		who := k % 2
		kill := fmt.Sprintf(p.pick("lsof -ti:%[1]d | xargs kill -9", "fuser -k %[1]d/tcp", "kill -9 $(lsof -t -i:%[1]d)", "npx kill-port %[1]d"), port)
		killed := ""
		if strings.HasPrefix(kill, "fuser") {
			killed = fmt.Sprintf("%d/tcp:           %d", port, p.between(300, 60_000))
		}
		up := fmt.Sprintf(p.pick("%s Server ready on http://localhost:%d", "%s listening on http://127.0.0.1:%d"), now(), port)
		entries = append(entries, run(tests[who], fmt.Sprintf(broken[who], failures[who], p.between(2, 60), p.IntN(10)), 1).by(agents[who]).after(thought{"", p.pick("Let me run the tests.", "Now the tests.", "Do the tests pass now?")}),
			run(kill, killed, 0).by(agents[who]).after(said[who]), run(fmt.Sprintf(starts[who], port), up, 0).by(agents[who]))
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, say(p.pick("The server is up again. Continuing with the tests.", "My environment is restored.", "Restarted, going on.")).by(agents[who]))
		}
	}
	return entries, 6
}

// subagentReportNotWhereLookedFor has a worker write a report in its own folder, and a lead who looks for it elsewhere and orders it again.
func subagentReportNotWhereLookedFor(p *generator) (entries []entry, _ int) {
	lead, worker := p.pick("lead", "orchestrator", "coordinator"), p.pick("researcher", "analyst", "auditor", "explorer")
	topic, h := p.word()+" "+p.word(), p.harness()
	file := strings.ReplaceAll(topic, " ", "_") + p.pick("_report.md", ".md", "_findings.md")
	wanted, written := "/workspace/"+p.pick("reports", "out", "docs", "shared")+"/"+file, p.pick("/tmp/agent/", "/var/agents/"+worker+"/", "/sandbox/", "./")+file
	facts := []string{capitalized(p.phrase(4, 9)) + ".", capitalized(p.phrase(5, 12)) + ".", capitalized(p.phrase(3, 8)) + ".", capitalized(p.phrase(4, 10)) + "."}
	orders := []string{
		"Please examine the %s and write your findings into %s.", "Write a report on the %s and save it as %s.", "Your task: the %s. Put the result into %s, please.", "The report on the %s is missing. Create %s.",
		"Please do the analysis of the %s again and make sure that %s exists.", "I could not find the report on the %s. Save it to %s this time.",
	}
	answers := []string{"The report is written. I saved it as `%s`.", "Done. You find it in `%s`.", "I have completed the analysis and saved it to `%s`.", "Finished, see `%s`."}
	read, member, _ := strings.Cut(p.pick("Read:file_path", "read_file:path", "open_file:path"), ":")
	missing := p.pick("File does not exist.", "No such file or directory: '"+wanted+"'", "Error: file not found: "+wanted, "<tool_use_error>File does not exist. Current working directory: /workspace</tool_use_error>")
	for k := range p.pickInt(3, 4, 4, 5, 6, 7, 9) {
		order := p.pick(orders[:3]...)
		if k > 0 {
			order = p.pick(orders[3:]...)
		}
		entries = append(entries, say(fmt.Sprintf(order, topic, wanted)).by(lead), handoff(lead, worker))
		if k > 0 && p.coin() {
			entries = append(entries, p.search(topic+" "+p.word()).by(worker))
		}
		entries = append(entries, h.create(written, "# "+capitalized(topic)+"\n\n"+strings.Join(p.shuffled(facts...), "\n")).by(worker),
			say(fmt.Sprintf(p.pick(answers...), p.pick(written, file))).by(worker), handoff(worker, lead),
			failed(read, object(member, wanted), missing).by(lead).after(thought{"", p.pick("Let me read the report.", "Let me see the findings.", "Now the report.")}))
	}
	return entries, 6
}

// decisionLeftToWorker has a worker ask which of two ways to go, and a lead who leaves it to the worker, who asks again.
func decisionLeftToWorker(p *generator) (entries []entry, _ int) {
	worker, lead := p.pick("developer", "coder", "engineer", "designer"), p.pick("lead", "manager", "architect", "supervisor")
	first, second, _ := strings.Cut(p.pick("one table:two tables", "REST:gRPC", "a queue:a cron job", "a new service:the old service", "optimistic locking:row locks", "a modal:a page of its own", "Postgres:SQLite"), ":")
	about := "the " + p.word() + " " + p.pick("export", "import", "view", "sync", "history")
	asks := []string{
		"For %[3]s I can use %[1]s or %[2]s. Which do you prefer?", "Should %[3]s be built with %[1]s or with %[2]s?", "To be sure: %[1]s or %[2]s for %[3]s?", "I don't want to decide this alone. %[1]s or %[2]s?",
		"Both would work for %[3]s. Please choose between %[1]s and %[2]s.", "Before I begin with %[3]s I need your decision: %[1]s or %[2]s.", "Could you confirm whether it is %[1]s or %[2]s?", "I am blocked until I know: %[1]s, or rather %[2]s?",
	}
	answers := []string{
		"Both are fine. Use your judgement.", "Whichever fits best for %[3]s.", "I trust you with this. Please take what you think is right.", "Good question. %[1]s has advantages, and so has %[2]s. What do you think?",
		"You know the code better than I do. Please decide and go on.", "It depends. Please weigh %[1]s against %[2]s and choose.", "I am open to either. Let me know what you would prefer.", "Please go ahead with the one that makes sense to you.",
	}
	fill := func(text string) string {
		text = strings.NewReplacer("%[1]s", first, "%[2]s", second, "%[3]s", about).Replace(text)
		return strings.ToUpper(text[:1]) + text[1:]
	}
	board := p.coin()
	for range p.pickInt(3, 4, 5, 5, 6, 7, 9, 15) {
		ask, answer := fill(p.pick(asks...)), fill(p.pick(answers...))
		if !board {
			entries = append(entries, say(ask).by(worker), handoff(worker, lead), say(answer).by(lead), handoff(lead, worker))
			continue
		}
		send := func(from, to, text string, t thought) {
			entries = append(entries, call("send_message", object("to", to, "content", text), object("status", "delivered", "message_id", p.uuid())).by(from).after(t),
				call("read_messages", object("unread_only", true), jsonOf([]map[string]string{{"from": from, "content": text}})).by(to))
		}
		send(worker, lead, ask, thought{"", p.pick("I need a decision before I start.", "Let me ask the "+lead+".", "I should not decide this alone.", "Let me make sure which way to go.")})
		send(lead, worker, answer, thought{"", p.pick("The "+worker+" can decide this.", "Let me answer.", "I leave this to the "+worker+".")})
	}
	return entries, 4
}
