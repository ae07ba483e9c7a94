package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func update(run string, arrival int64, bytes int) *store.Update {
	return &store.Update{Run: store.Run{ID: run, Arrival: arrival}, Events: []store.Event{{Arrival: arrival, Body: make([]byte, bytes)}}}
}

// rest returns what a subscription hands out until it ends or would wait.
func rest(s *Subscription) (got []string, end error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		m, err := s.Next(ctx)
		if err != nil {
			return got, err
		}
		got = append(got, fmt.Sprint(m.Run.ID, m.Run.Arrival))
	}
}

func TestUpdatesGoToSubscribersOfTheirRunAndOfAll(t *testing.T) {
	h := New(Options{})
	a, all, late := h.Subscribe("a"), h.Subscribe(""), (*Subscription)(nil)
	h.Publish(update("a", 1, 0))
	h.Publish(update("b", 2, 0))
	late = h.Subscribe("a")
	h.Publish(update("a", 3, 0))
	for s, want := range map[*Subscription]string{a: "a1 a3", all: "a1 b2 a3", late: "a3"} {
		got, end := rest(s)
		if strings.Join(got, " ") != want || !errors.Is(end, context.Canceled) {
			t.Errorf("%v, %v, want %s", got, end, want)
		}
	}
	a.Close()
	h.Publish(update("a", 4, 0))
	if got, end := rest(a); len(got) > 0 || errors.Is(end, context.Canceled) {
		t.Errorf("behind its end: %v, %v", got, end)
	}
	if diff := cmp.Diff(Stats{Subscribers: 2, Sent: 8}, h.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestASlowSubscriberIsDisconnected(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options Options
		sizes   []int
		want    string
	}{
		{"too many updates", Options{Updates: 2}, []int{0, 0, 0, 0}, ""},
		{"too many bytes", Options{Bytes: 10_000}, []int{3000, 3000, 3000, 0}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := New(tc.options)
			slow, other := h.Subscribe("a"), h.Subscribe("b")
			for i, size := range tc.sizes {
				h.Publish(update("a", int64(i+1), size))
			}
			if got, end := rest(slow); strings.Join(got, " ") != tc.want || !errors.Is(end, ErrSlow) {
				t.Errorf("%v, %v, want %s", got, end, tc.want)
			}
			h.Publish(update("b", 9, 0))
			if got, end := rest(other); len(got) != 1 || errors.Is(end, ErrSlow) {
				t.Errorf("the other: %v, %v", got, end)
			}
			if s := h.Stats(); s.Dropped != 1 || s.Subscribers != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAnUpdateOverTheLimitIsDeliveredAlone(t *testing.T) {
	h := New(Options{Bytes: 10_000, Total: 10_000})
	s := h.Subscribe("a")
	for arrival := range int64(3) {
		h.Publish(update("a", arrival, 99_999))
		if m, err := s.Next(t.Context()); err != nil || m.Run.Arrival != arrival {
			t.Fatalf("%v, %v", m, err)
		}
	}
	h.Publish(update("a", 3, 99_999))
	h.Publish(update("a", 4, 0))
	if got, end := rest(s); len(got) > 0 || !errors.Is(end, ErrSlow) {
		t.Errorf("with another update: %v, %v", got, end)
	}
}

func TestTheQueuesOfAllSubscribersAreBoundedTogether(t *testing.T) {
	h := New(Options{Total: 100_000})
	subscribers := make(map[string]*Subscription)
	for i := range 50 {
		run := fmt.Sprint(i)
		subscribers[run] = h.Subscribe(run)
	}
	for arrival := range int64(10) {
		for run := range subscribers {
			h.Publish(update(run, arrival, 1000))
			if waiting := h.waiting.Load(); waiting > 100_000 {
				t.Fatalf("%d bytes wait", waiting)
			}
		}
	}
	slow, fast := h.Subscribe("slow"), h.Subscribe("fast")
	for arrival := range int64(100) {
		h.Publish(update("slow", arrival, 1000))
		h.Publish(update("fast", arrival, 1000))
		if _, err := fast.Next(t.Context()); err != nil {
			t.Fatalf("a subscriber that keeps up is disconnected: %v", err)
		}
	}
	if got, end := rest(slow); len(got) > 0 || !errors.Is(end, ErrSlow) {
		t.Errorf("the slowest subscriber: %v, %v", got, end)
	}
	for _, s := range subscribers {
		s.Close()
	}
	if waiting := h.waiting.Load(); waiting != 0 {
		t.Errorf("%d bytes wait after all subscriptions were closed", waiting)
	}
}

func TestAnUpdateForSeveralSubscribersCountsOnce(t *testing.T) {
	h := New(Options{Total: 100_000})
	for range 50 {
		h.Subscribe("a")
	}
	for arrival := range int64(20) {
		h.Publish(update("a", arrival, 1000))
	}
	if s := h.Stats(); s.Dropped != 0 || s.Subscribers != 50 {
		t.Errorf("%+v", s)
	}
}

func TestReceivingFreesTheBuffer(t *testing.T) {
	h := New(Options{Updates: 2, Bytes: 10_000})
	s := h.Subscribe("a")
	for i := range int64(100) {
		h.Publish(update("a", i, 4000))
		if i%2 == 0 {
			if m, err := s.Next(context.Background()); err != nil || m.Run.Arrival != i {
				t.Fatalf("%v, %v", m, err)
			}
		} else if m, ok := s.Try(); !ok || m.Run.Arrival != i {
			t.Fatalf("%v, %v", m, ok)
		}
	}
	if m, ok := s.Try(); ok {
		t.Errorf("Try returns %v, want nothing", m)
	}
}

func TestTheHubRemembersTheLastDeletions(t *testing.T) {
	h := New(Options{Arrival: 3})
	h.Publish(&store.Update{Run: store.Run{ID: "a"}, Deleted: true})
	h.Publish(update("b", 4, 1))
	h.Publish(&store.Update{Run: store.Run{ID: "b"}, Deleted: true})
	for since, want := range map[int64][]string{0: {"a", "b"}, 3: {"a", "b"}, 4: {"b"}, 5: nil} {
		if diff := cmp.Diff(want, h.Deleted(since)); diff != "" {
			t.Errorf("since %d: %s", since, diff)
		}
	}
	for k := range 2 * maxDeleted {
		h.Publish(&store.Update{Run: store.Run{ID: fmt.Sprint(k)}, Deleted: true})
	}
	if known := h.Deleted(0); len(known) > maxDeleted || len(known) < maxDeleted/2 || known[len(known)-1] != fmt.Sprint(2*maxDeleted-1) {
		t.Errorf("%d are remembered", len(known))
	}
}

func TestAClosedHubStillDeliversQueuedUpdates(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe("")
	h.Publish(update("a", 1, 0))
	h.Close()
	h.Close()
	h.Publish(update("a", 2, 0))
	if got, end := rest(s); strings.Join(got, " ") != "a1" || !errors.Is(end, ErrClosed) {
		t.Errorf("%v, %v", got, end)
	}
	s.Close()
	if got, end := rest(h.Subscribe("a")); len(got) > 0 || !errors.Is(end, ErrClosed) {
		t.Errorf("afterwards: %v, %v", got, end)
	}
	if s := h.Stats(); s.Subscribers != 0 || s.Sent != 1 {
		t.Errorf("%+v", s)
	}
}

func TestNextWaitsForAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		s := h.Subscribe("a")
		got := make(chan int64)
		go func() {
			m, err := s.Next(context.Background())
			if err != nil {
				t.Error(err)
			}
			got <- m.Run.Arrival
		}()
		synctest.Wait()
		h.Publish(update("a", 7, 0))
		if arrival := <-got; arrival != 7 {
			t.Errorf("%d", arrival)
		}
	})
}

func TestATextIsEncodedOnceAndOnDemand(t *testing.T) {
	h := New(Options{})
	h.Publish(update("a", 1, 0)) // nobody watches
	var watchers []*Subscription
	for range 8 {
		watchers = append(watchers, h.Subscribe("a"), h.Subscribe(""))
	}
	h.Publish(update("a", 2, 0))
	var mu sync.Mutex
	made := map[string]int{}
	var done sync.WaitGroup
	for i, s := range watchers {
		done.Go(func() {
			m, err := s.Next(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			text, kind := &m.ForRun, "run"
			if i%2 == 1 {
				text, kind = &m.ForAll, "all"
			}
			got := text.Get(func() []byte {
				mu.Lock()
				defer mu.Unlock()
				made[kind]++
				return []byte(kind)
			})
			if string(got) != kind {
				t.Errorf("%s, want %s", got, kind)
			}
		})
	}
	done.Wait()
	if diff := cmp.Diff(map[string]int{"run": 1, "all": 1}, made); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, watchers := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("%d watchers", watchers), func(b *testing.B) {
			h := New(Options{})
			var all []*Subscription
			for range watchers {
				all = append(all, h.Subscribe("a"))
			}
			u := update("a", 1, 500)
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(u)
				for _, s := range all {
					s.Try()
				}
			}
		})
	}
}
