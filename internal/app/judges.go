package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// judges knows the profiles and replays recorded runs. The server's own profile has the settings of the server configuration, so
// a replay under it with no changed settings gives the recorded result.
type judges struct {
	events pipeline.Store
	server *atomic.Pointer[serverProfile]
}

// serverProfile is the profile of the server. Applying a suggestion replaces it.
type serverProfile struct {
	*profile.Profile
	settings config.Settings
}

func newJudges(events pipeline.Store, c *config.Config) (judges, error) {
	own, err := c.LoadProfile()
	j := judges{events, new(atomic.Pointer[serverProfile])}
	j.server.Store(&serverProfile{own, c.Settings})
	return j, err
}

func (j judges) own() *profile.Profile { return j.server.Load().Profile }

// Replay evaluates a run under a profile with changed settings.
func (j judges) Replay(ctx context.Context, run *store.Run, name string, settings map[string]string, most int) (*pipeline.Replayed, error) {
	p, err := j.load(name, settings)
	if err != nil {
		return nil, err
	}
	return pipeline.Replay(ctx, j.events, p, run, most)
}

// load makes the profile. Its error has an entry for each invalid setting, as far as the errors can be separated.
func (j judges) load(name string, settings map[string]string) (*profile.Profile, error) {
	if _, err := profile.New(name); err != nil {
		return nil, httpd.SettingErrors{{Reason: err.Error()}}
	}
	var sets []string
	if own := j.server.Load(); name == own.Name() {
		sets = setsOf(own.settings)
	}
	var wrong httpd.SettingErrors
	for _, setting := range slices.Sorted(maps.Keys(settings)) {
		if setting == nudgesSetting {
			wrong = append(wrong, httpd.SettingError{Setting: setting, Reason: "requests cannot set texts for the agent"})
			continue
		}
		own := setsOf(map[string]string{setting: settings[setting]})
		if _, err := profile.Load(profile.Source{Name: name, Sets: append(slices.Clone(sets), own...)}); err != nil {
			wrong = append(wrong, httpd.SettingError{Setting: setting, Reason: err.Error()})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	p, err := profile.Load(profile.Source{Name: name, Sets: append(sets, setsOf(settings)...)})
	if err != nil {
		return nil, httpd.SettingErrors{{Reason: "the settings contradict each other: " + err.Error()}}
	}
	return p, nil
}

// nudgesSetting is the setting with the templates of texts. A request must not set templates, because the server would execute
// them.
const nudgesSetting = "nudges"

// setsOf returns settings in the form of profile.Source.
func setsOf(settings map[string]string) []string {
	sets := make([]string, 0, len(settings))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		sets = append(sets, name+"="+settings[name])
	}
	return sets
}

// Profiles returns the profiles. The server's own profile has its configured settings.
func (j judges) Profiles() []api.Profile {
	var all []api.Profile
	for _, p := range j.profiles() {
		wire := api.Profile{Name: p.Name(), Title: p.Title()}
		for _, d := range p.Detectors() {
			wire.Rules = append(wire.Rules, d.Info().Name)
		}
		for _, s := range p.List() {
			switch s.Value.(type) {
			case int, float64, bool, string, []string:
				wire.Settings = append(wire.Settings, api.Setting{Name: s.Name, Value: s.Value, Doc: s.Doc})
			}
		}
		all = append(all, wire)
	}
	return all
}

func (j judges) profiles() []*profile.Profile {
	all := make([]*profile.Profile, 0, len(profile.Names()))
	for _, name := range profile.Names() {
		p := j.own()
		if name != p.Name() {
			var err error
			if p, err = profile.New(name); err != nil {
				panic(fmt.Sprintf("profile %s is built in: %v", name, err))
			}
		}
		all = append(all, p)
	}
	return all
}

// Rules returns the rules, those of the server's own profile first.
func (j judges) Rules() []api.Rule {
	in := make(map[string][]string)
	for _, p := range j.profiles() {
		for _, d := range p.Detectors() {
			in[d.Info().Name] = append(in[d.Info().Name], p.Name())
		}
	}
	var all []api.Rule
	for _, name := range detect.Rules() {
		page, _ := detect.Explain(name)
		all = append(all, api.Rule{
			Name: name, What: page.When, Why: page.Why, Try: page.Try, Details: page.More, Profiles: in[name],
		})
	}
	foreign := func(r api.Rule) int {
		if slices.Contains(r.Profiles, j.own().Name()) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b api.Rule) int { return cmp.Compare(foreign(a), foreign(b)) })
	return all
}
