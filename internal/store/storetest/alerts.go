package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func alerts(t *testing.T, s Store) {
	full := store.Alert{
		URL: "https://hooks.test/\x00secret", Format: "slack", Secret: "s", Severity: "critical", Level: "halt", Projects: []string{"a", "b"},
		Quiet: &store.Quiet{From: "22:00", Until: "07:00", Zone: "Europe/Berlin"},
	}
	bare := store.Alert{URL: "http://hooks.test", Format: "json", Severity: "info", Level: "raised"}
	do(t, s, 1, store.Act{Action: store.ActMute, Rule: "cycle"})
	if number := do(t, s, 2, store.Act{Action: store.ActAddAlert, Value: "hooks.test", Alert: &full}); number != 2 || full.Number != 2 {
		t.Errorf("numbers %d and %d, want 2", number, full.Number)
	}
	do(t, s, 3, store.Act{Action: store.ActAddAlert, Alert: &bare})
	if diff := cmp.Diff([]store.Alert{full, bare}, must[[]store.Alert](t)(s.Alerts(t.Context()))); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
	full.Secret, full.Quiet = "", nil
	do(t, s, 4, store.Act{Action: store.ActChangeAlert, Alert: &full})
	do(t, s, 5, store.Act{Action: store.ActDeleteAlert, Alert: &bare})
	if diff := cmp.Diff([]store.Alert{full}, must[[]store.Alert](t)(s.Alerts(t.Context()))); diff != "" {
		t.Errorf("alerts after a change and a deletion (-want +got):\n%s", diff)
	}
	for _, action := range []string{store.ActChangeAlert, store.ActDeleteAlert} {
		if err := s.Act(t.Context(), &store.Act{At: noon, Action: action, Alert: &bare}); !errors.Is(err, store.ErrNoAlert) {
			t.Errorf("%s of a deleted alert: %v", action, err)
		}
	}
	if acts, _, err := s.Acts(t.Context(), store.Page{Limit: 10}); err != nil || len(acts) != 5 {
		t.Errorf("%d acts, %v", len(acts), err)
	}
}
