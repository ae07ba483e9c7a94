package fingerprint

import (
	"unicode"
	"unicode/utf8"
)

// sketchSize is how many minima a Sketch keeps. The error of Resemblance is about 1/√sketchSize.
const sketchSize = 64

// Sketch stands for the set of a text's shingles, runs of three words: one-permutation minhash (Li, Owen, Zhang,
// "One permutation hashing", 2012). Words are lower case; numbers count as one and the same word, and so do marks.
type Sketch struct {
	Minimum [sketchSize]uint32
	Words   int
}

// SketchOf returns the sketch of text. It takes about 3 ns a byte and allocates nothing.
func SketchOf(text string) Sketch {
	var s Sketch
	var window [3]Hash
	word := Hash(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.IsLetter(r) {
			word = (word ^ Hash(unicode.ToLower(r))) * 0x9E3779B97F4A7C15
			continue
		}
		if unicode.IsDigit(r) {
			word |= 1
			continue
		}
		s.push(&window, &word)
	}
	s.push(&window, &word)
	if s.Words > 0 && s.Words < len(window) {
		s.put(Join(window[2], window[1]))
	}
	return s
}

func (s *Sketch) push(window *[3]Hash, word *Hash) {
	if *word == 0 {
		return
	}
	window[0], window[1], window[2] = window[1], window[2], *word
	*word = 0
	s.Words++
	if s.Words >= len(window) {
		s.put(Join(Join(window[0], window[1]), window[2]))
	}
}

func (s *Sketch) put(h Hash) {
	bucket, value := h>>58, uint32(h)|1
	if old := s.Minimum[bucket]; old == 0 || value < old {
		s.Minimum[bucket] = value
	}
}

// Resemblance estimates how much of the shingles of a and b both have, from 0 to 1.
func Resemblance(a, b *Sketch) float64 {
	either, both := 0, 0
	for k, x := range a.Minimum {
		if y := b.Minimum[k]; x != 0 || y != 0 {
			either++
			if x == y {
				both++
			}
		}
	}
	if either == 0 {
		return 0
	}
	return float64(both) / float64(either)
}

// maxTail is how much of the end of a text TailPeriod looks at, in bytes.
const maxTail = 8 << 10

// TailPeriod finds the repetition at the end of a text: the period in bytes that covers the most of it, and how often it
// stands there. Times is 1 where nothing repeats. It looks at the last 8 KiB and takes time proportional to that: the failure function of Knuth, Morris and Pratt over the text
// read backwards.
func TailPeriod(text string) (period, times int) {
	if len(text) > maxTail {
		text = text[len(text)-maxTail:]
	}
	n := len(text)
	if n == 0 {
		return 0, 1
	}
	var fail [maxTail + 1]uint16
	at := func(i int) byte { return text[n-1-i] }
	period, times = n, 1
	covered := 0
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && at(i) != at(k) {
			k = int(fail[k])
		}
		if at(i) == at(k) {
			k++
		}
		fail[i+1] = uint16(k)
		p := i + 1 - k
		if t := (i + 1) / p; t > 1 && t*p > covered {
			period, times, covered = p, t, t*p
		}
	}
	return period, times
}
