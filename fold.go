package unloop

import (
	"sync"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// scratch is the memory that folding one event takes. Runs share it, so that thousands of them can be alive.
type scratch struct {
	canon fingerprint.Canonicalizer
	mask  fingerprint.Masker
	match fingerprint.Matcher
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func (s *scratch) put() { scratches.Put(s) }

// open is a call without an outcome.
type open struct {
	Step Step
	Call string // call id
	Span string
}

// start folds the start of a call.
func (r *Run) start(e *Event) {
	r.s.Metrics.ToolCalls++
	name := e.ToolName()
	if r.reading.ignores(name) {
		return
	}
	t := r.tool(name, e.Hints)
	s := getScratch()
	canonical := r.identify(s, t, e)
	if r.reading.Facts&FactInputs != 0 {
		r.keepInput(t, r.step.Exact, canonical)
	}
	s.put()
	if r.reading.Facts&FactExcerpts != 0 {
		r.keepInputExcerpt(e.Input)
	}
	if r.reading.Facts&FactRaw != 0 {
		r.step.SameRaw = r.s.Raw.add(r.step.Raw, r.s.Calls).N
	}
	if r.reading.Facts&FactExact != 0 || r.reading.Facts&FactOutcomes != 0 && r.step.Class == Mutating {
		r.step.Same = r.s.Exact.add(r.step.Exact, r.s.Calls).N
	}
	r.s.Asked.add(r.step.Exact)
	r.s.Aimed.add(r.step.Target, r.step.Exact, r.now.Ref)
	r.countInTurn(t)
	r.s.Said = 0
	r.busy(t)
	t.Latest = r.s.Calls
	r.s.Calls++
	r.keep()
	if len(r.s.Open) == maxOpen {
		copy(r.s.Open, r.s.Open[1:])
		r.s.Open = r.s.Open[:maxOpen-1]
	}
	r.s.Open = append(r.s.Open, open{Step: r.step, Call: e.CallID, Span: e.SpanID})
}

// identify makes a step of a call event and gives it its fingerprints. The canonical arguments that it returns are
// valid as long as s is not used again.
func (r *Run) identify(s *scratch, t *Tool, e *Event) (canonical []byte) {
	canonical = s.canon.Canonical(e.Input)
	r.step = Step{Number: r.s.Calls, Tool: t.Name, Agent: e.Agent, Class: t.Class, Start: r.now.Ref}
	if r.reading.Facts&FactRaw != 0 {
		r.step.Raw = fingerprint.Join(t.Hash, fingerprint.Bytes(e.Input))
	}
	r.step.Exact = fingerprint.Join(t.Hash, fingerprint.Bytes(canonical))
	r.step.Target = fingerprint.Join(t.Hash, s.canon.Target(canonical, t.Shell))
	if t.Shell && r.reading.Facts&(FactOutcomes|FactShell) != 0 {
		command := s.canon.Command()
		r.step.Class, r.step.Test = commandClass(command), fingerprint.RunsTests(command)
	}
	r.now.Step = &r.step
	return canonical
}

// busy counts a call of the tool, and how often its most frequent input came.
func (r *Run) busy(t *Tool) {
	if t.Calls == 0 {
		t.Began = r.s.Progress
	}
	t.Calls++
	if t.Calls > r.s.Metrics.ToolCallsOf && t.Name != "" {
		r.s.Metrics.ToolCallsOf, r.s.Metrics.BusiestTool = t.Calls, t.Name
	}
	if r.step.Same > t.Worst.Count {
		t.Worst.Exact, t.Worst.Count = r.step.Exact, r.step.Same
	}
	if r.step.Exact == t.Worst.Exact {
		t.Worst.Event = r.now.Ref
	}
}

// keep puts the current step where Back finds it, unless it is forgotten or was never numbered.
func (r *Run) keep() {
	if r.step.Number < r.s.Calls-recentSteps || r.step.Number == r.s.Calls {
		return
	}
	if at := r.step.Number % recentSteps; at < len(r.s.Recent) {
		r.s.Recent[at] = r.step
	} else {
		r.s.Recent = append(r.s.Recent, r.step)
	}
}

// end folds the outcome of a call. One whose start is not known tells what came back, but counts as no call.
func (r *Run) end(e *Event) {
	var t *Tool
	if r.reading.ignores(e.ToolName()) {
		return
	}
	if o, ok := r.join(e); ok {
		r.step = o.Step
		t = r.tool(o.Step.Tool, nil)
	} else {
		t = r.tool(e.ToolName(), e.Hints)
		s := getScratch()
		r.identify(s, t, e)
		s.put()
	}
	r.now.Step = &r.step
	r.step.End = r.now.Ref
	switch e.Type {
	case ToolCallBlocked:
		r.step.Outcome = Blocked
		r.keep()
		return // it has not run, so it has told nothing
	case ToolCallFailed:
		r.step.Outcome, r.step.Failing = Failed, true
	default:
		r.step.Outcome = Completed
	}
	if r.reading.Facts&FactEmpty != 0 && r.step.Outcome == Completed && fingerprint.Empty(e.Output) {
		r.step.Empty = true
		t.Empty++
	}
	if r.reading.Facts&FactShell != 0 && t.Shell {
		r.shellOutcome(e)
	}
	if r.reading.Facts&(FactResults|FactOutcomes|FactExcerpts) != 0 {
		r.results(t, e)
	}
	r.keep()
}

// join finds the open call that e is the outcome of, and closes it: by call id, span or parent, else the oldest of the
// tool. An outcome that names no tool may be that of any.
func (r *Run) join(e *Event) (open, bool) {
	best, tool := -1, e.ToolName()
	for k := range r.s.Open {
		o := &r.s.Open[k]
		if e.CallID != "" && o.Call == e.CallID || e.SpanID != "" && o.Span == e.SpanID ||
			e.ParentEventID != "" && o.Step.Start.ID == e.ParentEventID {
			best = k
			break
		}
		if best < 0 && (tool == "" || tool == o.Step.Tool) && (e.CallID == "" || o.Call == "") {
			best = k
		}
	}
	if best < 0 {
		return open{}, false
	}
	o := r.s.Open[best]
	copy(r.s.Open[best:], r.s.Open[best+1:])
	r.s.Open[len(r.s.Open)-1] = open{}
	r.s.Open = r.s.Open[:len(r.s.Open)-1]
	return o, true
}

// results reads what a call returned.
func (r *Run) results(t *Tool, e *Event) {
	if e.Output == nil && e.Error == nil {
		r.s.Untold, r.s.Restating = r.now.Ref, 0 // the content is missing, so nothing can be told
		return
	}
	step := &r.step
	told := e.Output // of a failure, the part that says most about it
	if r.reading.Facts&(FactOutcomes|FactExcerpts) != 0 && step.Outcome == Completed {
		if text, failed := fingerprint.Failure(e.Output); failed {
			told, step.Failing = text, true
		}
	}
	if r.reading.Facts&FactExcerpts != 0 {
		r.keepOutputExcerpt(told, e.Error)
	}
	var class Hash
	if r.reading.Facts&(FactOutcomes|FactExcerpts) != 0 {
		if step.Failing {
			class = errorClass(told, e.Error)
		}
		if t.Errors.add(class, step.Exact, step.End); t.Errors.Count == 1 {
			_, t.FirstError = r.Excerpt(step)
			t.ErrorsBegan = r.s.Changes
		}
	}
	if r.reading.Facts&FactResults != 0 {
		step.Result = fingerprint.Join(t.Hash, pair(e.Output, e.Error, fingerprint.Bytes))
		t.Unchanged.add(step.Result, step.Exact, step.End)
		r.s.Turn.Row.add(step.Result, step.Exact, step.End)
		r.s.Turn.Tool = t.Name
	}
	if r.reading.Facts&FactOutcomes != 0 {
		s := getScratch()
		step.Stable = fingerprint.Join(t.Hash, pair(e.Output, e.Error, s.mask.Stable))
		s.put()
		r.outcome(t, class)
		if t.Streak.Count <= 2 { // a row begins
			t.Nothing = t.Streak.Count == 2 && fingerprint.Empty(e.Output)
		}
	}
}

// outcome notes a step's outcome, and whether it is news. A failure is news once for each class of error: that another
// path stands in it tells nothing new.
func (r *Run) outcome(t *Tool, class Hash) {
	step := &r.step
	t.Streak.add(step.Stable, step.Exact, step.End)
	told := step.Stable
	if class != 0 {
		told = fingerprint.Join(t.Hash, class)
	}
	seen := r.s.Returned.add(told, step.Number)
	key := step.key()
	step.Again = r.s.Pairs.add(key, step.Number+r.aged(step))
	r.s.Outcomes.add(key)
	mutated := step.Class == Mutating && !step.Failing && step.Same == 1
	if mutated {
		r.s.Changes++
	}
	if step.News = seen.N == 1 || mutated; step.News {
		r.news()
		return
	}
	r.s.Stale++
}

// aged returns by how many steps what came before a step is older than it looks, because something was changed since: to
// ask again after a change is no repetition. That a failure stays the same in spite of changes says more.
func (r *Run) aged(step *Step) int {
	if step.Failing {
		return r.s.Changes * halfLife / 2
	}
	return r.s.Changes * halfLife
}

// pair hashes an output and an error, where there is one.
func pair(output, failure []byte, hash func([]byte) Hash) Hash {
	h := hash(output)
	if failure == nil {
		return h
	}
	return fingerprint.Join(h, hash(failure))
}

// errorClass returns the class of a failed call's error. The output of a failed call says more than an error that only
// gives its exit status.
func errorClass(output, failure []byte) Hash {
	if class := fingerprint.ErrorClass(output); class != 0 {
		return class
	}
	return fingerprint.ErrorClass(failure)
}
