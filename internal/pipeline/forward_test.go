package pipeline

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// partitioned is the partitions of a cluster, each with a pipeline and a stream of its own.
type partitioned struct {
	parts   []*handFed
	streams [][]*Submission
	at      []int // how many of its messages a partition has recorded
}

func newPartitioned(t testing.TB, n int) *partitioned {
	c := &partitioned{streams: make([][]*Submission, n), at: make([]int, n)}
	for k := range n {
		h := newHandFed(t)
		h.partition = &Partition{
			ID: int64(k), Of: int64(n), Now: time.Now,
			Has: func(run string) bool { return c.of(run) == k },
			Forward: func(_ context.Context, _ *Submission, changes []Change) error {
				for _, change := range changes {
					to := c.of(change.Run)
					c.streams[to] = append(c.streams[to], &Submission{Changes: []Change{change}})
				}
				return nil
			},
		}
		h.m.first = int64(k)
		h.restart()
		c.parts = append(c.parts, h)
	}
	return c
}

func (c *partitioned) of(id string) int {
	return int(fingerprint.String(id) % fingerprint.Hash(len(c.streams)))
}

// step records the next messages of a partition. A crash comes behind what is forwarded and before the commit, so they come again.
func (c *partitioned) step(k, messages int, crash bool) {
	h := c.parts[k]
	group := c.streams[k][c.at[k] : c.at[k]+messages]
	if crash {
		var made []*queued
		for _, d := range group {
			w, err := h.prepare(copyOf(d))
			if err != nil {
				h.t.Fatal(err)
			}
			made = append(made, w)
		}
		if err := h.newCommit(made).make(context.Background()); err != nil {
			h.t.Fatal(err)
		}
		h.restart()
		return
	}
	var again []*Submission
	for _, d := range group {
		again = append(again, copyOf(d))
	}
	h.together(again...)
	c.at[k] += messages
}

// copyOf returns a submission that shares no event with another one, as a message that is decoded.
func copyOf(d *Submission) *Submission {
	own := &Submission{Spans: slices.Clone(d.Spans)}
	for _, change := range d.Changes {
		if change.Event != nil {
			e := *change.Event
			change.Event = &e
		}
		own.Changes = append(own.Changes, change)
	}
	return own
}

func (c *partitioned) verdicts() map[string]verdict {
	all := make(map[string]verdict)
	for k, h := range c.parts {
		for id, v := range h.verdicts() {
			if c.of(id) != k {
				h.t.Errorf("run %s is in partition %d", id, k)
			}
			all[id] = v
		}
	}
	return all
}

func TestWhatSpansGiveDoesNotDependOnPartitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := anyTraces(rt)
		whole := newHandFed(t)
		whole.spans(spans...)
		want := whole.verdicts()

		c := newPartitioned(t, rapid.IntRange(2, 5).Draw(rt, "partitions"))
		for _, s := range rapid.Permutation(spans).Draw(rt, "order") {
			k := c.of(s.TraceID)
			c.streams[k] = append(c.streams[k], &Submission{Spans: []trace.Span{s}})
		}
		for {
			var waiting []int
			for k := range c.parts {
				if c.at[k] < len(c.streams[k]) {
					waiting = append(waiting, k)
				}
			}
			if len(waiting) == 0 {
				break
			}
			k := rapid.SampledFrom(waiting).Draw(rt, "partition")
			messages := rapid.IntRange(1, len(c.streams[k])-c.at[k]).Draw(rt, "messages")
			c.step(k, messages, rapid.IntRange(0, 4).Draw(rt, "crash") == 0)
			if rapid.IntRange(0, 4).Draw(rt, "idle") == 0 {
				c.parts[k].idle()
			}
		}
		// A run of several partitions has the project of the service that was told first.
		if diff := cmp.Diff(want, c.verdicts(), regardless(spans), cmpopts.IgnoreFields(store.Run{}, "Project")); diff != "" {
			rt.Fatalf("(-whole +partitioned):\n%s", diff)
		}
	})
}

func TestNumbersOfPartitionsNeverMeet(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	seen := make(map[int64]bool)
	for id := range int64(3) {
		p := &Partition{ID: id, Of: 3, Now: func() time.Time { return now }}
		last := id
		for k := range 100 {
			if k == 50 {
				now = now.Add(time.Second)
			}
			next := p.Arrival(last)
			if next <= last || next%3 != id || seen[next] {
				t.Fatalf("partition %d: %d follows %d", id, next, last)
			}
			last, seen[next] = next, true
		}
	}
	if first := store.ArrivalAt(now, 3); first < 1<<40 || first > 1<<52 {
		t.Errorf("an arrival is %d, which JSON has to keep", first)
	}
}
