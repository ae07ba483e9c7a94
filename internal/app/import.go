package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Import reads traces as a scan does and hands on their events as they stand, for a server to judge.
type Import struct {
	Input string // the format's name; "" to find it by content
	Stdin io.Reader

	// Take takes an event, with the ids of its run and its own. It is valid until Take returns; an error ends the feed.
	Take func(*unloop.Event) error
	// Warn takes what a person should know: a file that could not be read, a cut line. The feed goes on.
	Warn func(error)
	// Progress, if set, takes the bytes read since the last call, and the bytes to read in all as far as they are known.
	Progress func(read, total int64)
}

// Imported is what a feed came to.
type Imported struct {
	Events int
	Runs   []string // their ids, sorted
	Faulty int      // inputs that could not be read, or not all of them
}

// Run reads the paths: files, folders with all they hold, or - for standard input. What cannot be read is told to Warn and
// counted; only an error of Take or the end of ctx ends it.
func (f *Import) Run(ctx context.Context, paths []string) (Imported, error) {
	w := importing{
		Import: f, scan: &Scan{Input: f.Input, Stdin: f.Stdin, Warn: f.Warn, Progress: f.Progress},
		runs: make(map[string]bool), names: make(map[string]bool),
	}
	files, faults := w.scan.find(paths)
	for _, err := range faults {
		w.fed.Faulty++
		f.Warn(err)
	}
	for _, in := range files {
		err := w.file(ctx, in)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return w.fed, stop.err
		case err != nil:
			w.fed.Faulty++
			f.Warn(err)
		}
	}
	w.fed.Runs = slices.Sorted(maps.Keys(w.runs))
	return w.fed, ctx.Err()
}

// importing is a feed at work.
type importing struct {
	*Import
	scan  *Scan
	fed   Imported
	runs  map[string]bool // by id
	names map[string]bool // that were given to runs without an id
}

func (w *importing) file(ctx context.Context, f file) error {
	src := source{name: f.path, scan: w.scan}
	if f.path == "-" {
		src.name = "standard input"
	}
	in, err := Open(ctx, f.path, w.Stdin)
	if err != nil {
		return plainPathError(err)
	}
	defer in.Close() // only read
	buffered := bufio.NewReaderSize(&meter{ctx: ctx, r: in, scan: w.scan}, headSize)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", src.name, plainReadError(err))
	}
	known, err := w.scan.format(&src, head)
	if err != nil || !known {
		if !f.named {
			return nil // a folder may hold anything
		}
		return err
	}
	src.run = w.name(f.path, head)
	tag := tagOf(firstLine(head))
	decoded, left := src.input(buffered, true), skipping{warn: w.Warn}
	decoded.Skip = left.line
	err = src.format.Decode(decoded, func(e *unloop.Event) error {
		sign(e, tag)
		w.fed.Events++
		if !w.runs[e.RunID] {
			w.runs[strings.Clone(e.RunID)] = true
		}
		if err := w.Take(e); err != nil {
			return &stopError{err}
		}
		return nil
	})
	if err == nil && left.lines > 0 {
		w.fed.Faulty++
	}
	return err
}

// name returns the id for a run that has none: the file's name, and more of it where another file of this feed has the same.
func (w *importing) name(path string, head []byte) string {
	name := runName(path)
	if path == "-" {
		name = "stdin"
	}
	for _, more := range []string{"", "@" + tagOf(firstLine(head)), "@" + tagOf([]byte(path))} {
		if !w.names[name+more] {
			name += more
			break
		}
	}
	w.names[name] = true
	return name
}

// sign makes an id that a decoder made of an event's place in its file one that another file does not have: a log that was rotated
// begins to count anew, and goes on with the same runs.
func sign(e *unloop.Event, tag string) {
	if len(e.ID) > 1 && e.ID[0] == '#' && e.ID[1:] == strconv.Itoa(e.Index) {
		e.ID += "@" + tag
	}
}

// firstLine returns the first line of an input that is not blank, as far as head holds it: with its time and ids, it is another
// one in every log.
func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return bytes.TrimSpace(line)
}

// tagOf returns a short name for parts of bytes.
func tagOf(parts ...[]byte) string {
	h := fnv.New32a()
	for _, part := range parts {
		_, _ = h.Write(part)        // never fails
		_, _ = h.Write([]byte{'|'}) // never fails
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = io.WriteString(h, part+"\x00") // never fails
	}
	return h.Sum64()
}
