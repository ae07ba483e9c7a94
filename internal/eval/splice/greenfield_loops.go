package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents in young projects: set-up, first pipelines and first deployments.

func greenfieldLoops() []kind {
	return []kind{
		{name: "plugin_moved_to_other_package", build: pluginMovedToOtherPackage},
		{name: "push_triggers_no_run", build: pushTriggersNoRun},
		{name: "fresh_deploy_answers_404", build: freshDeployAnswers404},
		{name: "command_needs_terminal", build: commandNeedsTerminal},
	}
}

// movedPlugin is a build that refuses a plugin because it now is in a package of its own.
type movedPlugin struct {
	configs  [][2]string // files and their texts
	installs []string    // commands that install packages
	unmoved  string      // what they print, with two numbers
	build    string
	output   func(p *generator) string
}

func (p *generator) movedPlugin() movedPlugin {
	page, entry := p.word(), p.word()
	lint, run := p.pick("npm run lint", "npx eslint .", "npx eslint src --ext .ts,.tsx"), p.pick("python -c 'import "+page+".main'", "uv run pytest -q", "uv run uvicorn "+page+".main:app --port 8000", "pytest -x -q")
	switch p.IntN(3) {
	case 0:
		return movedPlugin{
			[][2]string{
				{"postcss.config.js", "module.exports = {\n  plugins: {\n    tailwindcss: {},\n    autoprefixer: {},\n  },\n}"},
				{"postcss.config.mjs", "export default {\n  plugins: {\n    tailwindcss: {},\n  },\n}"},
				{"postcss.config.js", "export default {\n  plugins: [require('tailwindcss'), require('autoprefixer')],\n}"},
				{"postcss.config.cjs", "module.exports = {\n  plugins: [\n    require('tailwindcss')('./tailwind.config.js'),\n    require('autoprefixer'),\n  ],\n}"},
				{"tailwind.config.js", "/** @type {import('tailwindcss').Config} */\nmodule.exports = {\n  content: ['./src/**/*.{ts,tsx}'],\n  theme: { extend: {} },\n  plugins: [],\n}"},
				{"src/index.css", "@tailwind base;\n@tailwind components;\n@tailwind utilities;"},
				{"tailwind.config.ts", "export default {\n  content: ['./app/**/*.tsx', './" + page + "/**/*.tsx'],\n}"},
				{"postcss.config.mjs", "import tailwindcss from 'tailwindcss'\n\nexport default { plugins: [tailwindcss()] }"},
			},
			[]string{"npm install -D tailwindcss postcss autoprefixer", "rm -rf node_modules/.cache .next && npm install", "npm install -D tailwindcss@latest", "npm install -D autoprefixer@latest postcss@latest"},
			"\nup to date, audited %d packages in %ds", p.pick("npm run build", "pnpm build", "npx vite build"),
			func(p *generator) string {
				text := p.pick("", "\n> "+page+"@0.1.0 build\n> vite build\n\n", "\n> "+page+"@0.1.0 build\n> tsc -b && vite build\n\n") + "vite v6.0.3 building for production...\n" + p.pick("", fmt.Sprintf("transforming (%d) src/main.tsx\n✓ %[1]d modules transformed.\nx Build failed in %d.%02ds\n", p.between(2, 90), p.IntN(9), p.IntN(100)))
				text += "error during build:\n[vite:css] [postcss] It looks like you're trying to use `tailwindcss` directly as a PostCSS plugin. The PostCSS plugin has moved to a separate package, so to continue using Tailwind CSS with PostCSS you'll need to install `@tailwindcss/postcss` and update your PostCSS configuration."
				for _, frame := range p.shuffled("at at (/app/node_modules/tailwindcss/dist/lib.js:38:1643)", "at LazyResult.runOnRoot (/app/node_modules/postcss/lib/lazy-result.js:361:16)", "at LazyResult.runAsync (/app/node_modules/postcss/lib/lazy-result.js:290:26)", "at compileCSS (/app/node_modules/vite/dist/node/chunks/dep-2.js:36898:21)")[:p.between(0, 4)] {
					text += "\n    " + frame
				}
				return text
			},
		}
	case 1:
		return movedPlugin{
			[][2]string{
				{".eslintrc.json", "{\n  \"extends\": [\"eslint:recommended\", \"next\"]\n}"},
				{".eslintrc.js", "module.exports = {\n  root: true,\n  env: { browser: true, es2022: true },\n  extends: ['eslint:recommended'],\n}"},
				{".eslintrc.cjs", "module.exports = {\n  parser: '@typescript-eslint/parser',\n  plugins: ['@typescript-eslint'],\n}"},
				{".eslintrc.yml", "root: true\nextends: eslint:recommended\nrules:\n  semi: off"},
				{"package.json", "{\n  \"name\": \"" + page + "\",\n  \"eslintConfig\": { \"extends\": \"eslint:recommended\" }\n}"},
				{".eslintrc", "{ \"root\": true, \"parserOptions\": { \"ecmaVersion\": \"latest\" } }"},
			},
			[]string{"npm install -D eslint", "npm install -D @typescript-eslint/parser @typescript-eslint/eslint-plugin", "rm -rf node_modules package-lock.json && npm install", "npm install -D eslint-config-next"},
			"\nup to date, audited %d packages in %ds", lint,
			func(p *generator) string {
				head, tail := "", p.pick("", "\nIf you still have problems after following the migration guide, please stop by\nhttps://eslint.org/chat/help to chat with the team.\n")
				if lint == "npm run lint" {
					head, tail = "\n> "+page+"@0.0.0 lint\n> eslint .\n", tail+p.pick("", fmt.Sprintf("npm error Lifecycle script `lint` failed with error:\nnpm error code 2\nnpm error path /app\nnpm error A complete log of this run can be found in: /srv/app/.npm/_logs/%s-debug-0.log\n", strings.ReplaceAll(p.clock(), ":", "_")))
				}
				return head + "\nOops! Something went wrong! :(\n\nESLint: 9.17.0\n\nESLint couldn't find an eslint.config.(js|mjs|cjs) file.\n\nFrom ESLint v9.0.0, the default configuration file is now eslint.config.js.\nIf you are using a .eslintrc.* file, please follow the migration guide\nto update your configuration file to the new format:\n\nhttps://eslint.org/docs/latest/use/configure/migration-guide\n" + tail
			},
		}
	}
	return movedPlugin{
		[][2]string{
			{"src/" + page + "/settings.py", "from pydantic import BaseSettings, Field\n\n\nclass Settings(BaseSettings):\n    database_url: str = Field(...)\n"},
			{"src/" + page + "/settings.py", "from pydantic import BaseSettings\n\n\nclass Settings(BaseSettings):\n    model_config = {'env_file': '.env'}\n    database_url: str"},
			{"src/" + page + "/config.py", "import pydantic\n\n\nclass Settings(pydantic.BaseSettings):\n    " + entry + ": str = ''"},
			{"src/" + page + "/settings.py", "from functools import lru_cache\n\nfrom pydantic import BaseSettings, AnyUrl\n\n\nclass Settings(BaseSettings):\n    database_url: AnyUrl\n\n    class Config:\n        env_file = '.env'"},
			{"src/" + page + "/config.py", "from pydantic import BaseSettings, SecretStr\n\n\nclass Settings(BaseSettings):\n    " + entry + "_key: SecretStr"},
			{"pyproject.toml", "[project]\nname = \"" + page + "\"\ndependencies = [\"fastapi\", \"uvicorn\", \"pydantic>=2\"]"},
			{".env", "DATABASE_URL=postgresql://localhost/" + page},
		},
		[]string{"uv pip install -U pydantic", "uv add pydantic", "uv sync", "uv pip install 'pydantic[dotenv]'"},
		"Audited %d packages in %dms", run,
		func(p *generator) string {
			text := "Traceback (most recent call last):\n"
			for range p.between(0, 9) {
				text += fmt.Sprintf("  File \"/usr/lib/python3.12/%s.py\", line %d, in %s\n", p.pick("importlib/__init__", "importlib/_bootstrap", "importlib/_bootstrap_external"), p.between(10, 1400), p.pick("import_module", "_gcd_import", "_find_and_load", "exec_module", "_call_with_frames_removed"))
			}
			return text + fmt.Sprintf("  File \"/app/.venv/lib/python3.12/site-packages/pydantic/_migration.py\", line 296, in wrapper\n    raise PydanticImportError(\npydantic.errors.PydanticImportError: `BaseSettings` has been moved to the `pydantic-settings` package. See https://docs.pydantic.dev/2.%d/migration/#basesettings-has-moved-to-pydantic-settings for more details.\n\nFor further information visit https://errors.pydantic.dev/2.%[1]d/u/import-error", len(page)+3)
		},
	}
}

// pluginMovedToOtherPackage writes the configuration of a build in other forms; the build says each time that what it needs has moved.
func pluginMovedToOtherPackage(p *generator) (entries []entry, _ int) {
	h, m := p.harness(), p.movedPlugin()
	w := wording{
		[]string{"Let me set up the configuration.", "I'll configure `" + m.configs[0][0] + "`."},
		[]string{"The build fails with the same message.", "It is still not accepted.", "Still the same error.", "Hmm, the configuration is not right yet.", "I see the issue now.", ""},
		[]string{"Let me fix the configuration.", "Let me write `" + m.configs[0][0] + "` in the other module format.", "I'll change the configuration.", "Let me simplify the set-up.", "Let me try it with the standard configuration."},
	}
	packages := p.between(20, 900)
	for k := range p.repeats() {
		c := m.configs[p.IntN(len(m.configs))]
		e := h.create(c[0], c[1])
		if k > 0 && p.IntN(5) == 0 {
			e = h.shell(p.pick(m.installs...), fmt.Sprintf(m.unmoved, packages, p.between(1, 40)), 0)
		}
		entries = append(entries, e.after(w.of(p, k)), h.shell(m.build, m.output(p), 1).after(p.runAgain()))
	}
	return entries, 2
}

// plural returns a count of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// pushTriggersNoRun changes the triggers of a workflow and pushes; the workflow is in a folder that the host does not read.
func pushTriggersNoRun(p *generator) (entries []entry, _ int) {
	h, name, owner := p.harness(), p.pick("ci", "test", "build", "deploy"), p.word()+"/"+p.word()+"-"+p.word()
	path := p.pick(".github/workflow/"+name+".yml", p.word()+"/.github/workflows/"+name+".yml", "github/workflows/"+name+".yml", ".github/"+name+".yml", ".github/workflows/"+p.word()+"/"+name+".yml")
	branch, look := p.pick("main", "master", "develop"), p.pick("gh run list --limit 5", "gh run list --workflow "+name+".yml", "gh run list --json status,name,headSha", "gh api repos/"+owner+"/actions/runs --jq .total_count")
	answer := map[bool]string{strings.Contains(look, "--limit"): "no runs found", strings.Contains(look, "--json"): "[]", strings.Contains(look, "--workflow"): "could not find any workflows named " + name + ".yml", strings.Contains(look, "api"): "0"}[true]
	triggers := []string{
		"on: push", "on: [push, pull_request]", "on:\n  push:\n    branches: [" + branch + "]", "on:\n  push:\n    branches:\n      - '**'", "on:\n  workflow_dispatch:\n  push:", "\"on\":\n  push:\n    branches: [\"" + branch + "\"]", "on:\n  push:\n    paths-ignore: ['docs/**']\n  workflow_dispatch: {}", "on:\n  push:\n    branches: [main, master]\n  pull_request:",
	}
	w := wording{
		[]string{"Let me make the workflow run on each push.", "I'll set the trigger of the workflow."},
		[]string{"No run was started.", "There is no run yet.", "The workflow did not start.", "Still nothing.", "The push did not trigger it.", ""},
		[]string{"Let me change the trigger.", "Perhaps the filter of branches is wrong.", "I'll write the trigger in another form.", "Let me simplify the `on` section.", "Let me push another commit to trigger it."},
	}
	last, before := p.IntN(1<<28), "on:\n  pull_request:"
	for k := range p.laps() {
		after, message := p.pick(triggers...), p.pick("Fix workflow trigger", "ci: trigger on push", "Trigger CI", "ci: fix", "Update "+name+".yml")
		for after == before {
			after = p.pick(triggers...)
		}
		next := p.IntN(1 << 28)
		push := fmt.Sprintf("[%s %07x] %s\n 1 file changed, %s(+), %s(-)\nTo github.com:%s.git\n   %07[7]x..%07[2]x  %[1]s -> %[1]s", branch, next, message, plural(strings.Count(after, "\n")+1, "insertion"), plural(strings.Count(before, "\n")+1, "deletion"), owner, last)
		e := h.replace(path, before, after).after(w.of(p, k))
		command := "git commit -am \"" + message + "\" && git push"
		entries = append(entries, e, h.shell(command, push, 0).after(thought{"", p.pick("Commit and push.", "Let me push it.", "")}), h.shell(p.pick("sleep 15; ", "sleep 30 && ", "", "sleep 10; ")+look, answer, strings.Count(answer, "could not")).after(thought{"", p.pick("Did the run start?", "Let me check the runs.", "Now there should be a run.")}))
		before, last = after, next
	}
	return entries, 3
}

// freshDeployAnswers404 deploys a site with other settings; each deployment is ready, and its address answers that nothing is there.
func freshDeployAnswers404(p *generator) (entries []entry, _ int) {
	h, app := p.harness(), p.word()+"-"+p.word()
	team := p.word()
	type host struct {
		file     string
		settings []string
		deploy   []string
		deployed func(id string) string
		answer   func() string
		url      string
	}
	seconds := func() string { return fmt.Sprintf("%d.%ds", p.between(2, 60), p.IntN(10)) }
	o := []host{
		{
			"vercel.json",
			[]string{"{ \"framework\": \"vite\" }", "{ \"outputDirectory\": \"build\" }", "{\n  \"rewrites\": [{ \"source\": \"/(.*)\", \"destination\": \"/index.html\" }]\n}", "{ \"buildCommand\": \"npm run build\", \"outputDirectory\": \"public\" }", "{\n  \"routes\": [{ \"src\": \"/(.*)\", \"dest\": \"/\" }]\n}", "{ \"cleanUrls\": true }", "{ \"version\": 2, \"builds\": [{ \"src\": \"package.json\", \"use\": \"@vercel/static-build\" }] }"},
			[]string{"vercel --prod --yes", "vercel deploy --prod --yes", "npx vercel --prod --force --yes"},
			func(id string) string {
				return fmt.Sprintf("Vercel CLI 39.1.3\nInspect: https://vercel.example/%s/%s/%s [%s]\nProduction: https://%[2]s.vercel.example [%[5]s]", team, app, id, seconds(), seconds())
			},
			func() string {
				return fmt.Sprintf("HTTP/2 404\nserver: Vercel\nx-vercel-error: NOT_FOUND\nx-vercel-id: fra1::%s-%d-%012x\n\nThe page could not be found\n\nNOT_FOUND", p.pick("k8x2p", "9dkrw", "zt5vh", "b7wqn"), p.between(1_790_000_000, 1_799_000_000), p.Uint64N(1<<48))
			},
			"https://" + app + ".vercel.example",
		},
		{
			"netlify.toml",
			[]string{"[build]\n  publish = \"public\"", "[build]\n  command = \"npm run build\"\n  publish = \"build\"", "[[redirects]]\n  from = \"/*\"\n  to = \"/index.html\"\n  status = 200", "[build]\n  base = \"/\"\n  publish = \"out\"", "[build]\n  command = \"npm ci && npm run build\"\n  publish = \".\"", "[[redirects]]\n  from = \"/\"\n  to = \"/home\""},
			[]string{"netlify deploy --prod", "npx netlify deploy --prod --build", "netlify deploy --prod --message 'fix routing'"},
			func(id string) string {
				return fmt.Sprintf("Deploy path: /app\n⠋ Uploading %d files\n✔ Finished uploading %[1]d assets\n✔ Deploy is live!\nUnique deploy URL: https://%s--%s.netlify.example\nWebsite URL: https://%[3]s.netlify.example", p.between(1, 9), strings.ToLower(id), app)
			},
			func() string {
				return "HTTP/2 404\nserver: Netlify\nx-nf-request-id: 01" + strings.ToUpper(strings.ReplaceAll(p.uuid(), "-", ""))[:24] + "\n\nNot Found - Request ID"
			},
			"https://" + app + ".netlify.example",
		},
		{
			"fly.toml",
			[]string{"[http_service]\n  internal_port = 3000", "[http_service]\n  internal_port = 8080\n  force_https = true", "[[statics]]\n  guest_path = \"/app/public\"\n  url_prefix = \"/\"", "[http_service]\n  min_machines_running = 1", "[processes]\n  app = \"npm start\"", "[env]\n  BASE_PATH = \"/\""},
			[]string{"fly deploy", "fly deploy --remote-only", "fly deploy --no-cache --strategy immediate"},
			func(id string) string {
				return fmt.Sprintf("==> Building image\n--> Pushing image done\nimage: registry.fly.example/%s:deployment-%s\nimage size: %d MB\n\nUpdating existing machines in '%[1]s' with rolling strategy\n ✔ Machine %014[4]x [app] update succeeded\n\nVisit your newly deployed app at https://%[1]s.fly.example/", app, strings.ToUpper(id), p.between(80, 140), p.Uint64N(1<<52))
			},
			func() string {
				return fmt.Sprintf("HTTP/2 404\nserver: Fly/%07x (2026-06-%02d)\nfly-request-id: 01%s-fra\ncontent-type: text/html; charset=utf-8\n\nCannot GET /", p.IntN(1<<28), p.between(1, 28), strings.ToUpper(strings.ReplaceAll(p.uuid(), "-", ""))[:24])
			},
			"https://" + app + ".fly.example/",
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me configure the deployment.", "I'll add `" + o.file + "` and deploy."},
		[]string{"Still a 404.", "The page is not found.", "The deployment is ready, but the site answers 404.", "Same 404 as before.", "It is not served yet.", ""},
		[]string{"Let me change the settings.", "Perhaps the output folder is another one.", "I'll adjust `" + o.file + "`.", "Let me try another routing.", "Let me set the build settings explicitly."},
	}
	for k := range p.laps() {
		id := fmt.Sprintf("%012x", p.Uint64N(1<<48))
		entries = append(entries, h.create(o.file, p.pick(o.settings...)).after(w.of(p, k)), h.shell(p.pick(o.deploy...), o.deployed(id), 0).after(thought{"", p.pick("Deploy again.", "Let me deploy it.", "Now the deployment.")}),
			h.shell(p.pick("curl -si ", "curl -s -i ", "curl -i --max-time 20 ")+o.url, o.answer(), 0).after(thought{p.pick("The deployment succeeded.", "It is live.", ""), p.pick("Let me check the site.", "Does it answer?", "Let me see whether it works.")}))
	}
	return entries, 3
}

// terminalNeed is a command that only works for a person at a terminal.
type terminalNeed struct {
	tries  []string
	reason func(p *generator) string
	looks  [2]string
}

func (p *generator) terminalNeed() terminalNeed {
	name, schema := p.pick("init", "add_"+p.word(), p.word()+"_table"), p.pick("prisma/schema.prisma", "db/schema.prisma")
	switch p.IntN(4) {
	case 0:
		return terminalNeed{
			[]string{"npx prisma migrate dev", "npx prisma migrate dev --name " + name, "yes | npx prisma migrate dev --name " + name, "CI=true npx prisma migrate dev --name " + name, "echo y | npx prisma migrate dev", "npx prisma migrate dev --create-only --name " + name, "npx prisma migrate dev --name " + name + " --skip-seed", "npx prisma migrate dev --name " + name + " < /dev/null", "npx --yes prisma migrate dev --name " + name},
			func(p *generator) string {
				return p.pick("", "Environment variables loaded from .env\n") + "Prisma schema loaded from " + schema + "\n" + p.pick("", "Datasource \"db\": PostgreSQL database \""+name+"\", schema \"public\" at \"localhost:5432\"\n\n") + "Error: Prisma Migrate has detected that the environment is non-interactive, which is not supported.\n\n`prisma migrate dev` is an interactive command designed to create new migrations and evolve the database in development."
			},
			[2]string{"ls prisma/migrations", "ls: cannot access 'prisma/migrations': No such file or directory"},
		}
	case 1:
		return terminalNeed{
			[]string{"npx drizzle-kit push", "npx drizzle-kit push --force", "yes | npx drizzle-kit push", "npx drizzle-kit push --verbose", "echo | npx drizzle-kit push", "CI=1 npx drizzle-kit push", "npx drizzle-kit generate", "npx drizzle-kit push --config drizzle.config.ts"},
			func(p *generator) string {
				return p.pick("", "No config path provided, using default 'drizzle.config.ts'\n") + p.pick("", "Reading config file '/app/drizzle.config.ts'\n") + p.pick("", "Using 'pg' driver for database querying\n[✓] Pulling schema from database...\n") + "Error: Interactive prompts require a TTY terminal (process.stdin.isTTY or process.stdout.isTTY is false). This can happen when running in CI or other non-interactive environments.\n" + fmt.Sprintf("    at render2 (/app/node_modules/drizzle-kit/bin.cjs:%d:%d)", len(name)*100+1302, len(name)+9)
			},
			[2]string{"psql $DATABASE_URL -Atc '\\dt'", "Did not find any relations."},
		}
	case 2:
		project := p.word() + "-" + p.word()
		return terminalNeed{
			[]string{"wrangler login", "npx wrangler login --browser=false", "npx wrangler d1 create " + project, "npx wrangler deploy", "CI=1 npx wrangler deploy", "npx wrangler whoami && npx wrangler deploy", "yes | npx wrangler login", "npx wrangler pages deploy dist --project-name " + project, "npx wrangler d1 list"},
			func(p *generator) string {
				return p.pick("", fmt.Sprintf(" ⛅️ wrangler 4.%d.0\n-------------------\n", len(name)+20)) + "✘ [ERROR] In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable for wrangler to work. Please go to https://developers.cloudflare.com/fundamentals/api/get-started/create-token/ for instructions on how to create an api token, and assign its value to CLOUDFLARE_API_TOKEN.\n" + p.pick("", fmt.Sprintf("\n🪵  Logs were written to \"/srv/app/.config/.wrangler/logs/wrangler-%s.log\"", strings.NewReplacer(":", "-", "T", "_").Replace(p.clock())))
			},
			[2]string{"env | grep -i cloudflare", ""},
		}
	}
	token := p.word()
	return terminalNeed{
		[]string{"supabase link", "supabase link --project-ref " + token, "npx supabase login", "yes | supabase login", "supabase login --no-browser", "npx supabase projects list", "supabase db push --linked", "supabase gen types typescript --linked", "script -qc 'supabase login' < /dev/null"},
		func(p *generator) string {
			return p.pick("", "Using workdir /app\n") + "Cannot use automatic login flow inside non-TTY environments. Please provide --token flag or set the SUPABASE_ACCESS_TOKEN environment variable." + p.pick("", "\nTry rerunning the command with --debug to troubleshoot the error.", fmt.Sprintf("\nA new version of Supabase CLI is available: v2.%d.1 (currently installed v2.0.0)", len(token)+1))
		},
		[2]string{"ls ~/.supabase", "ls: cannot access '/srv/app/.supabase': No such file or directory"},
	}
}

// commandNeedsTerminal runs a command with other flags and pipes; the command wants a terminal or a token, and there is neither.
func commandNeedsTerminal(p *generator) (entries []entry, _ int) {
	run, n := p.commands(), p.terminalNeed()
	w := wording{
		[]string{"Let me run the command.", "Next comes `" + strings.Join(strings.Fields(n.tries[0])[:2], " ") + "`."},
		[]string{"It wants an interactive terminal.", "The environment is not interactive.", "It was refused again.", "Same error.", "That did not get around it.", ""},
		[]string{"Let me try it in another way.", "Let me try to get around the prompt.", "I'll run it differently.", "Let me run it without the prompt.", "Let me see whether this variant works.", "Let me try it once more."},
	}
	for k := range p.repeats() {
		entries = append(entries, run(p.pick(n.tries...), n.reason(p), 1).after(w.of(p, k)))
		if k > 0 && p.IntN(5) == 0 {
			entries = append(entries, run(n.looks[0], n.looks[1], strings.Count(n.looks[1], "cannot")).after(thought{"", p.pick("Let me see whether anything happened.", "What is the state now?")}))
		}
	}
	return entries, 1
}
