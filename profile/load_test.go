package profile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/settings"
)

func TestLoad(t *testing.T) {
	p, err := Load(Source{Config: []byte("profile: looplens\ncost_budget: 0.5\n"), Sets: []string{"similarity=0.9", "cost_budget=2"}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Settings().(*LoopLens)
	if p.Name() != "looplens" || s.CostBudget != 2 || s.Similarity != 0.9 || s.RepeatWindow != 8 {
		t.Errorf("profile %s with %+v", p.Name(), s)
	}
	if p, err := Load(Source{}); err != nil || p.Name() != Default {
		t.Errorf("without a name: profile %v, error %v", p, err)
	}
}

func TestLoadReportsEveryError(t *testing.T) {
	for _, tc := range []struct {
		name string
		src  Source
		want []string
	}{
		{"an unknown profile", Source{Name: "lens"}, []string{`unknown profile "lens"; profiles: default, looplens`}},
		{"an unknown setting lists the known", Source{Name: "looplens", Sets: []string{"thing=1"}}, []string{`unknown setting "thing"; settings: repeat_window, `, "cost_budget"}},
		{"the end of a name", Source{Name: "looplens", Sets: []string{"budget=1"}}, []string{`unknown setting "budget"; did you mean cost_budget?`}},
		{"no equals sign", Source{Sets: []string{"cost_budget"}}, []string{`want NAME=VALUE`}},
		{"a value of another kind", Source{Name: "looplens", Sets: []string{"repeat_window=many"}}, []string{`repeat_window is "many"; it must be a whole number`}},
		{"out of range", Source{Name: "looplens", Sets: []string{"similarity=2", "repeat_threshold=0"}}, []string{"similarity is 2; it must be from 0.5 to 1", "repeat_threshold is 0; it must be from 2 to 64"}},
		{"not a number", Source{Name: "looplens", Sets: []string{"cost_budget=.nan"}}, []string{"cost_budget is NaN; it must be from 0"}},
		{"two lines of a document", Source{Config: []byte("profile: looplens\nbudget: 1\nsimilarity: high\n")}, []string{`config:2: unknown setting "budget"`, `config:3: similarity is "high"; it must be a number`}},
		{"a document for another profile", Source{Name: "default", Config: []byte("profile: looplens")}, []string{"the document is for profile looplens, but default was asked for"}},
		{"a list", Source{Config: []byte("- a")}, []string{"config:1: the configuration: want names with values"}},
		{"no YAML", Source{Config: []byte("a: [")}, []string{"config:1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(tc.src)
			if err == nil {
				t.Fatal("Load returns no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestAnErrorHasFileLineFieldValueAndAllowedValues(t *testing.T) {
	for name, tc := range map[string]struct {
		src  Source
		want SettingError
	}{
		"out of range": {
			Source{File: "mine.yaml", Config: []byte("profile: agentium\n\nmax_repeats: 0\n")},
			SettingError{Place: settings.Place{File: "mine.yaml", Line: 3}, Field: "max_repeats", Value: "0", Allowed: "from 1 to 1000000"},
		},
		"of another kind": {
			Source{File: "mine.yaml", Config: []byte("profile: agentium\nmax_repeats: many\n")},
			SettingError{Place: settings.Place{File: "mine.yaml", Line: 2}, Field: "max_repeats", Value: "many", Allowed: "a whole number"},
		},
		"one of several words": {
			Source{Config: []byte("profile: agentium\naction: stop\n")},
			SettingError{Place: settings.Place{File: "config", Line: 2}, Field: "action", Value: "stop", Allowed: "one of hint, abort"},
		},
		"of a tool": {
			Source{Config: []byte("profile: agentium\ntools:\n  a: {max_repeats: 0}\n")},
			SettingError{Place: settings.Place{File: "config", Line: 3}, Field: "tools.a.max_repeats", Value: "0", Allowed: "from 1 to 1000000"},
		},
		"a single value": {
			Source{Name: "agentium", Sets: []string{"max_repeats=0"}},
			SettingError{Field: "max_repeats", Value: "0", Allowed: "from 1 to 1000000"},
		},
		"an unknown name": {
			Source{Config: []byte("profile: agentium\nmax_repeat: 1\n")},
			SettingError{Place: settings.Place{File: "config", Line: 2}, Field: "max_repeat", Allowed: "one of max_repeats, action, ignore, shadow, shells, tools, nudges"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(tc.src)
			var got *SettingError
			if !errors.As(err, &got) {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			if diff := cmp.Diff(&tc.want, got, cmpopts.IgnoreFields(SettingError{}, "Reason")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsInSettingsOfActingProfiles(t *testing.T) {
	for _, tc := range []struct {
		name, profile, config string
		want                  []string
	}{
		{"agentium", "agentium", "{max_repeats: 0, action: stop}", []string{"max_repeats is 0; it must be from 1 to ", `action is "stop"; it must be one of hint, abort`}},
		{"cycles", "cycles", "longest_cycle: 9", []string{"longest_cycle is 9; it must be from 1 to 8"}},
		{"attocode", "attocode", "{window: 1, text_turns: 0}", []string{"window is 1; it must be from 2 to 32", "text_turns is 0; it must be from 1 to"}},
		{"loopguard", "loopguard", "{max_time_per_turn: 0, no_progress_halt: 0}", []string{"max_time_per_turn is 0; it must be from 0.001 to", "no_progress_halt is 0; it must be from 1 to"}},
		{"loopdetection", "loopdetection", "history_size: 33", []string{"history_size is 33; it must be from 2 to 32"}},
		{"a class that there is not", "loopguard", "tools: {a: {class: safe}}", []string{`tools: a: class is "safe"; it must be one of read_only, mutating, polling`}},
		{"a setting of a tool that there is not", "agentium", "tools: {a: {max: 3}}", []string{"tools: a: ", `unknown setting "max"; did you mean max_repeats?`}},
		{"a setting of a tool out of range", "agentium", "tools: {a: {max_repeats: 0}}", []string{"tools: a: max_repeats is 0; it must be from 1 to "}},
		{"a tool that leaves itself out", "agentium", "tools: {a: {ignore: true}}", []string{"tools.a.ignore: a tool is left out by its name in the list ignore of the profile, as ignore: [NAME]"}},
		{"a setting of the profile at a tool", "agentium", "tools: {a: {shadow: 1}}", []string{"tools.a.shadow: shadow is a setting of the whole profile and cannot differ between tools"}},
		{"a misspelt class", "agentium", "tools: {a: {clas: polling}}", []string{"tools.a.clas: want a number; only class is a word"}},
		{"a word for a number of a tool", "agentium", "tools: {a: {max_repeats: many}}", []string{"tools.a.max_repeats: want a number; only class is a word"}},
		{"half a call", "agentium", "max_repeats: 2.5", []string{`max_repeats is "2.5"; it must be a whole number`}},
		{"half a call of a tool", "agentium", "tools: {a: {max_repeats: 2.5}}", []string{`tools: a: `, `max_repeats is "2.5"; it must be a whole number`}},
		{"a text for a code that there is not", "agentium", "nudges: {loop_detected: x}", []string{`nudges: unknown text "loop_detected" in profile agentium; texts: any, global_doom_loop, loop-detected`}},
		{"a text that cannot be read", "cycles", "nudges: {cycle_warning: '{{if}}'}", []string{"nudges: cycle_warning: "}},
		{"all at once", "agentium", "{max_repeats: 0, nudges: {x: y}}", []string{"max_repeats is 0", `unknown text "x"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(Source{Name: tc.profile, Config: []byte(tc.config)})
			if err == nil {
				t.Fatal("Load returns no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestErrorsInTextsAndToolsNameTheirLines(t *testing.T) {
	for _, tc := range []struct{ name, config, want string }{
		{"an unknown text", "nudges:\n  any: x\n  nudg: x\n", `p.yaml:3: nudges: unknown text "nudg" in profile default; texts: any, blocked, global_doom_loop, halted, nudge, strong_nudge; did you mean "nudge"?`},
		{"a template", "nudges:\n  nudge: '{{if}}'\n", "p.yaml:2: nudges: nudge: template: nudge:1: missing value for if"},
		{"a setting of the profile, not of its tools", "tools: {a: {stuck_polls: 9}}\nsame_errors: 1\n", "p.yaml:2: same_errors is 1; it must be from 2 to 1000"},
		{"classes of tools", "tools:\n  a: {class: x}\n  b: {class: x}\n  c: {class: x}\n  d: {class: x}\n", `p.yaml:2: tools: a: class is "x"; it must be one of read_only, mutating, polling
p.yaml:3: tools: b: class is "x"; it must be one of read_only, mutating, polling
p.yaml:4: tools: c: class is "x"; it must be one of read_only, mutating, polling
p.yaml:5: tools: d: class is "x"; it must be one of read_only, mutating, polling`},
		{"a setting of a tool", "tools:\n  b: {same_errors: 1}\n  a: {same_errors: 0}\n", "p.yaml:3: tools: a: same_errors is 0; it must be from 2 to 1000\np.yaml:2: tools: b: same_errors is 1; it must be from 2 to 1000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 20 { // the order is the same each time
				_, err := Load(Source{File: "p.yaml", Config: []byte(tc.config)})
				if err == nil || err.Error() != tc.want {
					t.Fatalf("error\n%v, want\n%s", err, tc.want)
				}
			}
		})
	}
}

func TestAnErrorInATextIsReportedOnce(t *testing.T) {
	_, err := Load(Source{Name: "agentium", Config: []byte("{tools: {a: {max_repeats: 2}, b: {max_repeats: 5}}, nudges: {x: y}}")})
	if err == nil || strings.Count(err.Error(), `unknown text "x"`) != 1 {
		t.Errorf("error %v", err)
	}
}
