package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// cutItem cuts words after the item that they begin with: a line, a sentence or a JSON member. There is at least one word.
func cutItem(words []fingerprint.Word) (item, rest []fingerprint.Word) {
	length := 1
	for length < len(words) && !words[length].First {
		length++
	}
	return words[:length], words[length:]
}

// chain returns the fingerprint of a row of words whose last is word, from the fingerprint of those before it.
func chain(before, word uint32) uint32 {
	h := (before ^ word) * 0x9E3779B1
	return h ^ h>>15
}

// chainAll returns chain for all words of an item, one after another, from a first fingerprint.
func chainAll(h uint32, item []fingerprint.Word) uint32 {
	for _, word := range item {
		h = chain(h, word.Hash)
	}
	return h
}

// itemHash returns the fingerprint of an item.
func itemHash(item []fingerprint.Word) uint32 { return chainAll(uint32(len(item)), item) }

// Of a long item, about half of the sequences are looked up: those whose fingerprint lacks a bit.
const (
	sampledFrom = 12      // the least number of words of a long item
	sampled     = 1 << 16 // the bit
)

// sequences are sequences of four consecutive words of an item.
type sequences [32]struct {
	fingerprint uint32
	end         uint32 // the index of the last word
}

// read reads those that end with the word at index k or after it and are looked up, as many as there is room for. It returns their number
// and the index at which to continue. It has no branch for a sample, because no processor can predict one.
func (s *sequences) read(item []fingerprint.Word, k int) (n, next int) {
	skipped := uint32(0) // the bit of those that are not looked up
	if len(item) >= sampledFrom {
		skipped = sampled
	}
	first, second := fingerprint.Run2(item[k-3], item[k-2]), fingerprint.Run2(item[k-2], item[k-1])
	for ; k < len(item) && n < len(s); k++ {
		last := fingerprint.Run2(item[k-1], item[k])
		run := fingerprint.Run4(first, last)
		first, second = second, last
		s[n].fingerprint, s[n].end = run, uint32(k)
		n += int(1 - run&skipped/sampled)
	}
	return n, k
}
