package config

import (
	"maps"
	"slices"

	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/profile"
)

// LoadProfile returns the profile with its settings.
func (c *Config) LoadProfile() (*profile.Profile, error) {
	src := profile.Source{Name: c.Profile}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		src.Sets = append(src.Sets, name+"="+c.Settings[name])
	}
	return profile.Load(src)
}

// profileMistakes returns the errors of the profile and its settings.
func (c *Config) profileMistakes() error {
	if _, err := profile.Load(profile.Source{Name: c.Profile}); err != nil {
		var found settings.Errors
		found.Add(settings.Place{}, "profile", "profile: %v", err)
		return found.Err()
	}
	_, err := c.LoadProfile()
	return settings.Under(err, "settings", "settings")
}
