package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// harmless reports whether a character can be displayed unchanged: it is printable, a space, or a joiner that some scripts need.
func harmless(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == nonJoiner || r == joiner
}

// buildCommands are texts that build servers interpret at any place of a log line.
var buildCommands = strings.NewReplacer("##[", `#\#[`, "##vso[", `#\#vso[`, "##teamcity[", `#\#teamcity[`)

// Plain returns a text on one line without side effects: characters that are not harmless are escaped as in a Go string. It takes
// time proportional to len(s), about 10 ns a byte.
func Plain(s string) string { return plain(s) }

func plain(s string) string {
	if strings.Contains(s, "##") {
		s = buildCommands.Replace(s)
	}
	clean := func(r rune) bool { return r == utf8.RuneError || !harmless(r) }
	if strings.IndexFunc(s, clean) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case harmless(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

// encode encodes v as JSON on one line, without HTML escapes. Characters that are not harmless are escaped in the strings, so
// that the JSON can be displayed and has the same meaning.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a verdict: %w", err)
	}
	return EscapeJSON(b.Bytes()), nil
}

// EscapeJSON escapes characters that are not harmless in encoded JSON, whose meaning stays. They, and two # in a row, occur only in
// strings.
func EscapeJSON(line []byte) []byte {
	escaped := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r == '#' && i > 0 && line[i-1] == '#':
			escaped = append(escaped, `\u0023`...)
		case r == '\n' || harmless(r):
			escaped = append(escaped, line[i:i+size]...)
		case r <= 0xffff:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		}
		i += size
	}
	return escaped
}
