package httpd

import (
	"context"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// fakeShadow gives fixed answers.
type fakeShadow struct {
	replayed *pipeline.Replayed // nil without a shadow profile
}

func (f *fakeShadow) Runs(_ context.Context, recorded, shadow *policy.Action) (api.ShadowRuns, error) {
	answer := api.ShadowRuns{Counts: []api.ShadowCount{}, Items: []api.ShadowRun{}}
	if recorded != nil && shadow != nil {
		answer.Items = append(answer.Items, api.ShadowRun{Decision: recorded.String(), Shadow: shadow.String()})
	}
	return answer, nil
}

func (f *fakeShadow) Judge(context.Context, *store.Run, int) (*pipeline.Replayed, error) {
	return f.replayed, nil
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
	shadow := &fakeShadow{}
	h := newTestServer(t, func(o *Options) { o.Shadow = shadow })
	h.send(looping("r", 6)...)
	if got := get[api.Shadow](h, "/api/runs/r/shadow"); got.Configured || got.Replay != nil {
		t.Errorf("without a shadow profile: %+v", got)
	}
	shadow.replayed = &pipeline.Replayed{Profile: "cycles", Events: 13, Decisions: []store.Decision{{EventID: "e", Number: 4, Action: policy.Block}}}
	got := get[api.Shadow](h, "/api/runs/r/shadow")
	if !got.Configured || got.Replay == nil || got.Replay.Profile != "cycles" || len(got.Replay.Decisions) != 1 {
		t.Errorf("%+v", got)
	}
}
