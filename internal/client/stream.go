package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

// silence is the time without data after which a stream counts as broken. The server sends a keepalive comment every 15 seconds.
const silence = time.Minute

// errStop ends a stream from within.
var errStop = errors.New("no more of the stream is wanted")

// StreamRun calls each with the recorded events of a run and then with new ones, until ctx is done or each returns false. The run need not
// exist yet. After losing its connection it continues after the last message.
func (c *Client) StreamRun(ctx context.Context, run string, each func(*api.RunUpdate) bool) error {
	return c.stream(ctx, RunPath(run, "/stream"), func(m *message) error {
		var u api.RunUpdate
		if err := json.Unmarshal(m.data, &u); err != nil {
			return fmt.Errorf("read a message of the stream: %w", err)
		}
		if !each(&u) {
			return errStop
		}
		return nil
	})
}

// message is one server-sent event.
type message struct {
	name string // "" for a plain one
	data []byte // lines joined by line ends
}

// stream reads a stream. After losing its connection it reconnects and continues after the last message. It returns an error if another
// attempt cannot succeed.
func (c *Client) stream(ctx context.Context, path string, each func(*message) error) error {
	last := ""
	waits := newBackoff(minWait, maxWait/4)
	for {
		err := c.readMessages(ctx, path, &last, func(m *message) error {
			waits.Reset()
			return each(m)
		})
		after, again := retry(err)
		switch {
		case errors.Is(err, errStop):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !again:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(after, waits.NextBackOff())):
		}
	}
}

// readMessages reads the messages of one connection and keeps the id of the last one in last.
func (c *Client) readMessages(ctx context.Context, path string, last *string, each func(*message) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if *last != "" {
		header.Set("Last-Event-ID", *last)
	}
	answer, err := c.call(ctx, http.MethodGet, path, header, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // only read
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxLine)
	var m message
	id := *last
	for lines.Scan() {
		watchdog.Reset(silence)
		line := lines.Bytes()
		if len(line) > 0 {
			m.field(line, &id)
			continue
		}
		if m.data != nil && m.name == "" {
			if err := each(&m); err != nil {
				return err
			}
		}
		*last, m = id, message{}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %v", errBroken, err)
	}
	return nil
}

// field parses a line of a message.
func (m *message) field(line []byte, id *string) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		*id = string(value)
	case "event":
		m.name = string(value)
	case "data":
		if m.data != nil {
			m.data = append(m.data, '\n')
		}
		m.data = append(append([]byte{}, m.data...), value...)
	}
}
