package httpd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/names"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// watched is a store that calls a function before it reads a run.
type watched struct {
	Store
	read func()
}

func (w watched) Run(ctx context.Context, id string) (*store.Run, error) {
	w.read()
	return w.Store.Run(ctx, id)
}

// A guard that begins to listen gets no nudge from before. So nobody may take it for a guard that listens before its orders were read.
func TestAGuardListensOnceItsOrdersWereRead(t *testing.T) {
	h := newTestServer(t, nil)
	reads, early := 0, false
	h.Store = watched{h.Store, func() {
		listening, _ := h.controls.state("r")
		reads++
		early = early || listening && reads == 1
	}}
	if _, err := h.Listen(t.Context(), &api.Listen{Runs: []api.Listener{{RunID: "r", After: -1}}, Wait: 1}); err != nil {
		t.Fatal(err)
	}
	if reads == 0 {
		t.Fatal("no run was read")
	}
	if early {
		t.Error("the guard counts as listening before its orders were read")
	}
	if listening, _ := h.controls.state("r"); listening {
		t.Error("the guard counts as listening after its request was answered")
	}
}

func TestTheLastOrderOfTheLatestListenersIsKept(t *testing.T) {
	c := newControls()
	for n := range 2*maxHeard + 1 {
		c.listen([]api.Listener{{RunID: fmt.Sprint(n), After: 7}})()
	}
	if _, heard := c.state(fmt.Sprint(2 * maxHeard)); heard != 7 {
		t.Errorf("the latest listener has order %d, want 7", heard)
	}
	if n := c.heard.Len(); n > 2*maxHeard {
		t.Errorf("%d runs are kept, want at most %d", n, 2*maxHeard)
	}
}

// A run whose id is masked or shortened has another id for its guard than for its readers.
func TestAGuardListensForTheIDThatItsRunWasSentWith(t *testing.T) {
	long := strings.Repeat("l", names.Max+1)
	for name, id := range map[string]string{"a masked id": "a secret", "a long id": long} {
		t.Run(name, func(t *testing.T) {
			h := newTestServer(t, func(o *Options) {
				o.RunID = func(id string) string { return strings.Replace(id, "a secret", "masked", 1) }
			})
			recorded := h.recordedID(id)
			order := &store.Control{EventID: "order-1", Act: unloop.ControlHalt, By: "Ann", At: time.Now()}
			_, err := h.Pipeline.Submit(t.Context(), &pipeline.Submission{
				Runs: []pipeline.Info{{ID: recorded, Control: order}}, Events: []*unloop.Event{eventOf(recorded, order)},
			})
			if err != nil {
				t.Fatal(err)
			}
			asked := []api.Listener{{RunID: id}}
			got, err := h.Listen(t.Context(), &api.Listen{Runs: asked, Wait: 1})
			if err != nil || len(got.Orders) != 1 || got.Orders[0].RunID != id {
				t.Errorf("the guard heard %+v, %v, want the order with the id that it knows", got, err)
			}
			h.controls.listen(h.recordedAs(asked))
			if listening, _ := h.controls.state(recorded); !listening {
				t.Error("for readers of the run, no guard listens")
			}
		})
	}
}
