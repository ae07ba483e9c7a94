package configedit

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
)

// Keeper changes files and keeps their former bytes beside them, so that Restore can write them back.
type Keeper struct {
	Folder string // of the records: which file was changed, and to what
}

// Change is a change of a file.
type Change struct {
	Path          string
	Before, After []byte
	Created       bool   // the file did not exist
	Deleted       bool   // the file is removed
	Backup        string // the file that keeps the former bytes; "" for none

	apply func() error
}

// None reports whether the file stays as it is.
func (c *Change) None() bool { return !c.Deleted && !c.Created && bytes.Equal(c.Before, c.After) }

// Apply makes the change.
func (c *Change) Apply() error { return c.apply() }

// backupEnd is the end of the name of the file with the former bytes.
const backupEnd = ".before-unloop"

// record is what Replace keeps of a file that it changed.
type record struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	Written string `json:"written"` // SHA-256 of the content
}

func (k Keeper) recordPath(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(k.Folder, hex.EncodeToString(sum[:8])+".json")
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Former returns the bytes of a file before Replace changed it, and whether it existed. Ok is false if Replace did not change it, and
// if another program has changed it since.
func (k Keeper) Former(f *File) (data []byte, existed, ok bool) {
	var r record
	raw, err := os.ReadFile(k.recordPath(f.Path))
	if err != nil || json.Unmarshal(raw, &r) != nil || !f.Exists || r.Written != sumOf(f.Data) {
		return nil, false, false
	}
	if !r.Existed {
		return nil, false, true
	}
	data, err = os.ReadFile(f.Path + backupEnd)
	return data, true, err == nil
}

// Replace returns the change that gives a file other bytes and keeps the former ones. Existed reports whether the file existed before
// its first change.
func (k Keeper) Replace(f *File, former []byte, existed bool, after []byte) *Change {
	c := &Change{Path: f.Path, Before: f.Data, After: after, Created: !f.Exists}
	if existed {
		c.Backup = f.Path + backupEnd
	}
	c.apply = func() error {
		if c.None() {
			return nil
		}
		if err := os.MkdirAll(k.Folder, 0o700); err != nil {
			return fmt.Errorf("install: %w", err)
		}
		if existed {
			if err := os.WriteFile(c.Backup, former, 0o600); err != nil {
				return fmt.Errorf("keep the former file: %w", err)
			}
		}
		raw, err := json.Marshal(record{f.Path, existed, sumOf(after)})
		if err == nil {
			err = os.WriteFile(k.recordPath(f.Path), raw, 0o600)
		}
		if err != nil {
			return fmt.Errorf("install: %w", err)
		}
		return f.Write(after)
	}
	return c
}

// Edit returns the change that gives a file other bytes. Nothing is kept of the former ones.
func Edit(f *File, after []byte) *Change {
	c := &Change{Path: f.Path, Before: f.Data, After: after}
	c.apply = func() error {
		if c.None() {
			return nil
		}
		return f.Write(after)
	}
	return c
}

// Restore returns the change that gives a file its former bytes, or removes it if it did not exist, and forgets them.
func (k Keeper) Restore(f *File, former []byte, existed bool) *Change {
	c := &Change{Path: f.Path, Before: f.Data, After: former, Deleted: f.Exists && !existed}
	c.apply = func() error {
		var err error
		switch {
		case c.Deleted:
			err = os.Remove(f.Target)
		case f.Exists && !c.None():
			err = f.Write(former)
		}
		return errors.Join(err, k.forget(f.Path))
	}
	return c
}

// forget removes what Replace kept of a file.
func (k Keeper) forget(path string) error {
	var failed []error
	for _, name := range []string{path + backupEnd, k.recordPath(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("uninstall: %w", err))
		}
	}
	return errors.Join(failed...)
}
