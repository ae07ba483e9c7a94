// Package watch follows the files of folders as they appear, grow, are rewritten, cut, renamed and deleted. It knows bytes and
// offsets only; what the bytes mean is the business of whoever reads them: package app, which has the decoders.
//
// It looks at the folders again and again, and is told nothing by the system: notices do not come from network file systems
// and many mounts, cost a descriptor for each folder or file on some systems, are lost when many come at once, and would have to
// be checked by looking anyway. The pause after a look is at least twenty times as long as the look, so that it takes no more
// than a twentieth of a core, however many files there are.
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrNotWanted is what a Reader returns for a file that it does not want: it is asked again a minute later at the earliest.
var ErrNotWanted = errors.New("the file is not wanted")

// Reader reads a file that is new or has changed since it was opened last, from its beginning. It is called in a goroutine of its
// own, for each file once at a time.
type Reader func(ctx context.Context, f *File) error

// Options say how files are followed. Zero values stand for the defaults.
type Options struct {
	Every time.Duration // from one look to the next, at least; half a second
	Idle  time.Duration // a file that has not grown for so long is followed no more, until it changes; ten minutes
	Open  int           // files that are open at once; 64. Beyond, the one that is quiet for longest makes room
	Once  bool          // read what there is, and end
}

// maxFiles bounds how many files are known.
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
	faults  map[string]bool // that were told
}

// entry is a file that was found. It belongs to the goroutine of Run, and its err to the reader until that has ended.
type entry struct {
	path   string
	info   os.FileInfo // as it was found last
	read   os.FileInfo // as it was when it was opened last; nil for never
	file   *File       // nil while it is not being read
	queued bool
	next   time.Time // it is not opened again before this
	err    error     // of its last reader
}

// New returns a watcher of all regular files in the folders and those below them, hidden ones excepted. A root may be a file, too.
// Fault takes what a person should know, once: that a file or folder cannot be read, and errors of readers but ErrNotWanted. It
// is called by the goroutine of Run.
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
		w.look()
		pause := time.NewTimer(max(w.options.Every, 20*time.Since(begun)))
		for looking := false; !looking; {
			w.begin(ctx)
			if w.options.Once && len(w.open) == 0 {
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

// begin opens files that wait, as long as there is room.
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
			e.read = e.info // it is tried again when it changes
			w.tell(e.path, err)
			continue
		}
		if file == nil {
			continue // it is no file any more
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
				_ = file.file.Close() // it was only read
			}
		})
	}
}

// end takes note of a reader that has returned.
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
		w.tell(e.path, e.err)
	}
	switch {
	case f.cut.Load():
		e.read = nil // there is another content
	case !f.whole.IsZero():
		// Reading it again and again takes a tenth of the time at most.
		e.next = now.Add(min(10*now.Sub(f.whole), time.Minute))
	case e.err != nil:
		e.next = now.Add(time.Minute)
	}
}

// makeRoom ends the file that is quiet for longest among those that are read to their end. The pause of two looks keeps files
// that take turns from being read from their beginnings again and again.
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

// maxFaults bounds how many faults are told.
const maxFaults = 1000

// tell tells a fault, once.
func (w *Watcher) tell(path string, err error) {
	key := fmt.Sprint(path, "\x00", err)
	if w.faults[key] || len(w.faults) >= maxFaults {
		return
	}
	w.faults[key] = true
	w.fault(path, err)
}
