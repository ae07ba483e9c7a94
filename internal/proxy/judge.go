package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/policy"
)

// judged marks the context of a request whose answer is read.
type judged struct {
	api     api
	verdict verdict
	begun   time.Time
}

type judgedKey struct{}

// judge judges a model call, and forwards it, forwards it with a nudge, or answers it. It forwards a request that it cannot judge
// unchanged.
func (p *Proxy) judge(w http.ResponseWriter, r *http.Request, a api, forward http.Handler) {
	lease := reverseproxy.NewLease(p.bodies)
	sent := sync.OnceFunc(lease.Release)
	defer sent()
	forward = reverseproxy.AfterBody(forward, sent) // the answer may be streamed for minutes
	body, err := reverseproxy.ReadBody(r, p.options.MaxBody, lease)
	switch {
	case errors.Is(err, reverseproxy.ErrTooLarge), errors.Is(err, memory.ErrBusy):
		p.passUnjudged(w, r, forward, err)
		return
	case err != nil:
		p.refuse(w, a, http.StatusBadRequest, "unloop proxy: the request ended early")
		return
	}
	body, err = decompress(body, r.Header.Get("Content-Encoding"), p.options.MaxBody, lease)
	if err != nil {
		p.passUnjudged(w, r, forward, err)
		return
	}
	session := cmp.Or(sessionOf(r.Header), sessionIn(body, a.list()))
	v, err := p.judgeInTime(a, body, session, lease)
	for err == nil && v.paused != nil {
		select {
		case <-v.paused:
			v, err = p.judgeInTime(a, body, session, lease) // people may have given orders during the pause
		case <-r.Context().Done():
			return
		}
	}
	if err != nil {
		p.passUnjudged(w, r, forward, err)
		return
	}
	v.spenders = p.budgets.spendersOf(r, cmp.Or(session, v.kept))
	p.stats.judged.Add(1)
	p.act(w, r, a, v, forward)
}

// maxJudging is how many requests are judged at once.
const maxJudging = 64

// patience is how long a request waits for its verdict. A history of 2 MB takes less than a tenth of a second.
const patience = 2 * time.Second

// errLate is the error of a request that would have waited too long for its verdict.
var errLate = errors.New("judging takes too long")

// judgeInTime judges a request. If that takes too long, it returns errLate. The judging continues, and its result serves the next request
// of the conversation; until then it holds the lease.
func (p *Proxy) judgeInTime(a api, body []byte, session string, lease *reverseproxy.Lease) (verdict, error) {
	type result struct {
		verdict verdict
		err     error
	}
	late := time.NewTimer(p.patience)
	defer late.Stop()
	select {
	case p.judging <- struct{}{}:
	case <-late.C:
		return verdict{}, errLate
	}
	done := make(chan result, 1)
	lease.Hold()
	go func() {
		defer lease.Release()
		v, err := p.conversations.judge(a, body, session) // a panic is an error
		<-p.judging
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.verdict, r.err
	case <-late.C:
		return verdict{}, errLate
	}
}

// passUnjudged forwards a request that was not judged.
func (p *Proxy) passUnjudged(w http.ResponseWriter, r *http.Request, forward http.Handler, why error) {
	p.stats.unjudged.Add(1)
	if errors.Is(why, errLate) || errors.Is(why, errPanic) {
		p.stats.failures.Add(1)
		p.options.Log.Warn("request passes unjudged", "reason", why)
	}
	p.options.Log.Debug("request passes unjudged", "path", r.URL.Path, "reason", why)
	forward.ServeHTTP(w, r)
}

// act carries out a verdict as far as the mode allows. It carries out orders of people in every mode.
func (p *Proxy) act(w http.ResponseWriter, r *http.Request, a api, v verdict, forward http.Handler) {
	t := v.turn
	nudges := p.options.Mode != Observe && !p.options.Profile.Shadow()
	halts := nudges && p.options.Mode == Guard
	person := t.decision.Code == policy.CodePerson
	switch {
	case t.decision.Action == policy.Halt && person:
		p.decided(v, t.report)
		p.halt(w, a, v, t.message+"\n\nA new message, or a resume on the page of the run, lets it continue.")
		return
	case t.decision.Action == policy.Halt && halts:
		p.decided(v, t.report)
		p.halt(w, a, v, haltText(t.message))
		return
	}
	warning, exhausted := p.budgets.check(v.spenders, place{v.run, v.sequence})
	if exhausted && halts && !t.person {
		p.decided(v, policy.GuardReport(guardName, policy.Halt, "budget", warning, 0, nil))
		p.halt(w, a, v, warning+"\n\nunloop stopped the agent. A person's message still reaches the model.")
		return
	}
	if v.resent {
		reverseproxy.SetBody(r, v.request.body)
		r.Header.Del("Content-Encoding")
	}
	text := p.personsWords(v)
	if nudges {
		text = nudge.Join(text, p.ownNudge(v), warning)
	}
	if text != "" {
		body, err := a.nudge(v.request, haltPrefix+text)
		if err != nil {
			p.passUnjudged(w, r, forward, err)
			return
		}
		p.stats.nudged.Add(1)
		r.Header.Del("Content-Encoding") // the changed body is not compressed
		reverseproxy.SetBody(r, body)
	}
	v.request = &request{members: v.request.members} // the answer may take minutes, and does not need the history
	forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), judgedKey{}, &judged{a, v, time.Now()})))
}

// personsWords returns what a person tells the agent with a request, "" for nothing, and records it.
func (p *Proxy) personsWords(v verdict) string {
	if v.nudge != "" {
		p.decided(v, policy.GuardReport(guardName, policy.Warn, policy.CodePerson, v.nudge, 0, nil))
	}
	return v.nudge
}

// ownNudge returns the nudge of the profile that goes with a request, "" for none, and records it.
func (p *Proxy) ownNudge(v verdict) string {
	t := v.turn
	if t.decision.Action < policy.Warn || t.nudge == "" {
		return ""
	}
	t.report.Action = policy.Warn.String()
	p.decided(v, t.report)
	return t.nudge
}

// decided records a decision about a request. The same request again gives an event with the same id.
func (p *Proxy) decided(v verdict, report unloop.GuardReport) {
	if p.options.Record == nil {
		return
	}
	p.options.Record(&unloop.Event{
		ID: fmt.Sprintf("guard-%d-%s-%s", v.sequence, report.Action, report.Code), RunID: v.run, Sequence: v.sequence, Time: time.Now(),
		Type: unloop.GuardDecision, Metadata: report.Metadata(),
	})
}

// halt answers a request of a run that is halted.
func (p *Proxy) halt(w http.ResponseWriter, a api, v verdict, why string) {
	p.stats.halted.Add(1)
	text := haltPrefix + why
	if p.options.OnHalt == HaltError {
		w.Header().Set("X-Should-Retry", "false")
		p.refuse(w, a, http.StatusBadRequest, text)
		return
	}
	answer := a.answer(v.request, text)
	p.conversations.halted(v, answer.id)
	w.Header().Set("Content-Type", answer.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(answer.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(answer.body) // the client may have gone
}

// haltText returns the text of a halt, for the agent and its person.
func haltText(message string) string {
	return message + "\n\nunloop stopped this run because it makes no progress. To continue, send a message with the facts or the change of " +
		"direction that the agent lacks."
}

// answered is called with the answer of an upstream. It reads the answer to a model call while it passes.
func (p *Proxy) answered(res *http.Response) error {
	j, ok := res.Request.Context().Value(judgedKey{}).(*judged)
	if !ok {
		return nil
	}
	status := res.StatusCode
	acts := p.options.Mode == Guard && !p.options.Profile.Shadow() && status == http.StatusOK
	if acts {
		if err := p.withholdCalls(res, j); err != nil {
			return err
		}
	}
	var body *tap
	body = newTap(res, func(o *outcome) {
		if body.last != nil {
			p.endedStream(j.verdict, body.ending)
		}
		p.called(j, status, o)
	})
	if acts && res.ContentLength < 0 {
		body.ending = &ending{api: j.api}
	}
	res.Body = body
	return nil
}

// endedStream counts and records a stream that was ended because its text repeats itself.
func (p *Proxy) endedStream(v verdict, w *ending) {
	p.stats.ended.Add(1)
	report := policy.GuardReport(guardName, policy.Block, "repeating_answer", strings.TrimSpace(w.notice), w.times, nil)
	report.Rule = "repeating_text"
	p.decided(v, report)
}

// called records a model call that has been answered.
func (p *Proxy) called(j *judged, status int, o *outcome) {
	if status < http.StatusMultipleChoices {
		p.conversations.answered(j.verdict, o.ID, o.Output)
	}
	model := cmp.Or(o.Model, j.verdict.request.members.Model)
	p.budgets.add(j.verdict.spenders, model, o.Usage)
	if p.options.Record == nil {
		return
	}
	ms := float64(time.Since(j.begun)) / float64(time.Millisecond)
	e := unloop.Event{
		ID: "m-" + rand.Text(), RunID: j.verdict.run, Sequence: j.verdict.sequence, Time: j.begun, Type: unloop.LLMCallStarted,
		Model: model,
	}
	started := e
	p.options.Record(&started)
	e.ID, e.ParentEventID, e.Time, e.Type, e.Latency = "m-"+rand.Text(), started.ID, time.Now(), unloop.LLMCallCompleted, &ms
	e.Tokens, e.Usage = o.Usage.Input+o.Usage.Output, ingest.TokenKinds(o.Usage)
	if status >= http.StatusBadRequest {
		e.Type, e.Error = unloop.LLMCallFailed, ingest.Text("status "+strconv.Itoa(status))
	}
	p.options.Record(&e)
}
