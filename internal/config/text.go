package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unloop-ai/unloop/internal/settings"
)

func readEnv(d *settings.Decoder, c *Config, env map[string]string) {
	for f, v := range fields("", reflect.ValueOf(c).Elem()) {
		if text, ok := env[f.env]; ok {
			from(d, f.env)
			readText(d, f.path, v, text)
		}
	}
}

func readFlags(d *settings.Decoder, c *Config, src Source) {
	for _, flag := range src.Flags {
		from(d, flag.Name)
		for f, v := range fields("", reflect.ValueOf(c).Elem()) {
			if f.path == flag.Path {
				readText(d, f.path, v, flag.Value)
			}
		}
	}
	from(d, "--set")
	for _, set := range src.Sets {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			d.Errors.Add(settings.Place{File: "--set"}, "settings", "invalid setting %q: want NAME=VALUE", set)
			continue
		}
		if n, ok := d.Parse(settings.Join("settings", name), value); ok {
			one := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, n}}
			d.Set("settings", reflect.ValueOf(&c.Settings).Elem(), one)
		}
	}
}

// from sets the place of the following values.
func from(d *settings.Decoder, name string) {
	d.At = func(*yaml.Node) settings.Place { return settings.Place{File: name} }
}

// readText sets a field from a line of text. Lists of words are separated by commas, structured values are YAML, and other values
// are taken unchanged.
func readText(d *settings.Decoder, path string, v reflect.Value, text string) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	_, words := v.Interface().([]string)
	switch structured := v.Kind() == reflect.Slice || v.Kind() == reflect.Map; {
	case words && !strings.HasPrefix(strings.TrimSpace(text), "["):
		n = &yaml.Node{Kind: yaml.SequenceNode}
		for word := range strings.SplitSeq(text, ",") {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(word)})
		}
	case structured:
		var ok bool
		if n, ok = d.Parse(path, text); !ok {
			return
		}
	}
	d.Set(path, v, n)
}

// strangers returns notices about unknown environment variables that are similar to known ones. Others are ignored, because an
// orchestrator may set variables for a service named unloop.
func strangers(env map[string]string) (notices []string) {
	var known []string
	for f := range fields("", reflect.ValueOf(Config{})) {
		known = append(known, f.env)
	}
	known = append(known, "UNLOOP_CONFIG", "UNLOOP_ENDPOINT", "UNLOOP_TOKEN")
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if slices.Contains(known, name) {
			continue
		}
		if near := settings.Nearest(strings.TrimPrefix(name, envPrefix), trimmed(known)); near != "" {
			notices = append(notices, fmt.Sprintf("%s is not read; did you mean %s?", name, envPrefix+near))
		}
	}
	return notices
}

func trimmed(variables []string) []string {
	var all []string
	for _, name := range variables {
		all = append(all, strings.TrimPrefix(name, envPrefix))
	}
	return all
}
