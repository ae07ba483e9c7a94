package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of the root's help, in their order.
const (
	groupTraces = "traces"
	groupLive   = "live"
	groupGuard  = "guard"
	groupRules  = "rules"
	groupSetup  = "setup"
)

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "unloop",
		Short: "Detect AI agents that loop: where, why, and what to try",
		Long: "unloop reads the events of an agent and reports whether the agent loops. Examples of loops are repeated calls, the same\n" +
			"error from varied commands, two agents that hand a task back and forth, and searches that find nothing. As a guard,\n" +
			"unloop decides before each tool call, and nudges, blocks or halts the agent.",
		Example: "  unloop demo                         # half a minute: an agent that loops, and one that does not\n" +
			"  unloop scan ~/.claude/projects      # find loops in traces that exist\n" +
			"  unloop serve                        # receive events live; the dashboard is at http://127.0.0.1:8765",
		Args:          groupArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       programVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddGroup(
		&cobra.Group{ID: groupTraces, Title: "Traces in files:"},
		&cobra.Group{ID: groupLive, Title: "Agents that run now:"},
		&cobra.Group{ID: groupGuard, Title: "Nudge and stop an agent:"},
		&cobra.Group{ID: groupRules, Title: "Rules and profiles:"},
		&cobra.Group{ID: groupSetup, Title: "Set up:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(groupTraces, scanCommand(), evalCommand())
	add(groupLive, serveCommand(), demoCommand(ownServer), watchCommand(), importCommand(), exportCommand(), mcpCommand())
	add(groupGuard, hookCommand(), allowCommand(), guardCommand(), proxyCommand(), mcpProxyCommand())
	add(groupRules, rulesCommand(), explainCommand(), profileCommand())
	add(groupSetup, initCommand(), configCommand(), doctorCommand(), versionCommand())
	root.SetHelpCommandGroupID(groupSetup)
	root.SetCompletionCommandGroupID(groupSetup)
	root.SetFlagErrorFunc(flagError)
	refuseUnknown(root)
	complete(root)
	wrapHelp(root)
	return root
}

// refuseUnknown makes the commands of cobra, help and completion, report a word that is no command.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = groupArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, left, err := root.Find(args)
				if err != nil {
					return groupArgs(root, args)
				}
				return groupArgs(found, left)
			}
		}
	}
}

// groupArgs accepts no argument, and suggests the subcommand that is similar to an unknown one.
func groupArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	unknown := fmt.Errorf("unknown command %q; %s --help lists the commands", args[0], cmd.CommandPath())
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			return fmt.Errorf("%w; did you mean %q?", unknown, c.CommandPath())
		}
		for _, below := range c.Commands() {
			if below.Name() == args[0] && below.IsAvailableCommand() {
				return fmt.Errorf("%w; did you mean %q?", unknown, below.CommandPath())
			}
		}
	}
	return suggest(unknown, args[0], names)
}

// unknownHelp returns an error if the help of an unknown command is asked for. Cobra prints the help of the command above it.
func unknownHelp(root *cobra.Command, args []string) error {
	found, left, err := root.Find(args)
	if err != nil || len(left) < 2 || strings.HasPrefix(left[0], "-") || !found.HasAvailableSubCommands() || found.Args == nil {
		return nil
	}
	if left[1] != "--help" && left[1] != "-h" {
		return nil
	}
	return found.Args(found, left[:1])
}

// noArgs accepts no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: %s takes only flags, which --help lists", args[0], cmd.CommandPath())
	}
	return nil
}

// oneArg accepts exactly one argument. The name is in capitals; what describes it.
func oneArg(name, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return missing(cmd, name, what)
		case len(args) > 1:
			return fmt.Errorf("unexpected argument %q: want one %s", args[1], name)
		}
		return nil
	}
}

// someArgs accepts one or more arguments.
func someArgs(name, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return missing(cmd, name, what)
		}
		return nil
	}
}

func missing(cmd *cobra.Command, name, what string) error {
	return fmt.Errorf("missing %s: name %s; %s --help has examples", name, what, cmd.CommandPath())
}

// wanted says which values the flags of each type take. Error messages quote it.
var wanted = map[string]string{
	"float64": "a number", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number of at least 0",
	"duration": "a number with a unit, such as 90m", "bool": "true or false",
	"LIMITS": "cost=DOLLARS, tokens=N, calls=N or time=DURATION, more than 0, separated by commas",
}

// flagError says what a flag takes if its value is invalid, and suggests the flag that is similar to an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) && wanted[value.GetFlag().Value.Type()] != "" && !errors.Is(err, strconv.ErrRange) {
		f := value.GetFlag()
		return fmt.Errorf("invalid --%s %q: want %s; %s --help lists the flags", f.Name, value.GetValue(), wanted[f.Value.Type()], cmd.CommandPath())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	word := "--" + unknown.GetSpecifiedName()
	err = fmt.Errorf("unknown flag %s; %s --help lists the flags", word, cmd.CommandPath())
	if below := commandWithFlag(cmd, unknown.GetSpecifiedName()); below != nil {
		return fmt.Errorf("%w; did you mean %q?", err, below.CommandPath()+" "+word)
	}
	return suggest(err, word, names)
}

// commandWithFlag returns the only subcommand that has a flag, or nil.
func commandWithFlag(cmd *cobra.Command, name string) (only *cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Flags().Lookup(name) == nil {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}

// oneOf returns the error of a value that is none of the names.
func oneOf(what, word string, names []string) error {
	if slices.Contains(names, word) {
		return nil
	}
	return suggest(fmt.Errorf("invalid %s %q: want one of %s", what, word, strings.Join(names, ", ")), word, names)
}
