package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents in large code bases: the same command again, after one step each time.

func refactorLookalikes() []kind {
	return []kind{
		{name: "real_calls_mocked_in_turn", build: realCallsMockedInTurn},
		{name: "import_cycles_cut_in_turn", build: importCyclesCutInTurn},
		{name: "functions_moved_out_of_module", build: functionsMovedOutOfModule},
		{name: "counterexamples_fixed_in_turn", build: counterexamplesFixedInTurn},
	}
}

// realCallsMockedInTurn mocks one client after the other; the same test fails at the call of the next service, and passes in the end.
func realCallsMockedInTurn(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()
	c, domain := p.outsideCall(unit), p.pick(".internal", ".svc.local", ".example")
	w := wording{
		[]string{"The test needs the network. Let me mock the first client.", "I'll mock what the test calls."},
		[]string{"That call is mocked, the next one goes to another service.", "One further.", "Now it fails at the next service.", "That mock works.", ""},
		[]string{"Let me mock this one as well.", "The same for the next client.", "I'll add a mock for it.", "Next client."},
	}
	clients, last, form := p.distinctWords(p.between(5, 9)), c.opening, p.IntN(2)
	for k, client := range clients {
		line := c.mocks(client)[form]
		entries = append(entries, h.replace(c.file, last, line+"\n"+last).after(w.of(p, k)))
		last = line
		if k == len(clients)-1 {
			return append(entries, h.shell(c.command, c.passed(), 0).after(p.runAgain())), 0
		}
		entries = append(entries, h.shell(c.command, c.output(clients[k+1]+domain), 1).after(p.runAgain()))
	}
	return entries, 0
}

// importCyclesCutInTurn changes an import and lists the circular imports; each time the list is shorter.
func importCyclesCutInTurn(p *generator) (entries []entry, _ int) {
	h, units, python := p.harness(), p.distinctWords(12), p.coin()
	var cycles [][]string
	for range p.between(6, 30) {
		cycles = append(cycles, p.shuffled(append([]string(nil), units...)...)[:p.between(2, 5)])
	}
	command, ending := p.pick("npx madge --circular --extensions ts src", "npx madge -c src/index.ts"), ".ts"
	if python {
		command, ending = "pylint --disable=all --enable=cyclic-import app", ".py"
	}
	list := func() (text string, status int) {
		switch {
		case len(cycles) == 0 && python:
			return "\n--------------------------------------------------------------------\nYour code has been rated at 10.00/10", 0
		case len(cycles) == 0:
			return fmt.Sprintf("Processed %d files (%d.%ds)\n\n✔ No circular dependency found!", 240, p.between(1, 4), p.IntN(10)), 0
		case python:
			for _, cycle := range cycles {
				text += "app/" + cycle[0] + ".py:1:0: R0401: Cyclic import (app." + strings.Join(cycle, " -> app.") + ") (cyclic-import)\n"
			}
			return text + fmt.Sprintf("\n------------------------------------------------------------------\nYour code has been rated at 9.%02d/10", 99-len(cycles)), 8
		}
		text = fmt.Sprintf("Processed %d files (%d.%ds)\n\n✖ Found %d circular dependencies!\n", 240, p.between(1, 4), p.IntN(10), len(cycles))
		for k, cycle := range cycles {
			text += fmt.Sprintf("\n%d) %s.ts", k+1, strings.Join(cycle, ".ts > "))
		}
		return text, 1
	}
	w := wording{
		[]string{"I start with the first cycle.", "Let me cut the first of them."},
		[]string{"Fewer cycles are left.", "That one is cut.", "Better.", "The list is shorter.", ""},
		[]string{"Let me cut the next one.", "Next cycle.", "On to the first of the rest.", "Now this import."},
	}
	text, status := list()
	entries = append(entries, h.shell(command, text, status))
	each := len(cycles)/p.between(5, 8) + 1
	for k := 0; len(cycles) > 0; k++ {
		cut := cycles[0]
		from, to := "import { "+capitalized(cut[1])+" } from \"./"+cut[1]+"\";", "import type { "+capitalized(cut[1])+" } from \"./"+p.pick("types", "contracts")+"\";"
		if python {
			from, to = "from app."+cut[1]+" import "+capitalized(cut[1]), "if TYPE_CHECKING:\n    from app."+cut[1]+" import "+capitalized(cut[1])
		}
		cycles = cycles[min(len(cycles), p.between(1, each+1)):]
		text, status = list()
		entries = append(entries, h.replace(map[bool]string{true: "app/", false: "src/"}[python]+cut[0]+ending, from, to).after(w.of(p, k)), h.shell(command, text, status).after(p.runAgain()))
	}
	return entries, 0
}

// functionsMovedOutOfModule moves function after function out of a long module; the tests print the same each time, and the module gets shorter.
func functionsMovedOutOfModule(p *generator) (entries []entry, _ int) {
	h, module, passed := p.harness(), "src/"+p.word()+"/"+p.pick("utils", "helpers", "core", "views", "legacy")+".py", p.between(90, 900)
	length, counts := p.between(2200, 4800), p.coin()
	last, dots := "", ""
	for left := passed; left > 0; left -= 72 {
		dots += strings.Repeat(".", min(72, left)) + "\n"
	}
	for range p.between(5, 9) {
		name, target := p.word()+"_"+p.word(), "src/"+p.word()+"/"+p.word()+".py"
		body := "def " + name + "(" + p.word() + "):\n" + strings.ReplaceAll(strings.Join(p.python(p.between(2, 14)), "\n"), "        ", "    ")
		entries = append(entries, h.create(target, body+"\n").after(p.nextItem(last, "`"+name+"`")),
			h.replace(module, body, "from "+strings.NewReplacer("/", ".", ".py", "").Replace(target)+" import "+name),
			h.shell("python -m pytest -q", dots+fmt.Sprintf("%d passed in %d.%02ds", passed, p.between(4, 60), p.IntN(100)), 0).after(thought{"", p.pick("Run the tests.", "Do the tests still pass?", "Let me check that nothing broke.")}))
		if length -= strings.Count(body, "\n") * p.between(4, 20); counts {
			entries = append(entries, h.shell("wc -l "+module, fmt.Sprintf("%d %s", length, module), 0))
		}
		last = "`" + name + "`"
	}
	return entries, 0
}

// counterexamplesFixedInTurn runs one property; each fix makes it find another counterexample, and the last run passes.
func counterexamplesFixedInTurn(p *generator) (entries []entry, _ int) {
	h, name, other := p.harness(), p.word(), p.word()
	python := p.coin()
	file, command := "src/"+name+".ts", "npx jest "+name+".property"
	if python {
		file, command = "src/"+name+".py", "python -m pytest tests/test_"+name+"_properties.py"
	}
	values := p.shuffled("\"\"", "\"0\"", "\"\\x00\"", "\"ß\"", "\"İ\"", "[]", "[0, 0]", "[-1]", "-0.0", "NaN", "1e308", "9007199254740993", "\" \"", "\"a\\nb\"", "\"\\ud800\"", "[[]]")
	w := wording{
		[]string{"Let me run the property.", "First I handle what the property has found."},
		[]string{"This input is handled now. There is another counterexample.", "Another input fails.", "That is a new case.", "The shrunk input is a different one.", ""},
		[]string{"Let me handle this case.", "I'll treat this input as well.", "Fix this one too.", "Let me cover that case."},
	}
	total := p.between(3, 20)
	seconds := func() string { return fmt.Sprintf("%d.%02d", p.between(1, 30), p.IntN(100)) }
	step := "  const parts = split(" + other + ");\n"
	if python {
		step = "    parts = split(" + other + ")\n"
	}
	handled := func(value string) string {
		if python {
			return fmt.Sprintf(p.pick("    if %s == %s:\n        return %s\n", "    if is_special(%s, %s):  # was lost\n        return escape(%s)\n", "    %[1]s = normalise(%[1]s, keep=%[2]s)\n"), other, value, p.pick("EMPTY", other, p.word()))
		}
		return fmt.Sprintf(p.pick("  if (%s === %s) {\n    return %s;\n  }\n", "  // %[2]s was lost\n  if (isSpecial(%[1]s)) return escape(%[3]s);\n", "  %[1]s = normalise(%[1]s, { keep: %[2]s });\n"), other, value, p.pick("EMPTY", other, p.word()))
	}
	for k, value := range values[:p.between(5, 9)] {
		text := fmt.Sprintf("FAIL src/%s.property.test.ts\n  ● %s survives a round trip\n\n    Property failed after %d tests\n    { seed: %d, path: \"%d:%d\", endOnFailure: true }\n    Counterexample: [%s]\n    Shrunk %d time(s)\n    Got error: expect(received).toEqual(expected)\n\nTests:       1 failed, %d passed, %d total", name, name, p.between(1, 99), p.Int32(), p.IntN(90), p.IntN(9), value, p.between(0, 40), total-1, total)
		if python {
			text = fmt.Sprintf("    def test_%[1]s_survives_a_round_trip(%[2]s):\n>       assert decode(encode(%[2]s)) == %[2]s\nE       AssertionError\nE       Falsifying example: test_%[1]s_survives_a_round_trip(\nE           %[2]s=%[3]s,\nE       )\n\ntests/test_%[1]s_properties.py:%[4]d: AssertionError\n1 failed, %[5]d passed in %[6]ss", name, other, value, 17, total-1, seconds())
		}
		entries = append(entries, h.shell(command, text, 1).after(w.of(p, k)), h.replace(file, step, handled(value)+step).after(thought{"", p.pick("", "The input is "+value+".", "It fails for "+value+".")}))
	}
	passed := fmt.Sprintf("PASS src/%s.property.test.ts\n\nTests:       %d passed, %d total", name, total, total)
	if python {
		passed = fmt.Sprintf("%d passed in %ss", total, seconds())
	}
	return append(entries, h.shell(command, passed, 0).after(p.runAgain())), 0
}
