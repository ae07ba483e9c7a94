package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents with a shell and an editor.

func workbenchLoops() []kind {
	return []kind{
		{name: "test_stays_red_after_edits", build: testStaysRedAfterEdits},
		{name: "files_reread_instead_of_written", build: filesRereadInsteadOfWritten},
		{name: "fixes_break_each_other", build: fixesBreakEachOther},
		{name: "dev_server_refuses_connections", build: devServerRefusesConnections},
	}
}

// redTest is a test that fails in one way, and the guesses that an agent makes at one line.
type redTest struct {
	file, line    string
	guesses       []string
	command, fail string // the text of fail has the number of passing tests and the duration
}

func (p *generator) redTest() redTest {
	what := p.pick("invoice", "quote", "order", "payslip", "booking")
	return []redTest{
		{
			"src/" + what + "s/totals.py", "    total = sum(line.amount for line in lines)",
			[]string{
				"    total = round(sum(line.amount for line in lines), 2)", "    total = sum(round(line.amount, 2) for line in lines)",
				"    total = sum(Decimal(str(line.amount)) for line in lines)", "    total = math.fsum(line.amount for line in lines)",
				`    total = sum((line.amount for line in lines), start=Decimal("0"))`,
				"    total = sum(Decimal(line.amount).quantize(CENT) for line in lines)",
				"    total = sum([line.amount for line in list(lines)])", "    total = functools.reduce(operator.add, (line.amount for line in lines))",
			},
			"python -m pytest tests/test_" + what + "_totals.py -q",
			"FAILED tests/test_" + what + "_totals.py::test_discount_is_in_total\n    def test_discount_is_in_total(" + what +
				"):\n>       assert " +
				what +
				".total() == Decimal(\"107.10\")\nE       AssertionError: assert Decimal('119.00') == Decimal('107.10')\n" +
				"1 failed, %[1]d passed in %[2]d.%02[3]ds",
		},
		{
			"src/components/" + capitalized(what) + "Summary.tsx", "  const price = format(amount, currency);",
			[]string{
				"  const price = format(amount, currency, locale);", "  const price = amount.toLocaleString(locale, { style: 'currency', currency });",
				"  const price = new Intl.NumberFormat('de-DE', { style: 'currency', currency }).format(amount);",
				"  const price = useMemo(() => format(amount, currency), [amount]);",
				"  const price = format(Number(amount), currency);", "  const price = format(amount, currency).replace('.', ',');",
				"  const price = format(amount, currency).trim();", "  const price = formatPrice({ amount, currency, locale: 'de-DE' });",
			},
			"npx jest " + capitalized(what) + "Summary",
			"FAIL src/components/" + capitalized(what) +
				"Summary.test.tsx\n  ● shows the price in the customer's locale\n\n" +
				"    expect(received).toBe(expected)\n\n    Expected: \"12,50 €\"\n" +
				"    Received: \"€12.50\"\n\nTests:       1 failed, %[1]d passed\nTime:        %[2]d.%02[3]d s",
		},
		{
			"internal/" + what + "/queue.go", "\tsort.Slice(q.items, func(i, j int) bool { return q.items[i].due.Before(q.items[j].due) })",
			[]string{
				"\tsort.SliceStable(q.items, func(i, j int) bool { return q.items[i].due.Before(q.items[j].due) })",
				"\tslices.SortFunc(q.items, func(a, b item) int { return a.due.Compare(b.due) })",
				"\tslices.SortStableFunc(q.items, func(a, b item) int { return a.due.Compare(b.due) })",
				"\tsort.Sort(byDue(q.items))", "\theap.Init(&q.items)", "\tq.items = sorted(q.items)",
				"\tq.mu.Lock()\n\tsort.Slice(q.items, q.less)\n\tq.mu.Unlock()",
			},
			"go test ./internal/" + what + "/ -run 'Queue'",
			"=== RUN   TestQueueOrder/%[1]d_items\n--- FAIL: TestQueueOrder (0.0%[2]ds)\n    queue_test.go:88: Drain() = [b a c], want [a b c]\n" +
				"FAIL\nFAIL\texample.com/shop/internal/" + what + "\t0.%03[3]ds",
		},
	}[p.IntN(3)]
}

// replaceAt is harness.replace for one line, which keeps its number.
func (h harness) replaceAt(path string, number int, before, after string) entry {
	e := h.replace(path, before, after)
	if h.form == claudeCode {
		snippet := ""
		for k, line := range strings.Split(after, "\n") {
			snippet += fmt.Sprintf("\n%6d→%s", number+k, line)
		}
		e.Result = quoted("The file " + path + " has been updated. Here's the result of running `cat -n` on a snippet of the edited file:" +
			snippet)
	}
	return e
}

// testStaysRedAfterEdits guesses at one line, and the test fails with the same values.
func testStaysRedAfterEdits(p *generator) (entries []entry, _ int) {
	h, t := p.harness(), p.redTest()
	w := wording{
		first: []string{"The value comes from this line, so I change it.", "I see the problem. Let me fix it.", "This looks like the culprit."},
		seen: []string{
			"Still the same failure.", "Hmm, the assertion has not changed.", "The values are the same as before.", "It fails in the same way.",
			"Interesting, that made no difference.", "I see the real issue now.",
		},
		next: []string{
			"Let me try another way to write it.", "Perhaps the conversion is the problem.", "Let me handle this differently.",
			"The fix must be in this line.", "Let me rewrite it once more.", "This should do it.",
		},
	}
	before, passed, number := t.line, p.between(3, 60), p.between(12, 240)
	for k, guess := range p.shuffled(t.guesses...)[:p.between(5, 7)] {
		output := fmt.Sprintf(t.fail, passed, p.between(1, 9), p.IntN(100))
		entries = append(entries, h.replaceAt(t.file, number, before, guess).after(w.of(p, k)), h.shell(t.command, output, 1).after(p.runAgain()))
		before = guess
	}
	return entries, 2
}

// source returns the lines of a small module about things of one name.
func (p *generator) source(thing string) []string {
	lines := []string{"from app.db import session", "from app.models import " + capitalized(thing), ""}
	for _, verb := range p.shuffled("load", "store", "expire", "count", "merge", "export")[:p.between(3, 5)] {
		other := p.word()
		lines = append(
			lines, fmt.Sprintf("def %s_%s(%s_id, %s=None):", verb, thing, thing, other),
			fmt.Sprintf("    row = session.get(%s, %s_id)", capitalized(thing), thing), "    if row is None:",
			fmt.Sprintf("        raise LookupError(f\"no %s {%s_id}\")", thing, thing), fmt.Sprintf("    row.%s = %s or row.%s", p.word(), other,
				p.word()),
			p.pick("    session.commit()", "    session.flush()", "    audit.info(\""+verb+" "+thing+"\")"), "    return row", "",
		)
	}
	return lines
}

// filesRereadInsteadOfWritten reads four files, and reads them again by other commands whenever it means to write.
func filesRereadInsteadOfWritten(p *generator) (entries []entry, _ int) {
	h, task := p.harness(), p.pick("the rate limit", "soft deletion", "the audit log", "the new export", "idempotency keys")
	type file struct {
		path  string
		lines []string
	}
	files := make([]file, 4)
	for k, thing := range p.shuffled("upload", "invite", "report", "session", "tenant", "comment", "webhook")[:4] {
		files[k] = file{"app/" + p.pick("services", "api", "store") + "/" + thing + ".py", p.source(thing)}
		entries = append(entries, h.shell("cat "+files[k].path, strings.Join(files[k].lines, "\n"), 0).after(thought{
			next: p.pick("Let me read", "I look at", "Next I read") + " `" + files[k].path + "`.",
		}))
	}
	w := wording{seen: []string{
		"Now I understand how it works.", "I have a clear picture of " + task + " now.", "Good. Now I can implement " + task + ".",
		"That gives me all I need for " + task + ".", "Now let me write the code.",
	}, next: []string{
		"Before that, let me look at the code once more.", "First let me re-read this file.", "Let me check the exact lines.",
		"Let me see the context again.",
	}}
	for range p.between(8, 13) {
		f := files[p.IntN(4)]
		from := p.between(1, len(f.lines)/2)
		to := from + p.between(6, len(f.lines)/2)
		command, output := fmt.Sprintf("sed -n '%d,%dp' %s", from, to, f.path), f.lines[from-1:min(to, len(f.lines))]
		switch p.IntN(4) {
		case 0:
			command, output = p.pick("cat ", "cat -A ", "head -n 200 ")+f.path, f.lines
		case 1:
			command, output = fmt.Sprintf("head -n %d %s", to, f.path), f.lines[:min(to, len(f.lines))]
		}
		entries = append(entries, h.shell(command, strings.Join(output, "\n"), 0).after(w.of(p, 1)))
	}
	return entries, 4
}

// fixesBreakEachOther changes a line to please one test, which breaks another, and changes it back.
func fixesBreakEachOther(p *generator) (entries []entry, _ int) {
	type conflict struct{ file, command, old, new, oldFails, newFails string }
	module := p.pick("schedule", "calendar", "shipping", "roster")
	c := []conflict{
		{
			"app/" + module + "/parse.py", "pytest tests/" + module +
				" -q", "    return datetime.fromisoformat(text)", "    return datetime.fromisoformat(text).replace(tzinfo=UTC)",
			"FAILED tests/" + module +
				"/test_parse.py::test_stored_dates_are_aware - TypeError: can't compare offset-naive and offset-aware datetimes",
			"FAILED tests/" + module + "/test_form.py::test_form_dates_stay_local - AssertionError: assert '09:00+00:00' == '09:00'",
		},
		{
			"lib/" + module + "/path.rb", "bundle exec rspec spec/" + module, "    File.join(root, name)", "    File.expand_path(name, root)",
			"rspec ./spec/" + module + "/path_spec.rb:14 # Path refuses names that leave the root",
			"rspec ./spec/" + module + "/link_spec.rb:31 # Link keeps relative targets",
		},
		{
			"src/" + module + "/merge.ts", "npx vitest run src/" +
				module, "  return { ...defaults, ...given };", "  return { ...given, ...defaults };",
			" FAIL  src/" + module + "/merge.test.ts > locked fields win over the form\nAssertionError: expected 'draft' to be 'locked'",
			" FAIL  src/" + module + "/merge.test.ts > the form wins over defaults\nAssertionError: expected 'EUR' to be 'CHF'",
		},
	}[p.IntN(3)]
	h, w := p.harness(), wording{
		first: []string{"One test fails because of this line.", "Let me fix this test first."},
		seen: []string{
			"That test passes now, but the other one broke.", "Good, but now there is a failure in the other test.",
			"This fixed one and broke another.", "Hmm, now the first one fails again.",
		},
		next: []string{
			"Let me undo that part.", "I'll put it back for this case.", "Let me adjust the line.", "That line has to change.",
			"Let me fix that one now.",
		},
	}
	number, passed := p.between(8, 120), p.between(9, 80)
	for k := range 2 * p.between(3, 5) {
		before, after, fails := c.old, c.new, c.newFails
		if k%2 == 1 {
			before, after, fails = c.new, c.old, c.oldFails
		}
		output := fmt.Sprintf("%s\n1 failed, %d passed in %d.%02ds", fails, passed, p.between(1, 5), p.IntN(100))
		entries = append(entries, h.replaceAt(c.file, number, before, after).after(w.of(p, k)), h.shell(c.command, output, 1).after(p.runAgain()))
	}
	return entries, 4
}

// devServerRefusesConnections starts a server that ends at once for want of a setting, which the agent never sets.
func devServerRefusesConnections(p *generator) (entries []entry, _ int) {
	type server struct{ start, log, port string }
	setting := p.pick("SESSION_SECRET", "DATABASE_URL", "STRIPE_KEY", "MAIL_FROM")
	s := []server{
		{"npm run dev", "> vite-node server.ts\n\nError: Missing required environment variable " + setting +
			"\n    at loadConfig (src/config.ts:17:11)", "3000"},
		{"python manage.py runserver", "django.core.exceptions.ImproperlyConfigured: Set the " + setting + " environment variable", "8000"},
		{"cargo run --bin api", "thread 'main' panicked at src/main.rs:22:40:\n" + setting + " must be set: NotPresent", "8080"},
	}[p.IntN(3)]
	h, w := p.harness(), wording{
		first: []string{"Let me start the server.", "I'll run the server in the background."},
		seen: []string{
			"The server is not up.", "It did not come up.", "Connection refused.", "The server seems to have stopped.",
			"It may not be bound to the right interface.",
		},
		next: []string{
			"Let me restart it.", "Let me start it in another way.", "I'll kill what is left and start it again.",
			"Let me start it detached.", "Let me try again with a longer wait.",
		},
	}
	starts := p.shuffled(
		s.start+" > server.log 2>&1 &", "nohup "+s.start+" > server.log 2>&1 &", "setsid "+s.start+" > server.log 2>&1 < /dev/null &",
		"pkill -f '"+s.start+"'; "+s.start+" > server.log 2>&1 & disown", "("+s.start+" > server.log 2>&1 &)",
		"bash -c '"+s.start+"' > server.log 2>&1 &",
		"PORT="+s.port+" "+s.start+" > server.log 2>&1 &",
	)
	for k, start := range starts[:p.between(4, 7)] {
		pid, wait, host := p.between(300, 40000), p.between(2, 15), p.pick("localhost", "127.0.0.1")
		refused := fmt.Sprintf("curl: (7) Failed to connect to %s port %s after %d ms: Couldn't connect to server", host, s.port, p.IntN(4))
		entries = append(
			entries, h.shell(start, fmt.Sprintf("[1] %d", pid), 0).after(w.of(p, k)),
			h.shell(fmt.Sprintf("sleep %d && curl -sS %s:%s/%s", wait, p.pick("http://", "")+host, s.port,
				p.pick("", "health", "api")), refused, 7),
			h.shell(p.pick("cat server.log", "tail -n 20 server.log", "tail server.log"), s.log, 0),
		)
	}
	return entries, 3
}
