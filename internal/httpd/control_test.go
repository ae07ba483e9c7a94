package httpd

import (
	"context"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
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
