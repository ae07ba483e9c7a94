package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

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

// Changes are the changes of an agent's files.
type Changes []*configedit.Change

// None reports whether the files stay as they are.
func (c Changes) None() bool {
	return !slices.ContainsFunc(c, func(c *configedit.Change) bool { return !c.None() })
}

// Backups returns the files that keep the former bytes of changed files.
func (c Changes) Backups() (paths []string) {
	for _, change := range c {
		if change.Backup != "" && !change.None() {
			paths = append(paths, change.Backup)
		}
	}
	return paths
}

// Apply makes the changes.
func (c Changes) Apply() error {
	for _, change := range c {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	return nil
}

// Install returns the changes that register the program with an agent. It returns an error for a file that the agent would
// reject.
func (i *Installer) Install(a *Agent) (all Changes, err error) {
	for _, path := range a.paths(i.Place) {
		c, err := i.install(a, path)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (i *Installer) install(a *Agent, path string) (*configedit.Change, error) {
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
	if a.each {
		f.RunWhenNew()
	}
	return i.keeper().Replace(f, base, existed, after), nil
}

// base returns the file without unloop, and whether it then exists.
func (i *Installer) base(a *Agent, f *configedit.File) (data []byte, existed bool, err error) {
	if data, existed, ok := i.keeper().Former(f); ok {
		return data, existed, nil
	}
	if a.whole != nil {
		if f.Exists && !a.owns(f.Data) {
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
		return a.whole(a, command), nil
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

// isOwn reports whether an entry runs unloop.
func isOwn(entry json.RawMessage) bool {
	var e struct {
		Command, Bash string
		Args          []string
	}
	if json.Unmarshal(entry, &e) != nil {
		return false
	}
	return ownCommand.MatchString(e.Command) || ownCommand.MatchString(e.Bash) || len(e.Args) > 0 && e.Args[0] == "hook" && ownCommand.MatchString(e.Command+" hook")
}

// owns reports whether Install wrote a whole file.
func (a *Agent) owns(file []byte) bool {
	return bytes.Contains(file, []byte(written)) || json.Valid(file) && bytes.Contains(file, []byte(" hook --agent "+a.Name))
}

// Uninstall returns the changes that remove the program. If nothing else has changed a file since, it restores the former one.
func (i *Installer) Uninstall(a *Agent) (all Changes, err error) {
	if a.Name == hook.Codex {
		c, err := i.distrust(a)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, path := range a.paths(i.Place) {
		c, err := i.uninstall(a, path)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (i *Installer) uninstall(a *Agent, path string) (*configedit.Change, error) {
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
	for _, path := range a.paths(i.Place) {
		if is, err := i.registered(a, path); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

func (i *Installer) registered(a *Agent, path string) (bool, error) {
	f, err := configedit.ReadFile(path)
	if err != nil || !f.Exists {
		return false, err
	}
	if a.whole != nil {
		return a.owns(f.Data), nil
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
