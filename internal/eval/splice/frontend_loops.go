package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents that build a web frontend and look at it in a browser.

func frontendLoops() []kind {
	return []kind{
		{name: "effect_dependencies_swapped", build: effectDependenciesSwapped},
		{name: "dev_servers_pile_up", build: devServersPileUp},
		{name: "locator_matches_several_elements", build: locatorMatchesSeveralElements},
		{name: "empty_root_inspected_again", build: emptyRootInspectedAgain},
	}
}

// reactiveFault is a component whose effect runs too often or misses a change. Each of two groups of edits brings one of the two faults.
type reactiveFault struct {
	file         string
	often, rare  []string // the line of the effect that runs too often, and of the one that misses a change
	oftenCommand string
	rareCommand  string
	oftenOutput  func() string
	rareOutput   func() string
}

// updateDepth returns the report of a React test whose component updates without end.
func (p *generator) updateDepth(component, file string, frames, at int) string {
	test := file[:len(file)-4] + ".test.tsx"
	text := fmt.Sprintf(" RUN  v3.0.5 /workspace/apps/web\n\n ❯ %s (%d tests | 1 failed) %dms\n   × %s > loads on mount %dms\n     → Maximum update depth exceeded. This can happen when a component repeatedly calls setState inside componentWillUpdate or componentDidUpdate. React limits the number of nested updates to prevent infinite loops.\n\n FAIL  %s > %s > loads on mount\nError: Maximum update depth exceeded.\n", test, 4+frames%5, p.between(200, 1900), component, p.between(90, 900), test, component)
	for k := range frames {
		text += fmt.Sprintf(" ❯ %s node_modules/react-dom/cjs/react-dom-client.development.js:%d:%d\n", []string{"getRootForUpdatedFiber", "enqueueConcurrentHookUpdate", "dispatchSetStateInternal", "dispatchSetState", "commitHookEffectListMount", "flushPassiveEffects"}[k%6], 3000+211*k, 3+k%9)
	}
	return text + fmt.Sprintf(" ❯ %s:%d:5\n\n Test Files  1 failed (1)\n      Tests  1 failed | %d passed (%d)\n   Duration  %d.%02ds (transform %dms, setup %dms)", file, at, 3+frames%5, 4+frames%5, p.between(1, 6), p.IntN(100), p.between(40, 300), p.between(50, 400))
}

func (p *generator) reactiveFault() reactiveFault {
	thing, id, frames := p.word(), p.word()+"Id", p.between(2, 24)
	load, component := "load"+capitalized(thing), capitalized(thing)+p.pick("Panel", "List", "Table", "Card", "Page")
	if p.IntN(3) == 0 {
		file := "src/components/" + component + ".vue"
		test := func(why string) string {
			return fmt.Sprintf(" RUN  v2.1.8 /workspace\n\n FAIL  tests/unit/%s.spec.ts > %s > reloads when the %s changes\n%s\n ❯ tests/unit/%s.spec.ts:%d:18\n\n Test Files  1 failed (1)\n      Tests  1 failed | %d passed (%d)\n   Duration  %d.%02ds", component, component, thing, why, component, 40+frames, frames, frames+1, p.between(1, 6), p.IntN(100))
		}
		command := p.pick("npx vitest run ", "npm run test:unit -- ", "pnpm vitest run ") + "tests/unit/" + component + ".spec.ts"
		return reactiveFault{
			file,
			[]string{"watch([() => props." + id + ", filters], " + load + ", { deep: true })", "watch(filters, " + load + ", { deep: true, immediate: true })", "watchEffect(() => " + load + "(props." + id + ", filters.value))", "watch(() => ({ ...filters.value }), " + load + ", { deep: true })"},
			[]string{"watch(() => props." + id + ", " + load + ")", "watch(() => props." + id + ", " + load + ", { once: true })", "onMounted(" + load + ")", "watch(() => filters, " + load + ")"},
			command, command,
			func() string {
				return test("Error: Maximum recursive updates exceeded in component <" + component + ">. This means you have a reactive effect that is mutating its own dependencies and thus recursively triggering itself. Possible sources include component template, render function, updated hook or watcher source function.")
			},
			func() string {
				return test("AssertionError: expected \"spy\" to be called 2 times, but got 1 times")
			},
		}
	}
	file, at := p.pick("src/components/", "src/features/"+thing+"/", "app/"+thing+"/")+component+".tsx", p.between(16, 70)
	return reactiveFault{
		file,
		[]string{"  }, [" + id + ", " + load + "]);", "  }, [" + load + "]);", "  }, [" + id + ", " + load + ", options]);", "  }, [" + id + ", options, set" + capitalized(thing) + "s, " + load + "]);", "  });"},
		[]string{"  }, []);", "  }, [" + id + "]);", "  }, [" + id + ", options.sort]);", "  }, [" + id + ", options?.page]);"},
		p.pick("npx vitest run ", "npm test -- ", "pnpm test ") + file[:len(file)-4] + ".test.tsx",
		p.pick("npx eslint "+file+" --max-warnings 0", "npm run lint", "npx eslint src --ext .ts,.tsx --max-warnings=0"),
		func() string { return p.updateDepth(component, file, frames, at-p.IntN(3)) },
		func() string {
			return fmt.Sprintf("/workspace/apps/web/%s\n  %d:6  warning  React Hook useEffect has a missing dependency: '%s'. Either include it or remove the dependency array  react-hooks/exhaustive-deps\n\n✖ 1 problem (0 errors, 1 warning)\n\nESLint found too many warnings (maximum: 0).", file, at+p.IntN(2), load)
		},
	}
}

// effectDependenciesSwapped adds a dependency to an effect, which then runs without end, and takes it out, which another check refuses.
func effectDependenciesSwapped(p *generator) (entries []entry, _ int) {
	h, f := p.harness(), p.reactiveFault()
	w := wording{
		[]string{"I'll make the effect depend on everything that it reads.", "Let me fix the dependencies of the effect in `" + f.file + "`."},
		nil,
		[]string{"Let me change the dependencies.", "I'll adjust the effect.", "Let me list exactly what it needs.", "I'll stabilise the effect.", "Let me correct the dependency list.", "I'll write the effect in another way."},
	}
	saw := [2][]string{
		{"Now it misses the change.", "So it has to be listed after all.", "The other check complains now.", "The dependency is missing.", ""},
		{"Now the component updates without end.", "That brings the endless updates back.", "The dependency causes a render loop.", "Too many updates.", ""},
	}
	before := p.pick(f.rare...)
	for k := range 2 * min(p.laps(), 9) {
		w.seen = saw[k%2]
		lines, command, output := f.often, f.oftenCommand, f.oftenOutput
		if k%2 == 1 {
			lines, command, output = f.rare, f.rareCommand, f.rareOutput
		}
		after := p.pick(lines...)
		for after == before {
			after = p.pick(lines...)
		}
		if k > 3 && p.IntN(5) == 0 {
			entries = append(entries, h.shell("grep -n \"useEffect\\|watch\\|onMounted\" "+f.file, fmt.Sprintf("%d:%s", p.between(12, 50), before), 0).after(thought{"", p.pick("Let me look at the effect again.", "How does the effect look now?")}))
		}
		entries = append(entries, h.replace(f.file, before, after).after(w.of(p, k)), h.shell(command, output(), 1).after(p.runAgain()))
		before = after
	}
	return entries, 4
}

// devServersPileUp starts one more dev server to see a change, and asks the first one, which still serves the old page.
func devServersPileUp(p *generator) (entries []entry, _ int) {
	run, text := p.waitingShell(), capitalized(p.phrase(2, 3))
	log, pid := p.pick("/tmp/dev.log", "/tmp/vite.log", "dev.log"), p.between(300, 9000)
	s := []struct {
		starts []string
		port   int
		taken  func(port int) string
		ready  func(port int) string
	}{
		{
			[]string{"npm run dev", "npx vite", "npm run dev -- --force", "npx vite --host 0.0.0.0", "pnpm dev"},
			5173,
			func(port int) string { return fmt.Sprintf("Port %d is in use, trying another one...\n", port) },
			func(port int) string {
				return fmt.Sprintf("\n  VITE v6.0.%d  ready in %d ms\n\n  ➜  Local:   http://localhost:%d/\n  ➜  Network: use --host to expose", pid%9, p.between(180, 1900), port)
			},
		},
		{
			[]string{"npm run dev", "npx next dev", "npx next dev --turbo", "pnpm run dev", "yarn dev"},
			3000,
			func(port int) string {
				return fmt.Sprintf(" ⚠ Port %d is in use by process %d, using next available port instead.\n", port, pid+137*(port-3000))
			},
			func(port int) string {
				return fmt.Sprintf("   ▲ Next.js 15.1.%d\n   - Local:        http://localhost:%d\n\n ✓ Starting...\n ✓ Ready in %d.%ds", pid%9, port, p.between(1, 5), p.IntN(10))
			},
		},
		{
			[]string{"npm run storybook -- --ci", "npx storybook dev --ci", "npx storybook dev --no-open", "yarn storybook --ci"},
			6006,
			func(port int) string {
				return fmt.Sprintf("WARN Port %d is not available. Using the next one.\n", port)
			},
			func(port int) string {
				return fmt.Sprintf("╭──────────────────────────────────────╮\n│  Storybook 8.4.%d started             │\n│  %d ms for manager and %d s for preview │\n│  Local:  http://localhost:%d/        │\n╰──────────────────────────────────────╯", pid%9, p.between(90, 900), p.between(1, 9), port)
			},
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me start the dev server to see the change.", "I'll restart the dev server."},
		[]string{"The page still has the old text.", "My change does not show.", "The server must be serving a cached version.", "\"" + text + "\" is not there yet.", "Still the old page.", ""},
		[]string{"Let me restart the dev server.", "I'll start it once more.", "Let me start it with a clean cache.", "Let me run the dev server again.", "A fresh start should pick up the change."},
	}
	for k := range p.repeats() {
		start, output := p.pick(s.starts...), ""
		for n := range k + 1 {
			output += s.taken(s.port + n)
		}
		start = fmt.Sprintf(p.pick("(%s > %s 2>&1 &) ; sleep %d; cat %[2]s", "nohup %s > %s 2>&1 & sleep %d && cat %[2]s"), start, log, p.between(3, 8))
		entries = append(entries, run(start, "\n> web@0.1.0 dev\n\n"+output+s.ready(s.port+k+1), 0).after(w.of(p, k)))
		if k > 1 && p.IntN(4) == 0 {
			entries = append(entries, run(fmt.Sprintf("lsof -i :%d -sTCP:LISTEN", s.port), fmt.Sprintf("COMMAND   PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\nnode    %d root   23u  IPv6  %d      0t0  TCP *:%d (LISTEN)", pid, 40_000+pid, s.port), 0).after(thought{"", p.pick("Is it listening?", "Let me check the port.")}))
		}
		look, status := fmt.Sprintf(p.pick("curl -s http://localhost:%d/ | grep -c \"%s\"", "curl -s localhost:%d | grep -o \"%s\" | wc -l", "curl -s -H 'Cache-Control: no-cache' http://localhost:%d/ | grep -c \"%s\""), s.port, text), 0
		if strings.Contains(look, "grep -c") {
			status = 1
		}
		entries = append(entries, run(look, "0", status).after(thought{"", p.pick("Is the new text on the page?", "Let me check the page.", "Does it show now?", "Let me verify.")}))
	}
	return entries, 2
}

// strictLocator is a tool of tests in a browser that wants a locator of one element.
type strictLocator struct {
	file, command string
	action        func(locator string) string
	locators      []string
	output        func(locator string) string
}

func (p *generator) strictLocator() strictLocator {
	label, thing, others := p.pick("Save", "Edit", "Delete", "Add", "Close", "Details"), p.word(), p.between(2, 5)
	spec := thing + "-" + strings.ToLower(label)
	rows, at := p.distinctWords(others), p.between(14, 40)
	title := "the " + thing + " can be changed"
	switch p.IntN(3) {
	case 0:
		return strictLocator{
			"tests/e2e/" + spec + ".spec.ts", "npx playwright test tests/e2e/" + spec + ".spec.ts" + p.pick("", " --project=chromium", " --reporter=line"),
			func(locator string) string { return "  await page." + locator + ".click();" },
			[]string{"getByRole('button', { name: '" + label + "' })", "getByText('" + label + "')", "locator('button', { hasText: '" + label + "' })", "locator('.actions button').filter({ hasText: '" + label + "' })", "getByRole('button', { name: /" + strings.ToLower(label) + "/i })", "locator('[data-action]').getByText('" + label + "')", "getByLabel('" + label + "')", "locator('css=button:visible >> text=" + label + "')"},
			func(locator string) string {
				text := fmt.Sprintf("Running 1 test using 1 worker\n\n  1) [chromium] › tests/e2e/%s.spec.ts:9:5 › %s ───\n\n    Error: locator.click: Error: strict mode violation: %s resolved to %d elements:\n", spec, title, locator, others)
				for k, row := range rows {
					text += fmt.Sprintf("        %d) <button type=\"button\" class=\"btn btn-sm\">%s</button> aka getByRole('row', { name: '%s' }).getByRole('button')\n", k+1, label, row)
				}
				return text + fmt.Sprintf("\n    Call log:\n      - waiting for %s\n\n      %d |   await page.goto('/%s');\n    > %d |   await page.%s.click();\n         |          ^\n\n  1 failed\n    [chromium] › tests/e2e/%s.spec.ts:9:5 › %s\n  (%d.%ds)", locator, at-1, thing, at, locator, spec, title, p.between(2, 9), p.IntN(10))
			},
		}
	case 1:
		return strictLocator{
			"cypress/e2e/" + spec + ".cy.ts", "npx cypress run --spec cypress/e2e/" + spec + ".cy.ts",
			func(locator string) string { return "    " + locator + ".click();" },
			[]string{"cy.get('button:contains(" + label + ")')", "cy.get('.btn').filter(':contains(\"" + label + "\")')", "cy.get('.actions > button')", "cy.get('table').find('button')", "cy.get('[type=button]').filter(':visible')", "cy.get('tr td button.btn-sm')", "cy.get('button.btn').filter((i, el) => el.innerText === '" + label + "')"},
			func(string) string {
				return fmt.Sprintf("  Running:  %s.cy.ts                                        (1 of 1)\n\n  %s\n    1) %s\n\n  0 passing (%ds)\n  1 failing\n\n  1) %s\n       CypressError: `cy.click()` can only be called on a single element. Your subject contained %d elements. Pass `{ multiple: true }` if you want to serially click each element.\n      at Context.eval (webpack://web/./cypress/e2e/%s.cy.ts:%d:8)\n\n  (Screenshots)\n  -  /workspace/cypress/screenshots/%s.cy.ts/%s (failed).png   (1280x720)", spec, thing, title, p.between(4, 12), title, others, spec, at, spec, title)
			},
		}
	}
	return strictLocator{
		"src/" + thing + "/" + capitalized(thing) + ".test.tsx", "npx jest src/" + thing + p.pick("", " --runInBand", " -t '"+title+"'"),
		func(locator string) string { return "    await userEvent.click(screen." + locator + ");" },
		[]string{"getByRole('button', { name: '" + label + "' })", "getByText('" + label + "')", "getByText(/^" + strings.ToLower(label) + "$/i)", "getByRole('button', { name: /" + strings.ToLower(label) + "/i })", "getByText('" + label + "', { selector: 'button' })", "getByRole('button', { name: '" + label + "', exact: true })", "getByText((t) => t === '" + label + "')"},
		func(locator string) string {
			wanted := "text: " + label
			if strings.Contains(locator, "Role") {
				wanted = "role \"button\" and name \"" + label + "\""
			}
			text := fmt.Sprintf("FAIL src/%s/%s.test.tsx (%d.%03d s)\n  ✕ %s (%d ms)\n\n  ● %s\n\n    TestingLibraryElementError: Found multiple elements with the %s\n\n    Here are the matching elements:\n\n", thing, capitalized(thing), p.between(1, 9), p.IntN(1000), title, p.between(40, 400), title, wanted)
			for _, row := range rows {
				text += fmt.Sprintf("    Ignored nodes: comments, script, style\n    <button\n      class=\"btn btn-sm\"\n      data-row=\"%s\"\n      type=\"button\"\n    >\n      %s\n    </button>\n", row, label)
			}
			return text + fmt.Sprintf("\n    (If this is intentional, then use the `*AllBy*` variant of the query).\n\n      at Object.<anonymous> (src/%s/%s.test.tsx:%d:34)\n\nTests:       1 failed, %d passed, %d total", thing, capitalized(thing), at, others+3, others+4)
		},
	}
}

// locatorMatchesSeveralElements rewrites a locator, and each one finds the same elements; none names the row that is meant.
func locatorMatchesSeveralElements(p *generator) (entries []entry, _ int) {
	h, s := p.harness(), p.strictLocator()
	w := wording{
		[]string{"The locator is ambiguous. Let me use a better one.", "I'll change the locator in the test."},
		[]string{"It still matches several elements.", "Same violation, other locator.", "There is more than one such button.", "That is not specific enough.", "Several elements again.", ""},
		[]string{"Let me try a more specific locator.", "I'll select it by its text.", "Let me use the role instead.", "I'll filter the buttons.", "Let me try a CSS selector.", "Let me make the match exact."},
	}
	before := p.pick(s.locators...)
	for k := range p.repeats() {
		after := p.pick(s.locators...)
		for after == before {
			after = p.pick(s.locators...)
		}
		entries = append(entries, h.replace(s.file, s.action(before), s.action(after)).after(w.of(p, k)), h.shell(s.command, s.output(after), 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// emptyRootInspectedAgain looks by every tool of a browser at a page whose root element is empty, and reads no code.
func emptyRootInspectedAgain(p *generator) (entries []entry, _ int) {
	url, title, root := fmt.Sprintf("http://localhost:%d/", p.pickInt(3000, 4173, 5173, 8080)), capitalized(p.word())+p.pick("", " App", " Admin"), p.pick("root", "app", "svelte")
	devtools := p.coin()
	tool := func(playwright, chrome string) string {
		if devtools {
			return chrome
		}
		return playwright
	}
	at := url
	page := func(code string) json.RawMessage {
		if devtools {
			return content(fmt.Sprintf("# response\nSuccessfully done.\n## Latest page snapshot\nuid=%d_0 RootWebArea %q url=%q", p.between(1, 40), title, at))
		}
		return p.snapshot(code, at, title)
	}
	looks := []func() entry{
		func() entry {
			return call(tool("browser_navigate", "navigate_page"), object("url", at), page("await page.goto('"+at+"');"))
		},
		func() entry { return call(tool("browser_snapshot", "take_snapshot"), object(), page("")) },
		func() entry {
			asks := [][2]string{{"document.body.innerHTML", "\"<div id=\\\"" + root + "\\\"></div>\""}, {"document.getElementById('" + root + "').innerHTML", "\"\""}, {"document.getElementById('" + root + "').children.length", "0"}, {"document.querySelector('main') !== null", "false"}, {"document.body.innerText.length", "0"}, {"document.querySelectorAll('h1, h2, nav').length", "0"}}
			ask := asks[p.IntN(len(asks))]
			return call(tool("browser_evaluate", "evaluate_script"), object("function", "() => "+ask[0]), content(tool("### Result\n", "Script ran on page and returned:\n```json\n")+ask[1]+tool("", "\n```")))
		},
		func() entry {
			return call(tool("browser_console_messages", "list_console_messages"), object(), content(tool("Total messages: 2 (Errors: 0, Warnings: 0)\n\n[DEBUG] [vite] connecting... @ "+url+"@vite/client:732\n[DEBUG] [vite] connected.", "## Console messages\nmsgid=1 [debug] [vite] connecting... (0 args)\nmsgid=2 [debug] [vite] connected. (0 args)")))
		},
		func() entry {
			return call(tool("browser_take_screenshot", "take_screenshot"), object("fullPage", p.coin()), content(tool(fmt.Sprintf("Took the viewport screenshot and saved it as /tmp/page-%d.png", p.between(1_770_000_000, 1_790_000_000)), "Took a screenshot of the current page's viewport.")))
		},
		func() entry {
			seconds := p.between(1, 10)
			return call(tool("browser_wait_for", "wait_for"), object(tool("time", "timeout"), seconds*map[bool]int{false: 1, true: 1000}[devtools]), page(fmt.Sprintf("await new Promise(f => setTimeout(f, %d * 1000));", seconds)))
		},
	}
	w := wording{
		[]string{"Let me open the page.", "I'll look at the app in the browser."},
		[]string{"The page is blank.", "Still nothing rendered.", "The root element is empty.", "No errors, but no content either.", "Hmm, it is still blank.", ""},
		[]string{"Let me look at the page again.", "Maybe it needs more time.", "Let me check the DOM.", "Let me reload it.", "I'll take another look.", "Let me see whether it has rendered now."},
	}
	entries = append(entries, looks[0]().after(w.of(p, 0)), looks[2]().after(w.of(p, 1)), looks[3]().after(thought{"The page is blank.", "Are there errors in the console?"}))
	last := 3
	for k := range p.repeats() {
		next := p.IntN(len(looks))
		for next == last {
			next = p.IntN(len(looks))
		}
		if next == 0 {
			at = p.pick(url, url+"?t="+fmt.Sprint(p.between(1, 99)), url+"#/")
		}
		entries, last = append(entries, looks[next]().after(w.of(p, k+3))), next
	}
	return entries, 3
}
