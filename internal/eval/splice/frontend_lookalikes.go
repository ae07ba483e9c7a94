package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are honest work at a web frontend: one violation, one width, one directory or one step after the other.

func frontendLookalikes() []kind {
	return []kind{
		{name: "contrast_violations_cleared_in_turn", build: contrastViolationsClearedInTurn},
		{name: "page_measured_at_each_width", build: pageMeasuredAtEachWidth},
		{name: "codemod_run_on_each_directory", build: codemodRunOnEachDirectory},
		{name: "spec_fails_one_step_later", build: specFailsOneStepLater},
	}
}

// contrastReport returns what a checker of accessibility says of the elements that are left.
func (p *generator) contrastReport(form int, url string, elements []string, ratios map[string]string) string {
	if len(elements) == 0 {
		return []string{"Running Pa11y on URL " + url + "\n\nNo issues found!", "Running axe-core 4.10.2 in chrome-headless\n\nTesting " + url + " ... please wait, this may take a minute.\n\n  0 violations found!", fmt.Sprintf("Running 1 test using 1 worker\n  ✓  1 [chromium] › a11y.spec.ts:5:5 › has no violations (%d.%ds)\n\n  1 passed", p.between(1, 5), p.IntN(10))}[form]
	}
	text := ""
	for _, e := range elements {
		switch form {
		case 0:
			text += " • Error: This element has insufficient contrast at this conformance level. Expected a contrast ratio of at least 4.5:1, but text in this element has a contrast ratio of " + ratios[e] + ":1.\n   ├── WCAG2AA.Principle1.Guideline1_4.1_4_3.G18.Fail\n   ├── html > body > #app > " + e + "\n   └── <span class=\"" + strings.Trim(e, ".") + "\">...</span>\n\n"
		case 1:
			text += "    - " + e + " > span\n      Element has insufficient color contrast of " + ratios[e] + " (Expected contrast ratio of 4.5:1)\n"
		default:
			text += "    +   Object {\n    +     \"id\": \"color-contrast\",\n    +     \"impact\": \"serious\",\n    +     \"target\": [\"" + e + " > span\"],\n    +     \"contrastRatio\": " + ratios[e] + ",\n    +   },\n"
		}
	}
	switch form {
	case 0:
		return "Running Pa11y on URL " + url + "\n\nResults for URL: " + url + "\n\n" + text + plural(len(elements), "Error")
	case 1:
		return "Running axe-core 4.10.2 in chrome-headless\n\nTesting " + url + " ... please wait, this may take a minute.\n\n  Violation of \"color-contrast\" with " + plural(len(elements), "occurrence") + "!\n    Correct invalid elements at:\n" + text + "\n" + plural(len(elements), "Accessibility issue") + " detected."
	}
	return "  1) [chromium] › a11y.spec.ts:5:5 › has no violations ───\n\n    Error: expect(received).toEqual(expected) // deep equality\n\n    - Expected  - 1\n    + Received  + " + fmt.Sprint(6*len(elements)+1) + "\n\n" + text + fmt.Sprintf("\n  1 failed (%d.%ds)", p.between(1, 5), p.IntN(10))
}

// contrastViolationsClearedInTurn changes the color of one element after the other; the report has the same words and gets shorter.
func contrastViolationsClearedInTurn(p *generator) (entries []entry, _ int) {
	h, form, url := p.harness(), p.IntN(3), "http://localhost:4173/"+p.pick("", p.word())
	var elements []string
	ratios := map[string]string{}
	for _, word := range p.distinctWords(p.between(4, 10)) {
		e := "." + word + p.pick("-label", "-hint", "-badge", "__meta", "-link")
		elements, ratios[e] = append(elements, e), fmt.Sprintf("%d.%d", p.between(1, 3), p.between(1, 99))
	}
	command := []string{"npx pa11y " + url, "npx axe " + url + " --rules color-contrast", "npx playwright test a11y.spec.ts"}[form]
	file := p.pick("src/styles/theme.css", "src/app.css", "src/assets/main.scss", "app/globals.css")
	w := wording{
		[]string{"Let me run the accessibility check.", "I'll see which elements have too little contrast."},
		[]string{"One less.", "That element passes now.", "Good, the count went down.", "It is gone from the list.", ""},
		[]string{"Let me run the check again.", "What is left?", "Check again.", "Next run."},
	}
	for k, e := range elements {
		color := func(low, high int) string {
			return fmt.Sprintf("#%02x%02x%02x", p.between(low, high), p.between(low, high), p.between(low, high))
		}
		entries = append(entries, h.shell(command, p.contrastReport(form, url, elements[k:], ratios), 2-min(form, 1)).after(w.of(p, k)),
			h.replace(file, e+" { color: "+color(150, 210)+"; }", e+" { color: "+color(10, 90)+"; }").after(thought{"", p.pick("Let me darken `"+e+"`.", "Now `"+e+"`.", "I'll fix `"+e+"`.")}))
	}
	return append(entries, h.shell(command, p.contrastReport(form, url, nil, nil), 0).after(w.of(p, len(elements)))), 0
}

// pageMeasuredAtEachWidth resizes the window and measures the page by the same script; it fits at most widths, so that the answers are equal.
func pageMeasuredAtEachWidth(p *generator) (entries []entry, _ int) {
	url, title := fmt.Sprintf("http://localhost:%d/%s", p.pickInt(3000, 4173, 5173), p.word()), capitalized(p.phrase(1, 3))
	widths := []int{320, 344, 360, 375, 390, 412, 430, 480, 540, 600, 768, 820, 912, 1024, 1180, 1280, 1366, 1440, 1920, 2560}
	p.Shuffle(len(widths), func(i, j int) { widths[i], widths[j] = widths[j], widths[i] })
	widths = widths[:p.between(6, 14)]
	slices.Sort(widths)
	devtools, pictures := p.coin(), p.IntN(3) == 0
	script := p.pick("() => document.documentElement.scrollWidth > window.innerWidth", "() => ({ overflow: document.body.scrollWidth > innerWidth })", "() => [...document.querySelectorAll('*')].some(e => e.getBoundingClientRect().right > innerWidth + 1)")
	w := wording{
		[]string{"Let me go through the widths from the smallest up.", "I'll check the layout at each breakpoint."},
		[]string{"It fits.", "No overflow here.", "Fine at this width.", "Good.", ""},
		[]string{"Next width: %d.", "Now %d pixels.", "On to %d.", "Let me check %d."},
	}
	wide := 0
	for k, width := range widths {
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, width)
		}
		if k > 0 && wide == widths[k-1] {
			t.seen = fmt.Sprintf("It overflows at %d; I note that for later.", wide)
		}
		answer := "false"
		if p.IntN(7) == 0 {
			answer, wide = "true", width
		}
		if strings.Contains(script, "overflow:") {
			answer = "{\"overflow\":" + answer + "}"
		}
		height := p.pickInt(640, 720, 800, 900)
		if devtools {
			entries = append(entries, call("resize_page", object("width", width, "height", height), content("# resize_page response\n## Pages\n0: "+url+" [selected]")).after(t),
				call("evaluate_script", object("function", script), content("# evaluate_script response\nScript ran on page and returned:\n```json\n"+answer+"\n```")))
		} else {
			entries = append(entries, call("browser_resize", object("width", width, "height", height), p.snapshot(fmt.Sprintf("await page.setViewportSize({ width: %d, height: %d });", width, height), url, title)).after(t),
				call("browser_evaluate", object("function", script), content("### Result\n"+answer)))
		}
		if pictures {
			entries = append(entries, call(map[bool]string{true: "take_screenshot", false: "browser_take_screenshot"}[devtools], object("filename", fmt.Sprintf("w%d.png", width)), content(fmt.Sprintf("Took a screenshot of the viewport and saved it as w%d.png.", width))))
		}
	}
	return entries, 0
}

// codemodRunOnEachDirectory runs one codemod on a directory after the other; each run prints the same lines with other counts.
func codemodRunOnEachDirectory(p *generator) (entries []entry, _ int) {
	run, names := p.waitingShell(), p.distinctWords(p.between(6, 13))
	root, form := p.pick("src/", "packages/", "apps/web/src/", "libs/"), p.IntN(3)
	checks, commits := p.coin(), p.IntN(3) == 0
	mod := p.pick("use-client-directive", "class-to-function", "prop-types-to-ts", "rename-imports", "default-to-named-exports")
	w := wording{
		[]string{"I'll run the codemod directory by directory.", "Let me begin with `" + root + names[0] + "`."},
		[]string{"That directory is converted.", "No errors there.", "Done with that one.", "Good.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "On to `%s`.", "Let me convert `%s`."},
	}
	for k, name := range names {
		t, dir := w.of(p, k), root+name
		if k > 0 {
			t.next = fmt.Sprintf(t.next, dir)
		}
		files, changed := p.between(2, 60), 0
		changed = p.IntN(files + 1)
		command, output := "npx jscodeshift --parser=tsx -t codemods/"+mod+".ts "+dir, fmt.Sprintf("Processing %d files...\nSpawning %d workers...\nSending %d files to free worker...\nAll done.\nResults: \n0 errors\n%d unmodified\n0 skipped\n%d ok\nTime elapsed: %d.%03dseconds", files, 1+files%3, files, files-changed, changed, p.between(0, 9), p.IntN(1000))
		switch form {
		case 1:
			command, output = "npx ast-grep scan -r rules/"+mod+".yml -U "+dir, fmt.Sprintf("Applied %d changes", changed)
		case 2:
			command, output = "npx @codemod.com/cli run "+mod+" -t "+dir, fmt.Sprintf("Loading \"%s\" codemod...\n✔ Downloaded \"%[1]s\"\nCodemod processed %d files and changed %d of them in %d ms.", mod, files, changed, p.between(300, 9000))
		}
		entries = append(entries, run(command, output, 0).after(t))
		if checks {
			entries = append(entries, run("npx tsc --noEmit -p "+dir, "", 0).after(thought{"", p.pick("Does it still compile?", "Type check.", "")}))
		}
		if commits {
			entries = append(entries, run("git commit -qam 'Run "+mod+" on "+dir+"' && git log --oneline -1", p.commit()[:8]+" Run "+mod+" on "+dir, 0))
		}
	}
	return entries, 0
}

// specFailsOneStepLater brings an old end-to-end test up to date: each run times out at the next step whose element has a new name.
func specFailsOneStepLater(p *generator) (entries []entry, _ int) {
	h, name := harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}, p.word()
	file, steps := "e2e/"+name+".spec.ts", p.between(5, 9)
	command, at, looks := "npx playwright test "+file+p.pick("", " --project=chromium", " --reporter=line"), p.between(8, 14), p.IntN(3) == 0
	w := wording{
		[]string{"Let me run the spec.", "I'll see where the test stops."},
		[]string{"It gets one step further.", "That step passes now.", "Now it stops at the next element.", "Progress: it fails later.", ""},
		[]string{"Run it again.", "Let me run the spec again.", "How far does it get now?", "Once more."},
	}
	words := p.distinctWords(2 * steps)
	for k := range steps {
		old, renamed := capitalized(words[2*k]), capitalized(words[2*k+1])
		role, act := p.pick("button", "link", "tab", "menuitem"), "click()"
		if p.IntN(3) == 0 {
			role, act = "textbox", "fill('"+p.word()+"')"
		}
		at += p.between(1, 4)
		step := func(name string) string {
			return "await page.getByRole('" + role + "', { name: '" + name + "' })." + act + ";"
		}
		shown := ""
		if !looks {
			shown = fmt.Sprintf("\n    Page snapshot:\n      - heading \"%s\" [level=1]\n      - %s \"%s\"\n", capitalized(name), role, renamed)
		}
		entries = append(entries, h.shell(command, fmt.Sprintf("Running 1 test using 1 worker\n\n  1) [chromium] › %s:6:5 › %s ───\n\n    Test timeout of 30000ms exceeded.\n\n    Error: locator.%s: Test timeout of 30000ms exceeded.\n    Call log:\n      - waiting for getByRole('%s', { name: '%s' })\n\n    > %d |   %s\n         |   ^\n        at /workspace/%s:%d:%d\n%s\n  1 failed\n    [chromium] › %s:6:5 › %s", file, name, strings.Split(act, "(")[0], role, old, at, step(old), file, at, 30+len(old), shown, file, name), 1).after(w.of(p, k)))
		if looks {
			entries = append(entries, h.shell("grep -rn \""+renamed+"\" src --include=*.tsx | head -3", fmt.Sprintf("src/pages/%s.tsx:%d:  <%s>%s</%[3]s>", name, p.between(10, 200), map[string]string{"button": "Button", "link": "Link", "tab": "Tab", "menuitem": "MenuItem", "textbox": "Label"}[role], renamed), 0).after(thought{"", p.pick("What is it called now?", "Let me look for the new name.", "")}))
		}
		entries = append(entries, h.replace(file, "  "+step(old), "  "+step(renamed)).after(thought{p.pick("\""+old+"\" is called \""+renamed+"\" now.", "The "+role+" was renamed.", ""), p.pick("Let me update the step.", "I'll change the locator.", "")}))
	}
	return append(entries, h.shell(command, fmt.Sprintf("Running 1 test using 1 worker\n  ✓  1 [chromium] › %s:6:5 › %s (%d.%ds)\n\n  1 passed (%d.%ds)", file, name, p.between(3, 9), p.IntN(10), p.between(10, 12), p.IntN(10)), 0).after(w.of(p, steps))), 0
}
