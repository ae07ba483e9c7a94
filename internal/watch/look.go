package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// look checks the state of all files.
func (w *Watcher) look() {
	found := w.find()
	lost, fresh := w.match(found)
	w.adopt(lost, fresh, found)
	for _, e := range lost {
		if e.file != nil {
			e.file.finish() // the data that was written before the deletion is still readable
		}
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(e *entry) bool { return w.entries[e.path] != e })
	for _, path := range slices.Sorted(maps.Keys(found)) {
		w.check(w.entries[path])
	}
}

// find returns the regular files.
func (w *Watcher) find() map[string]os.FileInfo {
	found := make(map[string]os.FileInfo, len(w.entries))
	for _, root := range w.roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if !errors.Is(err, fs.ErrNotExist) || path == root {
					w.report(path, err)
				}
				return nil
			}
			if strings.HasPrefix(d.Name(), ".") && path != root {
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() {
				return nil
			}
			if len(found) >= maxFiles {
				w.report(root, fmt.Errorf("there are more than %d files; the others are ignored", maxFiles))
				return filepath.SkipAll
			}
			if info, err := d.Info(); err == nil { // otherwise it was deleted in the meantime
				found[path] = info
			}
			return nil
		})
		if err != nil {
			w.report(root, err)
		}
	}
	return found
}

// match updates the entries of files that still have their paths. It returns the entries of files that do not, and the paths with
// unknown files.
func (w *Watcher) match(found map[string]os.FileInfo) (lost map[string]*entry, fresh []string) {
	lost = make(map[string]*entry)
	for path, e := range w.entries {
		if info, ok := found[path]; ok && os.SameFile(e.info, info) {
			e.info = info
			continue
		}
		lost[path] = e
		delete(w.entries, path)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if w.entries[path] == nil {
			fresh = append(fresh, path)
		}
	}
	return lost, fresh
}

// adopt adds entries for new paths. A file that disappeared from another path was renamed and keeps its entry.
func (w *Watcher) adopt(lost map[string]*entry, fresh []string, found map[string]os.FileInfo) {
	for _, path := range fresh {
		info := found[path]
		e := &entry{path: path}
		for old, l := range lost {
			if os.SameFile(l.info, info) {
				e = l
				delete(lost, old)
				break
			}
		}
		e.path, e.info = path, info
		w.entries[path] = e
	}
}

// check wakes the reader of a file, or queues the file for reading.
func (w *Watcher) check(e *entry) {
	if e.file != nil {
		e.file.check(e.info)
		return
	}
	if e.queued || e.read != nil && unchanged(e.read, e.info) || time.Now().Before(e.next) {
		return
	}
	e.queued = true
	w.waiting = append(w.waiting, e)
}

// unchanged reports whether the size and the time of a file are unchanged.
func unchanged(a, b os.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
