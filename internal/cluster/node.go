// Package cluster lets several servers share one stream of NATS JetStream and one PostgreSQL. Any server takes events: it decodes, masks
// and prices them, publishes them to the stream, and acknowledges them when the stream has them on disk. Each run belongs to one of 64
// partitions, and each partition to one server at a time, which folds, decides and records its runs with a pipeline of its own.
//
// The database says who owns a partition and how far its stream is recorded. Both are checked and written in the transactions of the
// records, so a message is recorded once, and a server that lost a partition cannot write to it (ADR 17).
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/profile"
)

// Names in NATS.
const (
	streamName     = "UNLOOP"
	subjectPrefix  = "unloop.in."    // before the partition: the stream
	livePrefix     = "unloop.live."  // before the partition: updates for streams of browsers
	repliesPrefix  = "unloop.reply." // before the server: results
	changedSubject = "unloop.owners" // announces that a server released partitions or joined
)

func subject(partition int) string { return fmt.Sprint(subjectPrefix, partition) }

// Leases records which server owns which partition.
type Leases interface {
	// Renew renews the lease of a server. A server that works takes free partitions, up to its share.
	Renew(ctx context.Context, server store.Server) (sqlstore.Owned, error)
	// Release releases partitions.
	Release(ctx context.Context, server string, partitions []int) error
	// Leave releases all partitions and ends the lease.
	Leave(ctx context.Context, server string) error
	// Cluster returns the servers that are alive, and the partitions in the order of their ids.
	Cluster(ctx context.Context) ([]store.Server, []store.Partition, error)
}

// Records is the store of a partition for its owner.
type Records interface {
	pipeline.Store
	// Position returns the position up to which the stream is recorded.
	Position(ctx context.Context) (sqlstore.Position, error)
	// Restart sets the position to the beginning of another stream.
	Restart(ctx context.Context, stream string) error
}

// Hub sends updates to the streams of this server. One goroutine calls it.
type Hub interface {
	Publish(u *store.Update)
	// Skip replaces Publish if nobody has a stream, and reports whether that is so. Arrival is that of the last event of the update.
	Skip(arrival int64) bool
	// Reset ends all streams, because updates may be missing. The clients reconnect and read the updates from the database.
	Reset()
}

// Options are the options of a node. All but Hub and Log are required.
type Options struct {
	URL        string // URLs of NATS servers, separated by commas
	Replicas   int    // of the stream, if the node creates it
	StreamSize int64  // maximum bytes of the stream, if the node creates it
	Name       string // of this process, unique
	Address    string // of the server, for people
	Works      bool   // it owns partitions
	Partitions int
	Bytes      int64 // maximum bytes of messages that are being published

	Leases   Leases
	Open     func(partition int, epoch int64) Records
	Hub      Hub    // nil for a server without streams
	Drain    func() // sends what this server still has to send to others, after its partitions ended; nil for nothing
	Mask     pipeline.Mask
	Pipeline pipeline.Options // of each partition; Store, Mask and Partition are set by the node
	Log      *slog.Logger
}

// Node is a server's part in a cluster. Submit is safe for concurrent use.
type Node struct {
	o       Options
	conn    *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	replies string // prefix of the subjects of results
	live    *liveReader

	profile atomic.Pointer[profile.Profile] // of new pipelines

	publishing, refused, failed atomic.Int64
	clock                       atomic.Pointer[databaseClock] // nil until the lease was renewed

	mu      sync.Mutex
	awaited map[string]*results
	workers map[int]*worker // by partition
	renewed time.Time       // when the lease was last renewed
	wake    chan struct{}   // has an element if partitions may be free
}

// New connects to NATS and creates the stream if it does not exist.
func New(ctx context.Context, o Options) (_ *Node, err error) {
	n := &Node{
		o: o, awaited: make(map[string]*results), workers: make(map[int]*worker), wake: make(chan struct{}, 1),
	}
	n.profile.Store(o.Pipeline.Profile)
	n.replies = repliesPrefix + n.o.Name + "."
	n.conn, err = nats.Connect(o.URL, nats.Name("unloop "+o.Address), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectBufSize(-1), // a message that cannot be sent is an error at once
		nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(2*time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { o.Log.Warn("the connection to NATS is lost", "error", err) }),
		nats.ReconnectHandler(func(c *nats.Conn) {
			o.Log.Info("the connection to NATS is back", "server", c.ConnectedUrlRedacted())
			if n.live != nil {
				n.live.lost()
			}
			n.stopAll() // opening the partitions again checks that the stream is still the same
			n.wakeUp()  // the lease may have ended
		}))
	if err != nil {
		return nil, fmt.Errorf("cluster: connect to NATS at %s: %w", o.URL, err)
	}
	defer func() {
		if err != nil {
			n.conn.Close()
		}
	}()
	if o.Hub != nil {
		n.live = newLiveReader(o.Hub, o.Partitions)
	}
	if n.js, err = jetstream.New(n.conn); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if err := n.openStream(ctx); err != nil {
		return nil, err
	}
	return n, n.subscribe()
}

const (
	createTime = time.Minute      // maximum time to create the stream; the NATS servers may have to elect a leader first
	findTime   = 10 * time.Second // maximum time of one attempt
)

// openStream opens the stream, or creates it.
func (n *Node) openStream(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, createTime)
	defer cancel()
	for {
		if err = n.findStream(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster: open the stream %s: %w", streamName, err)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func (n *Node) findStream(ctx context.Context) (err error) {
	attempt, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	n.stream, err = n.js.Stream(attempt, streamName)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	n.stream, err = n.js.CreateStream(attempt, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{subjectPrefix + "*"}, Description: "Events that unloop has acknowledged and not recorded yet",
		Storage: jetstream.FileStorage, Replicas: n.o.Replicas, MaxBytes: n.o.StreamSize, Discard: jetstream.DiscardNew, AllowDirect: true,
	})
	if isFull(err) {
		return fmt.Errorf("create it: the NATS servers have no room for a stream of %d bytes, which cluster.stream_size sets: %w", n.o.StreamSize, err)
	}
	return err
}

// subscribe subscribes to the results of submissions and to the updates of runs.
func (n *Node) subscribe() error {
	handlers := map[string]nats.MsgHandler{n.replies + "*": n.deliverResult, changedSubject: func(*nats.Msg) { n.wakeUp() }}
	if n.live != nil {
		handlers[livePrefix+"*"] = n.live.read
	}
	for subject, handle := range handlers {
		if _, err := n.conn.Subscribe(subject, handle); err != nil {
			return fmt.Errorf("cluster: subscribe to %s: %w", subject, err)
		}
	}
	return n.conn.Flush()
}

func (n *Node) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default: // it has one
	}
}

// databaseClock is the time of the database at a time of this machine.
type databaseClock struct{ database, here time.Time }

// newDatabaseClock returns the clock of a database that answered with its time. The request began and ended at times of this machine.
func newDatabaseClock(database, began, ended time.Time) *databaseClock {
	return &databaseClock{database: database, here: began.Add(ended.Sub(began) / 2)}
}

// at returns the time of the database. The monotonic reading of here says how much time has passed, so the result does not change if the
// clock of this machine is set.
func (c *databaseClock) at(here time.Time) time.Time {
	if c == nil {
		return here
	}
	return c.database.Add(here.Sub(c.here))
}

// now returns the time by the clock of the database.
func (n *Node) now() time.Time { return n.clock.Load().at(time.Now()) }

// Close closes the connection to NATS.
func (n *Node) Close() { n.conn.Close() }

// Flush does nothing: the rows of runs are written with their events.
func (n *Node) Flush(context.Context) error { return nil }

// Leads reports whether this server does the tasks that only one server does. It is the owner of the first partition.
func (n *Node) Leads() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.workers[0] != nil
}
