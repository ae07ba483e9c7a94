package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Bounds of one request. A single event may exceed maxBytes.
const (
	maxEvents = 500
	maxBytes  = 4 << 20
)

// Delays between two attempts.
const (
	minWait = 100 * time.Millisecond
	maxWait = 30 * time.Second
)

// Sent counts the sent events by result.
type Sent struct {
	Accepted   int // events that the server has, including duplicates
	Duplicates int // events that it had before
	Refused    int // events that it rejected
	Refusals   []Refusal
}

// Refusal is an event that the server rejected.
type Refusal struct{ RunID, EventID, Reason string }

// maxRefusals bounds how many refusals are kept; all are counted.
const maxRefusals = 20

// Sender sends events in batches, in order, and retries failed requests. It is safe for concurrent use. While a batch is sent, other
// callers wait.
type Sender struct {
	// Patience is the maximum time of a request with its retries; 0 means no limit.
	Patience time.Duration
	// Waiting, if set, is called with the error and the delay before each retry. It must not use the sender.
	Waiting func(err error, again time.Duration)
	// Refused, if set, is called for each event that the server rejects. It must not use the sender.
	Refused func(Refusal)

	client *Client
	mu     sync.Mutex
	lines  []byte
	refs   []ref
	sent   Sent
}

// ref is an event in lines.
type ref struct {
	run, id string
	end     int // in lines
}

// NewSender returns a sender to the server. Set its fields before it is used.
func (c *Client) NewSender() *Sender { return &Sender{client: c} }

// Add copies an event into the batch. The event must have an id, because a retry may send it twice. A full batch is sent before Add
// returns.
func (s *Sender) Add(ctx context.Context, e *unloop.Event) error { return s.AddTo(ctx, e, "") }

// AddTo is Add for an event that names the project of its run. "" names none.
func (s *Sender) AddTo(ctx context.Context, e *unloop.Event, project string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	begin := len(s.lines)
	lines, err := appendEvent(s.lines, e, project)
	if err != nil {
		return err
	}
	if begin > 0 && len(lines) > maxBytes {
		s.lines = lines[:begin]
		if err := s.flush(ctx); err != nil {
			return err
		}
		if lines, err = appendEvent(s.lines, e, project); err != nil {
			return err
		}
	}
	s.lines = lines
	s.refs = append(s.refs, ref{e.RunID, e.ID, len(lines)})
	if len(s.refs) >= maxEvents || len(lines) >= maxBytes {
		return s.flush(ctx)
	}
	return nil
}

// Flush sends the batch. After an error it keeps the batch, and can be called again.
func (s *Sender) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(ctx)
}

// Sent returns the counts so far.
func (s *Sender) Sent() Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *Sender) flush(ctx context.Context) error {
	if len(s.refs) == 0 {
		return nil
	}
	if err := s.send(ctx, 0, len(s.refs)); err != nil {
		return err
	}
	s.refs = s.refs[:0]
	if s.lines = s.lines[:0]; cap(s.lines) > 2*maxBytes {
		s.lines = nil
	}
	return nil
}

// send sends the events of refs[from:to]. It splits a request that the server rejects as a whole, so that the valid events are recorded.
func (s *Sender) send(ctx context.Context, from, to int) error {
	batch, err := s.persist(ctx, s.part(from, to))
	var answer *Error
	switch {
	case err == nil && batch.Accepted+len(batch.Errors) < to-from:
		return fmt.Errorf("the server acknowledges %d of %d events: %w", batch.Accepted, to-from, errForeign)
	case err == nil:
		s.sent.Accepted += batch.Accepted
		s.sent.Duplicates += batch.Duplicates
		s.refuse(from, to, batch.Errors)
		return nil
	case !errors.As(err, &answer) || !rejectsContent(answer.Status):
		return err
	case len(answer.events) > 0:
		s.refuse(from, to, answer.events)
		return nil
	case to-from == 1:
		s.refuse(from, to, []api.EventError{{Reason: answer.Reason}})
		return nil
	}
	middle := (from + to) / 2
	if err := s.send(ctx, from, middle); err != nil {
		return err
	}
	return s.send(ctx, middle, to)
}

func (s *Sender) part(from, to int) []byte {
	begin := 0
	if from > 0 {
		begin = s.refs[from-1].end
	}
	return s.lines[begin:s.refs[to-1].end]
}

// rejectsContent reports whether a status rejects the content of a request, and not its sender or its path.
func rejectsContent(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

func (s *Sender) refuse(from, to int, refused []api.EventError) {
	s.sent.Refused += len(refused)
	for _, r := range refused {
		if r.Index < 0 || r.Index >= to-from {
			continue
		}
		reason := r.Reason
		if r.Field != "" {
			reason = r.Field + ": " + reason
		}
		at := s.refs[from+r.Index]
		refusal := Refusal{at.run, at.id, reason}
		if len(s.sent.Refusals) < maxRefusals {
			s.sent.Refusals = append(s.sent.Refusals, refusal)
		}
		if s.Refused != nil {
			s.Refused(refusal)
		}
	}
}

// newBackoff returns delays that double from the first one to the longest, each varied by up to half, so that many clients do not come back
// at once.
func newBackoff(first, longest time.Duration) backoff.ExponentialBackOff {
	return backoff.ExponentialBackOff{InitialInterval: first, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: longest}
}

// persist posts lines until they are recorded, or until another attempt cannot succeed.
func (s *Sender) persist(ctx context.Context, lines []byte) (*api.Batch, error) {
	begun, waits := time.Now(), newBackoff(minWait, maxWait)
	for {
		b, err := s.client.post(ctx, lines)
		after, again := retry(err)
		if !again {
			return b, err
		}
		pause := max(after, waits.NextBackOff())
		if s.Patience > 0 && time.Since(begun)+pause > s.Patience {
			return nil, err
		}
		if s.Waiting != nil {
			s.Waiting(err, pause)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// retry reports whether another attempt may succeed, and the delay that the server asks for.
func retry(err error) (after time.Duration, again bool) {
	var answer *Error
	var unreachable *UnreachableError
	switch {
	case errors.As(err, &unreachable), errors.Is(err, errBroken):
		return 0, true
	case errors.As(err, &answer):
		switch answer.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return answer.After, true
		}
	}
	return 0, false
}

// post sends lines of events once.
func (c *Client) post(ctx context.Context, lines []byte) (*api.Batch, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("the server takes too long"))
	defer cancel()
	header := http.Header{"Content-Type": {lineType}}
	answer, err := c.call(ctx, http.MethodPost, "/api/events", header, bytes.NewReader(lines))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &UnreachableError{c.base, context.Cause(ctx)}
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // only read
	var b api.Batch
	return &b, read(answer, &b)
}

// appendEvent appends the event as a line.
func appendEvent(line []byte, e *unloop.Event, project string) ([]byte, error) {
	body, err := store.Encode(e)
	if err != nil {
		return line, err
	}
	if project != "" {
		body = api.WithProject(body, project)
	}
	return append(append(line, body...), '\n'), nil
}
