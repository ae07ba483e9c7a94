package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/report"
)

func exportCommand() *cobra.Command {
	var server endpointFlags
	var to string
	var labels bool
	cmd := &cobra.Command{
		Use:   "export [flags] RUN",
		Short: "Write a run's events as JSON Lines, for unloop scan, guard and import",
		Long: "Export writes the events of a server's run, one per line, in the order of the run. unloop scan gives the same verdict\n" +
			"for them as the server, and unloop import sends them to another server. Secrets in the events are already masked.\n\n" +
			"With --labelled it writes all runs that people labelled as a loop, a missed loop or not a loop, one run per line, as unloop eval\n" +
			"reads them.\n\n" +
			endpointHelp,
		Example: "  unloop export run-7 > run-7.jsonl\n" +
			"  unloop export run-7 -o run-7.jsonl\n" +
			"  unloop export run-7 | unloop scan --profile looplens -\n" +
			"  unloop export --labelled > labelled.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if labels {
				return noArgs(cmd, args)
			}
			return oneArg("RUN", "the id of a run")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return exportLabelled(cmd.Context(), c, w, cmd.ErrOrStderr()) }
			if !labels {
				write = func(w io.Writer) error { return export(cmd.Context(), c, args[0], w) }
			}
			if to == "" {
				return write(cmd.OutOrStdout())
			}
			return writeWhole(to, write)
		},
	}
	server.add(cmd.Flags())
	cmd.Flags().BoolVar(&labels, "labelled", false, "write all labelled runs for unloop eval")
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to a `FILE`, which appears only when it is complete")
	return cmd
}

func export(ctx context.Context, c *client.Client, run string, to io.Writer) error {
	w := bufio.NewWriterSize(to, 64<<10)
	about, err := c.Run(ctx, run)
	first := true
	if err == nil {
		err = c.Events(ctx, run, func(line []byte) error {
			if first {
				first, line = false, api.WithProject(line, about.Project)
			}
			_, err := w.Write(report.EscapeJSON(line)) // which may go to a terminal
			return err
		})
	}
	var answer *client.Error
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		return fmt.Errorf("the server has no run %q", run)
	}
	return errors.Join(err, w.Flush())
}
