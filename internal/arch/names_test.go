package arch

import "testing"

func TestNames(t *testing.T) {
	t.Run("a noun that the standard library does not use is accepted", func(t *testing.T) {
		expect(t, checkNames, example{
			"run.go": "package unloop", "run_test.go": "package unloop_test", "cmd/unloop/main.go": "package main", "policy/p.go": "package policy",
		})
	})
	t.Run("a package named util is reported", func(t *testing.T) {
		expect(t, checkNames, example{"internal/util/a.go": "package util", "internal/util/b.go": "package util"},
			`internal/util: the name "util" does not describe its purpose: name it after its content`)
	})
	t.Run("a folder named types is reported", func(t *testing.T) {
		expect(t, checkNames, example{"internal/types/a.go": "package events"},
			`internal/types: the name "types" does not describe its purpose: name it after its content`)
	})
	t.Run("a name of the standard library is reported", func(t *testing.T) {
		expect(t, checkNames, example{"internal/json/a_test.go": "package json_test"},
			`internal/json: the name "json" is also a package of the standard library: name it after its content`)
	})
}
