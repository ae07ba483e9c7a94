package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/hook"
	"github.com/unloop-ai/unloop/internal/hook/install"
)

func hookStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show for each agent whether unloop is registered, when a hook last ran, and what needs your approval",
		Example: "  unloop hook status",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := (&installFlags{}).installer()
			if err != nil {
				return err
			}
			project, err := (&installFlags{project: true}).installer()
			if err != nil {
				return err
			}
			out := plainWriter{cmd.OutOrStdout()}
			shown := 0
			for _, a := range install.Agents() {
				if hookStatus(out, i, project, &a) {
					shown++
				}
			}
			if shown == 0 {
				fmt.Fprintln(out, "No agent found. unloop hook install NAME registers one anyway.")
			}
			return hookFaults(out, i.State)
		},
	}
}

// hookStatus prints the status of an agent, and reports whether it printed anything.
func hookStatus(out io.Writer, user, project *install.Installer, a *install.Agent) bool {
	var where []string
	for _, i := range []*install.Installer{user, project} {
		registered, err := i.Registered(a)
		switch {
		case err != nil:
			where = append(where, "broken: "+err.Error())
		case registered:
			where = append(where, a.File(i.Place))
		}
	}
	seen, err := user.State.Seen(a.Name)
	if len(where) == 0 && err != nil && !a.Found(user.Place) {
		return false
	}
	fmt.Fprintf(out, "%s\n  registered  %s\n", a.Name, cmp.Or(strings.Join(where, ", "), "no"))
	if err != nil {
		fmt.Fprintf(out, "  last event  none: no hook has run yet\n")
	} else {
		fmt.Fprintf(out, "  last event  %s at %s\n  mode        %s\n", seen.Event, seen.Time.Local().Format(time.DateTime), seen.Mode)
		if !seen.Results {
			fmt.Fprintf(out, "  results     no hook has shown a result yet\n")
		}
	}
	if len(where) == 0 {
		return true
	}
	if a.Name == hook.Codex {
		if approved, all, err := user.Trusted(a); err == nil && all > 0 {
			fmt.Fprintf(out, "  consent     %d of %d hooks are approved\n", approved, all)
		}
	}
	for _, note := range a.Notes {
		fmt.Fprintf(out, "  note        %s\n", note)
	}
	return true
}

// shownFaults is the number of the latest faults that status prints.
const shownFaults = 5

func hookFaults(out io.Writer, folder hook.Folder) error {
	var faults []hook.Entry
	err := folder.Log(func(e hook.Entry) {
		if e.What == "fault" {
			faults = append(faults, e)
		}
	})
	if len(faults) == 0 {
		return err
	}
	fmt.Fprintf(out, "%s in the log; the agents continued. The latest:\n", plural(len(faults), "fault is", "faults are"))
	for _, e := range faults[max(0, len(faults)-shownFaults):] {
		fmt.Fprintf(out, "  %s  %s %s: %s\n", e.Time.Local().Format(time.DateTime), cmp.Or(e.Agent, "?"), e.Event, e.Text)
	}
	return err
}

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

func hookExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain SESSION",
		Short:   "Show a session: its state, its warnings, and its nudges and denials",
		Long:    "Explain takes the beginning of a session's id. unloop hook log prints the ids.",
		Example: "  unloop hook explain 0b6c",
		Args:    oneArg("SESSION", "the beginning of the id of a session that unloop hook log prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := hookFolder()
			if err != nil {
				return err
			}
			about, state, err := folder.Find(args[0])
			if err != nil {
				return err
			}
			out := plainWriter{cmd.OutOrStdout()}
			fmt.Fprintf(out, "%s session %s in %s, mode %s, profile %s\n", about.Agent, about.Session, cmp.Or(about.Dir, "?"), about.Mode, about.Profile)
			fmt.Fprintf(out, "%s, %s without novelty, %s, %s, %s; health %d (%s)\n", plural(about.Calls, "call", "calls"), plural(about.Repeats, "outcome", "outcomes"),
				plural(about.Nudges, "nudge", "nudges"), plural(about.Denials, "denial", "denials"), plural(about.TurnsCut, "ended turn", "ended turns"), state.Health.Score, state.Health.Status)
			for k := range state.Warnings {
				fmt.Fprint(out, "\n"+warningText(&state.Warnings[k], screenWidth(cmd.OutOrStdout())))
			}
			fmt.Fprintln(out)
			return folder.Log(func(e hook.Entry) {
				if e.Session == about.Session && e.SubAgent == about.SubAgent {
					fmt.Fprintln(out, entryLine(&e))
				}
			})
		},
	}
}

// warningText returns a warning in lines of a width.
func warningText(f *unloop.Finding, width int) string {
	var out strings.Builder
	out.WriteString(f.Rule + "\n")
	fill(&out, "  ", "  ", f.What, width)
	fill(&out, "  Why: ", "       ", f.Why, width)
	fill(&out, "  Try: ", "       ", f.Try, width)
	for _, call := range f.Repeated {
		fill(&out, "  Repeats: ", "    ", call, width)
	}
	return out.String()
}

func allowCommand() *cobra.Command {
	var tool string
	var once bool
	cmd := &cobra.Command{
		Use:   "allow SESSION",
		Short: "Let a coding agent continue that unloop hook nudges or denies",
		Long: "Allow takes the beginning of a session's id. It resets the guard's evidence about the session: the next denial needs new\n" +
			"evidence. With --tool, calls of that tool are never denied in the session. With --once, only the next call is allowed.\n" +
			"The log has an entry for it.",
		Example: "  unloop allow 0b6c\n  unloop allow 0b6c --tool Bash\n  unloop allow 0b6c --once",
		Args:    oneArg("SESSION", "the beginning of the id of a session that unloop hook log prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := hookFolder()
			if err != nil {
				return err
			}
			about, err := folder.Allow(args[0], tool, once, time.Now)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(plainWriter{cmd.OutOrStdout()}, "%s session %s in %s continues\n", about.Agent, about.Session, filepath.Base(about.Dir))
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&tool, "tool", "", "only calls of the tool `NAME`")
	cmd.Flags().BoolVar(&once, "once", false, "only the next call")
	return cmd
}
