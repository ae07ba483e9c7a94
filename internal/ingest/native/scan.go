package native

import (
	"bytes"
	"math"
	"strconv"
)

// scanner scans JSON. It accepts the same input as the lenient decoder of package ingest, with a limit on depth. It is several
// times as fast because it returns no tokens.
type scanner struct {
	data  []byte
	at    int
	fault string // why data[at] is invalid
}

func (s *scanner) fail(reason string) bool {
	if s.fault == "" {
		s.fault = reason
	}
	return false
}

// space moves to the next byte that is not white space, and returns it, or 0 at the end. It returns 1 for a byte 0, which begins
// no value.
func (s *scanner) space() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return max(c, 1)
		}
	}
	return 0
}

// value moves past a value with at most the given levels of objects and arrays, and reports whether there is one.
func (s *scanner) value(levels int) bool {
	switch c := s.space(); c {
	case '"':
		return s.text()
	case '{':
		return s.object(levels, nil)
	case '[':
		return s.array(levels, nil)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	case 0:
		return s.fail("the JSON ends too early")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return s.number()
		}
		return s.fail("no JSON value begins here")
	}
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.data[s.at:], []byte(w)) {
		return s.fail("no JSON value begins here")
	}
	s.at += len(w)
	return true
}

// object moves past an object. It calls each with the members, names without quotes. each may be nil.
func (s *scanner) object(levels int, each func(name, value []byte)) bool {
	if levels == 0 {
		return s.fail("the JSON is nested too deeply")
	}
	s.at++
	if s.space() == '}' {
		s.at++
		return true
	}
	for {
		if s.space() != '"' {
			return s.fail("want the name of a member")
		}
		begin := s.at + 1
		if !s.text() {
			return false
		}
		name := s.data[begin : s.at-1]
		if s.space() != ':' {
			return s.fail("want a colon")
		}
		s.at++
		s.space()
		begin = s.at
		if !s.value(levels - 1) {
			return false
		}
		if each != nil {
			each(name, s.data[begin:s.at])
		}
		if done, ok := s.next('}'); done || !ok {
			return ok
		}
	}
}

// array moves past an array. It calls each at the beginning of each element, which each moves past. each may be nil.
func (s *scanner) array(levels int, each func() bool) bool {
	if levels == 0 {
		return s.fail("the JSON is nested too deeply")
	}
	s.at++
	if s.space() == ']' {
		s.at++
		return true
	}
	for {
		if each == nil && !s.value(levels-1) || each != nil && !each() {
			return false
		}
		if done, ok := s.next(']'); done || !ok {
			return ok
		}
	}
}

// next moves past the byte after an element: a comma, or the end of the list.
func (s *scanner) next(end byte) (done, ok bool) {
	switch s.space() {
	case ',':
		s.at++
		return false, true
	case end:
		s.at++
		return true, true
	case 0:
		return false, s.fail("the JSON ends too early")
	}
	return false, s.fail("want a comma or " + strconv.QuoteRune(rune(end)))
}

// text moves past a string.
func (s *scanner) text() bool {
	data := s.data
	for i := s.at + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			n := escape(data[i+1:])
			if n == 0 {
				s.at = i
				return s.fail("invalid escape in a JSON string")
			}
			i += n
		case c < ' ':
			s.at = i
			return s.fail("a control character must be escaped in a JSON string")
		}
	}
	s.at = len(data)
	return s.fail("the JSON ends too early")
}

// escape returns the length of the escape after a backslash, or 0 for an invalid one.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, c := range b[1:5] {
			if ('0' > c || c > '9') && ('a' > c|0x20 || c|0x20 > 'f') {
				return 0
			}
		}
		return 5
	}
	return 0
}

// number moves past a number.
func (s *scanner) number() bool {
	if s.data[s.at] == '-' {
		s.at++
	}
	switch {
	case s.is('0'):
		s.at++
	case !s.digits():
		return s.fail("want a digit")
	}
	if s.is('.') {
		s.at++
		if !s.digits() {
			return s.fail("want a digit")
		}
	}
	if s.is('e') || s.is('E') {
		s.at++
		if s.is('+') || s.is('-') {
			s.at++
		}
		if !s.digits() {
			return s.fail("want a digit")
		}
	}
	return true
}

func (s *scanner) is(c byte) bool { return s.at < len(s.data) && s.data[s.at] == c }

// digits moves past digits, and reports whether there was one.
func (s *scanner) digits() bool {
	begin := s.at
	for s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > begin
}

// Within reports whether value is one JSON value with at most the given levels of objects and arrays.
func Within(value []byte, levels int) bool {
	s := scanner{data: value}
	return s.value(levels) && s.space() == 0
}

// Members calls each with the members of a JSON object, names without quotes and values unchanged, and reports whether value is
// an object. It costs about 2 ns per byte and allocates nothing.
func Members(value []byte, each func(name, value []byte)) bool {
	s := scanner{data: value}
	return s.space() == '{' && s.object(math.MaxInt, each) && s.space() == 0
}
