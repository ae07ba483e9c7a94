package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

func TestAStreamNamesTheEventsThatALateOneChanged(t *testing.T) {
	h := newTestServer(t, nil)
	send := func(sequence int) {
		t.Helper()
		for half, what := range []string{"started", "completed"} {
			member := []string{"input", "output"}[half]
			body := fmt.Sprintf(`{"event_id":"e%d-%s","run_id":"r","sequence":%d,"type":"tool_call_%[2]s","tool":"t","call_id":"c%[1]d",%[4]q:"x"}`,
				sequence, what, 2*sequence+half, member)
			if w := h.do(http.MethodPost, "/api/events", body); w.Code != http.StatusCreated {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	for _, sequence := range []int{2, 3} {
		send(sequence)
	}
	w := watch(t, h.listen().URL+"/api/runs/r/stream")
	page := make(map[string]*api.Analysis)
	take := func() {
		u := as[api.RunUpdate](t, w.next())
		for _, e := range u.Events {
			page[e.ID] = e.Analysis
		}
		for _, e := range u.Analyses {
			page[e.EventID] = e.Analysis
		}
	}
	for len(page) < 4 {
		take()
	}
	if got := page["e3-completed"]; got.Repeats != 2 || got.RepeatsEvent != "e2-completed" || *got.Novel {
		t.Errorf("%+v", got)
	}
	send(1)
	for page["e1-completed"] == nil || page["e3-completed"].Repeats < 3 { // the event may be told before what it changes
		take()
	}
	if got := page["e3-completed"]; got.Repeats != 3 || got.RepeatsEvent != "e2-completed" {
		t.Errorf("after a late call: %+v", got)
	}
	if got := page["e2-completed"]; got.Repeats != 2 || got.RepeatsEvent != "e1-completed" || *got.Novel {
		t.Errorf("after a late call: %+v", got)
	}
	var listed []api.Event
	if err := json.Unmarshal(h.do(http.MethodGet, "/api/runs/r/events", "").Body.Bytes(), &listed); err != nil {
		t.Fatal(err)
	}
	stored := make(map[string]*api.Analysis)
	for _, e := range listed {
		stored[e.ID] = e.Analysis
	}
	if diff := cmp.Diff(stored, page); diff != "" {
		t.Errorf("the stream and the list differ (-list +stream):\n%s", diff)
	}
}

func TestAnAnalysisFromASenderIsIgnored(t *testing.T) {
	h := newTestServer(t, nil)
	sent := `{"event_id":"e","run_id":"r","type":"tool_call_started","tool":"t","analysis":{"call":"claimed"}}`
	if w := h.do(http.MethodPost, "/api/events", sent); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var listed []api.Event
	if err := json.Unmarshal(h.do(http.MethodGet, "/api/runs/r/events", "").Body.Bytes(), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) != 1 || listed[0].Analysis == nil || listed[0].Analysis.Call == "claimed" {
		t.Errorf("%+v", listed)
	}
}
