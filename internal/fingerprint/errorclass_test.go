package fingerprint

import "testing"

func TestErrorClass(t *testing.T) {
	for _, tc := range []struct {
		name string
		a, b string
		same bool
	}{
		{"another file and line", `"src/a.go:12: undefined: token"`, `"pkg/b.go:7: undefined: token"`, true},
		{"another quoted part", `"no such module 'torch'"`, `"no such module 'numpy'"`, true},
		{
			"a request id and a time", `"Error: 123e4567-e89b-12d3-a456-426614174000 failed at 2026-01-02T03:04:05Z after 12 ms"`,
			`"Error: aaaaaaaa-e89b-12d3-a456-42661417400f failed at 2026-02-03T13:14:15Z after 9 ms"`, true,
		},
		{"an address", `"Error: bad handle 0x7f3c12ab90"`, `"Error: bad handle 0x55aa99cc10"`, true},
		{"the last line of a traceback counts", `"Traceback:\n  File \"a.py\", line 3\nValueError: bad"`, `"Traceback:\n  File \"b.py\", line 9\nValueError: bad"`, true},
		{"a tag around it, escaped or not", `"<output>\nno rule\n</output>"`, `"\u003coutput\u003e\nno rule\n\u003c/output\u003e"`, true},
		{"another kind", `"ValueError: bad"`, `"TypeError: bad"`, false},
		{"another word", `"permission denied"`, `"connection denied"`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ErrorClass(ErrorLine([]byte(tc.a))) == ErrorClass(ErrorLine([]byte(tc.b))); got != tc.same {
				t.Errorf("%s and %s: same is %v", tc.a, tc.b, got)
			}
		})
	}
	if ErrorClass(ErrorLine(nil)) != 0 || ErrorClass(ErrorLine([]byte(`""`))) != 0 {
		t.Error("no text has a class")
	}
}
