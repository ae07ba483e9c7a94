package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

const (
	publishTime = 5 * time.Second // for all attempts to publish a message; the election of a new leader takes less
	attemptTime = 2 * time.Second // for one of them
	resultTime  = 3 * time.Second // for the result of a change that the client reads next
	replyHeader = "Unloop-Reply"  // subject for the result of a message
)

// Submit publishes a submission to its partitions, and returns when the stream has all of it on disk. If the submission changes or deletes
// a run, Submit also waits until the change is recorded, because clients read it next. The errors are those of a pipeline. After an error a
// part may have been published. Sending all of it again is safe.
//
// Submit reports duplicate events only if it waits until the submission is recorded.
func (n *Node) Submit(ctx context.Context, d *pipeline.Submission) (pipeline.Ack, error) {
	d.Complete(n.o.Mask, n.o.Pipeline.Prepare)
	ack := pipeline.Ack{Events: make([]pipeline.Result, len(d.Events)), Received: d.Received}
	for k, e := range d.Events {
		ack.Events[k].ID = e.ID
	}
	messages, size, err := n.messages(d)
	if err != nil {
		return ack, err
	}
	if waiting := n.publishing.Add(size); waiting > n.o.Bytes && waiting > size {
		n.publishing.Add(-size)
		return ack, pipeline.ErrBusy
	}
	defer n.publishing.Add(-size)
	var results *results
	if len(d.Runs)+len(d.Deleted) > 0 {
		results = n.expect(len(messages))
		defer n.discard(results)
		for _, m := range messages {
			m.Header.Set(replyHeader, results.subject)
		}
	}
	if err := n.publishAll(ctx, messages); err != nil {
		return ack, err
	}
	if results != nil {
		if !results.wait(ctx) && len(d.Events)+len(d.Spans) == 0 {
			return ack, fmt.Errorf("%w: the change of a run is not recorded yet", pipeline.ErrStore)
		}
		for k, e := range d.Events {
			ack.Events[k].Duplicate = results.known[eventKey(e)]
		}
	}
	return ack, nil
}

// messages returns the messages of a submission, and their size.
func (n *Node) messages(d *pipeline.Submission) (all []*nats.Msg, size int64, err error) {
	for partition, part := range split(d, n.o.Partitions) {
		for parts := []*pipeline.Submission{part}; len(parts) > 0; {
			body, err := encode(parts[0])
			if err != nil {
				return nil, 0, err
			}
			if int64(len(body)) > n.conn.MaxPayload()-headerRoom {
				smaller := halves(parts[0])
				if smaller == nil {
					smaller = withExcerpts(parts[0])
				}
				if smaller == nil {
					return nil, 0, &ingest.BadInput{Reason: fmt.Sprintf("an event of %d bytes is larger than a message of NATS, at most %d; max_payload of the NATS servers sets this", len(body), n.conn.MaxPayload())}
				}
				parts = append(smaller, parts[1:]...)
				continue
			}
			m := nats.NewMsg(subject(partition))
			m.Data = body
			m.Header.Set(nats.MsgIdHdr, rand.Text())
			all = append(all, m)
			size += int64(len(body))
			parts = parts[1:]
		}
	}
	return all, size, nil
}

// headerRoom is the part of a message of NATS that headers take, in bytes.
const headerRoom = 1024

func (n *Node) publishAll(ctx context.Context, messages []*nats.Msg) error {
	if len(messages) == 1 {
		return n.publish(ctx, messages[0])
	}
	var all errgroup.Group
	all.SetLimit(16)
	byPartition := make(map[string][]*nats.Msg)
	for _, m := range messages {
		byPartition[m.Subject] = append(byPartition[m.Subject], m)
	}
	for _, part := range byPartition {
		all.Go(func() error {
			for _, m := range part { // in their order
				if err := n.publish(ctx, m); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// publish retries until the stream has a message. JetStream drops a second copy, which it recognizes by the id of the message.
func (n *Node) publish(ctx context.Context, m *nats.Msg) error {
	bounded, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	for {
		attempt, end := context.WithTimeout(bounded, attemptTime)
		_, err := n.js.PublishMsg(attempt, m, jetstream.WithExpectStream(streamName))
		end()
		if err == nil {
			return nil
		}
		if isFull(err) {
			n.refused.Add(1)
			return fmt.Errorf("%w: the stream has no room: %w", pipeline.ErrBusy, err)
		}
		select {
		case <-bounded.Done():
			n.failed.Add(1)
			return fmt.Errorf("%w: publish to the stream: %w", pipeline.ErrStore, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Codes of errors of JetStream without room. The errors end when messages are recorded, or when an operator adds room.
const (
	codeStoreFailed  = 10077 // with a message such as "maximum bytes exceeded"
	codeNoResources  = 10023
	codeNoMemory     = 10028
	codeNoStorage    = 10047
	codeTooManyBytes = 10054
)

// isFull reports whether the stream has no room for a message.
func isFull(err error) bool {
	failure, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return false
	}
	switch failure.ErrorCode {
	case codeStoreFailed, codeNoResources, codeNoMemory, codeNoStorage, codeTooManyBytes:
		return true
	}
	return false
}

// results are the awaited results of a submission.
type results struct {
	subject string
	key     string
	left    int
	arrived chan *nats.Msg  // has room for all results
	known   map[string]bool // keys of duplicate events
}

// result is the JSON of a result.
type result struct {
	Duplicates []string `json:"duplicates,omitempty"` // their keys
}

// eventKey identifies an event.
func eventKey(e *unloop.Event) string { return e.RunID + "\x00" + e.ID }

// expect prepares for the results of a number of messages.
func (n *Node) expect(messages int) *results {
	key := rand.Text()
	r := &results{subject: n.replies + key, key: key, left: messages, arrived: make(chan *nats.Msg, messages), known: make(map[string]bool)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.awaited[key] = r
	return r
}

// discard ends the wait for results, which may be nil.
func (n *Node) discard(r *results) {
	if r == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.awaited, r.key)
}

// deliverResult passes a result to the submission that waits for it.
func (n *Node) deliverResult(m *nats.Msg) {
	n.mu.Lock()
	r := n.awaited[m.Subject[len(n.replies):]]
	n.mu.Unlock()
	if r == nil {
		return // the submission no longer waits
	}
	select {
	case r.arrived <- m:
	default: // the message was delivered again and has a second result
	}
}

// wait waits for the results, at most as long as resultTime. It records the duplicates and reports whether all results arrived.
func (r *results) wait(ctx context.Context) (all bool) {
	timeout := time.NewTimer(resultTime)
	defer timeout.Stop()
	for ; r.left > 0; r.left-- {
		select {
		case m := <-r.arrived:
			var got result
			if json.Unmarshal(m.Data, &got) == nil {
				for _, id := range got.Duplicates {
					r.known[id] = true
				}
			}
		case <-timeout.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}
