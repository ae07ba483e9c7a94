package pipeline

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop/internal/store"
)

// spoil makes an event of the run unreadable in the store.
func spoil(t testing.TB, m *memory, run, id string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, r := range m.runs {
		if e, ok := m.events[n][id]; ok && r.ID == run {
			e.Body = []byte("{")
			m.events[n][id] = e
			return
		}
	}
	t.Fatalf("run %s has no event %s", run, id)
}

func TestAnUnreadableEventIsSkipped(t *testing.T) {
	events := calls("r", 6)
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	submit(t, p, events[:8]...)
	stop()
	spoil(t, m, "r", events[3].ID)

	p, stop = start(t, Options{Store: m})
	if _, err := p.Submit(context.Background(), &Submission{Events: append(clones(events[8:]), calls("s", 1)...)}); err != nil {
		t.Fatalf("the other events are rejected: %v", err)
	}
	submit(t, p, events[5]) // read once more
	if n := p.State().Unreadable; n != 1 {
		t.Errorf("%d unreadable events are counted, want 1", n)
	}
	stop()
	want := inOrder(t, append(clones(events[:3]), events[4:]...)).Run
	if diff := cmp.Diff(want, verdictOf(t, m, "r").Run, regardlessOfArrival); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if verdictOf(t, m, "s").Run.Metrics.ToolCalls != 1 {
		t.Error("the other run was not recorded")
	}
}

func TestAnUnreadableEventDoesNotPreventAStart(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	submit(t, p, calls("r", 2)...)
	stop()
	spoil(t, m, "r", "r-0a")
	m.flushed = 0 // the rows have to be made of the events
	p, err := New(t.Context(), Options{Profile: defaultProfile(t), Store: m, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	if n := p.State().Unreadable; n != 1 {
		t.Errorf("%d unreadable events are counted, want 1", n)
	}
}

func TestAReplaySkipsUnreadableEvents(t *testing.T) {
	m, row := recorded(t, defaultProfile(t), 4)
	m.events[row.Number]["zero"] = store.Event{Run: row.Number, ID: "zero", Position: store.Position{Sequence: 1, Time: 1}, Body: json.RawMessage(`[`)}
	again, err := Replay(t.Context(), m, defaultProfile(t), row, 100)
	if err != nil || again.Events != 8 {
		t.Errorf("%+v, error %v", again, err)
	}
}
