package profile

import (
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	p, err := Load(Source{Config: []byte("profile: looplens\ncost_budget: 0.5\n"), Sets: []string{"similarity=0.9", "cost_budget=2"}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Settings.(*LoopLens)
	if p.Name != "looplens" || s.CostBudget != 2 || s.Similarity != 0.9 || s.RepeatWindow != 8 {
		t.Errorf("profile %s with %+v", p.Name, s)
	}
	if p, err := Load(Source{}); err != nil || p.Name != Default {
		t.Errorf("without a name: profile %v, error %v", p, err)
	}
}

func TestLoadNamesEveryMistake(t *testing.T) {
	for _, tc := range []struct {
		name string
		src  Source
		want []string
	}{
		{"an unknown profile", Source{Name: "lens"}, []string{`there is no profile "lens"; there are default, looplens`}},
		{"an unknown setting lists the known", Source{Name: "looplens", Sets: []string{"budget=1"}}, []string{`there is no setting "budget"; there are repeat_window, `, "cost_budget"}},
		{"no equals sign", Source{Sets: []string{"cost_budget"}}, []string{`write NAME=VALUE`}},
		{"a value of another kind", Source{Name: "looplens", Sets: []string{"repeat_window=many"}}, []string{`repeat_window: "many" is no whole number`}},
		{"out of range", Source{Name: "looplens", Sets: []string{"similarity=2", "repeat_threshold=0"}}, []string{"similarity is 2; it must be from 0.5 to 1", "repeat_threshold is 0; it must be from 2 to 64"}},
		{"not a number", Source{Name: "looplens", Sets: []string{"cost_budget=.nan"}}, []string{"cost_budget is NaN; it must be from 0"}},
		{"two lines of a document", Source{Config: []byte("profile: looplens\nbudget: 1\nsimilarity: high\n")}, []string{`config: line 2: there is no setting "budget"`, `config: line 3: similarity: "high" is no number`}},
		{"a document for another profile", Source{Name: "default", Config: []byte("profile: looplens")}, []string{"the document is for profile looplens, but default was asked for"}},
		{"a list", Source{Config: []byte("- a")}, []string{"config: line 1: a mapping of settings is wanted"}},
		{"no YAML", Source{Config: []byte("a: [")}, []string{"config: line 1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(tc.src)
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}
