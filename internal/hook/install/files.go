package install

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// copilotHooks returns unloop's own file of hooks for Copilot CLI.
func copilotHooks(command string) []byte {
	type handler struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
	}
	hooks := make(map[string][]handler)
	for _, a := range Agents() {
		for _, event := range a.events {
			if a.program == "copilot" {
				hooks[event] = []handler{{"command", command, "& " + command, timeout}}
			}
		}
	}
	raw, _ := json.MarshalIndent(map[string]any{"version": 1, "hooks": hooks}, "", "  ") // strings can always be encoded
	return append(raw, '\n')
}

//go:embed opencode.js
var openCodeShim string

// openCodePlugin returns the plugin for opencode, which runs the command at each tool.
func openCodePlugin(command string) []byte {
	quoted, _ := json.Marshal(command) // a string can always be encoded
	return []byte(strings.ReplaceAll(openCodeShim, `"UNLOOP_COMMAND"`, string(quoted)))
}
