package fingerprint

import "bytes"

// envelopes are the names under which a result is wrapped. If several are present, the first decides.
var envelopes = [...]string{"results", "result", "value", "output", "data", "items", "matches", "hits", "documents", "rows"}

// Empty reports whether an output, as raw JSON, says that there was nothing: null, "", [], {}, an envelope that holds
// such, or a text in which one of a few phrases ("no results", "not found") occurs as whole words. It takes time
// proportional to len(raw) and allocates nothing.
func Empty(raw []byte) bool {
	empty, _ := emptyAt(bytes.TrimSpace(raw), 0, 0)
	return empty
}

// emptyAt judges the value that begins at b[i] and returns where it ends. An envelope is judged while it is passed over, so
// that nested content is read once, and not once for each envelope.
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

// emptyObject judges the object that begins at b[i] by its envelope: without one it is empty if it has no members.
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
		at = behind(b, to)
	}
}

// memberAt reads the member of an object that begins at object[i], or behind the space there, and returns where the next
// one begins; ok is false if there is none.
func memberAt(object []byte, i int) (name, value []byte, next int, ok bool) {
	name, from, ok := memberName(object, i)
	if !ok {
		return nil, nil, from, false
	}
	to := skipValue(object, from)
	if from == to {
		return nil, nil, to, false
	}
	return name, object[from:to], behind(object, to), true
}

// memberName reads the name of the member of an object that begins at object[i], or behind the space there, and returns where
// its value begins. If there is no member, ok is false, and value is behind the object.
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

// behind returns where the next member begins, if the last one ends at object[i].
func behind(object []byte, i int) int {
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
