package unloop

import (
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

// keepOutputExcerpt keeps the beginning of the result. Of a failure, the caller passes the line that describes the error.
func (r *Run) keepOutputExcerpt(output []byte) {
	if x := r.excerptOf(r.step.Number); x != nil {
		x.Output = append(x.Output[:0], output[:min(len(output), excerptSize)]...)
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

var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, "", `\"`, `"`, `\\`, `\`)

// readable makes one line of a piece of JSON, which may be cut off.
func readable(raw []byte) string {
	text := string(raw)
	cut := len(raw) == excerptSize
	if strings.HasPrefix(text, `"`) {
		text = strings.TrimPrefix(text, `"`)
		if !cut {
			text = strings.TrimSuffix(text, `"`)
		}
		text = unescape.Replace(text)
	}
	for cut && len(text) > 0 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1] // a byte of the character that was cut
	}
	text = strings.Join(strings.Fields(text), " ")
	if cut {
		text += "…"
	}
	return text
}
