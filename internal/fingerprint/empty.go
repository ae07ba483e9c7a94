package fingerprint

import "bytes"

// envelopes are the names of members that wrap a result. Of several in one object, the first in this list decides.
var envelopes = [...]string{"results", "result", "value", "output", "data", "items", "matches", "hits", "documents", "rows"}

// Empty reports whether an output, as raw JSON, is an empty result: null, "", [], {}, an envelope that wraps one of these, or a
// text with a phrase such as "no results" or "not found" as whole words. It takes time proportional to len(raw) and allocates
// nothing.
func Empty(raw []byte) bool {
	empty, _ := emptyAt(bytes.TrimSpace(raw), 0, 0)
	return empty
}

// emptyAt reports whether the value at b[i] is empty, and returns its end. It judges an envelope while it skips it, so that nested
// content is read once, and not once for each envelope.
func emptyAt(b []byte, i, depth int) (empty bool, end int) {
	if i == len(b) || depth == maxDepth {
		return false, skipValue(b, i)
	}
	switch b[i] {
	case 'n':
		empty = true
	case '"':
		end = skipString(b, i)
		return saysNothing(b[i+1 : max(i+1, end-1)]), end
	case '[':
		end = skipValue(b, i)
		return skipSpace(b, i+1) >= end-1, end
	case '{':
		return emptyObject(b, i, depth)
	}
	return empty, skipValue(b, i)
}

// emptyObject reports whether the object at b[i] is empty, and returns its end. Its envelope decides. An object without an envelope
// is empty if it has no members.
func emptyObject(b []byte, i, depth int) (empty bool, end int) {
	best := len(envelopes)
	empty = true
	for at := i + 1; ; {
		name, from, ok := memberName(b, at)
		if !ok {
			return empty, from
		}
		rank, to := 0, 0
		for rank < best && string(name) != envelopes[rank] {
			rank++
		}
		switch {
		case rank < best:
			best = rank
			empty, to = emptyAt(b, from, depth+1)
		case best == len(envelopes):
			empty = false
			fallthrough
		default:
			to = skipValue(b, from)
		}
		if from == to {
			return empty, to
		}
		at = afterMember(b, to)
	}
}

// memberAt reads the member of an object at object[i], after white space. next is the position of the next member. ok is false if
// there is no member.
func memberAt(object []byte, i int) (name, value []byte, next int, ok bool) {
	name, from, ok := memberName(object, i)
	if !ok {
		return nil, nil, from, false
	}
	to := skipValue(object, from)
	if from == to {
		return nil, nil, to, false
	}
	return name, object[from:to], afterMember(object, to), true
}

// memberName reads the name of the member of an object at object[i], after white space. value is the position of the member's
// value. If there is no member, ok is false, and value is the end of the object.
func memberName(object []byte, i int) (name []byte, value int, ok bool) {
	i = skipSpace(object, i)
	if i >= len(object) || object[i] != '"' {
		return nil, min(i+1, len(object)), false
	}
	nameEnd := skipString(object, i)
	colon := skipSpace(object, nameEnd)
	if colon >= len(object) || object[colon] != ':' {
		return nil, colon, false
	}
	return object[i+1 : nameEnd-1], skipSpace(object, colon+1), true
}

// afterMember returns the position of the next member after one that ends at object[i].
func afterMember(object []byte, i int) int {
	i = skipSpace(object, i)
	if i < len(object) && object[i] == ',' {
		i++
	}
	return i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the JSON value at b[i]. It assumes that the JSON is valid.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\n', '\t', '\r', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// nothing are the phrases of an empty result, in the singular.
var nothing = [...]string{"no result", "not found", "no match", "nothing found", "no data", "no document", "0 result", "no record"}

// saysNothing reports whether the inside of a JSON string is blank, or contains one of the phrases of an empty result.
func saysNothing(text []byte) bool {
	blank := true
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b == '\\' && i+1 < len(text) {
			i++
			blank = blank && bytes.IndexByte([]byte("nrt"), text[i]) >= 0
			continue
		}
		blank = blank && (b == ' ' || b == '\t' || b == '\n' || b == '\r')
		if b|0x20 != 'n' && b != '0' || i > 0 && class[text[i-1]]&wordByte != 0 && !escaped(text, i-1) {
			continue
		}
		if phraseAt(text[i:]) {
			return true
		}
	}
	return blank
}

// escaped reports whether text[i] is the letter of an escape such as \n.
func escaped(text []byte, i int) bool {
	slashes := 0
	for i > slashes && text[i-1-slashes] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// phraseAt reports whether a text begins with a phrase of an empty result.
func phraseAt(text []byte) bool {
	for _, phrase := range nothing {
		n := len(phrase)
		if len(text) < n || text[n-1]|0x20 != phrase[n-1] || !bytes.EqualFold(text[:n], []byte(phrase)) {
			continue
		}
		for _, plural := range [...]string{"es", "s"} {
			if len(text) >= n+len(plural) && bytes.EqualFold(text[n:n+len(plural)], []byte(plural)) {
				n += len(plural)
				break
			}
		}
		if boundary(text, n) {
			return true
		}
	}
	return false
}
