// Package watch follows the files in folders while they appear, grow, and are rewritten, truncated, renamed and deleted. It
// handles only bytes and offsets. Package scan decodes them.
//
// It polls the folders. Notifications of the operating system are not available for network file systems and many mounts, need a
// descriptor for each folder or file on some systems, and can be lost, so polling would be needed anyway. The pause after a poll
// is at least twenty times as long as the poll, so polling takes at most a twentieth of a processor core for any number of files.
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrNotWanted is returned by a Reader for a file that it does not want. It is called again after a minute at the earliest.
var ErrNotWanted = errors.New("the file is not wanted")

// Reader reads a file that is new or has changed since it was last opened, from its beginning. Each call has its own goroutine.
// There is one call at a time for each file.
type Reader func(ctx context.Context, f *File) error

// Options are the options of a watcher. Zero values mean the defaults.
type Options struct {
	Every time.Duration // minimum time between two polls; half a second
	Idle  time.Duration // time without growth after which a file is closed until it changes; ten minutes
	Open  int           // maximum number of open files; 64. Beyond it, the longest idle file is closed
	Once  bool          // read the existing files, then end
}

// maxFiles is the maximum number of known files.
const maxFiles = 200_000

// Watcher follows files.
type Watcher struct {
	roots   []string
	read    Reader
	fault   func(path string, err error)
	options Options

	entries map[string]*entry // by path
	waiting []*entry          // to be read, in the order in which they were found
	open    map[*entry]bool   // being read
	ended   chan *entry
	readers sync.WaitGroup
	faults  map[string]bool // faults that were reported
	moved   bool            // since the last poll, another file was found at the path of a known one
}

// entry is a known file. It belongs to the goroutine of Run. Its err belongs to the reader while that runs.
type entry struct {
	path   string
	info   os.FileInfo // at the last poll
	read   os.FileInfo // when it was last opened; nil for never
	file   *File       // nil while it is not being read
	queued bool
	next   time.Time // earliest time to open it again
	err    error     // of the last call of the reader
}

// New returns a watcher of all regular files in the folders and below them, except hidden ones. A root may also be a file. The
// function fault receives, once each, unreadable files and folders, errors of readers except ErrNotWanted, and growing files that were
// truncated, so that some of their text may not have been read. The goroutine of Run calls it.
func New(roots []string, o Options, read Reader, fault func(path string, err error)) *Watcher {
	if o.Every == 0 {
		o.Every = 500 * time.Millisecond
	}
	if o.Idle == 0 {
		o.Idle = 10 * time.Minute
	}
	if o.Open == 0 {
		o.Open = 64
	}
	return &Watcher{
		roots: roots, read: read, fault: fault, options: o,
		entries: make(map[string]*entry), open: make(map[*entry]bool), ended: make(chan *entry), faults: make(map[string]bool),
	}
}

// Run follows files until ctx is done, or with Once until all have been read. All readers have returned when it returns.
func (w *Watcher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer w.readers.Wait()
	defer cancel()
	for {
		begun := time.Now()
		w.moved = false
		w.look()
		pause := time.NewTimer(max(w.options.Every, 20*time.Since(begun)))
		for looking := false; !looking; {
			w.begin(ctx)
			if w.options.Once && len(w.open) == 0 {
				if w.moved && ctx.Err() == nil {
					break // the file may have another path now
				}
				return ctx.Err()
			}
			select {
			case <-ctx.Done():
				pause.Stop()
				return ctx.Err()
			case e := <-w.ended:
				w.end(e)
			case <-pause.C:
				looking = !w.options.Once
			}
		}
	}
}

// begin opens waiting files, up to the limit.
func (w *Watcher) begin(ctx context.Context) {
	for len(w.waiting) > 0 {
		if len(w.open) >= w.options.Open {
			w.makeRoom()
			return
		}
		e := w.waiting[0]
		w.waiting = w.waiting[1:]
		e.queued = false
		file, err := open(e.path)
		if err != nil {
			e.read = e.info // it is opened again when it changes
			w.report(e.path, err)
			continue
		}
		if file == nil {
			continue // it is no longer a regular file
		}
		if !os.SameFile(file.opened, e.info) {
			w.moved = true // the next poll finds both files
			w.report(e.path, file.file.Close())
			continue
		}
		file.ctx, file.idle = ctx, w.options.Idle
		file.toEnd.Store(w.options.Once || file.old())
		e.file, e.read = file, file.opened
		w.open[e] = true
		w.readers.Go(func() {
			e.err = w.read(ctx, file)
			select {
			case w.ended <- e:
			case <-ctx.Done():
				_ = file.file.Close() // a file that is only read has no error to report
			}
		})
	}
}

// end handles the end of a reader.
func (w *Watcher) end(e *entry) {
	f, now := e.file, time.Now()
	delete(w.open, e)
	e.file = nil
	if info := f.readToEnd(); info != nil {
		e.read = info
	}
	if err := f.file.Close(); err != nil && e.err == nil {
		e.err = err
	}
	if e.err != nil && !errors.Is(e.err, ErrNotWanted) {
		w.report(e.path, e.err)
	}
	w.report(e.path, f.lost())
	switch {
	case f.cut.Load():
		e.read = nil // the content has changed
	case !f.whole.IsZero():
		// Repeated reading takes at most a tenth of the time.
		e.next = now.Add(min(10*now.Sub(f.whole), time.Minute))
	case e.err != nil:
		e.next = now.Add(time.Minute)
	}
}

// makeRoom ends the longest idle file that was read to its end. It waits for two polls, so that files that change in turn are not
// read again and again from the beginning.
func (w *Watcher) makeRoom() {
	var quiet *entry
	for e := range w.open {
		if e.file.isOver() || e.file.offset.Load() < e.info.Size() {
			continue
		}
		if quiet == nil || e.info.ModTime().Before(quiet.info.ModTime()) {
			quiet = e
		}
	}
	if quiet != nil && time.Since(quiet.file.grown) >= 2*w.options.Every {
		quiet.file.finish()
	}
}

// maxFaults is the maximum number of reported faults.
const maxFaults = 1000

// report reports a fault, once. It does nothing without an error.
func (w *Watcher) report(path string, err error) {
	key := fmt.Sprint(path, "\x00", err)
	if err == nil || w.faults[key] || len(w.faults) >= maxFaults {
		return
	}
	w.faults[key] = true
	w.fault(path, err)
}
