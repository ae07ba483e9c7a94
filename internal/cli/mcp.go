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
		Short: "Serve MCP on standard input and output, so that a coding agent can ask whether runs loop",
		Long: "A coding agent that speaks the Model Context Protocol starts unloop mcp and asks about the runs of a server: which runs\n" +
			"exist, whether the latest one loops, and what the evidence is. Access is read-only. A server also speaks MCP itself,\n" +
			"at /mcp.\n\n" +
			endpointHelp,
		Example: "  unloop mcp\n" +
			"  claude mcp add unloop -- unloop mcp\n" +
			"  unloop mcp --endpoint https://unloop.example.com",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := mcpd.NewClient(f.url(), os.Getenv("UNLOOP_TOKEN"))
			if err != nil {
				return err
			}
			return mcpd.Serve(cmd.Context(), mcpd.New(source, programVersion()), io.NopCloser(cmd.InOrStdin()), openWriter{cmd.OutOrStdout()})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// openWriter is a writer whose Close does nothing, because another function closes it.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }
