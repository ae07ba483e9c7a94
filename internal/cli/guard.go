package cli

import (
	"errors"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/guardio"
)

func guardCommand() *cobra.Command {
	var f profileFlags
	var second string
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Guard an agent in any language, over JSON lines on standard input and output",
		Long: "An agent runs unloop guard as a child process. The agent asks it before each tool call whether the call may run, and\n" +
			"reports how the call ended:\n\n" +
			"  {\"op\":\"before\",\"id\":1,\"tool\":\"search\",\"args\":{\"q\":\"loops\"}}\n" +
			"  {\"op\":\"after\",\"id\":1,\"tool\":\"search\",\"result\":[]}\n\n" +
			"The guard answers each line with one line, in order. The action is allow, warn, block or halt. The other operations are\n" +
			"text, user, progress, allow, state, stats, reset, snapshot and restore; docs/guard-protocol.md describes them. The\n" +
			"guard ends when its input ends.",
		Example: "  unloop guard\n" +
			"  unloop guard --profile loopguard --set mutating_halt_threshold=10\n" +
			"  unloop guard --config guard.yaml\n" +
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
			err = guardio.ServeReviewed(cmd.Context(), p, opinion, cmd.InOrStdin(), cmd.OutOrStdout())
			if errors.Is(err, syscall.EPIPE) {
				return nil // the agent has ended, which is a normal end
			}
			return err
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&second, "second-opinion", "", "ask a model before a stop, as second_opinion in the configuration `FILE` says")
	return cmd
}

// guardOpinion returns the second opinion that a configuration file describes; nil without a file.
func guardOpinion(path string, log io.Writer) (*guard.SecondOpinion, error) {
	if path == "" {
		return nil, nil
	}
	client, wait, err := loadSecondOpinion(path, log)
	return app.GuardOpinion(client, wait), err
}
