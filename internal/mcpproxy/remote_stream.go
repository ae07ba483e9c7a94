package mcpproxy

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A stream is resumed at most maxResumes times in a row without progress. A connection that lasted for lastingStream is progress: a
// gateway may cut a stream on which the server has nothing to say.
const (
	maxResumes    = 4
	lastingStream = 30 * time.Second
)

var errNoAnswer = errors.New("the stream of the server ended without an answer")

// resumption is how a stream is continued after its connection breaks.
type resumption struct {
	last  string        // id of the last event, "" for none
	retry time.Duration // what the server asks to wait
	tries int           // since the last progress
	waits backoff.ExponentialBackOff
}

// follow delivers the messages of a stream until r is answered. It continues a stream that breaks.
func (c *remote) follow(ctx context.Context, r *jsonrpc.Request, res *http.Response) (err error) {
	at := resumption{
		waits: backoff.ExponentialBackOff{InitialInterval: time.Second / 4, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 2 * time.Second},
	}
	for {
		begun := time.Now()
		progress, answered := c.events(r, res, &at)
		_ = res.Body.Close() // it is read, or broken
		if answered || ctx.Err() != nil {
			return nil
		}
		if progress || time.Since(begun) >= lastingStream {
			at.tries = 0
			at.waits.Reset()
		}
		if at.last == "" && r != nil {
			return errNoAnswer
		}
		if res, err = c.resume(ctx, &at); res == nil {
			return err
		}
	}
}

// resume opens a stream behind its last event. It tries again while the server cannot be reached. It returns nothing if ctx is done.
func (c *remote) resume(ctx context.Context, at *resumption) (*http.Response, error) {
	for {
		if at.tries++; at.tries > maxResumes {
			return nil, errNoAnswer
		}
		select {
		case <-time.After(max(at.retry, at.waits.NextBackOff())):
		case <-ctx.Done():
			return nil, nil
		}
		res, err := c.get(ctx, at.last)
		var refused *statusError
		if err == nil || errors.As(err, &refused) {
			return res, err
		}
	}
}

// events delivers the messages of one connection.
func (c *remote) events(r *jsonrpc.Request, res *http.Response, at *resumption) (progress, answered bool) {
	in := bufio.NewReaderSize(res.Body, 16<<10)
	for {
		raw, err := readEvent(in, func(bytes int) bool { return bytes <= MaxMessage })
		if err != nil {
			return progress, false
		}
		e := parseEvent(raw)
		if e.id != "" {
			at.last, progress = e.id, true
		}
		if e.retry > 0 {
			at.retry = e.retry
		}
		messages, _, err := decode(e.data)
		if len(e.data) == 0 || err != nil {
			continue
		}
		for _, m := range messages {
			answered = c.received(r, m) || answered
		}
		if answered {
			return true, true
		}
	}
}
