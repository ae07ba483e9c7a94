package profile

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"github.com/unloop-ai/unloop/internal/settings"
)

// YAML returns the profile as a YAML document: its name, and every setting with its value and a comment. Load can read the
// document of a built-in profile. The document of a custom profile contains only the settings that all profiles share. It
// returns nil for the zero Profile.
func (p *Profile) YAML() []byte {
	if p.settings == nil {
		return nil
	}
	var document bytes.Buffer
	out := tabwriter.NewWriter(&document, 0, 0, 3, ' ', 0)
	fmt.Fprintf(out, "# %s: %s\nprofile: %s\n\n", p.name, p.title, p.name)
	for _, s := range p.List() {
		text, _ := yaml.Marshal(map[string]any{s.Name: s.Value}) // a setting is always valid YAML
		line := strings.TrimSuffix(string(text), "\n")
		if strings.Contains(line, "\n") {
			fmt.Fprintf(out, "# %s\n%s\n", s.Doc, line)
			continue
		}
		fmt.Fprintf(out, "%s\t# %s\n", line, s.Doc)
	}
	_ = out.Flush() // writing to a buffer never fails
	return document.Bytes()
}

// fieldDocs returns the descriptions of the settings by their names.
func fieldDocs(settings reflect.Type) map[string]string {
	docs := make(map[string]string)
	for i := range settings.NumField() {
		field := settings.Field(i)
		if field.Anonymous {
			for name, doc := range fieldDocs(field.Type) {
				docs[name] = doc
			}
			continue
		}
		docs[field.Tag.Get("yaml")] = field.Tag.Get("doc")
	}
	return docs
}

// Setting is a setting of a profile with its value.
type Setting struct {
	Name  string // in YAML
	Value any    // a number, a bool, a string, a list of strings, or a map
	Doc   string // the description, in one line
}

// List returns the settings of the profile in order. Those that all profiles share are last. The values must not be modified.
func (p *Profile) List() []Setting {
	if p.settings == nil {
		return nil
	}
	about := fieldDocs(reflect.TypeOf(p.settings).Elem())
	var list []Setting
	for name, value := range settings.Fields(reflect.ValueOf(p.settings).Elem()) {
		list = append(list, Setting{name, value.Interface(), about[name]})
	}
	return list
}
