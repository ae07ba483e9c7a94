package fingerprint

const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio: a factor that spreads bits

const small = 0x2020202020202020 // the bit that lower-case letters have, in eight bytes

// hashWord returns the fingerprint of the first n bytes of b in lower case. It reads eight bytes at a time.
func hashWord(b []byte, n int) uint32 {
	h := uint64(n)
	for n > 0 {
		var part uint64
		if len(b) >= 8 {
			part = load(b, 0)
			if n < 8 {
				part &= 1<<(8*n) - 1
			}
		} else {
			for k := range min(n, len(b)) {
				part |= uint64(b[k]) << (8 * k)
			}
		}
		if n >= 8 {
			part |= small
		} else {
			part |= small & (1<<(8*n) - 1)
		}
		h = (h ^ part) * golden
		h ^= h >> 32
		b, n = b[min(8, len(b)):], n-8
	}
	return uint32(h)
}

// fnv is a step of FNV-1a with 32 bits (Fowler, Noll and Vo): it returns the fingerprint of a row whose last part is x, from that of the parts
// before it.
func fnv(before, x uint32) uint32 { return (before ^ x) * 0x01000193 }

// Run4 returns the fingerprint of four consecutive words, from those of the first two and of the last two.
func Run4(first, last uint32) uint32 { return mix(first, last) }

// RunOf returns the fingerprint of four consecutive words from their fingerprints.
func RunOf(words [4]uint32) uint32 {
	return mix(mix(words[0], words[1]), mix(words[2], words[3]))
}

// Run2 returns the fingerprint of two consecutive words.
func Run2(a, b Word) uint32 { return mix(a.Hash, b.Hash) }

func mix(a, b uint32) uint32 {
	h := (a ^ b*0x9E3779B1) * 0x85EBCA6B
	return h ^ h>>15
}
