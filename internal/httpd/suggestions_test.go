package httpd

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// fakeTuner records what is applied and gives fixed answers.
type fakeTuner struct {
	acts    Acts
	applied []api.NewSetting
}

func (f *fakeTuner) Suggest(ctx context.Context) (api.Suggestions, error) {
	_, bounded := ctx.Deadline()
	return api.Suggestions{Profile: "default", Complete: bounded, Suggestions: []api.Suggestion{}}, nil
}

func (f *fakeTuner) Apply(ctx context.Context, by *store.Act, s api.NewSetting) (string, error) {
	if s.Value > 1000 {
		return "", NotApplied(s.Setting + " is too large")
	}
	f.applied = append(f.applied, s)
	return "unloop.yaml", f.acts.Act(ctx, by)
}

func TestSuggestionsAreBoundedInTime(t *testing.T) {
	if got := get[api.Suggestions](newTestServer(t, nil), "/api/suggestions"); !got.Complete || got.Profile != "default" {
		t.Errorf("%+v", got)
	}
}

func TestASettingIsAppliedAndTheAuditLogSaysSo(t *testing.T) {
	tuner := &fakeTuner{}
	h := newTestServer(t, func(o *Options) { o.Tuner, tuner.acts = tuner, o.Store })
	ask := func(body string) (int, []byte) {
		w := h.do(http.MethodPost, "/api/suggestions/apply", body, "Content-Type", "application/json")
		return w.Code, w.Body.Bytes()
	}
	status, body := ask(`{"tool":"read_file","setting":"same_errors","value":6}`)
	var done api.Applied
	if err := json.Unmarshal(body, &done); err != nil || status != http.StatusOK || done.File != "unloop.yaml" {
		t.Fatalf("%d %s", status, body)
	}
	if len(tuner.applied) != 1 || tuner.applied[0].Tool != "read_file" || tuner.applied[0].Value != 6 {
		t.Errorf("applied %+v", tuner.applied)
	}
	if status, body := ask(`{"setting":"same_errors","value":6000}`); status != http.StatusConflict {
		t.Errorf("%d %s", status, body)
	}
	acts := get[[]api.Act](h, "/api/acts")
	if len(acts) != 1 || acts[0].Action != "apply" || acts[0].Value != "same_errors=6" || acts[0].Tool != "read_file" || acts[0].Who != "local" {
		t.Errorf("the audit log has %+v", acts)
	}
}
