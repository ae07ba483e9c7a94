package pipeline

import (
	"container/list"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"
	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Options are the options of a pipeline. Zero values mean the defaults.
type Options struct {
	Profile *profile.Profile // required
	Store   Store            // required
	Sinks   []Sink
	Metrics *Metrics     // required
	Log     *slog.Logger // for failures; nil means no log

	// Mask hides secrets in each submission before anything else reads it. Prepare then completes an event, for example with its
	// cost. Both are called concurrently. Nil means no change.
	Mask    Mask
	Prepare func(*unloop.Event)

	// Ask receives the questions for second opinions of recorded runs. It must not block. The answers are submitted as events.
	// Nil means no second opinions.
	Ask func(run string, q policy.Question)

	// Partition is the part of a cluster's runs that the pipeline has; nil means all runs.
	Partition *Partition

	Shards      int           // goroutines that fold runs at the same time; default: the number of processors
	Content     Content       // the stored part of inputs, outputs, errors and messages; default: all
	Project     string        // the project of runs without one; default: "default"
	QueueEvents int           // maximum number of events in the queue; default: 50,000
	QueueBytes  int64         // maximum bytes in the queue; default: 128 MiB
	LiveRuns    int           // maximum number of runs in memory; default: 2,048
	RunBytes    int64         // maximum bytes of runs in memory; default: 1 GiB
	IdleMemory  time.Duration // time after which an idle run is evicted; default: 5 minutes
	IdleClose   time.Duration // time after which an idle run is closed; default: 30 minutes
	TraceBytes  int           // maximum bytes of traces in memory; default: 256 MiB
}

func (o *Options) fill() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Project == "" {
		o.Project = "default"
	}
	if o.Shards == 0 {
		o.Shards = runtime.GOMAXPROCS(0)
	}
	if o.QueueEvents == 0 {
		o.QueueEvents = 50_000
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = 128 << 20
	}
	if o.LiveRuns == 0 {
		o.LiveRuns = 2048
	}
	if o.RunBytes == 0 {
		o.RunBytes = 1 << 30
	}
	if o.IdleMemory == 0 {
		o.IdleMemory = 5 * time.Minute
	}
	if o.IdleClose == 0 {
		o.IdleClose = 30 * time.Minute
	}
	if o.TraceBytes == 0 {
		o.TraceBytes = 256 << 20
	}
}

// maxQueued bounds the waiting submissions. A further one fails with ErrBusy, which the metrics count.
const maxQueued = 8192

// maxResent bounds the runs of which each event is looked for in the store.
const maxResent = 4096

// Pipeline processes the events of many runs. It orders the events of each run, folds them, evaluates them under the profile,
// records the results and then notifies the sinks. Waiting submissions are recorded together in one commit. Submit is safe
// for concurrent use. One goroutine, the recorder in Run, does the rest with the help of its shards and of the writer.
type Pipeline struct {
	opts         Options
	settingsHash fingerprint.Hash // hash of the settings under which checkpoints are valid
	every        int              // checkpointEvery
	perShard     int              // perShard
	queue        chan *queued
	stopped      chan struct{}
	events       atomic.Int64 // in the queue
	bytes        atomic.Int64
	due          atomic.Int64 // rows that are due to be written
	late         atomic.Int64 // runs with a mark
	failed       atomic.Pointer[failure]
	failing      failureLog

	unreadable unreadable

	fenced error // why the pipeline must stop: another server writes to the store

	writer          *writer // nil before Run
	arrival, number int64   // the latest arrival of an event and number of a run
	live            map[string]*run
	runBytes        int64           // approximate size of the runs in memory
	used            list.List       // of *run, the most recently used first
	unwritten       map[string]*run // runs whose rows are due
	rowsMissing     bool            // a row was not written before its run was dropped; the next start writes it
	resent          map[string]bool // ids of runs with events that came again with other positions; at most maxResent
	traces          traces
	refolds         refolds
}

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

// newArrival returns the number of the next event.
func (p *Pipeline) newArrival() int64 {
	p.arrival++
	if own := p.opts.Partition; own != nil {
		p.arrival = own.Arrival(p.arrival - 1)
	}
	return p.arrival
}

// newNumber returns the number of the next run.
func (p *Pipeline) newNumber() int64 {
	p.number++
	if own := p.opts.Partition; own != nil {
		p.number += own.Of - 1
	}
	return p.number
}

// New returns a pipeline that continues from the state of its store.
func New(ctx context.Context, o Options) (*Pipeline, error) {
	o.fill()
	arrival, number, err := o.Store.Last(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last position of the store: %w", err)
	}
	p := &Pipeline{
		opts: o, settingsHash: fingerprint.Bytes(o.Profile.YAML()), every: checkpointEvery, perShard: perShard, queue: make(chan *queued, maxQueued), stopped: make(chan struct{}),
		arrival: arrival, number: number, live: make(map[string]*run), unwritten: make(map[string]*run), resent: make(map[string]bool),
		failing: failureLog{sometimes: rate.Sometimes{Interval: logEvery}},
		refolds: newRefolds(),
	}
	if err := p.recover(ctx); err != nil {
		return nil, fmt.Errorf("recover unwritten rows: %w", err)
	}
	if err := p.findLate(ctx); err != nil {
		return nil, fmt.Errorf("load runs with late events: %w", err)
	}
	return p, nil
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

func (p *Pipeline) prepare(d *Submission) (*queued, error) {
	d.Complete(p.opts.Mask, p.opts.Prepare)
	w := &queued{
		Submission: d, received: d.Received, done: make(chan struct{}),
		weight: len(d.Events) + len(d.Spans) + len(d.Runs) + len(d.Deleted) + len(d.Changes), bodies: make([][]byte, len(d.Events)),
	}
	for i, e := range d.Events {
		body, err := p.opts.Content.encode(e)
		if err != nil {
			return nil, err
		}
		w.bodies[i] = body
		w.size += int64(len(body)) + eventOverhead
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
	// One that is larger than all there may be is let in when nothing waits.
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

// tickTime is the interval at which idle runs are checked.
const tickTime = 5 * time.Second

// Run records submissions until ctx ends. Then it records those that still wait, writes checkpoints and returns. It must be
// called at most once. If another server has used the store, it ends early with store.ErrFenced.
func (p *Pipeline) Run(ctx context.Context) error {
	defer close(p.stopped)
	tick := time.NewTicker(tickTime)
	defer tick.Stop()
	rows := time.NewTicker(rowEvery)
	defer rows.Stop()
	work := context.WithoutCancel(ctx)
	defer p.startRefolds(ctx)()
	defer p.startWriter(work)()
	for p.fenced == nil {
		select {
		case w := <-p.queue:
			p.groups(work, w)
		case c := <-p.writer.written:
			p.cameOff(work, c)
		case r := <-p.refolds.done:
			p.drain(work)
			p.takeOver(work, r)
		case <-p.refolds.tick.C:
			p.drain(work)
			p.beginRefolds()
		case <-tick.C:
			p.drain(work)
			p.tick(work)
		case <-rows.C:
			p.flushAhead(work)
		case <-ctx.Done():
			for {
				select {
				case w := <-p.queue:
					p.groups(work, w)
				default:
					p.drain(work)
					return p.shutdown(work)
				}
			}
		}
	}
	return p.fenced
}

// Bounds of one commit.
const (
	groupEvents = 8192
	groupBytes  = 32 << 20
)

// groups records a submission and the submissions that its group leaves over.
func (p *Pipeline) groups(ctx context.Context, w *queued) {
	for w != nil {
		w = p.group(ctx, w)
	}
}

// group records a submission together with those that wait behind it. A submission that deletes runs is recorded alone, because
// later submissions may create the same runs again. If such a submission follows, group returns it.
func (p *Pipeline) group(ctx context.Context, first *queued) (next *queued) {
	group := []*queued{first}
	events, bytes := first.weight, first.size
	for events < groupEvents && bytes < groupBytes && len(first.Deleted) == 0 {
		w := p.waiting(ctx, events)
		if w == nil {
			break
		}
		if len(w.Deleted) > 0 {
			next = w
			break
		}
		group = append(group, w)
		events += w.weight
		bytes += w.size
	}
	p.recordGroup(ctx, group)
	return next
}

// waiting returns the next delivery that waits; nil for none. If there are few events so far, it waits while the writer is busy.
func (p *Pipeline) waiting(ctx context.Context, events int) *queued {
	for {
		select {
		case w := <-p.queue:
			return w
		default:
		}
		if events >= worthAhead || p.writer == nil || p.writer.underWay == 0 {
			return nil
		}
		select {
		case w := <-p.queue:
			return w
		case c := <-p.writer.written:
			p.cameOff(ctx, c)
		}
	}
}

// recordGroup records a group, ahead of the writer if it has one and nothing is against it.
func (p *Pipeline) recordGroup(ctx context.Context, group []*queued) {
	if p.fenced != nil {
		p.reply(group, p.fenced)
		return
	}
	if p.writer == nil || len(group[0].Deleted) > 0 || p.full() {
		p.drain(ctx)
		p.recordNow(ctx, group)
		return
	}
	c := p.newCommit(group)
	err := c.make(ctx)
	if err == nil {
		p.weighAll(c)
		if !c.deletes() && !p.full() {
			p.handOver(ctx, c)
			return
		}
	}
	// What is under way may have runs of this group, which are dropped or leave memory now.
	if p.drain(ctx) && err == nil {
		err = p.complete(ctx, c, nil)
		if !errors.Is(err, ErrPanic) {
			p.reply(group, err)
			return
		}
	}
	p.recordAlone(ctx, c)
}

// recordNow records a group while nothing is under way, and answers its senders. It reports whether all of it is recorded.
func (p *Pipeline) recordNow(ctx context.Context, group []*queued) bool {
	err := p.record(ctx, group)
	if !errors.Is(err, ErrPanic) || len(group) == 1 {
		p.reply(group, err)
		return err == nil
	}
	for _, w := range group { // the others have nothing to do with it
		w.reset()
		p.reply([]*queued{w}, p.record(ctx, []*queued{w}))
	}
	return false
}

// reset undoes what a commit noted about a delivery.
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
