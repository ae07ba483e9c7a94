package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/internal/eval/splice"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/scan"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// evalFlags are the flags of unloop eval.
type evalFlags struct {
	profiles []string
	format   string
	second   string
}

func evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval [flags] RUNS.jsonl…",
		Short: "Measure profiles over labelled runs: detected loops, delay, and false alarms",
		Long: "Eval evaluates labelled runs as a scan does, and compares the decisions with the labels. It reports recall and delay by\n" +
			"kind of loop, false alarms and false stops, precision, recall and F1 at judged moments and per run, and the spending\n" +
			"after the first block or halt. Proportions have 95 % confidence intervals. Several profiles are compared side by side.\n" +
			"The file - is standard input. docs/eval.md describes the labels and the measures.",
		Example: "  unloop eval runs.jsonl\n" +
			"  unloop eval --profile default --profile looplens runs.jsonl\n" +
			"  unloop eval --second-opinion labels runs.jsonl\n" +
			"  unloop eval make --seed 1 healthy.jsonl | unloop eval -",
		Args: someArgs("RUNS.jsonl", "a file of labelled runs, or - for standard input"),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, paths) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVarP(&f.profiles, "profile", "p", []string{profile.Default}, "the profile `NAME` (repeatable): "+strings.Join(profile.Names(), ", "))
	flags.StringVarP(&f.format, "format", "f", "pretty", "the output `FORMAT`: pretty, json")
	flags.StringVar(&f.second, "second-opinion", "", "ask for second opinions: labels (answer as the labels say), or the `FILE` with the configuration second_opinion")
	cmd.AddCommand(evalMakeCommand())
	return cmd
}

func evalMakeCommand() *cobra.Command {
	var seed uint64
	var kinds string
	cmd := &cobra.Command{
		Use:   "make [flags] HEALTHY.jsonl…",
		Short: "Splice known loops and lookalikes into healthy runs",
		Long: "Make copies each labelled run that succeeded, once for every kind of loop and once for every kind of lookalike. A\n" +
			"lookalike is legitimate work that resembles a loop. Make splices the kind into its copy, and prints one labelled run\n" +
			"per line. Equal seeds give equal runs. The file - is standard input. docs/eval-kinds.md lists the kinds.",
		Example: "  unloop eval make healthy.jsonl > made.jsonl\n" +
			"  unloop eval make --seed 2 --kinds reporting healthy.jsonl | unloop eval -",
		Args: someArgs("HEALTHY.jsonl", "a file of labelled runs, or - for standard input"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			splicer, err := splice.New(cmd.OutOrStdout(), seed, splice.Kinds(kinds))
			if err != nil {
				return err
			}
			for _, path := range paths {
				if err := openLabelled(cmd, path, splicer.Read); err != nil {
					return err
				}
			}
			if splicer.Hosts == 0 {
				return fmt.Errorf("no healthy runs in %s: want labelled runs with the outcome success and without a loop", strings.Join(paths, ", "))
			}
			return nil
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "the random seed, a `NUMBER`")
	cmd.Flags().StringVar(&kinds, "kinds", string(splice.AllKinds), "the `KINDS` to make: all, tuning, reporting (kinds that no detector was tuned on)")
	return cmd
}

func (f *evalFlags) run(cmd *cobra.Command, paths []string) error {
	var profiles []*profile.Profile
	for _, name := range f.profiles {
		p, err := newProfile(name)
		if err != nil {
			return err
		}
		profiles = append(profiles, p)
	}
	board := eval.New(profiles)
	if err := f.ask(cmd, board); err != nil {
		return err
	}
	write := board.Pretty
	switch f.format {
	case "pretty":
	case "json":
		write = board.JSON
	default:
		return oneOf("--format", f.format, evalFormats())
	}
	for _, path := range paths {
		if err := openLabelled(cmd, path, board.Read); err != nil {
			return err
		}
	}
	if board.Sheets[0].Runs == 0 {
		return fmt.Errorf("no runs in %s", strings.Join(paths, ", "))
	}
	out := cmd.OutOrStdout()
	if f.format == "pretty" {
		out = plainWriter{out} // names of kinds are untrusted, because they come from the labels
	}
	return write(out)
}

// ask makes the board ask for second opinions, if they are requested.
func (f *evalFlags) ask(cmd *cobra.Command, board *eval.Scoreboard) error {
	switch f.second {
	case "":
		return nil
	case "labels":
		board.Ask(eval.Readers, nil)
		return nil
	}
	client, _, err := loadSecondOpinion(f.second, cmd.ErrOrStderr())
	if err != nil || client == nil {
		return err
	}
	board.Ask(func(ctx context.Context, _ *eval.Labels, _ int, q policy.Question) (policy.Opinion, error) {
		return client.Review(ctx, q)
	}, client.Mask)
	return nil
}

// openLabelled calls read with a file, or with standard input for -. If the content is not labelled runs, the error says what it
// is.
func openLabelled(cmd *cobra.Command, path string, read func(ctx context.Context, name string, r io.Reader) error) error {
	file, err := scan.Open(cmd.Context(), path, cmd.InOrStdin())
	if err != nil {
		return fmt.Errorf("read labelled runs: %w", scan.PlainPathError(err))
	}
	defer file.Close() // a file that is only read has no error to report
	if path == "-" {
		path = "standard input"
	}
	content, err := scan.Plain(path, file)
	if err != nil {
		return err
	}
	format, other := scan.Describe(content)
	err = read(cmd.Context(), path, content)
	bad := (*ingest.BadInput)(nil)
	switch {
	case !errors.As(err, &bad) || format == "labelled":
		return err
	case format != "":
		return fmt.Errorf("%s: this is a trace without labels (format %s), which unloop scan reads; docs/eval.md describes labelled runs", path, format)
	case other != "":
		return fmt.Errorf("%s: %s", path, other)
	}
	return fmt.Errorf("%w; want labelled runs, which docs/eval.md describes", err)
}
