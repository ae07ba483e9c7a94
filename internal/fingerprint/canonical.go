package fingerprint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// maxDepth is the maximum nesting. Arguments that are nested deeper count as a string.
const maxDepth = 64

// keepBuffer bounds the scratch memory that a Canonicalizer keeps between calls, in bytes.
const keepBuffer = 1 << 20

// Canonicalizer writes JSON in one canonical form, so that equal values have equal bytes. Members are sorted by name, and the
// last of duplicate names counts. There is no white space. Strings are unescaped, except for quotes and backslashes. Numbers are
// written by value: 1, 1.0 and 10e-1 are equal. A Canonicalizer reuses its buffers. It is not safe for concurrent use.
type Canonicalizer struct {
	out     []byte
	spare   []byte
	members []member
	top     int // number of members of the outermost object, which are the first
	in      []byte
	pos     int
}

// member is the position of an object's member in out: the name, then the value up to end.
type member struct {
	name, value, end int
	head             uint64 // see head
}

// Canonical returns the canonical form of raw, which is valid until the next call. Input that is not JSON, or is nested more than
// 64 deep, counts as a string. The form of empty input is empty. Apart from sorting members, Canonical takes time proportional to
// len(raw), about 1 ns a byte for ordinary arguments.
func (c *Canonicalizer) Canonical(raw []byte) []byte {
	c.shrink()
	c.in, c.pos, c.out, c.members, c.top = raw, 0, c.out[:0], c.members[:0], 0
	if len(raw) == 0 {
		return c.out
	}
	c.space()
	ok := c.value(0)
	c.space()
	if !ok || c.pos != len(c.in) {
		c.members, c.top = c.members[:0], 0
		c.out = append(c.out[:0], '"')
		c.out = appendEscaped(c.out, raw)
		c.out = append(c.out, '"')
	}
	return c.out
}

func (c *Canonicalizer) shrink() {
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	if cap(c.spare) > keepBuffer {
		c.spare = nil
	}
	if cap(c.members) > keepBuffer/32 {
		c.members = nil
	}
}

// Members yields the members of the object that Canonical returned last, in order: the name without quotes, and the value as
// canonical JSON. It yields nothing if that was no object.
func (c *Canonicalizer) Members(yield func(name, value []byte) bool) {
	for _, m := range c.members[:c.top] {
		if !yield(c.out[m.name+1:m.value-2], c.out[m.value:m.end]) {
			return
		}
	}
}

// Without removes the members that are remarks from the object that Canonical returned last, unless all of them are, and returns the rest.
func (c *Canonicalizer) Without(remark func(name []byte) bool) []byte {
	own := c.members[:c.top]
	first := slices.IndexFunc(own, func(m member) bool { return remark(c.out[m.name+1 : m.value-2]) })
	if first < 0 {
		return c.out
	}
	kept := own[:0]
	c.spare = append(c.spare[:0], '{')
	for _, m := range own {
		if remark(c.out[m.name+1 : m.value-2]) {
			continue
		}
		if len(kept) > 0 {
			c.spare = append(c.spare, ',')
		}
		shift := len(c.spare) - m.name
		c.spare = append(c.spare, c.out[m.name:m.end]...)
		kept = append(kept, member{m.name + shift, m.value + shift, m.end + shift, m.head})
	}
	if len(kept) == 0 {
		return c.out
	}
	c.spare = append(c.spare, '}')
	c.out, c.spare = c.spare, c.out
	c.top = len(kept)
	return c.out
}

func (c *Canonicalizer) space() {
	for c.pos < len(c.in) && (c.in[c.pos] == ' ' || c.in[c.pos] == '\n' || c.in[c.pos] == '\r' || c.in[c.pos] == '\t') {
		c.pos++
	}
}

// peek returns the next byte after white space, or 0 at the end.
func (c *Canonicalizer) peek() byte {
	c.space()
	if c.pos == len(c.in) {
		return 0
	}
	return c.in[c.pos]
}

func (c *Canonicalizer) value(depth int) bool {
	if c.pos == len(c.in) || depth > maxDepth {
		return false
	}
	switch c.in[c.pos] {
	case '{':
		return c.object(depth)
	case '[':
		return c.array(depth)
	case '"':
		return c.str()
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	}
	return c.number()
}

func (c *Canonicalizer) literal(word string) bool {
	if !bytes.HasPrefix(c.in[c.pos:], []byte(word)) {
		return false
	}
	c.pos += len(word)
	c.out = append(c.out, word...)
	return true
}

func (c *Canonicalizer) array(depth int) bool {
	c.pos++
	c.out = append(c.out, '[')
	if c.peek() == ']' {
		c.pos++
		c.out = append(c.out, ']')
		return true
	}
	for {
		c.space()
		if !c.value(depth + 1) {
			return false
		}
		switch c.peek() {
		case ',':
			c.out = append(c.out, ',')
		case ']':
			c.pos++
			c.out = append(c.out, ']')
			return true
		default:
			return false
		}
		c.pos++
	}
}

func (c *Canonicalizer) object(depth int) bool {
	start, first := len(c.out), len(c.members)
	c.pos++
	c.out = append(c.out, '{')
	if c.peek() == '}' {
		c.pos++
		c.out = append(c.out, '}')
		return true
	}
	sorted := true
	for {
		m, ok := c.member(depth)
		if !ok {
			return false
		}
		if n := len(c.members); n > first && sorted {
			sorted = c.compare(&c.members[n-1], &m) < 0
		}
		c.members = append(c.members, m)
		next := c.peek()
		c.pos++
		if next == '}' {
			break
		}
		if next != ',' {
			return false
		}
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, '}')
	if !sorted {
		c.sort(start, first)
	}
	if depth == 0 {
		c.top = len(c.members)
	} else {
		c.members = c.members[:first]
	}
	return true
}

func (c *Canonicalizer) member(depth int) (member, bool) {
	m := member{name: len(c.out)}
	if c.peek() != '"' || !c.str() || c.peek() != ':' {
		return m, false
	}
	c.pos++
	c.out = append(c.out, ':')
	c.space()
	m.value = len(c.out)
	m.head = head(c.out[m.name+1 : m.value])
	if !c.value(depth + 1) {
		return m, false
	}
	m.end = len(c.out)
	return m, true
}

func (c *Canonicalizer) nameOf(m *member) []byte { return c.out[m.name:m.value] }

// head returns the first eight bytes of a name as a number with the same order.
func head(name []byte) uint64 {
	if len(name) >= 8 {
		return binary.BigEndian.Uint64(name)
	}
	var padded [8]byte
	copy(padded[:], name)
	return binary.BigEndian.Uint64(padded[:])
}

func (c *Canonicalizer) compare(a, b *member) int {
	if a.head != b.head {
		return cmp.Compare(a.head, b.head)
	}
	return bytes.Compare(c.nameOf(a), c.nameOf(b))
}

// sort rewrites the object that begins at start, with its members in order. Its members are those from index first.
func (c *Canonicalizer) sort(start, first int) {
	own := c.members[first:]
	c.order(own)
	c.spare = append(c.spare[:0], '{')
	kept := own[:0]
	for i := range own {
		m := own[i]
		if i+1 < len(own) && m.head == own[i+1].head && bytes.Equal(c.nameOf(&m), c.nameOf(&own[i+1])) {
			continue // the last of duplicate names counts
		}
		if len(kept) > 0 {
			c.spare = append(c.spare, ',')
		}
		shift := start + len(c.spare) - m.name
		c.spare = append(c.spare, c.out[m.name:m.end]...)
		kept = append(kept, member{m.name + shift, m.value + shift, m.end + shift, m.head})
	}
	c.spare = append(c.spare, '}')
	c.out = append(c.out[:start], c.spare...)
	c.members = c.members[:first+len(kept)]
}

// order sorts members by name and keeps the order of duplicates. An insertion sort handles up to 16 members, without a call for
// each comparison.
func (c *Canonicalizer) order(own []member) {
	if len(own) > 16 {
		slices.SortFunc(own, func(a, b member) int { return cmp.Or(c.compare(&a, &b), a.name-b.name) })
		return
	}
	for i := 1; i < len(own); i++ {
		for k := i; k > 0 && (own[k].head < own[k-1].head || own[k].head == own[k-1].head && c.compare(&own[k], &own[k-1]) < 0); k-- {
			own[k], own[k-1] = own[k-1], own[k]
		}
	}
}
