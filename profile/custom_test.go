package profile

import (
	"errors"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// named is a detector that finds nothing.
type named struct {
	name string
	at   unloop.At
}

func (n named) Info() unloop.Info { return unloop.Info{Name: n.name, At: n.at} }

func (named) Check(*unloop.Run) (unloop.Finding, bool) { return unloop.Finding{}, false }

// forgetful is a policy that refuses every snapshot.
type forgetful struct{ policy.Ladder }

func (*forgetful) Restore([]byte) error { return errors.New("nothing is kept") }

func TestCustomReportsEveryError(t *testing.T) {
	good := named{"good", unloop.AtStart}
	shared := &policy.Ladder{Patience: 1}
	for _, tc := range []struct {
		name  string
		parts Parts
		want  []string
	}{
		{"nothing", Parts{}, []string{"the name is empty", "there are no detectors"}},
		{"the name of a built-in one", Parts{Name: "cycles", Detectors: []unloop.Detector{good}}, []string{`"cycles" is the name of a built-in profile`}},
		{"bad detectors", Parts{Name: "own", Detectors: []unloop.Detector{nil, named{"", unloop.AtStart}, good, good, named{"idle", 0}}}, []string{
			"detector 0 is nil", "detector 1 (profile.named) has no name", `two detectors have the name "good"`, `detector "idle" is never asked`,
		}},
		{"no policy from a maker of policies", Parts{Name: "own", Detectors: []unloop.Detector{good}, Policy: func() policy.Policy { return nil }}, []string{"the Policy function returns nil"}},
		{"one policy for all", Parts{Name: "own", Detectors: []unloop.Detector{good}, Policy: func() policy.Policy { return shared }}, []string{"runs would share its state"}},
		{"a policy that cannot read its own state", Parts{Name: "own", Detectors: []unloop.Detector{good}, Policy: func() policy.Policy { return new(forgetful) }}, []string{"the policy *profile.forgetful cannot restore its own snapshot: nothing is kept"}},
		{"settings of a tool", Parts{Name: "own", Detectors: []unloop.Detector{good}, Common: Common{Tools: map[string]Tool{"a": {Settings: map[string]float64{"x": 1}}}}}, []string{"tools: a: only the class can be set"}},
		{"a class that there is not", Parts{Name: "own", Detectors: []unloop.Detector{good}, Common: Common{Tools: map[string]Tool{"a": {Class: "safe"}}}}, []string{`tools: a: class is "safe"`}},
		{"a text that cannot be read", Parts{Name: "own", Detectors: []unloop.Detector{good}, Common: Common{Nudges: map[string]string{"x": "{{if}}"}}}, []string{"nudges: x: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Custom(tc.parts)
			if err == nil {
				t.Fatal("Custom returns no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestErrorsOfToolsAreSortedByTheirNames(t *testing.T) {
	tools := make(map[string]Tool)
	want := "custom profile: "
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		tools[name] = Tool{Settings: ToolSettings{"x": 1}}
		want += "tools: " + name + ": only the class can be set\n"
	}
	for range 20 {
		_, err := Custom(Parts{Name: "own", Detectors: []unloop.Detector{named{"good", unloop.AtStart}}, Common: Common{Tools: tools}})
		if err == nil || err.Error()+"\n" != want {
			t.Fatalf("error\n%v, want\n%s", err, want)
		}
	}
}

func TestAProfileReturnsCopies(t *testing.T) {
	detectors := []unloop.Detector{detect.PingPong{Times: 6}}
	ignore := []string{"sleep"}
	p, err := Custom(Parts{Name: "own", Title: "mine", Detectors: detectors, Common: Common{Ignore: ignore, Tools: map[string]Tool{"a": {Class: "polling"}}}})
	if err != nil {
		t.Fatal(err)
	}
	before := string(p.YAML())
	detectors[0], ignore[0] = nil, "changed"
	p.Detectors()[0] = nil
	p.Settings().common().Ignore[0] = "changed"
	p.Settings().common().Tools["b"] = Tool{}
	if got := string(p.YAML()); got != before || p.Detectors()[0] == nil || len(p.List()) == 0 {
		t.Errorf("the profile has changed: %s\nbefore:\n%s", got, before)
	}
	settings := DefaultSettings()
	built, err := FromSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	settings.LadderPatience = 77
	if built.Settings().(*DefaultProfile).LadderPatience == 77 {
		t.Error("settings that somebody holds change the profile that was made of them")
	}
	if p.Name() != "own" || p.Title() != "mine" || p.MessagePrefix().Tag != "loop-guard" || p.Swarm() != (Swarm{}) || p.Shadow() {
		t.Errorf("%s, %s, %+v, %+v, %t", p.Name(), p.Title(), p.MessagePrefix(), p.Swarm(), p.Shadow())
	}
}

func TestTheZeroProfileAllowsEverything(t *testing.T) {
	var p Profile
	w := p.NewSession("run")
	for _, entry := range entries(t, "# a loop\nrepeat 9\ncall a b\nresult a c\nend\n") {
		if d := w.Add(entry.Event); d.Action != policy.Allow {
			t.Errorf("%+v", d)
		}
	}
	if p.Settings() != nil || p.List() != nil || p.YAML() != nil || w.Health().Score != 100 {
		t.Error("it has settings or warnings")
	}
}

func TestACustomProfileCallsDetectorsLikeABuiltInOne(t *testing.T) {
	built, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	settings := DefaultSettings()
	own, err := Custom(Parts{Name: "own", Detectors: built.Detectors(), Policy: func() policy.Policy { return &policy.Ladder{Patience: settings.LadderPatience} }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := built.NewSession("run"), own.NewSession("run")
	stopped := 0
	for _, entry := range entries(t, "# a loop\nrepeat 12\ncall search loops\nresult search nothing\nend\n") {
		x, y := a.Add(entry.Event), b.Add(entry.Event)
		if x.Action != y.Action || x.Code != y.Code || x.Message != y.Message {
			t.Fatalf("the built-in one: %s %s %q; the custom one: %s %s %q", x.Action, x.Code, x.Message, y.Action, y.Code, y.Message)
		}
		if x.Action == policy.Halt {
			stopped++
		}
	}
	if stopped == 0 {
		t.Error("there was no decision, so the test compares nothing")
	}
}
