package profile

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unloop-ai/unloop/internal/settings"
)

// Source is the source of a profile. Sets take precedence over Config.
type Source struct {
	Name   string   // of a built-in profile; "" means the one in Config, else Default
	Config []byte   // a YAML document with "profile: NAME" and settings by name; nil for none
	File   string   // the name of Config in errors; "" means config
	Sets   []string // single settings, each NAME=VALUE, where VALUE is YAML
}

// SettingError is one error in settings. File and Line are the place of the value. Field is the name of the setting, such as
// tools.search.class. Value is the given value, and Allowed describes the allowed ones. Reason is a sentence with all of this but
// File and Line. Unknown fields are empty.
type SettingError = settings.Error

// Load makes a built-in profile with the settings of src. The error joins all invalid settings, each a *SettingError. It is an
// error if Name and Config name different profiles.
func Load(src Source) (*Profile, error) {
	d := settings.NewDecoder()
	file := src.File
	if file == "" {
		file = "config"
	}
	document := d.Document(file, src.Config)
	name := profileName(d, src.Name, document)
	if err := d.Errors.Err(); err != nil {
		return nil, err
	}
	values, err := defaults(name)
	if err != nil {
		return nil, err
	}
	to := reflect.ValueOf(values).Elem()
	if document != nil {
		for name, value := range d.Members("", document) {
			if name.Value != "profile" {
				d.Field("", to, name, value)
			}
		}
	}
	d.At = func(*yaml.Node) settings.Place { return settings.Place{} }
	for _, set := range src.Sets {
		assign(d, to, set)
	}
	if err := d.Errors.Err(); err != nil {
		return nil, err
	}
	p, err := FromSettings(values)
	return p, settings.Locate(err, d.Places)
}

// profileName returns the requested name, else the name in the document, else Default.
func profileName(d *settings.Decoder, wanted string, document *yaml.Node) string {
	if document != nil && document.Kind == yaml.MappingNode {
		for k := 0; k+1 < len(document.Content); k += 2 {
			name, value := document.Content[k], document.Content[k+1]
			if name.Value != "profile" {
				continue
			}
			if wanted != "" && wanted != value.Value {
				d.Errors = append(d.Errors, &SettingError{
					Place: d.At(name), Field: "profile", Value: value.Value, Allowed: wanted,
					Reason: fmt.Sprintf("the document is for profile %s, but %s was asked for", value.Value, wanted),
				})
			}
			wanted = value.Value
		}
	}
	if wanted == "" {
		return Default
	}
	return wanted
}

// assign sets one setting, given as NAME=VALUE.
func assign(d *settings.Decoder, to reflect.Value, set string) {
	name, value, ok := strings.Cut(set, "=")
	if !ok {
		d.Errors.Add(settings.Place{}, "", "invalid setting %q: want NAME=VALUE", set)
		return
	}
	if node, ok := d.Parse(name, value); ok {
		d.Field("", to, &yaml.Node{Value: name}, node)
	}
}
