package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/configedit"
)

// Codex runs a hook only after its user has approved it. It keeps the approvals in config.toml, by the place of the hook:
// [hooks.state."FILE:EVENT:GROUP:HANDLER"].

// trustKeys returns the names of the approvals of the program's hooks.
func (i *Installer) trustKeys(a *Agent) ([]string, error) {
	path := a.file(i.Place)
	f, err := configedit.ReadFile(path)
	if err != nil || !f.Exists {
		return nil, err
	}
	d, err := configedit.ParseJSON(f.Data, a.dialect)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, event := range a.events {
		var groups []struct{ Hooks []json.RawMessage }
		if json.Unmarshal(d.Value("hooks", event), &groups) != nil {
			continue
		}
		for g, group := range groups {
			if h := slices.IndexFunc(group.Hooks, isOwn); h >= 0 {
				keys = append(keys, fmt.Sprintf("%s:%s:%d:%d", path, snake(event), g, h))
			}
		}
	}
	return keys, nil
}

// snake converts PreToolUse to pre_tool_use.
func snake(event string) string {
	var b strings.Builder
	for k, r := range event {
		if r >= 'A' && r <= 'Z' {
			if k > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Trusted returns the number of the program's hooks that the user of Codex has approved, and the number of all.
func (i *Installer) Trusted(a *Agent) (approved, all int, err error) {
	keys, err := i.trustKeys(a)
	if err != nil {
		return 0, 0, err
	}
	f, err := configedit.ReadFile(i.codexConfig(a))
	if err != nil {
		return 0, len(keys), err
	}
	tables, err := configedit.TOMLTables(f.Data)
	for _, t := range tables {
		if isTrust(t.Key, keys) {
			approved++
		}
	}
	return approved, len(keys), err
}

func isTrust(table, keys []string) bool {
	return len(table) == 3 && table[0] == "hooks" && table[1] == "state" && slices.Contains(keys, table[2])
}

// codexConfig returns the path of the approvals. It is the user's file also for the hooks of a project.
func (i *Installer) codexConfig(a *Agent) string {
	return filepath.Join(a.folder(Place{Env: i.Place.Env}), "config.toml")
}

// distrust returns the change that removes the approvals of the program's hooks.
func (i *Installer) distrust(a *Agent) (*configedit.Change, error) {
	keys, err := i.trustKeys(a)
	if err != nil {
		return nil, err
	}
	f, err := configedit.ReadFile(i.codexConfig(a))
	if err != nil {
		return nil, err
	}
	after, _, err := configedit.RemoveTOMLTables(f.Data, func(key []string) bool { return isTrust(key, keys) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing is changed", f.Path, err)
	}
	return configedit.Edit(f, after), nil
}
