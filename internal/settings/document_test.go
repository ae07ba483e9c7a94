package settings

import "testing"

func TestATextThatIsNoYAMLIsExplainedWithItsLineAndACure(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb:\n\tc: 1\n":             "f.yaml:3: found character that cannot start any token: indent with spaces, and quote a value that begins with @, % or `",
		"a: 1\nb: @me\n":                 "f.yaml:2: found character that cannot start any token: indent with spaces, and quote a value that begins with @, % or `",
		"a: 1\nb: [*]\n":                 "f.yaml:2: did not find expected alphabetic or numeric character: quote a value that begins with * or &",
		"# *all\nb: 1 # *all\nc: *all\n": "f.yaml:3: unknown anchor 'all' referenced: quote a value that begins with *",
		"a: 1\nb: c: d\n":                `f.yaml:2: mapping values are not allowed in this context: quote a value that contains ": "`,
	} {
		d := NewDecoder()
		d.Document("f.yaml", []byte(text))
		if err := d.Errors.Err(); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
