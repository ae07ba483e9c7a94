// Package configedit changes configuration files of other programs. It adds an entry to a JSON file, or removes one, and keeps
// every other byte: comments, order, indentation and line ends. It parses the file to find the place and edits the text there. A
// file that its own program would reject gives an error with line and column, and is not changed.
package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Dialect is the syntax that a program accepts besides JSON.
type Dialect struct {
	Comments       bool
	TrailingCommas bool
	UniqueNames    bool // duplicate names in an object are an error
}

// SyntaxError is the place and the reason of invalid syntax.
type SyntaxError struct {
	Line, Column int // from 1; the column counts bytes
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

var bom = []byte("\ufeff")

// Document is a parsed JSON file.
type Document struct {
	dialect Dialect
	data    []byte // the whole file
	offset  int    // of body in data: the length of the byte order mark
	root    hujson.Value
}

// ParseJSON parses a file. An empty file is an empty object. The error is a *SyntaxError.
func ParseJSON(data []byte, dialect Dialect) (*Document, error) {
	d := &Document{dialect: dialect, data: bytes.Clone(data)}
	if bytes.HasPrefix(data, bom) {
		d.offset = len(bom)
	}
	body := d.data[d.offset:]
	if len(bytes.TrimSpace(body)) == 0 {
		d.data = append(d.data[:d.offset:d.offset], "{}\n"...)
		body = d.data[d.offset:]
	}
	root, err := hujson.Parse(body)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	d.root = root
	return d, d.check()
}

// syntaxError converts an error of the parser, which has the place only in its text.
func (d *Document) syntaxError(err error) error {
	var line, column int
	text := err.Error()
	if _, scanned := fmt.Sscanf(text, "hujson: line %d, column %d:", &line, &column); scanned == nil {
		_, text, _ = strings.Cut(text, ": ")
		_, text, _ = strings.Cut(text, ": ")
		return &SyntaxError{line, column, text}
	}
	at := d.at(len(d.data))
	at.Reason = text
	return at
}

// at returns the place of an offset in the file.
func (d *Document) at(offset int) *SyntaxError {
	before := d.data[:min(offset, len(d.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return &SyntaxError{Line: line, Column: len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1}
}

// check returns the first violation of the dialect.
func (d *Document) check() error {
	var wrong *SyntaxError
	note := func(offset int, reason string) {
		if wrong == nil {
			wrong = d.at(d.offset + offset)
			wrong.Reason = reason
		}
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		note(d.root.StartOffset, "the file is not a JSON object")
	}
	for v := range d.root.All() {
		if !d.dialect.Comments {
			if !v.BeforeExtra.IsStandard() {
				note(v.StartOffset-len(v.BeforeExtra), "the program that reads this file does not accept comments")
			}
			if !v.AfterExtra.IsStandard() {
				note(v.EndOffset, "the program that reads this file does not accept comments")
			}
		}
		last, after := lastOf(v)
		if last != nil && !d.dialect.TrailingCommas && last.AfterExtra != nil {
			note(last.EndOffset, "the program that reads this file does not accept a comma here")
		}
		if !d.dialect.Comments && !after.IsStandard() {
			note(v.EndOffset-1-len(after), "the program that reads this file does not accept comments")
		}
		if o, ok := v.Value.(*hujson.Object); ok && d.dialect.UniqueNames {
			names := make(map[string]bool)
			for _, m := range o.Members {
				name := m.Name.Value.(hujson.Literal).String()
				if names[name] {
					note(m.Name.StartOffset, fmt.Sprintf("duplicate name %q", name))
				}
				names[name] = true
			}
		}
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

// lastOf returns the last value in an object or an array, and the text before the closing bracket.
func lastOf(v *hujson.Value) (last *hujson.Value, after hujson.Extra) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			last = &c.Members[n-1].Value
		}
		return last, c.AfterExtra
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			last = &c.Elements[n-1]
		}
		return last, c.AfterExtra
	}
	return nil, nil
}

// Bytes returns the current content.
func (d *Document) Bytes() []byte { return bytes.Clone(d.data) }

// find returns the member of an object with the name. Of duplicates it returns the last, which programs use.
func find(v *hujson.Value, name string) *hujson.Value {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for k := len(o.Members) - 1; k >= 0; k-- {
		if o.Members[k].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[k].Value
		}
	}
	return nil
}

// Value returns the value at a path of names as JSON, or nil if there is none.
func (d *Document) Value(path ...string) json.RawMessage {
	v := &d.root
	for _, name := range path {
		if v = find(v, name); v == nil {
			return nil
		}
	}
	standard := v.Clone()
	standard.Minimize()
	standard.BeforeExtra, standard.AfterExtra = nil, nil
	return standard.Pack()
}

// errKind means that a value on the path has another type.
var errKind = errors.New("a value on the path has another type")

// Set adds a member with a value to the object at a path, which is created if it is missing. An existing member is an error.
func (d *Document) Set(value any, path ...string) error {
	return d.add(path, value, false)
}

// Append adds an element to the array at a path, which is created if it is missing.
func (d *Document) Append(element any, path ...string) error {
	return d.add(path, element, true)
}

func (d *Document) add(path []string, value any, element bool) error {
	v := &d.root
	for k, name := range path {
		next := find(v, name)
		if next == nil {
			for _, rest := range slices.Backward(path[k+1:]) {
				if element {
					value, element = []any{value}, false
				}
				value = map[string]any{rest: value}
			}
			if element {
				value = []any{value}
			}
			return d.insert(v, name, value)
		}
		v = next
	}
	if !element {
		return fmt.Errorf("add %s: it already exists", strings.Join(path, "."))
	}
	if _, ok := v.Value.(*hujson.Array); !ok {
		return fmt.Errorf("add to %s: %w", strings.Join(path, "."), errKind)
	}
	return d.insert(v, "", value)
}

// insert adds a member or an element at the end of an object or an array, in the style of the others.
func (d *Document) insert(into *hujson.Value, name string, value any) error {
	if _, ok := into.Value.(*hujson.Object); ok != (name != "") {
		return fmt.Errorf("add %s: %w", name, errKind)
	}
	style := d.style(into)
	text, err := style.render(name, value)
	if err != nil {
		return err
	}
	last, _ := lastOf(into)
	var at int
	switch {
	case last == nil:
		at = into.EndOffset - 1
		if style.inline {
			break
		}
		text = style.newline + style.indent + text
		if gap := d.data[d.offset+into.StartOffset+1 : d.offset+at]; !bytes.Contains(gap, []byte("\n")) {
			text += style.newline + style.outer
		} else {
			at -= len(gap) - len(bytes.TrimRight(gap, " \t\r\n")) // before the line of the bracket
		}
	case last.AfterExtra != nil && d.hasComma(last):
		at = last.EndOffset + len(last.AfterExtra) + 1
		text = style.before() + text
		if d.dialect.TrailingCommas {
			text += "," // in the style of the others
		}
	default:
		at = last.EndOffset
		text = "," + style.before() + text
	}
	return d.splice(at, at, text)
}

// hasComma reports whether a comma follows the last value. Only then does it have an AfterExtra.
func (d *Document) hasComma(last *hujson.Value) bool {
	at := d.offset + last.EndOffset + len(last.AfterExtra)
	return at < len(d.data) && d.data[at] == ','
}

// splice replaces a part of the file and parses the result.
func (d *Document) splice(from, to int, text string) error {
	next := slices.Concat(d.data[:d.offset+from], []byte(text), d.data[d.offset+to:])
	parsed, err := ParseJSON(next, d.dialect)
	if err != nil {
		return fmt.Errorf("change the file: %w", err)
	}
	*d = *parsed
	return nil
}
