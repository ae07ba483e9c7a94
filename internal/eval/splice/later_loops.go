package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file were written after the progress meter, to report on. Those marked as read were tuned on since.

func laterLoops() []kind {
	return []kind{
		{name: "state_locked", build: stateLocked},
		{name: "snapshot_mismatch", read: true, build: snapshotMismatch},
		{name: "locator_times_out", build: locatorTimesOut},
		{name: "table_denied", build: tableDenied},
		{name: "tickets_searched_again", build: ticketsSearchedAgain},
		{name: "crash_inspected_again", build: crashInspectedAgain},
		{name: "notes_rewritten", build: notesRewritten},
		{name: "todos_rewritten", build: todosRewritten},
		{name: "host_unreachable", build: hostUnreachable},
		{name: "human_check", read: true, build: humanCheck},
		{name: "facts_stored_again", read: true, build: factsStoredAgain},
		{name: "same_conflict", build: sameConflict},
		{name: "folder_listed_again", build: folderListedAgain},
		{name: "announced_without_call", build: announcedWithoutCall},
		{name: "sums_rearranged", read: true, build: sumsRearranged},
		{name: "screen_unchanged", build: screenUnchanged},
		{name: "end_of_page", read: true, build: endOfPage},
		{name: "two_errors_in_turn", read: true, build: twoErrorsInTurn},
		{name: "message_bounces", build: messageBounces},
		{name: "short_round", build: shortRound},
	}
}

// stateLocked plans and applies with other flags; the state is locked each time.
func stateLocked(p *generator) (entries []entry, _ int) {
	lock, who := p.uuid(), p.word()
	for range p.between(6, 9) {
		output := fmt.Sprintf("╷\n│ Error: Error acquiring the state lock\n│ \n│ Error message: ConditionalCheckFailedException: The conditional request failed\n│ RequestID: %s\n│ Lock Info:\n│   ID:        %s\n│   Who:       %s@ci\n╵", p.uuid(), lock, who)
		command := p.pick("terraform apply", "terraform plan", "terraform refresh", "terraform apply -auto-approve", "terraform plan -out tf.plan", "terraform destroy") + p.pick("", " -input=false", " -no-color", " -target=module."+p.word(), " -parallelism=1")
		entries = append(entries, p.shell(command, output, 1))
	}
	return entries, 1
}

// snapshotMismatch edits a component and runs the tests; one snapshot differs each time, among tests whose order and times vary.
func snapshotMismatch(p *generator) (entries []entry, _ int) {
	path, name, line := p.path(), p.phrase(2, 3), p.word()
	for range p.between(5, 8) {
		var output strings.Builder
		for _, suite := range p.words(p.between(3, 7)) {
			fmt.Fprintf(&output, "PASS src/%s.test.tsx (%d.%d s)\n", suite, p.between(1, 9), p.IntN(10))
		}
		fmt.Fprintf(&output, "FAIL src/App.test.tsx\n  ● %s › matches the snapshot\n    expect(received).toMatchSnapshot()\n    - Snapshot  - 1\n    + Received  + 1\n    -   class=\"%s\"\n › 1 snapshot failed.\nTests: 1 failed, %d passed\nTime: %d.%d s", name, line, p.between(20, 40), p.between(3, 9), p.IntN(999))
		entries = append(entries, p.edit(path), p.shell("npx jest", output.String(), 1))
	}
	return entries, 2
}

// locatorTimesOut clicks by other selectors, and each runs into a timeout.
func locatorTimesOut(p *generator) (entries []entry, _ int) {
	label := p.phrase(1, 2)
	for range p.between(5, 8) {
		selector := p.pick("text="+label, "button:has-text('"+label+"')", "#"+p.word(), "//button[contains(., '"+label+"')]", "[data-testid="+p.word()+"]", "role=button[name='"+label+"']")
		entries = append(entries, failed("page_click", object("selector", selector, "timeout", 1000*p.between(5, 30)), fmt.Sprintf("TimeoutError: locator.click: Timeout %dms exceeded.\nCall log:\n  - waiting for locator('%s')", 1000*p.between(5, 30), selector)))
	}
	return entries, 1
}

// tableDenied asks for a table in other ways and may not read it.
func tableDenied(p *generator) (entries []entry, _ int) {
	table := p.word() + "_" + p.word()
	for range p.between(5, 9) {
		query := p.pick("SELECT * FROM ", "SELECT count(*) FROM ", "SELECT id FROM public.", "TABLE ", "EXPLAIN SELECT * FROM ") + table + p.pick("", " LIMIT 5", " WHERE id = "+fmt.Sprint(p.between(1, 99)), " ORDER BY "+p.word())
		entries = append(entries, p.shell("psql -c '"+query+"'", "ERROR:  permission denied for table "+table, 1))
	}
	return entries, 1
}

// ticketsSearchedAgain searches with other filters, and finds the same tickets in another order.
func ticketsSearchedAgain(p *generator) (entries []entry, _ int) {
	tickets := make([]string, 5)
	for k := range tickets {
		tickets[k] = fmt.Sprintf("%s-%d: %s (%s)", strings.ToUpper(p.word()[:3]), p.between(100, 999), p.phrase(4, 7), p.pick("open", "in progress"))
	}
	project := p.word()
	for range p.between(6, 9) {
		filter := "project = " + project + p.pick(" AND text ~ ", " AND summary ~ ", " AND labels = ", " OR description ~ ") + p.word() + p.pick("", " ORDER BY created", " ORDER BY updated DESC")
		entries = append(entries, call("jira_search", object("jql", filter), object("total", len(tickets), "issues", p.shuffled(slices.Clone(tickets)...))))
	}
	return entries, 1
}

// crashInspectedAgain looks at the pods, the events and the log of a crash in turn; ages and counts alone move.
func crashInspectedAgain(p *generator) (entries []entry, _ int) {
	pod, why := fmt.Sprintf("%s-%x", p.word(), p.IntN(1<<20)), p.phrase(4, 7)
	for k := range p.between(4, 6) {
		entries = append(entries,
			p.shell("kubectl get pods", fmt.Sprintf("NAME      READY   STATUS             RESTARTS        AGE\n%s   0/1     CrashLoopBackOff   7 (%dm ago)   %dm", pod, p.between(1, 4), 3*k+11), 0),
			p.shell("kubectl describe pod "+pod+" | tail -4", fmt.Sprintf("  Normal   Pulled   %dm (x8 over 21m)  kubelet  Container image already present\n  Warning  BackOff  %ds (x90 over 20m)  kubelet  Back-off restarting failed container", 2*k+1, p.between(2, 58)), 0),
			p.shell("kubectl logs "+pod+" --tail=3", "panic: "+why+"\n\ngoroutine 1 [running]:\nmain.main()", 0))
	}
	return entries, 3
}

// notesRewritten writes the same notes again, in another order.
func notesRewritten(p *generator) (entries []entry, _ int) {
	path, lines := p.path(), make([]string, 7)
	for k := range lines {
		lines[k] = "- " + p.phrase(5, 9)
	}
	for range p.between(5, 8) {
		text := "# Findings\n" + strings.Join(p.shuffled(slices.Clone(lines)...), "\n")
		entries = append(entries, call("write_file", object("path", path, "content", text), quoted(fmt.Sprintf("Successfully wrote %d bytes to %s", len(text), path))))
	}
	return entries, 1
}

// todosRewritten sets its list of tasks again and does none of them.
func todosRewritten(p *generator) (entries []entry, _ int) {
	tasks := make([]string, 6)
	for k := range tasks {
		tasks[k] = p.phrase(3, 6) + p.pick(" (pending)", " (in progress)")
	}
	for range p.between(5, 8) {
		entries = append(entries, call("TodoWrite", object("todos", p.shuffled(slices.Clone(tasks)...)), quoted("Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable")))
	}
	return entries, 1
}

// hostUnreachable tries one host by other programs and ports.
func hostUnreachable(p *generator) (entries []entry, _ int) {
	host := fmt.Sprintf("10.%d.%d.%d", p.IntN(250), p.IntN(250), p.between(2, 250))
	for range p.between(6, 9) {
		port := p.between(20, 9000)
		entries = append(entries, []entry{
			p.shell(fmt.Sprintf("ssh -p %d deploy@%s", port, host), fmt.Sprintf("ssh: connect to host %s port %d: Connection timed out", host, port), 255),
			p.shell(fmt.Sprintf("nc -zv -w 3 %s %d", host, port), fmt.Sprintf("nc: connect to %s port %d (tcp) failed: Connection timed out", host, port), 1),
			p.shell(fmt.Sprintf("curl -m 5 http://%s:%d/", host, port), fmt.Sprintf("curl: (28) Failed to connect to %s port %d after %d ms: Connection timed out", host, port, p.between(4900, 5100)), 28),
			p.shell(fmt.Sprintf("scp -P %d app.tar deploy@%s:/srv", port, host), fmt.Sprintf("ssh: connect to host %s port %d: Connection timed out\nscp: Connection closed", host, port), 255),
		}[p.IntN(4)])
	}
	return entries, 1
}

// humanCheck opens results of a search, and each asks whether a human reads it.
func humanCheck(p *generator) (entries []entry, _ int) {
	for range p.between(6, 9) {
		url := "https://" + p.word() + ".example/" + p.word()
		page := fmt.Sprintf("Just a moment...\n%s needs to review the security of your connection before proceeding.\nVerify you are human by completing the action below.\nRay ID: %016x", strings.TrimPrefix(url, "https://"), p.Uint64())
		entries = append(entries, call("WebFetch", object("url", url, "prompt", "Summarise the page about "+p.phrase(2, 4)), quoted(page)))
	}
	return entries, 1
}

// factsStoredAgain stores the same facts in other words.
func factsStoredAgain(p *generator) (entries []entry, _ int) {
	subject, object1, object2 := p.word(), p.phrase(2, 3), p.phrase(2, 3)
	for range p.between(5, 8) {
		facts := p.shuffled(p.pick("It uses ", "Uses ", "It works with ")+object1, p.pick("Depends on ", "It depends on ", "Needs ")+object2)
		entries = append(entries, call("memory_add_observations", object("entity", subject, "contents", facts), object("status", "ok", "entity", subject, "added", facts)))
	}
	return entries, 1
}

// sameConflict merges in other ways and meets one conflict.
func sameConflict(p *generator) (entries []entry, _ int) {
	path, branch := p.path(), p.word()
	for range p.between(5, 8) {
		way := p.pick("merge", "rebase", "merge --no-ff", "merge -X patience", "rebase --onto HEAD~1", "pull --rebase origin")
		entries = append(entries,
			p.shell("git "+way+" "+branch, "Auto-merging "+path+"\nCONFLICT (content): Merge conflict in "+path+fmt.Sprintf("\nerror: could not apply %07x... %s", p.IntN(1<<28), p.pick("change", "update")), 1),
			p.shell("git "+p.pick("merge", "rebase", "reset --hard")+" --abort", "", 0))
	}
	return entries, 2
}

// folderListedAgain lists one folder by other commands and tools.
func folderListedAgain(p *generator) (entries []entry, _ int) {
	folder, names := p.word()+"/"+p.word(), p.words(6)
	list := func(form string) string {
		var text strings.Builder
		for _, name := range names {
			fmt.Fprintf(&text, form+"\n", name)
		}
		return text.String()
	}
	for k := range p.between(6, 10) {
		switch k % 4 {
		case 0:
			entries = append(entries, p.shell("ls "+folder, list("%s"), 0))
		case 1:
			entries = append(entries, call("list_directory", object("path", folder), quoted(list("[FILE] %s"))))
		case 2:
			entries = append(entries, p.shell("find "+folder+" -maxdepth 1", list(folder+"/%s"), 0))
		case 3:
			entries = append(entries, p.shell("ls -la "+folder, list(fmt.Sprintf("-rw-r--r-- 1 app app %d Nov 22 10:00 %%s", p.between(1000, 9000))), 0))
		}
	}
	return entries, 4
}

// announcedWithoutCall says what it will do, is told that it did not, and says so again.
func announcedWithoutCall(p *generator) (entries []entry, _ int) {
	topic := p.phrase(3, 5)
	for range p.between(5, 8) {
		entries = append(entries,
			say(p.pick("I will now run the ", "Now I am going to run the ", "Let me run the ")+topic+p.pick(" to see what it says.", " and look at its output.", ".")),
			entry{Kind: "message", Role: "user", Text: "No tool call was found in your response. Use exactly one tool call, or submit."})
	}
	return entries, 2
}

// sumsRearranged calculates one sum in other orders.
func sumsRearranged(p *generator) (entries []entry, _ int) {
	parts, result := make([]string, 5), p.between(100, 900)
	for k := range parts {
		parts[k] = fmt.Sprint(p.between(2, 99))
	}
	for range p.between(5, 8) {
		code := "print(" + strings.Join(p.shuffled(slices.Clone(parts)...), " + ") + ")"
		entries = append(entries, call("python", object("code", code), quoted(fmt.Sprint(result, "\n"))))
	}
	return entries, 1
}

// screenUnchanged clicks at other places of a screen that stays as it is.
func screenUnchanged(p *generator) (entries []entry, _ int) {
	window, parts := p.phrase(2, 3), p.words(5)
	for range p.between(6, 10) {
		args := object("action", p.pick("left_click", "double_click"), "coordinate", []string{fmt.Sprint(p.between(300, 340)), fmt.Sprint(p.between(500, 540))})
		screen := fmt.Sprintf("Screenshot taken at %02d:%02d:%02d. Window: %s. Visible: %s. Dialog: Save changes?", p.IntN(24), p.IntN(60), p.IntN(60), window, strings.Join(parts, ", "))
		entries = append(entries, call("computer", args, quoted(screen)))
	}
	return entries, 1
}

// endOfPage scrolls on where a page has ended.
func endOfPage(p *generator) (entries []entry, _ int) {
	footer := p.phrase(6, 9)
	for range p.between(6, 10) {
		answer := fmt.Sprintf("Scrolled down by %d pixels. Viewport position: bottom of the page (100%%).\n%s\nImprint | Privacy | Contact", p.between(200, 900), footer)
		entries = append(entries, call("page_down", object("pixels", p.between(200, 900)), quoted(answer)))
	}
	return entries, 1
}

// twoErrorsInTurn mends one error and makes another, and back.
func twoErrorsInTurn(p *generator) (entries []entry, _ int) {
	path, name := p.path(), p.word()
	errors := []string{
		"error TS2322: Type 'string | undefined' is not assignable to type '" + name + "'.",
		"error TS2352: Conversion of type '" + name + "' to type 'string' may be a mistake.",
	}
	for k := range 2 * p.between(4, 5) {
		entries = append(entries, p.edit(path), p.shell("npm run typecheck", fmt.Sprintf("> tsc --noEmit\n\n%s:%d:%d - %s\n\nFound 1 error in %s:%d", path, p.between(3, 300), p.between(1, 40), errors[k%2], path, p.between(3, 300)), 2))
	}
	return entries, 4
}

// messageBounces sends mail to other addresses of one domain, which all bounce.
func messageBounces(p *generator) (entries []entry, _ int) {
	domain, text := p.word()+".example", p.phrase(6, 12)
	for range p.between(5, 8) {
		to := p.word() + "@" + domain
		var answer json.RawMessage = object("id", p.uuid(), "to", to, "state", "bounced", "diagnostic", "550 5.1.1 <"+to+">: Recipient address rejected: User unknown in virtual mailbox table")
		entries = append(entries, call("send_email", object("to", to, "subject", p.phrase(2, 3), "body", text), answer))
	}
	return entries, 1
}

// shortRound is a round of three reads, made three times.
func shortRound(p *generator) ([]entry, int) {
	return slices.Repeat([]entry{p.call(), p.call(), p.call()}, 3), 3
}
