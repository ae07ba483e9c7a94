package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/profile"
)

// asked measures a run with a second opinion that the labels give.
func asked(t *testing.T, line string) *Sheet {
	t.Helper()
	p, err := profile.New("cycles")
	if err != nil {
		t.Fatal(err)
	}
	board := New([]*profile.Profile{p})
	board.Ask(Readers, nil)
	if err := board.Read(t.Context(), "runs.jsonl", strings.NewReader(line)); err != nil {
		t.Fatal(err)
	}
	return board.Sheets[0]
}

// The profile cycles warns at the second and third equal call in a row, and halts at the fourth and later ones.
func TestLabelsCanAnswerAsASecondOpinion(t *testing.T) {
	for _, tc := range []struct {
		name, labels string
		stopped      bool
		opinions     Opinions
	}{
		{"a clean run is not stopped", `{"stuck":{"agreed":[],"borderline":[]}}`, false, Opinions{1, 1}},
		{"a stretch is stopped", `{"stuck":{"agreed":[{"onset":1,"end":5}]}}`, true, Opinions{1, 1}},
		{"there is no opinion where readers disagree", `{"stuck":{"agreed":[],"borderline":[{"onset":1,"end":5}]}}`, true, Opinions{1, 0}},
		{"a known loop is stopped", `{"loop":{"kind":"k","onset":1,"end":5}}`, true, Opinions{1, 1}},
		{"a lookalike is not stopped", `{"loop":{"kind":"k","onset":1,"end":5,"benign":true}}`, false, Opinions{1, 1}},
		{"there is no opinion without a label", `{}`, true, Opinions{1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sheet := asked(t, line("failure", tc.labels, "a a a a a a"))
			stops := sheet.Judged.Stopped.Count + sheet.Judged.FalseStops.Count + sheet.Failed.Stopped.Count
			for _, caught := range sheet.Loops {
				stops += caught.Stopped.Count
			}
			for _, hit := range sheet.LookAlikes {
				stops += hit.Stopped.Count
			}
			if stopped := stops > 0; stopped != tc.stopped {
				t.Errorf("stopped: %v, want %v", stopped, tc.stopped)
			}
			if diff := cmp.Diff(tc.opinions, sheet.Opinions); diff != "" {
				t.Error(diff)
			}
		})
	}
}
