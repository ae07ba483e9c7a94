package arch

import "testing"

func TestNames(t *testing.T) {
	t.Run("nouns of our own are fine", func(t *testing.T) {
		expect(t, checkNames, example{
			"run.go": "package unloop", "run_test.go": "package unloop_test", "cmd/unloop/main.go": "package main", "policy/p.go": "package policy",
		})
	})
	t.Run("util says nothing", func(t *testing.T) {
		expect(t, checkNames, example{"internal/util/a.go": "package util", "internal/util/b.go": "package util"},
			`internal/util: the name "util" says nothing about what it is for: name it after what it holds`)
	})
	t.Run("nor does a folder of that name", func(t *testing.T) {
		expect(t, checkNames, example{"internal/types/a.go": "package events"},
			`internal/types: the name "types" says nothing about what it is for: name it after what it holds`)
	})
	t.Run("a name of the standard library is taken", func(t *testing.T) {
		expect(t, checkNames, example{"internal/json/a_test.go": "package json_test"},
			`internal/json: the name "json" is a package of the standard library, too: name it after what it holds`)
	})
}
