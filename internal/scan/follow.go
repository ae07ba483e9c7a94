package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/watch"
)

// Follower reads the traces in folders while they grow and passes on their events. When it reads a file again, the events have
// the same ids. It therefore stores no state: the receiver recognises duplicates.
type Follower struct {
	Input string // name of the format; "" means to detect it
	Once  bool   // read the existing files, then end

	// Take receives each event, with the id of its run and its own, and the project that the event names for its run, or "". The
	// event is valid until Take returns. An error ends Run. Take is called concurrently.
	Take func(ctx context.Context, e *unloop.Event, project string) error
	// Warn receives problems such as an unreadable file or line. Its calls are not concurrent.
	Warn func(error)
	// Hint receives a text for each unknown name, such as a misspelt field, when it first occurs. Its calls are not concurrent. It
	// may be nil.
	Hint func(string)

	mu     sync.Mutex
	passed map[string]*passedEvents // by the path of a file that is read as a whole
	names  unknownNames
	failed context.CancelCauseFunc
}

// Run follows the files until ctx is done, or with Once until all have been read.
func (f *Follower) Run(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.failed, f.passed = cancel, make(map[string]*passedEvents)
	w := watch.New(paths, watch.Options{Once: f.Once}, f.file, func(path string, err error) {
		var bad *ingest.BadInput
		if !errors.As(err, &bad) { // otherwise the error names the file
			err = fmt.Errorf("%s: %w", path, plainReadError(err))
		}
		f.warn(err)
	})
	err := w.Run(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (f *Follower) warn(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Warn(err)
}

// hint passes on an unknown name that is new.
func (f *Follower) hint(in *ingest.Input, u ingest.Unknown) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, ok := f.names.add(in, u); ok && n.count == 1 {
		f.Hint(n.String())
	}
}

// file reads one file.
func (f *Follower) file(ctx context.Context, file *watch.File) error {
	head, format, err := f.recognise(file)
	if err != nil || format.Decode == nil {
		return err
	}
	take := func(e *unloop.Event, project string) error { return f.take(ctx, e, project) }
	if !format.Grows {
		if err := file.WaitQuiet(); err != nil {
			return err
		}
		passed := f.passedOf(file.Path)
		take = func(e *unloop.Event, project string) error {
			if !passed.add(hashOf(e.RunID, e.ID)) {
				return nil
			}
			return f.take(ctx, e, project)
		}
	}
	mark, err := markOf(file.Path, head)
	if err != nil {
		return err
	}
	in := ingest.NewInput(file.Path, runName(file.Path)+"@"+mark, file)
	warn := func(err error) {
		if ctx.Err() == nil {
			f.warn(err)
		}
	}
	in.Warn = func(b *ingest.BadInput) { warn(b) }
	if f.Hint != nil {
		in.Unknown = func(u ingest.Unknown) { f.hint(in, u) }
	}
	in.Skip = (&skippedLines{warn: warn}).line
	tag, project := tagOf(firstLine(head)), ""
	in.Project = func(name string) { project = name }
	return format.Decode(in, func(e *unloop.Event) error {
		sign(e, tag)
		named := project
		project = ""
		return take(e, named)
	})
}

// markOf returns the suffix of the id of a run without one, after the name of the file. It distinguishes files with the same name
// in different folders, and a log from its successor after a rotation.
func markOf(path string, head []byte) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	line := firstLine(head)
	if filepath.Ext(path) == ".json" || !isJSON(line) {
		line = nil // the beginning of a document can change
	}
	return tagOf([]byte(folder), line), nil
}

// recognise returns the format of a file. The format is zero if the file is still too short to show it.
func (f *Follower) recognise(file *watch.File) (head []byte, format ingest.Format, err error) {
	if head, err = file.Head(headSize); err != nil {
		return nil, format, err
	}
	if len(head) < headSize && !bytes.Contains(head, []byte("\n")) {
		// Half a line may look like another format.
		if err = file.WaitQuiet(); err != nil {
			return nil, format, err
		}
		if head, err = file.Head(headSize); err != nil {
			return nil, format, err
		}
	}
	if f.Input != "" {
		format, err = formatNamed(f.Input)
		return head, format, err
	}
	format, known := sniff(head)
	if !known && len(head) == headSize {
		return nil, format, watch.ErrNotWanted
	}
	return head, format, nil
}

// take passes on an event. An error ends Run.
func (f *Follower) take(ctx context.Context, e *unloop.Event, project string) error {
	err := f.Take(ctx, e, project)
	if err != nil {
		f.failed(err)
	}
	return err
}

// Bounds of the events that are remembered as passed on. Events beyond them are passed on again.
const (
	maxPassed      = 200_000 // events of a file
	maxPassedFiles = 64
)

// passedEvents are events that were passed on. A file that was replaced may still be read while its successor is.
type passedEvents struct {
	mu  sync.Mutex
	ids map[uint64]bool // hashes
}

// add reports whether an event is new.
func (p *passedEvents) add(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids[id] {
		return false
	}
	if len(p.ids) < maxPassed {
		p.ids[id] = true
	}
	return true
}

// passedOf returns the events of a file that were passed on.
func (f *Follower) passedOf(path string) *passedEvents {
	f.mu.Lock()
	defer f.mu.Unlock()
	passed, ok := f.passed[path]
	if ok {
		return passed
	}
	for other := range f.passed {
		if len(f.passed) < maxPassedFiles {
			break
		}
		delete(f.passed, other)
	}
	passed = &passedEvents{ids: make(map[uint64]bool)}
	f.passed[path] = passed
	return passed
}
