package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/internal/eval/splice"
	"github.com/unloop-ai/unloop/profile"
)

// evalFlags are the flags of unloop eval.
type evalFlags struct {
	profiles []string
	format   string
}

func evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval [flags] RUNS.jsonl…",
		Short: "Measure profiles over labelled runs: what they catch, how soon, and what honest work they disturb",
		Long: "Eval folds labelled runs as a scan would and holds the decisions against the labels: recall and delay by kind of\n" +
			"loop, false alarms and false stops, precision, recall and F1 at judged moments and for whole runs, and what was\n" +
			"spent after the first block or halt. Shares come with their 95 % confidence intervals. Several profiles stand side\n" +
			"by side. A file is - for standard input. docs/eval.md describes the labels and the measures.",
		Example: "  unloop eval runs.jsonl\n" +
			"  unloop eval --profile default --profile looplens runs.jsonl\n" +
			"  unloop eval make --seed 1 healthy.jsonl | unloop eval -",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, paths) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVarP(&f.profiles, "profile", "p", []string{profile.Default}, "the profiles (again for more): "+strings.Join(profile.Names(), ", "))
	flags.StringVarP(&f.format, "format", "f", "pretty", "how to print: pretty, json")
	cmd.AddCommand(evalMakeCommand())
	return cmd
}

func evalMakeCommand() *cobra.Command {
	var seed uint64
	var kinds string
	cmd := &cobra.Command{
		Use:   "make [flags] HEALTHY.jsonl…",
		Short: "Put known loops and look-alikes into healthy runs, to measure profiles by",
		Long: "Make takes each labelled run that succeeded, puts every kind of loop and every kind of honest work that looks like\n" +
			"one into a copy of its own, and prints the copies, a labelled run a line. Equal seeds give equal runs. A file is -\n" +
			"for standard input. docs/eval.md lists the kinds.",
		Example: "  unloop eval make healthy.jsonl > made.jsonl\n" +
			"  unloop eval make --seed 2 --kinds reporting healthy.jsonl | unloop eval -",
		Args: cobra.MinimumNArgs(1),
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
				return fmt.Errorf("no healthy runs in %s: one is labelled with the outcome success, and with no loop", strings.Join(paths, ", "))
			}
			return nil
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "another `NUMBER` makes other runs")
	cmd.Flags().StringVar(&kinds, "kinds", string(splice.AllKinds), "which `KINDS` to make: all, tuning, reporting (kinds that no detector was tuned on)")
	return cmd
}

func (f *evalFlags) run(cmd *cobra.Command, paths []string) error {
	var profiles []*profile.Profile
	for _, name := range f.profiles {
		p, err := profile.New(name)
		if err != nil {
			return err
		}
		profiles = append(profiles, p)
	}
	board := eval.New(profiles)
	write := board.Pretty
	switch f.format {
	case "pretty":
	case "json":
		write = board.JSON
	default:
		return fmt.Errorf("--format %s: it is one of pretty, json", f.format)
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
		out = plainWriter{out} // kinds of loops are named by those who made the labels
	}
	return write(out)
}

// openLabelled has read take a file, or standard input for -.
func openLabelled(cmd *cobra.Command, path string, read func(ctx context.Context, name string, r io.Reader) error) error {
	file, err := app.Open(cmd.Context(), path, cmd.InOrStdin())
	if err != nil {
		return fmt.Errorf("read labelled runs: %w", err)
	}
	defer file.Close() // only read
	if path == "-" {
		path = "standard input"
	}
	return read(cmd.Context(), path, file)
}
