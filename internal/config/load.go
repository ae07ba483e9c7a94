package config

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/profile"
)

// FileName is the configuration file that is read from the working folder if no other file is given. unloop init writes it.
const FileName = "unloop.yaml"

// Source is the source of a configuration. Later fields take precedence over earlier ones.
type Source struct {
	Path  string   // the file; "" for UNLOOP_CONFIG, else FileName if there is one
	Env   []string // NAME=value, as os.Environ returns them
	Flags []Flag   // in order
	Sets  []string // settings of the profile, NAME=VALUE
}

// Flag is a setting from the command line.
type Flag struct {
	Name  string // as given: --grpc-addr
	Path  string // path of the setting: grpc_addr
	Value string
}

// Loaded is a loaded configuration.
type Loaded struct {
	*Config
	File    string   // the file; "" for none
	Notices []string // warnings about probable mistakes

	places map[string]settings.Place // of the given settings, by path
}

// Given reports whether a setting, such as grpc_addr, is given in the file, the environment or a flag.
func (l *Loaded) Given(path string) bool { return l.places[path] != (settings.Place{}) }

// Load reads and validates a configuration. The error joins all errors, each a *settings.Error with its place.
func Load(src Source) (*Loaded, error) {
	env := environment(src.Env)
	path, data, err := readFile(src.Path, env["UNLOOP_CONFIG"])
	if err != nil {
		return nil, err
	}
	c, places, err := build(path, data, env, src)
	if err != nil {
		return nil, err
	}
	return &Loaded{Config: c, File: path, Notices: strangers(env), places: places}, nil
}

// build makes a configuration from the content of a file, the environment and the flags, and returns the places of the given
// settings.
func build(path string, data []byte, env map[string]string, src Source) (*Config, map[string]settings.Place, error) {
	c := Default()
	var known []string
	for f := range fields("", reflect.ValueOf(c).Elem()) {
		known = append(known, f.path)
	}
	d := settings.NewDecoder(known...)
	if document := d.Document(path, data); document != nil {
		d.Set("", reflect.ValueOf(c).Elem(), document)
	}
	readEnv(d, c, env)
	readFlags(d, c, src)
	if err := d.Errors.Err(); err != nil {
		return nil, nil, err
	}
	if err := settings.Locate(c.Validate(), d.Places); err != nil {
		return nil, nil, err
	}
	for i := range c.Webhooks {
		c.Webhooks[i].fill()
	}
	return c, d.Places, nil
}

// environment returns the variables of unloop, except empty ones.
func environment(all []string) map[string]string {
	ours := make(map[string]string)
	for _, pair := range all {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix) && value != "" {
			ours[name] = value
		}
	}
	return ours
}

// readFile reads the given file, or else FileName if it exists.
func readFile(given, fromEnv string) (path string, data []byte, err error) {
	path = given
	if path == "" {
		path = fromEnv
	}
	optional := path == ""
	if optional {
		path = FileName
	}
	data, err = ServerFile.Read(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	return path, data, err
}

// LoadProfile returns the profile with its settings.
func (c *Config) LoadProfile() (*profile.Profile, error) { return loadProfile(c.Profile, c.Settings) }

// LoadShadow returns the shadow profile with its settings; nil without one.
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

// profileMistakes returns the errors of the profiles and their settings. A shadow profile without a name is that of the server.
func (c *Config) profileMistakes() error {
	served := mistakesOf("", c.Profile, c.Settings)
	if served != nil && c.Shadow.Profile == "" {
		return served
	}
	return errors.Join(served, mistakesOf("shadow.", cmp.Or(c.Shadow.Profile, c.Profile), c.Shadow.Settings))
}

// mistakesOf returns the errors of a profile and its settings. Their fields begin with prefix.
func mistakesOf(prefix, name string, all Settings) error {
	if _, err := profile.Load(profile.Source{Name: name}); err != nil {
		var found settings.Errors
		found.Add(settings.Place{}, prefix+"profile", prefix+"profile: %v", err)
		return found.Err()
	}
	_, err := loadProfile(name, all)
	return settings.Under(err, prefix+"settings", prefix+"settings")
}
