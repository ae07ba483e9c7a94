package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/unloop-ai/unloop/internal/settings"
)

// FileName is the file that is read, in the folder where the server is started, when no other is named; unloop init writes it.
const FileName = "unloop.yaml"

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Source says where a configuration comes from: what stands further down goes before what stands further up.
type Source struct {
	Path  string   // the file; "" for UNLOOP_CONFIG, else FileName if there is one
	Env   []string // NAME=value, as os.Environ returns them
	Flags []Flag   // in their order
	Sets  []string // settings of the profile, NAME=VALUE
}

// Flag is a setting that was given on the command line.
type Flag struct {
	Name  string // as the user wrote it: --grpc-addr
	Path  string // of the setting: grpc_addr
	Value string
}

// Loaded is a configuration that was read.
type Loaded struct {
	*Config
	File    string   // that was read; "" for none
	Notices []string // what looks like a slip, but is no mistake

	places map[string]settings.Place // by the path of the settings that were given
}

// Given reports whether a setting, such as grpc_addr, was given in the file, the environment or a flag.
func (l *Loaded) Given(path string) bool { return l.places[path] != (settings.Place{}) }

// Load reads a configuration and checks it. The error joins all mistakes, each a *settings.Error with the place where it was made.
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

// build makes a configuration of the content of a file, the environment and the flags, and says where each setting was given.
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

// environment returns our variables. An empty one says nothing.
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

// readFile returns the file that was asked for, or else the one that lies here, if there is one.
func readFile(asked, fromEnv string) (path string, data []byte, err error) {
	path = asked
	if path == "" {
		path = fromEnv
	}
	optional := path == ""
	if optional {
		path = FileName
	}
	f, err := os.Open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close() // only read
	if data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return "", nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(data) > maxFile {
		return "", nil, fmt.Errorf("read the configuration: %s is larger than %v", path, Size(maxFile))
	}
	return path, data, nil
}
