package fingerprint

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// chunk is how many masked bytes are gathered before they are hashed.
const chunk = 4 << 10

// Masker hashes results with their volatile parts masked, so that "took 12 ms" and "took 15 ms" are one result. It
// keeps its buffers from call to call. Not safe for concurrent use.
//
// Volatile are: UUIDs; timestamps (ISO 8601, RFC 1123 and 2822, the formats of date and ls, clock times, Unix times of
// 10 and 13 digits); durations with a unit; hex addresses; names of temporary files; process ids; ids of tool calls, where
// they are called tool_call_id. Any other number is meaning and stays, and so does a date without a time.
type Masker struct {
	hash xxh3.Hasher
	buf  []byte
	long bool // hash holds the part before buf
}

// Stable returns the fingerprint of a result with its volatile parts masked. Escapes of a JSON string separate words
// as the characters do that they stand for. It takes time proportional to len(b), about 1 ns a byte.
func (m *Masker) Stable(b []byte) Hash {
	m.buf, m.long = m.buf[:0], false
	from := 0 // where what is not yet added begins
	for i := 0; i < len(b); {
		c := class[b[i]]
		switch {
		case c&wordByte == 0:
			if b[i] == '\\' {
				i++ // an escaped character separates words
			}
			i++
			continue
		case c&start != 0 || c&hex != 0 && i+8 < len(b) && b[i+8] == '-': // or a UUID
			if n := volatile(b, i); n > 0 {
				m.add(b[from:i])
				m.add(mask)
				i += n
				from = i
				continue
			}
		}
		i = afterWord(b, i+1)
	}
	m.add(b[from:])
	return m.sum()
}

// afterWord returns where the word ends that goes on at b[i]. It steps over letters eight at a time.
func afterWord(b []byte, i int) int {
	const each = 0x0101010101010101 // a factor that puts a byte into all eight
	for i+8 <= len(b) {
		raw := load(b, i)
		low := raw | 0x20*each // small letters, and what is none stays none
		letters := ^(low + (0x7F-'z')*each) & (low + (0x80-'a')*each) & ^raw & (0x80 * each)
		if letters != 0x80*each {
			i += bits.TrailingZeros64(^letters&(0x80*each)) / 8
			break
		}
		i += 8
	}
	for i < len(b) && class[b[i]]&wordByte != 0 {
		i++
	}
	return i
}

var mask = []byte{'~'}

func (m *Masker) add(part []byte) {
	if len(m.buf)+len(part) > chunk {
		m.flush()
		if len(part) > chunk {
			m.write(part)
			return
		}
	}
	m.buf = append(m.buf, part...)
}

func (m *Masker) flush() {
	m.write(m.buf)
	m.buf = m.buf[:0]
}

func (m *Masker) write(part []byte) {
	if !m.long {
		m.hash.Reset()
		m.long = true
	}
	_, _ = m.hash.Write(part) // a Hasher's Write cannot fail
}

func (m *Masker) sum() Hash {
	if !m.long {
		return Bytes(m.buf)
	}
	m.flush()
	return Hash(m.hash.Sum64())
}

// Classes of bytes.
const (
	wordByte = 1 << iota // part of a word: letters, digits, underscore, and all beyond ASCII
	digit                //
	hex                  // hexadecimal digit
	alpha                // ASCII letter
	start                // a volatile part can begin with it
)

var class = func() (t [256]uint8) {
	for b := range 256 {
		switch {
		case b >= '0' && b <= '9':
			t[b] = wordByte | digit | hex | start
		case b >= 'a' && b <= 'f', b >= 'A' && b <= 'F':
			t[b] = wordByte | hex | alpha
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
			t[b] = wordByte | alpha
		case b == '_' || b >= 0x80:
			t[b] = wordByte
		}
	}
	for _, b := range "AFDJMNOSWTtPpg" { // April, January, Monday … tmp, pid, process, go-build
		t[b] |= start
	}
	return t
}()
