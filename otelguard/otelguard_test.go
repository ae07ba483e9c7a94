package otelguard

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func TestDecisionsAreEventsOfTheSpan(t *testing.T) {
	for _, tc := range []struct {
		name   string
		sets   []string
		want   []string
		status codes.Code
	}{
		{"a halt", []string{"max_repeats=1", "action=abort"}, []string{"halt loop-detected 2 false before fetch c1"}, codes.Error},
		{"a block in shadow", []string{"max_repeats=1", "shadow=true"}, []string{"block loop-detected 2 true before fetch c1"}, codes.Unset},
		{"nothing", nil, nil, codes.Unset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
			_, span := provider.Tracer("test").Start(context.Background(), "invoke_agent coder")
			p, err := profile.Load(profile.Source{Name: "agentium", Sets: tc.sets})
			if err != nil {
				t.Fatal(err)
			}
			g := guard.New(p, guard.Options{Listeners: []guard.Listener{Listener(span)}})
			for k := range 2 {
				g.Before(t.Context(), guard.Call{ID: fmt.Sprint("c", k), Tool: "fetch"})
			}
			g.Close()
			span.End()
			ended := recorder.Ended()[0]
			var got []string
			for _, e := range ended.Events() {
				line := ""
				for k, a := range e.Attributes {
					if k > 0 {
						line += " "
					}
					line += a.Value.String()
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if ended.Status().Code != tc.status {
				t.Errorf("status %v, want %v", ended.Status(), tc.status)
			}
		})
	}
}
