package client

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop"
)

func TestAClosedBackgroundDropsLaterEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := local(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(gone) })
		b := c.NewSender().Background(Bounds{Events: 10, Bytes: 1 << 20, Every: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Close(ctx); err != nil && err != context.Canceled {
			t.Fatal(err)
		}
		b.Add(&unloop.Event{ID: "late"}, nil)
		if got := b.Stats(); got.Dropped != 1 {
			t.Errorf("stats %+v, want 1 dropped", got)
		}
	})
}

func TestClosingABackgroundThatHasSentAllIsNoError(t *testing.T) {
	b := local(t, func(http.ResponseWriter, *http.Request) {}).NewSender().Background(Bounds{Events: 10, Bytes: 1 << 20, Every: time.Second})
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // a select would choose at random
		if err := b.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func TestABackgroundPausesWhileTheServerRefusesItsRequests(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a wrong token":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"no server of ours": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, told := 0, 0
				s := local(t, func(w http.ResponseWriter, r *http.Request) {
					requests++
					answer(w, r)
				}).NewSender()
				s.Waiting = func(error, time.Duration) { told++ }
				b := s.Background(Bounds{Events: 3 * maxEvents, Bytes: 1 << 20, Every: time.Second})
				const events = 2 * maxEvents
				for n := range events {
					b.Add(&unloop.Event{ID: fmt.Sprint(n), RunID: "r"}, nil)
				}
				time.Sleep(10 * time.Minute) // of the bubble
				synctest.Wait()
				if requests > 60 || told != requests {
					t.Errorf("%d requests in 10 minutes, %d of them told", requests, told)
				}
				before := requests
				if err := b.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if requests > before+1 {
					t.Errorf("%d requests while it was closed", requests-before)
				}
				if got := b.Stats(); got != (BackgroundStats{Dropped: events}) {
					t.Errorf("stats %+v, want %d dropped", got, events)
				}
			})
		})
	}
}

func TestABackgroundSendsAllWhenTheServerAcceptsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := 3
		c := local(t, func(w http.ResponseWriter, r *http.Request) {
			if left--; left >= 0 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `{"accepted":1,"duplicates":0,"rejected":0,"errors":[]}`)
		})
		b := c.NewSender().Background(Bounds{Events: 10, Bytes: 1 << 20, Every: time.Second})
		b.Add(&unloop.Event{ID: "1", RunID: "r"}, nil)
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if err := b.Close(t.Context()); err != nil || b.Stats() != (BackgroundStats{Sent: 1}) {
			t.Errorf("stats %+v, %v", b.Stats(), err)
		}
	})
}
