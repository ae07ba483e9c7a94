package mcplines

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxUnanswered is the maximum number of requests whose answers a drained connection waits for.
const maxUnanswered = 65536

// Drain returns a connection to a client that reports the end of the client's input only when the requests before it have their answers, the
// client has canceled them, the connection is closed, or the limit has passed. No limit is 0. Otherwise a client that writes its requests and
// closes its input, such as printf in a pipe, would miss the last answers.
func Drain(client mcp.Connection, limit time.Duration) mcp.Connection {
	return &drained{Connection: client, limit: limit, open: make(map[any]bool), answered: make(chan struct{}), closed: make(chan struct{})}
}

// drained is a connection to a client that knows the requests without an answer. It is safe for concurrent use, with one reader.
type drained struct {
	mcp.Connection
	limit time.Duration

	mu       sync.Mutex
	open     map[any]bool  // ids of requests without an answer
	ended    bool          // the input of the client
	answered chan struct{} // closed when the input has ended and no request is without an answer

	close  sync.Once
	closed chan struct{} // closed by Close
}

// Read returns the next message of the client. At the end of the input it waits.
func (d *drained) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := d.Connection.Read(ctx)
	if err != nil {
		d.await(ctx)
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		d.begin(r.ID.Raw())
	} else if ok && r.Method == "notifications/cancelled" {
		d.end(CanceledID(r.Params))
	}
	return m, nil
}

// Write writes a message to the client.
func (d *drained) Write(ctx context.Context, m jsonrpc.Message) error {
	err := d.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		d.end(r.ID.Raw())
	}
	return err
}

// Close closes the connection.
func (d *drained) Close() error {
	d.close.Do(func() { close(d.closed) })
	return d.Connection.Close()
}

func (d *drained) begin(id any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) < maxUnanswered {
		d.open[id] = true
	}
}

// end removes a request. The id may be unknown.
func (d *drained) end(id any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open[id] {
		return
	}
	delete(d.open, id)
	if d.ended && len(d.open) == 0 {
		close(d.answered)
	}
}

// await waits as Drain says.
func (d *drained) await(ctx context.Context) {
	d.mu.Lock()
	d.ended = true
	left := len(d.open)
	d.mu.Unlock()
	if left == 0 {
		return
	}
	var late <-chan time.Time
	if d.limit > 0 {
		late = time.After(d.limit)
	}
	select {
	case <-d.answered:
	case <-d.closed:
	case <-late:
	case <-ctx.Done():
	}
}

// CanceledID returns the id of the request that a notification cancels, and nil if it names none.
func CanceledID(params json.RawMessage) any {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return nil
	}
	return id.Raw()
}
