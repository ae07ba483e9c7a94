package arch

import "testing"

func TestTimeThatIsMeasuredWithTheClockOfTheDayIsFound(t *testing.T) {
	expect(t, checkClocks, example{
		"a/a.go": "package a\n\nvar begun = time.Now()\n\nfunc f(n int64) time.Duration { return time.Since(begun) }\n",
		"b/b.go": "package b\n\nfunc f(n int64) time.Duration {\n\treturn time.Since(time.Unix(0, n))\n}\n",
	}, "b/b.go:4: this time passes differently after the clock was set; keep a time.Time, or the time since one")
}
