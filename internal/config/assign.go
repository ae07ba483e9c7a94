package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// assigner sets the fields of a Config, and gathers what is wrong and where each field was set.
type assigner struct {
	mistakes mistakes
	origins  map[string]string // by path
	at       func(*yaml.Node) string
}

// set sets v, which has the path, to what the node says.
func (a *assigner) set(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return // a name without a value leaves what is
	}
	a.origins[path] = a.at(n)
	if text, ok := asText(v); ok {
		a.scalar(path, n, func(s string) error { return text.UnmarshalText([]byte(s)) })
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		a.group(path, v, n)
	case reflect.Slice:
		a.list(path, v, n)
	case reflect.Map:
		a.settings(path, v.Addr().Interface().(*Settings), n)
	case reflect.String:
		a.scalar(path, n, func(s string) error { v.SetString(s); return nil })
	case reflect.Bool:
		a.scalar(path, n, func(s string) error {
			b, err := strconv.ParseBool(strings.ToLower(s))
			if v.SetBool(b); err != nil {
				return fmt.Errorf("%q must be true or false", s)
			}
			return nil
		})
	default:
		a.scalar(path, n, func(s string) error {
			i, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
			if v.SetInt(int64(i)); err != nil {
				return fmt.Errorf("%q must be a whole number", s)
			}
			return nil
		})
	}
}

func (a *assigner) scalar(path string, n *yaml.Node, read func(string) error) {
	if n.Kind != yaml.ScalarNode {
		a.mistakes.add(a.at(n), path, "%s: want a single value", path)
		return
	}
	if err := read(n.Value); err != nil {
		a.mistakes.add(a.at(n), path, "%s: %v", path, err)
	}
}

func (a *assigner) group(path string, v reflect.Value, n *yaml.Node) {
	for name, value := range a.members(path, n) {
		i := slices.Index(names(v.Type()), name.Value)
		if i < 0 {
			a.unknown(path, v.Type(), name)
			continue
		}
		a.set(join(path, name.Value), v.Field(i), value)
	}
}

// members yields the names and values of a mapping, each name once.
func (a *assigner) members(path string, n *yaml.Node) func(yield func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			a.mistakes.add(a.at(n), path, "%s: want names with values, as NAME: VALUE", orWhole(path))
			return
		}
		seen := make(map[string]bool)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i]
			if seen[name.Value] {
				a.mistakes.add(a.at(name), join(path, name.Value), "%s is set twice", join(path, name.Value))
				continue
			}
			seen[name.Value] = true
			if !yield(name, n.Content[i+1]) {
				return
			}
		}
	}
}

// unknown says that there is no such setting, and which was meant: one of that name elsewhere, else a near one of the group.
func (a *assigner) unknown(path string, group reflect.Type, name *yaml.Node) {
	here := names(group)
	meant := ""
	for f := range fields("", reflect.ValueOf(Config{})) {
		if strings.HasSuffix(f.path, "."+name.Value) {
			meant = f.path
		}
	}
	if near := nearest(name.Value, here); meant == "" && near != "" {
		meant = join(path, near)
	}
	if meant != "" {
		a.mistakes.add(a.at(name), path, "there is no setting %s; did you mean %s?", join(path, name.Value), meant)
		return
	}
	a.mistakes.add(a.at(name), path, "there is no setting %s; there are %s", join(path, name.Value), strings.Join(here, ", "))
}

// list sets a list anew: what was in it before is gone.
func (a *assigner) list(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		a.mistakes.add(a.at(n), path, "%s: want a list, such as [a, b]", path)
		return
	}
	v.SetZero()
	for i, item := range n.Content {
		element := reflect.New(v.Type().Elem()).Elem()
		a.set(fmt.Sprintf("%s[%d]", path, i), element, item)
		v.Set(reflect.Append(v, element))
	}
}

// settings adds to the settings of the profile, or replaces them by their names.
func (a *assigner) settings(path string, to *Settings, n *yaml.Node) {
	for name, value := range a.members(path, n) {
		text, err := oneLine(value)
		if err != nil {
			a.mistakes.add(a.at(value), join(path, name.Value), "%s: %v", join(path, name.Value), err)
			continue
		}
		if *to == nil {
			*to = make(Settings)
		}
		(*to)[name.Value] = text
		a.origins[join(path, name.Value)] = a.at(name)
	}
}

// oneLine writes a value as JSON, which is YAML on one line.
func oneLine(n *yaml.Node) (string, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", errors.New("not a valid value of a setting")
	}
	return string(text), nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func orWhole(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}
