package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

// programVersion returns the version that the linker set, else that of the module that go install built, else dev.
func programVersion() string {
	if version != "dev" {
		return version
	}
	if built, ok := debug.ReadBuildInfo(); ok && built.Main.Version != "" && built.Main.Version != "(devel)" {
		return built.Main.Version
	}
	return version
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program, of Go, and the platform",
		Long: "Version prints the version of the program, of Go, and the platform. Each release contains THIRD_PARTY_NOTICES.txt with the\n" +
			"licences of the linked libraries.",
		Example: "  unloop version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "unloop %s %s %s/%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
