package fingerprint

import "bytes"

// envelopes are the names under which a result is wrapped; of those present the first decides.
var envelopes = [...]string{"results", "result", "value", "output", "data", "items", "matches", "hits", "documents", "rows"}

// Empty reports whether an output, as raw JSON, says that there was nothing: null, "", [], {}, an envelope that holds
// such, or a text in which one of a few phrases ("no results", "not found") stands as words of its own. It takes time
// proportional to len(raw) and allocates nothing.
func Empty(raw []byte) bool {
	for range maxDepth {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			return false
		}
		switch raw[0] {
		case 'n':
			return true
		case '"':
			return saysNothing(raw[1:max(1, len(raw)-1)])
		case '[':
			return bytes.Equal(bytes.TrimSpace(raw[1:max(1, len(raw)-1)]), nil)
		case '{':
			inner, members := unwrap(raw)
			if members == 0 {
				return true
			}
			if inner == nil {
				return false
			}
			raw = inner
		default:
			return false
		}
	}
	return false
}

// unwrap returns the value of the envelope in an object, if it has one, and how many members the object has.
func unwrap(object []byte) (inner []byte, members int) {
	best := len(envelopes)
	for at := 1; ; {
		name, value, next, ok := memberAt(object, at)
		if !ok {
			return inner, members
		}
		members++
		for k := range best {
			if string(name) == envelopes[k] {
				best, inner = k, value
				break
			}
		}
		at = next
	}
}

// memberAt reads the member of an object that begins at object[i], or behind the space there, and returns where the next
// one begins; ok is false if there is none.
func memberAt(object []byte, i int) (name, value []byte, next int, ok bool) {
	i = skipSpace(object, i)
	if i >= len(object) || object[i] != '"' {
		return nil, nil, i, false
	}
	nameEnd := skipValue(object, i)
	colon := skipSpace(object, nameEnd)
	if colon >= len(object) || object[colon] != ':' {
		return nil, nil, colon, false
	}
	from := skipSpace(object, colon+1)
	to := skipValue(object, from)
	if from == to {
		return nil, nil, to, false
	}
	next = skipSpace(object, to)
	if next < len(object) && object[next] == ',' {
		next++
	}
	return object[i+1 : nameEnd-1], object[from:to], next, true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns where the JSON value that begins at b[i] ends. It trusts that the JSON is valid.
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

// nothing are the phrases of a text that says that nothing was found, each without a plural.
var nothing = [...]string{"no result", "not found", "no match", "nothing found", "no data", "no document", "0 result", "no record"}

// saysNothing judges the inside of a JSON string.
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

func phraseAt(text []byte) bool {
	for _, phrase := range nothing {
		n := len(phrase)
		if len(text) < n || !bytes.EqualFold(text[:n], []byte(phrase)) {
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
