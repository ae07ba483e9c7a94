// Package snapshottest mutates snapshots, to test programs that read hostile ones.
package snapshottest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// node is a JSON value. Objects keep the order of their members and may have duplicate names.
type node struct {
	scalar string   // JSON; "" for objects and arrays
	object bool     // otherwise an array, if scalar is ""
	names  []string // names of the members of an object
	parts  []*node  // members or elements
}

// Mutate returns data, which must be JSON, with mutations that choices select, four bytes each: another number, another text, a
// missing, duplicate, renamed or moved member or element, another length, another type. Equal choices make equal mutations.
func Mutate(data, choices []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	root, err := read(decoder)
	if err != nil {
		return nil, fmt.Errorf("parse the snapshot: %w", err)
	}
	m := mutation{budget: maxAdded}
	for ; len(choices) >= 4; choices = choices[4:] {
		m.all = root.all(m.all[:0])
		m.change(m.all[(int(choices[0])<<8|int(choices[1]))*len(m.all)>>16], choices[2], choices[3])
	}
	return root.write(nil, 0), nil
}

func read(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, isDelim := token.(json.Delim)
	if !isDelim {
		text, err := json.Marshal(token)
		return &node{scalar: string(text)}, err
	}
	n := &node{object: open == '{'}
	for d.More() {
		if n.object {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.(string))
		}
		part, err := read(d)
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, part)
	}
	_, err = d.Token()
	return n, err
}

// all returns the value and all values in it.
func (n *node) all(into []*node) []*node {
	into = append(into, n)
	for _, part := range n.parts {
		into = part.all(into)
	}
	return into
}

// maxAdded bounds the growth of a value in bytes, so that mutated snapshots are read quickly.
const maxAdded = 64 << 10

// mutation mutates one value.
type mutation struct {
	all    []*node
	budget int // bytes for copies
}

// copyOf returns a deep copy of n. Shared values could grow exponentially or contain themselves. Beyond the budget, values are
// replaced by null.
func (m *mutation) copyOf(n *node) *node {
	if m.budget -= len(n.scalar) + len(",[]"); m.budget < 0 {
		return &node{scalar: "null"}
	}
	copied := &node{scalar: n.scalar, object: n.object, names: slices.Clone(n.names)}
	for _, name := range n.names {
		m.budget -= len(name) + len(`"":`)
	}
	for _, part := range n.parts {
		copied.parts = append(copied.parts, m.copyOf(part))
	}
	return copied
}

func (n *node) write(text []byte, depth int) []byte {
	switch {
	case n.scalar != "":
		return append(text, n.scalar...)
	case depth > 80:
		return append(text, "null"...)
	}
	brackets := "[]"
	if n.object {
		brackets = "{}"
	}
	text = append(text, brackets[0])
	for k, part := range n.parts {
		if k > 0 {
			text = append(text, ',')
		}
		if n.object {
			text = append(strconv.AppendQuoteToASCII(text, n.names[k]), ':')
		}
		text = part.write(text, depth+1)
	}
	return append(text, brackets[1])
}

var numbers = []string{
	"0", "-1", "1", "2", "3", "7", "8", "31", "32", "255", "256", "4096", "65535", "16777215", "16777216", "9007199254740991", "9007199254740992",
	"9007199254740993", "4611686018427387904", "9223372036854775807", "9223372036854775806", "-9223372036854775808", "18446744073709551615",
	"18446744073709551616", "1e308", "-1e308", "1e999", "0.5", "63", "64", "1e3",
}

var texts = []string{
	`""`, `"x"`, `"\u0000"`, `"AAA="`, `"//8="`, `"no base64"`, `"tool"`, `"search"`, `"9999-12-31T23:59:59Z"`, `"0001-01-01T00:00:00Z"`,
	`"2026-01-01T00:00:00Z"`, `"` + strings.Repeat("A", 6000) + `"`,
}

// change mutates the value in one of many ways.
func (m *mutation) change(n *node, how, what byte) {
	switch {
	case how >= 240:
		*n = node{scalar: "null"}
	case how >= 220:
		*n = *m.copyOf(m.all[int(what)*len(m.all)>>8]) // a value from another place
	case n.scalar == "":
		m.changeParts(n, how, what)
	case n.scalar[0] == '"':
		n.changeText(how, what)
	default:
		n.changeNumber(how, what)
	}
}

func (n *node) changeNumber(how, what byte) {
	number, err := strconv.ParseInt(n.scalar, 10, 64)
	if how%3 == 0 && err == nil {
		n.scalar = strconv.FormatInt(number+int64(int8(what)), 10)
		return
	}
	n.scalar = numbers[int(what)%len(numbers)]
}

func (n *node) changeText(how, what byte) {
	inner := n.scalar[1 : len(n.scalar)-1]
	if len(inner) == 0 || how%3 == 0 || strings.Contains(inner, `\`) {
		n.scalar = texts[int(what)%len(texts)]
		return
	}
	at := int(what) * len(inner) >> 8
	if how%3 == 1 {
		n.scalar = `"` + strings.ToValidUTF8(inner[:at]+string('A'+how%58)+inner[at+1:], "") + `"`
		n.scalar = strings.ReplaceAll(n.scalar, `\`, "A")
		return
	}
	n.scalar = `"` + strings.ToValidUTF8(inner[:at], "") + `"`
}

func (m *mutation) changeParts(n *node, how, what byte) {
	if len(n.parts) == 0 {
		*n = node{scalar: numbers[int(what)%len(numbers)]}
		return
	}
	at := int(what) * len(n.parts) >> 8
	last := len(n.parts) - 1
	switch how % 6 {
	case 0: // remove one
		n.parts = slices.Delete(n.parts, at, at+1)
		if n.object {
			n.names = slices.Delete(n.names, at, at+1)
		}
	case 1: // duplicate one
		n.parts = append(n.parts, m.copyOf(n.parts[at]))
		if n.object {
			n.names = append(n.names, n.names[at])
		}
	case 2: // change the order
		n.parts[at], n.parts[last] = n.parts[last], n.parts[at]
	case 3: // make it much longer
		for k := range 300 {
			n.parts = append(n.parts, m.copyOf(n.parts[at]))
			if n.object {
				n.names = append(n.names, fmt.Sprint(n.names[at], k))
			}
		}
	case 4: // make it shorter
		n.parts = n.parts[:at]
		if n.object {
			n.names = n.names[:at]
		}
	case 5: // rename a member, or empty it
		if !n.object {
			n.parts = nil
			return
		}
		n.names[at] = n.names[last]
	}
}
