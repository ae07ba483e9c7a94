package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
