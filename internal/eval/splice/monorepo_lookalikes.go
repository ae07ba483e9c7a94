package splice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents in large repositories: the same commands, each of which tells something.

func monorepoLookalikes() []kind {
	return []kind{
		{name: "visibility_opened_unit_by_unit", build: visibilityOpenedUnitByUnit},
		{name: "stack_of_branches_rebased", build: stackOfBranchesRebased},
		{name: "prints_show_next_value", build: printsShowNextValue},
		{name: "setting_traced_through_layers", build: settingTracedThroughLayers},
	}
}

// visibilityOpenedUnitByUnit opens the unit that the build names; the next build names another one, and the last one passes.
func visibilityOpenedUnitByUnit(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()+"/"+p.word()
	b := p.boundary(unit)
	command := p.pick(b.commands...)
	w := wording{
		[]string{"Let me build it first.", "First the build, to see what is refused."},
		[]string{"This one is not open to us.", "Another dependency that is closed.", "One more dependency to open.", ""},
		[]string{"Let me open it.", "Now this one.", "The same change there."},
	}
	for k := range p.between(6, 9) {
		other, run := p.word()+"/"+p.word(), p.runAgain()
		if k == 0 {
			run = w.of(p, 0)
		}
		entries = append(entries, h.shell(command, b.refused(p, unit, other), 1).after(run),
			h.replace(b.file(other), b.closed, b.open(unit)).after(w.of(p, k+1)))
	}
	return append(entries, h.shell(command, b.passed(p, unit), 0).after(p.runAgain())), 0
}

// stackOfBranchesRebased rebases one branch after the other onto the one below it, tests it, and pushes it.
func stackOfBranchesRebased(p *generator) (entries []entry, _ int) {
	h, user, below := p.harness(), p.word(), "main"
	test, runs := p.pick("make test", "go test ./...", "npm test --silent", "./gradlew check -q"), p.between(80, 300)
	push := p.coin()
	last := ""
	for k := range p.between(5, 8) {
		branch := fmt.Sprintf("%s/%02d-%s-%s", user, k+1, p.word(), p.word())
		commits := p.between(1, 5)
		entries = append(entries, h.shell("git checkout "+branch+" && git rebase "+below, fmt.Sprintf("Switched to branch '%s'\nRebasing (%d/%d)\nSuccessfully rebased and updated refs/heads/%s.", branch, commits, commits, branch), 0).after(p.nextItem(last, "`"+branch+"`")))
		runs += p.between(1, 9)
		entries = append(entries, h.shell(test, fmt.Sprintf("%d tests passed in %d.%ds", runs, p.between(3, 40), p.IntN(10)), 0).after(thought{"", p.pick("Let me run the tests on it.", "Now the tests.", "Does it still pass?")}))
		if push {
			entries = append(entries, h.shell("git push --force-with-lease origin "+branch, fmt.Sprintf(" + %07x...%07x %s -> %s (forced update)", p.IntN(1<<28), p.IntN(1<<28), branch, branch), 0))
		}
		below, last = branch, "that branch"
	}
	return entries, 0
}

// printsShowNextValue adds a print and runs the same test; each print shows a value that was not known.
func printsShowNextValue(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()+"/"+p.word()
	t := p.suite(unit)
	w := wording{
		[]string{"I'll add a print to see what is passed in.", "Let me print the value where it is computed."},
		[]string{"So this value is right.", "That is as it should be, so the fault lies further on.", "Now I know what goes in.", "Good, that rules this step out."},
		[]string{"Let me print the next step.", "I'll print one level further down.", "Next, what the caller gets.", "Let me add another print."},
	}
	shown := ""
	for k := range p.between(5, 8) {
		name := p.word() + "_" + p.word()
		statement := p.pick(t.lines...)
		line := name + p.pick(" ", "=") + strings.Join(p.words(p.between(2, 5)), ", ")
		for _, mark := range []string{"DEBUG ", "here ", "XXX "} {
			if strings.Contains(statement, mark) {
				line = mark + line
			}
		}
		if p.coin() {
			shown = line
		} else {
			shown += "\n" + line
		}
		entries = append(entries, h.replace(t.file, name+"(", fmt.Sprintf(statement, name, p.word())+"\n"+name+"(").after(w.of(p, k)),
			h.shell(t.command, t.output(strings.TrimPrefix(shown, "\n")), 1).after(p.rerun()))
	}
	return entries, 0
}

// settingTracedThroughLayers follows a setting from file to file; each place tells its next name.
func settingTracedThroughLayers(p *generator) (entries []entry, _ int) {
	h, name, view := p.harness(), p.word()+"_"+p.word(), p.coin()
	lines := map[string]string{
		"values.yaml": "  %s: \"{{%s}}\"", "templates/deployment.yaml": "            %s: {{ .Values.%s }}", "entrypoint.sh": "export %s=\"${%s}\"", "config/loader.go": "\tcfg.%s = os.Getenv(\"%s\")",
		"options.go": "\tfs.StringVar(&o.%s, \"%s\", \"\", \"\")", "Dockerfile": "ENV %s=${%s}", "defaults.env": "%s=${%s}", "settings.py": "%s = environ[\"%s\"]", "main.tf": "  %s = var.%s", "compose.yaml": "      %s: ${%s}",
	}
	for _, file := range p.shuffled(slices.Sorted(maps.Keys(lines))...)[:p.between(6, 9)] {
		path, next, at := p.word()+"/"+file, p.word()+"_"+p.word(), p.between(3, 400)
		found := fmt.Sprintf(lines[file], next, name)
		entries = append(entries, h.shell(p.pick("grep -rn ", "rg -n ", "git grep -n ")+"'"+name+"'", fmt.Sprintf("%s:%d:%s", path, at, found), 0).after(thought{
			p.pick("", "It gets another name there.", "It is passed on.", "Another layer."), p.pick("Where does `"+name+"` go?", "Let me follow `"+name+"`.", "Next, who reads `"+name+"`?"),
		}))
		if view {
			text := ""
			for k := -2; k < 3; k++ {
				row := fmt.Sprintf(lines[file], p.word()+"_"+p.word(), p.word())
				if k == 0 {
					row = found
				}
				text += fmt.Sprintf("%6d\t%s\n", at+k, row)
			}
			entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' %s", at-2, at+2, path), strings.TrimRight(text, "\n"), 0))
		}
		name = next
	}
	return entries, 0
}
