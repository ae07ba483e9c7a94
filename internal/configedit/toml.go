package configedit

import (
	"bytes"
	"errors"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// checkTOML returns a *SyntaxError if a file is not valid TOML, or nil.
func checkTOML(data []byte) error {
	var any map[string]any
	err := toml.Unmarshal(bytes.TrimPrefix(data, bom), &any)
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return &SyntaxError{line, column, wrong.Error()}
	}
	if err != nil {
		return &SyntaxError{1, 1, err.Error()}
	}
	return nil
}

// Table is a table of a TOML file.
type Table struct {
	Key        []string
	start, end int // from the line of its header to that of the next one
}

// TOMLTables returns the tables of a file that have a header, in order. The error is a *SyntaxError.
func TOMLTables(data []byte) ([]Table, error) {
	if err := checkTOML(data); err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(data, bom)
	offset := len(data) - len(body)
	var tables []Table
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		t := Table{start: -1, end: len(data)}
		for key := e.Key(); key.Next(); {
			n := key.Node()
			if t.start < 0 {
				t.start = bytes.LastIndexByte(body[:n.Raw.Offset], '\n') + 1 + offset
			}
			t.Key = append(t.Key, string(n.Data))
		}
		if len(tables) > 0 {
			tables[len(tables)-1].end = t.start
		}
		tables = append(tables, t)
	}
	if err := p.Error(); err != nil {
		return nil, &SyntaxError{1, 1, err.Error()}
	}
	return tables, nil
}

// RemoveTOMLTables removes the tables that match, from their header to the next one, with their comments. It returns their
// number.
func RemoveTOMLTables(data []byte, match func(key []string) bool) ([]byte, int, error) {
	tables, err := TOMLTables(data)
	if err != nil {
		return nil, 0, err
	}
	out, n := bytes.Clone(data), 0
	for _, t := range slices.Backward(tables) {
		if match(t.Key) {
			out = slices.Delete(out, t.start, t.end)
			n++
		}
	}
	return out, n, checkTOML(out)
}
