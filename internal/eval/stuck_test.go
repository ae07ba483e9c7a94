package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The profile cycles warns at the second and third equal call in a row, and halts at the fourth and later ones.
func TestJudged(t *testing.T) {
	for _, tc := range []struct {
		name   string
		labels string
		calls  string
		want   Judged
	}{
		{
			"a flag within a stretch finds it", `{"stuck":{"agreed":[{"onset":1,"end":2,"kind":"k","severity":"mild","certainty":0.8}]}}`, "b a a c",
			Judged{Found: Proportion{1, 1}, Stopped: Proportion{0, 1}, Elsewhere: Proportion{0, 1}, Delays: Delays{1}},
		},
		{
			"a flag three events behind the end finds it still", `{"stuck":{"agreed":[{"onset":0,"end":1}]}}`, "a b c d d",
			Judged{Found: Proportion{1, 1}, Stopped: Proportion{0, 1}, Elsewhere: Proportion{0, 1}, Delays: Delays{4}},
		},
		{
			"a flag four events behind the end does not, and is not false", `{"stuck":{"agreed":[{"onset":0,"end":1}]}}`, "a b c d e e",
			Judged{Found: Proportion{0, 1}, Stopped: Proportion{0, 1}, Elsewhere: Proportion{0, 1}},
		},
		{
			"a flag seven events behind the end is false", `{"stuck":{"agreed":[{"onset":0,"end":1}]}}`, "a b c d e f g h h",
			Judged{Found: Proportion{0, 1}, Stopped: Proportion{0, 1}, Elsewhere: Proportion{1, 1}},
		},
		{
			"a flag before the onset is false, beside one that finds", `{"stuck":{"agreed":[{"onset":3,"end":4}]}}`, "a a b c c",
			Judged{Found: Proportion{1, 1}, Stopped: Proportion{0, 1}, Elsewhere: Proportion{1, 1}, Delays: Delays{1}},
		},
		{
			"a flag in a borderline stretch is neither right nor false", `{"stuck":{"agreed":[],"borderline":[{"onset":0,"end":1}]}}`, "a a b",
			Judged{Elsewhere: Proportion{0, 1}},
		},
		{
			"a clean run that is halted is flagged and stopped falsely", `{"stuck":{"agreed":[],"borderline":[]}}`, "a a a a",
			Judged{FalseFlags: Proportion{1, 1}, FalseStops: Proportion{1, 1}},
		},
		{
			"a halt within a stretch stops it", `{"stuck":{"agreed":[{"onset":1,"end":3}]}}`, "a a a a",
			Judged{Found: Proportion{1, 1}, Stopped: Proportion{1, 1}, Elsewhere: Proportion{0, 1}, Delays: Delays{0}},
		},
		{"a run that nobody read", `{}`, "a a a a", Judged{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sheet := read(t, line("failure", tc.labels, tc.calls), "cycles").Sheets[0]
			if diff := cmp.Diff(tc.want, sheet.Judged); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if by := sheet.BySource["s"]; by != nil {
				if diff := cmp.Diff(tc.want, *by); diff != "" {
					t.Errorf("by source, -want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestTheFirstInvalidStretchIsAmongTheAgreedOnes(t *testing.T) {
	s := Stuck{Agreed: []Stretch{{Onset: 0, End: 9}}, Borderline: []Stretch{{Onset: 0, End: 9}}}
	for range 20 {
		if field, _ := s.mistake(5); field != "labels.stuck.agreed.0" {
			t.Fatalf("the first mistake is in %s", field)
		}
	}
}

func TestFalseFlagsCountOnceARunInPrecision(t *testing.T) {
	j := Judged{Found: Proportion{6, 8}, FalseFlags: Proportion{2, 90}, Elsewhere: Proportion{1, 10}}
	if diff := cmp.Diff(Score{Precision: Proportion{6, 9}, Recall: Proportion{6, 8}}, j.Score()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
