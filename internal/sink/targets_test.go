package sink

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// recorder is a notifier that records the notices, and the claims of its sink.
type recorder struct {
	mu     sync.Mutex
	got    []string // warning, level and, in fake time, the hour and minute
	claims map[string]bool
	fails  int // the number of attempts that fail next
}

func (r *recorder) Send(_ context.Context, n Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails > 0 {
		r.fails--
		return &Refusal{Reason: "no", Final: true}
	}
	r.got = append(r.got, n.Warning.ID+" "+n.Level)
	return nil
}

func (r *recorder) Claim(_ context.Context, endpoint string, run int64, warning, level string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := endpoint + " " + strconv.FormatInt(run, 10) + " " + warning + " " + level
	fresh := !r.claims[key]
	r.claims[key] = true
	return fresh, nil
}

func (r *recorder) Unclaim(_ context.Context, endpoint, warning, level string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.claims, endpoint+" 7 "+warning+" "+level)
	delete(r.claims, endpoint+" 8 "+warning+" "+level)
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
		r := &recorder{claims: make(map[string]bool)}
		target.Notifier, target.Key = r, "a"
		s := New([]Target{target}, r, slog.New(slog.DiscardHandler))
		test(t, s, r)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// of moves an update to another run.
func of(run int64, u *store.Update) *store.Update {
	u.Run.Number = run
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
					s.Publish(u)
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
		s.Publish(raised("v", 3))
		if got := r.sent(); len(got) != 0 {
			t.Fatalf("sent %v", got)
		}
		s.Publish(raised("w", 3))
		if diff := cmp.Diff([]string{"w raised"}, r.sent()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestNoticesWaitForTheEndOfQuietHours(t *testing.T) {
	quiet := &QuietHours{From: 22 * time.Hour, Until: 7 * time.Hour, Zone: time.UTC}
	inFakeTime(t, Target{OncePerRun: true, Quiet: quiet}, func(t *testing.T, s *Sink, r *recorder) {
		s.Publish(raised("night", 3)) // at midnight
		time.Sleep(7*time.Hour - time.Minute)
		if got := r.sent(); len(got) != 0 {
			t.Fatalf("sent in quiet hours: %v", got)
		}
		s.Publish(decided(grown("night", 4), policy.Halt, "x"))
		time.Sleep(2 * time.Minute)
		if diff := cmp.Diff([]string{"night halt"}, r.sent()); diff != "" {
			t.Errorf("sent in the morning (-want +got):\n%s", diff)
		}
		s.Publish(of(8, raised("day", 3)))
		if diff := cmp.Diff([]string{"day raised"}, r.sent()); diff != "" {
			t.Errorf("sent by day (-want +got):\n%s", diff)
		}
	})
}

func TestASinkEndsInQuietHours(t *testing.T) {
	inFakeTime(t, Target{Quiet: &QuietHours{From: 0, Until: 7 * time.Hour, Zone: time.UTC}}, func(t *testing.T, s *Sink, r *recorder) {
		s.Publish(raised("night", 3))
		begin := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 0 || len(r.sent()) != 0 {
			t.Errorf("it took %s", took)
		}
		if got := s.Stats()[0].Dropped; got != 1 {
			t.Errorf("%d dropped", got)
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
		s.Publish(raised("waits", 3))
		synctest.Wait()
		s.Set(Target{Notifier: r, Key: "a", Host: "other"}) // without quiet hours
		if diff := cmp.Diff([]string{"waits raised"}, r.sent()); diff != "" {
			t.Errorf("what waited (-want +got):\n%s", diff)
		}
		s.Set(Target{Notifier: r, Key: "b"})
		s.Publish(raised("w", 3))
		if diff := cmp.Diff([]string{"w raised", "w raised"}, r.sent()); diff != "" {
			t.Errorf("two targets (-want +got):\n%s", diff)
		}
		s.Remove("a")
		s.Remove("nobody")
		s.Publish(raised("x", 3))
		if diff := cmp.Diff([]string{"x raised"}, r.sent()); diff != "" {
			t.Errorf("one target is left (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]Stats{{Key: "b", Sent: 2}}, s.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
	})
}
