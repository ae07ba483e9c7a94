package settings

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Document parses a file with one YAML document. It returns nil if the file is empty or has an error.
func (d *Decoder) Document(file string, data []byte) *yaml.Node {
	d.At = func(n *yaml.Node) Place { return Place{file, n.Line} }
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, further yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil // only comments
	}
	if err != nil {
		line, reason := explain(err)
		d.Errors.Add(Place{file, line}, "", "%s", reason)
		return nil
	}
	if err := decoder.Decode(&further); !errors.Is(err, io.EOF) {
		d.Errors.Add(Place{File: file}, "", "a second document follows the first")
	}
	return document.Content[0]
}

// Parse parses the YAML of one value.
func (d *Decoder) Parse(path, text string) (*yaml.Node, bool) {
	var document yaml.Node
	err := yaml.Unmarshal([]byte(text), &document)
	if err != nil || len(document.Content) == 0 {
		d.Errors.Add(d.At(&document), path, "%s: not valid YAML: want a value such as [a, b] or {name: value}", path)
		return nil, false
	}
	return document.Content[0], true
}

// yamlLine matches the line number in an error of the YAML library, which has the number only in its text.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

func explain(err error) (line int, reason string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1]) // 0 without a line
	return line, m[2]
}
