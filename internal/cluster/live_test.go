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
}

func (h *recordingHub) Publish(u *store.Update) {
	h.told = append(h.told, u.Run.ID)
	h.updates = append(h.updates, u)
}
func (h *recordingHub) Reset() { h.told = append(h.told, "reset") }

func TestStreamsEndWhenUpdatesMayBeMissing(t *testing.T) {
	beat := func(epoch int64, last uint64) liveMessage { return liveMessage{Epoch: epoch, Number: last} }
	update := func(epoch int64, number uint64, run string) liveMessage {
		return liveMessage{Epoch: epoch, Number: number, Update: &store.Update{Run: store.Run{ID: run}}}
	}
	for _, tc := range []struct {
		name     string
		messages []liveMessage
		want     string
	}{
		{"an owner that begins may have had a predecessor", []liveMessage{beat(1, 0), update(1, 1, "a"), update(1, 2, "b"), beat(1, 2)}, "reset a b"},
		{"an update is missing", []liveMessage{beat(1, 0), update(1, 1, "a"), update(1, 3, "c"), update(1, 4, "d")}, "reset a reset c d"},
		{"the last update is missing", []liveMessage{beat(1, 0), update(1, 1, "a"), beat(1, 2), update(1, 3, "c")}, "reset a reset c"},
		{"another owner begins", []liveMessage{beat(1, 0), update(1, 1, "a"), beat(2, 0), update(2, 1, "b")}, "reset a reset b"},
		{"the last words of an owner that lost the partition", []liveMessage{beat(2, 0), update(1, 7, "old"), update(2, 1, "a")}, "reset a"},
		{"an update is too large", []liveMessage{beat(1, 0), {Epoch: 1, Number: 1, Large: true}, update(1, 2, "b")}, "reset reset b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hub := new(recordingHub)
			reader := newLiveReader(hub, 4)
			for _, m := range tc.messages {
				body, err := jsonv2.Marshal(&m, updateJSON)
				if err != nil {
					t.Fatal(err)
				}
				reader.read(&nats.Msg{Subject: fmt.Sprint(livePrefix, 3), Data: body})
			}
			if got := strings.Join(hub.told, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
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
