package proxy

import (
	"context"
	"testing"

	"github.com/unloop-ai/unloop"
)

// discard is a sender that takes everything.
type discard struct{}

func (discard) Add(context.Context, *unloop.Event) error { return nil }
func (discard) Flush(context.Context) error              { return nil }

func TestAClosedRecorderDropsWhatComesLate(t *testing.T) {
	r := NewRecorder(discard{})
	r.Record(&unloop.Event{})
	r.Close(t.Context())
	r.Record(&unloop.Event{})
	if r.Dropped() != 1 {
		t.Errorf("%d events were dropped, want 1", r.Dropped())
	}
}
