package cluster

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"

	"github.com/unloop-ai/unloop/internal/store"
)

// Updates go from the owner of a partition to the streams of all servers over NATS without storage, so some can be lost: when a
// connection breaks, or when an owner dies between a commit and its update. Each message therefore has the epoch of the owner and a
// number. A reader that misses a number or sees another epoch ends its streams, whose clients come back and read from the database.

// liveMessage is the first line of a message, as JSON. The JSON of the update follows on the second line. Readers without streams need only
// the first.
type liveMessage struct {
	Epoch   int64  `json:"epoch"`
	Number  uint64 `json:"number"`            // of the update in the epoch, from 1; without an update, of the last one
	Arrival int64  `json:"arrival,omitempty"` // of the last event of the update
	Deleted bool   `json:"deleted,omitempty"` // the update deletes the run
	Guard   string `json:"guard,omitempty"`   // Guard.By of the run, which its JSON leaves out
	Large   bool   `json:"large,omitempty"`   // the update is larger than a message, and left out
}

// beatEvery is the maximum time until a reader notices that the last update of a partition is lost.
const beatEvery = time.Second

// liveWriter publishes the updates of a partition. The pipeline's writer and its recorder take turns in calling it.
type liveWriter struct {
	conn    *nats.Conn
	subject string
	log     *slog.Logger

	mu   sync.Mutex
	last liveMessage
}

func newLiveWriter(conn *nats.Conn, partition int, epoch int64, log *slog.Logger) *liveWriter {
	return &liveWriter{conn: conn, subject: fmt.Sprint(livePrefix, partition), log: log, last: liveMessage{Epoch: epoch}}
}

// Publish publishes an update. It does not wait.
func (l *liveWriter) Publish(u *store.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last.Number++
	body, err := encodeUpdate(l.last, u)
	if err != nil || int64(len(body)) > l.conn.MaxPayload() {
		m := l.last
		m.Large = true
		l.send(m)
		return
	}
	_ = l.conn.Publish(l.subject, body) // the readers notice that it is missing
}

// encodeUpdate returns the JSON of a message with an update.
func encodeUpdate(m liveMessage, u *store.Update) ([]byte, error) {
	m.Guard, m.Deleted = u.Run.Guard.By, u.Deleted
	if n := len(u.Events); n > 0 {
		m.Arrival = u.Events[n-1].Arrival
	}
	head, err := json.Marshal(&m, lenient)
	if err != nil {
		return nil, err
	}
	update, err := json.Marshal(u, updateJSON)
	return slices.Concat(head, []byte{'\n'}, update), err
}

// updateJSON keeps what the JSON of records for people loses: raw JSON that is not there.
var updateJSON = json.JoinOptions(lenient, json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true),
	json.WithUnmarshalers(json.UnmarshalFunc(func(text []byte, raw *stdjson.RawMessage) error {
		if *raw = nil; string(text) != "null" {
			*raw = append(*raw, text...)
		}
		return nil
	})),
)

func (l *liveWriter) send(m liveMessage) {
	if body, err := json.Marshal(&m, lenient); err == nil {
		_ = l.conn.Publish(l.subject, body)
	}
}

// begin tells the readers that there is a new owner.
func (l *liveWriter) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(l.last)
}

// beat says how many updates there were, now and then, until ctx ends.
func (l *liveWriter) beat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.begin()
		}
	}
}

// liveReader hands the updates of all partitions to the hub.
type liveReader struct {
	mu   sync.Mutex
	hub  Hub
	last []liveMessage // by partition: the epoch and the number that the hub has
}

func newLiveReader(hub Hub, partitions int) *liveReader {
	return &liveReader{hub: hub, last: make([]liveMessage, partitions)}
}

// lost notes that updates of any partition may be missing.
func (l *liveReader) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.last)
	l.hub.Reset()
}

// read handles a message of a partition.
func (l *liveReader) read(m *nats.Msg) {
	partition, err := strconv.Atoi(strings.TrimPrefix(m.Subject, livePrefix))
	var got liveMessage
	head, body, hasUpdate := bytes.Cut(m.Data, []byte{'\n'})
	if err != nil || partition < 0 || partition >= len(l.last) || json.Unmarshal(head, &got, lenient) != nil {
		return // the next message shows that one is missing
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := &l.last[partition]
	if got.Epoch < last.Epoch {
		return // of an owner that lost the partition: it was recorded before, and read from the database since
	}
	want := last.Number
	if hasUpdate || got.Large {
		want++
	}
	if got.Epoch != last.Epoch || got.Number != want || got.Large {
		l.hub.Reset()
	}
	*last = liveMessage{Epoch: got.Epoch, Number: got.Number}
	if !hasUpdate || !got.Deleted && l.hub.Skip(got.Arrival) {
		return
	}
	update := new(store.Update)
	if json.Unmarshal(body, update, updateJSON) != nil {
		l.hub.Reset()
		return
	}
	update.Run.Guard.By = got.Guard
	l.hub.Publish(update)
}
