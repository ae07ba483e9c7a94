package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// recordingHub records what it is told.
type recordingHub struct {
	told    []string
	updates []*store.Update
	alone   bool    // it has no subscribers
	skipped []int64 // arrivals of the updates that it was not told
}

func (h *recordingHub) Publish(u *store.Update) {
	h.told = append(h.told, u.Run.ID)
	h.updates = append(h.updates, u)
}

func (h *recordingHub) Skip(arrival int64) bool {
	if h.alone {
		h.skipped = append(h.skipped, arrival)
	}
	return h.alone
}
func (h *recordingHub) Reset() { h.told = append(h.told, "reset") }

// sent is a message of the test: the epoch, the number, and the run of its update, if it has one.
type sent struct {
	epoch  int64
	number uint64
	run    string
}

func (m sent) message(t *testing.T) *nats.Msg {
	t.Helper()
	head := liveMessage{Epoch: m.epoch, Number: m.number, Large: m.run == "large"}
	body, err := jsonv2.Marshal(&head, lenient)
	if m.run != "" && !head.Large {
		body, err = encodeUpdate(head, &store.Update{
			Run: store.Run{ID: m.run}, Events: []store.Event{{Arrival: int64(m.number)}}, Deleted: m.run == "deleted",
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &nats.Msg{Subject: fmt.Sprint(livePrefix, 3), Data: body}
}

func TestStreamsEndWhenUpdatesMayBeMissing(t *testing.T) {
	for _, tc := range []struct {
		name     string
		messages []sent
		want     string
	}{
		{"an owner that begins may have had a predecessor", []sent{{1, 0, ""}, {1, 1, "a"}, {1, 2, "b"}, {1, 2, ""}}, "reset a b"},
		{"an update is missing", []sent{{1, 0, ""}, {1, 1, "a"}, {1, 3, "c"}, {1, 4, "d"}}, "reset a reset c d"},
		{"the last update is missing", []sent{{1, 0, ""}, {1, 1, "a"}, {1, 2, ""}, {1, 3, "c"}}, "reset a reset c"},
		{"another owner begins", []sent{{1, 0, ""}, {1, 1, "a"}, {2, 0, ""}, {2, 1, "b"}}, "reset a reset b"},
		{"the last words of an owner that lost the partition", []sent{{2, 0, ""}, {1, 7, "old"}, {2, 1, "a"}}, "reset a"},
		{"an update is too large", []sent{{1, 0, ""}, {1, 1, "large"}, {1, 2, "b"}}, "reset reset b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hub := new(recordingHub)
			reader := newLiveReader(hub, 4)
			for _, m := range tc.messages {
				reader.read(m.message(t))
			}
			if got := strings.Join(hub.told, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestAServerWithoutStreamsReadsOnlyDeletions(t *testing.T) {
	hub := &recordingHub{alone: true}
	reader := newLiveReader(hub, 4)
	for _, m := range []sent{{1, 0, ""}, {1, 1, "a"}, {1, 2, "deleted"}, {1, 3, "c"}} {
		reader.read(m.message(t))
	}
	hub.alone = false
	reader.read(sent{1, 4, "d"}.message(t))
	if diff := cmp.Diff([]string{"reset", "deleted", "d"}, hub.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 3}, hub.skipped); diff != "" {
		t.Errorf("arrivals of the others (-want +got):\n%s", diff)
	}
}

func TestAnUpdateComesBackAsItWas(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	tool := "grep"
	want := &store.Update{
		Run: store.Run{
			Number: 7, ID: "r", Project: "p", Status: store.Running, Started: at, Updated: at, Arrival: 1 << 52, Tools: []string{"grep"},
			Metadata: json.RawMessage(`{"a":1}`), Metrics: store.Metrics{Events: 3, BusiestTool: &tool}, Health: policy.Health{Score: 50},
			WorstAction: policy.Halt, UsageAfterStop: store.Usage{Calls: 1, Cost: 0.5}, Guard: store.Guard{By: "go", Stopped: true},
			Controls: []store.Control{{Number: 1, Act: "halt", At: at}}, Preview: store.Preview{Novelty: []float64{0.5}},
			Refold: &store.Refold{Behind: store.Start, Name: "n"},
		},
		Events:    []store.Event{{Arrival: 1<<52 + 64, Run: 7, ID: "e", Position: store.Position{Sequence: 1, Time: 2, Tie: 3}, Received: at, Body: []byte("{\"x\":\"\xff\"}"), Analysis: []byte(`{}`)}},
		Analyses:  []store.Reanalyzed{{Arrival: 9, Analysis: []byte(`{}`)}},
		Removed:   []string{"gone"},
		Warnings:  []store.Warning{{ID: "w", Run: 7, Rule: "cycle", Count: 3, Details: json.RawMessage(`{"why":"x"}`), Created: at}, {ID: "v"}},
		Raised:    []int{0},
		Grown:     []int{1},
		Decisions: []store.Decision{{Run: 7, EventID: "e", Action: policy.Block, ByGuard: true, Warning: "w"}}, Invalidated: &store.Position{Tie: 4},
	}
	hub := new(recordingHub)
	body, err := encodeUpdate(liveMessage{Epoch: 1, Number: 1}, want)
	if err != nil {
		t.Fatal(err)
	}
	newLiveReader(hub, 4).read(&nats.Msg{Subject: livePrefix + "0", Data: body})
	if len(hub.updates) != 1 {
		t.Fatalf("%v", hub.told)
	}
	if diff := cmp.Diff(want, hub.updates[0]); diff != "" {
		t.Error(diff)
	}
}
