package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/policy"
)

// scanFlags are the flags of unloop scan.
type scanFlags struct {
	profile profileFlags
	input   string
	format  string
	failOn  string
}

func scanCommand() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan [flags] PATH…",
		Short: "Scan traces and report which runs loop, where, why, and what to try",
		Long: "Scan reads traces of agents' runs from files, from folders and their subfolders, or from standard input (-). It detects\n" +
			"the format by content: " + strings.Join(formatNames(), ", ") + ".\n\n" +
			"Exit status: 0 no run reached --fail-on, 1 at least one run did, 2 wrong usage or unreadable input.",
		Example: "  unloop scan examples/stuck-agent.jsonl\n" +
			"  unloop scan ~/.claude/projects --fail-on never\n" +
			"  unloop scan --format sarif runs/ > loops.sarif\n" +
			"  unloop scan --profile looplens --set cost_budget=0.5 run.jsonl\n" +
			"  tail -n 1000 events.jsonl | unloop scan -",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, paths) },
	}
	flags := cmd.Flags()
	f.profile.add(flags)
	flags.StringVar(&f.input, "input", "", "the input's `FORMAT` (default: detect it by content)")
	flags.StringVarP(&f.format, "format", "f", "pretty", "the output format: "+strings.Join(report.Formats(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "warn", "exit with 1 if a run reaches this action: warn, block, halt, or never")
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range app.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func (f *scanFlags) run(cmd *cobra.Command, paths []string) error {
	p, err := f.profile.load()
	if err != nil {
		return err
	}
	failOn, err := parseFailOn(f.failOn)
	if err != nil {
		return err
	}
	if f.input != "" {
		if err := app.CheckFormat(f.input); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	color, width := terminal(out)
	writer, err := report.New(f.format, out, report.Options{Color: color, Width: width, Version: version, FailOn: failOn})
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	scan := app.Scan{
		Profile: p, Input: f.input, Proof: f.format == "pretty", Stdin: cmd.InOrStdin(),
		Verdict: func(r *report.Run) error {
			bar.clear()
			return writer.Write(r)
		},
		Warn: func(err error) {
			bar.clear()
			complain(cmd.ErrOrStderr(), err)
		},
		Progress: bar.add,
	}
	result, err := scan.Run(cmd.Context(), paths)
	bar.clear()
	if err := errors.Join(err, writer.Close()); err != nil {
		return err
	}
	switch {
	case result.Faulty > 0:
		return errFaulty
	case result.Runs == 0:
		return fmt.Errorf("no runs in %s", strings.Join(paths, ", "))
	case result.Worst >= failOn:
		return errLoops
	}
	return nil
}

// never is a severity that no action has.
const never = policy.Halt + 1

func parseFailOn(s string) (policy.Action, error) {
	switch s {
	case "warn":
		return policy.Warn, nil
	case "block":
		return policy.Block, nil
	case "halt":
		return policy.Halt, nil
	case "never":
		return never, nil
	}
	return 0, fmt.Errorf("invalid --fail-on %q: want one of warn, block, halt, never", s)
}

// terminal reports whether to use colour on w, and its width in columns.
func terminal(w io.Writer) (color bool, width int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, 100
	}
	width = 100
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
		width = min(max(columns, 60), 140)
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", width
}

// progress shows on a terminal how much of the input has been read. It appears after one second.
type progress struct {
	w     io.Writer // nil where it is not shown
	bar   *progressbar.ProgressBar
	begun time.Time
	read  int64
}

func newProgress(w io.Writer) *progress {
	p := &progress{begun: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

func (p *progress) add(read, total int64) {
	p.read += read
	if p.w == nil || p.bar == nil && time.Since(p.begun) < time.Second {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(max(total, -1), progressbar.OptionSetWriter(p.w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription("scanning"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(min(p.read, max(total, p.read))) // a scan does not fail because its bar cannot be drawn
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
