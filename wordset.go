package unloop

// echoedWords is the number of words of a call that its wordSet contains.
const echoedWords = 48

// wordSet is a Bloom filter of the words of a call, with two bits for each. With 48 words, 3 % of other words appear to be members.
type wordSet [8]uint64

func (s *wordSet) add(h uint32) {
	s[h>>6&7] |= 1 << (h & 63)
	s[h>>22&7] |= 1 << (h >> 16 & 63)
}

func (s *wordSet) has(h uint32) bool {
	return s[h>>6&7]&(1<<(h&63)) != 0 && s[h>>22&7]&(1<<(h>>16&63)) != 0
}
