package unloop

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// maxSeen is the number of the latest distinct fingerprints that a seen is guaranteed to keep.
const maxSeen = 1 << 14

// seen is a set of fingerprints of 31 bits in bounded memory. It has two generations, and drops the older one when the younger one is
// full. It takes at most 256 KiB.
type seen struct{ young, older fingerprints }

// times adds h, and returns how often it was added before, at most 2. The salts once and twice separate the first addition from the
// second.
func (s *seen) times(h, once, twice uint32) int {
	switch {
	case s.add(h ^ once):
		return 0
	case s.add(h ^ twice):
		return 1
	}
	return 2
}

// add adds h, and reports whether it is new.
func (s *seen) add(h uint32) bool {
	h = max(h&maxFingerprint, 1)
	places := s.young.places
	mask := uint32(len(places) - 1)
	at := h & mask
	for int(at) < len(places) {
		switch places[at] {
		case h:
			return false
		case 0:
			return s.put(h, at)
		}
		at = (at + 1) & mask
	}
	return s.put(h, 0) // there are no places yet
}

// put adds h, which is not in the younger generation, at the empty place for it. It reports whether h is new.
func (s *seen) put(h, at uint32) bool {
	f := &s.young
	if 2*f.n >= len(f.places) || f.n >= maxSeen {
		if f.n < maxSeen {
			f.grow()
		} else {
			s.young, s.older = s.older, s.young
			f.clear()
		}
		at = f.place(h)
	}
	f.places[at] = h
	f.n++
	return !s.older.has(h)
}

// has reports whether h was added.
func (s *seen) has(h uint32) bool {
	h = max(h&maxFingerprint, 1)
	return s.young.has(h) || s.older.has(h)
}

// maxFingerprint is the greatest fingerprint. The least is 1.
const maxFingerprint = 1<<31 - 1

// fingerprints is a hash table with open addressing, at most half full. Fingerprints are evenly distributed, so they need no further
// hash.
type fingerprints struct {
	places []uint32 // 0 is an empty place
	n      int
}

// place returns the index of h, or of the empty place for it. There must be places.
func (f *fingerprints) place(h uint32) uint32 {
	places := f.places
	mask := uint32(len(places) - 1)
	at := h & mask
	for x := places[at]; x != 0 && x != h; x = places[at] {
		at = (at + 1) & mask
	}
	return at
}

func (f *fingerprints) has(h uint32) bool { return f.n > 0 && f.places[f.place(h)] != 0 }

// grow doubles the places.
func (f *fingerprints) grow() {
	before := f.places
	f.places = make([]uint32, max(64, 2*len(before)))
	n := 0
	for _, h := range before { // without a branch for an empty place, because no processor can predict one
		before[n] = h
		n += int(-h >> 31)
	}
	for _, h := range before[:n] {
		f.places[f.place(h)] = h
	}
}

// clear removes all fingerprints and keeps the places, or makes some if there are none.
func (f *fingerprints) clear() {
	clear(f.places)
	f.n = 0
	if len(f.places) == 0 {
		f.grow()
	}
}

// size returns the memory of the set in bytes.
func (s *seen) size() int { return 4 * (cap(s.young.places) + cap(s.older.places)) }

// entries returns the fingerprints of the younger generation, then those that only the older one has.
func (s *seen) entries() (all []uint32) {
	all = make([]uint32, 0, s.young.n+s.older.n)
	for _, h := range s.young.places {
		if h != 0 {
			all = append(all, h)
		}
	}
	for _, h := range s.older.places {
		if h != 0 && !s.young.has(h) {
			all = append(all, h)
		}
	}
	return all
}

// MarshalText writes the set for a snapshot in base64: the number of young fingerprints, then all. Equal sets write equal snapshots.
func (s *seen) MarshalText() ([]byte, error) {
	all := s.entries()
	slices.Sort(all[:s.young.n])
	slices.Sort(all[s.young.n:])
	return base64.StdEncoding.AppendEncode(nil, s.appendEntries(nil, all)), nil
}

// AppendBinary appends the set for a binary snapshot: the number of young fingerprints, then all, the young ones first, in the order of
// their places.
func (s *seen) AppendBinary(to []byte) ([]byte, error) { return s.appendEntries(to, s.entries()), nil }

func (s *seen) appendEntries(to []byte, all []uint32) []byte {
	to = binary.LittleEndian.AppendUint16(slices.Grow(to, 2+4*len(all)), uint16(s.young.n))
	for _, h := range all {
		to = binary.LittleEndian.AppendUint32(to, h)
	}
	return to
}

var errSeen = errors.New("invalid set of fingerprints: want the number of young entries and distinct entries of 31 bits")

// UnmarshalText reads the output of MarshalText. It returns an error for data that MarshalText cannot have written.
func (s *seen) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return errSeen
	}
	return s.UnmarshalBinary(raw)
}

// UnmarshalBinary reads the output of AppendBinary. It returns an error for data that AppendBinary cannot have written.
func (s *seen) UnmarshalBinary(raw []byte) error {
	if len(raw) < 2 || (len(raw)-2)%4 != 0 {
		return errSeen
	}
	young, all := int(binary.LittleEndian.Uint16(raw)), (len(raw)-2)/4
	if young > min(all, maxSeen) || all-young > maxSeen {
		return errSeen
	}
	*s = seen{young: withRoom(young), older: withRoom(all - young)}
	for k := range all {
		h, to := binary.LittleEndian.Uint32(raw[2+4*k:]), &s.young
		if k >= young {
			to = &s.older
		}
		at := to.place(h)
		if h == 0 || h > maxFingerprint || to.places[at] != 0 || k >= young && s.young.has(h) {
			return errSeen
		}
		to.places[at] = h
		to.n++
	}
	return nil
}

// withRoom returns an empty table for n fingerprints.
func withRoom(n int) (f fingerprints) {
	if n > 0 {
		f.places = make([]uint32, max(64, 1<<bits.Len(uint(2*n-1))))
	}
	return f
}
