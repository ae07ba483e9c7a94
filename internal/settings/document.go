package settings

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

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
		line, reason := explain(err, data)
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

func explain(err error, data []byte) (line int, reason string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1]) // 0 without a line
	if a := unknownAnchor.FindStringSubmatch(m[2]); a != nil {
		line = lineOfAlias(data, a[1])
	}
	for _, c := range cures {
		if strings.HasPrefix(m[2], c.reason) {
			return line, m[2] + ": " + c.cure
		}
	}
	return line, m[2]
}

// cures are what to do about reasons of the library that name none, by the beginning of the reason.
var cures = []struct{ reason, cure string }{
	{"found character that cannot start any token", "indent with spaces, and quote a value that begins with @, % or `"},
	{"did not find expected alphabetic or numeric character", "quote a value that begins with * or &"},
	{"unknown anchor", "quote a value that begins with *"},
	{"mapping values are not allowed", `quote a value that contains ": "`},
}

// unknownAnchor matches a reason of the library that has no line.
var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)

// lineOfAlias returns the first line with an alias of the name outside of a comment, from 1, and 0 if there is none.
func lineOfAlias(data []byte, name string) int {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line, _, _ = bytes.Cut(line, []byte("#"))
		if bytes.Contains(line, []byte("*"+name)) {
			return number
		}
	}
	return 0
}
