package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Scanner reads traces and evaluates their runs under a profile.
type Scanner struct {
	Profile *profile.Profile
	Input   string // name of the format; "" means to detect it
	Steps   bool   // collect the content of the steps that show a warning
	Stdin   io.Reader

	// Verdict receives the verdict on each run. An error ends the scan.
	Verdict func(*report.Run) error
	// Warn receives problems that do not end the scan, such as an unreadable file or a cut line.
	Warn func(error)
	// Hint receives a text for each unknown name, such as a misspelt field, and one about the files of folders that are not traces, after the
	// last file. It may be nil.
	Hint func(string)
	// Progress receives the bytes read since the last call, and the total number of bytes as far as it is known. It may be nil.
	Progress func(read, total int64)

	total   int64
	names   unknownNames
	skipped skippedFiles // of folders
	folded  int          // number of times that passes took an event
	room    room         // smaller in tests
}

// Result is the result of a scan.
type Result struct {
	Runs   int
	Worst  policy.Action // over all runs
	Faulty int           // inputs that were not read completely
}

// Run scans the paths: files, folders with all their files, or - for standard input. Unreadable inputs are reported to Warn and
// counted. Only an error of Verdict or the end of ctx ends the scan.
func (s *Scanner) Run(ctx context.Context, paths []string) (Result, error) {
	var result Result
	files, faults := s.find(paths)
	for _, err := range faults {
		result.Faulty++
		s.Warn(err)
	}
	for _, f := range files {
		err := s.file(ctx, f, &result)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return result, stop.err
		case err != nil:
			result.Faulty++
			s.Warn(err)
		}
	}
	s.names.report(s.Hint)
	s.skipped.report(s.Hint)
	return result, ctx.Err()
}

// stopError wraps an error that ends the whole scan, not only one file.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

func (e *stopError) Unwrap() error { return e.err }

// file is an input.
type file struct {
	path  string // "-" for standard input
	named bool   // given by the user, so it must be a trace
}

// find returns the files of the paths. Files of folders are sorted by name. Hidden ones are skipped.
func (s *Scanner) find(paths []string) (files []file, faults []error) {
	for _, path := range paths {
		if path == "-" {
			files = append(files, file{path, true})
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			faults = append(faults, PlainPathError(err))
			continue
		}
		if !info.IsDir() {
			s.total += info.Size()
			files = append(files, file{path, true})
			continue
		}
		err = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
			if err != nil {
				faults = append(faults, PlainPathError(err))
				return nil
			}
			if strings.HasPrefix(entry.Name(), ".") && p != path {
				if entry.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			switch info, err := entry.Info(); {
			case err == nil && info.Mode().IsRegular():
				s.total += info.Size()
				files = append(files, file{p, false})
			case entry.Type()&fs.ModeSymlink != 0:
				s.skipped.add(p, "links in folders are not followed")
			}
			return nil
		})
		if err != nil {
			faults = append(faults, PlainPathError(err))
		}
	}
	return files, faults
}

// PlainPathError shortens an error about a path to the path and the reason.
func PlainPathError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

// source is an open input that can be read again.
type source struct {
	name   string
	run    string // id of a run without one
	format ingest.Format
	first  io.Reader // for the first pass
	spool  *os.File  // a copy of first, if the input is standard input or a pipe
	scan   *Scanner
	room   room
}

func (s *Scanner) file(ctx context.Context, f file, result *Result) error {
	src := source{name: f.path, run: runName(f.path), scan: s, room: s.room}
	if src.room == (room{}) {
		src.room = defaultRoom
	}
	if f.path == "-" {
		src.name, src.run = "standard input", "stdin"
	}
	in, err := Open(ctx, f.path, s.Stdin)
	if err != nil {
		return PlainPathError(err)
	}
	defer in.Close() // a file that is only read has no error to report
	content, err := Plain(src.name, &progressReader{ctx: ctx, r: in, scan: s})
	if err != nil {
		return err
	}
	head, err := content.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", src.name, plainReadError(err))
	}
	src.first = content
	if err := s.format(&src, head); err != nil {
		return s.skip(f, src.name, err)
	}
	if src.format.Whole {
		return src.stream(result)
	}
	if !regular(f.path) {
		if err := src.tee(); err != nil {
			return err
		}
		defer src.spool.Close() // closing deletes the file
	}
	return src.passes(ctx, result)
}

// headSize is the number of bytes of an input that are examined to detect its format.
const headSize = 64 << 10

// format sets the format of an input. The error says why the input is not a trace, without the name of the input.
func (s *Scanner) format(src *source, head []byte) (err error) {
	if s.Input != "" {
		src.format, err = formatNamed(s.Input)
		return err
	}
	if len(strings.TrimSpace(string(head[:min(len(head), 512)]))) == 0 {
		return errors.New("the file is empty")
	}
	var known bool
	if src.format, known = sniff(head); known {
		return nil
	}
	if what := container(head); what != "" {
		return errors.New(what)
	}
	return errUnknownFormat
}

// runName returns the id of a run without one: the name of the file without folders and extensions.
func runName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// tee copies the input to a temporary file while it is read, for a second pass.
func (src *source) tee() error {
	spool, err := unnamedFile()
	if err != nil {
		return fmt.Errorf("keep %s: %w", src.name, err)
	}
	src.first, src.spool = io.TeeReader(src.first, spool), spool
	return nil
}

// again opens the input for another pass.
func (src *source) again(ctx context.Context) (io.ReadCloser, error) {
	if src.spool != nil {
		if _, err := src.spool.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("read %s again: %w", src.name, err)
		}
		return io.NopCloser(&progressReader{ctx: ctx, r: src.spool}), nil
	}
	f, err := os.Open(src.name)
	if err != nil {
		return nil, PlainPathError(err)
	}
	content, err := Plain(src.name, &progressReader{ctx: ctx, r: f})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{content, f}, nil
}

// input returns the input of a decoder.
func (src *source) input(r io.Reader, warn bool) *ingest.Input {
	if warn {
		r = &utf8Reader{r: r, name: src.name, warn: src.scan.Warn}
	}
	in := ingest.NewInput(src.name, src.run, r)
	if warn {
		in.Warn = func(b *ingest.BadInput) { src.scan.Warn(b) }
		in.Unknown = func(u ingest.Unknown) { src.scan.names.add(in, u) }
	}
	return in
}

// decode emits the events of the input with their lines.
func (src *source) decode(r io.Reader, warn bool, emit ingest.Emit) error {
	in := src.input(r, warn)
	return src.format.Decode(in, func(e *unloop.Event) error {
		e.Line = in.Line()
		return emit(e)
	})
}

// progressReader reports the progress and fails when ctx is done.
type progressReader struct {
	ctx  context.Context
	r    io.Reader
	scan *Scanner // nil on a second reading
}

func (m *progressReader) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, &stopError{err}
	}
	n, err := m.r.Read(p)
	if m.scan != nil && m.scan.Progress != nil {
		m.scan.Progress(int64(n), m.scan.total)
	}
	return n, err
}

func plainReadError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
