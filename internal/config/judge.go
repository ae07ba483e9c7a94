package config

import (
	"maps"
	"slices"

	"github.com/unloop-ai/unloop/profile"
)

// LoadProfile makes the profile with its settings.
func (c *Config) LoadProfile() (*profile.Profile, error) {
	src := profile.Source{Name: c.Profile}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		src.Sets = append(src.Sets, name+"="+c.Settings[name])
	}
	return profile.Load(src)
}

// profileMistakes says what is wrong with the profile and its settings, one by one as far as they can be told apart.
func (c *Config) profileMistakes() []error {
	var found mistakes
	if _, err := profile.Load(profile.Source{Name: c.Profile}); err != nil {
		found.add("", "profile", "profile: %v", err)
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		_, err := profile.Load(profile.Source{Name: c.Profile, Sets: []string{name + "=" + c.Settings[name]}})
		for _, e := range unjoin(err) {
			found.add("", join("settings", name), "settings: %v", e)
		}
	}
	if _, err := c.LoadProfile(); err != nil && len(found) == 0 {
		for _, e := range unjoin(err) {
			found.add("", "settings", "settings: %v", e) // they do not go together
		}
	}
	return found
}
