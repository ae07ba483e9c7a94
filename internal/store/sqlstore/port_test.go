package sqlstore

import (
	"path/filepath"
	"testing"

	"github.com/unloop-ai/unloop/internal/store"
)

func TestSmoke(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "a b?c%.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := store.Position{Sequence: 1, Time: 2, Tie: 3}
	b := &store.Batch{
		Runs:        []store.Run{{Number: 1, ID: "r", Status: "running", Tools: []string{"a", "b\n"}}},
		Events:      []store.Event{{Arrival: 1, Run: 1, ID: "e", Position: p, Body: []byte("x")}, {Arrival: 2, Run: 1, ID: "e", Position: p, Body: []byte("y")}},
		Spans:       []store.Span{{Trace: "t", ID: "s", Run: 1}},
		Warnings:    []store.Warning{{Run: 1, ID: "w", Rule: "x"}},
		Decisions:   []store.Decision{{Run: 1, Position: p}},
		Checkpoints: []store.Checkpoint{{Run: 1, Position: p, State: []byte("z")}},
	}
	t.Log(s.Commit(t.Context(), b))
	t.Log(s.Run(t.Context(), "r"))
	t.Log(s.Known(t.Context(), 1, []string{"e", "f"}))
	t.Log(s.Spans(t.Context(), "t"))
	t.Log(s.Warnings(t.Context(), 1))
	t.Log(s.Checkpoints(t.Context(), 1))
	t.Log(s.Events(t.Context(), 1, store.Start, func(e *store.Event) error { t.Log(e.ID, string(e.Body)); return nil }))
	t.Log(s.Last(t.Context()))
	_, err = Open(t.Context(), filepath.Join(filepath.Dir(t.TempDir()), "001", "a b?c%.db"), Options{})
	t.Log(err)
}
