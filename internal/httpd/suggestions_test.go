package httpd

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// fakeTuner records what is applied and gives fixed answers.
type fakeTuner struct {
	acts    Acts
	applied []api.NewSetting
	shadow  *pipeline.Replayed
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

func (f *fakeTuner) ShadowRuns(_ context.Context, recorded, shadow *policy.Action) (api.ShadowRuns, error) {
	answer := api.ShadowRuns{Counts: []api.ShadowCount{}, Items: []api.ShadowRun{}}
	if recorded != nil && shadow != nil {
		answer.Items = append(answer.Items, api.ShadowRun{Decision: recorded.String(), Shadow: shadow.String()})
	}
	return answer, nil
}

func (f *fakeTuner) Shadow(context.Context, *store.Run, int) (*pipeline.Replayed, error) {
	return f.shadow, nil
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

func TestShadowVerdictsAreSelectedByBothDecisions(t *testing.T) {
	h := newTestServer(t, nil)
	if got := get[api.ShadowRuns](h, "/api/shadow?decision=warn&shadow_decision=halt"); len(got.Items) != 1 || got.Items[0].Decision != "warn" || got.Items[0].Shadow != "halt" {
		t.Errorf("%+v", got)
	}
	if got := get[api.ShadowRuns](h, "/api/shadow"); len(got.Items) != 0 {
		t.Errorf("without decisions: %+v", got)
	}
}

func TestARunIsJudgedUnderTheShadowProfile(t *testing.T) {
	tuner := &fakeTuner{}
	h := newTestServer(t, func(o *Options) { o.Tuner = tuner })
	h.send(looping("r", 6)...)
	if got := get[api.Shadow](h, "/api/runs/r/shadow"); got.Configured || got.Replay != nil {
		t.Errorf("without a shadow profile: %+v", got)
	}
	tuner.shadow = &pipeline.Replayed{Profile: "cycles", Events: 13, Decisions: []store.Decision{{EventID: "e", Number: 4, Action: policy.Block}}}
	got := get[api.Shadow](h, "/api/runs/r/shadow")
	if !got.Configured || got.Replay == nil || got.Replay.Profile != "cycles" || len(got.Replay.Decisions) != 1 {
		t.Errorf("%+v", got)
	}
}
