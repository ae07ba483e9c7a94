// Package clients puts unloop mcp-proxy in front of the MCP servers in the configurations of their clients, and takes it out again.
package clients

import (
	"cmp"
	"path/filepath"

	"github.com/unloop-ai/unloop/internal/configedit"
)

// Client is a program whose configuration lists MCP servers.
type Client struct {
	Name  string
	Notes []string // what a user has to know after the change

	user, project func(Place) string // the files; nil if there is none
	read          func(data []byte) ([]configedit.Command, error)
}

// Place is where configurations are looked for.
type Place struct {
	Env     func(string) string
	System  string // runtime.GOOS
	Project string // the folder of a project; "" for the user's configuration
}

func (p Place) home(below ...string) string {
	return filepath.Join(append([]string{cmp.Or(p.Env("HOME"), p.Env("USERPROFILE"))}, below...)...)
}

// application returns the folder in which desktop programs keep their configuration.
func (p Place) application(below ...string) string {
	var folder string
	switch p.System {
	case "darwin":
		folder = p.home("Library", "Application Support")
	case "windows":
		folder = cmp.Or(p.Env("APPDATA"), p.home("AppData", "Roaming"))
	default:
		folder = cmp.Or(p.Env("XDG_CONFIG_HOME"), p.home(".config"))
	}
	return filepath.Join(append([]string{folder}, below...)...)
}

// Clients returns all clients.
func Clients() []Client {
	strict, comments := configedit.Dialect{}, configedit.Dialect{Comments: true}
	lax := configedit.Dialect{Comments: true, TrailingCommas: true}
	inProject := func(names ...string) func(Place) string {
		return func(p Place) string { return filepath.Join(append([]string{p.Project}, names...)...) }
	}
	return []Client{
		{
			Name: "claude-code", project: inProject(".mcp.json"), read: claudeCode,
			user: func(p Place) string {
				return filepath.Join(cmp.Or(p.Env("CLAUDE_CONFIG_DIR"), p.home()), ".claude.json")
			},
			Notes: []string{"it asks again for consent to the servers of a project", "it rewrites .claude.json while it runs: install when it does not"},
		},
		{
			Name: "claude-desktop", read: inJSON(strict, "mcpServers"), Notes: []string{"restart it"},
			user: func(p Place) string { return p.application("Claude", "claude_desktop_config.json") },
		},
		{
			Name: "cursor", project: inProject(".cursor", "mcp.json"), read: inJSON(comments, "mcpServers"),
			user: func(p Place) string { return p.home(".cursor", "mcp.json") },
		},
		{
			Name: "vscode", project: inProject(".vscode", "mcp.json"), read: inJSON(lax, "servers"),
			user:  func(p Place) string { return p.application("Code", "User", "mcp.json") },
			Notes: []string{"it asks again for trust in the servers"},
		},
		{
			Name: "codex", project: inProject(".codex", "config.toml"),
			user: func(p Place) string {
				return filepath.Join(cmp.Or(p.Env("CODEX_HOME"), p.home(".codex")), "config.toml")
			},
			read: func(data []byte) ([]configedit.Command, error) { return configedit.TOMLCommands(data, "mcp_servers") },
		},
	}
}

func inJSON(dialect configedit.Dialect, path ...string) func([]byte) ([]configedit.Command, error) {
	return func(data []byte) ([]configedit.Command, error) {
		return configedit.JSONCommands(data, dialect, path...)
	}
}

// claudeCode reads the servers of the user, and those that are the user's in one project.
func claudeCode(data []byte) ([]configedit.Command, error) {
	all, err := configedit.JSONCommands(data, configedit.Dialect{}, "mcpServers")
	if err != nil {
		return nil, err
	}
	local, err := configedit.JSONCommands(data, configedit.Dialect{}, "projects", "*", "mcpServers")
	return append(all, local...), err
}

// File returns the configuration of a client at a place, or "" if it has none there.
func (c *Client) File(p Place) string {
	switch {
	case p.Project == "":
		return c.user(p)
	case c.project != nil:
		return c.project(p)
	}
	return ""
}
