package pipeline

import (
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

func TestARunBeginsAndEndsWithTheTimesOfItsEvents(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 3, 4, 12, 0, second, 0, time.UTC) }
	today := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what         string
		times        []time.Time // zero for an event without one
		started, end time.Time
		seconds      float64
	}{
		{"all have times", []time.Time{at(1), at(2), at(5)}, at(1), at(5), 4},
		{"the end has none", []time.Time{at(1), at(4), {}}, at(1), at(4), 3},
		{"the beginning has none", []time.Time{{}, {}, at(3), at(5)}, at(3), at(5), 2},
		{"one in the middle has none", []time.Time{at(1), {}, at(2)}, at(1), at(2), 1},
		{"none has one", []time.Time{{}, {}}, today, today, 0},
		{"the sender's clock was set back", []time.Time{at(5), at(1)}, at(5), at(5), 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			p, err := profile.New(profile.Default)
			if err != nil {
				t.Fatal(err)
			}
			f := newFold(p, "r")
			for i, when := range c.times {
				e := &unloop.Event{RunID: "r", Type: unloop.MessageSent, Time: when, Text: "hello"}
				if i == len(c.times)-1 {
					e.Type = unloop.RunCompleted
				}
				f.add(e, placement{at: store.Position{Sequence: int64(i)}, arrival: int64(i), received: today})
			}
			if !f.s.Started.Equal(c.started) || !f.s.Ended.Equal(c.end) || f.metrics().Duration != c.seconds {
				t.Errorf("from %s to %s, %v s, want from %s to %s, %v s", f.s.Started, f.s.Ended, f.metrics().Duration, c.started, c.end, c.seconds)
			}
		})
	}
}

func TestARunEndsAfterItBeganAlthoughTheClockOfTheServerWasSetBack(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for k, set := range []time.Duration{0, -24 * time.Hour, 24 * time.Hour, -time.Hour} {
		events := call("r", k)
		if k == 3 {
			events = []*unloop.Event{{ID: "end", RunID: "r", Type: unloop.RunCompleted}}
		}
		for _, e := range events {
			e.Time = time.Time{}
		}
		if _, err := p.Submit(t.Context(), &Submission{Events: events, Received: now.Add(set)}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if row := verdictOf(t, m, "r").Run; row.Ended.Before(row.Started) || row.Metrics.Duration != 0 || row.Metrics.Events != 7 {
		t.Errorf("from %s to %s, %v s, %d events", row.Started, row.Ended, row.Metrics.Duration, row.Metrics.Events)
	}
}
