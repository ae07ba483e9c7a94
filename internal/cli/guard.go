package cli

import (
	"errors"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/guardio"
)

func guardCommand() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Guard an agent in any language: JSON lines on standard input, one answer a line on standard output",
		Long: "An agent runs unloop guard as a child process, asks it before each tool call whether the call should run, and tells it\n" +
			"how the call ended:\n\n" +
			"  {\"op\":\"before\",\"id\":1,\"tool\":\"search\",\"args\":{\"q\":\"loops\"}}\n" +
			"  {\"op\":\"after\",\"id\":1,\"tool\":\"search\",\"result\":[]}\n\n" +
			"Each line is answered with one line, in order: the action is allow, warn, block or halt. Further operations are text,\n" +
			"user, progress, allow, state, stats, reset, snapshot and restore; docs/guard-protocol.md describes them. The guard ends\n" +
			"when its input ends.",
		Example: "  unloop guard\n" +
			"  unloop guard --profile loopguard --set mutating_halt_threshold=10\n" +
			"  unloop guard --config guard.yaml\n" +
			"  echo '{\"op\":\"before\",\"tool\":\"search\"}' | unloop guard",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.load()
			if err != nil {
				return err
			}
			// Without this, an agent that ends first kills the guard; with it, the write says so.
			signal.Ignore(syscall.SIGPIPE)
			defer signal.Reset(syscall.SIGPIPE)
			err = guardio.Serve(cmd.Context(), p, cmd.InOrStdin(), cmd.OutOrStdout())
			if errors.Is(err, syscall.EPIPE) {
				return nil // nobody listens any more, which is an end like any other
			}
			return err
		},
	}
	f.add(cmd.Flags())
	return cmd
}
