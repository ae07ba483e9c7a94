package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestYAML(t *testing.T) {
	for _, name := range Names() {
		t.Run(name+" is read again as it was", func(t *testing.T) {
			shown, err := New(name)
			if err != nil {
				t.Fatal(err)
			}
			read, err := Load(Source{Config: shown.YAML()})
			if err != nil {
				t.Fatalf("%v in\n%s", err, shown.YAML())
			}
			if read.Name() != name {
				t.Errorf("the profile is read as %s", read.Name())
			}
			if diff := cmp.Diff(string(shown.YAML()), string(read.YAML())); diff != "" {
				t.Errorf("its YAML is another (-first +second):\n%s", diff)
			}
			expectSame(t, shown.Settings(), read.Settings())
		})
		t.Run(name+" says of each setting what it is", func(t *testing.T) {
			shown, err := New(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(string(shown.YAML()), "\n") {
				if strings.HasSuffix(strings.TrimSpace(line), "#") {
					t.Errorf("%q has no comment", line)
				}
			}
			for _, setting := range settingNames(shown.Settings()) {
				if !strings.Contains(string(shown.YAML()), "\n"+setting+":") {
					t.Errorf("%s is missing", setting)
				}
			}
		})
	}
	t.Run("written settings are read unchanged", func(t *testing.T) {
		config := `
profile: looplens
ignore: ["a: b", "c # d"]
shells: ["fish\ttab"]
shadow: true
cost_budget: 0.25
tools:
  poll: {class: polling, repeat_threshold: 9}
nudges:
  any: "two\nlines # {{.Tool}}"
`
		first, err := Load(Source{Config: []byte(config)})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Load(Source{Config: first.YAML()})
		if err != nil {
			t.Fatalf("%v in\n%s", err, first.YAML())
		}
		expectSame(t, first.Settings(), second.Settings())
	})
}

// expectSame compares settings; a list or mapping that is empty is as good as none.
func expectSame(t *testing.T, want, got Settings) {
	t.Helper()
	empty := cmp.FilterValues(func(a, b any) bool { return isEmpty(a) && isEmpty(b) }, cmp.Comparer(func(_, _ any) bool { return true }))
	if diff := cmp.Diff(want, got, empty); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case []string:
		return len(v) == 0
	case map[string]Tool:
		return len(v) == 0
	case map[string]string:
		return len(v) == 0
	case map[string]float64:
		return len(v) == 0
	}
	return false
}
