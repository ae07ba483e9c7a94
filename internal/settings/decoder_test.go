package settings

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type example struct {
	Name  string             `yaml:"name"`
	Times int                `yaml:"times"`
	Share float64            `yaml:"share"`
	Asks  bool               `yaml:"asks"`
	Words []string           `yaml:"words"`
	Tools map[string]example `yaml:"tools"`
	Inner `yaml:",inline"`
	Rest  map[string]float64 `yaml:",inline"`
}

// Inner is embedded.
type Inner struct {
	Limit int `yaml:"limit"`
}

func TestEveryKindOfFieldIsDecodedWithItsPlace(t *testing.T) {
	const text = "name: a\ntimes: 1_000\nshare: .5\nasks: TRUE\nwords: [x, y]\ntools:\n  b: {name: c, more: 2}\nlimit: 7\n"
	var got example
	d := NewDecoder()
	d.Set("", reflect.ValueOf(&got).Elem(), d.Document("f.yaml", []byte(text)))
	want := example{
		Name: "a", Times: 1000, Share: .5, Asks: true, Words: []string{"x", "y"},
		Tools: map[string]example{"b": {Name: "c", Rest: map[string]float64{"more": 2}}}, Inner: Inner{Limit: 7},
	}
	if diff := cmp.Diff(want, got); diff != "" || d.Errors.Err() != nil {
		t.Errorf("%v (-want +got):\n%s", d.Errors.Err(), diff)
	}
	for path, line := range map[string]int{"name": 1, "words[1]": 5, "tools.b.more": 7, "limit": 8} {
		if diff := cmp.Diff(Place{"f.yaml", line}, d.Places[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// Whatever a document holds, all that is wrong with it is told as an Error with its file, and nothing panics.
func TestEveryErrorHasAType(t *testing.T) {
	value := rapid.SampledFrom([]string{"", "1", "x", "[1, {a: 2}]", "{b: c}", "null", "&a [x]", "2.5", "{name: [], tools: 3}"})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			text += rapid.SampledFrom([]string{"name", "times", "share", "asks", "words", "tools", "limit", "other"}).Draw(t, "name")
			text += ": " + value.Draw(t, "value") + "\n"
		}
		var to example
		d := NewDecoder()
		if document := d.Document("f.yaml", []byte(text)); document != nil {
			d.Set("", reflect.ValueOf(&to).Elem(), document)
		}
		for _, err := range Unjoin(d.Errors.Err()) {
			var e *Error
			if !errors.As(err, &e) || e.File != "f.yaml" || e.Reason == "" {
				t.Errorf("%q: %#v", text, err)
			}
		}
	})
}
