package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/scan"
)

func importCommand() *cobra.Command {
	var server endpointFlags
	var input string
	cmd := &cobra.Command{
		Use:   "import [flags] PATH…",
		Short: "Send traces to a server",
		Long: "Import reads traces from files, from folders and their subfolders, or from standard input (-), in every format that\n" +
			"unloop scan reads. It sends their events to a server. A run keeps its id, and its project if its events name\n" +
			"one. A run without an id is named after its file. Events that the server already has change nothing, so a file can be\n" +
			"imported again.\n\n" +
			endpointHelp + "\n\n" +
			"Exit status: 0 the server has all events, 2 wrong usage, unreadable or refused input, or no server.",
		Example: "  unloop import examples/stuck-agent.jsonl\n" +
			"  unloop import ~/.claude/projects\n" +
			"  unloop import --endpoint https://unloop.example.com runs/\n" +
			"  unloop export run-7 | unloop import --endpoint http://127.0.0.1:9000 -",
		Args: someArgs("PATH", "a file, a folder, or - for standard input"),
		RunE: func(cmd *cobra.Command, paths []string) error { return runImport(cmd, &server, input, paths) },
	}
	server.add(cmd.Flags())
	cmd.Flags().StringVar(&input, "input", "", "the input's `FORMAT` (default: detect it by content)")
	return cmd
}

func runImport(cmd *cobra.Command, server *endpointFlags, input string, paths []string) error {
	if input != "" {
		if err := scan.CheckFormat(input); err != nil {
			return err
		}
	}
	c, err := server.client()
	if err != nil {
		return err
	}
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	if _, err := c.Health(ctx); err != nil {
		return err // at once, and not after a minute's patience
	}
	bar := newProgress(stderr)
	above := aboveBar{stderr, bar}
	sender := newSender(c, above)
	refused := refusals{w: above}
	sender.Refused = refused.refused
	importer := scan.Importer{
		Input: input, Stdin: cmd.InOrStdin(), Progress: bar.add,
		Take: func(e *unloop.Event, project string) error { return sender.AddTo(ctx, e, project) },
		Warn: func(err error) { complain(above, err) },
		Hint: func(text string) { complain(above, text) },
	}
	result, err := importer.Run(ctx, paths)
	if err == nil {
		err = sender.Flush(ctx)
	}
	if err == nil && sender.Sent().Accepted > 0 {
		err = endRuns(ctx, c, result.Runs)
	}
	bar.clear()
	refused.reportRest()
	sent := sender.Sent()
	if result.Events > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s of %s: ", plural(result.Events, "event", "events"), plural(len(result.Runs), "run", "runs"))
		printSent(cmd.OutOrStdout(), sent)
	}
	if sent.Accepted > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "See %s\n", pageOf(c, result.Runs))
	}
	switch {
	case err != nil:
		return err
	case result.Faulty > 0 || sent.Refused > 0:
		return errFaulty
	case result.Events == 0:
		return errors.New("no runs in " + strings.Join(paths, ", "))
	}
	return nil
}

// pageOf returns the address of the dashboard's page of the runs: the page of a run if there is one, else the list of runs.
func pageOf(c *client.Client, runs []string) string {
	if len(runs) == 1 {
		return c.URL(client.PagePath(runs[0]))
	}
	return c.URL("/")
}

// endsAtOnce is the number of runs that are ended at once. The server records the ends together.
const endsAtOnce = 16

// endRuns reports to the server that all events of the runs were sent.
func endRuns(ctx context.Context, c *client.Client, runs []string) error {
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(endsAtOnce)
	for _, id := range runs {
		if each.Err() != nil {
			break // one has failed, or the import was interrupted
		}
		group.Go(func() error { return c.EndRun(each, id) })
	}
	return cmp.Or(group.Wait(), ctx.Err())
}
