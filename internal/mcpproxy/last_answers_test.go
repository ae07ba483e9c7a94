package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// endedInput is a client that sends messages and ends its input. It keeps the answers.
type endedInput struct {
	side
	answers chan jsonrpc.Message
}

func newEndedInput(sent ...jsonrpc.Message) endedInput {
	c := endedInput{answers: make(chan jsonrpc.Message, len(sent))}
	c.read = func() (jsonrpc.Message, error) {
		if len(sent) == 0 {
			return nil, io.EOF
		}
		m := sent[0]
		sent = sent[1:]
		return m, nil
	}
	c.write = func(m jsonrpc.Message) { c.answers <- m }
	return c
}

func (endedInput) Close() error { return nil }

// slowServer is a server that answers requests after some time, and never if that is 0. After Close it answers nothing.
type slowServer struct {
	side
	takes    time.Duration
	requests chan *jsonrpc.Request
	ended    chan struct{}
	end      func()
}

func newSlowServer(takes time.Duration) *slowServer {
	s := &slowServer{takes: takes, requests: make(chan *jsonrpc.Request, 9), ended: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	s.write = func(m jsonrpc.Message) {
		if r := m.(*jsonrpc.Request); r.ID.IsValid() {
			s.requests <- r
		}
	}
	return s
}

func (s *slowServer) Read(context.Context) (jsonrpc.Message, error) {
	var answer <-chan time.Time
	requests := s.requests
	if s.takes == 0 {
		requests = nil
	}
	select {
	case r := <-requests:
		answer = time.After(s.takes)
		select {
		case <-answer:
			return &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{}`)}, nil
		case <-s.ended:
		}
	case <-s.ended:
	}
	return nil, io.EOF
}

func (s *slowServer) Close() error {
	s.end()
	return nil
}

func TestAClientThatEndsItsInputGetsTheAnswersToItsRequests(t *testing.T) {
	canceled := &jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":1}`)}
	for name, test := range map[string]struct {
		takes   time.Duration
		more    []jsonrpc.Message
		answers int
		lasts   time.Duration
	}{
		"a server that takes a second for an answer": {time.Second, nil, 1, time.Second},
		"two requests": {time.Second, []jsonrpc.Message{request(t, "b", "tools/list", `{}`)}, 2, 2 * time.Second},
		"a server that takes longer than the limit": {time.Minute, nil, 0, lastAnswersTime},
		"a server that never answers":               {0, nil, 0, lastAnswersTime},
		"a request that the client canceled":        {0, []jsonrpc.Message{canceled}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newEndedInput(append([]jsonrpc.Message{request(t, float64(1), "initialize", `{}`)}, test.more...)...)
				begun := time.Now()
				if err := Pump(t.Context(), newSession(t), client, newSlowServer(test.takes)); err != nil {
					t.Error(err)
				}
				if len(client.answers) != test.answers || time.Since(begun) != test.lasts {
					t.Errorf("%d answers after %v, want %d after %v", len(client.answers), time.Since(begun), test.answers, test.lasts)
				}
			})
		})
	}
}

func TestASignalEndsTheWaitForLastAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, signal := context.WithTimeout(t.Context(), time.Second)
		defer signal()
		begun := time.Now()
		if err := Pump(ctx, newSession(t), newEndedInput(request(t, float64(1), "ping", ``)), newSlowServer(0)); err != nil {
			t.Error(err)
		}
		if lasted := time.Since(begun); lasted != time.Second {
			t.Errorf("the pump ended after %v, want a second", lasted)
		}
	})
}

func TestAServerThatEndsEndsTheWaitForLastAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newSlowServer(0)
		time.AfterFunc(time.Second, server.end)
		begun := time.Now()
		err := Pump(t.Context(), newSession(t), newEndedInput(request(t, float64(1), "ping", ``)), server)
		if lasted := time.Since(begun); lasted != time.Second || errors.Is(err, errServer) {
			t.Errorf("the pump ended after %v with %v, want a second and no error", lasted, err)
		}
	})
}
