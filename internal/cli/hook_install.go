package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/hook"
	"github.com/unloop-ai/unloop/internal/hook/install"
)

// installFlags select the agents and the place.
type installFlags struct {
	project, dryRun bool
	mode            string
}

func (f *installFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.BoolVar(&f.project, "project", false, "change the configuration of the project in the current folder, not the user's")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the difference and change nothing")
}

func (f *installFlags) installer() (*install.Installer, error) {
	folder, err := hookFolder()
	if err != nil {
		return nil, err
	}
	program, project, err := f.place()
	if err != nil {
		return nil, err
	}
	if f.mode != "" {
		if _, err := hook.ParseMode(f.mode); err != nil {
			return nil, err
		}
	}
	return &install.Installer{
		Program: program, Mode: hook.Mode(f.mode), State: folder, Place: install.Place{Env: os.Getenv, Project: project},
	}, nil
}

// place returns the path of this program and the folder of the project, which is "" for the user's configuration.
func (f *installFlags) place() (program, project string, err error) {
	if program, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("find this program: %w", err)
	}
	if !f.project {
		return program, "", nil
	}
	if project, err = filepath.Abs("."); err != nil {
		return "", "", fmt.Errorf("find the project: %w", err)
	}
	return program, project, nil
}

// checkLasting refuses a program that go run or npx has put into a cache, because agents start the registered program later.
func checkLasting(program string) error {
	for folder := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(program)), "/") {
		cached := folder == "_npx" || strings.HasPrefix(folder, "go-build")
		if cached && !strings.HasSuffix(program, ".test") { // go test builds there, too
			return fmt.Errorf("cannot register %s, because caches are emptied: install unloop, and run the installed program", program)
		}
	}
	return nil
}

// agentsNamed returns the agents with the names. Without names, it returns the agents for which use returns true.
func agentsNamed(names []string, use func(*install.Agent) bool) ([]install.Agent, error) {
	all := install.Agents()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(a install.Agent) bool { return !use(&a) }), nil
	}
	var chosen []install.Agent
	for _, name := range names {
		k := slices.IndexFunc(all, func(a install.Agent) bool { return a.Name == name })
		if k < 0 {
			return nil, oneOf("agent", name, agentNames())
		}
		chosen = append(chosen, all[k])
	}
	return chosen, nil
}

func agentNames() []string {
	var names []string
	for _, a := range install.Agents() {
		names = append(names, a.Name)
	}
	return names
}

func hookInstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [AGENT]...",
		Short: "Register unloop at the hooks of the coding agents on this machine",
		Long: "Install adds unloop to the configuration of each named agent, or of every agent that it finds. It keeps\n" +
			"comments, order and line ends, and a copy of the former file. A file that its agent would reject is not changed. Installing\n" +
			"twice changes nothing. --dry-run prints the difference, and unloop hook uninstall restores the former bytes.\n\n" +
			"The agents are " + strings.Join(agentNames(), ", ") + ".",
		Example: "  unloop hook install\n  unloop hook install claude-code codex --mode guard\n  unloop hook install --project --dry-run",
		RunE: func(cmd *cobra.Command, names []string) error {
			i, err := f.installer()
			if err != nil {
				return err
			}
			if err := checkLasting(i.Program); err != nil {
				return err
			}
			agents, err := agentsNamed(names, func(a *install.Agent) bool { return a.Found(i.Place) })
			if err != nil {
				return err
			}
			if len(agents) == 0 {
				return fmt.Errorf("no agent found: want one of %s", strings.Join(agentNames(), ", "))
			}
			var failed []error
			installed := 0
			for k := range agents {
				err := f.install(cmd, i, &agents[k])
				failed = append(failed, err)
				if err == nil {
					installed++
				}
			}
			if !f.dryRun && installed > 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "New sessions use the hook. unloop hook status shows whether it ran, and unloop hook log what it said.\n"+
					"unloop hook uninstall restores the former files.")
			}
			return errors.Join(failed...)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.mode, "mode", "", "the `MODE`: nudge, guard or shadow (default: as configured, else nudge)")
	return cmd
}

func (f *installFlags) install(cmd *cobra.Command, i *install.Installer, a *install.Agent) error {
	changes, err := i.Install(a)
	if err != nil {
		return err
	}
	out := plainWriter{cmd.OutOrStdout()}
	if changes.None() {
		fmt.Fprintf(out, "%s: already installed in %s\n", a.Name, a.File(i.Place))
		return nil
	}
	if f.dryRun {
		f.show(out, a, changes)
		return nil
	}
	if err := changes.Apply(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: installed in %s\n", a.Name, a.File(i.Place))
	if events := a.Events(); len(events) > 0 {
		fmt.Fprintf(out, "  at %s\n", strings.Join(events, ", "))
	}
	for _, path := range changes.Backups() {
		fmt.Fprintf(out, "  the former file is %s\n", path)
	}
	for _, note := range a.Notes {
		fmt.Fprintf(out, "  %s\n", note)
	}
	return nil
}

func (f *installFlags) show(out plainWriter, a *install.Agent, changes install.Changes) {
	for _, c := range changes {
		if !c.None() {
			fmt.Fprintf(out, "%s\n%s", a.Name, diff.Diff(c.Path, c.Before, c.Path, c.After))
		}
	}
}

func hookUninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [AGENT]...",
		Short: "Remove unloop from the hooks of the named agents, or of all",
		Long: "Uninstall restores the former bytes of each file, if nothing else has changed it. Otherwise it removes only what\n" +
			"install added.",
		Example: "  unloop hook uninstall\n  unloop hook uninstall codex --dry-run",
		RunE: func(cmd *cobra.Command, names []string) error {
			i, err := f.installer()
			if err != nil {
				return err
			}
			agents, err := agentsNamed(names, func(a *install.Agent) bool {
				registered, err := i.Registered(a)
				return registered || err != nil
			})
			if err != nil {
				return err
			}
			if len(agents) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "unloop is registered at no agent: nothing to remove.")
			}
			var failed []error
			for k := range agents {
				failed = append(failed, f.uninstall(cmd, i, &agents[k]))
			}
			return errors.Join(failed...)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *installFlags) uninstall(cmd *cobra.Command, i *install.Installer, a *install.Agent) error {
	changes, err := i.Uninstall(a)
	if err != nil {
		return err
	}
	out := plainWriter{cmd.OutOrStdout()}
	if changes.None() {
		fmt.Fprintf(out, "%s: not installed in %s\n", a.Name, a.File(i.Place))
		return nil
	}
	if f.dryRun {
		f.show(out, a, changes)
		return nil
	}
	if err := changes.Apply(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: uninstalled from %s\n", a.Name, a.File(i.Place))
	return nil
}
