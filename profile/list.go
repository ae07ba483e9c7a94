package profile

import (
	"reflect"

	"github.com/unloop-ai/unloop/internal/settings"
)

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
