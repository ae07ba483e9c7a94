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

	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/scan"
)

func watchCommand() *cobra.Command {
	var server endpointFlags
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch [flags] DIR…",
		Short: "Follow traces as they are written, and send new events to a server",
		Long: "Watch follows every trace in the folders and their subfolders, in every format that unloop scan reads, and sends events\n" +
			"to a server as they are written. Files may be added, grow, be rotated, truncated, rewritten and deleted. If the server\n" +
			"is unreachable, watch waits for it. After a restart watch sends all events again; events that the server already has\n" +
			"change nothing. Watch reports a line that is not an event and skips it. It polls the files. It therefore misses lines\n" +
			"that are written less than a second before a file is truncated, and reports the truncation. A file that is renamed is\n" +
			"read to its end. Watch runs until it is interrupted.\n\n" +
			"Watch reads these formats line by line: unloop, labelled, claude-code, claude-stream, codex, copilot, cursor,\n" +
			"cursor-stream. It reads a file of any other format again as a whole, two seconds after the last change. A run without\n" +
			"an id is named after its file, with a suffix.\n\n" +
			endpointHelp,
		Example: "  unloop watch ~/.claude/projects ~/.codex/sessions\n" +
			"  unloop watch --once runs/                 # send all existing events, then exit",
		Args: someArgs("DIR", "a folder with traces"),
		RunE: func(cmd *cobra.Command, paths []string) error { return f.run(cmd, &server, paths) },
	}
	server.add(cmd.Flags())
	cmd.Flags().StringVar(&f.input, "input", "", "the `FORMAT` of all files (default: detect it by content)")
	cmd.Flags().BoolVar(&f.once, "once", false, "send all existing events, then exit")
	return cmd
}

type watchFlags struct {
	input string
	once  bool
}

func (f *watchFlags) run(cmd *cobra.Command, server *endpointFlags, paths []string) error {
	if f.input != "" {
		if err := scan.CheckFormat(f.input); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return scan.PlainPathError(err)
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
	follower := scan.Follower{
		Input: f.input, Once: f.once, Take: sender.AddTo,
		Warn: func(err error) {
			faults++
			complain(stderr, err)
		},
		Hint: func(text string) { complain(stderr, text) },
	}
	if !f.once {
		complain(stderr, fmt.Sprintf("following %s; events go to %s", strings.Join(paths, ", "), server.url()))
	}
	err = followAndSend(ctx, &follower, sender, paths)
	sent := sender.Sent()
	refused.reportRest()
	printSent(cmd.OutOrStdout(), sent)
	switch {
	case errors.Is(err, context.Canceled) && !f.once:
		return nil // an interrupt is the normal end
	case err != nil:
		return err
	case faults > 0 || sent.Refused > 0:
		return errFaulty
	}
	return nil
}

// sendEvery is the maximum time that an event waits for others.
const sendEvery = 200 * time.Millisecond

// lastFlush is the maximum time for the last events after an interrupt.
const lastFlush = 5 * time.Second

// followAndSend sends new events within sendEvery, and the remaining events at the end.
func followAndSend(ctx context.Context, follower *scan.Follower, sender *client.Sender, paths []string) error {
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
	err := follower.Run(ctx, paths)
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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	flushed := sender.Flush(last)
	if errors.Is(flushed, context.DeadlineExceeded) {
		return fmt.Errorf("the server did not take the last events within %v; the next unloop watch sends them", lastFlush)
	}
	if flushed != nil {
		return fmt.Errorf("send the last events: %w", flushed)
	}
	return err
}
