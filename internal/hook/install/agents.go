// Package install registers unloop at the hooks of coding agents, and removes it again. It edits an agent's configuration with
// minimal changes and keeps a copy of the former file. Uninstalling restores the copy if nothing else has changed the file.
// Package hook is the registered command.
package install

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/unloop-ai/unloop/internal/configedit"
	"github.com/unloop-ai/unloop/internal/hook"
)

// Agent is a coding agent whose hooks unloop can use.
type Agent struct {
	Name string
	// Notes are facts for the user: what needs approval, and what the agent's hooks cannot do.
	Notes []string

	program string // name of its command
	folder  func(Place) string
	file    func(Place) string // path of its configuration, for the user or the project
	events  []string
	dialect configedit.Dialect
	entry   func(event, command string) any
	base    map[string]any                        // members besides hooks that a new file needs
	whole   func(a *Agent, command string) []byte // content of a file that belongs to unloop alone; nil if it belongs to the agent
	each    bool                                  // there is a file for each event, named after it, beside the first
}

// Place is where an agent's configuration is.
type Place struct {
	Env     func(string) string
	Project string // the folder of a project; "" for the user's configuration
}

func (p Place) home(below ...string) string {
	return filepath.Join(append([]string{cmp.Or(p.Env("HOME"), p.Env("USERPROFILE"))}, below...)...)
}

// dir returns the folder in an environment variable, else one in the home folder; for a project, the folder of the same name in
// it.
func dir(variable, name string) func(Place) string {
	return func(p Place) string {
		if p.Project != "" {
			return filepath.Join(p.Project, name)
		}
		if variable != "" && p.Env(variable) != "" {
			return p.Env(variable)
		}
		return p.home(name)
	}
}

// xdg returns a folder in the user's configuration folder; for a project, the given one.
func xdg(name, project string) func(Place) string {
	return func(p Place) string {
		if p.Project != "" {
			return filepath.Join(p.Project, project)
		}
		return filepath.Join(cmp.Or(p.Env("XDG_CONFIG_HOME"), p.home(".config")), name)
	}
}

func in(folder func(Place) string, names ...string) func(Place) string {
	return func(p Place) string { return filepath.Join(append([]string{folder(p)}, names...)...) }
}

// timeout is how long an agent waits for a hook, in seconds. A hook takes milliseconds, and waits at most 8 seconds for the lock.
const timeout = 10

// Agents returns all agents.
func Agents() []Agent { return append(claudeLike(), others()...) }

var (
	strict = configedit.Dialect{}
	lax    = configedit.Dialect{Comments: true}
)

const noEnd = "its hooks cannot end a turn: a halted run is denied each further call"

// claudeLike returns the agents whose configuration has the form of Claude Code's.
func claudeLike() []Agent {
	claude, codex, gemini := dir("CLAUDE_CONFIG_DIR", ".claude"), dir("CODEX_HOME", ".codex"), dir("", ".gemini")
	qwen, droid := dir("", ".qwen"), dir("", ".factory")
	return []Agent{
		{
			Name: hook.Claude, program: "claude", folder: claude, file: in(claude, "settings.json"), dialect: strict, entry: grouped("*", timeout),
			events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "Stop", "SubagentStop", "SessionEnd"},
		},
		{
			Name: hook.Codex, program: "codex", folder: codex, file: in(codex, "hooks.json"), dialect: configedit.Dialect{UniqueNames: true}, entry: grouped(".*", timeout),
			events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"},
			Notes:  []string{"it skips hooks until you approve them: run codex and then /hooks", noEnd + "; unloop's proxy can end it"},
		},
		{
			Name: hook.Gemini, program: "gemini", folder: gemini, file: in(gemini, "settings.json"), dialect: lax, entry: named("*", timeout*1000),
			events: []string{"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionEnd"},
		},
		{
			Name: hook.Qwen, program: "qwen", folder: qwen, file: in(qwen, "settings.json"), dialect: lax, entry: named("*", timeout*1000),
			events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "Stop"},
		},
		{
			Name: hook.Droid, program: "droid", folder: droid, file: in(droid, "settings.json"), dialect: strict, entry: grouped("*", timeout),
			events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "SessionEnd"},
		},
	}
}

// others returns the other agents.
func others() []Agent {
	cursor, crush, windsurf := dir("", ".cursor"), xdg("crush", ""), dir("", filepath.Join(".codeium", "windsurf"))
	opencode, amp, kiro := xdg("opencode", ".opencode"), xdg("amp", ".amp"), dir("", ".kiro")
	return []Agent{
		{
			Name: hook.Cursor, program: "cursor-agent", folder: cursor, file: in(cursor, "hooks.json"), dialect: strict, entry: flat(""), base: map[string]any{"version": 1},
			events: []string{"preToolUse", "postToolUse", "postToolUseFailure", "beforeSubmitPrompt", "stop"},
			Notes:  []string{noEnd, "it also runs the hooks of Claude Code's settings; unloop counts a call once"},
		},
		{
			Name: hook.Copilot, program: "copilot", folder: dir("COPILOT_HOME", ".copilot"), file: copilotFile, whole: copilotHooks,
			events: []string{"preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "agentStop", "sessionEnd"},
			Notes:  []string{noEnd, "it also runs the hooks of Claude Code's settings; unloop leaves those out"},
		},
		{
			Name: hook.Crush, program: "crush", folder: crush, file: in(crush, "crush.json"), dialect: lax, entry: flat(".*"), events: []string{"PreToolUse"},
			Notes: []string{"it shows no results and no sub-agents to hooks: equal calls are counted by the profile loopdetection"},
		},
		{
			Name: hook.OpenCode, program: "opencode", folder: opencode, file: in(opencode, "plugins", "unloop.js"), whole: openCodePlugin,
			Notes: []string{noEnd, "opencode 1 shows no result of a tool that throws"},
		},
		{
			Name: hook.Amp, program: "amp", folder: amp, file: in(amp, "plugins", "unloop.ts"), whole: ampPlugin,
			Notes: []string{noEnd},
		},
		{
			Name: hook.Cline, program: "cline", folder: clineFolder, file: clineFile, whole: clineScript, each: true,
			events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"},
			Notes:  []string{"its extension runs hooks only if they are enabled in its settings, and its command line runs none with --yolo"},
		},
		{
			Name: hook.Kiro, program: "kiro-cli", folder: kiro, file: in(kiro, "hooks", "unloop.json"), whole: kiroHooks,
			events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"},
			Notes:  []string{noEnd, "it reads the file since Kiro 1 and Kiro CLI 3"},
		},
		{
			Name: hook.Windsurf, program: "windsurf", folder: windsurf, file: windsurfFile, dialect: strict, entry: windsurfEntry,
			events: []string{"pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use", "post_mcp_tool_use", "pre_user_prompt"},
			Notes: []string{
				noEnd, "its hooks cannot nudge: the modes nudge and shadow only write the log",
				"it shows results of MCP tools only: equal calls are counted by the profile loopdetection",
			},
		},
	}
}

// File returns the path of the configuration that Install changes, or the first of several.
func (a *Agent) File(p Place) string { return a.file(p) }

// Events returns the names of the events at which Install registers the program; none for an agent with a plugin.
func (a *Agent) Events() []string { return a.events }

// paths returns the paths of all files that Install changes.
func (a *Agent) paths(p Place) []string {
	if !a.each {
		return []string{a.file(p)}
	}
	var all []string
	for _, event := range a.events {
		all = append(all, filepath.Join(filepath.Dir(a.file(p)), event))
	}
	return all
}

// Found reports whether the agent seems to be installed: its program is in the path, or its folder exists.
func (a *Agent) Found(p Place) bool {
	if _, err := exec.LookPath(a.program); err == nil {
		return true
	}
	return exists(a.folder(Place{Env: p.Env}))
}

// onTools reports whether events of the name concern a tool, so that they have a matcher.
func onTools(event string) bool { return strings.Contains(event, "Tool") }

func grouped(matcher string, timeout int) func(event, command string) any {
	return func(event, command string) any {
		handler := struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}{"command", command, timeout}
		return group(event, matcher, handler)
	}
}

func named(matcher string, timeout int) func(event, command string) any {
	return func(event, command string) any {
		handler := struct {
			Type    string `json:"type"`
			Name    string `json:"name"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}{"command", "unloop", command, timeout}
		return group(event, matcher, handler)
	}
}

func group(event, matcher string, handler any) any {
	if !onTools(event) {
		matcher = ""
	}
	return struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []any  `json:"hooks"`
	}{matcher, []any{handler}}
}

func flat(matcher string) func(event, command string) any {
	return func(_, command string) any {
		return struct {
			Matcher string `json:"matcher,omitempty"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}{matcher, command, timeout}
	}
}

func windsurfEntry(_, command string) any {
	return struct {
		Command    string `json:"command"`
		ShowOutput bool   `json:"show_output"`
	}{command, false}
}

func windsurfFile(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".windsurf", "hooks.json")
	}
	return p.home(".codeium", "windsurf", "hooks.json")
}

func clineFolder(p Place) string { return p.home("Documents", "Cline") }

func clineFile(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".clinerules", "hooks", "PreToolUse")
	}
	return p.home("Documents", "Cline", "Hooks", "PreToolUse")
}

func copilotFile(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".github", "hooks", "unloop.json")
	}
	return hook.CopilotFile(p.Env)
}

// Command returns the command line for an agent's shell.
func Command(program, agent string, mode hook.Mode) string {
	if strings.ContainsFunc(program, needsQuotes) {
		if runtime.GOOS == "windows" {
			program = `"` + program + `"`
		} else {
			program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
		}
	}
	command := program + " hook --agent " + agent
	if mode != "" {
		command += " --mode " + string(mode)
	}
	return command
}

func needsQuotes(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	case r == '\\' || r == ':':
		return runtime.GOOS != "windows"
	}
	return !strings.ContainsRune("/._-+", r)
}
