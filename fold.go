package unloop

import (
	"cmp"
	"slices"
	"sync"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// scratch is the working memory for folding one event. Runs share a pool of it, which keeps idle runs small.
type scratch struct {
	canon fingerprint.Canonicalizer
	mask  fingerprint.Masker
	match fingerprint.Matcher
	words fingerprint.Words

	event    Event  // with what was packed in strings
	unpacked []byte // the bytes of its arguments and result

	command shellCommand // of the call at hand, if its tool is a shell
}

// maxUnpacked is the maximum number of bytes that a scratch keeps for later events.
const maxUnpacked = 1 << 20

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func (s *scratch) put() { scratches.Put(s) }

// openCall is a call without an outcome.
type openCall struct {
	Step  Step
	Call  string // call id
	Span  string
	Words wordSet          `json:",omitzero"` // of the call; with NeedEffort
	Echo  fingerprint.Echo `json:",omitzero"` // of a shell's command; with NeedOutcomes

	Key    uint32 `json:",omitzero"` // of a command that has begun and whose output is not read yet; 0 for any other call
	Reader string `json:",omitzero"` // the tool of the call that reads the output of a command; "" for any other call
}

// start folds the start of a call.
func (r *Run) start(e *Event) {
	r.s.Metrics.ToolCalls++
	name := e.ToolName()
	if r.options.ignores(name) {
		return
	}
	t := r.tool(name, e.Hints)
	if r.readsCommand(t, e) {
		return
	}
	s := getScratch()
	canonical := r.identify(s, t, e)
	if r.options.Needs&NeedInputs != 0 {
		r.keepInput(t, r.step.ArgsHash, canonical)
	}
	if r.options.Needs&NeedEffort != 0 {
		r.startsCommands(t, canonical)
		r.attempt(s, t, canonical)
	}
	s.put()
	if r.options.Needs&NeedExcerpts != 0 {
		r.keepInputExcerpt(e.Input)
	}
	r.countSent()
	if r.s.Waited && (r.step.Effect == ReadOnly || r.step.sent() > 1) { // it looks, or tries, again after a pause
		r.step.Effect = Polling
	}
	r.s.CallPeriods.add(r.step.ArgsHash)
	r.s.TargetStreak.add(r.step.TargetHash, r.step.ArgsHash, r.current.Ref)
	r.countInTurn(t)
	r.s.MessagesSinceCall = 0
	r.countCall(t)
	t.Latest = r.s.Calls
	r.s.Calls++
	r.s.Waited = t.Waits || r.options.Needs&NeedEffort != 0 && t.Shell && r.step.Effect == Polling
	if t.Waits || r.step.Effect == Polling { // who waits says the same again
		r.s.RestatedWeight = max(0, r.s.RestatedWeight-r.s.RestatedSinceCall)
	}
	r.s.RestatedSinceCall = 0
	r.storeStep()
	r.open(e.CallID, e.SpanID)
}

// countSent counts the calls so far that are equal to the current one, this one included.
func (r *Run) countSent() {
	if r.options.Needs&NeedRaw != 0 {
		r.step.RawCount = r.s.RawCounts.add(r.step.RawHash, r.s.Calls).N
	}
	if r.options.Needs&NeedArgs != 0 || r.options.Needs&NeedOutcomes != 0 && r.step.Effect == Mutating {
		r.step.ArgsCount = r.s.ArgsCounts.add(r.step.ArgsHash, r.s.Calls).N
	}
	if r.step.CommandHash != 0 && r.step.Effect == Mutating {
		r.step.CommandCount = r.s.ArgsCounts.add(r.step.CommandHash, r.s.Calls).N
	}
}

// open keeps the current step as an open call. An openCall is large, so it is filled in place, and without the words that only NeedEffort
// reads.
func (r *Run) open(call, span string) {
	if len(r.s.Open) == maxOpen {
		copy(r.s.Open, r.s.Open[1:])
		r.s.Open = r.s.Open[:maxOpen-1]
	}
	n := len(r.s.Open)
	if n == cap(r.s.Open) {
		r.s.Open = slices.Grow(r.s.Open, 1)
	}
	r.s.Open = r.s.Open[:n+1]
	o := &r.s.Open[n]
	o.Step, o.Call, o.Span, o.Key, o.Reader, o.Echo = r.step, call, span, 0, "", r.echo
	if r.options.Needs&NeedEffort != 0 {
		o.Words = r.callWords
	}
}

// identify makes the step of a call event and computes its fingerprints. The canonical arguments that it returns are valid
// until s is used again.
func (r *Run) identify(s *scratch, t *Tool, e *Event) (canonical []byte) {
	if r.options.Needs&NeedOutcomes != 0 { // the published rules compare arguments as they are
		s.canon.Canonical(fingerprint.Arguments(e.Input))
		canonical = s.canon.Without(t.remark)
	} else {
		canonical = s.canon.Canonical(e.Input)
	}
	r.step, r.echo = Step{}, fingerprint.Echo{} // filled in place: it is large
	r.step.Number, r.step.Tool, r.step.Agent, r.step.Effect, r.step.Start = r.s.Calls, t.Name, e.Agent, t.Effect, r.current.Ref
	if r.options.Needs&NeedRaw != 0 {
		r.step.RawHash = fingerprint.Join(t.Hash, fingerprint.Bytes(e.Input))
	}
	r.step.ArgsHash = fingerprint.Join(t.Hash, fingerprint.Bytes(canonical))
	r.step.TargetHash = fingerprint.Join(t.Hash, s.canon.Target(canonical, t.Shell))
	if r.step.Question = r.step.TargetHash; t.Distinct {
		r.step.Question = r.step.ArgsHash
	}
	if t.Shell && r.options.Needs&(NeedOutcomes|NeedShell) != 0 {
		line := s.canon.Command()
		s.command = readCommand(line)
		r.step.Effect, r.step.Test = s.command.effect, fingerprint.RunsTests(line)
		if r.options.Needs&NeedOutcomes != 0 {
			r.step.CommandHash = commandHash(s, t)
			r.echo = fingerprint.EchoOf(line)
		}
	}
	if t.Waits {
		r.step.Effect = Polling
	}
	r.current.Step = &r.step
	return canonical
}

// commandHash returns Step.CommandHash of the call whose arguments were made canonical last.
func commandHash(s *scratch, t *Tool) (h Hash) {
	bounded := false
	for name, value := range s.canon.Members {
		if t.bounds(name) {
			bounded = true
			continue
		}
		h = fingerprint.Join(h, fingerprint.Join(fingerprint.Bytes(name), fingerprint.Bytes(value)))
	}
	if !bounded {
		return 0
	}
	return fingerprint.Join(t.Hash, h)
}

// countCall counts a call of the tool and updates its most frequent arguments.
func (r *Run) countCall(t *Tool) {
	if t.Calls == 0 {
		t.ProgressAtFirstCall = r.s.Progress
	}
	t.Calls++
	if t.Calls > r.s.Metrics.ToolCallsOf && t.Name != "" {
		r.s.Metrics.ToolCallsOf, r.s.Metrics.BusiestTool = t.Calls, t.Name
	}
	if r.step.ArgsCount > t.MostRepeated.Count {
		t.MostRepeated.ArgsHash, t.MostRepeated.Count = r.step.ArgsHash, r.step.ArgsCount
	}
	if r.step.ArgsHash == t.MostRepeated.ArgsHash {
		t.MostRepeated.Event = r.current.Ref
	}
}

// storeStep stores the current step for StepAt, unless the step was evicted or its call has no start.
func (r *Run) storeStep() {
	if r.step.Number < r.s.Calls-recentSteps || r.step.Number == r.s.Calls {
		return
	}
	at := r.step.Number % recentSteps
	if at < len(r.s.Recent) {
		r.s.Recent[at] = r.step
		return
	}
	if n := len(r.s.Recent); n == cap(r.s.Recent) { // append alone would make room for more than recentSteps
		r.s.Recent = append(make([]Step, 0, min(max(4, 2*n), recentSteps)), r.s.Recent...)
	}
	r.s.Recent = append(r.s.Recent, r.step)
}

// end folds the outcome of a call. An outcome whose start is unknown makes a step, but does not count as a call.
func (r *Run) end(e *Event) {
	var t *Tool
	if r.options.ignores(e.ToolName()) {
		return
	}
	if r.join(e) {
		t = r.tool(r.step.Tool, nil)
	} else {
		r.callWords = wordSet{}
		t = r.tool(e.ToolName(), e.Hints)
		s := getScratch()
		r.identify(s, t, e)
		s.put()
	}
	if r.begins(t, e) {
		return
	}
	r.current.Step = &r.step
	r.step.End = r.current.Ref
	switch e.Type {
	case ToolCallBlocked:
		r.step.Outcome = Blocked
		r.storeStep()
		return // the call did not run, so it has no result
	case ToolCallFailed:
		r.step.Outcome, r.step.Failing = Failed, true
	default:
		r.step.Outcome = Completed
	}
	if r.options.Needs&NeedEmpty != 0 && r.step.Outcome == Completed && fingerprint.Empty(e.Output) {
		r.step.Empty = true
		t.Empty++
	}
	if r.options.Needs&NeedShell != 0 && t.Shell {
		r.shellOutcome(e)
	}
	if r.options.Needs&(NeedResults|NeedOutcomes|NeedExcerpts) != 0 {
		r.results(t, e)
	}
	if r.step.Failing {
		r.s.Metrics.FailedSteps++
	}
	r.storeStep()
}

// join closes the open call that e ends and makes it the current step: by call id, span or parent, else the oldest open call of
// the tool. An outcome without a tool matches any tool. It reports whether there is one.
func (r *Run) join(e *Event) bool {
	best, tool := -1, e.ToolName()
	for k := range r.s.Open {
		o := &r.s.Open[k]
		if e.CallID != "" && o.Call == e.CallID || e.SpanID != "" && o.Span == e.SpanID ||
			e.ParentEventID != "" && o.Step.Start.ID == e.ParentEventID {
			best = k
			break
		}
		if best < 0 && o.Key == 0 && (tool == "" || tool == cmp.Or(o.Reader, o.Step.Tool)) && (e.CallID == "" || o.Call == "") {
			best = k
		}
	}
	if best < 0 {
		return false
	}
	r.step, r.echo = r.s.Open[best].Step, r.s.Open[best].Echo
	if r.options.Needs&NeedEffort != 0 {
		r.callWords = r.s.Open[best].Words
	}
	copy(r.s.Open[best:], r.s.Open[best+1:])
	r.s.Open = r.s.Open[:len(r.s.Open)-1]
	return true
}
