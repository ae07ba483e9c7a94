package guard

import (
	"context"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Reviewer gives second opinions. It must be safe for concurrent use. Package secondopinion has one that asks a model.
type Reviewer interface {
	// Review answers a question. An error means that there is no opinion.
	Review(ctx context.Context, q policy.Question) (policy.Opinion, error)
}

// SecondOpinion connects a guard to a reviewer. The guard asks when it acts on advisory evidence alone and before it stops the
// agent: see policy.Opinions. An opinion is an event of the run, so the decisions of a recorded run need no reviewer. Without an
// answer, the decisions are those without second opinions. Several guards may share a SecondOpinion.
type SecondOpinion struct {
	Reviewer Reviewer // required

	// Wait is how long a decision waits for the answer to its question, unless its context is done earlier. A later answer
	// changes later decisions. 0 means that no decision waits.
	Wait time.Duration
	// Timeout ends a question. 0 means 30 seconds.
	Timeout time.Duration
	// Mask hides secrets in texts before they are cut and become part of a question. Nil hides nothing.
	Mask func(string) string
	// OnError receives the error of each question without an answer. It may be nil.
	OnError func(error)
}

// OpinionStats are counts of the second opinions of a run.
type OpinionStats struct {
	Asked    int `json:"asked"`
	Answered int `json:"answered"`
	Late     int `json:"late"`   // decisions that did not wait long enough for their answer
	Failed   int `json:"failed"` // questions without an answer
}

// questions are the open questions of a guard. A nil *questions asks nothing.
type questions struct {
	SecondOpinion
	ctx  context.Context
	end  context.CancelFunc
	open sync.WaitGroup
}

func newQuestions(o *SecondOpinion) *questions {
	if o == nil || o.Reviewer == nil {
		return nil
	}
	q := &questions{SecondOpinion: *o}
	if q.Timeout <= 0 {
		q.Timeout = 30 * time.Second
	}
	q.ctx, q.end = context.WithCancel(context.Background())
	return q
}

// keep makes a session keep the texts that questions contain.
func (q *questions) keep(s *profile.Session) {
	if q != nil {
		s.KeepTranscript(q.Mask)
	}
}

// close ends the open questions.
func (q *questions) close() {
	if q != nil {
		q.end()
		q.open.Wait()
	}
}

// consult asks the question of a decision, if it has one. It returns the decision at the answer if that arrives in time and changes the
// decision, else d. The caller holds the lock, which consult releases while it waits.
func (g *Guard) consult(ctx context.Context, d Decision) Decision {
	question, tool := d.question, d.tool
	d.question = nil
	if question == nil || g.second == nil || g.closed { // Close waits for the open questions, so none may begin behind it
		return d
	}
	g.stats.SecondOpinions.Asked++
	answer := make(chan Decision, 1)
	g.second.open.Go(func() { answer <- g.ask(question, tool) })
	if g.second.Wait <= 0 {
		return d
	}
	g.mu.Unlock()
	revised, inTime := g.second.await(ctx, answer)
	g.mu.Lock()
	if !inTime {
		g.stats.SecondOpinions.Late++
	}
	if revised.Opinion == nil {
		return d
	}
	return revised
}

// await returns the decision at an answer if it arrives in time and before the context is done.
func (q *questions) await(ctx context.Context, answer <-chan Decision) (d Decision, inTime bool) {
	waited := time.NewTimer(q.Wait)
	defer waited.Stop()
	select {
	case d = <-answer:
		return d, true
	case <-waited.C:
	case <-ctx.Done():
	}
	select {
	case d = <-answer: // at the same time: the answer counts
		return d, true
	default:
		return Decision{}, false
	}
}

// ask returns the decision at the answer to a question, or the zero Decision if there is none.
func (g *Guard) ask(question *policy.Question, tool string) Decision {
	opinion, err := g.second.review(question)
	event, bad := question.Event(opinion)
	if err == nil {
		err = bad
	}
	if err != nil {
		g.mu.Lock()
		g.stats.SecondOpinions.Failed++
		g.mu.Unlock()
		reportError(g.second.OnError, err)
		return Decision{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.SecondOpinions.Answered++
	event.Tool = tool
	return g.add(event)
}

// review asks the reviewer, whose panic is an error.
func (q *questions) review(question *policy.Question) (o policy.Opinion, err error) {
	ctx, cancel := context.WithTimeout(q.ctx, q.Timeout)
	defer cancel()
	defer caught("second opinion", &err)
	return q.Reviewer.Review(ctx, *question)
}
