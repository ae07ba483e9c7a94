package app

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
	"github.com/unloop-ai/unloop/profile"
)

func TestARunThatCannotBeReplayedDoesNotKeepOthersFromBeingJudged(t *testing.T) {
	judge, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	path := sqlite.Database(t)
	kept := openStore(t, path)
	var events []*unloop.Event
	for k := range 3 {
		events = append(events, &unloop.Event{ID: "e", RunID: fmt.Sprint("r", k), Type: unloop.RunStarted})
	}
	recordEvents(t, kept, events)
	damageEvents(t, path, runOf(t, kept, "r2").Number) // the latest run, which is due first
	judges := &shadow{kept, judge, "j"}
	done := int64(-1)
	if _, err := judges.judgeDue(t.Context(), &done); err == nil || !strings.Contains(err.Error(), "read the events of a run") {
		t.Errorf("the error is %v", err)
	}
	due, err := kept.ShadowDue(t.Context(), "j", 10)
	if err != nil || len(due) != 1 || due[0] != "r2" {
		t.Errorf("not judged: %v, want r2 (%v)", due, err)
	}
}

// damageEvents makes the events of a run unreadable, in a database that a store has open.
func damageEvents(t *testing.T, path string, run int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE events SET received = 'damaged' WHERE run = $1", run); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
