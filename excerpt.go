package unloop

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Bounds of the excerpts of a run.
const (
	recentExcerpts = 10  // steps
	excerptSize    = 128 // bytes
)

// excerpt is the beginning of the arguments and of the result of a call.
type excerpt struct {
	Number int // of the call
	Input  []byte
	Output []byte
}

func (r *Run) keepInputExcerpt(input json.RawMessage) {
	if r.s.Excerpts == nil || len(r.s.Excerpts) < recentExcerpts && r.s.Calls >= len(r.s.Excerpts) {
		r.s.Excerpts = append(r.s.Excerpts, excerpt{})
	}
	x := &r.s.Excerpts[r.s.Calls%recentExcerpts]
	x.Number, x.Output = r.s.Calls, x.Output[:0]
	x.Input = append(x.Input[:0], input[:min(len(input), excerptSize)]...)
}

// keepOutputExcerpt keeps the beginning of the result. Of a failure, the caller passes the line that describes the error. inside means that
// output is the inside of a JSON string.
func (r *Run) keepOutputExcerpt(output []byte, inside bool) {
	x := r.excerptOf(r.step.Number)
	if x == nil {
		return
	}
	x.Output = x.Output[:0]
	if inside {
		x.Output = append(x.Output, '"')
	}
	x.Output = append(x.Output, output[:min(len(output), excerptSize-len(x.Output))]...)
	if inside && len(x.Output) < excerptSize {
		x.Output = append(x.Output, '"')
	}
}

func (r *Run) excerptOf(number int) *excerpt {
	if at := number % recentExcerpts; at < len(r.s.Excerpts) && r.s.Excerpts[at].Number == number {
		return &r.s.Excerpts[at]
	}
	return nil
}

// Excerpt returns the beginnings of the arguments and of the result or error of a step, for people to read. Each is one line
// from at most 128 bytes of JSON, and ends in … if it was cut. Both are "" if the step is not among the last 10. The run
// must keep NeedExcerpts.
func (r *Run) Excerpt(s *Step) (input, output string) {
	x := r.excerptOf(s.Number)
	if x == nil {
		return "", ""
	}
	return readable(x.Input), readable(x.Output)
}

// readable makes one line of a piece of JSON, which may be cut off.
func readable(raw []byte) string {
	var buffer [excerptSize]byte
	text := buffer[:0]
	cut := len(raw) == excerptSize
	if bytes.HasPrefix(raw, []byte{'"'}) {
		raw = raw[1:]
		if !cut {
			raw = bytes.TrimSuffix(raw, []byte{'"'})
		}
		text = appendUnescaped(text, raw)
	} else {
		text = append(text, raw...)
	}
	for cut && len(text) > 0 {
		if r, size := utf8.DecodeLastRune(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1] // a byte of the character that was cut
	}
	line := string(text)
	if !isLine(text) {
		line = strings.Join(strings.Fields(line), " ")
	}
	if cut {
		line += "…"
	}
	return line
}

// appendUnescaped appends the inside of a JSON string with its common escapes resolved. A line end and a tab become a space.
func appendUnescaped(to, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			to = append(to, raw[i])
			continue
		}
		switch next := raw[i+1]; next {
		case 'n', 't':
			to = append(to, ' ')
		case '"', '\\':
			to = append(to, next)
		case 'r':
		default:
			to = append(to, '\\')
			continue
		}
		i++
	}
	return to
}

// isLine reports whether a text is ASCII whose words have one space between them and none around them.
func isLine(text []byte) bool {
	before := byte(' ')
	for _, b := range text {
		if b >= utf8.RuneSelf || b < ' ' || b == ' ' && before == ' ' {
			return false
		}
		before = b
	}
	return len(text) > 0 && before != ' '
}
