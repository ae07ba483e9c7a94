package mcpproxy

import (
	"context"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/policy"
)

// noWait is the context of the decisions about calls. The session waits for the end of a pause before it asks for the decision, so
// that the client can cancel the call in the meantime.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// wait is the wait of a call for the end of a pause.
type wait struct {
	ctx    context.Context // ends when the client cancels the call
	cancel context.CancelFunc
}

// awaitResume waits while a person has paused the run. It reports false if the client cancels the call or ctx ends before that.
func (s *Session) awaitResume(ctx context.Context, open *requests, id any) bool {
	if s.guard.Paused() != nil {
		ctx = open.beginWait(ctx, id)
		for paused := s.guard.Paused(); paused != nil && ctx.Err() == nil; paused = s.guard.Paused() {
			select {
			case <-paused:
			case <-ctx.Done():
			}
		}
	}
	return open.endWait(id)
}

// beginWait returns the context of the wait of a call. The wait may have begun already.
func (q *requests) beginWait(ctx context.Context, id any) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.waiting[id]
	if !ok {
		w.ctx, w.cancel = context.WithCancel(ctx)
		q.waiting[id] = w
	}
	return w.ctx
}

// endWait ends the wait of a call, if it has begun. It reports false if the call was canceled before.
func (q *requests) endWait(id any) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.waiting[id]
	if !ok {
		return true
	}
	delete(q.waiting, id)
	defer w.cancel()
	return w.ctx.Err() == nil
}

// cancelWaiting ends the wait of a call. It reports false if the call does not wait.
func (q *requests) cancelWaiting(id any) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.waiting[id]
	if ok {
		w.cancel()
	}
	return ok
}

// textFor returns the text that goes with the result of a call: the text that no earlier result could carry, and the nudges before and
// after the call. If the guard has two nudges, the text has only the stronger one.
func (s *Session) textFor(before, after guard.Decision) (text string) {
	s.mu.Lock()
	text, s.owed = s.owed, ""
	s.mu.Unlock()
	person := before.Code == policy.CodePerson
	if before.Action != policy.Allow && (person || before.Action > after.Action) {
		text = nudge.Join(text, before.Nudge)
	}
	if after.Action != policy.Allow && (person || before.Action <= after.Action) {
		text = nudge.Join(text, after.Nudge)
	}
	return text
}

// maxOwed is the greatest size of a text that waits for a result, in bytes.
const maxOwed = 16 << 10

// owe keeps a text for the next result. A text that is too long is dropped.
func (s *Session) owe(text string) {
	if len(text) > maxOwed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed = text
}
