package hook

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
)

// Folder is the folder with the state of hooks: a file for each session, locks, the log, and the time of each agent's last hook.
// Only the user can read it.
type Folder string

// FolderIn returns the folder in unloop's folder for state.
func FolderIn(state string) Folder { return Folder(filepath.Join(state, "hooks")) }

// lockCount is the number of lock files. Sessions share them, so that no lock file is ever removed: a process that waits for a
// removed file would hold a lock that no other process uses.
const lockCount = 64

// lockPatience is the maximum time that a hook waits for other hooks of its session. Each takes a few milliseconds.
const lockPatience = 8 * time.Second

func (f Folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// make creates the folders.
func (f Folder) make() error {
	for _, part := range []string{"sessions", "locks", "agents", "late"} {
		if err := os.MkdirAll(f.path(part), 0o700); err != nil {
			return fmt.Errorf("create the folder of the state: %w", err)
		}
	}
	return nil
}

// key returns the name of a session's file without its extension. Session ids are untrusted and may not be valid file names.
func key(agent, session, subAgent string) string {
	sum := xxh3.HashString128(agent + "\x00" + session + "\x00" + subAgent).Bytes()
	return hex.EncodeToString(sum[:])
}

// errBusy means that the lock was not available in time.
var errBusy = errors.New("other hooks of the session hold the lock")

// lock locks a session. The returned function unlocks it.
func (f Folder) lock(key string) (unlock func(), err error) {
	name := f.path("locks", fmt.Sprintf("%02d", xxh3.HashString(key)%lockCount))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the session: %w", err)
	}
	if err := lockFile(file, lockPatience); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the session: %w", err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing unlocks it
}

// replace replaces a file atomically. If several processes do so at once, the last one wins.
func replace(path string, data []byte) error {
	next, err := writeBeside(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return errors.Join(err, removeIfThere(next))
	}
	return nil
}

// writeBeside writes a new file beside path, which no other process writes, and returns its name.
func writeBeside(path string, data []byte) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.next")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, removeIfThere(file.Name()))
	}
	return file.Name(), nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keyBytes is the length of the key of the masks.
const keyBytes = 32

// maskKey returns the key of the masks. It is created at the first use and shared by all sessions of this machine, so a secret
// always has the same mask. A damaged key, such as a crash of the machine leaves, is replaced: without a key no hook could judge.
func (f Folder) maskKey() ([]byte, error) {
	path := f.path("mask.key")
	key, err := readRegular(path, maxSmall)
	if err == nil && len(key) == keyBytes {
		return key, nil
	}
	damaged := err == nil
	if err := f.createKey(path, damaged, os.Link); err != nil {
		return nil, fmt.Errorf("write the key of the masks: %w", err)
	}
	key, err = readRegular(path, maxSmall)
	if err == nil && len(key) != keyBytes {
		return nil, fmt.Errorf("the key of the masks is damaged: remove %s", path)
	}
	return key, err
}

// createKey writes a new key. If several processes do so at once, the first one wins, or the last one of those that replace a damaged key
// or whose file system has no hard links. It calls link, which is os.Link.
func (f Folder) createKey(path string, damaged bool, link func(from, to string) error) error {
	fresh := make([]byte, keyBytes)
	_, _ = rand.Read(fresh) // never fails
	own, err := writeBeside(path, fresh)
	if err != nil {
		return err
	}
	if !damaged {
		if err := link(own, path); err == nil || errors.Is(err, fs.ErrExist) {
			return removeIfThere(own)
		} // else a file system without hard links, such as FAT
	}
	return errors.Join(os.Rename(own, path), removeIfThere(own))
}

// The limits of stored sessions.
const (
	keptAge      = 14 * 24 * time.Hour
	keptSessions = 500
	sweepEvery   = 24 * time.Hour
)

// sweep removes the sessions that were idle too long, and the longest idle ones beyond 500. It also removes the late events that no
// hook has folded. It runs at most once a day.
func (f Folder) sweep(now time.Time) error {
	stamp := f.path("swept")
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()).Abs() < sweepEvery {
		return nil
	}
	if err := writeRegular(stamp, nil); err != nil {
		return err
	}
	entries, err := os.ReadDir(f.path("sessions"))
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	var failed []error
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // another process has removed it
		}
		if now.Sub(info.ModTime()) > keptAge {
			failed = append(failed, f.removeSession(info.Name()))
			continue
		}
		kept = append(kept, info)
	}
	if len(kept) > keptSessions {
		sortByAge(kept)
		for _, info := range kept[keptSessions:] {
			failed = append(failed, f.removeSession(info.Name()))
		}
	}
	return errors.Join(append(failed, f.sweepLate(now))...)
}

// removeSession removes the file of a session under its lock, so that no hook is between reading and writing it.
func (f Folder) removeSession(name string) error {
	key, _, _ := strings.Cut(name, ".")
	unlock, err := f.lock(key)
	if err != nil {
		return err
	}
	defer unlock()
	return removeIfThere(f.path("sessions", name))
}
