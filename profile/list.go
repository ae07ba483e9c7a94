package profile

import "reflect"

// Setting is one of a profile's settings.
type Setting struct {
	Name  string // as it stands in YAML
	Value any    // a number, a truth value, a list of texts, or a mapping
	Doc   string // what it is, in a line
}

// List returns the profile's settings in their order, those that all profiles have last.
func (p *Profile) List() []Setting {
	if p.settings == nil {
		return nil
	}
	about := fieldDocs(reflect.TypeOf(p.settings).Elem())
	var list []Setting
	for name, value := range settingFields(reflect.ValueOf(p.settings).Elem()) {
		list = append(list, Setting{name, value.Interface(), about[name]})
	}
	return list
}
