package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop/internal/store"
)

// poisoned is a store that cannot be asked for one run.
type poisoned struct{ *memory }

func (p poisoned) Run(ctx context.Context, id string) (*store.Run, error) {
	if id == "poison" {
		panic("a run that nobody can read")
	}
	return p.memory.Run(ctx, id)
}

func TestAPanicWhileRecordingFailsItsDeliveryAlone(t *testing.T) {
	m := newMemory()
	p, err := New(t.Context(), Options{Profile: defaultProfile(t), Store: poisoned{m}, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	var group []*waiting
	for _, run := range []string{"a", "poison", "b"} {
		w, err := p.prepare(&Delivery{Events: calls(run, 3)})
		if err != nil || !p.admit(w) {
			t.Fatal(err)
		}
		group = append(group, w)
		p.queue <- w
	}
	<-p.queue // as Run does
	if next := p.group(t.Context(), group[0]); next != nil || p.Waiting() != 0 {
		t.Errorf("%d wait behind the group", p.Waiting())
	}
	for k, want := range []error{nil, ErrPanic, nil} {
		<-group[k].done
		if !errors.Is(group[k].err, want) || len(group[k].receipt.Events) != 6 {
			t.Errorf("delivery %d: %v with %d results", k, group[k].err, len(group[k].receipt.Events))
		}
	}
	for _, run := range []string{"a", "b"} {
		if got := len(verdictOf(t, m, run).Events); got != 6 {
			t.Errorf("run %s has %d events, want 6", run, got)
		}
	}
}
