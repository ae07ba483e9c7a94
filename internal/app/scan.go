package app

import (
	"bufio"
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

// Scan says how traces are scanned.
type Scan struct {
	Profile *profile.Profile
	Input   string // the format's name; "" to find it by content
	Proof   bool   // gather the content of the steps that prove a warning, to show it
	Stdin   io.Reader

	// Verdict takes the verdict on each run.
	Verdict func(*report.Run) error
	// Warn takes what a person should know that is no verdict: a file that could not be read, a cut line. The scan goes on.
	Warn func(error)
	// Progress, if set, takes the bytes read since the last call, and the bytes to read in all as far as they are known.
	Progress func(read, total int64)

	total  int64
	folded int  // events that passes took, those included that came again from the overflow
	room   room // smaller in tests
}

// Result is what a scan came to.
type Result struct {
	Runs   int
	Worst  policy.Action // over all runs
	Faulty int           // inputs that could not be read to their end
}

// Run scans the paths: files, folders with all they hold, or - for standard input. What cannot be read is told to Warn and
// counted; only an error of Verdict or the end of ctx stops the scan.
func (s *Scan) Run(ctx context.Context, paths []string) (Result, error) {
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
	return result, ctx.Err()
}

// stopError wraps what ends the whole scan, not just one file.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

// file is an input that was found.
type file struct {
	path  string // "-" for standard input
	named bool   // the user named it, so it must be a trace
}

// find lists the files behind the paths. Those in folders are taken in the order of their names; hidden ones are left out.
func (s *Scan) find(paths []string) (files []file, faults []error) {
	for _, path := range paths {
		if path == "-" {
			files = append(files, file{path, true})
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			faults = append(faults, plainPathError(err))
			continue
		}
		if !info.IsDir() {
			s.total += info.Size()
			files = append(files, file{path, true})
			continue
		}
		err = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
			if err != nil {
				faults = append(faults, plainPathError(err))
				return nil
			}
			if strings.HasPrefix(entry.Name(), ".") && p != path {
				if entry.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				s.total += info.Size()
				files = append(files, file{p, false})
			}
			return nil
		})
		if err != nil {
			faults = append(faults, plainPathError(err))
		}
	}
	return files, faults
}

// plainPathError says what a person wants to know of an error with a path: the path, then the reason.
func plainPathError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

// source is an open input that can be read again.
type source struct {
	name   string
	run    string // id of a run that has none
	format ingest.Format
	first  io.Reader // for the first pass
	spool  *os.File  // what first gave, where that cannot be read again: of standard input, of a pipe
	scan   *Scan
	room   room
}

func (s *Scan) file(ctx context.Context, f file, result *Result) error {
	src := source{name: f.path, run: runName(f.path), scan: s, room: s.room}
	if src.room == (room{}) {
		src.room = enoughRoom
	}
	if f.path == "-" {
		src.name, src.run = "standard input", "stdin"
	}
	in, err := Open(ctx, f.path, s.Stdin)
	if err != nil {
		return plainPathError(err)
	}
	defer in.Close() // only read
	buffered := bufio.NewReaderSize(&meter{ctx: ctx, r: in, scan: s}, headSize)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", src.name, plainReadError(err))
	}
	src.first = buffered
	known, err := s.format(&src, head)
	if err != nil || !known {
		if !f.named {
			return nil // a folder may hold anything
		}
		return err
	}
	if src.format.Whole {
		return src.stream(result)
	}
	if !regular(f.path) {
		if err := src.tee(); err != nil {
			return err
		}
		defer src.spool.Close() // it has no name any more
	}
	return src.passes(ctx, result)
}

// headSize is how much of an input is looked at to find its format, in bytes.
const headSize = 64 << 10

func (s *Scan) format(src *source, head []byte) (known bool, err error) {
	if s.Input != "" {
		src.format, err = formatNamed(s.Input)
		return err == nil, err
	}
	if len(strings.TrimSpace(string(head[:min(len(head), 512)]))) == 0 {
		return false, fmt.Errorf("%s: the file is empty", src.name)
	}
	if src.format, known = sniff(head); !known {
		return false, fmt.Errorf("%s: this is no trace in a known format (name one with --input)", src.name)
	}
	return true, nil
}

// runName makes the id of a run of the file's name: without folders and endings.
func runName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// tee keeps what is read from standard input or from a pipe in a temporary file without a name, for a second pass.
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
		return io.NopCloser(&meter{ctx: ctx, r: src.spool}), nil
	}
	f, err := os.Open(src.name)
	if err != nil {
		return nil, plainPathError(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&meter{ctx: ctx, r: f}, f}, nil
}

// input makes an input of r for the decoder.
func (src *source) input(r io.Reader, warn bool) *ingest.Input {
	in := ingest.NewInput(src.name, src.run, r)
	if warn {
		in.Warn = func(b *ingest.BadInput) { src.scan.Warn(b) }
	}
	return in
}

// decode reads the input's events, each with its line.
func (src *source) decode(r io.Reader, warn bool, emit ingest.Emit) error {
	in := src.input(r, warn)
	return src.format.Decode(in, func(e *unloop.Event) error {
		e.Line = in.Line()
		return emit(e)
	})
}

// meter counts what is read, and stops at the end of ctx.
type meter struct {
	ctx  context.Context
	r    io.Reader
	scan *Scan // nil where progress was told already
}

func (m *meter) Read(p []byte) (int, error) {
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
