package mask

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// ownInJSON adds what the patterns of the settings find in the strings of a JSON value, as they stand there with their
// escapes. A match that cuts an escape is widened to all of it.
func (m *Masker) ownInJSON(raw string, spans []span) []span {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		start := i + 1
		for i = start; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		end := min(i, len(raw))
		before := len(spans)
		spans = m.own(raw[start:end], start, spans)
		widen(raw, start, end, spans[before:])
	}
	return spans
}

// own adds what the patterns find in a text that begins at offset. Masks are left alone.
func (m *Masker) own(text string, offset int, spans []span) []span {
	for _, p := range m.patterns {
		for _, at := range p.FindAllStringSubmatchIndex(text, -1) {
			start, end := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				start, end = at[2], at[3]
			}
			if start < end && !touchesMask(text, start, end) {
				spans = append(spans, span{offset + start, offset + end, bare})
			}
		}
	}
	return spans
}

func touchesMask(text string, start, end int) bool {
	for i := max(start-len(opening)-4, 0); i < end; i++ {
		if text[i] == '[' && maskAt(text, i) {
			return true
		}
	}
	return false
}

// widen moves the ends of spans in the string from start to end to where no escape and no character is cut.
func widen(raw string, start, end int, spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	whole := func(i, at int) (before, after int) { // the unit that holds at; i is the start of one before it
		for i < at {
			n := unit(raw[i:end])
			if i+n > at {
				return i, i + n
			}
			i += n
		}
		return at, at
	}
	from := start
	for k := range spans {
		spans[k].start, _ = whole(from, spans[k].start)
		from = spans[k].start
		_, spans[k].end = whole(from, spans[k].end)
	}
}

// unit returns the length of the escape or character that s begins with.
func unit(s string) int {
	if s[0] != '\\' {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	if len(s) > 1 && s[1] == 'u' {
		return min(6, len(s))
	}
	return min(2, len(s))
}

// merge sorts spans and joins those that overlap.
func merge(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	merged := spans[:1]
	for _, sp := range spans[1:] {
		if last := &merged[len(merged)-1]; sp.start < last.end {
			last.end = max(last.end, sp.end)
		} else {
			merged = append(merged, sp)
		}
	}
	return merged
}
