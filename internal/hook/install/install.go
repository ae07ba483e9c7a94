package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Change is a change of a file.
type Change struct {
	Path          string
	Before, After []byte
	Created       bool // the file did not exist
	Deleted       bool // the file is deleted

	apply func() error
}

// None reports whether the change leaves the file unchanged.
func (c *Change) None() bool { return !c.Deleted && !c.Created && bytes.Equal(c.Before, c.After) }

// Apply makes the change.
func (c *Change) Apply() error { return c.apply() }

// backupEnd is the suffix of the copy of the former file.
const backupEnd = ".before-unloop"

// record is the data that Install stores about a changed file.
type record struct {
	Path    string `json:"path"`
	Agent   string `json:"agent"`
	Existed bool   `json:"existed"`
	Written string `json:"written"` // SHA-256 of the content
}

func (i *Installer) recordPath(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(string(i.State), "installed", hex.EncodeToString(sum[:8])+".json")
}

func (i *Installer) record(path string) (r record, ok bool) {
	raw, err := os.ReadFile(i.recordPath(path))
	return r, err == nil && json.Unmarshal(raw, &r) == nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Install returns the change that registers the program with an agent. It returns an error for a file that the agent would
// reject.
func (i *Installer) Install(a *Agent) (*Change, error) {
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
	c := &Change{Path: path, Before: f.Data, After: after, Created: !f.Exists}
	c.apply = func() error {
		if c.None() {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(i.recordPath(path)), 0o700); err != nil {
			return fmt.Errorf("install: %w", err)
		}
		if existed {
			if err := os.WriteFile(path+backupEnd, base, 0o600); err != nil {
				return fmt.Errorf("keep the former file: %w", err)
			}
		}
		raw, err := json.Marshal(record{path, a.Name, existed, sumOf(after)})
		if err == nil {
			err = os.WriteFile(i.recordPath(path), raw, 0o600)
		}
		if err != nil {
			return fmt.Errorf("install: %w", err)
		}
		return f.Write(after)
	}
	return c, nil
}

// base returns the file without unloop, and whether it then exists.
func (i *Installer) base(a *Agent, f *configedit.File) (data []byte, existed bool, err error) {
	if r, ok := i.record(f.Path); ok && f.Exists && r.Written == sumOf(f.Data) {
		if !r.Existed {
			return nil, false, nil
		}
		if data, err = os.ReadFile(f.Path + backupEnd); err == nil {
			return data, true, nil
		}
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
func (i *Installer) Uninstall(a *Agent) (*Change, error) {
	path := a.file(i.Place)
	f, err := configedit.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !f.Exists {
		return &Change{Path: path, apply: func() error { return i.forget(path) }}, nil
	}
	base, existed, err := i.base(a, f)
	if err != nil && a.whole == nil {
		return nil, fmt.Errorf("%s: %w; nothing is changed", path, err)
	}
	if err != nil { // the file belongs to another program
		base, existed = f.Data, true
	}
	c := &Change{Path: path, Before: f.Data, After: base, Deleted: !existed}
	c.apply = func() error {
		var err error
		switch {
		case c.Deleted:
			err = os.Remove(f.Target)
		case !c.None():
			err = f.Write(base)
		}
		return errors.Join(err, i.forget(path))
	}
	return c, nil
}

// forget removes the stored data about a file.
func (i *Installer) forget(path string) error {
	var failed []error
	for _, name := range []string{path + backupEnd, i.recordPath(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("uninstall: %w", err))
		}
	}
	return errors.Join(failed...)
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
