package install

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// copilotHooks returns unloop's own file of hooks for Copilot CLI.
func copilotHooks(a *Agent, command string) []byte {
	type handler struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
	}
	hooks := make(map[string][]handler)
	for _, event := range a.events {
		hooks[event] = []handler{{"command", command, "& " + command, timeout}}
	}
	return indented(map[string]any{"version": 1, "hooks": hooks})
}

// kiroHooks returns unloop's own file of hooks for Kiro.
func kiroHooks(a *Agent, command string) []byte {
	type action struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	type entry struct {
		Name    string `json:"name"`
		Trigger string `json:"trigger"`
		Matcher string `json:"matcher,omitempty"`
		Action  action `json:"action"`
		Timeout int    `json:"timeout"`
		Enabled bool   `json:"enabled"`
	}
	var hooks []entry
	for _, event := range a.events {
		e := entry{Name: "unloop " + event, Trigger: event, Action: action{"command", command}, Timeout: timeout, Enabled: true}
		if onTools(event) {
			e.Matcher = "*"
		}
		hooks = append(hooks, e)
	}
	return indented(map[string]any{"version": "v1", "hooks": hooks})
}

func indented(value any) []byte {
	raw, _ := json.MarshalIndent(value, "", "  ") // strings and numbers can always be encoded
	return append(raw, '\n')
}

// clineScript returns the program that Cline runs at an event. Cline chooses the interpreter by the first line.
func clineScript(_ *Agent, command string) []byte {
	return []byte("#!/bin/sh\n# " + written + ".\nexec " + command + "\n")
}

// written marks the files of unloop that are not JSON.
const written = "Written by `unloop hook install`; `unloop hook uninstall` deletes it"

var (
	//go:embed ask.js
	askShim string
	//go:embed opencode.js
	openCodeShim string
	//go:embed amp.js
	ampShim string
)

// openCodePlugin returns the plugin for opencode, which runs the command at each tool.
func openCodePlugin(_ *Agent, command string) []byte { return plugin(openCodeShim, command) }

// ampPlugin returns the plugin for Amp, which runs the command at each tool.
func ampPlugin(_ *Agent, command string) []byte { return plugin(ampShim, command) }

func plugin(shim, command string) []byte {
	quoted, _ := json.Marshal(command) // a string can always be encoded
	return []byte("// " + written + ".\n" + strings.ReplaceAll(askShim, `"UNLOOP_COMMAND"`, string(quoted)) + "\n" + shim)
}
