package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/unloop-ai/unloop"
)

// Limits of a displayed step.
const (
	labelShare = 6  // the label of an event takes a sixth of the screen
	toolShare  = 5  // the name of a tool takes a fifth
	around     = 24 // columns of unchanged text on either side of a change, or a third of the space
	maxRound   = 4  // maximum steps of a pattern whose repeats are folded
)

// steps displays steps in rows: the change of each against an earlier one, with repeats folded into one line.
func (p *page) steps(steps []Step) {
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

// folded returns the length of the first repeating pattern and its number of repeats. Among several patterns it selects the one
// that folds most steps.
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
	labels, tools, text int // widths of the first two columns, and the beginning of the third
}

// short returns the label of an event as the first column shows it. A long id is cut to its end, as in UUIDs that differ only there.
func (t *table) short(e unloop.EventRef) string { return fitEnd(label(e), t.labels) }

// step displays one step.
func (t *table) step(k int) {
	s := &t.steps[k]
	before, as := t.before(k)
	head := span{faint, pad(t.short(s.Event), t.labels) + "  "}
	tool := span{regular, pad(fitEnd(plain(s.Tool), t.tools), t.tools) + "  "}
	sameInput := "same input"
	if s.Message {
		sameInput = "same text"
	}
	for j, line := range t.content(s.Input, before, func(b *Step) string { return b.Input }, sameInput+as, t.width-t.text) {
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

// before returns the step to compare a step with: the latest with the same tool and input, else with the same tool, else nil. as
// names it if it is not the previous step.
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
		as = " as " + t.short(t.steps[at].Event)
	}
	return &t.steps[at], as
}

// content returns the lines of a text: the whole text without an earlier one, else the change.
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

// difference displays the part of a text that differs from the earlier one.
func (t *table) difference(then, now string, room int) []span {
	head, removed, added, tail := compare(then, now)
	if head == "" && tail == "" {
		return []span{{regular, fit(now, room)}}
	}
	note := ""
	if added == "" {
		added, note = removed, "  without "
	}
	if room -= columns(note); !t.color {
		room -= 2
	}
	head, tail = fitEnd(head, min(around, room/3)), fit(tail, min(around, room/3))
	added = fit(added, room-columns(head)-columns(tail))
	if !t.color {
		added = "[" + added + "]"
	}
	if note != "" {
		return []span{{faint, head + tail + note}, {changed, added}}
	}
	return []span{{faint, head}, {changed, added}, {faint, tail}}
}

// fold displays that the previous pattern repeats.
func (t *table) fold(round, times int, last *Step) {
	text := fmt.Sprintf(" up to %s, same input, same result", t.short(last.Event))
	count := fmt.Sprintf("× %d", times)
	switch {
	case last.Message:
		text = fmt.Sprintf(" up to %s, same text", t.short(last.Event))
	case round > 1:
		count += " rounds"
		text = fmt.Sprintf(" up to %s, same inputs, same results", t.short(last.Event))
	}
	t.line(t.text, span{bold, count}, span{faint, fit(text, t.width-t.text-columns(count))})
}

// compare splits two texts into the common beginning and end, in whole words, and the parts between them: of the earlier text and
// of the current one.
func compare(then, now string) (head, removed, added, tail string) {
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

// oneLine returns a piece of JSON, which may be cut, as one readable line. A string is displayed as its text.
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

// unquote decodes a JSON string. An incomplete escape at its end is dropped.
func unquote(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	for k := range min(12, len(raw)) { // an escape has at most 12 bytes
		if json.Unmarshal([]byte(raw[:len(raw)-k]+`"`), &text) == nil {
			return strings.TrimRight(text, "\ufffd") + "…"
		}
	}
	return raw
}
