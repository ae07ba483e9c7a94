package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that start other agents, write to them, hand work to them, or follow one prompt again and again.

func delegationLoops() []kind {
	return []kind{
		{name: "read_only_subagent_told_to_write", build: readOnlySubagentToldToWrite},
		{name: "teammate_goes_idle_again", build: teammateGoesIdleAgain},
		{name: "fix_left_in_other_worktree", build: fixLeftInOtherWorktree},
		{name: "prompt_loop_picks_same_item", build: promptLoopPicksSameItem},
	}
}

// readOnlySubagentToldToWrite starts a subagent that can only read and tells it to write a file, which is not there afterwards.
func readOnlySubagentToldToWrite(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()
	kind, path := p.pick("Explore", "Plan", "code-reviewer", "researcher", "read-only"), p.pick("docs/"+unit+".md", "src/"+unit+"/index.ts", "tests/test_"+unit+".py", "plans/"+unit+"_plan.md", "internal/"+unit+"/"+unit+".go")
	prompts := []string{
		"Write %s for the %s module. Follow the style of the other files.", "Create the file %s. It has to cover all functions of %s. Write it to disk.", "You must create %s now. Do not only analyse %s: use your tools to write the file.", "The file %s does not exist yet. Please write it, based on the %s module.",
		"Implement %s. It is important that you actually save the file, not just describe it. Context: module %s.", "Please generate %s for %s and save it. Return only when it is on disk.",
	}
	starts := []string{"I have analysed the %s module. ", "Here is what I found in %s:\n", "Analysis of %s is complete. ", "I looked through all files of %s. "}
	ends := []string{
		"I do not have a tool to write files in this mode, so here is the content that you can save:", "Note that I am limited to reading. The proposed content:", "As I can only search and read, I return the file as text:", "This session is read-only. Suggested content:",
	}
	w := wording{
		[]string{"I'll let a subagent write `" + path + "`.", "Let me delegate this to a " + kind + " agent."},
		[]string{"The file is not there.", "The subagent has not created the file.", "It returned the text but did not write it.", "The file is still missing.", ""},
		[]string{"Let me start the agent again with clearer instructions.", "I'll be more explicit this time.", "Let me launch another agent for it.", "Let me delegate it again.", "I'll tell it to write the file."},
	}
	functions := p.distinctWords(p.between(3, 9))
	for k := range p.laps() {
		report, prompt := fmt.Sprintf(p.pick(starts...), unit), p.pick(prompts[:2]...)
		if k > 0 {
			prompt = p.pick(prompts[1:]...)
		}
		for _, f := range p.shuffled(append([]string(nil), functions...)...)[:p.between(1, 3)] {
			report += fmt.Sprintf("\n- `%s` (line %d): %s", f, 10*len(f)+strings.Index("abcdefghijklmnopqrstuvwxyz", f[:1]), p.phrase(3, 8))
		}
		report += "\n\n" + p.pick(ends...) + "\n```\n" + p.code(p.between(2, 30)) + "\n```"
		task := call("Task", object("description", p.pick("Write ", "Create ")+unit+p.pick(" file", ""), "prompt", fmt.Sprintf(prompt, path, unit), "subagent_type", kind), quoted(report))
		look := h.shell("ls -la "+path, "ls: cannot access '"+path+"': No such file or directory", 2)
		if p.coin() {
			look = failed("Read", object("file_path", path), "File does not exist.")
		}
		entries = append(entries, task.after(w.of(p, k)), look.after(thought{p.pick("The agent has finished.", "Good, the report is in.", ""), p.pick("Let me check the file.", "Let me read what it wrote.", "Now the file should be there.")}))
	}
	return entries, 2
}

// teammateGoesIdleAgain writes to a teammate to start a task; the teammate reports that it is idle, and the task stays where it was.
func teammateGoesIdleAgain(p *generator) (entries []entry, _ int) {
	lead, mate := p.pick("team-lead", "lead", "coordinator"), p.pick("api-dev", "frontend", "tester", "researcher", "migrator")
	task, number, now, asUser := p.pick("Build", "Port", "Test", "Document")+" the "+p.word()+" "+p.pick("endpoint", "page", "import", "module"), p.between(10, 24), p.passingTime(), p.coin()
	orders := []string{
		"Please start task #%d: %s.", "Task #%d (%s) is waiting for you. Please begin.", "Have you started #%d, %s? Please go on.", "You are assigned to #%d: %s. Send me a message when you have a first version.", "Reminder: #%d, %s, is still pending. Please claim it and start working.",
		"Please pick up #%d now (%s). All that it depends on is done.", "Status of #%d, %s? If nothing blocks you, start with it.",
	}
	w := wording{
		[]string{"I'll ask " + mate + " to start.", "Let me hand task #" + fmt.Sprint(number) + " to " + mate + "."},
		[]string{mate + " is idle again.", "The task is still pending.", mate + " has not started.", "No progress on the task yet.", "It went idle without a result.", ""},
		[]string{"Let me remind " + mate + ".", "I'll send the task again.", "Let me nudge " + mate + " once more.", "Let me write to " + mate + " with clearer instructions.", "I'll ask for the status."},
	}
	others, n := "", p.between(1, 9)
	for k := range n {
		others += fmt.Sprintf("#%d [completed] %s\n", number-n+k, capitalized(p.phrase(2, 4)))
	}
	list := fmt.Sprintf("%s#%d [pending] %s (%s)", others, number, task, mate)
	for k := range p.laps() {
		order := p.pick(orders...)
		if k == 0 {
			order = orders[0]
		}
		order = fmt.Sprintf(order, number, task)
		entries = append(entries, call("SendMessage", object("type", "message", "recipient", mate, "content", order, "summary", p.pick("Start the task", "Reminder", "Task "+fmt.Sprint(number), "Please begin")), object("success", true, "message", "Message sent to "+mate+"'s inbox", "routing", object("sender", lead, "target", "@"+mate))).by(lead).after(w.of(p, k)))
		note := string(object("type", "idle_notification", "from", mate, "timestamp", now(), "idleReason", "available"))
		if asUser {
			entries = append(entries, user("<teammate-message teammate_id=\""+mate+"\">\n"+note+"\n</teammate-message>"))
		} else {
			entries = append(entries, say(p.pick("I am available for work.", "Idle, waiting for instructions.", "Ready. No task in progress.", "Standing by.")).by(mate))
		}
		entries = append(entries, call("TaskList", object(), quoted(list)).by(lead).after(thought{"", p.pick("Let me look at the task list.", "Where do the tasks stand?", "Let me check the progress.")}))
	}
	return entries, 3
}

// fixLeftInOtherWorktree has a coder whose fix passes in a worktree of its own, and a reviewer who tests another one, where it fails.
func fixLeftInOtherWorktree(p *generator) (entries []entry, _ int) {
	coder, reviewer, unit := p.pick("coder", "implementer", "dev-1", "fixer"), p.pick("reviewer", "qa", "verifier", "integrator"), p.word()
	h, test, branch := p.harness(), "test_"+p.word()+"_"+p.word(), p.pick("fix/", "agent/", "wt/")+unit
	mine, theirs := p.pick("/srv/trees/", "../", ".worktrees/")+coder, p.pick("/srv/trees/main", "/repo", "/workspace/app")
	passed, tests := p.between(4, 300), []string{"pytest tests/test_" + unit + ".py -q", "python -m pytest -q tests/test_" + unit + ".py", "pytest -q -k " + test}
	green := func() string { return fmt.Sprintf("%d passed in %d.%02ds", passed+1, p.IntN(20), p.IntN(100)) }
	want, got, line := p.word(), p.word(), p.between(12, 200)
	red := func() string {
		dots := strings.Repeat(".", min(passed, 60))
		return fmt.Sprintf("%[1]sF [100%%]\n=================================== FAILURES ===================================\n____ %[2]s ____\ntests/test_%[3]s.py:%[4]d: in %[2]s\n    assert result == '%[5]s'\nE   AssertionError: assert '%[6]s' == '%[5]s'\n=========================== short test summary info ============================\nFAILED tests/test_%[3]s.py::%[2]s\n1 failed, %[7]d passed in %[8]d.%02[9]ds", dots, test, unit, line, want, got, passed, p.IntN(20), p.IntN(100))
	}
	done := []string{"`%s` passes now. The fix is on `%s`.", "All tests pass on my side, `%s` too. Branch: `%s`.", "I cannot reproduce the failure of `%s`: it passes on `%s`.", "Verified again: `%s` is green on `%s`. Please check once more.", "The fix for `%s` is in place (`%s`)."}
	back := []string{"`%s` still fails here. Please fix it.", "I pulled, and `%s` fails with the same assertion. Sending it back.", "Not fixed: `%s` fails as before.", "`%s` does not pass. Please have another look.", "Same failure of `%s` in my checkout. Rejected."}
	for k := range p.pickInt(3, 3, 4, 4, 5, 6, 8) {
		says := p.pick(done...)
		if k == 0 {
			says = p.pick(done[:2]...)
		}
		entries = append(entries, h.shell("cd "+mine+" && "+p.pick(tests...), green(), 0).by(coder).after(thought{"", p.pick("Let me run the test in my worktree.", "Let me see whether it passes.", "I check the fix again.", "Does it fail for me?")}))
		if k > 0 && p.coin() {
			entries = append(entries, h.shell("cd "+mine+" && git status --short", " M src/"+unit+".py", 0).by(coder).after(thought{"It passes here.", p.pick("Let me look at my changes.", "Is my change there?")}))
		}
		entries = append(entries, say(fmt.Sprintf(says, test, branch)).by(coder), handoff(coder, reviewer),
			h.shell("cd "+theirs+" && git pull origin "+branch, "From origin\n * branch            "+branch+" -> FETCH_HEAD\nAlready up to date.", 0).by(reviewer).after(thought{"", p.pick("Let me get the fix.", "I pull the branch.", "")}),
			h.shell("cd "+theirs+" && "+p.pick(tests...), red(), 1).by(reviewer).after(thought{"", p.pick("Now the test.", "Let me verify.", "Let me run it here.")}),
			say(fmt.Sprintf(p.pick(back...), test)).by(reviewer), handoff(reviewer, coder))
	}
	return entries, 7
}

// planItem is a line of a plan that a prompt refers to.
type planItem struct{ title, file, test, failure string }

func (p *generator) planItem() planItem {
	name, other := p.word(), p.word()
	return []planItem{
		{"Parse " + name + " files with nested " + other + "s", "src/" + name + ".rs", "cargo test -q " + name, "thread '" + name + "::tests::nested' panicked at src/" + name + ".rs:%d:9:\nassertion `left == right` failed\n  left: 2\n right: 3"},
		{"Sync the " + name + " with the " + other, "src/" + name + ".ts", "npx vitest run " + name, " FAIL  src/" + name + ".test.ts > syncs the " + other + "\nTypeError: Cannot read properties of undefined (reading '" + other + "')\n ❯ src/" + name + ".ts:%d:17"},
		{"Support " + name + " exports", name + "/export.go", "go test ./" + name + "/...", "--- FAIL: TestExport (0.00s)\n    export_test.go:%d: got 0 " + other + "s, want 4\nFAIL"},
		{"Handle a missing " + name + " in " + other, "src/" + name + ".py", "pytest -q tests/test_" + name + ".py", "E   KeyError: '" + other + "'\nsrc/" + name + ".py:%d: KeyError\n1 failed"},
	}[p.IntN(4)]
}

// promptLoopPicksSameItem follows one prompt that comes again and again. It takes the same item, fails alike, drops the change, and ends.
func promptLoopPicksSameItem(p *generator) (entries []entry, _ int) {
	h, item, file := p.harness(), p.planItem(), p.pick("PLAN.md", "fix_plan.md", "TODO.md", "progress.md", "@fix_plan.md")
	line, prompt := p.between(12, 400), fmt.Sprintf(p.pick("Study %s. Pick the most important open item, implement it, run the tests and commit. Only one item per loop.", "Read %s, choose the next unfinished task and complete it. Update the file when the tests pass.", "Continue with the work in %s. Do ONE task. If tests fail, do not commit."), file)
	plan := "# Plan\n"
	for range p.between(1, 12) {
		plan += "- [x] " + capitalized(p.phrase(2, 6)) + "\n"
	}
	plan += "- [ ] " + item.title + "\n"
	for range p.between(1, 5) {
		plan += "- [ ] " + capitalized(p.phrase(2, 6)) + "\n"
	}
	endings := []string{"The tests do not pass yet, so I have reverted the change. I leave `%s` open for the next iteration.", "I could not finish `%s` in this loop. The working tree is clean.", "`%s` needs more work. Nothing was committed.", "Tests for `%s` fail, so I stop here without a commit. The plan is unchanged."}
	for k := range p.laps() {
		entries = append(entries, user(prompt), h.shell("cat "+strings.TrimPrefix(file, "@"), strings.TrimRight(plan, "\n"), 0).after(thought{"", p.pick("Let me read the plan.", "First the plan.", "")}))
		for n := range p.between(1, 1+min(k, 1)) {
			t := thought{p.pick("The next open item is: "+item.title+".", "I'll work on \""+item.title+"\".", ""), p.pick("Let me implement it.", "Let me change `"+item.file+"`.", "I start with the code.")}
			if n > 0 {
				t = thought{"The test still fails.", p.pick("Let me correct the change.", "I'll try it another way.")}
			}
			entries = append(entries, h.edit(item.file).after(t),
				h.shell(item.test, fmt.Sprintf(item.failure, line)+fmt.Sprintf("\n(%d.%02ds)", p.IntN(30), p.IntN(100)), 1).after(p.runAgain()))
		}
		entries = append(entries, h.shell(p.pick("git checkout .", "git restore .", "git checkout -- "+item.file), p.pick("Updated 1 path from the index", ""), 0).after(thought{"The test fails.", "I drop the change."}),
			say(fmt.Sprintf(p.pick(endings...), item.title)))
	}
	return entries, 6
}
