package profile

import (
	"reflect"
	"slices"
	"testing"

	"github.com/unloop-ai/unloop/internal/settings"
)

func TestList(t *testing.T) {
	p, err := Load(Source{Name: "default", Sets: []string{"same_errors=9", "ignore=[poll]"}})
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]any)
	var names []string
	for _, s := range p.List() {
		values[s.Name] = s.Value
		names = append(names, s.Name)
		if s.Doc == "" {
			t.Errorf("%s has no description", s.Name)
		}
	}
	if !slices.Equal(names, settingNames(p.Settings())) {
		t.Errorf("names %q", names)
	}
	if values["same_errors"] != 9 {
		t.Errorf("same_errors is %v", values["same_errors"])
	}
	if ignored, ok := values["ignore"].([]string); !ok || !slices.Equal(ignored, []string{"poll"}) {
		t.Errorf("ignore is %v", values["ignore"])
	}
}

// settingNames returns the YAML names of the settings, in order.
func settingNames(s Settings) []string { return settings.Names(reflect.TypeOf(s).Elem()) }
