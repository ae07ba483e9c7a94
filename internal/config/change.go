package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// errNoFile means that the server has no configuration file.
var errNoFile = errors.New("the server has no configuration file; unloop init writes one")

// Change is a value of a setting of the profile, for one tool or for all.
type Change struct {
	Tool    string // "" for all
	Setting string
	Value   float64
}

// path returns the names of the mappings that lead to the setting, and the setting.
func (c Change) path() []string {
	if c.Tool == "" {
		return []string{"settings", c.Setting}
	}
	return []string{"settings", "tools", c.Tool, c.Setting}
}

// YAML returns the change as a part of a configuration file.
func (c Change) YAML() string {
	root := &yaml.Node{Kind: yaml.MappingNode}
	_ = set(root, c.path(), c.Value) // a new mapping takes every path
	return string(encoded(root))
}

// Apply writes a change into a configuration file and keeps the rest of it, with its comments. The file is replaced at once, and only by
// one that is valid.
func Apply(path string, c Change) error {
	if path == "" {
		return errNoFile
	}
	data, err := ServerFile.Read(path)
	if err != nil {
		return err
	}
	changed, err := apply(path, data, c)
	if err != nil {
		return err
	}
	return replace(path, changed)
}

// apply returns the content of a file with the change.
func apply(path string, data []byte, c Change) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	var changed []byte
	if len(document.Content) == 0 || member(document.Content[0], "settings") == nil {
		// A part of its own at the end leaves every other line as it is.
		changed = append(bytes.TrimRight(data, "\n"), "\n"+c.YAML()...)
		changed = bytes.TrimLeft(changed, "\n")
	} else {
		if err := set(document.Content[0], c.path(), c.Value); err != nil {
			return nil, err
		}
		changed = encoded(&document)
	}
	if _, _, err := build(path, changed, nil, Source{}); err != nil {
		return nil, fmt.Errorf("the configuration would be invalid: %w", err)
	}
	return changed, nil
}

// member returns the value of a member of a mapping, or nil.
func member(of *yaml.Node, name string) *yaml.Node {
	if of.Kind != yaml.MappingNode {
		return nil
	}
	for k := 0; k+1 < len(of.Content); k += 2 {
		if of.Content[k].Value == name {
			return of.Content[k+1]
		}
	}
	return nil
}

// set sets the value at a path below a mapping, and makes the mappings that are missing.
func set(in *yaml.Node, path []string, value float64) error {
	for _, name := range path[:len(path)-1] {
		next := member(in, name)
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode}
			in.Content = append(in.Content, text(name), next)
		}
		if next.Kind == yaml.ScalarNode && next.Tag == "!!null" { // settings: without a value
			*next = yaml.Node{Kind: yaml.MappingNode}
		}
		if next.Kind != yaml.MappingNode {
			return fmt.Errorf("%s is not a mapping in the configuration file; line %d", name, next.Line)
		}
		if len(next.Content) == 0 {
			next.Style = 0 // {} becomes a block
		}
		in = next
	}
	number := &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(value, 'f', -1, 64)}
	name := path[len(path)-1]
	if old := member(in, name); old != nil {
		old.Kind, old.Tag, old.Style, old.Value = number.Kind, "", 0, number.Value
		return nil
	}
	in.Content = append(in.Content, text(name), number)
	return nil
}

// text returns a name as a node. A name that looks like a number or a boolean is quoted.
func text(name string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(name)
	return n
}

func encoded(n *yaml.Node) []byte {
	var out bytes.Buffer
	to := yaml.NewEncoder(&out)
	to.SetIndent(2)
	_ = to.Encode(n) // a buffer takes everything
	_ = to.Close()
	return out.Bytes()
}

// replace writes a file in place of another of the same name, with its permissions.
func replace(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
