package httpd

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
)

func TestALongNameIsShortenedWithAWarning(t *testing.T) {
	h := newTestServer(t, nil)
	long := strings.Repeat("訂", 300) // 900 bytes
	want := api.EventError{Field: "agent", Reason: "shortened from 900 bytes to 511"}
	one := h.do(http.MethodPost, "/api/events", event("r", 1, "x", `"agent":"`+long+`"`))
	var taken api.Event
	if err := json.Unmarshal(one.Body.Bytes(), &taken); err != nil || one.Code != http.StatusCreated {
		t.Fatalf("%d %s", one.Code, one.Body)
	}
	if taken.Agent == nil || len(*taken.Agent) > 512 || !strings.HasPrefix(*taken.Agent, "訂訂") || len(taken.Notices) != 1 || taken.Notices[0] != want {
		t.Errorf("the answer is %+v", taken)
	}
	two := h.do(http.MethodPost, "/api/events", "["+event("r", 2, "x", "")+","+event(long, 1, "x", "")+"]")
	var batch api.Batch
	if err := json.Unmarshal(two.Body.Bytes(), &batch); err != nil || batch.Accepted != 2 || len(batch.Notices) != 2 || batch.Notices[1].Field != "run_id" || batch.Notices[1].Index != 1 {
		t.Errorf("%d %s", two.Code, two.Body)
	}
	run := h.do(http.MethodPost, "/api/runs", `{"id":"`+long+`","name":"`+long+`"}`)
	var told api.Run
	if err := json.Unmarshal(run.Body.Bytes(), &told); err != nil || run.Code != http.StatusCreated || len(told.Name) > 512 {
		t.Errorf("%d %s", run.Code, run.Body)
	}
	if again := h.do(http.MethodGet, "/api/runs/"+told.ID+"/events", ""); again.Code != http.StatusOK || !strings.Contains(again.Body.String(), "訂") {
		t.Errorf("the run that was announced is not that of the event: %d %s", again.Code, again.Body)
	}
}
