package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/hook"
)

func hookLogCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "Print the nudges, denials and faults of all sessions; with --follow, also new ones",
		Example: "  unloop hook log\n  unloop hook log --follow",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := hookFolder()
			if err != nil {
				return err
			}
			out := plainWriter{cmd.OutOrStdout()}
			shown := 0
			show := func(e hook.Entry) {
				fmt.Fprintln(out, entryLine(&e))
				shown++
			}
			if follow {
				return followLog(cmd.Context(), folder, show)
			}
			if err := folder.Log(show); err != nil || shown > 0 {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "no nudges, denials or faults yet; unloop hook status shows whether a hook has run")
			return nil
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait for further entries")
	return cmd
}

func entryLine(e *hook.Entry) string {
	who := e.Session
	if e.SubAgent != "" {
		who += "/" + e.SubAgent
	}
	text, _, _ := strings.Cut(e.Text, "\n")
	return fmt.Sprintf("%s  %-9s  %-11s  %s  %s", e.Time.Local().Format(time.DateTime), e.What, e.Agent, who, text)
}

// logPoll is the interval at which the log is read.
const logPoll = 500 * time.Millisecond

// followLog shows the log and its new entries, until the context is done. A new log is read from its beginning.
func followLog(ctx context.Context, folder hook.Folder, show func(hook.Entry)) error {
	var read int64
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	for {
		next, err := showFrom(folder.LogPath(), read, show)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		read = next
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func showFrom(path string, from int64, show func(hook.Entry)) (next int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close() // a file that is only read has no error to report
	if info, err := f.Stat(); err == nil && info.Size() < from {
		from = 0
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return from, nil // an incomplete line is read the next time
		}
		if err != nil {
			return from, err
		}
		from += int64(len(line))
		var e hook.Entry
		if json.Unmarshal(line, &e) == nil {
			show(e)
		}
	}
}
