package configedit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Command is an entry of a file that starts a program: a member command with a string, and mostly a member args with a list of strings.
type Command struct {
	Name    string // of the entry
	Program string
	Args    []string

	place, key, argsKey span   // of the program, and of the names of the members
	equals              string // between a member's name and its value
	newline             string // between two members
	list                span   // of args with its brackets; empty if there is none
	elements            []span
}

// span is a part of a file.
type span struct{ start, end int }

func (s span) in(data []byte) string { return string(data[s.start:s.end]) }

// splice replaces a part of a file.
type splice struct {
	span
	text string
}

// JSONCommands returns the commands among the members of the object at a path. A "*" in the path matches each member.
func JSONCommands(data []byte, dialect Dialect, path ...string) ([]Command, error) {
	d, err := ParseJSON(data, dialect)
	if err != nil || len(d.data) != len(data) { // a blank file has none
		return nil, err
	}
	return d.commands(&d.root, path), nil
}

func (d *Document) commands(v *hujson.Value, path []string) (all []Command) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for k := range o.Members {
		name, value := o.Members[k].Name.Value.(hujson.Literal).String(), &o.Members[k].Value
		switch entry, ok := value.Value.(*hujson.Object); {
		case !ok || find(v, name) != value:
		case len(path) > 0 && (path[0] == name || path[0] == "*"):
			all = append(all, d.commands(value, path[1:])...)
		case len(path) == 0:
			if c, ok := d.command(entry); ok {
				c.Name = name
				all = append(all, c)
			}
		}
	}
	return all
}

// command reads an entry. Ok is false if it starts no program.
func (d *Document) command(entry *hujson.Object) (c Command, ok bool) {
	for k := range entry.Members {
		m := &entry.Members[k]
		at := func(v *hujson.Value) span { return span{d.offset + v.StartOffset, d.offset + v.EndOffset} }
		switch m.Name.Value.(hujson.Literal).String() {
		case "command":
			l, isLiteral := m.Value.Value.(hujson.Literal)
			ok = isLiteral && l.Kind() == '"'
			if ok {
				c.Program = l.String()
			}
			c.place, c.key = at(&m.Value), at(&m.Name)
			c.equals, c.newline = ": ", ","+cmp.Or(blanksBefore(d.data, c.key.start), " ")
		case "args":
			a, isArray := m.Value.Value.(*hujson.Array)
			if !isArray {
				return c, false
			}
			c.list, c.argsKey, c.elements, c.Args = at(&m.Value), at(&m.Name), nil, nil
			for n := range a.Elements {
				l, isLiteral := a.Elements[n].Value.(hujson.Literal)
				if !isLiteral || l.Kind() != '"' {
					return c, false
				}
				c.elements, c.Args = append(c.elements, at(&a.Elements[n])), append(c.Args, l.String())
			}
		}
	}
	return c, ok
}

// blanksBefore returns the white space that ends at an offset, from the last line end on.
func blanksBefore(data []byte, at int) string {
	blanks := data[len(bytes.TrimRight(data[:at], " \t\r\n")):at]
	if n := bytes.LastIndexByte(blanks, '\n'); n > 0 && blanks[n-1] == '\r' {
		blanks = blanks[n-1:]
	} else if n >= 0 {
		blanks = blanks[n:]
	}
	return string(blanks)
}

// Wrap returns the file with a program and its first arguments in front of a command, which becomes the next argument.
func Wrap(data []byte, commands []Command, program string, args ...string) []byte {
	var splices []splice
	for k := range commands {
		splices = append(splices, commands[k].wrap(data, program, args)...)
	}
	return apply(data, splices)
}

// Unwrap returns the file without the programs and their first n arguments. The argument behind them becomes the command.
func Unwrap(data []byte, commands []Command, n func(*Command) int) []byte {
	var splices []splice
	for k := range commands {
		splices = append(splices, commands[k].unwrap(data, n(&commands[k]))...)
	}
	return apply(data, splices)
}

// apply makes changes that do not overlap.
func apply(data []byte, splices []splice) []byte {
	slices.SortFunc(splices, func(a, b splice) int { return cmp.Compare(b.start, a.start) })
	for _, s := range splices {
		data = slices.Concat(data[:s.start], []byte(s.text), data[s.end:])
	}
	return data
}

func (c *Command) wrap(data []byte, program string, args []string) []splice {
	texts := make([]string, 0, len(args)+1)
	for _, arg := range args {
		texts = append(texts, quote(arg))
	}
	texts = append(texts, c.place.in(data))
	change := splice{span{c.key.start, c.key.start}, ""}
	switch {
	case c.list == span{}:
		name := c.key.in(data)
		k := strings.LastIndex(name, "command")
		change.text = name[:k] + "args" + name[k+len("command"):] + c.equals + "[" + strings.Join(texts, ", ") + "]" + c.newline
	case len(c.elements) == 0:
		change.span = span{c.list.start + 1, c.list.start + 1}
		change.text = strings.Join(texts, ", ")
	default:
		first := c.elements[0].start
		change.span = span{first, first}
		blanks := blanksBefore(data[c.list.start+1:], first-c.list.start-1)
		if !strings.Contains(blanks, "\n") {
			blanks = " "
		}
		change.text = strings.Join(texts, ","+blanks) + "," + blanks
	}
	return []splice{{c.place, quote(program)}, change}
}

func (c *Command) unwrap(data []byte, n int) []splice {
	program := splice{c.place, c.elements[n].in(data)}
	if n+1 < len(c.elements) {
		return []splice{program, {span{c.elements[0].start, c.elements[n+1].start}, ""}}
	}
	between := strings.TrimSpace(span{c.list.end, max(c.list.end, c.key.start)}.in(data))
	if c.list.end <= c.key.start && (between == "" || between == ",") { // as wrap writes it where there was none
		return []splice{program, {span{c.argsKey.start, c.key.start}, ""}}
	}
	end := c.elements[n].end
	if rest := bytes.TrimLeft(data[end:c.list.end], " \t\r\n"); rest[0] == ',' {
		end = c.list.end - len(rest) + 1
	}
	return []splice{program, {span{c.elements[0].start, end}, ""}}
}

// quote returns a string as JSON and TOML write it.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
