package guardio

import "github.com/unloop-ai/unloop/guard"

// remembered is how many calls a generation of calls holds.
const remembered = 4096

// calls are those that have begun, with what was decided about them, so that an after finds its before. Of very many calls
// that never end the oldest are forgotten: there are two generations, and the older goes when the younger is full.
type calls struct{ young, old map[call]guard.Decision }

type call struct{ run, id string }

func (c *calls) add(key call, d guard.Decision) {
	if c.young == nil || len(c.young) == remembered {
		c.old, c.young = c.young, make(map[call]guard.Decision)
	}
	c.young[key] = d
}

// take returns what was decided about the call, and forgets it.
func (c *calls) take(key call) (guard.Decision, bool) {
	for _, generation := range []map[call]guard.Decision{c.young, c.old} {
		if d, ok := generation[key]; ok {
			delete(generation, key)
			return d, true
		}
	}
	return guard.Decision{}, false
}
