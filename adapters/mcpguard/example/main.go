// Command example is a client of an MCP server that asks for the same order again and again. The guard nudges it and then stops it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/adapters/mcpguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	transport, err := startServer(ctx)
	if err != nil {
		return err
	}
	p, err := profile.New("default")
	if err != nil {
		return err
	}
	g := guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()

	client := mcp.NewClient(&mcp.Implementation{Name: "clerk", Version: "1.0.0"}, nil)
	client.AddSendingMiddleware(mcpguard.Middleware())
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer session.Close()

	ctx = guard.NewContext(ctx, g) // the run that the calls belong to
	for step := range 30 {
		call := &mcp.CallToolParams{Name: "find_order", Arguments: map[string]any{"number": 4711}}
		result, err := session.CallTool(ctx, call)
		var loop *guard.LoopError
		if errors.As(err, &loop) {
			fmt.Fprintf(out, "stopped at step %d: %s\n", step+1, loop.Nudge)
			return nil
		}
		if err != nil {
			return err
		}
		for _, part := range result.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				fmt.Fprintln(out, text.Text)
			}
		}
	}
	return nil
}

// startServer starts an MCP server in this process, whose tool finds nothing, and returns the transport to it.
func startServer(ctx context.Context) (mcp.Transport, error) {
	type order struct {
		Number int `json:"number"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	tool := &mcp.Tool{Name: "find_order", Description: "Finds an order.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
	mcp.AddTool(server, tool, func(context.Context, *mcp.CallToolRequest, order) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "no orders"}}}, nil, nil
	})
	near, far := mcp.NewInMemoryTransports()
	_, err := server.Connect(ctx, far, nil)
	return near, err
}
