package app

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

// Tail follows the traces in folders as they are written, and hands on their events. A file that it reads again gives the same
// events with the same ids, so that it needs no memory of its own beyond its life: who takes the events knows what is new.
type Tail struct {
	Input string // the format's name; "" to find it by content
	Once  bool   // read what there is, and end

	// Take takes an event, with the ids of its run and its own. It is valid until Take returns; an error ends the following. Take
	// is called concurrently.
	Take func(context.Context, *unloop.Event) error
	// Warn takes what a person should know: a file or a line that could not be read. It is called by one at a time.
	Warn func(error)

	mu     sync.Mutex
	told   map[string]map[uint64]bool // by the path of a file that is read as a whole: hashes of the ids of its events
	failed context.CancelCauseFunc
}

// Run follows the files until ctx is done, or with Once until all have been read. What is at hand when ctx is done is left.
func (f *Tail) Run(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.failed, f.told = cancel, make(map[string]map[uint64]bool)
	w := watch.New(paths, watch.Options{Once: f.Once}, f.file, func(path string, err error) {
		var bad *ingest.BadInput
		if !errors.As(err, &bad) { // which names the file
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

func (f *Tail) warn(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Warn(err)
}

// file reads one file.
func (f *Tail) file(ctx context.Context, file *watch.File) error {
	head, format, err := f.recognise(file)
	if err != nil || format.Decode == nil {
		return err
	}
	take := func(e *unloop.Event) error { return f.take(ctx, e) }
	if !format.Grows {
		if err := file.Settle(); err != nil {
			return err
		}
		told := f.toldOf(file.Path)
		take = func(e *unloop.Event) error {
			id := hashOf(e.RunID, e.ID)
			if told[id] {
				return nil
			}
			if len(told) < maxTold {
				told[id] = true
			}
			return f.take(ctx, e)
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
	in.Skip = (&skipping{warn: warn}).line
	tag := tagOf(firstLine(head))
	return format.Decode(in, func(e *unloop.Event) error {
		sign(e, tag)
		return take(e)
	})
}

// markOf returns what stands behind a file's name as the id of a run that has none. It keeps the run from being mistaken for that
// of a file of the same name in another folder, or, where the file is a log, in the same one after it was rotated or cut.
func markOf(path string, head []byte) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	line := firstLine(head)
	if filepath.Ext(path) == ".json" || !isJSON(line) {
		line = nil // a document, whose beginning may change
	}
	return tagOf([]byte(folder), line), nil
}

// recognise finds a file's format. There is none for a file that does not tell yet.
func (f *Tail) recognise(file *watch.File) (head []byte, format ingest.Format, err error) {
	if head, err = file.Head(headSize); err != nil {
		return nil, format, err
	}
	if len(head) < headSize && !bytes.Contains(head, []byte("\n")) {
		// Half a line may look like another format.
		if err = file.Settle(); err != nil {
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

// take hands on an event. Where that fails, all ends.
func (f *Tail) take(ctx context.Context, e *unloop.Event) error {
	err := f.Take(ctx, e)
	if err != nil {
		f.failed(err)
	}
	return err
}

// How much is remembered of what was told: beyond, it is told again.
const (
	maxTold      = 200_000 // events of a file
	maxToldFiles = 64
)

// toldOf returns what was told of a file that is read as a whole. A file is read by one at a time.
func (f *Tail) toldOf(path string) map[uint64]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	told, ok := f.told[path]
	if ok {
		return told
	}
	for other := range f.told {
		if len(f.told) < maxToldFiles {
			break
		}
		delete(f.told, other)
	}
	told = make(map[uint64]bool)
	f.told[path] = told
	return told
}
