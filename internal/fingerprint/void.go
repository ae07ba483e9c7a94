package fingerprint

import (
	"bytes"
	"slices"
)

// void reports whether the text that was read is an empty value: brackets without words, such as [], or one word such as None.
func (w *Words) void(text []byte) bool {
	switch len(w.List) {
	case 0:
		return bytes.ContainsAny(text, "[{")
	case 1:
		return w.List[0].Hash != zero && slices.Contains(nones[:], w.List[0].Hash)
	}
	return false
}

// maxHollow is the greatest length of a value that hollow reads, in bytes.
const maxHollow = 64

// hollow reports whether a raw JSON value holds an empty value, in an envelope, in a text, or both, such as {"result":"[]"}.
func hollow(b []byte) bool {
	for range 4 {
		b = bytes.TrimSpace(b)
		if inside, ok := bytes.CutPrefix(b, textContent); ok {
			b = bytes.TrimSuffix(inside, []byte("}]"))
			continue
		}
		if len(b) < 2 {
			return false
		}
		switch b[0] {
		case '"':
			switch string(bytes.TrimSpace(b[1 : len(b)-1])) {
			case "", "[]", "{}", "null", "None":
				return true
			}
			return false
		case '{':
			name, value, next, ok := memberAt(b, 1)
			if !ok || next != len(b)-1 || !slices.Contains(envelopes[:], string(name)) {
				return string(b) == "{}"
			}
			b = value
			continue
		}
		return string(b) == "[]" || string(b) == "null"
	}
	return false
}

// textContent is the beginning of a result of an MCP server with one text.
var textContent = []byte(`[{"type":"text","text":`)
