package guardio

import "github.com/unloop-ai/unloop/guard"

// remembered is the maximum number of calls in a generation.
const remembered = 4096

// calls are the open calls with the decisions about them, so that an after finds its before. When the young generation is full,
// it becomes the old one, and the calls in the old one are forgotten. This limits the memory for calls that never end.
type calls struct{ young, old map[call]guard.Decision }

type call struct{ run, id string }

func (c *calls) add(key call, d guard.Decision) {
	if c.young == nil || len(c.young) == remembered {
		c.old, c.young = c.young, make(map[call]guard.Decision)
	}
	c.young[key] = d
}

// take removes a call and returns the decision about it.
func (c *calls) take(key call) (guard.Decision, bool) {
	for _, generation := range []map[call]guard.Decision{c.young, c.old} {
		if d, ok := generation[key]; ok {
			delete(generation, key)
			return d, true
		}
	}
	return guard.Decision{}, false
}
