package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// fakeJudge records its arguments and gives fixed answers.
type fakeJudge struct {
	profile  string
	settings map[string]string
	most     int
	answer   func(ctx context.Context) (*pipeline.Replayed, error) // nil for an answer that is fine
}

func (j *fakeJudge) Replay(ctx context.Context, run *store.Run, profile string, settings map[string]string, most int) (*pipeline.Replayed, error) {
	j.profile, j.settings, j.most = profile, settings, most
	if profile == "wrong" {
		return nil, SettingErrors{{Reason: "there is no profile of that name"}}
	}
	if j.answer != nil {
		return j.answer(ctx)
	}
	return &pipeline.Replayed{
		Profile: profile, Events: run.Metrics.Events, Health: policy.Health{Score: 70, Status: "looping"},
		HealthHistory: []store.HealthAt{{Number: 0, Score: 100}, {Number: 4, Score: 70}}, WorstAction: policy.Block, FirstWarningAt: noon,
		UsageAfterWarning: store.Usage{Calls: 3, Tokens: 5, Cost: 0.25},
		Warnings: []store.Warning{
			{ID: "w2", Run: run.Number, Rule: "later", Severity: "warning", Message: "m", Created: noon.Add(time.Second), Updated: noon},
			{ID: "w1", Run: run.Number, Rule: "earlier", Severity: "critical", Message: "m", Created: noon, Updated: noon, Count: 3},
		},
		Decisions: []store.Decision{{Run: run.Number, EventID: "e", Number: 4, Action: policy.Block, Code: "c", Message: "stop"}},
	}, nil
}

func (j *fakeJudge) Rules() []api.Rule {
	return []api.Rule{{Name: "cycle", What: "It turns.", Why: "It costs.", Try: "Stop.", Profiles: []string{"default"}}}
}

func (j *fakeJudge) Profiles() []api.Profile {
	return []api.Profile{{Name: "default", Title: "as it is", Rules: []string{"cycle"}, Settings: []api.Setting{{Name: "rounds", Value: 3, Doc: "how often"}, {Name: "ignore", Value: []string{}, Doc: "tools"}}}}
}

// replayed returns a server with a judge and the recorded run r.
func replayed(t *testing.T, j *fakeJudge) *testServer {
	t.Helper()
	h := newTestServer(t, func(o *Options) { o.Judge = j })
	h.send(looping("r", 6)...)
	return h
}

func TestARunIsReplayed(t *testing.T) {
	j := &fakeJudge{}
	h := replayed(t, j)
	w := h.do(http.MethodPost, "/api/runs/r/replay", `{"profile":"cycles","settings":{"a":"7","b":7,"c":[1, "x"],"d":true,"e":"[y]"}}`, "Content-Type", "application/json")
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	asked := map[string]string{"a": "7", "b": "7", "c": `[1, "x"]`, "d": "true", "e": "[y]"}
	if diff := cmp.Diff(asked, j.settings); diff != "" || j.profile != "cycles" || j.most != 200_000 {
		t.Errorf("the request is for %s, %d events at most, settings:\n%s", j.profile, j.most, diff)
	}
	var got api.Replay
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, warning := range got.Warnings {
		ids = append(ids, warning.ID+" of "+warning.RunID)
	}
	if diff := cmp.Diff([]string{"w1 of r", "w2 of r"}, ids); diff != "" {
		t.Error("warnings, the first raised first:", diff)
	}
	if diff := cmp.Diff([]api.Decision{{RunID: "r", EventID: "e", EventNumber: 4, Action: "block", Code: "c", Message: "stop"}}, got.Decisions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]api.HealthPoint{{HealthScore: 100}, {EventNumber: 4, HealthScore: 70}}, got.Health); diff != "" {
		t.Error(diff)
	}
	got.Warnings, got.Decisions, got.Health = nil, nil, nil
	at := "2026-05-01T12:00:00Z"
	want := api.Replay{
		RunID: "r", Profile: "cycles", Settings: asked, Events: 13, HealthScore: 70, HealthStatus: "looping", WorstDecision: "block", WarnedAt: &at,
		After: api.UsageTotals{Calls: 3, Tokens: 5, Cost: 0.25},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAReplayWithoutAProfileUsesThatOfTheRun(t *testing.T) {
	j := &fakeJudge{}
	h := replayed(t, j)
	if w := h.do(http.MethodPost, "/api/runs/r/replay", `{}`, "Content-Type", "application/json"); w.Code != http.StatusOK || j.profile != "default" {
		t.Errorf("%d under %q", w.Code, j.profile)
	}
}

func TestInvalidReplaysAreRejected(t *testing.T) {
	failing := func(err error) func(context.Context) (*pipeline.Replayed, error) {
		return func(context.Context) (*pipeline.Replayed, error) { return nil, err }
	}
	two := SettingErrors{{"rounds", "rounds is 0; it must be from 2 to 100"}, {"speed", "there is no setting speed"}}
	for _, tc := range []struct {
		name, run, body string
		answer          func(context.Context) (*pipeline.Replayed, error)
		status          int
		field, reason   string
	}{
		{"a run that there is not", "nobody", `{}`, nil, 404, "id", "there is no run"},
		{"a profile that there is not", "r", `{"profile":"wrong"}`, nil, 422, "profile", "there is no profile"},
		{"settings out of range", "r", `{"settings":{"rounds":0}}`, failing(two), 422, "settings.rounds", "it must be from 2 to 100"},
		{"a run that is too long", "r", `{}`, failing(fmt.Errorf("fold: %w", pipeline.ErrTooLong)), 422, "id", "200000"},
		{"a profile that is no text", "r", `{"profile":7}`, nil, 422, "profile", "string"},
		{"settings that are no object", "r", `{"settings":[1]}`, nil, 422, "settings", "object"},
		{"a body that is no JSON", "r", `{"profile"`, nil, 400, "", ""},
		{"a body that is too long", "r", `{"profile":"` + strings.Repeat("x", replayBody) + `"}`, nil, 413, "", ""},
		{"an internal error", "r", `{}`, failing(fmt.Errorf("disk on fire")), 500, "", "the server's log has the reason"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := replayed(t, &fakeJudge{answer: tc.answer})
			w := h.do(http.MethodPost, "/api/runs/"+tc.run+"/replay", tc.body, "Content-Type", "application/json")
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%v in %s", err, w.Body)
			}
			if w.Code != tc.status || p.Field != tc.field || !strings.Contains(p.Reason, tc.reason) {
				t.Errorf("%d %+v", w.Code, p)
			}
			if tc.field == "settings.rounds" && (len(p.Errors) != 2 || p.Errors[1].Field != "settings.speed") {
				t.Errorf("errors %+v", p.Errors)
			}
		})
	}
}

func TestReplaysRunOneAtATime(t *testing.T) {
	j := &fakeJudge{}
	h := replayed(t, j)
	ask := func() *httptest.ResponseRecorder {
		return h.do(http.MethodPost, "/api/runs/r/replay", `{}`, "Content-Type", "application/json")
	}
	var meanwhile *httptest.ResponseRecorder
	j.answer = func(context.Context) (*pipeline.Replayed, error) {
		if meanwhile == nil {
			meanwhile = httptest.NewRecorder() // that the answer to the second, should it come so far, asks no third
			meanwhile = ask()
		}
		return &pipeline.Replayed{}, nil
	}
	if first := ask(); first.Code != http.StatusOK {
		t.Errorf("the first: %d", first.Code)
	}
	if meanwhile.Code != http.StatusTooManyRequests || meanwhile.Header().Get("Retry-After") != "1" {
		t.Errorf("one meanwhile: %d %s", meanwhile.Code, meanwhile.Header())
	}
	if next := ask(); next.Code != http.StatusOK {
		t.Errorf("the next: %d", next.Code)
	}
}

func TestALongRunIsRejectedUnread(t *testing.T) {
	r := &replays{Server: &Server{Options: Options{Store: oneRun{events: replayEvents + 1}, Judge: &fakeJudge{}}}}
	_, err := r.replay(t.Context(), &replayQuery{RunPath: RunPath{ID: "r"}})
	if p, ok := err.(*Problem); !ok || p.Status != http.StatusUnprocessableEntity {
		t.Errorf("answer %v", err)
	}
}

func TestAReplayEndsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &fakeJudge{answer: func(ctx context.Context) (*pipeline.Replayed, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := &replays{Server: &Server{Options: Options{Store: oneRun{}, Judge: j}}}
		began := time.Now()
		_, err := r.replay(t.Context(), &replayQuery{RunPath: RunPath{ID: "r"}})
		if p, ok := err.(*Problem); !ok || p.Status != http.StatusServiceUnavailable || !strings.Contains(p.Reason, "10s") {
			t.Errorf("answer %v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// oneRun is a store in which every run is.
type oneRun struct {
	Store
	events int
}

func (o oneRun) Run(_ context.Context, id string) (*store.Run, error) {
	return &store.Run{ID: id, Metrics: store.Metrics{Events: o.events}}, nil
}

func TestRulesAndProfilesAreListed(t *testing.T) {
	h := newTestServer(t, nil)
	if diff := cmp.Diff((&fakeJudge{}).Rules(), get[[]api.Rule](h, "/api/rules")); diff != "" {
		t.Error(diff)
	}
	w := h.do(http.MethodGet, "/api/profiles", "")
	want := `[{"name":"default","title":"as it is","rules":["cycle"],"settings":[{"name":"rounds","value":3,"doc":"how often"},{"name":"ignore","value":[],"doc":"tools"}]}]`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Error(cmp.Diff(want, got))
	}
}
