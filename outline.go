package unloop

import (
	"math/bits"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// outline summarizes a set of fingerprints: one-permutation minhash as in fingerprint.Sketch, with 32 minima of 16 bits. A minimum of 0 means
// that there is none. Number k has bit k of all minima in the lower bytes of its 16-bit parts, and bit k+8 in the upper ones, so that a few
// operations compare all minima.
type outline [8]uint64

// minima are the minima of an outline that is being computed, each less 1. No minimum is then the greatest value.
type minima [32]uint16

var noMinima = func() (m minima) {
	for k := range m {
		m[k] = 0xFFFF
	}
	return m
}()

// put adds a fingerprint.
func (m *minima) put(h uint32) {
	at := &m[h>>27]
	*at = min(*at, uint16(h)&^1)
}

// words adds words and pairs of consecutive words.
func (m *minima) words(words []fingerprint.Word) {
	for k, word := range words {
		m.put(word.Hash * 0x9E3779B1)
		if k > 0 {
			m.put(fingerprint.Run2(words[k-1], word))
		}
	}
}

// outlineOf returns the outline of words and of pairs of consecutive words.
func outlineOf(w *fingerprint.Words) outline {
	shares := noMinima
	shares.words(w.List)
	return shares.outline()
}

// outline returns the minima by bits. Three rounds of swaps transpose 8 by 8 bits of each byte of the words.
func (m *minima) outline() (o outline) {
	for k := range o {
		x := m[4*k : 4*k+4 : 4*k+4]
		o[k] = uint64(x[0]+1) | uint64(x[1]+1)<<16 | uint64(x[2]+1)<<32 | uint64(x[3]+1)<<48
	}
	for k := range 4 {
		o[k], o[k+4] = swapBits(o[k], o[k+4], 4, 0x0F0F0F0F0F0F0F0F)
	}
	for _, k := range [...]int{0, 1, 4, 5} {
		o[k], o[k+2] = swapBits(o[k], o[k+2], 2, 0x3333333333333333)
	}
	for k := 0; k < len(o); k += 2 {
		o[k], o[k+1] = swapBits(o[k], o[k+1], 1, 0x5555555555555555)
	}
	return o
}

// swapBits swaps the bits of low over the mask with those of high within it.
func swapBits(low, high uint64, by int, mask uint64) (uint64, uint64) {
	x := (low>>by ^ high) & mask
	return low ^ x<<by, high ^ x
}

// alike estimates the Jaccard similarity of two sets, from 0 to 1. That of two empty sets is 1.
func (o *outline) alike(other *outline) float64 {
	either := (o[0] | other[0]) & lowBytes // the lowest bit that all minima but 0 have
	if either == 0 {
		return 1
	}
	differ := (o[0] ^ other[0]) | (o[1] ^ other[1]) | (o[2] ^ other[2]) | (o[3] ^ other[3]) |
		(o[4] ^ other[4]) | (o[5] ^ other[5]) | (o[6] ^ other[6]) | (o[7] ^ other[7])
	differ = (differ | differ>>8) & lowBytes
	n := bits.OnesCount64(either)
	return float64(n-bits.OnesCount64(differ)) / float64(n)
}

// lowBytes are the bytes of the lower bits in an outline.
const lowBytes = 0x00FF00FF00FF00FF
