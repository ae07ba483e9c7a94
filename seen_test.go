package unloop

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// A seen agrees with a map as long as it surely remembers, and its snapshot goes on where it was.
func TestSeenRemembersAndIsRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s seen
		model := make(map[uint32]bool)
		for _, h := range rapid.SliceOfN(rapid.Uint32Range(0, 5000), 0, 3000).Draw(t, "hashes") {
			h = max(h, 1)
			if got, want := s.add(h), !model[h]; got != want {
				t.Fatalf("%d is new: %v, want %v", h, got, want)
			}
			model[h] = true
		}
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var restored seen
		if err := restored.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		again, err := restored.MarshalText()
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("restored, it writes another snapshot (%v)", err)
		}
		for h := range model {
			if restored.add(h) {
				t.Fatalf("restored, it has forgotten %d", h)
			}
		}
	})
}

func TestSeenEvictsTheOldestAndIsBounded(t *testing.T) {
	var s seen
	for h := uint32(1); h <= 5*maxSeen; h++ {
		s.add(h)
	}
	if s.young.n > maxSeen || s.older.n > maxSeen {
		t.Errorf("it keeps %d and %d", s.young.n, s.older.n)
	}
	if n := s.size(); n > 256<<10 {
		t.Errorf("it takes %d bytes", n)
	}
	if s.add(5*maxSeen - maxSeen/2) {
		t.Error("it has forgotten what it surely remembers")
	}
	if !s.add(1) {
		t.Error("it remembers the first for ever")
	}
}

// A set agrees with two maps, of which the older is dropped when the younger is full.
func TestSeenEvictsLikeTwoMaps(t *testing.T) {
	for _, span := range []uint32{100, maxSeen, 2 * maxSeen, 5 * maxSeen} {
		var s seen
		young, before := map[uint32]bool{}, map[uint32]bool{}
		random := uint32(1)
		for range 6 * maxSeen {
			random = random*1664525 + 1013904223
			h := max(1, (random>>8)%span*2654435761&maxFingerprint)
			if !young[h] && len(young) >= maxSeen {
				young, before = map[uint32]bool{}, young
			}
			want := !young[h] && !before[h]
			young[h] = true
			if got := s.add(h); got != want {
				t.Fatalf("span %d: %d is new: %v, want %v", span, h, got, want)
			}
		}
		if n := len(s.entries()); n != len(young)+countNotIn(young, before) {
			t.Fatalf("span %d: it writes %d entries, some of them twice or none", span, n)
		}
	}
}

// countNotIn returns how many members of a set another one does not have.
func countNotIn(other, set map[uint32]bool) (n int) {
	for h := range set {
		if !other[h] {
			n++
		}
	}
	return n
}

func TestSeenRejectsInvalidData(t *testing.T) {
	for name, text := range map[string]string{
		"no base64":         "?",
		"half an entry":     "AQABAA==",
		"more young ones":   "BQABAAAA",
		"an empty entry":    "AQAAAAAA",
		"one and one again": "AgABAAAAAQAAAA==",
	} {
		if err := new(seen).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOutlinesAreAlikeAsTheirMinimaAre(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a, b := noMinima, noMinima
		for range random.IntN(60) {
			h := random.Uint32()
			a.put(h)
			b.put(h)
			a.put(random.Uint32())
			b.put(random.Uint32())
		}
		either, both := 0.0, 0.0
		for k := range a {
			if a[k] != noMinima[k] || b[k] != noMinima[k] {
				either++
				if a[k] == b[k] {
					both++
				}
			}
		}
		want := 1.0
		if either > 0 {
			want = both / either
		}
		first, second := a.outline(), b.outline()
		if got := first.alike(&second); got != want {
			t.Fatalf("the outlines are alike to %v, want %v", got, want)
		}
	}
}
