package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestTheOutermostAgentEndsTheRun(t *testing.T) {
	const trace = "5b000000000000000000000000000001"
	span := func(id, above string, kind Kind, name string, end int64) Span {
		s := Span{TraceID: trace, ID: id, ParentID: above, Title: name, Start: 1, End: end, Facts: Facts{Kind: kind}}
		if kind == Agent {
			s.Agent = name
		}
		return s
	}
	request := span("01", "", Other, "POST /ask", 90)
	outer := span("02", "01", Agent, "writer", 80)
	inner := span("03", "02", Agent, "searcher", 40)
	chat := span("04", "01", Model, "chat", 85)
	failed := request
	failed.Failed = true
	for _, tc := range []struct {
		name  string
		spans []Span
		want  []string
	}{
		{"behind a web server", []Span{inner, chat, outer, request}, []string{"writer run_completed"}},
		{"behind a web server that fails in the end", []Span{inner, outer, failed}, []string{"writer run_completed", "POST /ask run_failed"}},
		{"not while it is unknown what is above", []Span{inner, chat}, nil},
		{"not while the root is unknown", []Span{inner, outer}, nil},
		{"model calls of a web server are no agent", []Span{chat, request}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			known := New()
			stand := make(map[string]*unloop.Event)
			var order []string
			for _, s := range tc.spans { // one by one, children first
				for _, c := range known.Add([]Span{s}) {
					delete(stand, c.Event.ID)
					if !c.Removed {
						stand[c.Event.ID] = c.Event
						order = append(order, c.Event.ID)
					}
				}
			}
			var got []string
			for _, id := range order {
				if e := stand[id]; e != nil && (e.Type == unloop.RunCompleted || e.Type == unloop.RunFailed) {
					got = append(got, e.Name+" "+string(e.Type))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
