package guardio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// fragile is a detector that panics at calls of the tool "bomb".
type fragile struct{}

func (fragile) Info() unloop.Info { return unloop.Info{Name: "fragile", At: unloop.AtStart} }

func (fragile) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Step.Tool == "bomb" {
		panic("a detector with a fault")
	}
	return unloop.Finding{}, false
}

func TestAPanicFailsOnlyItsRun(t *testing.T) {
	p, err := profile.Custom(profile.Parts{Name: "own", Detectors: []unloop.Detector{fragile{}}})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		`{"op":"before","id":1,"run":"bad","tool":"bomb"}`, `{"op":"after","id":1,"run":"bad","tool":"bomb","result":1}`, `{"op":"state","run":"bad"}`,
		`{"op":"snapshot","run":"bad"}`, `{"op":"stats","run":"bad"}`,
		`{"op":"before","run":"good","tool":"search"}`, `{"op":"snapshot","run":"good"}`,
		`{"op":"reset","run":"bad"}`, `{"op":"before","run":"bad","tool":"search"}`,
	}
	want := []string{"run_failed", "run_failed", "run_failed", "snapshot_failed", "", "", "", "", ""}
	codes := func(answers []string) (all []string) {
		for _, line := range answers {
			code := ""
			if a := read(t, line); a.Error != nil {
				code = a.Error.Code
			}
			all = append(all, code)
		}
		return all
	}
	if diff := cmp.Diff(want, codes(answers(t, p, lines...))); diff != "" {
		t.Errorf("over streams (-want +got):\n%s", diff)
	}
	s, err := New(p, maxRuns, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, line := range lines { // a request each, as over HTTP
		if err := s.Answer(t.Context(), []byte(line), &out); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, codes(strings.Split(strings.TrimSpace(out.String()), "\n"))); diff != "" {
		t.Errorf("over HTTP (-want +got):\n%s", diff)
	}
}
