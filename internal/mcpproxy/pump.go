package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/mcplines"
)

// lastAnswersTime is how long a client that has ended its input may get the answers to its requests.
const lastAnswersTime = 5 * time.Second

// errServer is the end of the connection to the server.
var errServer = errors.New("the server ended")

// Pump passes messages between a client and a server until one of them ends its connection, or ctx ends. A client that ended its input
// gets the answers to its requests for lastAnswersTime. Pump closes both connections. It returns nil if the client or ctx ended, and
// an error if the process of the server failed. The run ends with the connection.
func Pump(ctx context.Context, s *Session, client, server mcp.Connection) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client = mcplines.Drain(client, lastAnswersTime)
	fromServer := make(chan error, 1)
	go func() { fromServer <- s.passResponses(ctx, client, server) }()
	fromClient := make(chan error, 1)
	go func() { fromClient <- s.passRequests(ctx, client, server) }()

	var err error
	select {
	case err = <-fromServer:
		fromServer <- nil
	case err = <-fromClient:
		fromClient <- nil
	case <-ctx.Done():
	}
	stop()
	ended, _ := server.Close(), client.Close() // wakes the readers; the errors of clients say no more
	<-fromServer
	<-fromClient
	s.end()
	switch {
	case !errors.Is(err, errServer) || errors.Is(err, context.Canceled):
		return nil
	case !errors.Is(err, io.EOF):
		return err
	case ended != nil:
		return fmt.Errorf("%w: %w", errServer, ended)
	}
	return nil
}

// end records the end of a run that has a call.
func (s *Session) end() {
	if s.guard.State().Calls > 0 {
		s.guard.Record(context.Background(), unloop.Event{Type: unloop.RunCompleted})
	}
}

// passRequests forwards the messages of the client to the server. While a person has paused the run, calls wait, and other messages are
// forwarded.
func (s *Session) passRequests(ctx context.Context, client, server mcp.Connection) error {
	ctx, stop := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer stop()
	for {
		m, err := client.Read(ctx)
		if err != nil {
			return err
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.Method == "tools/call" && s.guard.Paused() != nil {
			s.open.beginWait(ctx, r.ID.Raw()) // before the next message is read, which may cancel the call
			waiting.Go(func() {
				defer s.open.endWait(r.ID.Raw())          // of a call that is not judged
				_ = s.passRequest(ctx, m, client, server) // the loop reads the error of a broken connection
			})
			continue
		}
		if err := s.passRequest(ctx, m, client, server); err != nil {
			return err
		}
	}
}

// passRequest passes a message to the server, or answers it.
func (s *Session) passRequest(ctx context.Context, m jsonrpc.Message, client, server mcp.Connection) error {
	if r, ok := m.(*jsonrpc.Request); ok {
		if answer := s.Request(ctx, r); answer != nil {
			return client.Write(ctx, answer)
		}
	}
	if server.Write(ctx, m) != nil { // its own error says less than how the server ended
		return fmt.Errorf("%w: %w", errServer, io.EOF)
	}
	return nil
}

// passResponses passes the messages of the server to the client.
func (s *Session) passResponses(ctx context.Context, client, server mcp.Connection) error {
	for {
		m, err := server.Read(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errServer, err)
		}
		if r, ok := m.(*jsonrpc.Response); ok {
			m = s.Response(ctx, r)
		}
		if client.Write(ctx, m) != nil {
			return nil // the client has ended
		}
	}
}
