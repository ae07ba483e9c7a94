package install

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/unloop-ai/unloop/internal/configedit"
	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/internal/hook"
)

// pluginVersion is that of the files in the repository. A release replaces it by its own.
const pluginVersion = "0.0.0"

func TestThePluginsInTheRepositoryRegisterWhatInstallDoes(t *testing.T) {
	files, err := plugins(pluginVersion)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for name, want := range files {
		if !json.Valid(want) {
			t.Errorf("%s is no JSON", name)
		}
		goldentest.Compare(t, filepath.Join("..", "..", "..", "plugins", name), want)
	}
}

// plugins returns the files of plugins with hooks: Claude Code's plugin and Gemini CLI's extension, by their paths below the
// folder plugins. They run a program unloop in the path.
func plugins(version string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	about := map[string]any{"name": "unloop", "version": version, "description": "Detects when the agent loops, and tells it."}
	for _, a := range Agents() {
		manifest := ""
		switch a.Name {
		case hook.Claude:
			manifest = "claude-code/.claude-plugin/plugin.json"
		case hook.Gemini:
			manifest = "gemini-cli/gemini-extension.json"
		default:
			continue
		}
		raw, err := json.MarshalIndent(about, "", "  ")
		if err != nil {
			return nil, err
		}
		files[manifest] = append(raw, '\n')
		d, err := configedit.ParseJSON(nil, configedit.Dialect{})
		if err != nil {
			return nil, err
		}
		for _, event := range a.events {
			if err := d.Append(a.entry(event, Command("unloop", a.Name, "")), "hooks", event); err != nil {
				return nil, err
			}
		}
		files[a.Name+"/hooks/hooks.json"] = d.Bytes()
	}
	return files, nil
}
