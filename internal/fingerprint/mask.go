package fingerprint

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// chunk is the number of masked bytes that are collected before they are hashed.
const chunk = 4 << 10

// Masker hashes results with their volatile parts masked, so that "took 12 ms" and "took 15 ms" are the same result. It reuses its
// buffers. It is not safe for concurrent use.
//
// These parts are volatile: UUIDs; timestamps (ISO 8601, RFC 1123 and 2822, the formats of date and ls, clock times, Unix times of
// 10 and 13 digits); durations with a unit; hex addresses; names of temporary files; process ids; ids of tool calls that follow the
// name tool_call_id. Any other number is content, and so is a date without a time.
type Masker struct {
	hash xxh3.Hasher
	buf  []byte
	long bool // hash holds the part before buf
}

// Masked returns the fingerprint of a result with its volatile parts masked. Escapes of a JSON string separate words
// like the characters that they encode. It takes time proportional to len(b), about 1 ns a byte.
func (m *Masker) Masked(b []byte) Hash {
	m.buf, m.long = m.buf[:0], false
	from := 0 // the first byte that is not added yet; the next volatile part begins there or later
	goesOn := uint32(0)
	for i := 0; ; {
		at := nextSight(b, i, goesOn)
		if at >= len(b) {
			break
		}
		n := 0
		if b[at] != '-' {
			n = volatile(b, at)
		} else if n = uuidBefore(b, from, at); n > 0 {
			at -= uuidHead
		}
		if n == 0 {
			i, goesOn = at+1, sights[b[at]]&1
			continue
		}
		m.add(b[from:at])
		m.add(mask)
		i, goesOn = at+n, 0
		from = i
	}
	if from == 0 {
		return Bytes(b) // nothing is masked
	}
	m.add(b[from:])
	return m.sum()
}

// sights are the properties of bytes that Masked needs. Bit 0: the byte is part of a word. Bit 8: a volatile part can begin with it at
// the beginning of a word. Bit 16: it is a dash, as in a UUID. Bit 24: it is a backslash.
var sights = func() (t [256]uint32) {
	for b, c := range class {
		if c&wordByte != 0 {
			t[b] |= 1
		}
		if c&start != 0 {
			t[b] |= 1 << 8
		}
	}
	t['-'], t['\\'] = 1<<16, 1<<24
	return t
}()

// nextSight returns the position of the next byte from b[i] on at which a volatile part can begin, or at least len(b). goesOn is 1 if a
// word continues at b[i], which is not escaped. It reads eight bytes at a time. An escaped character separates words.
func nextSight(b []byte, i int, goesOn uint32) int {
	escape := uint32(0) // 1 if b[i] is escaped
	for ; i+8 <= len(b); i += 8 {
		p := (*[8]byte)(b[i:])
		all := sights[p[0]] | sights[p[1]]<<1 | sights[p[2]]<<2 | sights[p[3]]<<3 |
			sights[p[4]]<<4 | sights[p[5]]<<5 | sights[p[6]]<<6 | sights[p[7]]<<7
		if backslashes := all >> 24; backslashes|escape != 0 {
			escaped := escapedBytes(backslashes, escape)
			all &^= escaped & 0xFF * 0x010101
			escape = escaped >> 8
		}
		for found := (all>>8&^(all<<1|goesOn) | all>>16) & 0xFF; found != 0; found &= found - 1 {
			if at := i + bits.TrailingZeros32(found); mayBeVolatile(b, at) {
				return at
			}
		}
		goesOn = all >> 7 & 1
	}
	for ; i < len(b); i++ {
		one := sights[b[i]]
		switch {
		case escape != 0:
			escape, goesOn = 0, 0
			continue
		case one>>8&^goesOn&1|one>>16&1 != 0:
			return i
		}
		escape, goesOn = one>>24, one&1
	}
	return i
}

// escapedBytes returns which of nine bytes follow a backslash that is not escaped itself, one bit for each. backslashes says which of the
// first eight are backslashes, and first whether the first one is escaped.
func escapedBytes(backslashes, first uint32) (escaped uint32) {
	escaped = first
	for rest := backslashes &^ first; rest != 0; {
		backslash := rest & -rest
		escaped |= backslash << 1
		rest &^= backslash | backslash<<1
	}
	return escaped
}

// mayBeVolatile reports whether a volatile part may begin with the digit or the letter at b[at], or have its first dash there. It is wrong
// only for parts that are not volatile.
func mayBeVolatile(b []byte, at int) bool {
	c, rest := b[at], b[at:]
	switch {
	case len(rest) <= uuidHead || class[c]&digit != 0:
		return true
	case c == '-':
		return rest[5] == '-'
	case rest[uuidHead] == '-': // a UUID
		return true
	}
	switch rest[2] {
	case 'p', 'o', 'd', 'D', '-': // tmp, tool_call_id, process, pid, go-build
		return true
	}
	return c < 'a' && (rest[3] == ' ' || rest[3] == ',') // a day or a month
}

// uuidHead is the length of a UUID up to its first dash.
const uuidHead = 8

// uuidBefore returns the length of the UUID whose first dash is b[dash], if it begins with a word at b[from] or after it, else 0.
func uuidBefore(b []byte, from, dash int) int {
	at := dash - uuidHead
	if at < from || class[b[at]]&hex == 0 || at > from && (escaped(b, at) || class[b[at-1]]&wordByte != 0 && !escaped(b, at-1)) {
		return 0
	}
	return uuid(b[at:])
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
	wordByte = 1 << iota // part of a word: letters, digits, underscore, and all bytes beyond ASCII
	digit                // decimal digit
	hex                  // hexadecimal digit
	alpha                // ASCII letter
	start                // a volatile part can begin with it
	goesOn               // a volatile part can continue with it after a number, unless the number has 10 or 13 digits
	apart                // it may end a line, a sentence or a JSON member, or begin a tag or an escape: see mark
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
	for b := range 256 {
		if t[b]&(alpha|digit) != 0 || b >= 0x80 {
			t[b] |= goesOn
		}
	}
	for _, b := range "\n\\<.?!," {
		t[b] |= apart
	}
	for _, b := range " .:/-" { // of a unit, a fraction, a time of day and dates
		t[b] |= goesOn
	}
	return t
}()
