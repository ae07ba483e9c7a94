package client

import (
	"context"
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
