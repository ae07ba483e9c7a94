package settings

import (
	"encoding"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decoder sets the fields of structs by their yaml tags, and collects the errors and the places of the values. It continues after
// errors, so that it finds all of them.
type Decoder struct {
	Errors Errors
	Places map[string]Place       // places of the given values, by path
	At     func(*yaml.Node) Place // place of a node
	Known  []string               // paths that an unknown name is compared with, besides those of its group
}

// NewDecoder returns a decoder of single values without a place.
func NewDecoder(known ...string) *Decoder {
	return &Decoder{Places: make(map[string]Place), At: func(*yaml.Node) Place { return Place{} }, Known: known}
}

// Member is a map that decodes its own members.
type Member interface {
	SetMember(name string, value *yaml.Node) error
}

// Set sets v, whose path is path, to the value of the node. A null leaves v unchanged.
func (d *Decoder) Set(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	d.Places[path] = d.At(n)
	switch to := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		d.text(path, to, n)
		return
	case Member:
		d.byItself(path, to, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.group(path, v, n)
	case reflect.Slice:
		d.list(path, v, n)
	case reflect.Map:
		for name, value := range d.Members(path, n) {
			d.entry(path, v, name, value)
		}
	default:
		d.scalar(path, v, n)
	}
}

func (d *Decoder) single(path string, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		d.Errors.Add(d.At(n), path, "%s: want a single value", path)
		return false
	}
	return true
}

func (d *Decoder) text(path string, to encoding.TextUnmarshaler, n *yaml.Node) {
	if !d.single(path, n) {
		return
	}
	if err := to.UnmarshalText([]byte(n.Value)); err != nil {
		d.Errors = append(d.Errors, &Error{Place: d.At(n), Field: path, Value: n.Value, Reason: fmt.Sprintf("%s: %v", path, err)})
	}
}

func (d *Decoder) byItself(path string, to Member, n *yaml.Node) {
	for name, value := range d.Members(path, n) {
		d.member(path, to, name, value)
	}
}

func (d *Decoder) member(path string, to Member, name, value *yaml.Node) {
	at := Join(path, name.Value)
	if err := to.SetMember(name.Value, value); err != nil {
		d.Errors.Add(d.At(value), at, "%s: %v", at, err)
		return
	}
	d.Places[at] = d.At(name)
}

func (d *Decoder) scalar(path string, v reflect.Value, n *yaml.Node) {
	if !d.single(path, n) {
		return
	}
	var err error
	want := ""
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(strings.ToLower(n.Value))
		v.SetBool(b)
		want = "true or false"
	case reflect.Float64:
		err = n.Decode(v.Addr().Interface())
		want = "a number"
	default:
		var i int
		i, err = strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
		v.SetInt(int64(i))
		want = "a whole number"
	}
	if err != nil {
		d.Errors.Invalid(d.At(n), path, n.Value, want)
	}
}

func (d *Decoder) group(path string, v reflect.Value, n *yaml.Node) {
	for name, value := range d.Members(path, n) {
		d.Field(path, v, name, value)
	}
}

// Field sets a field of a struct. A struct with an inline map accepts every name, unless the map decodes its own members.
func (d *Decoder) Field(path string, v reflect.Value, name, value *yaml.Node) {
	var known []string
	var rest reflect.Value
	for field, at := range Fields(v) {
		if field == name.Value {
			d.Set(Join(path, field), at, value)
			return
		}
		if field == "" {
			rest = at
			continue
		}
		known = append(known, field)
	}
	if !rest.IsValid() {
		d.unknown(path, known, name)
		return
	}
	if to, ok := rest.Addr().Interface().(Member); ok {
		d.member(path, to, name, value)
		return
	}
	d.entry(path, rest, name, value)
}

// Fields yields the settings of a struct with their names. The fields of an embedded struct count as fields of the struct. The
// name of an inline map is "".
func Fields(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag.Get("yaml")
			if tag == "" {
				continue
			}
			name, _ := strings.CutSuffix(tag, ",inline")
			if name == "" && v.Field(i).Kind() == reflect.Struct {
				for name, field := range Fields(v.Field(i)) {
					if !yield(name, field) {
						return
					}
				}
				continue
			}
			if !yield(name, v.Field(i)) {
				return
			}
		}
	}
}

// Members yields the names and values of a mapping, each name once.
func (d *Decoder) Members(path string, n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			whole := path
			if path == "" {
				whole = "the configuration"
			}
			d.Errors.Add(d.At(n), path, "%s: want names with values, as NAME: VALUE", whole)
			return
		}
		seen := make(map[string]bool)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i]
			if at := Join(path, name.Value); seen[name.Value] {
				d.Errors.Add(d.At(name), at, "%s is set twice", at)
				continue
			}
			seen[name.Value] = true
			if !yield(name, n.Content[i+1]) {
				return
			}
		}
	}
}

// unknown adds an error about an unknown setting. It suggests a setting of the same name elsewhere, else one of the group that
// ends in the name or is similar.
func (d *Decoder) unknown(path string, group []string, name *yaml.Node) {
	at, meant := Join(path, name.Value), ""
	for _, known := range d.Known {
		if strings.HasSuffix(known, "."+name.Value) {
			meant = known
		}
	}
	for _, known := range group {
		if strings.HasSuffix(known, "_"+name.Value) {
			meant = Join(path, known)
		}
	}
	if near := Nearest(name.Value, group); meant == "" && near != "" {
		meant = Join(path, near)
	}
	wrong := &Error{Place: d.At(name), Field: at, Allowed: "one of " + strings.Join(group, ", ")}
	if wrong.Reason = fmt.Sprintf("unknown setting %q; settings: %s", at, strings.Join(group, ", ")); meant != "" {
		wrong.Reason = fmt.Sprintf("unknown setting %q; did you mean %s?", at, meant)
	}
	d.Errors = append(d.Errors, wrong)
}

// list sets a list. Earlier elements are dropped.
func (d *Decoder) list(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.Errors.Add(d.At(n), path, "%s: want a list, such as [a, b]", path)
		return
	}
	v.SetZero()
	for i, item := range n.Content {
		element := reflect.New(v.Type().Elem()).Elem()
		d.Set(fmt.Sprintf("%s[%d]", path, i), element, item)
		v.Set(reflect.Append(v, element))
	}
}

// entry sets an entry of a map, which replaces an earlier one with the same name.
func (d *Decoder) entry(path string, v reflect.Value, name, value *yaml.Node) {
	element := reflect.New(v.Type().Elem()).Elem()
	d.Set(Join(path, name.Value), element, value)
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(reflect.ValueOf(name.Value), element)
}

// Names returns the names of the settings and groups in a struct.
func Names(of reflect.Type) []string {
	var names []string
	for name := range Fields(reflect.New(of).Elem()) {
		names = append(names, name)
	}
	return slices.Clip(names)
}

// Join returns the path of a field in a group.
func Join(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path
	}
	return path + "." + name
}
