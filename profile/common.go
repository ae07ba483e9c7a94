package profile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/settings"
)

// Common has the settings that all profiles share.
type Common struct {
	Ignore []string          `yaml:"ignore" doc:"tools that are left out"`
	Shadow bool              `yaml:"shadow" doc:"report the action that would have been taken, and take none"`
	Shells []string          `yaml:"shells" doc:"further tools that take a command line"`
	Tools  map[string]Tool   `yaml:"tools" doc:"settings of single tools"`
	Nudges map[string]string `yaml:"nudges" doc:"texts for the agent by code, as Go templates"`
}

// Tool is the settings of a single tool: its effect, and settings of the profile with a different value for this tool.
type Tool struct {
	Class    string       `yaml:"class"` // the effect: read_only, mutating or polling; "" to derive it
	Settings ToolSettings `yaml:",inline"`
}

// ToolSettings are the values of the profile's settings for one tool, by name.
type ToolSettings map[string]float64

// SetMember sets one value. It returns an error if the setting cannot differ between tools.
func (s *ToolSettings) SetMember(name string, value *yaml.Node) error {
	if slices.Contains(settings.Names(reflect.TypeFor[Common]()), name) {
		if name == "ignore" {
			return errors.New("a tool is left out by its name in the list ignore of the profile, as ignore: [NAME]")
		}
		return fmt.Errorf("%s is a setting of the whole profile and cannot differ between tools", name)
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	var number float64
	if value.Kind != yaml.ScalarNode || value.Decode(&number) != nil {
		return errors.New("want a number; only class is a word")
	}
	if *s == nil {
		*s = make(ToolSettings)
	}
	(*s)[name] = number
	return nil
}

func (c *Common) common() *Common { return c }

// read copies the settings about tools to the options of runs. The error joins all unknown classes, sorted by tool.
func (c *Common) read(r *unloop.Options) error {
	r.Ignore = append(r.Ignore, c.Ignore...)
	r.Shells = append(r.Shells, c.Shells...)
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		tool := c.Tools[name]
		if tool.Class == "" {
			continue
		}
		effect, ok := effectNames[tool.Class]
		if !ok {
			var wrong settings.Errors
			wrong.OneOf("class", tool.Class, "read_only", "mutating", "polling")
			mistakes = append(mistakes, underTool(wrong.Err(), name))
			continue
		}
		if r.Effects == nil {
			r.Effects = make(map[string]unloop.Effect)
		}
		r.Effects[name] = effect
	}
	return errors.Join(mistakes...)
}

var effectNames = map[string]unloop.Effect{"read_only": unloop.ReadOnly, "mutating": unloop.Mutating, "polling": unloop.Polling}

// forTool returns the profile for one tool. Its settings are those of the profile, replaced by those of the tool. An error of the profile
// itself, one of those joined in wrong, is not repeated for the tool.
func forTool(all Settings, name string, tool Tool, wrong error) (*Profile, error) {
	changed := cloneSettings(all)
	changed.common().Tools, changed.common().Nudges = nil, nil // the profile itself handles them
	d := settings.NewDecoder()
	for _, setting := range slices.Sorted(maps.Keys(tool.Settings)) {
		value := strconv.FormatFloat(tool.Settings[setting], 'f', -1, 64)
		d.Field("", reflect.ValueOf(changed).Elem(), &yaml.Node{Value: setting}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
	if err := d.Errors.Err(); err != nil {
		return nil, underTool(err, name)
	}
	p, err := FromSettings(changed)
	return p, underTool(settings.Without(err, wrong), name)
}

// underTool prefixes the settings in the errors with the name of the tool.
func underTool(err error, tool string) error {
	return settings.Under(err, settings.Join("tools", tool), "tools: "+tool)
}

// cloneSettings returns a deep copy of settings.
func cloneSettings(from Settings) Settings {
	own := reflect.New(reflect.TypeOf(from).Elem())
	own.Elem().Set(reflect.ValueOf(from).Elem())
	for _, value := range settings.Fields(own.Elem()) {
		value.Set(cloneValue(value))
	}
	return own.Interface().(Settings)
}

// cloneValue returns a deep copy of the value of a setting.
func cloneValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		clone := reflect.MakeMapWithSize(v.Type(), v.Len())
		for name, value := range v.Seq2() {
			clone.SetMapIndex(name, cloneValue(value))
		}
		return clone
	case reflect.Struct: // a Tool
		clone := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			clone.Field(i).Set(cloneValue(v.Field(i)))
		}
		return clone
	}
	return v
}

// validation collects the errors of settings.
type validation struct{ settings.Errors }

func (v *validation) integer(field string, value, least, most int) {
	settings.Range(&v.Errors, field, value, least, most)
}

func (v *validation) number(field string, value, least, most float64) {
	settings.Range(&v.Errors, field, value, least, most)
}
