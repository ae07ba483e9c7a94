package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/unloop-ai/unloop/internal/configedit"
	"github.com/unloop-ai/unloop/internal/hook"
)

// Installer registers and removes one program.
type Installer struct {
	Program string      // the absolute path
	Mode    hook.Mode   // "" leaves the mode to the configuration
	State   hook.Folder // has the data to restore files
	Place   Place
}

func (i *Installer) keeper() configedit.Keeper {
	return configedit.Keeper{Folder: filepath.Join(string(i.State), "installed")}
}

// Install returns the change that registers the program with an agent. It returns an error for a file that the agent would
// reject.
func (i *Installer) Install(a *Agent) (*configedit.Change, error) {
	path := a.file(i.Place)
	f, err := configedit.ReadFile(path)
	if err != nil {
		return nil, err
	}
	base, existed, err := i.base(a, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing is changed", path, err)
	}
	after, err := a.with(base, Command(i.Program, a.Name, i.Mode))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing is changed", path, err)
	}
	return i.keeper().Replace(f, base, existed, after), nil
}

// base returns the file without unloop, and whether it then exists.
func (i *Installer) base(a *Agent, f *configedit.File) (data []byte, existed bool, err error) {
	if data, existed, ok := i.keeper().Former(f); ok {
		return data, existed, nil
	}
	if a.whole != nil {
		if f.Exists && !isOwn(f.Data) {
			return nil, false, errors.New("the file is not unloop's")
		}
		return nil, false, nil
	}
	if !f.Exists {
		return nil, false, nil
	}
	d, err := configedit.ParseJSON(f.Data, a.dialect)
	if err != nil {
		return nil, false, err
	}
	n, err := d.Remove(isOwn, "hooks")
	if n == 0 {
		return f.Data, true, err
	}
	return d.Bytes(), true, err
}

// with returns the file with the program registered.
func (a *Agent) with(base []byte, command string) ([]byte, error) {
	if a.whole != nil {
		return a.whole(command), nil
	}
	d, err := configedit.ParseJSON(base, a.dialect)
	if err != nil {
		return nil, err
	}
	for name, value := range a.base {
		if d.Value(name) == nil {
			if err := d.Set(value, name); err != nil {
				return nil, err
			}
		}
	}
	for _, event := range a.events {
		if err := d.Append(a.entry(event, command), "hooks", event); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// ownCommand matches the commands that Install writes, and those that people write by hand.
var ownCommand = regexp.MustCompile(`\shook --agent [a-z-]+|(^|[/\\])unloop(\.exe)?['"]?\s+hook\b`)

// isOwn reports whether an entry runs unloop, or is a file that Install wrote.
func isOwn(entry json.RawMessage) bool {
	var e struct {
		Command, Bash string
		Args          []string
	}
	if json.Unmarshal(entry, &e) == nil && (e.Command != "" || e.Bash != "") {
		return ownCommand.MatchString(e.Command) || ownCommand.MatchString(e.Bash) || len(e.Args) > 0 && e.Args[0] == "hook" && ownCommand.MatchString(e.Command+" hook")
	}
	return bytes.HasPrefix(entry, []byte("// Written by `unloop hook install`")) || bytes.Contains(entry, []byte(` hook --agent copilot-cli`)) && bytes.Contains(entry, []byte(`"preToolUse"`))
}

// Uninstall returns the change that removes the program. If nothing else has changed the file since, it restores the former file.
func (i *Installer) Uninstall(a *Agent) (*configedit.Change, error) {
	path := a.file(i.Place)
	f, err := configedit.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !f.Exists {
		return i.keeper().Restore(f, nil, false), nil
	}
	base, existed, err := i.base(a, f)
	if err != nil && a.whole == nil {
		return nil, fmt.Errorf("%s: %w; nothing is changed", path, err)
	}
	if err != nil { // the file belongs to another program
		base, existed = f.Data, true
	}
	return i.keeper().Restore(f, base, existed), nil
}

// Registered reports whether an agent's configuration runs unloop.
func (i *Installer) Registered(a *Agent) (bool, error) {
	f, err := configedit.ReadFile(a.file(i.Place))
	if err != nil || !f.Exists {
		return false, err
	}
	if a.whole != nil {
		return isOwn(f.Data), nil
	}
	d, err := configedit.ParseJSON(f.Data, a.dialect)
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.Path, err)
	}
	n, err := d.Remove(isOwn, "hooks")
	return n > 0, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
