package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/profile"
)

// Settings are the settings of hooks for one event.
type Settings struct {
	Mode     Mode              `yaml:"mode"`
	Profile  string            `yaml:"profile"`
	Settings map[string]string `yaml:"settings"`
	Endpoint string            `yaml:"endpoint"` // of a server; "" for none

	file string // the file that sets the profile and its settings; "" without one
}

// projectFileName is the file of a project's settings, under its key hook, in the working folder or a folder above it.
const projectFileName = ".unloop.yaml"

// userFileName is the file of the user's settings, under its key hook, in unloop's configuration folder.
const userFileName = "hook.yaml"

// maxFile is the maximum size of a settings file in bytes.
const maxFile = 64 << 10

// loadSettings loads the settings for a working folder. The flag overrides the environment (UNLOOP_HOOK_MODE), which overrides
// the project's file, which overrides the user's file. A project cannot set the server, because its file may be untrusted. With
// an error, the settings are those that could be read.
func loadSettings(flag Mode, dir string, env func(string) string) (Settings, error) {
	var user, project Settings
	var wrong []error
	if user.file = userFile(env); user.file != "" {
		wrong = append(wrong, user.read(user.file))
	}
	if project.file = projectFile(dir); project.file != "" {
		wrong = append(wrong, project.read(project.file))
	}
	var fromEnv Mode
	if name := env("UNLOOP_HOOK_MODE"); name != "" {
		var err error
		fromEnv, err = ParseMode(name)
		wrong = append(wrong, err)
	}
	s := Settings{
		Mode:     cmp.Or(flag, fromEnv, project.Mode, user.Mode, Nudge),
		Profile:  cmp.Or(project.Profile, user.Profile),
		Settings: user.Settings,
		Endpoint: cmp.Or(env("UNLOOP_ENDPOINT"), user.Endpoint),
		file:     user.file,
	}
	if project.Profile != "" || project.Settings != nil {
		s.Settings, s.file = project.Settings, project.file
	}
	return s, errors.Join(wrong...)
}

func userFile(env func(string) string) string {
	for _, place := range []struct{ variable, below string }{{"XDG_CONFIG_HOME", ""}, {"AppData", ""}, {"HOME", ".config"}} {
		if folder := env(place.variable); filepath.IsAbs(folder) {
			return filepath.Join(folder, place.below, "unloop", userFileName)
		}
	}
	return ""
}

// projectFile returns the path of the nearest project file, or "".
func projectFile(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for {
		path := filepath.Join(dir, projectFileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// read reads a file if it exists. It ignores keys other than hook.
func (s *Settings) read(path string) error {
	data, err := readRegular(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	d := settings.NewDecoder()
	if document := d.Document(path, data); document != nil {
		for name, value := range d.Members("", document) {
			if name.Value == "hook" {
				d.Set("hook", reflect.ValueOf(s).Elem(), value)
			}
		}
	}
	return d.Errors.Err()
}

// LoadProfile returns the profile for an agent. If none is configured, an agent that shows no results gets the profile
// loopdetection, which counts equal calls. The default profile needs results.
func (s *Settings) LoadProfile(agent string) (*profile.Profile, error) {
	source := profile.Source{Name: s.Profile}
	if s.Profile == "" && (agent == Crush || agent == Windsurf) {
		source.Name = "loopdetection"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		source.Sets = append(source.Sets, name+"="+s.Settings[name])
	}
	if s.Mode != Guard {
		source.Sets = append(source.Sets, "shadow=true") // without this, the guard would record calls as blocked that are not
	}
	p, err := profile.Load(source)
	if err == nil {
		return p, nil
	}
	err = fmt.Errorf("load the profile %s: %w", cmp.Or(strings.TrimSpace(source.Name), profile.Default), err)
	if s.file != "" {
		err = fmt.Errorf("%s: %w", s.file, err)
	}
	return nil, err
}
