package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/profile"
)

// LoadProfile makes the profile with its settings.
func (c *Config) LoadProfile() (*profile.Profile, error) { return loadProfile(c.Profile, c.Settings) }

// LoadShadow makes the shadow profile with its settings; nil for none.
func (c *Config) LoadShadow() (*profile.Profile, error) {
	if c.Shadow.Profile == "" && len(c.Shadow.Settings) == 0 {
		return nil, nil
	}
	return loadProfile(cmp.Or(c.Shadow.Profile, c.Profile), c.Shadow.Settings)
}

func loadProfile(name string, all Settings) (*profile.Profile, error) {
	src := profile.Source{Name: name}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		src.Sets = append(src.Sets, name+"="+all[name])
	}
	return profile.Load(src)
}

// profileMistakes says what is wrong with the profiles and their settings.
func (c *Config) profileMistakes() error {
	var found settings.Errors
	if _, err := profile.Load(profile.Source{Name: c.Profile}); err != nil {
		found.Add(settings.Place{}, "profile", "profile: %v", err)
		return found.Err()
	}
	if _, err := c.LoadProfile(); err != nil {
		return settings.Under(err, "settings", "settings")
	}
	if _, err := profile.Load(profile.Source{Name: cmp.Or(c.Shadow.Profile, c.Profile)}); err != nil {
		found.Add(settings.Place{}, "shadow.profile", "shadow.profile: %v", err)
		return found.Err()
	}
	_, err := c.LoadShadow()
	return settings.Under(err, "shadow.settings", "shadow.settings")
}
