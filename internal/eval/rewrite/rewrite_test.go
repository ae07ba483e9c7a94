package rewrite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/internal/goldentest"
)

// small is a run with a call of a shell that failed, a call of another tool, and a label of each kind.
const small = `{"id":"r","source":"s","outcome":"failure","labels":{"loop":{"kind":"k","onset":1,"end":2},"checkpoints":[{"after_event":2,"loop":true}],` +
	`"stuck":{"agreed":[{"onset":1,"end":2}],"borderline":[{"onset":3,"end":3}]}},"events":[` +
	`{"kind":"message","role":"assistant","agent":"a","text":"I run the tests."},` +
	`{"kind":"tool_call","agent":"a","tool":"bash","args":{"command":"make <all>"},"result":"<returncode>2</returncode>\n<output>\nno rule\n2 errors\n</output>","error":"exit status 2"},` +
	`{"kind":"tool_call","agent":"a","tool":"get_order","args":{"id":"o-1"},"result":{"id":"o-1","state":"new"}},` +
	`{"kind":"message","role":"user","text":"Go on."}]}`

func runs(t *testing.T, text string) (list []*eval.Run) {
	t.Helper()
	err := eval.Each(context.Background(), "runs", strings.NewReader(text), func(run *eval.Run) error {
		list = append(list, run)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestForms compares a small run in each form with a golden file: a line with what the form is, then the events.
func TestForms(t *testing.T) {
	var got bytes.Buffer
	for _, form := range Forms() {
		made, err := form.Rewrite(runs(t, small)[0])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s: %s\n", form.Name, form.Title)
		for _, event := range made.Events {
			fmt.Fprintf(&got, "\t%s\n", event)
		}
	}
	goldentest.Compare(t, "testdata/forms.golden", got.Bytes())
}

func TestLabelsStayAtTheirEvents(t *testing.T) {
	form, err := Find("polled_outputs")
	if err != nil {
		t.Fatal(err)
	}
	run := runs(t, small)[0]
	made, err := form.Rewrite(run)
	if err != nil {
		t.Fatal(err)
	}
	want := eval.Labels{
		Loop:    &eval.Loop{Kind: "k", Onset: 1, End: 3}, // the call of the shell has become two
		Moments: []eval.Moment{{AfterEvent: 3, Loop: true}},
		Stuck:   &eval.Stuck{Agreed: []eval.Stretch{{Onset: 1, End: 3}}, Borderline: []eval.Stretch{{Onset: 4, End: 4}}},
	}
	if diff := cmp.Diff(want, made.Labels); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(runs(t, small)[0].Labels, run.Labels); diff != "" {
		t.Errorf("the labels of the original changed (-before +after):\n%s", diff)
	}
}

func TestARewrittenRunIsALabelledRun(t *testing.T) {
	for _, form := range Forms() {
		made, err := form.Rewrite(runs(t, small)[0])
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		read := runs(t, string(text))[0]
		if diff := cmp.Diff(made.Labels, read.Labels); diff != "" || len(read.Events) != len(made.Events) {
			t.Errorf("%s: %d events are read, want %d; labels (-want +got):\n%s", form.Name, len(read.Events), len(made.Events), diff)
		}
	}
}

func TestWhatCannotBeRewritten(t *testing.T) {
	if _, err := Find("morse"); err == nil || err.Error() != `unknown form "morse"` {
		t.Errorf("Find returns %v", err)
	}
	_, err := Forms()[0].Rewrite(runs(t, `{"id":"r","events":[7]}`)[0])
	if err == nil || !strings.HasPrefix(err.Error(), "rewrite event 0 of run r: ") {
		t.Errorf("Rewrite returns %v", err)
	}
}
