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

// settingFlags are the settings with a flag. All others are set in the file or the environment.
var settingFlags = []struct{ name, short, path, about string }{
	{"addr", "", "addr", "serve HTTP at `HOST:PORT`"},
	{"grpc-addr", "", "grpc_addr", "accept OTLP over gRPC at `HOST:PORT`, or off"},
	{"db", "", "db", "the `DATABASE`: a SQLite file or postgres://…"},
	{"profile", "p", "profile", "the profile `NAME`: " + strings.Join(profile.Names(), ", ")},
	{"project", "", "project", "the `PROJECT` of runs without one"},
	{"cluster", "", "cluster.nats", "share the work with other servers: `ADDRESSES` of NATS, nats://HOST:PORT, separated by commas"},
	{"roles", "", "cluster.roles", "in a cluster, what this server does: `ROLES` of ingest, work and api, separated by commas"},
	{"memory", "", "memory", "use about this many `BYTES`, such as 2GiB (default a quarter of the memory of the machine or container)"},
	{"log-level", "", "log.level", "lowest `LEVEL` to log: debug, info, warn, error"},
}

func (f *configFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.SortFlags = false
	flags.StringVar(&f.file, "config", "", "read the configuration from a `FILE` (default "+config.FileName+" in the current folder, if it exists)")
	for _, s := range settingFlags {
		flags.StringP(s.name, s.short, "", s.about)
	}
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting of the profile: `NAME=VALUE` (repeatable)")
}

// load loads the configuration from the file, the environment and the flags.
func (f *configFlags) load() (*config.Loaded, error) {
	src := config.Source{Path: f.file, Env: os.Environ(), Sets: f.sets}
	for _, s := range settingFlags {
		if given := f.flags.Lookup(s.name); given.Changed {
			src.Flags = append(src.Flags, config.Flag{Name: "--" + s.name, Path: s.path, Value: given.Value.String()})
		}
	}
	return config.Load(src)
}

// isPath reports whether an argument is a path rather than a word.
func isPath(arg string) bool { return strings.ContainsAny(arg, `./\`) }

// noFileArgs accepts no argument, and says how to name the file of the configuration.
func noFileArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && isPath(args[0]) {
		return fmt.Errorf("unexpected argument %q: a file is named with --config, as in %s --config %s", args[0], cmd.CommandPath(), args[0])
	}
	return noArgs(cmd, args)
}

// configArgs accepts no argument. An argument that is the path of a file is one to check.
func configArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && isPath(args[0]) {
		return fmt.Errorf("unknown command %q; a file is checked with unloop config check --config %s", args[0], args[0])
	}
	return groupArgs(cmd, args)
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration of a server, or create a token for it",
		Long: "A YAML file, environment variables and flags configure a server. unloop init writes a file with every setting. The\n" +
			"variable of the setting limits.body is UNLOOP_LIMITS_BODY. Flags override the environment, and the environment\n" +
			"overrides the file.",
		Example: "  unloop config check\n  unloop config token --name ci --scope ingest",
		Args:    configArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configCheckCommand(), configTokenCommand())
	return cmd
}

func configCheckCommand() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Print the configuration that a server started here would have, with secrets hidden, or all its errors",
		Long: "Check reads file, environment and flags as unloop serve does, and prints the effective value of every setting. Secrets\n" +
			"are hidden. If the configuration is invalid, check prints all errors with file, line and field.\n\n" +
			"Exit status: 0 the configuration is valid, 2 it is not.",
		Example: "  unloop config check\n" +
			"  unloop config check --config /etc/unloop.yaml\n" +
			"  UNLOOP_LIMITS_BODY=64MiB unloop config check --profile looplens",
		SuggestFor: []string{"show", "print", "validate", "test"},
		Args:       noFileArgs,
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
		Short: "Create a random token and its entry for the configuration",
		Long: "Token prints a new token, and an entry with the token's hash for the configuration. The token is shown only once and\n" +
			"is not stored. Its scope is ingest (send events), read, or admin (both, and delete). Programs send the token as\n" +
			"Authorization: Bearer TOKEN. unloop's own commands read it from UNLOOP_TOKEN.",
		Example: "  unloop config token --name ci --scope ingest\n" +
			"  unloop config token --name dashboard --scope read",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, entry, err := config.NewToken(name, scope)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Token, shown only once:\n\n%s\n\nEntry for the configuration:\n\n", token)
			_, err = fmt.Fprint(cmd.OutOrStdout(), entry.YAML())
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&name, "name", "", "a `NAME` for the token (required)")
	cmd.Flags().StringVar(&scope, "scope", "", "the `SCOPE`, which is what the token allows: ingest, read, admin (required)")
	return cmd
}
