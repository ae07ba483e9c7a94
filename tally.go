package unloop

import "math"

// maxTally is how many different things a tally surely remembers; it forgets the longest unseen of more than that.
const maxTally = 4096

// halfLife is after how many steps an occurrence counts half in Count.Weight.
const halfLife = 24

// Count is how often something occurred in a run.
type Count struct {
	N      int32   // times, the last included
	Last   int32   // number of the step at which it last occurred
	Weight float32 // the same, but each occurrence counts half for every 24 steps since
}

// tally counts fingerprints in bounded memory: two generations, of which the older is dropped when the younger is full.
type tally struct {
	Young map[Hash]Count `json:"young,omitempty"`
	Old   map[Hash]Count `json:"old,omitempty"`
}

// add counts h at the given step and returns its count with this occurrence.
func (t *tally) add(h Hash, step int) Count {
	c, ok := t.Young[h]
	if !ok {
		c = t.Old[h]
	}
	if c.N > 0 {
		c.Weight *= float32(math.Exp2(-float64(int32(step)-c.Last) / halfLife))
	}
	c.N++
	c.Last = int32(step)
	c.Weight++
	if !ok && len(t.Young) >= maxTally {
		t.Young, t.Old = t.Old, t.Young
		clear(t.Young)
	}
	if t.Young == nil {
		t.Young = make(map[Hash]Count)
	}
	t.Young[h] = c
	return c
}
