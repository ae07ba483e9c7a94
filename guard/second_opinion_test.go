package guard

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// reviewer answers questions after a delay, and records them.
type reviewer struct {
	opinion policy.Opinion
	err     error
	delay   time.Duration
	panics  bool

	mu    sync.Mutex
	asked []policy.Question
}

func (r *reviewer) Review(ctx context.Context, q policy.Question) (policy.Opinion, error) {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	r.mu.Unlock()
	if r.panics {
		panic("broken reviewer")
	}
	select {
	case <-time.After(r.delay):
		return r.opinion, r.err
	case <-ctx.Done():
		return policy.Opinion{}, ctx.Err()
	}
}

// questions returns what was asked so far.
func (r *reviewer) questions() []policy.Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// reread has an agent read one file again and again, until it is stopped, and returns the decisions that are not Allow.
func reread(t *testing.T, g *Guard, rounds int) (all []Decision) {
	t.Helper()
	note := func(d Decision) bool {
		if d.Action != policy.Allow {
			all = append(all, d)
		}
		return d.Action < policy.Block
	}
	for range rounds {
		c := Call{Tool: "read", Args: json.RawMessage(`{"path":"a.go","token":"hunter22"}`)}
		if !note(g.Before(t.Context(), c)) || !note(g.After(t.Context(), c, Outcome{Result: json.RawMessage(`"package a"`)})) {
			return all
		}
	}
	return all
}

func secondGuard(t *testing.T, r *reviewer, wait time.Duration) *Guard {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter22", "[masked]") }
	g := New(p, Options{Run: "r", SecondOpinion: &SecondOpinion{Reviewer: r, Wait: wait, Mask: mask}})
	t.Cleanup(g.Close)
	return g
}

func TestASecondOpinionPreventsAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{opinion: policy.Opinion{Certainty: 1, Why: "each read is of another version"}, delay: time.Second}
		g := secondGuard(t, r, 5*time.Second)
		decisions := reread(t, g, 8)
		last := decisions[len(decisions)-1]
		if last.Action != policy.Warn || last.Opinion == nil || last.Opinion.Why != r.opinion.Why {
			t.Errorf("the decision is %v with opinion %+v, want a warning with the opinion", last.Action, last.Opinion)
		}
		stats := g.Stats().SecondOpinions
		if stats.Asked != len(r.questions()) || stats.Answered != stats.Asked || stats.Late+stats.Failed > 0 {
			t.Errorf("stats are %+v after %d questions", stats, len(r.questions()))
		}
		g.Close()
	})
}

func TestAdviceIsPartOfTheNudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{opinion: policy.Opinion{Stuck: true, Certainty: 1, Advice: "Run the tests"}}
		g := secondGuard(t, r, time.Second)
		decisions := reread(t, g, 8)
		last := decisions[len(decisions)-1]
		if last.Action < policy.Block || !strings.HasSuffix(last.Nudge, "Second opinion: Run the tests.") {
			t.Errorf("the decision is %v with nudge %q, want a stop with the advice", last.Action, last.Nudge)
		}
		for _, step := range r.questions()[0].Steps {
			if strings.Contains(step, "hunter22") {
				t.Errorf("the question shows a secret: %s", step)
			}
		}
		g.Close()
	})
}

// Decisions without an answer are those of a guard without second opinions.
func TestAGuardWithoutAnAnswerDecidesWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := profile.New(profile.Default)
		if err != nil {
			t.Fatal(err)
		}
		want := actions(reread(t, New(p, Options{Run: "r"}), 12))
		for name, r := range map[string]*reviewer{
			"an error":            {err: errors.New("no model")},
			"a late answer":       {opinion: policy.Opinion{Certainty: 1}, delay: time.Minute},
			"an invalid opinion":  {opinion: policy.Opinion{Certainty: 7}},
			"an uncertain answer": {opinion: policy.Opinion{Certainty: 0.2}},
			"a panic":             {panics: true},
		} {
			g := secondGuard(t, r, time.Second)
			before := time.Now()
			if diff := cmp.Diff(want, actions(reread(t, g, 12))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if waited := time.Since(before); waited > time.Duration(len(r.questions()))*time.Second {
				t.Errorf("%s: decisions waited %v for %d questions, want at most a second each", name, waited, len(r.questions()))
			}
			stats := g.Stats().SecondOpinions
			g.Close()
			if stats.Asked == 0 || name != "an uncertain answer" && stats.Late+stats.Failed == 0 {
				t.Errorf("%s: stats are %+v", name, stats)
			}
		}
	})
}

func actions(all []Decision) (actions []policy.Action) {
	for _, d := range all {
		actions = append(actions, d.Action)
	}
	return actions
}

func TestALateAnswerChangesLaterDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := secondGuard(t, &reviewer{opinion: policy.Opinion{Certainty: 1}, delay: time.Second}, 0)
		reread(t, g, 6)
		time.Sleep(2 * time.Second) // of the bubble: nothing else runs
		if d := g.State(); d.Failed != "" || g.Stats().SecondOpinions.Answered == 0 {
			t.Fatalf("no answer: %+v", g.Stats())
		}
		decisions := reread(t, g, 3)
		if last := decisions[len(decisions)-1]; last.Action != policy.Warn || last.Opinion == nil {
			t.Errorf("the decision is %v with opinion %v, want a warning with the opinion", last.Action, last.Opinion)
		}
		g.Close()
	})
}

func TestAClosedGuardAsksNoQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{delay: time.Hour}
		g := secondGuard(t, r, 0)
		reread(t, g, 6)
		g.Close() // ends the open question
		asked := len(r.questions())
		if reread(t, g, 4); asked == 0 || len(r.questions()) != asked {
			t.Errorf("%d questions before Close and %d after it, want some and none", asked, len(r.questions())-asked)
		}
	})
}

func TestADecisionWhileAGuardClosesAsksNoQuestion(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	r := &reviewer{}
	var g *Guard
	g = New(p, Options{Run: "r", SecondOpinion: &SecondOpinion{Reviewer: r}, Controls: func(string, func(*unloop.Event)) (stop func()) {
		return func() { reread(t, g, 8) } // Close ends the subscription before the questions
	}})
	g.Close()
	if n := g.Stats().SecondOpinions.Asked; n != 0 {
		t.Errorf("%d questions were asked", n)
	}
}

func TestARestoredGuardKeepsItsSecondOpinion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{opinion: policy.Opinion{Certainty: 1}}
		g := secondGuard(t, r, time.Second)
		reread(t, g, 6)
		data, err := g.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := Restore(g.profile, Options{Run: "r", SecondOpinion: &SecondOpinion{Reviewer: r, Wait: time.Second}}, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(actions(reread(t, g, 4)), actions(reread(t, restored, 4))); diff != "" {
			t.Error(diff)
		}
		g.Close()
		restored.Close()
	})
}

func TestConcurrentCallsDoNotWaitForASecondOpinion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := secondGuard(t, &reviewer{opinion: policy.Opinion{Certainty: 1}, delay: time.Hour}, 30*time.Second)
		done := make(chan struct{})
		go func() { reread(t, g, 6); close(done) }()
		synctest.Wait() // it waits for its answer now
		before := time.Now()
		g.Before(t.Context(), Call{Tool: "write", Args: json.RawMessage(`{}`)})
		if waited := time.Since(before); waited > 0 {
			t.Errorf("another call waited %v", waited)
		}
		<-done
		g.Close()
	})
}

func TestTheWaitForAnOpinionEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{opinion: policy.Opinion{Certainty: 1}, delay: time.Hour}
		g := secondGuard(t, r, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		for range 8 {
			c := Call{Tool: "read", Args: json.RawMessage(`{}`)}
			g.Before(ctx, c)
			g.After(ctx, c, Outcome{Result: json.RawMessage(`"package a"`)})
		}
		if waited := time.Since(before); waited != time.Second || len(r.questions()) == 0 {
			t.Errorf("the decisions waited %v for %d answers, want 1s for the first", waited, len(r.questions()))
		}
		g.Close()
	})
}

func TestAnAnswerThatHasArrivedIsNotLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := &questions{SecondOpinion: SecondOpinion{Wait: time.Hour}}
	answer := make(chan Decision, 1)
	for range 100 { // a select would choose at random
		answer <- Decision{Action: policy.Warn}
		if d, inTime := q.await(ctx, answer); !inTime || d.Action != policy.Warn {
			t.Fatalf("got %v, in time: %v", d.Action, inTime)
		}
	}
}

func TestAPanicOfACallbackInTheBackgroundHasNoEffect(t *testing.T) {
	broken := func(error) { panic("a callback with a fault") }
	g := New(load(t, "default"), Options{Run: "r", Now: ticking(), SecondOpinion: &SecondOpinion{Reviewer: &reviewer{err: errors.New("no model")}, Wait: time.Minute, OnError: broken}})
	reread(t, g, 12)
	g.Close()
	if err := g.Failed(); err != nil || g.Stats().SecondOpinions.Failed == 0 {
		t.Errorf("the guard has failed with %v, %d questions have", err, g.Stats().SecondOpinions.Failed)
	}
}
