package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Features are what the model rates a step by: the quantities of the latest step, then their moving averages. They are from 0 to 1,
// except that of Effort.Wasted, which is at most 1.3. featureNames has their names.
type Features [2 * stepFeatures]float32

const stepFeatures = 46

// featureNames returns the names of the quantities of a step, in the order of Features.
func featureNames() []string {
	return []string{
		"evidence", "wasted",
		"novelty", "known", "changed", "failed", "found_nothing",
		"alike", "new_words_of_call", "names_item", "names_new_member", "words_of_call",
		"words", "runs", "new_runs", "about_item", "blank",
		"says_done", "says_nothing", "says_more", "moves_onward", "varies",
		"excused", "test", "shell", "reads", "polls",
		"same_errors", "weight_of_same_errors", "failing_inputs", "novel",
		"other_tool", "after_person", "said", "announced",
		"new_but_for_numbers", "symptoms", "known_symptoms", "returned_symptoms",
		"same_shape", "similar_calls", "same_tool", "reordered", "rewritten", "new_word_of_call", "about_new_word",
	}
}

// How much of a moving average is kept from step to step. Half of it is kept when a person spoke in between.
const (
	averaging = 0.8  // of a quantity
	smoothing = 0.25 // of the estimate: one step that looks stalled is often honest
)

var stalledTrees = stalledModel.Trees()

// estimate works out how likely it is that the step that has just ended, and those before it, made no progress. It is a moving average of
// what the model says of each step.
func (r *Run) estimate(t *Tool, o *reading, excused int) {
	m, step, effort := &r.s.Meter, &r.step, &r.step.Effort
	w := o.words
	now := [stepFeatures]float32{ // in the order of featureNames
		float32(m.Wasted / mostWasted), float32(effort.Wasted),
		float32(effort.Novelty), one(effort.Known), one(effort.Yield == Change), one(effort.Yield == Failure), one(effort.Yield == NothingFound),
		float32(effort.Alike), float32(effort.Fresh), one(effort.Names != 0), one(effort.Item != 0), many(effort.Words, 16),
		many(len(w.List), 32), many(o.Runs, 32), many(int(o.Fresh), 16), one(o.about), one(o.blank),
		one(w.Ending == fingerprint.Done), one(w.Ending == fingerprint.Nothing), many(w.Says, 4), one(o.varied == onward || o.varied == further), one(o.varied != otherwise),
		float32(excused) / excusedSteps, one(step.Test), one(t.Shell), one(step.Effect == ReadOnly), one(step.Effect == Polling),
		many(step.Errors.N, 3), float32(step.Errors.Weight / (step.Errors.Weight + 3)), many(t.Errors.Inputs, 2), one(step.Novel),
		one(m.LatestTool != t.Hash), one(m.Spoken), many(effort.Said, 32), float32(effort.Announced),
		float32((o.Fresh - o.Numbers) / float64(o.Runs+2)), many(o.Symptoms, 2), many(o.Known, 2), many(o.Returned, 2),
		many(o.shapes-1, 2), many(effort.Similar, 2), many(m.Same, 4), one(effort.Reordered || effort.Rearranged), float32(min(1, rewritten(effort))), one(effort.Word != 0), one(o.named),
	}
	kept, smooth := float32(averaging), smoothing
	if m.Spoken {
		kept, smooth = kept/2, smooth/2
	}
	for k, x := range now {
		average := float32(kept*m.Averages[k]) + float32((1-averaging)*x) // rounded alike on every processor
		m.Features[k], m.Features[stepFeatures+k], m.Averages[k] = x, average, average
	}
	m.Same++
	if m.LatestTool != t.Hash {
		m.Same = 0
	}
	m.LatestTool, m.Spoken = t.Hash, false
	m.Stalled = float64(smooth*m.Stalled) + float64((1-smooth)*stalledTrees.Estimate(m.Features[:]))
	switch {
	case m.Stalled < progressing:
		m.Steps = 0
	case m.Steps == 0:
		m.Steps, m.First = 1, step.End
	default:
		m.Steps++
	}
	if m.Stuck++; effort.Wasted == 0 || m.Wasted < stuckWasted || m.Stalled < stuckStalled {
		m.Stuck = 0
	}
}

func one(yes bool) float32 {
	if yes {
		return 1
	}
	return 0
}

// many maps a number from 0 on to 0 to 1; half is mapped to one half.
func many(n, half int) float32 { return float32(n) / float32(n+half) }
