package pipeline

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
)

// maxQueued is the maximum number of queued submissions. A further one fails with ErrBusy, which the metrics count.
const maxQueued = 8192

// queued is a submission in the queue.
type queued struct {
	*Submission
	bodies     [][]byte // of the events
	spanBodies [][]byte
	received   time.Time
	weight     int   // in events
	size       int64 // in bytes
	flush      bool  // the rows of all runs must be written
	ack        Ack
	err        error
	done       chan struct{}
}

// Submit records a submission and returns when it is on disk. The error is ErrBusy, ErrClosed, ErrPanic, that of ctx, or one of
// the store. After an error of ctx or of the store, the submission may have been recorded nevertheless. Sending it again is
// safe, because duplicate events change nothing.
func (p *Pipeline) Submit(ctx context.Context, d *Submission) (Ack, error) {
	w, err := p.prepare(d)
	if err != nil {
		return Ack{}, err
	}
	return p.enqueue(ctx, w)
}

// Enqueue adds a submission behind the earlier ones, and returns a function that waits for its result. The error ErrBusy means that there
// is room when an earlier one has its result.
func (p *Pipeline) Enqueue(d *Submission) (result func(context.Context) (Ack, error), err error) {
	w, err := p.prepare(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPanic, err) // it can never be recorded
	}
	if !p.admit(w) {
		return nil, ErrBusy
	}
	if err := p.put(w); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Ack, error) { return p.await(ctx, w) }, nil
}

// enqueue adds a submission to the queue and waits for its result.
func (p *Pipeline) enqueue(ctx context.Context, w *queued) (Ack, error) {
	if !p.admit(w) {
		p.opts.Metrics.Refused.Add(float64(w.weight))
		return Ack{}, ErrBusy
	}
	if err := p.put(w); err != nil {
		return Ack{}, err
	}
	return p.await(ctx, w)
}

// put adds an admitted submission to the queue.
func (p *Pipeline) put(w *queued) error {
	select {
	case p.queue <- w:
		return nil
	case <-p.stopped:
		p.release(w)
		return ErrClosed
	default:
		p.release(w)
		p.opts.Metrics.Refused.Add(float64(w.weight))
		return ErrBusy
	}
}

// await waits for the result of a submission in the queue.
func (p *Pipeline) await(ctx context.Context, w *queued) (Ack, error) {
	select {
	case <-w.done:
		return w.ack, w.err
	case <-ctx.Done():
		return Ack{}, ctx.Err()
	case <-p.stopped:
		select {
		case <-w.done: // it was recorded at the end of Run
			return w.ack, w.err
		default:
			return Ack{}, ErrClosed
		}
	}
}

func (p *Pipeline) prepare(d *Submission) (w *queued, err error) {
	if d.Bodies == nil {
		d.Complete(p.opts.Mask, p.opts.Prepare)
	}
	w = &queued{
		Submission: d, received: d.Received, done: make(chan struct{}),
		weight: len(d.Events) + len(d.Spans) + len(d.Runs) + len(d.Deleted) + len(d.Changes), bodies: make([][]byte, len(d.Events)),
	}
	for i, e := range d.Events {
		if d.Bodies != nil && p.opts.Content == FullContent {
			w.bodies[i] = d.Bodies[i]
		} else if w.bodies[i], err = p.opts.Content.encode(e); err != nil {
			return nil, err
		}
		w.size += int64(len(w.bodies[i])) + eventOverhead
	}
	for i := range d.Spans {
		s := &d.Spans[i]
		body, err := json.Marshal(p.opts.Content.span(s))
		if err != nil {
			return nil, fmt.Errorf("encode span %s: %w", s.ID, err)
		}
		w.spanBodies = append(w.spanBodies, body)
		w.size += int64(2*len(body)) + eventOverhead
	}
	w.ack = Ack{Events: make([]Result, len(d.Events)), Received: w.received}
	return w, nil
}

// eventOverhead is the approximate memory of an event besides its content, in bytes.
const eventOverhead = 1024

// newID returns a new random id.
func newID(prefix string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

func (p *Pipeline) admit(w *queued) bool {
	// An empty queue accepts a submission of any size.
	if events := p.events.Add(int64(w.weight)); events > int64(p.opts.QueueEvents) && events > int64(w.weight) {
		p.events.Add(-int64(w.weight))
		return false
	}
	if bytes := p.bytes.Add(w.size); bytes > p.opts.QueueBytes && bytes > w.size {
		p.release(w)
		return false
	}
	return true
}

func (p *Pipeline) release(w *queued) {
	p.events.Add(-int64(w.weight))
	p.bytes.Add(-w.size)
}

// Waiting returns the number of events that wait to be recorded.
func (p *Pipeline) Waiting() int { return int(p.events.Load()) }

// reset removes the results of a failed attempt from a submission.
func (w *queued) reset() {
	w.ack, w.err = Ack{Events: make([]Result, len(w.Events)), Received: w.received}, nil
}

// reply reports the result of a group to its senders.
func (p *Pipeline) reply(group []*queued, err error) {
	switch {
	case errors.Is(err, ErrPanic):
		err = ErrPanic // the details are in the log
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	for _, w := range group {
		p.release(w)
		if w.err == nil {
			w.err = err
		}
		close(w.done)
	}
}
