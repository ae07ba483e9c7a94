package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

const (
	maxPulled  = 32              // messages of a partition that were read and are not in its pipeline
	maxTaken   = 256             // messages that are in its pipeline
	pullTime   = 4 * time.Second // of one request for messages
	heartbeat  = time.Second     // while there are no messages; the request is lost if two are missing
	purgeEvery = 5 * time.Second // between two deletions of recorded messages
)

// worker records a partition while this server owns it.
type worker struct {
	node     *Node
	id       int
	epoch    int64
	records  Records
	live     *liveWriter
	released atomic.Bool // the partition is released when the worker ends

	finish func()          // ends the reading of the stream; the messages that were read are recorded
	drop   func()          // ends everything: another server has the partition
	ending context.Context // done by finish
	lost   context.Context // done by drop

	pipeline   atomic.Pointer[pipeline.Pipeline] // nil until the partition is open
	pending    atomic.Uint64                     // messages behind the last one that was read, at that time
	unrecorded atomic.Int64                      // number of messages that were read and are not recorded
	recorded   atomic.Uint64                     // sequence of the last message that is recorded
}

func newWorker(n *Node, id int, epoch int64) *worker {
	w := &worker{node: n, id: id, epoch: epoch, records: n.o.Open(id, epoch)}
	w.lost, w.drop = context.WithCancel(context.Background())
	w.ending, w.finish = context.WithCancel(w.lost)
	w.live = newLiveWriter(n.conn, id, epoch, n.o.Log)
	return w
}

// takenMessage is a message in the pipeline.
type takenMessage struct {
	sequence uint64
	reply    string
	sent     *pipeline.Submission
	result   func(context.Context) (pipeline.Ack, error)
}

// run reads the partition's stream behind its position and records it, until the worker ends or recording fails.
func (w *worker) run(ctx context.Context) error {
	defer w.drop()
	p, at, err := w.open(ctx)
	if err != nil {
		return err
	}
	recording, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	ended := make(chan error, 1)
	parts.Go(func() {
		ended <- p.Run(recording)
		w.drop() // the other goroutines end with the pipeline
	})
	parts.Go(func() { w.live.beat(w.lost) })
	parts.Go(func() { w.purge(w.lost) })
	unrecorded := make(chan takenMessage, maxTaken)
	failed := make(chan error, 1)
	parts.Go(func() {
		err := w.answer(unrecorded)
		if err != nil {
			w.drop()
		}
		failed <- err
	})
	err = w.read(p, at, unrecorded)
	close(unrecorded)
	err = cmp.Or(err, <-failed)
	stop()
	err = cmp.Or(err, <-ended)
	w.drop()
	parts.Wait()
	return err
}

// open returns a pipeline that continues at the partition's position, and the position.
func (w *worker) open(ctx context.Context) (*pipeline.Pipeline, uint64, error) {
	bounded, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	at, err := w.records.Position(bounded)
	if err != nil {
		return nil, 0, err
	}
	if at.Sequence, err = w.valid(bounded, at); err != nil {
		return nil, 0, err
	}
	w.recorded.Store(at.Sequence)
	o := w.node.o.Pipeline
	o.Store, o.Mask, o.Shards, o.Profile = w.records, nil, 1, w.node.profile.Load()
	o.Sinks = append([]pipeline.Sink{w.live}, o.Sinks...)
	o.Partition = &pipeline.Partition{
		ID: int64(w.id), Of: int64(w.node.o.Partitions), Now: w.node.now,
		Has:     func(run string) bool { return PartitionOf(run, w.node.o.Partitions) == w.id },
		Forward: w.forward,
	}
	p, err := pipeline.New(bounded, o)
	if err != nil {
		return nil, 0, fmt.Errorf("open partition %d: %w", w.id, err)
	}
	w.pipeline.Store(p)
	w.live.begin()
	return p, at.Sequence, nil
}

// valid returns the number of the last recorded message, if the stream is still the same and contains that number. Otherwise it restarts
// the partition and returns 0. The whole stream is then read again, and events that are already recorded are duplicates.
func (w *worker) valid(ctx context.Context, at sqlstore.Position) (uint64, error) {
	attempt, cancel := context.WithTimeout(ctx, attemptTime) // a stream without a leader does not answer
	defer cancel()
	info, err := w.node.stream.Info(attempt)
	if err != nil {
		return 0, fmt.Errorf("read the state of the stream: %w", err)
	}
	origin := originOf(info)
	if at.Stream == origin && at.Sequence <= info.State.LastSeq {
		return at.Sequence, nil
	}
	if at.Stream != "" {
		w.node.o.Log.Error("the stream was replaced or truncated; its unrecorded messages are lost", "partition", w.id,
			"position", at.Sequence, "last", info.State.LastSeq)
	}
	return 0, w.records.Restart(ctx, origin)
}

// originOf identifies a stream. Another stream may get the same name later.
func originOf(info *jetstream.StreamInfo) string { return info.Created.UTC().Format(time.RFC3339Nano) }

// openTime is the maximum time to open a partition.
const openTime = 30 * time.Second

// read passes the messages behind a position to the pipeline, until the worker ends.
func (w *worker) read(p *pipeline.Pipeline, at uint64, to chan<- takenMessage) error {
	consumer, err := w.node.js.OrderedConsumer(w.ending, streamName, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject(w.id)}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: at + 1,
		InactiveThreshold: 30 * time.Second,
	})
	if err != nil {
		return w.unlessEnding(fmt.Errorf("read the stream: %w", err))
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxPulled), jetstream.PullExpiry(pullTime), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return w.unlessEnding(fmt.Errorf("read the stream: %w", err))
	}
	stopped := context.AfterFunc(w.ending, messages.Stop) // it ends attempts to reach NATS,
	defer stopped()
	defer messages.Stop()
	until := jetstream.NextContext(w.ending) // and this a wait on a consumer that replaced another one while Stop was called
	for {
		m, err := messages.Next(until)
		if err != nil {
			return w.unlessEnding(fmt.Errorf("read the stream: %w", err))
		}
		if err := w.take(p, m, to); err != nil {
			return w.unlessEnding(err)
		}
	}
}

// unlessEnding returns nil for an error that comes from the end of the worker.
func (w *worker) unlessEnding(err error) error {
	if w.ending.Err() != nil {
		return nil
	}
	return err
}

// take passes a message to the pipeline. It waits while the pipeline is full.
func (w *worker) take(p *pipeline.Pipeline, m jetstream.Msg, to chan<- takenMessage) error {
	meta, err := m.Metadata()
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	w.pending.Store(meta.NumPending)
	sequence := meta.Sequence.Stream
	d, err := decode(m.Data())
	if err != nil {
		w.node.o.Log.Error("a message of the stream cannot be read and is skipped", "partition", w.id, "sequence", sequence, "error", err)
		return nil
	}
	d.Sequence = sequence
	next := takenMessage{sequence: sequence, reply: m.Headers().Get(replyHeader), sent: d}
	for {
		next.result, err = p.Enqueue(d)
		switch {
		case errors.Is(err, pipeline.ErrPanic):
			w.node.o.Log.Error("a message of the stream cannot be recorded and is skipped", "partition", w.id, "sequence", sequence, "error", err)
			return nil
		case err == nil:
			w.unrecorded.Add(1)
			select {
			case to <- next:
				return nil
			case <-w.lost.Done():
				return w.lost.Err()
			}
		case !errors.Is(err, pipeline.ErrBusy):
			return err
		}
		select {
		case <-time.After(fullPause):
		case <-w.lost.Done():
			return w.lost.Err()
		}
	}
}

// fullPause is the pause before a message is offered again to a full pipeline.
const fullPause = 5 * time.Millisecond

// answer waits for the results of messages in order and publishes the requested ones. It ends at the first message that is not recorded.
func (w *worker) answer(unrecorded <-chan takenMessage) (err error) {
	for m := range unrecorded {
		if err != nil {
			w.unrecorded.Add(-1)
			continue // later messages are not recorded either
		}
		ack, failed := m.result(context.Background())
		w.unrecorded.Add(-1)
		if pipeline.Lost(failed) {
			err = failed
			w.drop()
			continue
		}
		if failed != nil {
			w.node.o.Log.Error("a message of the stream could not be recorded and is skipped", "partition", w.id, "sequence", m.sequence, "error", failed)
		} else {
			w.recorded.Store(m.sequence)
		}
		if m.reply != "" {
			w.reply(m, ack)
		}
	}
	return err
}

func (w *worker) reply(m takenMessage, ack pipeline.Ack) {
	var r result
	for k, e := range m.sent.Events {
		if k < len(ack.Events) && ack.Events[k].Duplicate {
			r.Duplicates = append(r.Duplicates, eventKey(e))
		}
	}
	body, err := json.Marshal(&r)
	if err == nil {
		err = w.node.conn.Publish(m.reply, body)
	}
	if err != nil {
		w.node.o.Log.Debug("a result was not sent", "error", err)
	}
}

// forward publishes changes for other partitions. The time of the messages is that of the spans.
func (w *worker) forward(ctx context.Context, from *pipeline.Submission, changes []pipeline.Change) error {
	messages, _, err := w.node.messages(&pipeline.Submission{Received: from.Received, Changes: changes})
	if err != nil {
		return fmt.Errorf("%w: %w", pipeline.ErrPanic, err) // it would fail again and again, and all behind it would wait
	}
	return w.node.publishAll(ctx, messages)
}

// purge deletes the recorded messages of the partition from the stream, so that it has room.
func (w *worker) purge(ctx context.Context) {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	purged := w.recorded.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		recorded := w.recorded.Load()
		if recorded == purged {
			continue
		}
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		err := w.node.stream.Purge(attempt, jetstream.WithPurgeSubject(subject(w.id)), jetstream.WithPurgeSequence(recorded+1))
		cancel()
		if err == nil {
			purged = recorded
		} else if ctx.Err() == nil {
			w.node.o.Log.Warn("recorded messages stay in the stream for now", "partition", w.id, "error", err)
		}
	}
}
