package unloop

import "math"

// maxTally is how many different things a tally surely remembers; it forgets the longest unseen of more than that.
const maxTally = 4096

// halfLife is after how many steps an occurrence counts half in Count.Weight.
const halfLife = 24

// Count is how often something occurred in a run.
type Count struct {
	N      int     // times, the last included; at most 16,777,215
	Weight float64 // the same, but each occurrence counts half for every 24 steps since; at most 63. A step that changed something counts as 24
}

// counted is a Count as it is kept, in 8 bytes since a run keeps thousands: 24 bits of N, 24 bits of the number of the
// step at which it last occurred, 16 bits of the weight in 1/1024.
type counted uint64

const (
	low24      = 1<<24 - 1
	weightUnit = 1 << 10
	maxWeight  = 63
)

// again returns the count after one more occurrence at the given step.
func (c counted) again(step int) (Count, counted) {
	n, last, weight := int(c>>40), int(c>>16)&low24, float64(c&0xFFFF)/weightUnit
	if n > 0 {
		weight *= math.Exp2(-float64((step-last)&low24) / halfLife)
	}
	now := Count{N: min(n+1, low24), Weight: min(weight+1, maxWeight)}
	return now, counted(now.N)<<40 | counted(step&low24)<<16 | counted(now.Weight*weightUnit)
}

// tally counts fingerprints in bounded memory: two generations, of which the older is dropped when the younger is full.
type tally struct {
	Young map[Hash]counted
	Old   map[Hash]counted
}

// add counts h at the given step and returns its count with this occurrence.
func (t *tally) add(h Hash, step int) Count {
	before, young := t.Young[h]
	if !young {
		before = t.Old[h]
	}
	now, kept := before.again(step)
	if !young && len(t.Young) >= maxTally {
		t.Young, t.Old = t.Old, t.Young
		clear(t.Young)
	}
	if t.Young == nil {
		t.Young = make(map[Hash]counted)
	}
	t.Young[h] = kept
	return now
}
