package eval

import (
	"context"
	"errors"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Reviewer gives second opinions about labelled runs. It answers a question at the event with the index. An error means that there
// is no opinion.
type Reviewer func(ctx context.Context, labels *Labels, index int, q policy.Question) (policy.Opinion, error)

var errNoLabel = errors.New("no label says whether the agent was stuck")

// Opinions are counts of second opinions.
type Opinions struct {
	Asked    int `json:"asked"`    // questions
	Answered int `json:"answered"` // questions with an answer
}

// Readers is a Reviewer that answers as the labels say. No model can answer better.
func Readers(_ context.Context, labels *Labels, index int, _ policy.Question) (policy.Opinion, error) {
	stuck, known := labels.stuckAt(index)
	if !known {
		return policy.Opinion{}, errNoLabel
	}
	return policy.Opinion{Stuck: stuck, Certainty: 1}, nil
}

// Ask makes r answer the questions of the runs. The function mask hides secrets in them; nil hides nothing. It must be called before
// Read.
func (b *Scoreboard) Ask(r Reviewer, mask func(string) string) { b.reviewer, b.mask = r, mask }

// stuckAt reports whether the agent is stuck at an event according to the labels. known is false without a label, and if readers
// disagree.
func (l *Labels) stuckAt(index int) (stuck, known bool) {
	if s := l.Stuck; s != nil {
		for _, at := range s.Agreed {
			if index >= at.Onset && index <= at.End+foundWithin {
				return true, true
			}
		}
		return false, !s.excuses(index)
	}
	if loop := l.Loop; loop != nil {
		return !loop.Benign && index >= loop.Onset && index <= loop.End, true
	}
	return false, false
}

// answer returns the decision at the answer to the question of a decision, or the decision itself if there is no answer that
// changes it.
func (t *replay) answer(ctx context.Context, ask Reviewer, labels *Labels, e *unloop.Event, d policy.Decision) policy.Decision {
	t.opinions.Asked++
	opinion, err := ask(ctx, labels, e.Index, *d.Question)
	if err != nil {
		return d
	}
	event, err := d.Question.Event(opinion)
	if err != nil {
		return d
	}
	t.opinions.Answered++
	event.Index, event.Time = e.Index, e.Time
	if revised := t.session.Add(&event); revised.Opinion != nil {
		return revised
	}
	return d
}
