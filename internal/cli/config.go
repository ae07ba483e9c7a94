package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/profile"
)

// configFlags are the flags that configure a server.
type configFlags struct {
	file  string
	sets  []string
	flags *pflag.FlagSet
}

// settingFlags are the settings that have a flag of their own; all others stand in the file or the environment.
var settingFlags = []struct{ name, short, path, about string }{
	{"addr", "", "addr", "serve HTTP at `HOST:PORT`"},
	{"grpc-addr", "", "grpc_addr", "take OTLP over gRPC at `HOST:PORT`, or off"},
	{"db", "", "db", "keep runs in a SQLite file, or a `DATABASE` at postgres://…"},
	{"profile", "p", "profile", "the profile: " + strings.Join(profile.Names(), ", ")},
	{"project", "", "project", "the `PROJECT` of runs that name none"},
	{"memory", "", "memory", "take about so many `BYTES`, such as 2GiB (default a quarter of the machine's or container's)"},
	{"log-level", "", "log.level", "log from this `LEVEL` on: debug, info, warn, error"},
}

func (f *configFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.SortFlags = false
	flags.StringVar(&f.file, "config", "", "read the configuration from a `FILE` (default "+config.FileName+", if it lies here)")
	for _, s := range settingFlags {
		flags.StringP(s.name, s.short, "", s.about)
	}
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting of the profile: `NAME=VALUE` (again for more)")
}

// load reads the configuration: file, environment, flags.
func (f *configFlags) load() (*config.Loaded, error) {
	src := config.Source{Path: f.file, Env: os.Environ(), Sets: f.sets}
	for _, s := range settingFlags {
		if given := f.flags.Lookup(s.name); given.Changed {
			src.Flags = append(src.Flags, config.Flag{Name: "--" + s.name, Path: s.path, Value: given.Value.String()})
		}
	}
	return config.Load(src)
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration of a server, or make a token for it",
		Long: "A server is configured by a YAML file (unloop init writes one with every setting), by environment variables of\n" +
			"the same names (limits.body is UNLOOP_LIMITS_BODY) and by flags. Flags go before the environment, and that before\n" +
			"the file.",
		Example: "  unloop config check\n  unloop config token --name ci --scope ingest",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configCheckCommand(), configTokenCommand())
	return cmd
}

func configCheckCommand() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Print the configuration that a server started here would have, secrets hidden, or all that is wrong with it",
		Long: "Check reads file, environment and flags as unloop serve would, and prints every setting as it holds, with secrets\n" +
			"hidden. What is wrong is printed with file, line and field, all at once.\n\n" +
			"Exit status: 0 it is in order, 2 it is not.",
		Example: "  unloop config check\n" +
			"  unloop config check --config /etc/unloop.yaml\n" +
			"  UNLOOP_LIMITS_BODY=64MiB unloop config check --profile looplens",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := f.load()
			if err != nil {
				return err
			}
			for _, notice := range loaded.Notices {
				complain(cmd.ErrOrStderr(), notice)
			}
			text, err := loaded.Hidden().YAML()
			if err != nil {
				return err
			}
			origin := "# No file was read."
			if loaded.File != "" {
				origin = "# Read from " + loaded.File + "."
			}
			_, err = fmt.Fprintf(plainWriter{cmd.OutOrStdout()}, "%s\n%s", origin, text)
			return err
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func configTokenCommand() *cobra.Command {
	var name, scope string
	cmd := &cobra.Command{
		Use:   "token --name NAME --scope SCOPE",
		Short: "Make a random token, and the lines of the configuration that let it in",
		Long: "Token prints a new token, which is shown this once and is kept nowhere, and the lines with its hash for the\n" +
			"configuration. Its scope is ingest (sends events), read, or admin (both, and deletes). Programs send it as\n" +
			"Authorization: Bearer TOKEN; unloop's own commands take it from UNLOOP_TOKEN.",
		Example: "  unloop config token --name ci --scope ingest\n" +
			"  unloop config token --name dashboard --scope read",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, entry, err := config.NewToken(name, scope)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "The token, shown this once:\n\n%s\n\nFor the configuration:\n\n", token)
			_, err = fmt.Fprint(cmd.OutOrStdout(), entry.YAML())
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&name, "name", "", "what you call it (needed)")
	cmd.Flags().StringVar(&scope, "scope", "", "what it lets do: ingest, read, admin (needed)")
	return cmd
}
