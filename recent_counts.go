package unloop

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// maxRecentCounts is how many of the latest distinct fingerprints a recentCounts is guaranteed to remember.
const maxRecentCounts = 4096

// halfLife is the half-life of Count.Weight, in steps.
const halfLife = 24

// Count is the number of occurrences of something in a run.
type Count struct {
	N int // occurrences, the latest included; at most 16,777,215

	// Weight is the sum of the occurrences, each with a half-life of 24 steps; at most 63. A step that changed something
	// ages earlier occurrences by 24 steps, and by 12 if the occurrence failed.
	Weight float64
}

// packedCount is the stored form of a Count. A run stores thousands, so it takes 8 bytes: 24 bits for N, 24 bits for the
// number of the step of the latest occurrence, and 16 bits for the weight in units of 1/1024.
type packedCount uint64

const (
	low24      = 1<<24 - 1 // the 24 bits of a number
	weightUnit = 1 << 10   // the weight of one occurrence
	maxWeight  = 63        // in occurrences, so that it fits into 16 bits
)

// increment returns the count after one more occurrence at the given step.
func (c packedCount) increment(step int) (Count, packedCount) {
	n, last, weight := int(c>>40), int(c>>16)&low24, float64(c&0xFFFF)/weightUnit
	if n > 0 {
		age := (step - last) & low24
		if age > low24/2 { // calls that run at the same time may end in another order than they start
			age, step = 0, last
		}
		weight *= math.Exp2(-float64(age) / halfLife)
	}
	now := Count{N: min(n+1, low24), Weight: min(weight+1, maxWeight)}
	return now, packedCount(now.N)<<40 | packedCount(step&low24)<<16 | packedCount(now.Weight*weightUnit)
}

// recentCounts counts fingerprints in bounded memory. It has two generations and drops the old one when the young one is
// full.
type recentCounts struct {
	young, old generation
}

// add counts an occurrence of h at the given step and returns the count with it.
func (t *recentCounts) add(h Hash, step int) Count {
	kept := t.young.find(h)
	if kept == nil {
		if len(t.young.entries) >= maxRecentCounts {
			t.young, t.old = t.old, t.young
			t.young.clear()
		}
		kept = t.young.put(h)
		if before := t.old.find(h); before != nil {
			*kept = *before
		}
	}
	var now Count
	now, *kept = kept.increment(step)
	return now
}

// generation is a hash table from fingerprints to counts. Fingerprints are evenly distributed, so they need no further
// hash. Entries are in the order of insertion, so equal runs write equal snapshots.
type generation struct {
	entries []entry
	places  []uint16 // 1 plus the index of the entry; open addressing, at most half full
}

type entry struct {
	of    Hash
	count packedCount
}

// entrySize is the size of an entry in a snapshot, in bytes.
const entrySize = 16

// place returns the index of h in places, or the free index for it. places must not be empty.
func (g *generation) place(h Hash) int {
	at := int(h) & (len(g.places) - 1)
	for g.places[at] != 0 && g.entries[g.places[at]-1].of != h {
		at = (at + 1) & (len(g.places) - 1)
	}
	return at
}

// find returns the count of h, or nil if there is none. It is valid until the next put.
func (g *generation) find(h Hash) *packedCount {
	if len(g.entries) == 0 {
		return nil
	}
	if k := g.places[g.place(h)]; k != 0 {
		return &g.entries[k-1].count
	}
	return nil
}

// put adds h, which must not be present.
func (g *generation) put(h Hash) *packedCount {
	if 2*len(g.entries) >= len(g.places) {
		places := make([]uint16, max(16, 2*len(g.places)))
		for k, e := range g.entries { // they differ, so each takes the next free place
			at := int(e.of) & (len(places) - 1)
			for places[at] != 0 {
				at = (at + 1) & (len(places) - 1)
			}
			places[at] = uint16(k + 1)
		}
		g.places = places
	}
	at := g.place(h)
	g.entries = append(g.entries, entry{of: h})
	g.places[at] = uint16(len(g.entries))
	return &g.entries[len(g.entries)-1].count
}

// reserve makes room for n entries in an empty generation.
func (g *generation) reserve(n int) {
	if n > 0 {
		g.entries = make([]entry, 0, n)
		g.places = make([]uint16, max(16, 1<<bits.Len(uint(2*n-1))))
	}
}

func (g *generation) clear() {
	g.entries = g.entries[:0]
	clear(g.places)
}

// MarshalText writes the counts for a snapshot in base64: the number of young entries, then all entries.
func (t *recentCounts) MarshalText() ([]byte, error) {
	raw, _ := t.AppendBinary(nil) // it has no errors
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// AppendBinary appends the counts for a binary snapshot: the number of young entries, then all entries.
func (t *recentCounts) AppendBinary(raw []byte) ([]byte, error) {
	raw = slices.Grow(raw, 2+entrySize*(len(t.young.entries)+len(t.old.entries)))
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(t.young.entries)))
	for _, entries := range [...][]entry{t.young.entries, t.old.entries} {
		for _, e := range entries {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(e.of))
			raw = binary.LittleEndian.AppendUint64(raw, uint64(e.count))
		}
	}
	return raw, nil
}

var errRecentCounts = errors.New("invalid counts of fingerprints: want the number of young entries and distinct entries")

// UnmarshalText reads the output of MarshalText. It returns an error for data that MarshalText cannot have written.
func (t *recentCounts) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return errRecentCounts
	}
	return t.UnmarshalBinary(raw)
}

// UnmarshalBinary reads the output of AppendBinary. It returns an error for data that AppendBinary cannot have written.
func (t *recentCounts) UnmarshalBinary(raw []byte) error {
	if len(raw) < 2 || (len(raw)-2)%entrySize != 0 {
		return errRecentCounts
	}
	young, entries := int(binary.LittleEndian.Uint16(raw)), raw[2:]
	all := len(entries) / entrySize
	if young > min(all, maxRecentCounts) || all-young > maxRecentCounts {
		return errRecentCounts
	}
	*t = recentCounts{}
	t.young.reserve(young)
	t.old.reserve(all - young)
	for k := range all {
		g := &t.young
		if k >= young {
			g = &t.old
		}
		of := Hash(binary.LittleEndian.Uint64(entries[k*entrySize:]))
		count := packedCount(binary.LittleEndian.Uint64(entries[k*entrySize+8:]))
		if g.find(of) != nil || count>>40 == 0 || count&0xFFFF > maxWeight*weightUnit {
			return errRecentCounts
		}
		*g.put(of) = count
	}
	return nil
}
