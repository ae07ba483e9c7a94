package pipeline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
	"github.com/unloop-ai/unloop/profile"
)

// poisoned is a store that cannot be asked for one run.
type poisoned struct{ *memory }

func (p poisoned) Run(ctx context.Context, id string) (*store.Run, error) {
	if id == "poison" {
		panic("a run that nobody can read")
	}
	return p.memory.Run(ctx, id)
}

func TestAPanicWhileRecordingFailsOnlyItsSubmission(t *testing.T) {
	m := newMemory()
	p, err := New(t.Context(), Options{Profile: defaultProfile(t), Store: poisoned{m}, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	var group []*queued
	for _, run := range []string{"a", "poison", "b"} {
		w, err := p.prepare(&Submission{Events: calls(run, 3)})
		if err != nil || !p.admit(w) {
			t.Fatal(err)
		}
		group = append(group, w)
		p.queue <- w
	}
	<-p.queue // as Run does
	if next := p.group(t.Context(), group[0]); next != nil || p.Waiting() != 0 {
		t.Errorf("%d wait behind the group", p.Waiting())
	}
	for k, want := range []error{nil, ErrPanic, nil} {
		<-group[k].done
		if !errors.Is(group[k].err, want) || len(group[k].ack.Events) != 6 {
			t.Errorf("delivery %d: %v with %d results", k, group[k].err, len(group[k].ack.Events))
		}
	}
	for _, run := range []string{"a", "b"} {
		if got := len(verdictOf(t, m, run).Events); got != 6 {
			t.Errorf("run %s has %d events, want 6", run, got)
		}
	}
}

func TestSpansOfAGroupWithAPanicAreRecorded(t *testing.T) {
	m := newMemory()
	p, err := New(t.Context(), Options{Profile: defaultProfile(t), Store: poisoned{m}, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	tool, root, _ := conversation()
	var group []*queued
	for _, d := range []*Submission{{Spans: []trace.Span{tool, root}}, {Events: calls("poison", 1)}} {
		w, err := p.prepare(d)
		if err != nil || !p.admit(w) {
			t.Fatal(err)
		}
		group = append(group, w)
	}
	p.recordGroup(t.Context(), group)
	if err := group[0].err; err != nil {
		t.Errorf("the spans: %v", err)
	}
	if n := len(m.spans[conversed]); n != 2 {
		t.Errorf("%d spans are stored, want 2", n)
	}
}

// fragile is a detector that panics at calls of the tool "bomb".
type fragile struct{}

func (fragile) Info() unloop.Info { return unloop.Info{Name: "fragile", At: unloop.AtStart} }

func (fragile) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Step.Tool == "bomb" {
		panic("a detector with a fault")
	}
	return unloop.Finding{}, false
}

func customProfile(t *testing.T, detectors ...unloop.Detector) *profile.Profile {
	t.Helper()
	p, err := profile.Custom(profile.Parts{Name: "own", Detectors: detectors})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnEventIsRecordedAlthoughTheProfilePanics(t *testing.T) {
	m := newMemory()
	var log bytes.Buffer
	o := Options{Store: m, Profile: customProfile(t, fragile{}, detect.GenericRepeat{Window: 30, Times: 3}), Log: slog.New(slog.NewTextHandler(&log, nil))}
	p, stop := start(t, o)
	events := calls("r", checkpointEvery/2+10)
	bomb := events[6].Clone()
	bomb.ID, bomb.Tool, bomb.CallID = "bomb", "bomb", "bomb"
	submit(t, p, slices.Insert(events, 6, bomb)...)
	submit(t, p, calls("other", 3)...)
	stop()
	if n := valueOf(t, p.opts.Metrics.Unjudged); n != 1 || strings.Count(log.String(), "a detector with a fault") != 1 {
		t.Errorf("%v events were not judged; the log is %.300q", n, log.String())
	}
	got := verdictOf(t, m, "r")
	if len(got.Events) != checkpointEvery+21 || got.Run.Metrics.Events != checkpointEvery+21 || len(got.Warnings) != 1 {
		t.Errorf("%d events, metrics of %d, %d warnings", len(got.Events), got.Run.Metrics.Events, len(got.Warnings))
	}
	if n := len(m.checkpoints[got.Run.Number]); n != 0 {
		t.Errorf("%d checkpoints of a state that was left half way", n)
	}
	if got := verdictOf(t, m, "other"); len(got.Warnings) != 1 {
		t.Errorf("another run has %d warnings, want 1", len(got.Warnings))
	}
}

// valueOf returns the value of a counter.
func valueOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d metrics (%v)", len(families), err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

func TestARecordedRunIsReplayedUnderACustomProfile(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	submit(t, p, calls("r", 5)...)
	stop()
	row := verdictOf(t, m, "r").Run
	replayed, err := Replay(t.Context(), m, customProfile(t, detect.GenericRepeat{Window: 30, Times: 3}), &row, 100)
	if err != nil || replayed.Profile != "own" || len(replayed.Warnings) != 1 || replayed.Warnings[0].Count != 5 {
		t.Errorf("%+v (%v)", replayed, err)
	}
}
