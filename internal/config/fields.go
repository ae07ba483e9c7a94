package config

import (
	"iter"
	"reflect"
	"strings"
)

// field is a setting: a leaf of Config.
type field struct {
	path string // as limits.body
	env  string // as UNLOOP_LIMITS_BODY
	doc  string
}

const envPrefix = "UNLOOP_"

// fields yields the settings below a struct, each with its value, in their order.
func fields(prefix string, of reflect.Value) iter.Seq2[field, reflect.Value] {
	return func(yield func(field, reflect.Value) bool) {
		for i := range of.NumField() {
			about := of.Type().Field(i)
			path := prefix + about.Tag.Get("yaml")
			if isGroup(about.Type) {
				for f, v := range fields(path+".", of.Field(i)) {
					if !yield(f, v) {
						return
					}
				}
				continue
			}
			env := envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
			if !yield(field{path, env, about.Tag.Get("doc")}, of.Field(i)) {
				return
			}
		}
	}
}

// isGroup reports whether a type is a struct of settings, and not one setting.
func isGroup(t reflect.Type) bool { return t.Kind() == reflect.Struct }
