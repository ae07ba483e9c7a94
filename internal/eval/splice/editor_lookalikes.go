package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents in an editor and a shell.

func editorLookalikes() []kind {
	return []kind{
		{name: "refused_edits_made_after_read", build: refusedEditsMadeAfterRead},
		{name: "selection_halved_until_pair_found", build: selectionHalvedUntilPairFound},
		{name: "hardcoded_strings_extracted", build: hardcodedStringsExtracted},
		{name: "modules_compiled_without_output", build: modulesCompiledWithoutOutput},
	}
}

// refusedEditsMadeAfterRead edits file after file; the editor refuses each that was not read, and takes the edit after the read.
func refusedEditsMadeAfterRead(p *generator) (entries []entry, _ int) {
	g, last := p.readGate(), ""
	for range p.between(3, 4) {
		path, lines := p.settings()
		at := p.IntN(len(lines))
		name, _, _ := strings.Cut(lines[at], " = ")
		after := fmt.Sprintf("%s = int(os.environ.get(%q, %d))", name, name, p.between(1, 900))
		entries = append(entries, g.refused(path, lines[at], after).after(p.nextItem(last, "`"+name+"`")),
			g.read(path, lines).after(thought{p.pick("", "It wants the file to be read first."), p.pick("Let me read it.", "Reading the file.")}),
			g.done(path, lines[at], after).after(thought{"", p.pick("Now the edit.", "The same edit again, now that it is read.", "")}))
		last = "`" + name + "`"
	}
	return entries, 0
}

// selectionHalvedUntilPairFound runs halves of the test files until the one is found that breaks another.
func selectionHalvedUntilPairFound(p *generator) (entries []entry, _ int) {
	run, names := p.patientShell(), p.distinctWords(p.pickInt(17, 33, 65, 129))
	victim, rest, of := names[0], slices.Sorted(slices.Values(names[1:])), map[string]int{}
	for _, name := range names {
		of[name] = p.between(1, 9)
	}
	culprit := p.IntN(len(rest))
	last := p.pick("The test fails only after some other file.", "")
	try := func(files []string, fails bool) {
		count, args := of[victim], ""
		for _, name := range files {
			count += of[name]
			args += "tests/test_" + name + ".py "
		}
		if len(files) > 6 {
			first := slices.Index(names[1:], files[0]) + 1
			args = fmt.Sprintf("$(sed -n '%d,%dp' files.txt) ", first, first+len(files)-1)
		}
		output, status := fmt.Sprintf("%d passed in %d.%02ds", count, count/20, p.IntN(100)), 0
		if fails {
			output, status = fmt.Sprintf("FAILED tests/test_%s.py::test_%[1]s_defaults - AssertionError\n1 failed, %d passed in %d.%02ds", victim, count-1, count/20, p.IntN(100)), 1
		}
		entries = append(entries, run("pytest -q "+args+"tests/test_"+victim+".py", output, status).after(thought{last, p.pick("Let me halve the list.", "Half of what is left.", "Let me narrow it down further.", "")}))
		last = p.pick("It passes, so the culprit is in the other half.", "Not in this half.", "")
		if fails {
			last = p.pick("It fails, so the culprit is in this half.", "The culprit is among these.", "")
		}
	}
	copy(names[1:], rest)
	alone := false // whether the last run had the culprit alone
	for len(rest) > 1 {
		half := len(rest) / 2
		first := p.coin()
		files := rest[half:]
		if first {
			files = rest[:half]
		}
		within := (culprit < half) == first
		try(files, within)
		alone = within && len(files) == 1
		switch {
		case culprit < half:
			rest = rest[:half]
		default:
			rest, culprit = rest[half:], culprit-half
		}
	}
	if !alone {
		try(rest, true)
	}
	return entries, 0
}

// hardcodedStringsExtracted moves the texts of component after component into the catalog; the check counts fewer each time.
func hardcodedStringsExtracted(p *generator) (entries []entry, _ int) {
	h, names := p.patient(), p.distinctWords(p.between(4, 6))
	command := p.pick("npm run i18n:check", "npx i18next-cli lint", "pnpm lint:strings", "yarn i18n:lint")
	left := p.between(2, 5) * len(names)
	last := ""
	for k, name := range names {
		text, path := capitalized(p.phrase(2, 4)), "src/components/"+capitalized(name)+p.pick("Card", "Panel", "Form", "List")+".tsx"
		entries = append(entries, h.replace(path, "      <span>"+text+"</span>", "      <span>{t('"+name+"."+p.word()+"')}</span>").after(p.nextItem(last, capitalized(name))))
		left -= p.between(1, 3)
		if k == len(names)-1 {
			entries = append(entries, h.shell(command, "No hardcoded strings found.", 0).after(p.runAgain()))
			break
		}
		output := fmt.Sprintf("Found %d hardcoded strings in %d files:", max(left, len(names)-k-1), len(names)-k-1)
		for _, other := range names[k+1:] {
			output += fmt.Sprintf("\n  src/components/%s*.tsx", capitalized(other))
		}
		entries = append(entries, h.shell(command, output, 1).after(thought{p.pick("", "That one is moved."), p.pick("How many are left?", "Let me run the check.", "")}))
		last = capitalized(name)
	}
	return entries, 0
}

// modulesCompiledWithoutOutput checks the syntax of file after file; a check that passes prints nothing, and a fault is mended.
func modulesCompiledWithoutOutput(p *generator) (entries []entry, _ int) {
	h, form := p.patient(), p.IntN(3)
	folder, last := p.word(), ""
	names := p.distinctWords(p.between(6, 10))
	faulty := p.IntN(len(names))
	for k, name := range names {
		path := []string{"src/" + folder + "/" + name + ".py", "scripts/" + name + ".sh", "lib/" + folder + "/" + name + ".js"}[form]
		check := []string{"python -m py_compile " + path, "bash -n " + path, "node --check " + path}[form]
		line := p.between(4, 300)
		if k == faulty {
			output := []string{
				fmt.Sprintf("  File \"%s\", line %d\n    print \"%s done\"\n    ^^^^^^^^^^^^^^^^^\nSyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?", path, line, name),
				fmt.Sprintf("%s: line %d: syntax error near unexpected token `fi'\n%[1]s: line %[2]d: `fi'", path, line),
				fmt.Sprintf("/workspace/%s:%d\n  return %s;\n  ^^^^^^\n\nSyntaxError: Unexpected token 'return'", path, line, name),
			}[form]
			fix := [][2]string{{"    print \"" + name + " done\"", "    print(\"" + name + " done\")"}, {"if [ -n \"$" + strings.ToUpper(name) + "\" ]", "if [ -n \"$" + strings.ToUpper(name) + "\" ]; then"}, {"const " + name + " = {", "const " + name + " = () => {"}}[form]
			entries = append(entries, h.shell(check, output, 1).after(p.nextItem(last, "`"+path+"`")), h.replace(path, fix[0], fix[1]).after(thought{"Here is a fault.", p.pick("Let me mend it.", "I'll fix that line.")}))
		}
		t := p.nextItem(last, "`"+path+"`")
		if k == faulty {
			t = p.runAgain()
		}
		entries = append(entries, h.shell(check, "", 0).after(t))
		last = "`" + path + "`"
	}
	return entries, 0
}
