package splice

import (
	"fmt"
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
		[]string{"That one is visible now, and the next is refused.", "It moved on to another dependency.", "One more dependency to open.", ""},
		[]string{"Let me open the next one.", "Now this one.", "The same change there."},
	}
	for k := range p.between(6, 9) {
		other := p.word() + "/" + p.word()
		entries = append(entries, h.shell(command, b.refused(p, unit, other), 1).after(p.runAgain()),
			h.replace(b.file(other), b.rule(p, p.word()+"/"+p.word()), b.rule(p, unit)).after(w.of(p, k+1)))
	}
	return append(entries, h.shell(command, b.passed(p, unit), 0).after(p.runAgain())), 0
}

// stackOfBranchesRebased rebases one branch after the other onto the one below it, tests it, and pushes it.
func stackOfBranchesRebased(p *generator) (entries []entry, _ int) {
	h, user, below := p.harness(), p.word(), "main"
	test, runs := p.pick("make test", "go test ./...", "npm test --silent", "./gradlew check -q"), p.between(80, 300)
	push := p.coin()
	for k := range p.between(5, 8) {
		branch := fmt.Sprintf("%s/%02d-%s-%s", user, k+1, p.word(), p.word())
		commits := p.between(1, 5)
		entries = append(entries, h.shell("git checkout "+branch+" && git rebase "+below, fmt.Sprintf("Switched to branch '%s'\nRebasing (%d/%d)\nSuccessfully rebased and updated refs/heads/%s.", branch, commits, commits, branch), 0).after(p.nextItem(below, branch)))
		runs += p.between(1, 9)
		entries = append(entries, h.shell(test, fmt.Sprintf("%d tests passed in %d.%ds", runs, p.between(3, 40), p.IntN(10)), 0).after(p.runAgain()))
		if push {
			entries = append(entries, h.shell("git push --force-with-lease origin "+branch, fmt.Sprintf(" + %07x...%07x %s -> %s (forced update)", p.IntN(1<<28), p.IntN(1<<28), branch, branch), 0))
		}
		below = branch
	}
	return entries, 0
}

// printsShowNextValue adds a print and runs the same test; each print shows a value that was not known.
func printsShowNextValue(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()+"/"+p.word()
	command, output := p.suiteRun(unit)
	path := unit + "/" + p.word() + p.pick(".py", ".ts", ".cc", ".java")
	w := wording{
		[]string{"I'll add a print to see what is passed in.", "Let me print the value where it is computed."},
		[]string{"So this value is right.", "That is as it should be, so the fault lies further on.", "Now I know what goes in.", "Good, that rules this step out."},
		[]string{"Let me print the next step.", "I'll print one level further down.", "Next, what the caller gets.", "Let me add another print."},
	}
	shown := ""
	for k := range p.between(5, 8) {
		name := p.word() + "_" + p.word()
		line := fmt.Sprintf(p.pick("DEBUG %s = {%s}", "DEBUG %s: items=[%s]", "DEBUG enter %s(%s)"), name, strings.Join(p.words(p.between(2, 5)), ", "))
		if p.coin() {
			shown = line
		} else {
			shown += "\n" + line
		}
		entries = append(entries, h.replace(path, name+"(", `print("DEBUG `+name+`", `+p.word()+")\n"+name+"(").after(w.of(p, k)),
			h.shell(command, output(strings.TrimPrefix(shown, "\n")), 1).after(p.runAgain()))
	}
	return entries, 0
}

// settingTracedThroughLayers follows a setting from file to file; each place tells its next name.
func settingTracedThroughLayers(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()+"_"+p.word()
	view := p.coin()
	layers := p.shuffled("values.yaml", "templates/deployment.yaml", "entrypoint.sh", "config/loader.go", "internal/settings.go", "cmd/serve.go", "env/defaults.env", "deploy/kustomization.yaml", "pkg/options/options.go", "Dockerfile")
	for _, file := range layers[:p.between(6, 9)] {
		path, next, at := p.word()+"/"+file, p.word()+p.pick("_", "-", ".")+p.word(), p.between(3, 400)
		line := p.pick("%s: {{ .Values.%s }}", "export %s=\"${%s}\"", "cfg.%s = os.Getenv(\"%s\")", "flag.StringVar(&o.%s, \"%s\")", "%s = settings[\"%s\"]")
		found := fmt.Sprintf(line, next, name)
		entries = append(entries, h.shell(p.pick("grep -rn ", "rg -n ", "git grep -n ")+"'"+name+"'", fmt.Sprintf("%s:%d:%s", path, at, found), 0).after(thought{
			p.pick("", "So it gets another name here.", "It is passed on.", "Another layer."), p.pick("Where does `"+name+"` go?", "Let me follow `"+name+"`.", "Next, who reads `"+name+"`?"),
		}))
		if view {
			text := ""
			for k := -2; k < 3; k++ {
				row := p.code(1)
				if k == 0 {
					row = found
				}
				text += fmt.Sprintf("%6d\t%s\n", max(at, 4)+k, row)
			}
			entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' %s", max(at, 4)-2, max(at, 4)+2, path), strings.TrimRight(text, "\n"), 0))
		}
		name = next
	}
	return entries, 0
}
