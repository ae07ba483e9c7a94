package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// recorded returns a store with the events of one run, and its row.
func recorded(t testing.TB, judge *profile.Profile, n int) (*memory, *store.Run) {
	t.Helper()
	m := newMemory()
	p, stop := start(t, Options{Store: m, Profile: judge})
	submit(t, p, calls("r", n)...)
	stop()
	row, err := m.Run(context.Background(), "r")
	if err != nil || row == nil {
		t.Fatal(row, err)
	}
	return m, row
}

// verdictAgain puts what was replayed where a recorded verdict has it.
func verdictAgain(v verdict, again *Replayed) verdict {
	v.Run.Profile, v.Run.Health, v.Run.WorstAction = again.Profile, again.Health, again.WorstAction
	v.Run.FirstWarningAt, v.Run.UsageAfterWarning, v.Run.Warnings = again.FirstWarningAt, again.UsageAfterWarning, len(again.Warnings)
	v.Warnings, v.Decisions = again.Warnings, again.Decisions
	return v
}

func TestAReplayUnderTheSameProfileGivesTheRecordedResult(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		p, stop := start(t, Options{Store: m})
		submit(t, p, randomRun(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), rapid.IntRange(1, 60).Draw(rt, "calls"))...)
		stop()
		want := verdictOf(t, m, "r")
		again, err := Replay(context.Background(), m, defaultProfile(t), &want.Run, 1000)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, verdictAgain(want, again), regardlessOfArrival); diff != "" {
			rt.Errorf("(-recorded +replayed):\n%s", diff)
		}
		if again.Events != want.Run.Metrics.Events {
			rt.Errorf("%d events, want %d", again.Events, want.Run.Metrics.Events)
		}
		if last := again.HealthHistory[len(again.HealthHistory)-1]; last.Score != again.Health.Score {
			rt.Errorf("the course ends with %v, and the health is %d", last, again.Health.Score)
		}
	})
}

func TestAReplayGivesTheResultOfAnotherProfile(t *testing.T) {
	limit, err := profile.Load(profile.Source{Name: "agentium", Sets: []string{"max_repeats=2"}})
	if err != nil {
		t.Fatal(err)
	}
	m, row := recorded(t, limit, 8)
	want := verdictOf(t, m, "r")
	other, otherRow := recorded(t, defaultProfile(t), 8)
	again, err := Replay(context.Background(), other, limit, otherRow, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, verdictAgain(want, again), regardlessOfArrival); diff != "" {
		t.Errorf("(-recorded +replayed):\n%s", diff)
	}
	if row.Profile != "agentium" || len(again.Decisions) != 6 {
		t.Errorf("%d decisions of profile %s", len(again.Decisions), row.Profile)
	}
	if diff := cmp.Diff(verdictOf(t, other, "r").Run, *otherRow); diff != "" {
		t.Errorf("what is recorded changed:\n%s", diff)
	}
}

func TestTheHistoryHasAPointForEachChangeOfHealth(t *testing.T) {
	m, row := recorded(t, defaultProfile(t), 8)
	again, err := Replay(context.Background(), m, defaultProfile(t), row, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.HealthHistory) < 2 || again.HealthHistory[0] != (store.HealthAt{Number: 0, Score: 100}) {
		t.Fatalf("course %v", again.HealthHistory)
	}
	for k, point := range again.HealthHistory[1:] {
		before := again.HealthHistory[k]
		if point.Number <= before.Number || point.Score == before.Score || point.Number >= again.Events {
			t.Errorf("%v follows %v", point, before)
		}
	}
}

func TestAReplayIsBounded(t *testing.T) {
	m, row := recorded(t, defaultProfile(t), 8)
	if _, err := Replay(context.Background(), m, defaultProfile(t), row, 15); !errors.Is(err, ErrTooLong) {
		t.Errorf("16 events where 15 may be: %v", err)
	}
	if _, err := Replay(context.Background(), m, defaultProfile(t), row, 16); err != nil {
		t.Errorf("16 events where 16 may be: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Replay(gone, m, defaultProfile(t), row, 16); !errors.Is(err, context.Canceled) {
		t.Errorf("the error after a cancelled context is %v", err)
	}
}

// panicking is a store that panics when events are read.
type panicking struct{ *memory }

func (panicking) Events(context.Context, int64, store.Position, func(*store.Event) error) error {
	panic("a damaged state")
}

func TestAPanicOfAReplayIsItsError(t *testing.T) {
	if _, err := Replay(t.Context(), panicking{newMemory()}, defaultProfile(t), &store.Run{}, 16); !errors.Is(err, ErrPanic) {
		t.Errorf("the error is %v, want %v", err, ErrPanic)
	}
}
