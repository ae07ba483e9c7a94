package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (a *assigner) env(c *Config, env map[string]string) {
	for f, v := range fields("", reflect.ValueOf(c).Elem()) {
		if text, ok := env[f.env]; ok {
			a.at = func(*yaml.Node) string { return f.env }
			a.text(f.path, v, text)
		}
	}
}

func (a *assigner) flags(c *Config, src Source) {
	for _, flag := range src.Flags {
		a.at = func(*yaml.Node) string { return flag.Name }
		for f, v := range fields("", reflect.ValueOf(c).Elem()) {
			if f.path == flag.Path {
				a.text(f.path, v, flag.Value)
			}
		}
	}
	a.at = func(*yaml.Node) string { return "--set" }
	for _, set := range src.Sets {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			a.mistakes.add("--set", "settings", "invalid setting %q: want NAME=VALUE", set)
			continue
		}
		if n, ok := a.parse(join("settings", name), value); ok {
			one := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, n}}
			a.settings("settings", &c.Settings, one)
		}
	}
}

// text sets a field to what a line of text says: a list of words is separated by commas, what has a structure is YAML, all
// else is taken as it stands.
func (a *assigner) text(path string, v reflect.Value, text string) {
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
		if n, ok = a.parse(path, text); !ok {
			return
		}
	}
	a.set(path, v, n)
}

// parse reads YAML.
func (a *assigner) parse(path, text string) (*yaml.Node, bool) {
	var document yaml.Node
	err := yaml.Unmarshal([]byte(text), &document)
	if err != nil || len(document.Content) == 0 {
		a.mistakes.add(a.at(nil), path, "%s: not valid YAML: want a value such as [a, b] or {name: value}", path)
		return nil, false
	}
	return document.Content[0], true
}

// strangers names variables of ours that nothing reads and that look like one that is read. Others are left alone: an
// orchestrator may set some of its own for a service that is called unloop.
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
		if near := nearest(strings.TrimPrefix(name, envPrefix), trimmed(known)); near != "" {
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
