package cli

import (
	"io"

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
			c, err := f.client()
			if err != nil {
				return err
			}
			return mcpd.Serve(cmd.Context(), mcpd.New(mcpd.Remote{Client: c}, programVersion()), io.NopCloser(cmd.InOrStdin()), openWriter{cmd.OutOrStdout()})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// openWriter is a writer with a Close that does nothing, because the command does not own the writer.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }
