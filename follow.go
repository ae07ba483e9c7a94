package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// followedAlike is the least share of common words of two calls that may change something, if the second continues the list of the first.
const followedAlike = 0.5

// mostKeys is the number of keys of an outcome that a tool keeps.
const mostKeys = 48

// follow sets Effort.Follows: the call sends a key that the latest outcome of its tool gave, such as the cursor of the next page, and that no
// call of the tool has sent before. A call that may change something must also be like an earlier one.
func (r *Run) follow(t *Tool, canonical []byte) {
	if t.Keys == (wordSet{}) {
		return
	}
	effort := &r.step.Effort
	for key := range fingerprint.Keys(canonical) {
		if t.Keys.has(key) && r.s.Meter.Seen.add(sentKey(t, key)) {
			effort.Follows = !effort.Writes || effort.Alike >= followedAlike
		}
	}
}

// compareOutcome compares an outcome with the latest answer to the same question, and with the list that the call follows. It sets
// Step.NormalizedResult. The pages of a list that goes on are different results.
func (r *Run) compareOutcome(t *Tool, w *fingerprint.Words, outcome []byte) (varied variation) {
	r.step.NormalizedResult, varied = r.compareAnswer(t, w, r.step.NormalizedResult)
	if r.options.Needs&NeedEffort == 0 {
		return varied
	}
	next := r.nextKey(t, outcome)
	if t.Given = 0; w.Says > 0 && len(w.List) < shortAnswer {
		t.Given = w.Shape
	}
	if next == 0 || len(w.List) >= shortAnswer {
		return varied
	}
	r.step.NormalizedResult = fingerprint.Join(r.step.NormalizedResult, Hash(next))
	return further
}

// nextKey keeps the keys of an outcome for follow. If the call follows a list, it also returns a key that tells that the list goes on: it is
// not among those of the outcome before, and no call of the tool has sent it. Without one, and for a failure, it returns 0.
func (r *Run) nextKey(t *Tool, outcome []byte) (next uint32) {
	var keys wordSet
	n := 0
	for key := range fingerprint.Keys(outcome) {
		if n++; n > mostKeys {
			break
		}
		keys.add(key)
		if r.step.Effort.Follows && !t.Keys.has(key) && !r.s.Meter.Seen.has(sentKey(t, key)) {
			next = max(key, 1)
		}
	}
	if n > 0 {
		t.Keys = keys
	}
	if r.step.Failing {
		return 0
	}
	return next
}

func sentKey(t *Tool, key uint32) uint32 { return key ^ uint32(t.Hash) ^ saltKey }
