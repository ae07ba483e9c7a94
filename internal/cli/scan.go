package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/internal/scan"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// scanFlags are the flags of unloop scan.
type scanFlags struct {
	profile  profileFlags
	color    colorFlag
	baseline baselineFlags
	input    string
	format   string
	failOn   string
	summary  string
	verbose  bool
	quiet    bool
}

func scanCommand() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan [flags] PATH…",
		Short: "Scan traces and report which runs loop, where, why, and what to try",
		Long: "Scan reads traces of agents' runs from files, from folders and their subfolders, or from standard input (-). It detects\n" +
			"the format by content: " + strings.Join(formatNames(), ", ") + ".\n\n" +
			"It prints the runs with problems and a summary. -v also prints the healthy runs, -q prints nothing.\n\n" +
			"Exit status: 0 no run reached --fail-on, 1 at least one run did, 2 wrong usage or unreadable input.",
		Example: "  unloop scan examples/stuck-agent.jsonl\n" +
			"  unloop scan ~/.claude/projects --fail-on never\n" +
			"  unloop scan --format sarif runs/ > loops.sarif\n" +
			"  unloop scan --baseline loops.json --write-baseline runs/    # record the existing loops\n" +
			"  unloop scan --baseline loops.json runs/                     # fail only on new loops\n" +
			"  unloop scan --profile looplens --set cost_budget=0.5 run.jsonl\n" +
			"  tail -n 1000 events.jsonl | unloop scan -",
		Args: someArgs("PATH", "a file, a folder, or - for standard input"),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, paths) },
	}
	flags := cmd.Flags()
	f.profile.add(flags)
	flags.StringVar(&f.input, "input", "", "the input's `FORMAT` (default: detect it by content)")
	flags.StringVarP(&f.format, "format", "f", "pretty", "the output `FORMAT`: "+strings.Join(report.Formats(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "warn", "exit with 1 if a run reaches this `ACTION`: warn, block, halt, or never")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "also print healthy runs")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	f.color.add(flags)
	f.baseline.add(flags)
	flags.StringVar(&f.summary, "summary", "", "append a summary in Markdown to a `FILE`, such as $GITHUB_STEP_SUMMARY")
	cmd.MarkFlagsMutuallyExclusive("verbose", "quiet")
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range scan.Formats() {
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
		if err := scan.CheckFormat(f.input); err != nil {
			return suggest(err, f.input, formatNames())
		}
	}
	known, err := f.baseline.load()
	if err != nil {
		return err
	}
	out, err := f.outputs(cmd, failOn)
	if err != nil {
		return err
	}
	worst := policy.Allow
	verdict := func(r *report.Run) error {
		if !known.keepNew(r) {
			known.runs++
			return nil
		}
		worst = max(worst, r.Worst())
		return out.write(r)
	}
	result, err := f.scan(cmd, paths, p, verdict)
	if err := errors.Join(err, out.close()); err != nil {
		return err
	}
	if result.Faulty == 0 {
		if err := known.save(cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	switch {
	case result.Faulty > 0:
		return errFaulty
	case result.Runs == 0:
		return fmt.Errorf("no runs in %s", strings.Join(paths, ", "))
	case worst >= failOn:
		return errLoops
	}
	return nil
}

// scan scans the paths, and calls verdict for each run.
func (f *scanFlags) scan(cmd *cobra.Command, paths []string, p *profile.Profile, verdict func(*report.Run) error) (scan.Result, error) {
	bar := newProgress(cmd.ErrOrStderr())
	defer bar.clear()
	scanner := scan.Scanner{
		Profile: p, Input: f.input, Steps: f.format == "pretty" && !f.quiet, Stdin: cmd.InOrStdin(),
		Verdict: func(r *report.Run) error {
			bar.clear()
			return verdict(r)
		},
		Warn: func(err error) {
			bar.clear()
			complain(cmd.ErrOrStderr(), err)
		},
		Progress: bar.add,
	}
	if !f.quiet {
		scanner.Hint = func(text string) { complain(cmd.ErrOrStderr(), text) }
	}
	return scanner.Run(cmd.Context(), paths)
}

// outputs are the reports of a scan.
type outputs struct {
	writers []report.Writer
	summary *os.File // nil for none
}

// outputs returns the report on standard output, unless the scan is quiet, and the summary.
func (f *scanFlags) outputs(cmd *cobra.Command, failOn policy.Action) (*outputs, error) {
	w := cmd.OutOrStdout()
	color, err := f.color.on(w)
	if err != nil {
		return nil, err
	}
	writer, err := report.New(f.format, w, report.Options{
		Color: color, Width: screenWidth(w), Verbose: f.verbose, Version: programVersion(), FailOn: failOn,
	})
	if err != nil {
		return nil, suggest(err, f.format, report.Formats())
	}
	var all outputs
	if !f.quiet {
		all.writers = append(all.writers, writer)
	}
	if f.summary == "" {
		return &all, nil
	}
	all.summary, err = os.OpenFile(f.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write the summary: %w", err)
	}
	all.writers = append(all.writers, report.Markdown(all.summary))
	return &all, nil
}

func (o *outputs) write(r *report.Run) error {
	for _, w := range o.writers {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// close ends the reports.
func (o *outputs) close() error {
	var errs []error
	for _, w := range o.writers {
		errs = append(errs, w.Close())
	}
	if o.summary != nil {
		errs = append(errs, o.summary.Close())
	}
	return errors.Join(errs...)
}

// never is above all actions.
const never = policy.Halt + 1

func failOnNames() []string { return []string{"warn", "block", "halt", "never"} }

func parseFailOn(s string) (policy.Action, error) {
	if s == "never" {
		return never, nil
	}
	action, _ := policy.ActionOf(s)
	return action, oneOf("--fail-on", s, failOnNames())
}
