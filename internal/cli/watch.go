package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/client"
)

func watchCommand() *cobra.Command {
	var server endpointFlags
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch [flags] DIR…",
		Short: "Follow traces as they are written, and send what is new to a server",
		Long: "Watch follows every trace in the folders and those below them, in every format that unloop scan reads, and sends its\n" +
			"events to a server as they are written. Files may be added, grow, be rotated, cut, rewritten and deleted; a server that\n" +
			"is away is waited for. When watch is started again it sends all that it finds once more, and what the server has\n" +
			"already changes nothing. A line that is no event is told and left out. It ends when it is interrupted.\n\n" +
			"Line by line: unloop, labelled, claude-code, claude-stream, codex. Files of other formats are read again as a whole\n" +
			"once they have been left alone for two seconds. A run without an id is called after its file, with a mark behind it.\n\n" +
			endpointHelp,
		Example: "  unloop watch ~/.claude/projects ~/.codex/sessions\n" +
			"  unloop watch --once runs/                 # all there is, then end",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, &server, paths) },
	}
	server.add(cmd.Flags())
	cmd.Flags().StringVar(&f.input, "input", "", "the `FORMAT` of all files, instead of finding it by content")
	cmd.Flags().BoolVar(&f.once, "once", false, "send what there is, and end")
	return cmd
}

type watchFlags struct {
	input string
	once  bool
}

func (f *watchFlags) run(cmd *cobra.Command, server *endpointFlags, paths []string) error {
	if f.input != "" {
		if err := app.CheckFormat(f.input); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	c, err := server.client()
	if err != nil {
		return err
	}
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	sender := c.NewSender()
	refused := refusals{w: stderr}
	sender.Waiting, sender.Refused = (&outage{w: stderr}).waiting, refused.refused
	if f.once {
		sender.Patience = patience
	}
	faults := 0
	follow := app.Tail{
		Input: f.input, Once: f.once, Take: sender.Add,
		Warn: func(err error) {
			faults++
			complain(stderr, err)
		},
	}
	complain(stderr, fmt.Sprintf("following %s; events go to %s", strings.Join(paths, ", "), server.url()))
	err = followAndSend(ctx, &follow, sender, paths)
	sent := sender.Sent()
	refused.tellUntold()
	tellSent(cmd.OutOrStdout(), sent)
	switch {
	case errors.Is(err, context.Canceled) && !f.once:
		return nil // that is how it ends
	case err != nil:
		return err
	case faults > 0 || sent.Refused > 0:
		return errFaulty
	}
	return nil
}

// sendEvery is how long an event may wait for others, to be sent with them.
const sendEvery = 200 * time.Millisecond

// followAndSend sends what is followed, a fifth of a second later at most, and at the end all that was gathered.
func followAndSend(ctx context.Context, follow *app.Tail, sender *client.Sender, paths []string) error {
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	done := make(chan struct{})
	var flushing sync.WaitGroup
	flushing.Go(func() {
		tick := time.NewTicker(sendEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := sender.Flush(ctx); err != nil {
					failed(err)
					return
				}
			}
		}
	})
	err := follow.Run(ctx, paths)
	close(done)
	flushing.Wait()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err == nil {
		return sender.Flush(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if flushed := sender.Flush(last); flushed != nil {
		return fmt.Errorf("the last events are not with the server: %w", flushed)
	}
	return err
}
