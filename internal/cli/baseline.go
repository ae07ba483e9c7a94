package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/report"
)

// baselineFlags are the flags about a file with known loops.
type baselineFlags struct {
	path  string
	write bool
}

func (f *baselineFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "baseline", "", "report only loops that the baseline in the `FILE` does not contain")
	flags.BoolVar(&f.write, "write-baseline", false, "write the detected loops to the file of --baseline, and exit with 0")
}

// baselineLoop identifies a loop: the same rule about the same subject in the same run. Counts and places in the file may change.
type baselineLoop struct {
	Run     string `json:"run_id"`
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
}

// baselineFile is the content of the file. The loops are sorted.
type baselineFile struct {
	Version int            `json:"version"`
	Loops   []baselineLoop `json:"loops"`
}

const baselineVersion = 1

// baselineKind is large enough for a hundred thousand loops.
var baselineKind = config.FileKind{Name: "the baseline", Max: 64 << 20, Want: "a file that --write-baseline has written"}

// baseline holds the known loops, or collects the loops to write.
type baseline struct {
	baselineFlags
	known  map[baselineLoop]bool // nil without a baseline
	hidden int                   // known loops that were not reported
	runs   int                   // runs that were not reported, because they have no other loops
}

// load reads the file. With --write-baseline it does not read it, and the file need not exist.
func (f *baselineFlags) load() (*baseline, error) {
	b := &baseline{baselineFlags: *f}
	switch {
	case f.path == "" && f.write:
		return nil, errors.New("--write-baseline needs --baseline FILE")
	case f.path == "":
		return b, nil
	}
	b.known = make(map[baselineLoop]bool)
	if f.write {
		return b, nil
	}
	text, err := baselineKind.Read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the baseline %s does not exist; --write-baseline creates it", f.path)
	}
	if err != nil {
		return nil, err
	}
	var file baselineFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is not a baseline, want a file that --write-baseline has written: %w", f.path, err)
	}
	if file.Version == 0 {
		return nil, fmt.Errorf("%s is not a baseline: it has no version; want a file that --write-baseline has written", f.path)
	}
	if file.Version != baselineVersion {
		return nil, fmt.Errorf("%s has version %d of the baseline; this program reads version %d; --write-baseline replaces the file", f.path, file.Version, baselineVersion)
	}
	for _, loop := range file.Loops {
		b.known[loop] = true
	}
	return b, nil
}

// keepNew removes the loops in the baseline from the verdict. It reports whether to report the run: it is healthy, or it has a
// loop that is not in the baseline. While a baseline is written, it collects all loops and reports no run.
func (b *baseline) keepNew(r *report.Run) bool {
	if b.known == nil {
		return true
	}
	loops := len(r.Warnings)
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w report.Warning) bool { return b.knows(r.ID, w.Rule, w.Subject) })
	b.hidden += loops - len(r.Warnings)
	if loops > 0 {
		return len(r.Warnings) > 0
	}
	// A decision without a warning is identified by its code.
	codes := len(r.Decisions)
	r.Decisions = slices.DeleteFunc(r.Decisions, func(d report.Decision) bool { return b.knows(r.ID, d.Code, "") })
	return codes == 0 || len(r.Decisions) > 0
}

// knows reports whether the baseline contains a loop. While a baseline is written, it adds the loop.
func (b *baseline) knows(run, rule, subject string) bool {
	loop := baselineLoop{run, rule, subject}
	if b.write {
		b.known[loop] = true
	}
	return b.known[loop]
}

// save writes the collected loops, or prints how many known loops were not reported.
func (b *baseline) save(stderr io.Writer) error {
	if !b.write {
		if b.hidden > 0 {
			complain(stderr, fmt.Sprintf("not reported: %s of the baseline, and %s with no other loop",
				plural(b.hidden, "known loop", "known loops"), plural(b.runs, "run", "runs")))
		}
		return nil
	}
	file := baselineFile{Version: baselineVersion, Loops: make([]baselineLoop, 0, len(b.known))}
	for loop := range b.known {
		file.Loops = append(file.Loops, loop)
	}
	slices.SortFunc(file.Loops, func(a, b baselineLoop) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	err = writeWhole(b.path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	known := make(map[string]bool) // the runs with these loops
	for _, loop := range file.Loops {
		known[loop.Run] = true
	}
	complain(stderr, fmt.Sprintf("wrote %s of %s to %s", plural(len(file.Loops), "loop", "loops"), plural(len(known), "run", "runs"), b.path))
	return nil
}
