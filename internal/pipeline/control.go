package pipeline

import (
	"encoding/json"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// withControl returns a new list of what people did with a run, because other goroutines may read the old one.
func withControl(acts []store.Control, c store.Control) []store.Control {
	if n := len(acts); n > 0 {
		c.Number = acts[n-1].Number
	}
	c.Number++
	acts = append(slices.Clone(acts), c)
	return acts[max(0, len(acts)-store.MaxControls):]
}

// release notes that a guard has ended an order because of a new message of a person. An order that was replaced or revoked in the meantime
// stays as it is.
func (t *runChange) release(e *unloop.Event) {
	if e.Type != unloop.Control || e.Name != unloop.ControlResume || e.ParentEventID == "" {
		return
	}
	for _, c := range store.Standing(t.row.Controls) {
		if c.EventID != e.ParentEventID || c.Act == store.Allow {
			continue
		}
		var metadata struct {
			Control struct{ By, Why string }
		}
		_ = json.Unmarshal(e.Metadata, &metadata) // an event of another form does not say who and why
		t.row.Controls = withControl(t.row.Controls, store.Control{
			EventID: e.ID, Act: unloop.ControlResume, By: metadata.Control.By, Why: metadata.Control.Why, At: e.Time, Ends: c.Number,
		})
		t.rowChanged = true
		return
	}
}
