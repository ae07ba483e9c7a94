package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents in young projects: one variable, page, flag or wish after the other.

func greenfieldLookalikes() []kind {
	return []kind{
		{name: "variables_set_until_server_starts", build: variablesSetUntilServerStarts},
		{name: "routes_smoke_tested_in_browser", build: routesSmokeTestedInBrowser},
		{name: "strict_flags_turned_on_in_turn", build: strictFlagsTurnedOnInTurn},
		{name: "page_tuned_at_users_word", build: pageTunedAtUsersWord},
	}
}

// variablesSetUntilServerStarts starts a server, which ends at the first variable that is missing; the agent sets one after the other.
func variablesSetUntilServerStarts(p *generator) (entries []entry, _ int) {
	run, now := p.commands(), p.passingTime()
	name := p.word()
	o := []struct {
		start, missing, ready string
	}{
		{"npm run dev", "\n> " + name + "@0.1.0 dev\n> tsx src/server.ts\n\n❌ Invalid environment variables: { %s: [ 'Required' ] }\n/app/src/env.ts:21\n    throw new Error('Invalid environment variables')\n    ^\n\nError: Invalid environment variables\n\nNode.js v22.11.0", "\n> " + name + "@0.1.0 dev\n> tsx src/server.ts\n\nServer listening on http://localhost:3000"},
		{"python manage.py check", "Traceback (most recent call last):\n  File \"/app/manage.py\", line 22, in <module>\n    main()\n  File \"/app/" + name + "/settings.py\", line 48, in <module>\n  File \"/usr/local/lib/python3.12/site-packages/environ/environ.py\", line 403, in get_value\n    raise ImproperlyConfigured(error_msg) from exc\ndjango.core.exceptions.ImproperlyConfigured: Set the %s environment variable", "System check identified no issues (0 silenced)."},
		{"go run ./cmd/" + name, now() + " FATAL config: required key %s missing value\nexit status 1", now() + " INFO listening addr=:8080"},
		{"docker compose up -d api", "error while interpolating services.api.environment: required variable %s is missing a value: set it in .env", " Container " + name + "-api-1  Started"},
	}[p.IntN(4)]
	variables := p.shuffled("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "S3_BUCKET", "SMTP_HOST", "SENTRY_DSN", "JWT_ISSUER", "STRIPE_KEY", "APP_BASE_URL", "LOG_LEVEL", "QUEUE_NAME", "MAIL_FROM")[:p.between(5, 10)]
	values := map[string]string{"DATABASE_URL": "postgresql://dev:dev@localhost/" + name, "REDIS_URL": "redis://localhost:6379/0", "SMTP_HOST": "localhost", "LOG_LEVEL": "debug", "APP_BASE_URL": "http://localhost:3000", "MAIL_FROM": "dev@" + name + ".example"}
	for k, variable := range variables {
		value := values[variable]
		if value == "" {
			value = "dev-" + p.word()
		}
		entries = append(entries, run(o.start, fmt.Sprintf(o.missing, variable), 1).after(thought{strings.Repeat("That one is set.", min(k, p.IntN(2))), p.pick("Let me start it.", "Start the server.", "Does it start?")}),
			run(fmt.Sprintf("echo '%s=%s' >> .env", variable, value), "", 0).after(thought{"Now it asks for `" + variable + "`.", p.pick("I set a value for development.", "Let me add it to `.env`.", "")}))
	}
	return append(entries, run(o.start, o.ready, 0).after(thought{"", "Is that all?"})), 0
}

// routesSmokeTestedInBrowser opens route after route of a new application and reads the console, which nearly always is empty.
func routesSmokeTestedInBrowser(p *generator) (entries []entry, _ int) {
	site, app, h := fmt.Sprintf("http://localhost:%d", p.pickInt(3000, 5173, 8080, 4200)), capitalized(p.word()), p.harness()
	menu := []string{"link \"Home\" [ref]", "link \"" + capitalized(p.word()) + "\" [ref]", "link \"Settings\" [ref]", "button \"Sign out\" [ref]"}
	clean := p.pick("### Console messages\n(none)", "[]", "No console messages.", "[INFO] Download the React DevTools for a better development experience")
	last := ""
	for _, route := range p.distinctWords(p.between(6, 12)) {
		shape := p.pick("heading \""+capitalized(route)+"\" [level=1] [ref]", "table \""+capitalized(route)+"\" [ref]")
		lines := append(append([]string{}, menu...), shape)
		for range p.between(0, 12) {
			lines = append(lines, p.pick("row \""+p.phrase(2, 4)+"\" [ref]", "button \""+capitalized(p.word())+"\" [ref]", "text: "+p.phrase(2, 5)))
		}
		visit := call("mcp__playwright__browser_navigate", object("url", site+"/"+route), p.snapshot("await page.goto('"+site+"/"+route+"');", site+"/"+route, app, lines...))
		entries = append(entries, visit.after(p.nextItem(last, "`/"+route+"`")))
		console := func(text string) entry {
			return call("mcp__playwright__browser_console_messages", object("onlyErrors", true), content(text))
		}
		if p.IntN(5) == 0 {
			entries = append(entries, console(fmt.Sprintf("[ERROR] TypeError: Cannot read properties of undefined (reading '%s') @ %s/src/pages/%s.tsx:%d", p.word(), site, capitalized(route), p.between(5, 90))).after(thought{"", p.pick("Any errors in the console?", "And the console?")}),
				h.edit("src/pages/"+capitalized(route)+".tsx").after(thought{"The page reads something that is not loaded yet.", "I add a guard."}), visit.after(thought{"", "Let me load it again."}))
		}
		entries = append(entries, console(clean).after(thought{"", p.pick("Any errors in the console?", "And the console?", "")}))
		last = "`/" + route + "`"
	}
	return entries, 0
}

// strictFlagsTurnedOnInTurn turns on one flag of a compiler after the other, mends what the compiler finds, and commits.
func strictFlagsTurnedOnInTurn(p *generator) (entries []entry, _ int) {
	h := p.harness()
	findings := map[string]string{
		"noImplicitAny": "error TS7006: Parameter '%s' implicitly has an 'any' type.", "strictNullChecks": "error TS18048: '%s' is possibly 'undefined'.", "noUnusedLocals": "error TS6133: '%s' is declared but its value is never read.", "noUnusedParameters": "error TS6133: '%s' is declared but its value is never read.",
		"noImplicitReturns": "error TS7030: Not all code paths return a value.", "strictPropertyInitialization": "error TS2564: Property '%s' has no initializer and is not definitely assigned in the constructor.", "noUncheckedIndexedAccess": "error TS2532: Object is possibly 'undefined'.", "useUnknownInCatchVariables": "error TS18046: '%s' is of type 'unknown'.",
		"noFallthroughCasesInSwitch": "error TS7029: Fallthrough case in switch.", "exactOptionalPropertyTypes": "error TS2375: Type '{ %s: undefined; }' is not assignable with 'exactOptionalPropertyTypes: true'.",
	}
	flags := p.shuffled("noImplicitAny", "strictNullChecks", "noUnusedLocals", "noUnusedParameters", "noImplicitReturns", "strictPropertyInitialization", "noUncheckedIndexedAccess", "useUnknownInCatchVariables", "noFallthroughCasesInSwitch", "exactOptionalPropertyTypes")[:p.between(5, 8)]
	check, last := p.pick("npx tsc --noEmit", "npm run typecheck", "pnpm tsc --noEmit"), ""
	for _, flag := range flags {
		entries = append(entries, h.replace("tsconfig.json", "\"strict\": false,", "\"strict\": false,\n    \""+flag+"\": true,").after(p.nextItem(last, "`"+flag+"`")))
		var files []string
		errors := ""
		for range p.IntN(4) {
			file := "src/" + p.word() + p.pick(".ts", ".tsx", "/index.ts")
			files = append(files, file)
			for range p.between(1, 6) {
				reason := findings[flag]
				if strings.Contains(reason, "%s") {
					reason = fmt.Sprintf(reason, p.word())
				}
				errors += fmt.Sprintf("%s(%d,%d): %s\n", file, p.between(1, 300), p.between(1, 60), reason)
			}
		}
		if len(files) > 0 {
			entries = append(entries, h.shell(check, strings.TrimRight(errors, "\n"), 2).after(thought{"", p.pick("What does the compiler find?", "Let me compile it.")}))
			for _, file := range files {
				entries = append(entries, h.edit(file).after(thought{"", p.pick("Let me mend `"+file+"`.", "Now `"+file+"`.", "")}))
			}
		}
		entries = append(entries, h.shell(check, "", 0).after(p.runAgain()), h.shell("git commit -qam 'Turn on "+flag+"' && git log -1 --format=%h", fmt.Sprintf("%07x", p.IntN(1<<28)), 0))
		last = "`" + flag + "`"
	}
	return entries, 0
}

// pageTunedAtUsersWord changes one page a little whenever the user asks for it; each change compiles alike.
func pageTunedAtUsersWord(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), "src/"+p.pick("app/page.tsx", "pages/Home.tsx", "components/Hero.tsx", "App.vue", "routes/+page.svelte")
	wishes := [][3]string{
		{"Make the title bigger.", "text-4xl", "text-6xl"},
		{"Can you move the button to the right?", "justify-start", "justify-end"},
		{"The green is too bright.", "bg-green-400", "bg-green-700"},
		{"A bit more space above the cards, please.", "mt-4", "mt-10"},
		{"Round the corners of the cards.", "rounded-none", "rounded-xl"},
		{"Less shadow.", "shadow-2xl", "shadow-sm"},
		{"The text is hard to read, make it darker.", "text-gray-400", "text-gray-800"},
		{"Still a bit more space, please.", "mt-10", "mt-16"},
		{"Hm, the title is too big now.", "text-6xl", "text-5xl"},
		{"Two columns instead of three.", "grid-cols-3", "grid-cols-2"},
		{"Center everything.", "items-start", "items-center"},
		{"Make the button wider.", "w-32", "w-48"},
		{"Can the image be smaller?", "h-96", "h-64"},
	}
	start, n, compiled, attribute := p.IntN(4), p.between(5, 9), p.coin(), "class=\""
	if strings.HasSuffix(path, "tsx") {
		attribute = "className=\""
	}
	for k := range n {
		wish := wishes[start+k]
		entries = append(entries, user(p.pick("", "", "Nice. ", "Good, thanks. ", "Okay. ")+wish[0]), h.replace(path, attribute+wish[1], attribute+wish[2]).after(thought{"", p.pick("Let me change that.", "I'll change the class.", "Sure.", "")}))
		if compiled {
			entries = append(entries, h.shell("npm run build --silent 2>&1 | tail -1", fmt.Sprintf("✓ built in %d.%02ds", p.between(1, 9), p.IntN(100)), 0))
		}
		entries = append(entries, say(fmt.Sprintf(p.pick("Done: `%s` instead of `%s`.", "I changed it to `%s` (it was `%s`).", "Updated to `%s`, from `%s`. Have a look."), wish[2], wish[1])))
	}
	return entries, 0
}
