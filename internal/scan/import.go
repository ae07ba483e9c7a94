package scan

import (
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

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Importer reads traces as a Scanner does and passes on their events unchanged, for a server to evaluate.
type Importer struct {
	Input string // name of the format; "" means to detect it
	Stdin io.Reader

	// Take receives each event, with the id of its run and its own, and the project that the event names for its run, or "". The
	// event is valid until Take returns. An error ends the import.
	Take func(e *unloop.Event, project string) error
	// Warn receives problems that do not end the import, such as an unreadable file or a cut line.
	Warn func(error)
	// Hint receives a text for each unknown name, such as a misspelt field, and one about the files of folders that are not traces, after the
	// last file. It may be nil.
	Hint func(string)
	// Progress receives the bytes read since the last call, and the total number of bytes as far as it is known. It may be nil.
	Progress func(read, total int64)
}

// ImportResult contains the runs of an import, the number of events, and the number of faulty inputs.
type ImportResult struct {
	Events int
	Runs   []string // their ids, sorted
	Faulty int      // inputs that were not read completely
}

// Run imports the paths: files, folders with all their files, or - for standard input. Unreadable inputs are reported to Warn and
// counted. Only an error of Take or the end of ctx ends the import.
func (f *Importer) Run(ctx context.Context, paths []string) (ImportResult, error) {
	w := importing{
		Importer: f, scan: &Scanner{Input: f.Input, Stdin: f.Stdin, Warn: f.Warn, Progress: f.Progress},
		runs: make(map[string]bool), names: make(map[string]bool),
	}
	files, faults := w.scan.find(paths)
	for _, err := range faults {
		w.result.Faulty++
		f.Warn(err)
	}
	for _, in := range files {
		err := w.file(ctx, in)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return w.soFar(), stop.err
		case err != nil:
			w.result.Faulty++
			f.Warn(err)
		}
	}
	w.scan.names.report(f.Hint)
	w.scan.skipped.report(f.Hint)
	return w.soFar(), ctx.Err()
}

// importing is an import in progress.
type importing struct {
	*Importer
	scan   *Scanner
	result ImportResult
	runs   map[string]bool // by id
	names  map[string]bool // ids that were given to runs without one
}

// soFar returns the result with the runs of all events that were read.
func (w *importing) soFar() ImportResult {
	w.result.Runs = slices.Sorted(maps.Keys(w.runs))
	return w.result
}

func (w *importing) file(ctx context.Context, f file) error {
	src := source{name: f.path, scan: w.scan}
	if f.path == "-" {
		src.name = "standard input"
	}
	in, err := Open(ctx, f.path, w.Stdin)
	if err != nil {
		return PlainPathError(err)
	}
	defer in.Close() // only read
	content, err := Plain(src.name, &progressReader{ctx: ctx, r: in, scan: w.scan})
	if err != nil {
		return err
	}
	head, err := content.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", src.name, plainReadError(err))
	}
	if err := w.scan.format(&src, head); err != nil {
		return w.scan.skip(f, src.name, err)
	}
	src.run = w.name(f.path, head)
	tag := tagOf(firstLine(head))
	decoded, left := src.input(content, true), skippedLines{warn: w.Warn}
	decoded.Skip = left.line
	project := ""
	decoded.Project = func(name string) { project = name }
	err = src.format.Decode(decoded, func(e *unloop.Event) error {
		sign(e, tag)
		w.result.Events++
		if !w.runs[e.RunID] {
			w.runs[strings.Clone(e.RunID)] = true
		}
		named := project
		project = ""
		if err := w.Take(e, named); err != nil {
			return &stopError{err}
		}
		return nil
	})
	if err == nil && left.lines > 0 {
		w.result.Faulty++
	}
	return err
}

// name returns the id for a run without one: the name of the file, with a suffix if another file of this import has the same
// name.
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

// sign adds a tag to an id that a decoder derived from the position of an event in its file. The id then differs from those of
// other files. Without the tag, a rotated log would reuse the ids of the log before it.
func sign(e *unloop.Event, tag string) {
	if len(e.ID) > 1 && e.ID[0] == '#' && e.ID[1:] == strconv.Itoa(e.Index) {
		e.ID += "@" + tag
	}
}

// firstLine returns the first non-blank line of an input, as far as it is in head. It differs from log to log, because it
// contains times and ids.
func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return bytes.TrimSpace(line)
}

// tagOf returns a short hash of the parts.
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

// maxSkipped is the maximum number of skipped lines of a file that are reported one by one.
const maxSkipped = 20

// skippedLines reports the lines of a file that cannot be read. Such a line exists, for example, where a program was killed while
// it wrote the line and was then restarted.
type skippedLines struct {
	lines int
	warn  func(error)
}

func (s *skippedLines) line(bad *ingest.BadInput) {
	s.lines++
	switch {
	case s.lines <= maxSkipped:
		s.warn(fmt.Errorf("%w; the line is skipped", bad))
	case s.lines == maxSkipped+1:
		s.warn(errors.New(bad.File + ": further skipped lines are not reported"))
	}
}

// isJSON reports whether text is a JSON value that decoders accept.
func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
