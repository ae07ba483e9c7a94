package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

func TestRunsAreEvictedBeyondTheBytesInMemory(t *testing.T) {
	judge, err := profile.New("looplens") // it keeps inputs
	if err != nil {
		t.Fatal(err)
	}
	const limit = 4 << 20
	p, stop := start(t, Options{Store: newMemory(), Profile: judge, RunBytes: limit})
	text := strings.Repeat("word ", 780)
	for k := range 20 { // of about a megabyte each
		var events []*unloop.Event
		for n := range 200 {
			events = append(events, &unloop.Event{
				ID: fmt.Sprint(n), RunID: fmt.Sprint("r", k), Sequence: int64(n + 1), Type: unloop.ToolCallStarted,
				Tool: fmt.Sprint("tool", n), Input: json.RawMessage(fmt.Sprintf(`{"q":"%d %s"}`, n, text)),
			})
		}
		submit(t, p, events...)
		if p.runBytes > limit || p.live[fmt.Sprint("r", k)] == nil { // the recorder nextRefold
			t.Errorf("after run %d, %d runs take %d bytes", k, len(p.live), p.runBytes)
		}
	}
	if live := len(p.live); live < 2 || live > 4 {
		t.Errorf("%d runs of a megabyte are live", live)
	}
	if r := submit(t, p, &unloop.Event{ID: "late", RunID: "r0", Sequence: 201, Type: unloop.ToolCallStarted, Tool: "tool1"}); r.Events[0].Duplicate {
		t.Error("a run that left memory does not go on")
	}
	stop()
	if len(p.live) != 0 || p.runBytes != 0 {
		t.Errorf("at the end %d runs are live, with %d bytes", len(p.live), p.runBytes)
	}
}

// loads counts the runs that are read from the store.
type loads struct {
	*memory
	runs int
}

func (l *loads) Events(ctx context.Context, run int64, behind store.Position, each func(*store.Event) error) error {
	l.runs++
	return l.memory.Events(ctx, run, behind, each)
}

// Thousands of agents that act in turns stay in memory while their runs take little of it. Otherwise each event would load its run.
func TestManySmallRunsStayInMemory(t *testing.T) {
	l := &loads{memory: newMemory()}
	p, _ := start(t, Options{Store: l, Profile: defaultProfile(t)})
	const runs = 5000
	for n := range 2 {
		var events []*unloop.Event
		for k := range runs {
			events = append(events, call(fmt.Sprint("r", k), n)...)
		}
		submit(t, p, events...)
	}
	if l.runs > 0 {
		t.Errorf("%d of %d runs were read from the store", l.runs, runs)
	}
}
