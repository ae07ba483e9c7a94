package unloop

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// maxSeen is how many of the latest distinct fingerprints a seen is guaranteed to remember.
const maxSeen = 1 << 14

// seen is a set of fingerprints of 31 bits in bounded memory. It has two generations, and drops the older when the younger is full.
// Both are in one hash table with open addressing, at most half full, so that one lookup finds either. It takes at most 256 KiB.
type seen struct {
	places     []uint32 // 0 is an empty place; the highest bit says of which generation an entry is
	n, young   int      // entries, and those of the younger generation
	generation uint32   // the younger: 0 or old
}

// old is the bit that tells the generations apart.
const old = 1 << 31

// add adds h, and reports whether it is new.
func (s *seen) add(h uint32) bool {
	h = max(h&^old, 1)
	if 2*s.n >= len(s.places) && s.n < 2*maxSeen {
		s.grow()
	}
	at := s.place(h)
	x := s.places[at]
	if x == h|s.generation {
		return false
	}
	if s.young >= maxSeen {
		s.forget()
		if at = s.place(h); x != 0 { // it may have been of the generation that is forgotten
			x = s.places[at]
		}
	}
	s.places[at] = h | s.generation
	s.young++
	if x == 0 {
		s.n++
	}
	return x == 0
}

// place returns the index of h, of either generation, or of the empty place for it. There must be places.
func (s *seen) place(h uint32) uint32 {
	mask := uint32(len(s.places) - 1)
	at := h & mask
	for x := s.places[at]; x != 0 && x&^old != h; x = s.places[at] {
		at = (at + 1) & mask
	}
	return at
}

// forget drops the older generation, and makes the younger the older.
func (s *seen) forget() {
	s.rebuild(len(s.places), func(x uint32) bool { return x&old == s.generation })
	s.n, s.young = s.young, 0
	s.generation ^= old
}

// grow doubles the places.
func (s *seen) grow() {
	s.rebuild(max(64, 2*len(s.places)), func(uint32) bool { return true })
}

// rebuild moves the entries that keep accepts to a new table. It is linear whatever the entries are; to take entries out one by one is
// not.
func (s *seen) rebuild(places int, keep func(uint32) bool) {
	before := s.places
	s.places = make([]uint32, places)
	for _, x := range before {
		if x != 0 && keep(x) {
			s.places[s.place(x&^old)] = x
		}
	}
}

// size returns the memory of the set in bytes.
func (s *seen) size() int { return 4 * cap(s.places) }

// sorted returns the entries of a generation, so that equal sets write equal snapshots.
func (s *seen) sorted(generation uint32) []uint32 {
	var all []uint32
	for _, x := range s.places {
		if x != 0 && x&old == generation {
			all = append(all, x&^old)
		}
	}
	slices.Sort(all)
	return all
}

// MarshalText writes the set for a snapshot: how many are young, then all, in base64.
func (s *seen) MarshalText() ([]byte, error) {
	raw := binary.LittleEndian.AppendUint16(make([]byte, 0, 2+4*s.n), uint16(s.young))
	for _, generation := range [...]uint32{s.generation, s.generation ^ old} {
		for _, x := range s.sorted(generation) {
			raw = binary.LittleEndian.AppendUint32(raw, x)
		}
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// AppendBinary appends the set for a binary snapshot: how many are young, then all, the young first, in the order of their places.
func (s *seen) AppendBinary(to []byte) ([]byte, error) {
	to = binary.LittleEndian.AppendUint16(slices.Grow(to, 2+4*s.n), uint16(s.young))
	for _, generation := range [...]uint32{s.generation, s.generation ^ old} {
		for _, x := range s.places {
			if x != 0 && x&old == generation {
				to = binary.LittleEndian.AppendUint32(to, x&^old)
			}
		}
	}
	return to, nil
}

var errSeen = errors.New("invalid set of fingerprints: want the number of young entries and distinct entries of 31 bits")

// UnmarshalText reads what MarshalText wrote, and refuses what no set could have written.
func (s *seen) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return errSeen
	}
	return s.UnmarshalBinary(raw)
}

// UnmarshalBinary reads what AppendBinary wrote, and refuses what no set could have written.
func (s *seen) UnmarshalBinary(raw []byte) error {
	if len(raw) < 2 || (len(raw)-2)%4 != 0 {
		return errSeen
	}
	young, all := int(binary.LittleEndian.Uint16(raw)), (len(raw)-2)/4
	if young > min(all, maxSeen) || all-young > maxSeen {
		return errSeen
	}
	*s = seen{young: young, n: all}
	if all > 0 {
		s.places = make([]uint32, max(64, 1<<bits.Len(uint(2*all-1))))
	}
	for k := range all {
		x := binary.LittleEndian.Uint32(raw[2+4*k:])
		if x == 0 || x >= old {
			return errSeen
		}
		at := s.place(x)
		if s.places[at] != 0 {
			return errSeen
		}
		if k >= young {
			x |= old
		}
		s.places[at] = x
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
