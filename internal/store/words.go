package store

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

// The bounds of what the full-text index holds of an event.
const (
	maxIndexedBytes = 8 << 10 // that are read of each value
	maxIndexedWords = 256     // distinct ones
	maxWord         = 64      // length in bytes; longer words are cut
)

// Words returns the distinct words by which an event can be found: those of its names, text, input, output and error, in lower case.
// A word is a sequence of letters and digits. Of each value the first 8 KiB count, and of the words the first 256.
func Words(e *unloop.Event) []string {
	w := wordList{seen: make(map[string]bool, 64)}
	for _, text := range []string{e.Tool, e.Name, e.Agent, e.Model, e.Text} {
		w.add(text)
	}
	for _, value := range []json.RawMessage{e.Error, e.Input, e.Output} {
		w.add(unescaped(string(value[:min(len(value), maxIndexedBytes)])))
	}
	return w.words
}

// QueryWords returns the distinct words of a query. An event is found if it has all of them.
func QueryWords(query string) []string {
	w := wordList{seen: make(map[string]bool, 8)}
	w.add(query)
	return w.words
}

type wordList struct {
	words []string
	seen  map[string]bool
}

// add adds the words of a text.
func (w *wordList) add(text string) {
	text = text[:min(len(text), maxIndexedBytes)]
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !inWord(r) }) {
		if len(w.words) == maxIndexedWords {
			return
		}
		w.word(word)
	}
}

// unescaped returns JSON with the characters in place of \u escapes, and blanks in place of the other escapes.
func unescaped(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for {
		text, rest, found := strings.Cut(raw, `\`)
		b.WriteString(text)
		if !found {
			return b.String()
		}
		code, size := escape(rest)
		b.WriteRune(code)
		raw = rest[size:]
	}
}

// escape returns the character of an escape and the length of the escape in bytes, both without its backslash, which precedes text. The
// character is a blank for every escape but a valid \u.
func escape(text string) (code rune, size int) {
	high, ok := hexDigits(text)
	if !ok {
		return ' ', min(len(text), 1)
	}
	if !utf16.IsSurrogate(high) {
		return high, 5
	}
	if rest, escaped := strings.CutPrefix(text[5:], `\`); escaped {
		if low, ok := hexDigits(rest); ok {
			return utf16.DecodeRune(high, low), 11
		}
	}
	return ' ', 5
}

// hexDigits reads the rest of a \u escape.
func hexDigits(text string) (code rune, ok bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:5], 16, 16)
	return rune(n), err == nil
}

func (w *wordList) word(word string) {
	word = strings.ToLower(word)
	if len(word) > maxWord {
		cut := maxWord
		for !utf8.RuneStart(word[cut]) {
			cut--
		}
		word = word[:cut]
	}
	if !w.seen[word] {
		w.seen[word] = true
		w.words = append(w.words, word)
	}
}
