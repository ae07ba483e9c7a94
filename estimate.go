package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Features are what the model rates a step by: the quantities of the latest step, then their moving averages. They are from 0 to 1,
// except that of Effort.Wasted, which is at most 1.3.
type Features [2 * stepFeatures]float32

// The quantities of a step are the indices of Features. Their names and values are keyed by them, so a new quantity moves no other one.
// stalledQuantities lists those that the model was trained on: after a change here, make train trains it again.
const (
	featureEvidence = iota
	featureWasted
	featureNovelty
	featureKnown
	featureChanged
	featureFailed
	featureFoundNothing
	featureAlike
	featureNewWordsOfCall
	featureNamesItem
	featureNamesNewMember
	featureWordsOfCall
	featureWords
	featureRuns
	featureNewRuns
	featureAboutItem
	featureBlank
	featureSaysDone
	featureSaysNothing
	featureSaysMore
	featureMovesOnward
	featureVaries
	featureExcused
	featureTest
	featureShell
	featureReads
	featurePolls
	featureSameErrors
	featureWeightOfSameErrors
	featureFailingInputs
	featureNovel
	featureOtherTool
	featureAfterPerson
	featureSaid
	featureAnnounced
	featureNewButForNumbers
	featureSymptoms
	featureKnownSymptoms
	featureReturnedSymptoms
	featureSameShape
	featureSimilarCalls
	featureSameTool
	featureReordered
	featureRewritten
	featureNewWordOfCall
	featureAboutNewWord
	stepFeatures // the number of quantities
)

// How much of a moving average is kept from step to step. Half of it is kept when a person spoke in between.
const (
	averaging = 0.8  // of a quantity
	smoothing = 0.25 // of the estimate: one step that looks stalled is often honest
)

var stalledTrees = stalledModel.Trees()

// QuantityNames returns the names of the quantities of a step, in the order of Features. It is for the program that trains the model.
func QuantityNames() []string {
	return []string{
		featureEvidence:           "evidence",
		featureWasted:             "wasted",
		featureNovelty:            "novelty",
		featureKnown:              "known",
		featureChanged:            "changed",
		featureFailed:             "failed",
		featureFoundNothing:       "found_nothing",
		featureAlike:              "alike",
		featureNewWordsOfCall:     "new_words_of_call",
		featureNamesItem:          "names_item",
		featureNamesNewMember:     "names_new_member",
		featureWordsOfCall:        "words_of_call",
		featureWords:              "words",
		featureRuns:               "runs",
		featureNewRuns:            "new_runs",
		featureAboutItem:          "about_item",
		featureBlank:              "blank",
		featureSaysDone:           "says_done",
		featureSaysNothing:        "says_nothing",
		featureSaysMore:           "says_more",
		featureMovesOnward:        "moves_onward",
		featureVaries:             "varies",
		featureExcused:            "excused",
		featureTest:               "test",
		featureShell:              "shell",
		featureReads:              "reads",
		featurePolls:              "polls",
		featureSameErrors:         "same_errors",
		featureWeightOfSameErrors: "weight_of_same_errors",
		featureFailingInputs:      "failing_inputs",
		featureNovel:              "novel",
		featureOtherTool:          "other_tool",
		featureAfterPerson:        "after_person",
		featureSaid:               "said",
		featureAnnounced:          "announced",
		featureNewButForNumbers:   "new_but_for_numbers",
		featureSymptoms:           "symptoms",
		featureKnownSymptoms:      "known_symptoms",
		featureReturnedSymptoms:   "returned_symptoms",
		featureSameShape:          "same_shape",
		featureSimilarCalls:       "similar_calls",
		featureSameTool:           "same_tool",
		featureReordered:          "reordered",
		featureRewritten:          "rewritten",
		featureNewWordOfCall:      "new_word_of_call",
		featureAboutNewWord:       "about_new_word",
	}
}

// quantities returns what the model is told of the step that has just ended. excused is the number of steps that had a reason to look
// again before it.
func (r *Run) quantities(t *Tool, o *reading, excused int) [stepFeatures]float32 {
	m, step, effort := &r.s.Meter, &r.step, &r.step.Effort
	w := o.words
	return [...]float32{
		featureEvidence:           float32(m.Wasted / mostWasted),
		featureWasted:             float32(effort.Wasted),
		featureNovelty:            float32(effort.Novelty),
		featureKnown:              one(effort.Known),
		featureChanged:            one(effort.Yield == Change),
		featureFailed:             one(effort.Yield == Failure),
		featureFoundNothing:       one(effort.Yield == NothingFound),
		featureAlike:              float32(effort.Alike),
		featureNewWordsOfCall:     float32(effort.Fresh),
		featureNamesItem:          one(effort.Names != 0),
		featureNamesNewMember:     one(effort.Item != 0),
		featureWordsOfCall:        many(effort.Words, 16),
		featureWords:              many(len(w.List), 32),
		featureRuns:               many(o.Runs, 32),
		featureNewRuns:            many(int(o.Fresh), 16),
		featureAboutItem:          one(o.about),
		featureBlank:              one(o.blank),
		featureSaysDone:           one(w.Ending == fingerprint.Done),
		featureSaysNothing:        one(w.Ending == fingerprint.Nothing),
		featureSaysMore:           many(w.Says, 4),
		featureMovesOnward:        one(o.varied == onward || o.varied == further),
		featureVaries:             one(o.varied != otherwise),
		featureExcused:            float32(excused) / excusedSteps,
		featureTest:               one(step.Test),
		featureShell:              one(t.Shell),
		featureReads:              one(step.Effect == ReadOnly),
		featurePolls:              one(step.Effect == Polling),
		featureSameErrors:         many(step.Errors.N, 3),
		featureWeightOfSameErrors: float32(step.Errors.Weight / (step.Errors.Weight + 3)),
		featureFailingInputs:      many(t.Errors.Inputs, 2),
		featureNovel:              one(step.Novel),
		featureOtherTool:          one(m.LatestTool != t.Hash),
		featureAfterPerson:        one(m.Spoken),
		featureSaid:               many(effort.Said, 32),
		featureAnnounced:          float32(effort.Announced),
		featureNewButForNumbers:   float32((o.Fresh - o.Numbers) / float64(o.Runs+2)),
		featureSymptoms:           many(o.Symptoms, 2),
		featureKnownSymptoms:      many(o.Known, 2),
		featureReturnedSymptoms:   many(o.Returned, 2),
		featureSameShape:          many(o.shapes-1, 2),
		featureSimilarCalls:       many(effort.Similar, 2),
		featureSameTool:           many(m.Same, 4),
		featureReordered:          one(effort.Reordered || effort.Rearranged),
		featureRewritten:          float32(min(1, rewritten(effort))),
		featureNewWordOfCall:      one(effort.Word != 0),
		featureAboutNewWord:       one(o.named),
	}
}

// estimate works out how likely it is that the step that has just ended, and those before it, made no progress. It is a moving average of
// what the model says of each step.
func (r *Run) estimate(t *Tool, o *reading, excused int) {
	m, step, effort := &r.s.Meter, &r.step, &r.step.Effort
	now := r.quantities(t, o, excused)
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
