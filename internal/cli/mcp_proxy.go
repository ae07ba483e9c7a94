package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/mcpproxy"
)

func mcpProxyCommand() *cobra.Command {
	var f profileFlags
	var mode string
	cmd := &cobra.Command{
		Use:   "mcp-proxy [flags] -- COMMAND [ARGS...]",
		Short: "Stand in front of an MCP server, and stop loops of its tools",
		Long: "Mcp-proxy starts an MCP server that speaks over standard input and output, and passes all messages between it and the\n" +
			"client. It judges each tool call and its result. A call that continues a loop gets an error result in the server's place.\n" +
			"A result at which the agent loops gets one more text. All other messages pass unchanged.\n\n" +
			"In a client's configuration, put unloop mcp-proxy -- in front of the server's command:\n\n" +
			"  {\"mcpServers\": {\"files\": {\"command\": \"unloop\", \"args\": [\"mcp-proxy\", \"--\", \"files-server\", \"/data\"]}}}",
		Example: "  unloop mcp-proxy -- npx -y @modelcontextprotocol/server-filesystem .\n" +
			"  unloop mcp-proxy --mode observe -- files-server /data",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if mode != "guard" && mode != "observe" {
				return fmt.Errorf("invalid --mode %q: want guard or observe", mode)
			}
			p, err := f.load()
			if err != nil {
				return err
			}
			server := exec.Command(args[0], args[1:]...)
			server.Stderr = cmd.ErrOrStderr()
			back, err := (&mcp.CommandTransport{Command: server}).Connect(cmd.Context())
			if err != nil {
				return fmt.Errorf("start the server %s: %w", args[0], err)
			}
			front, err := (&mcp.StdioTransport{}).Connect(cmd.Context())
			if err != nil {
				return errors.Join(err, back.Close())
			}
			session := mcpproxy.NewSession(guard.New(p, guard.Options{Run: fmt.Sprintf("mcp-%d", os.Getpid())}), mode == "observe")
			return mcpproxy.Pump(cmd.Context(), session, front, back)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&mode, "mode", "guard", "guard or observe")
	f.add(cmd.Flags())
	return cmd
}
