package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// addNudgeContext adds the context of a nudge to a finding: the last period calls, oldest first; the difference between the
// latest call and the one a period before; and the first error of the latest call's tool.
func addNudgeContext(r *unloop.Run, f *unloop.Finding, period int) {
	for s := range latestSteps(r, period) {
		input, _ := r.Excerpt(s)
		f.Repeated = append(f.Repeated, strings.TrimSpace(s.Tool+" "+input))
	}
	slices.Reverse(f.Repeated)
	now, before := r.StepAt(0), r.StepAt(period)
	if now != nil && before != nil && now.ArgsHash != before.ArgsHash && now.Tool == before.Tool {
		f.Changed = changed(r, before, now)
	}
	if now != nil {
		if t := r.Tool(now.Tool); t != nil && t.Errors.Count > 0 {
			f.FirstError = t.FirstError
		}
	}
}

// changed describes the difference between the inputs of two steps, or returns "" if the excerpts are equal.
func changed(r *unloop.Run, before, now *unloop.Step) string {
	a, _ := r.Excerpt(before)
	b, _ := r.Excerpt(now)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if a == b {
		return ""
	}
	for head > 0 && wordByte(a[head-1]) { // extend to whole words
		head--
	}
	for tail > 0 && wordByte(a[len(a)-tail]) {
		tail--
	}
	then, since := strings.ToValidUTF8(a[head:len(a)-tail], ""), strings.ToValidUTF8(b[head:len(b)-tail], "")
	if strings.Contains(then+since, `"`) { // a part of JSON, which escapes would hide
		return fmt.Sprintf("%#q became %#q", then, since)
	}
	return fmt.Sprintf("%q became %q", then, since)
}

func wordByte(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func times(n int) string { return fmt.Sprintf("%d times", n) }

// adviseOnRepeat replaces the rule's words about an answer that is known, where a call returned something else: an error is no answer to
// use, and a change that repeats was undone or did not help. Commands of a shell keep the words, because most of them count as mutating.
func adviseOnRepeat(r *unloop.Run, step *unloop.Step, f *unloop.Finding) {
	switch {
	case step.Failing:
		f.Try = "Read the error again, and find its cause before the next attempt, or stop and report it."
	case step.Effect == unloop.Mutating && !r.Tool(step.Tool).Shell:
		f.Why = "A change that is made again was undone in between, or did not have the effect that it should have."
		f.Try = "Say what the change must achieve, and why it did not, before making it again."
	}
}
