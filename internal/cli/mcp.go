package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/mcpd"
)

func mcpCommand() *cobra.Command {
	var f endpointFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let a coding agent ask whether runs loop: an MCP server on standard input and output",
		Long: "An agent that speaks the Model Context Protocol starts unloop mcp and asks it about the runs of a server: which there are,\n" +
			"whether the latest one loops, what proves it. It only reads. A server answers the same questions itself at /mcp.\n\n" +
			endpointHelp,
		Example: "  unloop mcp\n" +
			"  claude mcp add unloop -- unloop mcp\n" +
			"  unloop mcp --endpoint https://unloop.example.com",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := mcpd.NewClient(f.url(), os.Getenv("UNLOOP_TOKEN"))
			if err != nil {
				return err
			}
			return mcpd.Serve(cmd.Context(), mcpd.New(source, version), io.NopCloser(cmd.InOrStdin()), openWriter{cmd.OutOrStdout()})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// openWriter is closed by whoever opened it.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }
