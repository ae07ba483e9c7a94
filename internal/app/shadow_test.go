package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
	"github.com/unloop-ai/unloop/profile"
)

// faultyEvents is a store that fails to read the events of one run.
type faultyEvents struct {
	*sqlstore.Store
	run  int64
	fail func() error
}

func (f faultyEvents) Events(ctx context.Context, run int64, after store.Position, take func(*store.Event) error) error {
	if run == f.run {
		return f.fail()
	}
	return f.Store.Events(ctx, run, after, take)
}

func TestARunThatCannotBeReplayedDoesNotKeepOthersFromBeingJudged(t *testing.T) {
	judge, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		fail func() error
		want string
	}{
		{"its events cannot be read", func() error { return errors.New("a damaged page") }, "a damaged page"},
		{"the replay panics", func() error { panic("a damaged state") }, pipeline.ErrPanic.Error()},
	} {
		t.Run(c.says, func(t *testing.T) {
			kept := openStore(t, sqlite.Database(t))
			var events []*unloop.Event
			for k := range 3 {
				events = append(events, &unloop.Event{ID: "e", RunID: fmt.Sprint("r", k), Type: unloop.RunStarted})
			}
			recordEvents(t, kept, events)
			broken := runOf(t, kept, "r2").Number // the latest run, which is due first
			judges := &shadow{kept, faultyEvents{kept, broken, c.fail}, judge, "j"}
			done := int64(-1)
			if _, err := judges.judgeDue(t.Context(), &done); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			due, err := kept.ShadowDue(t.Context(), "j", 10)
			if err != nil || len(due) != 1 || due[0] != "r2" {
				t.Errorf("not judged: %v, want r2 (%v)", due, err)
			}
		})
	}
}
