package mcpproxy

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswersTime is how long a client that has ended its input may get the answers to its requests.
const lastAnswersTime = 5 * time.Second

// unanswered is a connection to a client that knows the requests without an answer. At most maxOpen are known. It is safe for concurrent
// use.
type unanswered struct {
	mcp.Connection
	mu    sync.Mutex
	ids   map[any]bool
	ended bool          // the input of the client
	none  chan struct{} // closed when the input has ended and no request is without an answer
}

func newUnanswered(client mcp.Connection) *unanswered {
	return &unanswered{Connection: client, ids: make(map[any]bool), none: make(chan struct{})}
}

// Read reads a message of the client. A request that the client cancels needs no answer.
func (u *unanswered) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := u.Connection.Read(ctx)
	r, ok := m.(*jsonrpc.Request)
	switch {
	case err != nil || !ok:
	case r.ID.IsValid():
		u.mu.Lock()
		if len(u.ids) < maxOpen {
			u.ids[r.ID.Raw()] = true
		}
		u.mu.Unlock()
	case r.Method == "notifications/cancelled":
		u.answered(canceledID(r.Params))
	}
	return m, err
}

// Write writes a message to the client.
func (u *unanswered) Write(ctx context.Context, m jsonrpc.Message) error {
	err := u.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		u.answered(r.ID.Raw())
	}
	return err
}

// answered removes a request. The id may be unknown.
func (u *unanswered) answered(id any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.ids[id] {
		return
	}
	delete(u.ids, id)
	if u.ended && len(u.ids) == 0 {
		close(u.none)
	}
}

// await waits until no request is without an answer, the server ends, ctx ends, or lastAnswersTime has passed. It returns the error
// of the server.
func (u *unanswered) await(ctx context.Context, fromServer chan error) error {
	u.mu.Lock()
	u.ended = true
	left := len(u.ids)
	u.mu.Unlock()
	if left == 0 {
		return nil
	}
	late := time.NewTimer(lastAnswersTime)
	defer late.Stop()
	select {
	case err := <-fromServer:
		fromServer <- nil
		return err
	case <-u.none:
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}
