package unloop

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// maxSeen is how many different things a seen surely remembers; it forgets the longest unseen of more than that.
const maxSeen = 1 << 14

// seen is a set of fingerprints in bounded memory: two generations, of which the older is dropped when the younger is full.
// It takes 256 KiB at most.
type seen struct{ young, old set }

// add notes h and reports whether it is new.
func (s *seen) add(h uint32) bool {
	h = max(h, 1)
	if 2*s.young.n >= len(s.young.places) && s.young.n < maxSeen {
		s.young.grow()
	}
	at := s.young.place(h)
	if s.young.places[at] == h {
		return false
	}
	if s.young.n >= maxSeen {
		s.young, s.old = s.old, s.young
		clear(s.young.places)
		s.young.n = 0
		s.young.put(h)
		return !s.old.has(h)
	}
	s.young.places[at] = h
	s.young.n++
	return !s.old.has(h)
}

// set is a hash table with open addressing, at most half full. 0 is an empty place.
type set struct {
	places []uint32
	n      int
}

func (s *set) has(h uint32) bool {
	return s.n > 0 && s.places[s.place(h)] == h
}

// place returns where h stands, or would stand. There must be places.
func (s *set) place(h uint32) uint32 {
	mask := uint32(len(s.places) - 1)
	at := h & mask
	for s.places[at] != 0 && s.places[at] != h {
		at = (at + 1) & mask
	}
	return at
}

// put adds h, which must not be there.
func (s *set) put(h uint32) {
	if 2*s.n >= len(s.places) {
		s.grow()
	}
	s.places[s.place(h)] = h
	s.n++
}

func (s *set) grow() {
	before := s.places
	s.places = make([]uint32, max(64, 2*len(before)))
	for _, x := range before {
		if x != 0 {
			s.places[s.place(x)] = x
		}
	}
}

// sorted returns what the set holds, so that equal sets write equal snapshots.
func (s *set) sorted() []uint32 {
	all := make([]uint32, 0, s.n)
	for _, x := range s.places {
		if x != 0 {
			all = append(all, x)
		}
	}
	slices.Sort(all)
	return all
}

// MarshalText writes the set for a snapshot: how many are young, then all, in base64.
func (s *seen) MarshalText() ([]byte, error) {
	raw := binary.LittleEndian.AppendUint16(make([]byte, 0, 2+4*(s.young.n+s.old.n)), uint16(s.young.n))
	for _, all := range [...][]uint32{s.young.sorted(), s.old.sorted()} {
		for _, x := range all {
			raw = binary.LittleEndian.AppendUint32(raw, x)
		}
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// AppendBinary appends the set for a binary snapshot: the size of its halves, then their members, in the order of their places.
func (s *seen) AppendBinary(to []byte) ([]byte, error) {
	to = slices.Grow(to, 4*(s.young.n+s.old.n)+8)
	for _, half := range [...]*set{&s.young, &s.old} {
		to = binary.LittleEndian.AppendUint32(to, uint32(half.n))
		for _, x := range half.places {
			if x != 0 {
				to = binary.LittleEndian.AppendUint32(to, x)
			}
		}
	}
	return to, nil
}

// UnmarshalBinary reads what AppendBinary wrote, and refuses what no set could have written.
func (s *seen) UnmarshalBinary(raw []byte) error {
	*s = seen{}
	for _, half := range [...]*set{&s.young, &s.old} {
		if len(raw) < 4 {
			return errSeen
		}
		n := int(binary.LittleEndian.Uint32(raw))
		raw = raw[4:]
		if n > maxSeen || 4*n > len(raw) {
			return errSeen
		}
		if n > 0 {
			half.places = make([]uint32, max(64, 1<<bits.Len(uint(2*n-1))))
		}
		for k := range n {
			x := binary.LittleEndian.Uint32(raw[4*k:])
			if x == 0 || half.has(x) {
				return errSeen
			}
			half.put(x)
		}
		raw = raw[4*n:]
	}
	if len(raw) != 0 {
		return errSeen
	}
	return nil
}

var errSeen = errors.New("a set of what was seen is not what it says")

// UnmarshalText reads what MarshalText wrote, and refuses what no set could have written.
func (s *seen) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw) < 2 || (len(raw)-2)%4 != 0 {
		return errSeen
	}
	young, all := int(binary.LittleEndian.Uint16(raw)), (len(raw)-2)/4
	if young > min(all, maxSeen) || all-young > maxSeen {
		return errSeen
	}
	*s = seen{}
	for k := range all {
		into := &s.young
		if k >= young {
			into = &s.old
		}
		x := binary.LittleEndian.Uint32(raw[2+4*k:])
		if x == 0 || into.has(x) {
			return errSeen
		}
		into.put(x)
	}
	return nil
}

// outline stands for a set of fingerprints: one-permutation minhash as in fingerprint.Sketch, with 32 minima of 16 bits, four in
// a number. 0 stands for no minimum.
type outline [8]uint64

// minima are those of an outline in the making, each less 1, which makes none the greatest.
type minima [32]uint16

var noMinima = func() (m minima) {
	for k := range m {
		m[k] = 0xFFFF
	}
	return m
}()

func (m *minima) put(h uint32) {
	at := &m[h>>27]
	*at = min(*at, uint16(h)&^1)
}

func (m *minima) outline() (o outline) {
	for k, x := range m {
		o[k/4] |= uint64(x+1) << (16 * (k % 4))
	}
	return o
}

// alike estimates how much of both is in both, from 0 to 1. Two empty ones are alike.
func (o *outline) alike(other *outline) float64 {
	either, differ := uint64(0), uint64(0)
	for k, x := range o {
		either |= lanes(x|other[k]) >> k
		differ |= lanes(x^other[k]) >> k
	}
	if either == 0 {
		return 1
	}
	n := bits.OnesCount64(either)
	return float64(n-bits.OnesCount64(differ)) / float64(n)
}

// lanes returns the high bit of each of the four 16-bit numbers in x that is not 0.
func lanes(x uint64) uint64 {
	const low = 0x7FFF7FFF7FFF7FFF
	return (x&low + low | x) &^ low
}
