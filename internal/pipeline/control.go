package pipeline

import (
	"slices"

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
