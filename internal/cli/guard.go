package cli

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/reporter"
	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/guardio"
)

func guardCommand() *cobra.Command {
	var f profileFlags
	var second string
	var report bool
	var server endpointFlags
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Guard an agent in any language, over JSON lines on standard input and output",
		Long: "An agent runs unloop guard as a child process. The agent asks it before each tool call whether the call may run, and\n" +
			"reports how the call ended:\n\n" +
			"  {\"op\":\"before\",\"id\":1,\"tool\":\"search\",\"args\":{\"q\":\"loops\"}}\n" +
			"  {\"op\":\"after\",\"id\":1,\"tool\":\"search\",\"result\":[]}\n\n" +
			"The guard answers each line with one line, in order. The action is allow, warn, block or halt. The other operations are\n" +
			"text, user, progress, allow, control, state, stats, reset, snapshot and restore; docs/guard-protocol.md describes\n" +
			"them. The guard ends when its input ends.\n\n" +
			"With --report, it sends the events of runs that have a name to a server, and carries out what people order there.\n" +
			"While a run is paused, the answers to all requests wait. " + endpointHelp,
		Example: "  unloop guard\n" +
			"  unloop guard --profile loopguard --set mutating_halt_threshold=10\n" +
			"  unloop guard --config guard.yaml\n" +
			"  unloop guard --report --endpoint http://127.0.0.1:8765\n" +
			"  echo '{\"op\":\"before\",\"tool\":\"search\"}' | unloop guard",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.load()
			if err != nil {
				return err
			}
			opinion, err := guardOpinion(second, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			// With SIGPIPE ignored, a write to an agent that has ended returns EPIPE and does not kill the guard.
			signal.Ignore(syscall.SIGPIPE)
			defer signal.Reset(syscall.SIGPIPE)
			more := guardio.Extras{Second: opinion}
			if report {
				r, err := reporter.New(reporter.Options{Endpoint: server.url(), By: "stdio"})
				if err != nil {
					return err
				}
				defer closeReporter(r)
				more.Events, more.Controls = r.Add, r.Controls
			}
			err = guardio.Serve(cmd.Context(), p, more, cmd.InOrStdin(), cmd.OutOrStdout())
			if errors.Is(err, syscall.EPIPE) {
				return nil // the agent has ended, which is a normal end
			}
			return err
		},
	}
	f.add(cmd.Flags())
	server.add(cmd.Flags())
	cmd.Flags().BoolVar(&report, "report", false, "send events and decisions to a server, and hear its orders")
	cmd.Flags().StringVar(&second, "second-opinion", "", "ask a model before a stop, as second_opinion in the configuration `FILE` says")
	return cmd
}

// closeReporter sends the waiting events. It gives up after some seconds.
func closeReporter(r *reporter.Reporter) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.Close(ctx) // the server is unreachable, and the agent has ended
}

// guardOpinion returns the second opinion that a configuration file describes; nil without a file.
func guardOpinion(path string, log io.Writer) (*guard.SecondOpinion, error) {
	if path == "" {
		return nil, nil
	}
	client, wait, err := loadSecondOpinion(path, log)
	return app.GuardOpinion(client, wait), err
}
