package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Bounds of what is shown of a step.
const (
	labelShare = 6  // an event's label takes a sixth of the screen
	toolShare  = 5  // a tool's name a fifth
	around     = 24 // columns of what is the same, on either side of what changed, or a third of the room
	maxRound   = 4  // steps of a pattern whose repeats are folded
)

// proof shows steps one below the other: of each what changed against the one before, and repeats folded into a line.
func (p *page) proof(steps []Step) {
	t := table{page: p, steps: steps}
	for k := range steps {
		t.labels = max(t.labels, min(columns(label(steps[k].Event)), p.width/labelShare))
		t.tools = max(t.tools, min(columns(plain(steps[k].Tool)), p.width/toolShare))
	}
	t.text = 4 + t.labels + 2 + t.tools + 2
	for k := 0; k < len(steps); {
		round, times := folded(steps[k:])
		for j := range round {
			t.step(k + j)
		}
		k += round * times
		if times > 1 {
			t.fold(round, times, &steps[k-1])
		}
	}
}

// folded finds how often the first steps repeat at once: a round of steps, and how many rounds there are. Among several
// rounds it takes the one that folds most.
func folded(steps []Step) (round, times int) {
	round, times = 1, 1
	for n := 1; n <= maxRound && 2*n <= len(steps); n++ {
		m := 1
		for (m+1)*n <= len(steps) && sameSteps(steps[:n], steps[m*n:(m+1)*n]) {
			m++
		}
		if n*(m-1) > round*(times-1) {
			round, times = n, m
		}
	}
	return round, times
}

func sameSteps(a, b []Step) bool {
	for k := range a {
		x, y := &a[k], &b[k]
		if x.Tool != y.Tool || x.Input != y.Input || x.Output != y.Output || x.Failed != y.Failed {
			return false
		}
	}
	return true
}

// table is a list of steps in columns: event, tool, text.
type table struct {
	*page
	steps               []Step
	labels, tools, text int // columns: widths of the first two, and where the third begins
}

// step shows one step.
func (t *table) step(k int) {
	s := &t.steps[k]
	before, as := t.before(k)
	head := span{faint, pad(fitEnd(label(s.Event), t.labels), t.labels) + "  "}
	tool := span{regular, pad(fitEnd(plain(s.Tool), t.tools), t.tools) + "  "}
	for j, line := range t.content(s.Input, before, func(b *Step) string { return b.Input }, "same input"+as, t.width-t.text) {
		if j == 0 {
			line = append([]span{head, tool}, line...)
			t.line(4, line...)
			continue
		}
		t.line(t.text, line...)
	}
	if s.Output == "" {
		return
	}
	arrow, same := span{faint, "→ "}, "same result"
	if s.Failed {
		arrow, same = span{red, "✗ "}, "same error"
	}
	if before != nil && before.Failed != s.Failed {
		before = nil
	}
	for j, line := range t.content(s.Output, before, func(b *Step) string { return b.Output }, same+as, t.width-t.text-2) {
		if j > 0 {
			arrow.text = "  "
		}
		t.line(t.text, append([]span{arrow}, line...)...)
	}
}

// before returns the step to compare a step with: the latest of the same tool with the same input, or else of the same
// tool; nil if there is none. As names it if it is not the one just before.
func (t *table) before(k int) (before *Step, as string) {
	at := -1
	for j := k - 1; j >= 0; j-- {
		if t.steps[j].Tool != t.steps[k].Tool {
			continue
		}
		if at < 0 {
			at = j
		}
		if t.steps[j].Input == t.steps[k].Input {
			at = j
			break
		}
	}
	if at < 0 {
		return nil, ""
	}
	if at < k-1 {
		as = " as " + label(t.steps[at].Event)
	}
	return &t.steps[at], as
}

// content gives the lines of a text: whole if there is nothing to compare it with, else what changed.
func (t *table) content(text string, before *Step, of func(*Step) string, same string, room int) [][]span {
	now := oneLine(text)
	if before == nil {
		var lines [][]span
		for _, line := range wrap(fit(now, 2*room-room/4), room) {
			lines = append(lines, []span{{regular, line}})
		}
		return lines
	}
	then := oneLine(of(before))
	if then == now {
		return [][]span{{{faint, same}}}
	}
	return [][]span{t.difference(then, now, room)}
}

// difference shows the part of a text in which it differs from the one before.
func (t *table) difference(then, now string, room int) []span {
	head, gone, came, tail := compare(then, now)
	if head == "" && tail == "" {
		return []span{{regular, fit(now, room)}}
	}
	note := ""
	if came == "" {
		came, note = gone, "  without "
	}
	if room -= columns(note); !t.color {
		room -= 2
	}
	head, tail = fitEnd(head, min(around, room/3)), fit(tail, min(around, room/3))
	came = fit(came, room-columns(head)-columns(tail))
	if !t.color {
		came = "[" + came + "]"
	}
	if note != "" {
		return []span{{faint, head + tail + note}, {changed, came}}
	}
	return []span{{faint, head}, {changed, came}, {faint, tail}}
}

// fold says that what was just shown came again.
func (t *table) fold(round, times int, last *Step) {
	text := fmt.Sprintf(" up to %s, same input, same result", label(last.Event))
	count := fmt.Sprintf("× %d", times)
	if round > 1 {
		count += " rounds"
		text = fmt.Sprintf(" up to %s, same inputs, same results", label(last.Event))
	}
	t.line(t.text, span{bold, count}, span{faint, fit(text, t.width-t.text-columns(count))})
}

// compare splits two texts into what they have in common at the beginning and at the end, in whole words, and what stands
// in between: in the one before, and now.
func compare(then, now string) (head, gone, came, tail string) {
	a, b := words(then), words(now)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	m := 0
	for m < len(a)-n && m < len(b)-n && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	join := func(words []string) string { return strings.Join(words, "") }
	return join(b[:n]), join(a[n : len(a)-m]), join(b[n : len(b)-m]), join(b[len(b)-m:])
}

// words splits a text into words and the characters between them.
func words(s string) []string {
	var found []string
	begin, inside := 0, false
	for i, r := range s {
		letter := unicode.In(r, unicode.L, unicode.N, unicode.M) || r == '_'
		if i > 0 && !(letter && inside) {
			found = append(found, s[begin:i])
			begin = i
		}
		inside = letter
	}
	if begin < len(s) {
		found = append(found, s[begin:])
	}
	return found
}

// oneLine makes a readable line of a piece of JSON that may be cut off: a string is shown as its text, if it has one.
func oneLine(raw string) string {
	text := raw
	if strings.HasPrefix(raw, `"`) {
		text = unquote(raw)
	}
	if strings.TrimSpace(text) == "" {
		text = raw
	}
	return plain(strings.Join(strings.Fields(text), " "))
}

// unquote decodes a JSON string. One that was cut off loses a broken escape at its end.
func unquote(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	for k := range min(12, len(raw)) { // an escape takes 12 bytes at most
		if json.Unmarshal([]byte(raw[:len(raw)-k]+`"`), &text) == nil {
			return strings.TrimRight(text, "\ufffd") + "…"
		}
	}
	return raw
}
