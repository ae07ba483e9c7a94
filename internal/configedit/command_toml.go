package configedit

import (
	"bytes"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// TOMLCommands returns the commands among the members of the table with a name, however it is written: with headers, dotted keys or
// inline tables.
func TOMLCommands(data []byte, table string) ([]Command, error) {
	if err := checkTOML(data); err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(data, bom)
	r := commandReader{data: data, offset: len(data) - len(body), table: table, commands: make(map[string]*Command)}
	var p unstable.Parser
	p.Reset(body)
	var header []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			header, _ = r.key(e.Key())
		case unstable.ArrayTable:
			header = []string{""} // a list of tables is no entry
		case unstable.KeyValue:
			r.read(header, e, false)
		}
	}
	if err := p.Error(); err != nil {
		return nil, &SyntaxError{1, 1, err.Error()}
	}
	var commands []Command
	for _, name := range r.names {
		if c := r.commands[name]; c.place != (span{}) && !slices.Contains(r.odd, name) {
			commands = append(commands, *c)
		}
	}
	return commands, nil
}

// commandReader collects commands from the expressions of a file.
type commandReader struct {
	data     []byte
	offset   int // of the parsed text in data
	table    string
	commands map[string]*Command
	names    []string // of the commands, in their order
	odd      []string // names of entries whose members have other types
}

// key returns the parts of a key and its place.
func (r *commandReader) key(key unstable.Iterator) (parts []string, at span) {
	for key.Next() {
		n := key.Node()
		if parts == nil {
			at.start = r.offset + int(n.Raw.Offset)
		}
		at.end = r.offset + int(n.Raw.Offset) + int(n.Raw.Length)
		parts = append(parts, string(n.Data))
	}
	return parts, at
}

// read reads a pair of key and value below a prefix.
func (r *commandReader) read(prefix []string, pair *unstable.Node, inline bool) {
	parts, at := r.key(pair.Key())
	full, value := slices.Concat(prefix, parts), pair.Value()
	if full[0] != r.table || len(full) > 3 {
		return
	}
	if value.Kind == unstable.InlineTable {
		for members := value.Children(); members.Next(); {
			r.read(full, members.Node(), true)
		}
		return
	}
	if len(full) < 3 || full[2] != "command" && full[2] != "args" {
		return
	}
	c, ok := r.commands[full[1]]
	if !ok {
		c = &Command{Name: full[1]}
		r.commands[full[1]], r.names = c, append(r.names, full[1])
	}
	switch {
	case full[2] == "command" && value.Kind == unstable.String:
		c.Program, c.place, c.key = string(value.Data), r.at(value), at
		c.equals, c.newline = " = ", ", "
		if !inline {
			c.newline = lineEnd(r.data) + string(r.data[bytes.LastIndexByte(r.data[:at.start], '\n')+1:at.start])
		}
	case full[2] == "args" && value.Kind == unstable.Array && r.list(c, value, at):
	default:
		r.odd = append(r.odd, full[1])
	}
}

func (r *commandReader) at(n *unstable.Node) span {
	return span{r.offset + int(n.Raw.Offset), r.offset + int(n.Raw.Offset) + int(n.Raw.Length)}
}

// list reads the arguments. It reports false if one of them is no string.
func (r *commandReader) list(c *Command, value *unstable.Node, key span) bool {
	c.argsKey = key
	c.list.start = key.end + bytes.IndexByte(r.data[key.end:], '[')
	end := c.list.start + 1
	for elements := value.Children(); elements.Next(); {
		switch n := elements.Node(); n.Kind {
		case unstable.String:
			c.elements, c.Args = append(c.elements, r.at(n)), append(c.Args, string(n.Data))
			end = r.at(n).end
		case unstable.Comment:
			end = r.at(n).end
		default:
			return false
		}
	}
	c.list.end = end + bytes.IndexByte(r.data[end:], ']') + 1
	return true
}

// lineEnd returns the line end that a file uses.
func lineEnd(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
