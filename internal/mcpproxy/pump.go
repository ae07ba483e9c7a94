package mcpproxy

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pump passes messages between a client and a server until one of them ends its connection, or ctx ends. It closes both. It
// returns nil if the client or ctx ended.
func Pump(ctx context.Context, s *Session, client, server mcp.Connection) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	fromServer := make(chan error, 1)
	go func() {
		defer stop()
		fromServer <- s.passResponses(ctx, client, server)
	}()
	fromClient := make(chan error, 1)
	go func() { fromClient <- s.passRequests(ctx, client, server) }()

	var err error
	select {
	case err = <-fromServer:
		_ = client.Close() // wakes the reader; its error says no more
		<-fromClient
	case <-fromClient: // the client is done: what the server still answers, nobody reads
		_ = server.Close()
		<-fromServer
	case <-ctx.Done():
		_, _ = client.Close(), server.Close()
		<-fromClient
		<-fromServer
	}
	_, _ = client.Close(), server.Close()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// passRequests passes what the client sends to the server.
func (s *Session) passRequests(ctx context.Context, client, server mcp.Connection) error {
	for {
		m, err := client.Read(ctx)
		if err != nil {
			return err
		}
		if r, ok := m.(*jsonrpc.Request); ok {
			if answer := s.Request(ctx, r); answer != nil {
				if err := client.Write(ctx, answer); err != nil {
					return err
				}
				continue
			}
		}
		if err := server.Write(ctx, m); err != nil {
			return err
		}
	}
}

// passResponses passes what the server sends to the client.
func (s *Session) passResponses(ctx context.Context, client, server mcp.Connection) error {
	for {
		m, err := server.Read(ctx)
		if err != nil {
			return err
		}
		if r, ok := m.(*jsonrpc.Response); ok {
			m = s.Response(ctx, r)
		}
		if err := client.Write(ctx, m); err != nil {
			return err
		}
	}
}
