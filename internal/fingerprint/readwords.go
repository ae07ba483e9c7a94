package fingerprint

import "slices"

// read reads the words of a text.
func (w *Words) read(b []byte) {
	w.List = slices.Grow(w.List, len(b)/2+1) // a byte separates two words
	var end [2 * lettersRead]byte            // the end of the text, padded with zeros
	rest := max(0, len(b)-lettersRead)
	copy(end[:], b[rest:])
	first := true
	for i := 0; i < len(b); {
		if i < rest {
			i, first = w.readLetters(b, i, rest, first)
		}
		if i >= rest {
			i, first = w.readLetters(end[:], i-rest, len(b)-rest, first)
			if i += rest; i >= len(b) {
				break
			}
		}
		c := class[b[i]]
		if c&apart != 0 { // a tag, or an escape of the kind \u00e9
			switch {
			case b[i] != '\\':
				i += w.skipTag(b[i:])
				first = true
			case !w.decoded && escapesText(b[i:]):
				w.readDecoded(b, i, first)
				return
			default:
				i += max(control(b[i:]), 2)
			}
			continue
		}
		if c&start != 0 || c&hex != 0 && i+8 < len(b) && b[i+8] == '-' {
			if n := w.volatile(b, i); n > 0 {
				w.List = append(w.List, Word{0, Volatile, first})
				first = false
				i += n
				continue
			}
		}
		n, h, kind := w.word(b, i, w.List, first)
		if n == 0 {
			if b[i] == symbolByte {
				i += 2
			}
			i++ // an underscore, or a symbol
			continue
		}
		w.List = append(w.List, Word{h, kind, first})
		first = false
		i += n
	}
}

// skipTag returns the length of the tag that b begins with, and at least 1. In an argument, only its first byte is skipped.
func (w *Words) skipTag(b []byte) int {
	if w.appended {
		return 1
	}
	n := 1 + tag(b)
	w.Varies = w.Varies || n > 2 && tagMayVary(b[:n])
	return n
}

// volatile returns the length of the volatile part at b[i], 0 if there is none. It sets Left if it is the first duration.
func (w *Words) volatile(b []byte, i int) int {
	n := volatile(b, i)
	if n == 0 {
		return 0
	}
	w.Varies = true
	if w.Left == 0 && class[b[i]]&digit != 0 && class[b[i+n-1]]&digit == 0 && duration(b[i:]) == n {
		w.Left = decimal(b[i : i+n])
	}
	return n
}

// readDecoded continues read at the escape at index i of b, with the rest of b decoded, so that an escaped text has the words of the text. A
// word that the escape belongs to is read again. first means that a word at i begins a line, a sentence or a JSON member.
func (w *Words) readDecoded(b []byte, i int, first bool) {
	last := len(w.List) - 1
	if start := wordBefore(b, i); start < i && last >= 0 && w.List[last].Kind == Letters {
		first = w.List[last].First
		w.List = w.List[:last]
		w.Says--
		i = start
	}
	w.text = appendDecoded(w.text[:0], b[i:]) // b may be w.text, which is longer
	from := len(w.List)
	w.decoded = true
	w.read(w.text)
	w.decoded = false
	if from < len(w.List) && !first {
		w.List[from].First = false
	}
}

// wordBefore returns the index of the word that ends directly before the index i of b, or i if there is none.
func wordBefore(b []byte, i int) int {
	start := i
	for start > 0 && partOfWord[b[start-1]] != 0 {
		start--
	}
	backslashes := 0
	for start > backslashes && b[start-1-backslashes] == '\\' {
		backslashes++
	}
	if start < i && backslashes%2 == 1 {
		start++ // the first letter is that of an escape such as \n
	}
	return start
}

// serialDigits is the least number of digits of a serial number, which follows its prefix directly, such as in tnd_8120967 or LD-387672.
const serialDigits = 4

// word returns the length, the fingerprint and the kind of the word in text at the index at. The length is 0 if there is none. before
// are the words before it, and first means that it begins a line, a sentence or a JSON member.
func (w *Words) word(text []byte, at int, before []Word, first bool) (n int, h uint32, kind WordKind) {
	b, kinds := text[at:], uint8(0)
	for n < len(b) {
		kind := partOfWord[b[n]]
		if kind == 0 || b[n] == symbolByte && symbol(b[n:]) {
			break
		}
		kinds |= kind
		n++
	}
	switch {
	case n == 0:
		return 0, 0, Letters
	case kinds&letterSeen == 0:
		if n, kind = w.number(text, at, n, before, first); kind == Volatile {
			return n, 0, Volatile
		}
	case kinds&digit != 0:
		kind = Mixed
	default:
		if n < 4 || n > 6 || string(b[:n]) != "exit" && string(b[:n]) != "status" && string(b[:n]) != "code" {
			w.Says++
		}
	}
	return n, hashWord(b, n), kind
}

// number is word for digits, which are n. It returns the length with a fraction or with the digits behind an underscore.
func (w *Words) number(text []byte, at, n int, before []Word, first bool) (length int, kind WordKind) {
	b := text[at:]
	if n+1 < len(b) && b[n] == '_' && class[b[n+1]]&digit != 0 {
		return n + 1 + count(b[n+1:], digit), Mixed
	}
	if n+1 < len(b) && b[n] == '.' && class[b[n+1]]&digit != 0 {
		w.Varies = w.Varies || volatile(text, at+n+1) > 0
		n += 1 + count(b[n+1:], digit)
	}
	if len(before) == 0 && numbered(text, at, n) {
		return n, Mixed
	}
	value := decimal(b[:n])
	if !first {
		if n >= serialDigits && at > 1 && (text[at-1] == '_' || text[at-1] == '-') && class[text[at-2]]&alpha != 0 {
			return n, Mixed
		}
		switch numberAfter(before) {
		case anID:
			return n, Mixed
		case aSerial:
			if (before[len(before)-1].First || text[at-1] == '=') && !totalFollows(b[n:]) {
				return n, Mixed
			}
		case aDuration, ofAQuota:
			return n, Volatile
		case aDelay:
			if w.Left == 0 {
				w.Left = value
			}
			return n, Volatile
		case aPlace:
			if w.Place == 0 {
				w.Place = value
			}
		}
	}
	if w.Count < maxNumbers {
		w.Numbers[w.Count] = value
		w.Count++
	}
	w.latest[w.seen%len(w.latest)] = value
	w.seen++
	return n, Number
}

// letterSeen means that a word has a letter. It has no bit in common with digit.
const letterSeen = 0x80

// partOfWord is digit for a digit, letterSeen for another byte of a word, and 0 for a byte that separates words, such as an underscore.
var partOfWord = func() (t [256]uint8) {
	for b, c := range class {
		switch {
		case c&digit != 0:
			t[b] = digit
		case c&wordByte != 0 && b != '_':
			t[b] = letterSeen
		}
	}
	return t
}()

// decimal returns the value of the number at the beginning of b, from its first 18 bytes.
func decimal(b []byte) float64 {
	value, scale := 0.0, 0.0
	for _, d := range b[:min(len(b), maxDigits)] {
		if d == '.' {
			scale = 1
			continue
		}
		if class[d]&digit == 0 {
			break // a unit
		}
		value = value*10 + float64(d-'0')
		scale *= 10
	}
	if scale > 0 {
		value /= scale
	}
	return value
}

// symbolByte begins the UTF-8 of U+2000 to U+2FFF.
const symbolByte = 0xE2

// symbol reports whether b begins with a character from U+2000 to U+2BFF: dashes, arrows, bars and the frames of spinners.
func symbol(b []byte) bool { return len(b) > 2 && b[1] >= 0x80 && b[1] <= 0xAF && b[2] >= 0x80 }

// tag returns the length of the tag at the beginning of b, less 1, or 0 if there is none.
func tag(b []byte) int {
	for n := 1; n < min(len(b), maxTag); n++ {
		switch c := b[n]; {
		case c == '>':
			return n
		case class[c]&wordByte == 0 && c != '/' && c != '-':
			return 0
		}
	}
	return 0
}

// tagMayVary reports whether a volatile part may begin in a tag. It is wrong only for tags without one.
func tagMayVary(tag []byte) bool {
	const longest = len("<tmp>") + 7 // a random name has eight characters or a digit, and a UUID is longer
	return len(tag) > longest || slices.ContainsFunc(tag, func(c byte) bool { return class[c]&digit != 0 })
}

// numbered reports whether the number with n digits at the index at of a text numbers it, as in "[7] no such file" and "#7: no such file".
func numbered(text []byte, at, n int) bool {
	if at == 0 || at+n+1 >= len(text) {
		return false
	}
	switch next := text[at+n]; text[at-1] {
	case '[':
		return next == ']' && text[at+n+1] == ' '
	case '#':
		return next == ':' || next == ' '
	}
	return false
}

// totalFollows reports whether the text after a number says of how many it is one: "7/200", "7 / 200" or "7 of 200".
func totalFollows(b []byte) bool {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return len(b) > 0 && b[0] == '/' || len(b) > 2 && b[0] == 'o' && b[1] == 'f' && b[2] == ' '
}
