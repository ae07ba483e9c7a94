package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/configedit"
	"github.com/unloop-ai/unloop/internal/mcpproxy/clients"
)

// clientFlags choose the clients and the place.
type clientFlags struct{ installFlags }

func (f *clientFlags) installer() (*clients.Installer, error) {
	state, err := config.StateFolder()
	if err != nil {
		return nil, err
	}
	program, project, err := f.place()
	if err != nil {
		return nil, err
	}
	i := &clients.Installer{
		Program: program, Keeper: configedit.Keeper{Folder: filepath.Join(state, "mcp-proxy", "installed")},
		Place: clients.Place{Env: os.Getenv, System: runtime.GOOS, Project: project},
	}
	if f.mode != "" {
		if err := checkProxyMode(f.mode); err != nil {
			return nil, err
		}
		i.Flags = []string{"--mode", f.mode}
	}
	return i, nil
}

// clientNames returns the names of all clients.
func clientNames() []string {
	var names []string
	for _, c := range clients.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// chosen returns the clients with the names, or those that have a configuration if there are no names.
func (f *clientFlags) chosen(i *clients.Installer, names []string) ([]clients.Client, error) {
	for _, name := range names {
		if !slices.Contains(clientNames(), name) {
			return nil, fmt.Errorf("unknown client %q: want one of %s", name, strings.Join(clientNames(), ", "))
		}
	}
	var chosen []clients.Client
	for _, c := range clients.Clients() {
		path := c.File(i.Place)
		named := slices.Contains(names, c.Name)
		if path == "" {
			if named {
				return nil, fmt.Errorf("%s has no configuration in a project", c.Name)
			}
			continue
		}
		if _, err := os.Stat(path); named || len(names) == 0 && err == nil {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no configuration is found: name one of %s", strings.Join(clientNames(), ", "))
	}
	return chosen, nil
}

// change makes a change of each chosen client.
func (f *clientFlags) change(cmd *cobra.Command, names []string, make func(*clients.Installer, *clients.Client) (*configedit.Change, []string, error), done string) error {
	i, err := f.installer()
	if err != nil {
		return err
	}
	chosen, err := f.chosen(i, names)
	if err != nil {
		return err
	}
	out := plainWriter{cmd.OutOrStdout()}
	var failed []error
	for k := range chosen {
		c := &chosen[k]
		change, servers, err := make(i, c)
		switch {
		case err != nil:
			failed = append(failed, err)
			continue
		case change.None():
			fmt.Fprintf(out, "%s: nothing to change in %s\n", c.Name, change.Path)
		case f.dryRun:
			fmt.Fprintf(out, "%s\n%s", c.Name, diff.Diff(change.Path, change.Before, change.Path, change.After))
		}
		if f.dryRun {
			continue
		}
		if err := change.Apply(); err != nil {
			failed = append(failed, err)
			continue
		}
		if !change.None() {
			f.describe(out, c, change, done+": "+strings.Join(servers, ", "))
		}
	}
	return errors.Join(failed...)
}

// describe prints what was done to a client's configuration.
func (f *clientFlags) describe(out plainWriter, c *clients.Client, change *configedit.Change, done string) {
	fmt.Fprintf(out, "%s: %s, in %s\n", c.Name, done, change.Path)
	if change.Backup != "" {
		fmt.Fprintf(out, "  the former file is %s\n", change.Backup)
	}
	for _, note := range c.Notes {
		fmt.Fprintf(out, "  %s\n", note)
	}
}

func mcpProxyInstallCommand() *cobra.Command {
	var f clientFlags
	cmd := &cobra.Command{
		Use:   "install [CLIENT]...",
		Short: "Put the proxy in front of the MCP servers of the clients on this machine",
		Long: "Install changes the configuration of each named client, or of every client that has one. It puts unloop mcp-proxy in front\n" +
			"of each server that is started by a command. Servers behind a URL are left alone. Comments, order and line ends stay, and\n" +
			"the former file is kept beside the new one. A file that its client would refuse is left alone. Installing twice changes\n" +
			"nothing. --dry-run prints the difference, and unloop mcp-proxy uninstall restores the former bytes.\n\n" +
			"The clients are " + strings.Join(clientNames(), ", ") + ".",
		Example: "  unloop mcp-proxy install --dry-run\n  unloop mcp-proxy install cursor codex --mode observe\n  unloop mcp-proxy install --project",
		RunE: func(cmd *cobra.Command, names []string) error {
			return f.change(cmd, names, func(i *clients.Installer, c *clients.Client) (*configedit.Change, []string, error) {
				if err := checkLasting(i.Program); err != nil {
					return nil, nil, err
				}
				return i.Install(c)
			}, "servers behind the proxy")
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.mode, "mode", "", "the `MODE` of the proxy: guard or observe (default guard)")
	return cmd
}

func mcpProxyUninstallCommand() *cobra.Command {
	var f clientFlags
	cmd := &cobra.Command{
		Use:   "uninstall [CLIENT]...",
		Short: "Take the proxy out of the configuration of the named clients, or of all",
		Long: "Uninstall restores the former bytes of each file, if nothing else has changed it. Otherwise it takes the proxy out of each\n" +
			"server's command and leaves the rest.",
		Example: "  unloop mcp-proxy uninstall\n  unloop mcp-proxy uninstall codex --dry-run",
		RunE: func(cmd *cobra.Command, names []string) error {
			return f.change(cmd, names, (*clients.Installer).Uninstall, "servers without the proxy")
		},
	}
	f.add(cmd.Flags())
	return cmd
}
