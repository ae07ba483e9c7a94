package sink

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/sink/sinktest"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// recorder is a notifier that records the notices, and the store of its sink.
type recorder struct {
	mu    sync.Mutex
	got   []string // warning and level
	ids   []string
	fails int // the number of attempts that fail next
	sinktest.Records
}

func (r *recorder) Send(_ context.Context, n Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails > 0 {
		r.fails--
		return &Refusal{Reason: "no", Final: true}
	}
	r.got, r.ids = append(r.got, n.Warning.ID+" "+n.Level), append(r.ids, n.ID)
	return nil
}

// sent returns the notices since the last call.
func (r *recorder) sent() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// inFakeTime runs a test with a sink of one target, with the key "a". Fake time begins on 2000-01-01 at midnight in UTC.
func inFakeTime(t *testing.T, target Target, test func(t *testing.T, s *Sink, r *recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := new(recorder)
		target.Notifier, target.Key = r, "a"
		s := New([]Target{target}, r, "", slog.New(slog.DiscardHandler))
		test(t, s, r)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// of moves an update to another run.
func of(run int64, u *store.Update) *store.Update {
	u.Run.Number, u.Run.ID = run, fmt.Sprint("run-", run)
	for k := range u.Warnings {
		u.Warnings[k].Run = run
	}
	return u
}

func TestARunIsToldOfOnceAtEachLevel(t *testing.T) {
	for _, c := range []struct {
		what    string
		least   string
		updates []*store.Update
		want    []string
	}{
		{"two warnings of a run", "", []*store.Update{raised("v", 3), raised("w", 3)}, []string{"v raised"}},
		{"two runs", "", []*store.Update{raised("v", 3), of(8, raised("w", 3))}, []string{"v raised", "w raised"}},
		{"growth is no escalation", "", []*store.Update{raised("v", 3), grown("v", 9), grown("v", 40)}, []string{"v raised"}},
		{
			"each escalation",
			"",
			[]*store.Update{
				raised("v", 3), decided(raised("w", 3), policy.Block, "x"), decided(grown("v", 4), policy.Block, "x"),
				decided(grown("v", 5), policy.Halt, "x"), decided(grown("w", 5), policy.Halt, "x"),
			},
			[]string{"v raised", "w block", "v halt"},
		},
		{"nothing after the halt", "", []*store.Update{decided(raised("v", 3), policy.Halt, "x"), raised("w", 3), decided(grown("w", 4), policy.Block, "x")}, []string{"v halt"}},
		{"from a block on", Block, []*store.Update{raised("v", 3), decided(grown("v", 4), policy.Block, "x"), decided(grown("v", 5), policy.Halt, "x")}, []string{"v block", "v halt"}},
		{"only halts", Halt, []*store.Update{raised("v", 3), decided(grown("v", 4), policy.Block, "x"), decided(grown("v", 5), policy.Halt, "x")}, []string{"v halt"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			inFakeTime(t, Target{OncePerRun: true, Least: c.least}, func(t *testing.T, s *Sink, r *recorder) {
				var got []string
				for _, u := range c.updates {
					r.Publish(s, u)
					got = append(got, r.sent()...)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestARunOfWhichNobodyCouldBeToldIsToldOfLater(t *testing.T) {
	inFakeTime(t, Target{OncePerRun: true}, func(t *testing.T, s *Sink, r *recorder) {
		r.fails = 1
		r.Publish(s, raised("v", 3))
		if got := r.sent(); len(got) != 0 {
			t.Fatalf("sent %v", got)
		}
		r.Publish(s, raised("w", 3))
		if diff := cmp.Diff([]string{"w raised"}, r.sent()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestNoticesWaitForTheEndOfQuietHours(t *testing.T) {
	quiet := &QuietHours{From: 22 * time.Hour, Until: 7 * time.Hour, Zone: time.UTC}
	inFakeTime(t, Target{OncePerRun: true, Quiet: quiet}, func(t *testing.T, s *Sink, r *recorder) {
		r.Publish(s, raised("night", 3)) // at midnight
		time.Sleep(7*time.Hour - time.Minute)
		if got := r.sent(); len(got) != 0 {
			t.Fatalf("sent in quiet hours: %v", got)
		}
		r.Publish(s, decided(grown("night", 4), policy.Halt, "x"))
		time.Sleep(2 * time.Minute)
		if diff := cmp.Diff([]string{"night halt"}, r.sent()); diff != "" {
			t.Errorf("sent in the morning (-want +got):\n%s", diff)
		}
		r.Publish(s, of(8, raised("day", 3)))
		if diff := cmp.Diff([]string{"day raised"}, r.sent()); diff != "" {
			t.Errorf("sent by day (-want +got):\n%s", diff)
		}
		if len(r.Due()) != 0 || s.Stats()[0].Waiting != 0 {
			t.Errorf("still kept: %v", r.Due())
		}
	})
}

func TestNoticesThatWaitSurviveAStopOfTheServer(t *testing.T) {
	night := &QuietHours{From: 0, Until: 7 * time.Hour, Zone: time.UTC}
	for _, c := range []struct {
		what          string
		before, after []*store.Update // after is published by the server that was started again
		stopped       time.Duration   // the time at which it is started
		want          []string
	}{
		{"the server is started again in the same night", []*store.Update{raised("v", 3), of(8, raised("w", 3))}, nil, time.Hour, []string{"v raised", "w raised"}},
		{"the server is started again by day", []*store.Update{raised("v", 3)}, nil, 9 * time.Hour, []string{"v raised"}},
		{
			"the warning grows after the start, and its decision of before counts",
			[]*store.Update{decided(raised("v", 3), policy.Block, "x")},
			[]*store.Update{grown("v", 4)},
			time.Hour,
			[]string{"v block"},
		},
		{
			"the run is halted after the start",
			[]*store.Update{decided(raised("v", 3), policy.Block, "x")},
			[]*store.Update{decided(grown("v", 4), policy.Halt, "x")},
			time.Hour,
			[]string{"v halt"},
		},
		{"two changes in one night are one notice", []*store.Update{raised("v", 3), grown("v", 9)}, nil, time.Hour, []string{"v raised"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			target := Target{Quiet: night}
			inFakeTime(t, target, func(t *testing.T, s *Sink, r *recorder) {
				for _, u := range c.before {
					r.Publish(s, u)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
				stats := s.Stats()[0]
				if got := r.sent(); len(got) != 0 || stats.Dropped != 0 || stats.Waiting == 0 {
					t.Fatalf("at the stop: sent %v, %+v", got, stats)
				}
				time.Sleep(c.stopped)
				target.Notifier, target.Key = r, "a"
				again := New([]Target{target}, r, "", slog.New(slog.DiscardHandler))
				for _, u := range c.after {
					r.Publish(again, u)
				}
				time.Sleep(7 * time.Hour)
				if diff := cmp.Diff(c.want, r.sent()); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
				if err := again.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestANoticeOfADeletedRunOrWarningIsNotSentInTheMorning(t *testing.T) {
	night := &QuietHours{From: 0, Until: 7 * time.Hour, Zone: time.UTC}
	inFakeTime(t, Target{Quiet: night}, func(t *testing.T, s *Sink, r *recorder) {
		r.Publish(s, raised("v", 3))
		r.Publish(s, of(8, raised("w", 3)))
		synctest.Wait()
		r.Publish(s, &store.Update{Run: store.Run{Number: 7}, Deleted: true})
		r.DeleteWarning(8, "w")
		time.Sleep(8 * time.Hour)
		if got := r.sent(); len(got) != 0 || len(r.Due()) != 0 {
			t.Errorf("sent %v, kept %v", got, r.Due())
		}
	})
}

func TestWhatWaitsForARemovedTargetIsDeleted(t *testing.T) {
	night := &QuietHours{From: 0, Until: 7 * time.Hour, Zone: time.UTC}
	inFakeTime(t, Target{Quiet: night}, func(t *testing.T, s *Sink, r *recorder) {
		r.Publish(s, raised("v", 3))
		synctest.Wait()
		if len(r.Due()) != 1 {
			t.Fatalf("kept %v", r.Due())
		}
		s.Remove("a")
		synctest.Wait()
		if len(r.Due()) != 0 {
			t.Errorf("still kept: %v", r.Due())
		}
	})
}

func TestASinkEndsInQuietHours(t *testing.T) {
	inFakeTime(t, Target{Quiet: &QuietHours{From: 0, Until: 7 * time.Hour, Zone: time.UTC}}, func(t *testing.T, s *Sink, r *recorder) {
		r.Publish(s, raised("night", 3))
		begin := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 0 || len(r.sent()) != 0 || len(r.Due()) != 1 {
			t.Errorf("it took %s, and kept %v", took, r.Due())
		}
	})
}

func TestQuietHoursFollowTheClockOfTheirZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	night := &QuietHours{From: 22 * time.Hour, Until: 7 * time.Hour, Zone: berlin}
	for at, want := range map[string]time.Duration{
		"2026-01-10T20:59:00Z": 0,
		"2026-01-10T21:00:00Z": 9 * time.Hour,
		"2026-01-10T23:30:00Z": 6*time.Hour + 30*time.Minute,
		"2026-01-11T05:59:30Z": 30 * time.Second,
		"2026-01-11T06:00:00Z": 0,
		"2026-07-10T20:00:00Z": 9 * time.Hour, // two hours before UTC in summer
		"2026-03-28T21:00:00Z": 8 * time.Hour, // the clock is put forward in this night
		"2026-10-24T20:00:00Z": 10 * time.Hour,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := night.left(now); got != want {
			t.Errorf("at %s: %s, want %s", at, got, want)
		}
	}
	noon := &QuietHours{From: 12 * time.Hour, Until: 13 * time.Hour, Zone: time.UTC}
	if got := noon.left(time.Date(2026, 1, 1, 12, 45, 0, 0, time.UTC)); got != 15*time.Minute {
		t.Errorf("at a quarter to one: %s", got)
	}
	if got := (*QuietHours)(nil).left(time.Now()); got != 0 {
		t.Errorf("without quiet hours: %s", got)
	}
}

func TestTargetsChangeWhileTheSinkWorks(t *testing.T) {
	closed := &QuietHours{From: 0, Until: 23 * time.Hour, Zone: time.UTC}
	inFakeTime(t, Target{Quiet: closed}, func(t *testing.T, s *Sink, r *recorder) {
		r.Publish(s, raised("waits", 3))
		synctest.Wait()
		s.Set(Target{Notifier: r, Key: "a", Host: "other"}) // without quiet hours
		if diff := cmp.Diff([]string{"waits raised"}, r.sent()); diff != "" {
			t.Errorf("what waited (-want +got):\n%s", diff)
		}
		s.Set(Target{Notifier: r, Key: "b"})
		r.Publish(s, raised("w", 3))
		if diff := cmp.Diff([]string{"w raised", "w raised"}, r.sent()); diff != "" {
			t.Errorf("two targets (-want +got):\n%s", diff)
		}
		s.Remove("a")
		s.Remove("nobody")
		r.Publish(s, raised("x", 3))
		if diff := cmp.Diff([]string{"x raised"}, r.sent()); diff != "" {
			t.Errorf("one target is left (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]Stats{{Key: "b", Sent: 2}}, s.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
	})
}
