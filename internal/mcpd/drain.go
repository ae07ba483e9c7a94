package mcpd

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drained is a transport whose connections report the end of the input only after all requests have their answers. The SDK cancels the
// requests in progress when the input ends, and writes no answer to them.
type drained struct{ mcp.Transport }

// Connect connects the transport.
func (t drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	d := &drainedConnection{Connection: c, open: map[jsonrpc.ID]bool{}}
	d.changed.L = &d.mu
	return d, nil
}

type drainedConnection struct {
	mcp.Connection
	mu      sync.Mutex
	changed sync.Cond
	open    map[jsonrpc.ID]bool // ids of requests without an answer
	closed  bool
}

// Read returns the next message. At the end of the input it waits for the answers, or until the connection is closed.
func (c *drainedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.open[request.ID] = true
	}
	for err != nil && len(c.open) > 0 && !c.closed {
		c.changed.Wait()
	}
	return message, err
}

// Write writes a message.
func (c *drainedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, answer.ID)
		c.changed.Broadcast()
	}
	return err
}

// Close closes the connection.
func (c *drainedConnection) Close() error {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	return c.Connection.Close()
}
