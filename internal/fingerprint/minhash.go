package fingerprint

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// openingWords is the number of words in the opening of a text.
const openingWords = 12

// MinHash summarizes a text for comparisons with other texts. Words are compared in lower case. All numbers are equal, and punctuation
// is ignored.
type MinHash struct {
	Words   int    // number of words
	Triples Sketch // of sequences of three words
	Pairs   Sketch // of sequences of two words
	Opening Sketch // of sequences of two words within the first twelve
}

// MinHashOf returns the MinHash of text. It takes a few ns a byte and allocates nothing.
func MinHashOf(text string) MinHash {
	var g MinHash
	var before [2]Hash // the last two words, the latest first
	word := Hash(0)
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case class[b]&alpha != 0:
			word = (word ^ Hash(b|0x20)) * 0x9E3779B97F4A7C15
			i++
			continue
		case b >= utf8.RuneSelf:
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
		case class[b]&digit != 0:
			word |= 1
			i++
			continue
		default:
			i++
		}
		if word != 0 {
			g.push(&before, word)
			word = 0
		}
	}
	if word != 0 {
		g.push(&before, word)
	}
	if g.Words == 2 { // too short for a sequence of three
		g.Triples = g.Pairs
	}
	return g
}

// push adds a word. before are the two words before it, the latest first.
func (g *MinHash) push(before *[2]Hash, word Hash) {
	g.Words++
	if g.Words >= 2 {
		pair := Join(before[0], word)
		g.Pairs.put(pair)
		if g.Words <= openingWords {
			g.Opening.put(pair)
		}
		if g.Words >= 3 {
			g.Triples.put(Join(before[1], pair))
		}
	}
	before[1], before[0] = before[0], word
}

// sketchSize is the number of minima in a Sketch. The error of Resemblance is about 1/√sketchSize for long texts.
const sketchSize = 64

// Sketch summarizes a set of fingerprints: one-permutation minhash (Li, Owen, Zhang, "One permutation hashing", 2012).
type Sketch [sketchSize]uint32

func (s *Sketch) put(h Hash) {
	bucket, value := h>>58, uint32(h)|1
	if old := s[bucket]; old == 0 || value < old {
		s[bucket] = value
	}
}

// Resemblance estimates the Jaccard similarity of two sets, from 0 to 1. That of two empty sets is 0.
func Resemblance(a, b *Sketch) float64 {
	const each, below = 1<<32 | 1, 1<<63 - 1<<32 | (1<<31 - 1) // the lowest bit of two minima, and all bits but the highest
	eithers, differs := uint64(0), uint64(0)                   // numbers of minima, in both halves
	for k := 0; k < sketchSize; k += 2 {                       // two at a time, without branches, which could not be predicted
		p, q := (*[2]uint32)(a[k:]), (*[2]uint32)(b[k:])
		x, y := uint64(p[0])|uint64(p[1])<<32, uint64(q[0])|uint64(q[1])<<32
		eithers += (x | y) & each // which all minima but 0 have
		differ := x ^ y
		differs += ((differ&below + below) | differ) >> 31 & each
	}
	either, differ := uint32(eithers+eithers>>32), uint32(differs+differs>>32)
	if either == 0 {
		return 0
	}
	return float64(either-differ) / float64(either)
}

// MarshalText writes the minima for a snapshot, in base64.
func (s *Sketch) MarshalText() ([]byte, error) {
	raw, _ := s.AppendBinary(nil) // it has no errors
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads what MarshalText wrote.
func (s *Sketch) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("invalid sketch: %w", err)
	}
	return s.UnmarshalBinary(raw)
}

// AppendBinary appends the minima for a binary snapshot.
func (s *Sketch) AppendBinary(to []byte) ([]byte, error) {
	for _, minimum := range s {
		to = binary.LittleEndian.AppendUint32(to, minimum)
	}
	return to, nil
}

// UnmarshalBinary reads what AppendBinary wrote.
func (s *Sketch) UnmarshalBinary(raw []byte) error {
	if len(raw) != 4*sketchSize {
		return fmt.Errorf("invalid sketch: %d bytes, want %d", len(raw), 4*sketchSize)
	}
	for k := range s {
		if s[k] = binary.LittleEndian.Uint32(raw[4*k:]); s[k] != 0 && s[k]&1 == 0 {
			return fmt.Errorf("invalid sketch: minimum %d is %d, want 0 or an odd number", k, s[k])
		}
	}
	return nil
}
