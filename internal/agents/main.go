// Command agents runs real coding agents from npm against a scripted model, with unloop installed at their hooks, and then with
// unloop proxy in front of the model. It shows whether the nudge, the denial and the end of the turn reach the model. It does the same
// with the Claude Agent SDK under the TypeScript package. It is not part of the tests, because it needs the vendors' packages; make
// agents runs it.
//
//	agents -bin bin/unloop -packages FOLDER [AGENT]...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	bin := flag.String("bin", "bin/unloop", "the program to install")
	packages := flag.String("packages", "", "the folder with node_modules of the agents")
	plugins := flag.String("plugins", "plugins", "the folder with the plugins for agents")
	verbose := flag.Bool("v", false, "print what the agents print")
	flag.Parse()
	program, err := filepath.Abs(*bin)
	folder, wrong := filepath.Abs(filepath.Join(*packages, "node_modules", ".bin")) // the agents run in a folder of their own
	pluginFolder, missing := filepath.Abs(*plugins)
	if err = errors.Join(err, wrong, missing); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ok := true
	fmt.Println("| agent | version | nudge reaches the model | denial reaches it | the turn ends | healthy twin | uninstall restores | the proxy ends it | its plugin nudges |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, a := range agents() {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), a.name) {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		r := check(ctx, &a, program, folder, pluginFolder, *verbose)
		cancel()
		fmt.Println(r.row(&a))
		ok = ok && r.fine(&a)
	}
	if flag.NArg() == 0 || slices.Contains(flag.Args(), "claude-agent-sdk") {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		row, fine := checkSDK(ctx, program, folder, filepath.Join(filepath.Dir(pluginFolder), "sdk", "typescript"), *verbose)
		cancel()
		fmt.Println("\n" + row)
		ok = ok && fine
	}
	fmt.Println("\n" + time.Now().UTC().Format(time.DateOnly))
	if !ok {
		os.Exit(1)
	}
}

// agent is a coding agent: how it is run, and the expected results.
type agent struct {
	name   string
	ends   bool   // a hook can end its turn
	behind string // the path of its API at the proxy
	args   []string
	env    func(home, url string) []string
	files  func(home, url string) map[string]string // files before it runs, by path in home
	config string                                   // the file in home that install changes
	plugin func(folder string) plugin               // nil for an agent without plugins
}

// plugin is how an agent loads unloop's plugin.
type plugin struct {
	install []string // a command of the agent that installs it; nil for none
	args    []string // further arguments of the agent
	env     []string
}

func agents() []agent {
	return []agent{
		{
			plugin: func(folder string) plugin {
				return plugin{args: []string{"--plugin-dir", filepath.Join(folder, "claude-code")}}
			},
			name: "claude-code", behind: "/anthropic", ends: true, args: []string{"claude", "-p", "Build it.", "--allowedTools", "Bash"}, config: ".claude/settings.json",
			env: func(_, url string) []string {
				return []string{
					"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
				}
			},
			files: func(_, _ string) map[string]string {
				return map[string]string{".claude/settings.json": "{\n\t\"cleanupPeriodDays\": 20,\r\n  \"env\": {}\n}"}
			},
		},
		{
			name: "codex", behind: "/openai", config: ".codex/hooks.json",
			args: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", "Build it."},
			env:  func(_, _ string) []string { return []string{"MOCK_KEY=none"} },
			files: func(_, url string) map[string]string {
				return map[string]string{
					".codex/config.toml": "model = \"gpt-5\"\nmodel_provider = \"mock\"\n\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"" + url +
						"/v1\"\nenv_key = \"MOCK_KEY\"\nwire_api = \"responses\"\n",
					".codex/hooks.json": "{\"description\":\"mine\",\"hooks\":{}}\n",
				}
			},
		},
		{
			plugin: func(folder string) plugin {
				return plugin{install: []string{"extensions", "install", filepath.Join(folder, "gemini-cli"), "--consent"}}
			},
			name: "gemini-cli", behind: "/gemini", ends: true, args: []string{"gemini", "-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", "Build it."}, config: ".gemini/settings.json",
			env: func(_, url string) []string {
				return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			files: func(_, _ string) map[string]string {
				return map[string]string{
					".gemini/settings.json": "{\n    // mine\n    \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n    \"privacy\": {\"usageStatisticsEnabled\": false},\n    \"general\": {\"enableAutoUpdate\": false},\n    \"model\": {\"disableLoopDetection\": true}\n}\n",
				}
			},
		},
		{
			plugin: func(folder string) plugin {
				pack := filepath.Join(filepath.Dir(folder), "sdk", "typescript")
				return plugin{env: []string{`OPENCODE_CONFIG_CONTENT={"plugin":["file://` + filepath.ToSlash(pack) + `"]}`}}
			},
			name: "opencode", behind: "/openai", args: []string{"opencode", "run", "-m", "mock/mock", "Build it."}, config: ".config/opencode/plugins/unloop.js",
			env: func(_, _ string) []string {
				return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
			},
			files: func(_, url string) map[string]string {
				return map[string]string{".config/opencode/opencode.json": `{"$schema":"https://opencode.ai/config.json","permission":{"bash":"allow","doom_loop":"allow"},` +
					`"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"` + url + `/v1","apiKey":"none"},"models":{"mock":{"name":"mock","tool_call":true}}}}}`}
			},
		},
	}
}
