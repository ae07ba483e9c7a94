package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/profile"
)

// profileFlags are the flags that select a profile and its settings.
type profileFlags struct {
	name   string
	sets   []string
	config string
}

func (f *profileFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVarP(&f.name, "profile", "p", "", "the profile `NAME`: "+strings.Join(profile.Names(), ", ")+" (default \"default\")")
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting of the profile: `NAME=VALUE` (repeatable)")
	flags.StringVar(&f.config, "config", "", "read the profile and its settings from a YAML `FILE`")
}

func (f *profileFlags) load() (*profile.Profile, error) {
	src := profile.Source{Name: f.name, Sets: f.sets}
	if f.config != "" {
		data, err := config.ProfileFile.Read(f.config)
		if err != nil {
			return nil, err
		}
		src.Config, src.File = data, f.config
	}
	p, err := profile.Load(src)
	if err != nil && f.name != "" {
		return nil, suggest(err, f.name, profile.Names())
	}
	return p, err
}

// newProfile returns the profile with the name.
func newProfile(name string) (*profile.Profile, error) {
	p, err := profile.New(name)
	return p, suggest(err, name, profile.Names())
}

func profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "List the profiles, or print one with all its settings",
		Long: "A profile is a set of detectors, their settings, and a policy. To change one, print it, edit the settings, and pass the\n" +
			"file to --config. A setting that is left out has the profile's default.",
		Example: "  unloop profile list\n  unloop profile show loopguard > mine.yaml\n  unloop guard --config mine.yaml",
		Args:    groupArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(profileListCommand(), profileShowCommand())
	return cmd
}

func profileListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the profiles",
		Example: "  unloop profile list",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var rows [][2]string
			for _, name := range profile.Names() {
				p, err := profile.New(name)
				if err != nil {
					return err
				}
				rows = append(rows, [2]string{name, p.Title()})
			}
			return printTable(cmd.OutOrStdout(), rows)
		},
	}
}

func profileShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a profile as YAML, with the value and meaning of each setting; --config reads it",
		Example:           "  unloop profile show default\n  unloop profile show loopguard > mine.yaml",
		Args:              oneArg("NAME", "a profile that unloop profile list lists"),
		ValidArgsFunction: completeOne(profiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := newProfile(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(p.YAML())
			return err
		},
	}
}
