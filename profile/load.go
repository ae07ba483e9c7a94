package profile

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Source is the source of a profile. Sets take precedence over Config.
type Source struct {
	Name   string   // of a built-in profile; "" means the one in Config, else Default
	Config []byte   // a YAML document with "profile: NAME" and settings by name; nil for none
	Sets   []string // single settings, each NAME=VALUE, where VALUE is YAML
}

// Load makes a built-in profile with the settings of src. The error joins all invalid settings, each with its name. It is an
// error if Name and Config name different profiles.
func Load(src Source) (*Profile, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(src.Config, &document); err != nil {
		return nil, fmt.Errorf("config: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	fields, err := mapping(&document)
	if err != nil {
		return nil, err
	}
	name, err := profileName(src.Name, fields)
	if err != nil {
		return nil, err
	}
	settings, err := defaults(name)
	if err != nil {
		return nil, err
	}
	mistakes := apply(settings, fields, "config: ")
	for _, set := range src.Sets {
		mistakes = append(mistakes, applySet(settings, set)...)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return FromSettings(settings)
}

// field is a member of a YAML mapping.
type field struct{ name, value *yaml.Node }

func mapping(document *yaml.Node) ([]field, error) {
	if len(document.Content) == 0 {
		return nil, nil
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("config: line %d: a mapping of settings is wanted, such as profile: %s", top.Line, Default)
	}
	var fields []field
	for i := 0; i+1 < len(top.Content); i += 2 {
		fields = append(fields, field{top.Content[i], top.Content[i+1]})
	}
	return fields, nil
}

func profileName(asked string, fields []field) (string, error) {
	for _, f := range fields {
		if f.name.Value != "profile" {
			continue
		}
		if asked != "" && asked != f.value.Value {
			return "", fmt.Errorf("config: line %d: the document is for profile %s, but %s was asked for", f.name.Line, f.value.Value, asked)
		}
		asked = f.value.Value
	}
	if asked == "" {
		return Default, nil
	}
	return asked, nil
}

// apply sets the fields and returns an error for each that is invalid.
func apply(settings Settings, fields []field, where string) (mistakes []error) {
	known := settingNames(settings)
	for _, f := range fields {
		if f.name.Value == "profile" {
			continue
		}
		if !slices.Contains(known, f.name.Value) {
			mistakes = append(mistakes, fmt.Errorf("%sline %d: there is no setting %q; there are %s",
				where, f.name.Line, f.name.Value, strings.Join(known, ", ")))
			continue
		}
		if err := assign(settings, f); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%sline %d: %w", where, f.name.Line, err))
		}
	}
	return mistakes
}

func applySet(settings Settings, set string) []error {
	name, value, ok := strings.Cut(set, "=")
	if !ok {
		return []error{fmt.Errorf("%q is no setting: write NAME=VALUE", set)}
	}
	if known := settingNames(settings); !slices.Contains(known, name) {
		return []error{fmt.Errorf("there is no setting %q; there are %s", name, strings.Join(known, ", "))}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(value), &node); err != nil || len(node.Content) == 0 {
		return []error{fmt.Errorf("%s: %q is no value", name, value)}
	}
	if err := assign(settings, field{&yaml.Node{Value: name}, node.Content[0]}); err != nil {
		return []error{err}
	}
	return nil
}

// assign sets one field, whose name must be known.
func assign(settings Settings, f field) error {
	for name, value := range settingFields(reflect.ValueOf(settings).Elem()) {
		if name != f.name.Value {
			continue
		}
		if value.Kind() == reflect.Int && f.value.ShortTag() == "!!float" {
			return fmt.Errorf("%s: %q is no whole number", name, f.value.Value) // YAML would truncate it
		}
		if err := decodeStrict(f.value, value.Addr().Interface()); err != nil {
			if f.value.Kind == yaml.ScalarNode {
				return fmt.Errorf("%s: %q is no %s", name, f.value.Value, kindWord(value.Kind()))
			}
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// decodeStrict decodes a value. An unknown member is an error.
func decodeStrict(node *yaml.Node, to any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	return decoder.Decode(to)
}

// settingFields yields the fields of settings with their names. Those that all profiles share are last.
func settingFields(settings reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for i := range settings.NumField() {
			name := settings.Type().Field(i).Tag.Get("yaml")
			if name == "" { // the parts of a custom profile
				continue
			}
			if name == ",inline" {
				for name, value := range settingFields(settings.Field(i)) {
					if !yield(name, value) {
						return
					}
				}
				continue
			}
			if !yield(name, settings.Field(i)) {
				return
			}
		}
	}
}

func kindWord(k reflect.Kind) string {
	switch k {
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "mapping"
	}
	return k.String()
}

// settingNames returns the YAML names of the settings, in order.
func settingNames(settings Settings) []string {
	var names []string
	for name := range settingFields(reflect.ValueOf(settings).Elem()) {
		names = append(names, name)
	}
	return names
}
