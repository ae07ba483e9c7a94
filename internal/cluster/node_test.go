package cluster

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/natstest"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

// connect starts a NATS server, with messages of 1 MiB, and connects to it.
func connect(t *testing.T) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(natstest.Start(t, 1<<20).ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func TestTheErrorOfAStreamWithoutRoomNamesItsSetting(t *testing.T) {
	n := &Node{o: Options{Replicas: 1, StreamSize: 1 << 30}}
	var err error
	if n.js, err = jetstream.New(connect(t)); err != nil {
		t.Fatal(err)
	}
	if err := n.findStream(t.Context()); err == nil || !strings.Contains(err.Error(), "a stream of 1073741824 bytes, which cluster.stream_size sets") {
		t.Errorf("got %v", err)
	}
}

func TestAnEventOfSeveralSpansThatIsLargerThanAMessageIsForwardedWithExcerpts(t *testing.T) {
	w := worker{node: &Node{o: Options{Partitions: 8}, conn: connect(t)}}
	forward := func(e *unloop.Event) (all []*unloop.Event, err error) {
		messages, _, err := w.node.messages(&pipeline.Submission{Changes: []pipeline.Change{{Trace: "t", Run: "r", Event: e}, {Trace: "t", Run: "r", Removed: "x"}}})
		for _, m := range messages {
			d, err := decode(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range d.Changes {
				if c.Event != nil {
					all = append(all, c.Event)
				}
			}
		}
		return all, err
	}
	text := json.RawMessage(`"` + strings.Repeat("x", 700<<10) + `"`)
	one, err := forward(&unloop.Event{ID: "e", RunID: "r", Type: unloop.ToolCallFailed, Tool: "search", Output: text, Error: text})
	if err != nil || len(one) != 1 || one[0].Tool != "search" || len(one[0].Output) > 1000 || !bytes.Contains(one[0].Error, []byte("716800 bytes")) {
		t.Fatalf("forwarded: %.300v, error %v", one, err)
	}
	whole, err := forward(&unloop.Event{ID: "e", RunID: "r", Type: unloop.ToolCallCompleted, Output: text})
	if err != nil || len(whole) != 1 || !bytes.Equal(whole[0].Output, text) {
		t.Errorf("an event that fits is not forwarded whole: error %v", err)
	}
	// What never fits must not be tried again: all messages behind it would wait.
	endless := pipeline.Change{Run: "r", Event: &unloop.Event{ID: "e", RunID: "r", Name: strings.Repeat("x", 2<<20)}}
	if err := w.forward(t.Context(), &pipeline.Submission{}, []pipeline.Change{endless}); pipeline.Lost(err) || err == nil {
		t.Errorf("the error is %v, want one after which the message is skipped", err)
	}
}

// setClock returns a time as it would read if the clock of the day had been set by whole seconds. The monotonic reading stays.
func setClock(at time.Time, by time.Duration) time.Time {
	seconds := uint64(by/time.Second) << 30 // above the nanoseconds: see the fields of time.Time
	*(*uint64)(unsafe.Pointer(&at)) += seconds
	return at
}

func TestTheTimeOfTheDatabaseDoesNotFollowTheClockOfTheServer(t *testing.T) {
	began := time.Now()
	n := &Node{}
	database := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	n.clock.Store(newDatabaseClock(database, began.Add(-time.Second), began.Add(time.Second)))
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		here := setClock(began.Add(time.Second), by)
		if moved := here.Round(0).Sub(began.Round(0)); moved != by+time.Second || here.Sub(began) != time.Second {
			t.Fatalf("the clock was set by %v: it shows %v later, after %v", by, moved, here.Sub(began))
		}
		if got, want := n.clock.Load().at(here), database.Add(time.Second); !got.Equal(want) {
			t.Errorf("the clock was set by %v: got %v, want %v", by, got, want)
		}
	}
}
