package mask

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// own adds the secrets in a text that the patterns of the settings match.
func (m *Masker) own(text string, spans []span) []span {
	for _, p := range m.patterns {
		for _, at := range p.FindAllStringSubmatchIndex(text, -1) {
			start, end := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				start, end = at[2], at[3]
			}
			if start < end {
				spans = append(spans, span{start, end, bare})
			}
		}
	}
	return spans
}

// touchesMask reports whether a mask overlaps the part of a text from start to end.
func touchesMask(text string, start, end int) bool {
	for i := max(start-len(opening)-4, 0); i < end; i++ {
		if text[i] == '[' && maskAt(text, i) {
			return true
		}
	}
	return false
}

// merge sorts spans, joins overlapping ones, and excludes existing masks. No span cuts a character.
func merge(text string, spans []span) []span {
	if len(spans) == 0 {
		return nil
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	merged := spans[:0]
	for _, sp := range spans {
		for sp.start > 0 && !utf8.RuneStart(text[sp.start]) {
			sp.start--
		}
		for sp.end < len(text) && !utf8.RuneStart(text[sp.end]) {
			sp.end++
		}
		switch last := len(merged) - 1; {
		case last >= 0 && sp.start < merged[last].end:
			merged[last].end = max(merged[last].end, sp.end)
		case !touchesMask(text, sp.start, sp.end):
			merged = append(merged, sp)
		}
	}
	return merged
}
