package arch

import "testing"

func TestPurity(t *testing.T) {
	const because = ": the middle is pure, so that a stored run can be replayed"
	t.Run("a time from an event is a value", func(t *testing.T) {
		expect(t, checkPurity, example{"detect/slow.go": "package detect\nimport \"time\"\nconst limit = 30 * time.Second\nvar _ = time.Unix"})
	})
	t.Run("reading the clock is reported", func(t *testing.T) {
		expect(t, checkPurity, example{"detect/slow.go": "package detect\nimport \"time\"\nvar start = time.Now()\nfunc f() { time.Sleep(1) }"},
			"detect/slow.go:3: detect uses time.Now"+because, "detect/slow.go:4: detect uses time.Sleep"+because)
	})
	t.Run("reading the clock under another name is reported", func(t *testing.T) {
		expect(t, checkPurity, example{
			"a.go": "package unloop\nimport clock \"time\"\nvar since = clock.Since",
			"b.go": "package unloop\nimport . \"time\"\nvar now = Now()",
		},
			"a.go:3: the root uses time.Since"+because, "b.go:3: the root uses time.Now"+because)
	})
	t.Run("files, network, logs and contexts are reported", func(t *testing.T) {
		expect(t, checkPurity, example{
			"profile/load.go": "package profile\nimport (\n\"os\"\n\"net/http\"\n\"log/slog\"\n\"context\"\n\"io\"\n)",
		},
			"profile/load.go:3: profile imports os"+because, "profile/load.go:4: profile imports net/http"+because,
			"profile/load.go:5: profile imports log/slog"+because, "profile/load.go:6: profile imports context"+because)
	})
	t.Run("goroutines are reported", func(t *testing.T) {
		expect(t, checkPurity, example{"policy/p.go": "package policy\nfunc f() {\ngo f()\n}"}, "policy/p.go:3: policy starts a goroutine"+because)
	})
	t.Run("other packages and tests are exempt", func(t *testing.T) {
		const impure = "\nimport (\n\"os\"\n\"time\"\n)\nvar now = time.Now()"
		expect(t, checkPurity, example{"internal/app/app.go": "package app" + impure, "detect/slow_test.go": "package detect" + impure})
	})
}
