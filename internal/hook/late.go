package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A hook that does not get the lock in time lets its agent continue, and stores its event in a file. The next hook of the session
// that gets the lock folds it, so that no call is lost.

// maxLate is the maximum size of a stored event in bytes. Its input has at most maxInput, and escapes can double it.
const maxLate = 3 * maxInput

// keepLate stores an event, which is already masked, for the next hook of its session.
func (f Folder) keepLate(e *Event, now time.Time) error {
	raw, err := plainJSON(e)
	if err != nil {
		return fmt.Errorf("keep the event: %w", err)
	}
	folder := f.path("late", key(e.Agent, e.Session, e.SubAgent))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep the event: %w", err)
	}
	return replace(filepath.Join(folder, fmt.Sprintf("%020d-%d.json", now.UnixNano(), os.Getpid())), raw)
}

// foldLate folds the stored events in the order of their times. The caller holds the lock. A file is removed before it is folded,
// because losing an event in a crash is better than counting it twice.
func (f Folder) foldLate(j *judge) error {
	folder := f.path("late", key(j.event.Agent, j.event.Session, j.event.SubAgent))
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	own := j.event
	defer func() { j.event, j.steps, j.refused = own, nil, nil }() // the agents of late events do not wait for an answer
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		raw, err := readRegular(path, maxLate)
		if filepath.Ext(path) != ".json" || err != nil {
			continue // another process is writing it
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		late := new(Event)
		if err := json.Unmarshal(raw, late); err != nil {
			return fmt.Errorf("read a queued event: %w", err)
		}
		j.event = late
		j.fold(nil)
	}
	_ = os.Remove(folder) // fails if another process has added a file
	return nil
}

// sweepLate removes the stored events of sessions that had no further hook for too long. A folder's time is that of its latest event.
func (f Folder) sweepLate(now time.Time) error {
	entries, err := os.ReadDir(f.path("late"))
	if err != nil {
		return err
	}
	var failed []error
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > keptAge { // else another process has removed it
			failed = append(failed, os.RemoveAll(f.path("late", entry.Name())))
		}
	}
	return errors.Join(failed...)
}
