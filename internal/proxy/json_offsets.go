package proxy

import "bytes"

// behindSpace returns the first offset from at on that is not JSON white space.
func behindSpace(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

// valueEnd returns the offset behind the JSON value that data has at an offset, and -1 if there is none. It jumps over the texts, which are
// most of a history. A jsontext.Decoder would also check each byte of them, as the decoding of the item does later: 2 MB take it 3 ms.
func valueEnd(data []byte, at int) int {
	for depth := 0; at < len(data); at++ {
		switch data[at] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return at // behind a number or a word
			}
		case ',':
			if depth == 0 {
				return at
			}
			continue
		case '"':
			if at = stringEnd(data, at); at < 0 {
				return -1
			}
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return -1
}

// stringEnd returns the offset of the quote that ends the string that begins at an offset, and -1 if it has no end.
func stringEnd(data []byte, at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(data[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		escapes := 0
		for data[quote-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// containsQuoted reports whether data contains what, which begins with a quote. Most of the bytes are in long texts with few quotes.
func containsQuoted(data, what []byte) bool {
	for {
		at := bytes.IndexByte(data, '"')
		if at < 0 {
			return false
		}
		if data = data[at:]; bytes.HasPrefix(data, what) {
			return true
		}
		data = data[1:]
	}
}

// cutMember returns the place of a member of an object with the comma that separates it from another one.
func cutMember(value []byte, from, to int) (int, int) {
	const space = " \t\r\n"
	if before := bytes.TrimRight(value[:from], space); bytes.HasSuffix(before, []byte{','}) {
		return len(before) - 1, to
	}
	if behind := bytes.TrimLeft(value[to:], space); bytes.HasPrefix(behind, []byte{','}) {
		return from, len(value) - len(bytes.TrimLeft(behind[1:], space))
	}
	return from, to
}
