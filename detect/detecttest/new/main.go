// Command new writes the skeleton of a detector: its file, its section in doc.go, its entry in the suite of the tests, and two
// golden traces. One of them fails until the detector finds what it wants. Run it with make detector NAME=my_rule.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make detector NAME=my_rule")
		os.Exit(2)
	}
	written, err := write("detect", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, path := range written {
		fmt.Println("wrote", path)
	}
	fmt.Println("next: go test ./detect fails until the detector finds what its traces want; then give it to a profile")
}

var ruleName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// file is the path and the text of a file to write.
type file struct{ path, text string }

// write adds the detector of a rule to the package in dir and returns the paths of the written files. It writes nothing if the
// rule exists or the package does not have the expected form.
func write(dir, rule string) ([]string, error) {
	if !ruleName.MatchString(rule) {
		return nil, fmt.Errorf("invalid rule name %q: want words in lower case, joined by underscores", rule)
	}
	page, err := insert(filepath.Join(dir, "doc.go"), "\n*/\npackage detect\n", fill(pageText, rule))
	if err != nil {
		return nil, err
	}
	suite, err := insert(filepath.Join(dir, "suite_test.go"), "\t}\n}\n", fill(suiteText, rule))
	if err != nil {
		return nil, err
	}
	if strings.Count(page.text, "\n# "+rule+"\n") > 1 {
		return nil, fmt.Errorf("%s: there is a rule %s", page.path, rule)
	}
	traces := filepath.Join(dir, "testdata", rule)
	files := []file{
		{filepath.Join(dir, rule+".go"), fill(detectorText, rule)},
		{filepath.Join(traces, "the-third-time-is-too-much.trace"), fill(firingText, rule)},
		{filepath.Join(traces, "twice-is-nothing.trace"), fill(quietText, rule)},
	}
	for _, f := range files {
		if _, err := os.Stat(f.path); !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s is there already", f.path)
		}
	}
	if err := os.MkdirAll(traces, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the traces: %w", err)
	}
	var written []string
	for _, f := range append(files, page, suite) {
		if err := os.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
			return written, fmt.Errorf("writing the detector: %w", err)
		}
		written = append(written, f.path)
	}
	return written, nil
}

// insert returns the file with text inserted before its end.
func insert(path, end, text string) (file, error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return file{}, fmt.Errorf("reading the package: %w", err)
	}
	body, ok := strings.CutSuffix(string(before), end)
	if !ok {
		return file{}, fmt.Errorf("%s does not end in %q", path, end)
	}
	return file{path, body + text + end}, nil
}

// fill inserts the names of the rule and of its type into a text.
func fill(text, rule string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(rule, "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return strings.NewReplacer("RULE", rule, "TYPE", name.String()).Replace(text)
}
