package scan

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// utf8Reader passes on a text, and reports the first line that is not UTF-8, once. Decoders replace bytes that are not UTF-8.
type utf8Reader struct {
	r        io.Reader
	name     string
	warn     func(error)
	line     int    // number of ended lines
	pending  []byte // the beginning of a character that the latest read cut
	reported bool
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if !u.reported {
		u.check(p[:n])
	}
	return n, err
}

// check examines the next bytes of the text.
func (u *utf8Reader) check(text []byte) {
	if len(u.pending) > 0 {
		text = append(u.pending, text...)
	}
	u.pending = nil
	if utf8.Valid(text) {
		u.line += bytes.Count(text, []byte{'\n'})
		return
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case r != utf8.RuneError || size > 1:
		case !utf8.FullRune(text[at:]):
			u.pending = bytes.Clone(text[at:])
			return
		default:
			u.reported = true
			u.warn(fmt.Errorf("%s:%d: the text is not UTF-8, and such bytes are replaced; convert Latin-1 with iconv -f LATIN1 -t UTF-8", u.name, u.line+1))
			return
		}
		if text[at] == '\n' {
			u.line++
		}
		at += size
	}
}
