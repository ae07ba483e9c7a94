package configedit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// style is the layout of the values in an object or an array.
type style struct {
	inline  bool   // all on one line
	newline string // "\n" or "\r\n"
	outer   string // the indentation of the closing bracket
	indent  string // the indentation of the values
	unit    string // one level
}

// style returns the layout of an object or array. An empty one gets the layout of the file.
func (d *Document) style(v *hujson.Value) style {
	s := style{newline: "\n", unit: d.unit()}
	if bytes.Contains(d.data, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	first := firstOf(v)
	if first != nil {
		s.inline = !bytes.Contains(d.data[d.offset+v.StartOffset:d.offset+first.StartOffset], []byte("\n"))
		s.indent = d.indentAt(first.StartOffset)
		s.outer = strings.TrimSuffix(s.indent, s.unit)
		return s
	}
	s.inline = !bytes.Contains(bytes.TrimSpace(d.data), []byte("\n")) && len(bytes.TrimSpace(d.data[d.offset:])) > 2
	s.outer = d.indentAt(v.StartOffset)
	s.indent = s.outer + s.unit
	return s
}

func firstOf(v *hujson.Value) *hujson.Value {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if len(c.Members) > 0 {
			return &c.Members[0].Name
		}
	case *hujson.Array:
		if len(c.Elements) > 0 {
			return &c.Elements[0]
		}
	}
	return nil
}

// indentAt returns the white space at the beginning of the line of an offset.
func (d *Document) indentAt(offset int) string {
	line := d.data[:d.offset+offset]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	line = bytes.TrimPrefix(line, bom)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns one level of the file's indentation, which is that of its first value.
func (d *Document) unit() string {
	if first := firstOf(&d.root); first != nil {
		if indent := d.indentAt(first.StartOffset); indent != "" {
			return indent
		}
	}
	return "  "
}

// before returns the text between a comma and the next value.
func (s *style) before() string {
	if s.inline {
		return " "
	}
	return s.newline + s.indent
}

// render encodes a value, after its name if it is a member.
func (s *style) render(name string, value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if !s.inline {
		encoder.SetIndent(s.indent, s.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if name != "" {
		quoted, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		text = string(quoted) + ": " + text
	}
	return strings.ReplaceAll(text, "\n", s.newline), nil
}
