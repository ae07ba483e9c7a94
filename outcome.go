package unloop

import (
	"bytes"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// results reads the result of a call.
func (r *Run) results(t *Tool, e *Event) {
	if e.Output == nil && e.Error == nil {
		r.s.LastUnobserved, r.s.RestatedWeight = r.current.Ref, 0 // not captured, so the novelty is unknown
		return
	}
	step := &r.step
	content := e.Output // for a failure, the part that describes it
	var output []byte   // without the form of a result of an MCP server
	if r.options.Needs&(NeedOutcomes|NeedExcerpts) != 0 {
		output = fingerprint.Content(e.Output)
		if step.Outcome == Completed {
			if text, failed := failure(e.Output, output); failed {
				content, step.Failing = text, true
			}
		}
	}
	if r.waits(t, e, output) {
		step.Effect, step.Failing = Polling, step.Failing && !t.Shell // the exit status says only that it is not done yet
	}
	var failed failureText
	if r.options.Needs&(NeedOutcomes|NeedExcerpts) != 0 {
		if step.Failing {
			failed = r.readFailure(t, e, content)
			content = failed.line
		}
		if r.options.Needs&NeedExcerpts != 0 {
			r.keepOutputExcerpt(r.shown(t, failed.readable, content, e))
		}
		r.countError(t, failed.class)
	}
	if r.options.Needs&NeedResults != 0 {
		step.ResultHash = fingerprint.Join(t.Hash, outcomeHash(e.Output, e.Error, fingerprint.Bytes))
		t.Unchanged.add(step.ResultHash, step.ArgsHash, step.End)
		r.s.Turn.Row.add(step.ResultHash, step.ArgsHash, step.End)
		r.s.Turn.Tool = t.Name
	}
	if r.options.Needs&NeedOutcomes != 0 {
		unwrapped := r.unwrap(t, output)
		r.compareResult(t, e, output, unwrapped, &failed)
		if r.options.Needs&NeedEffort != 0 && e.Output != nil {
			r.learnFrame(t, unwrapped)
		}
	}
}

// failureText is what the result of a failed call says. It is zero for any other call.
type failureText struct {
	class    Hash
	line     []byte // the line that describes the error: the remark if there is one
	remark   []byte // of a person who refused the call; nil without one
	readable []byte // what people read of it; with NeedExcerpts
}

// readFailure reads the result of a failed call. content is the part of it that describes the failure.
func (r *Run) readFailure(t *Tool, e *Event, content []byte) (f failureText) {
	f.remark = fingerprint.Remark(e.Output, e.Error)
	content = r.bare(t, r.unwrap(t, fingerprint.Content(content)))
	if r.options.Needs&NeedExcerpts != 0 {
		f.readable = errorText(content, e.Error, f.remark)
	}
	if f.line = errorLine(content, e.Error); f.remark != nil {
		f.line = fingerprint.ErrorLine(f.remark)
	}
	f.class = fingerprint.ErrorClass(f.line)
	return f
}

// countError counts the errors of a tool in a row. class is that of the step's error, 0 for none.
func (r *Run) countError(t *Tool, class Hash) {
	if t.Errors.add(class, r.step.ArgsHash, r.step.End); t.Errors.Count == 1 {
		_, t.FirstError = r.Excerpt(&r.step)
		t.ChangesAtFirstError = r.s.Changes
	}
	t.ErrorsSinceAdvance = min(t.ErrorsSinceAdvance+1, t.Errors.Count)
}

// failure is fingerprint.Failure of a result, also for what its envelopes have in them.
func failure(result, content []byte) (text []byte, failed bool) {
	for {
		if text, failed = fingerprint.Failure(result); failed || len(content) >= len(result) {
			return text, failed
		}
		inner := fingerprint.Envelope(bytes.TrimSpace(result))
		if len(inner) == len(result) {
			return fingerprint.Failure(content)
		}
		result = inner
	}
}

// bare returns the unwrapped content of a result without what the tool writes around each of its results. Of a raw JSON string with something
// around it, it returns the inside.
func (r *Run) bare(t *Tool, content []byte) []byte {
	if !t.Frame.Known() {
		return content
	}
	inside := fingerprint.Inside(content)
	if text := t.Frame.Without(inside); len(text) < len(inside) {
		return text
	}
	return content
}

// unwrap returns the content of a result without the lines and remarks that shells and the programs of agents are known to add.
func (r *Run) unwrap(t *Tool, content []byte) []byte {
	if t.Shell {
		return fingerprint.Unwrap(content, &r.echo)
	}
	return fingerprint.WithoutReminder(content)
}

// learnFrame reads what the tool writes around the unwrapped content of its results.
func (r *Run) learnFrame(t *Tool, content []byte) {
	if !t.Frame.Open() || !t.Shell && (len(content) == 0 || content[0] == '{' || content[0] == '[') {
		return
	}
	t.Frame.Add(fingerprint.Inside(content), r.step.Effort.Lines > 0)
}

// compareResult reads the words of the result of a call, and compares it with what the run has seen. output is the fingerprint.Content of the
// result, and unwrapped is that without what the tool is known to add to it.
func (r *Run) compareResult(t *Tool, e *Event, output, unwrapped []byte, failed *failureText) {
	s := getScratch()
	s.words.Reset()
	s.words.Requested = t.Requested
	class, text, failure := failed.class, failed.remark, []byte(nil)
	if failed.remark == nil {
		text, failure = r.bare(t, unwrapped), e.Error
	}
	s.words.Add(text)
	s.words.Add(failure)
	r.step.NormalizedResult = r.normalized(s, t, e, text, failed.remark == nil)
	varied := r.compareOutcome(t, &s.words, output)
	tells := class != 0 && // of a failure
		(!t.Shell || s.words.Ending == fingerprint.Refused || s.words.Ending == fingerprint.Nothing || fingerprint.TellsOfFailure(failed.line))
	if class != 0 && !tells { // the exit status of a command is an answer
		t.ErrorsSinceAdvance = 0
	}
	r.outcome(t, class, tells && s.words.Says > 0 || s.words.Says >= tellingWords, varied == fewer)
	if r.options.Needs&NeedEffort != 0 {
		r.weigh(t, &s.words, class, varied)
	}
	s.put()
	if t.Streak.Count <= 2 { // a row begins
		t.NothingFound = t.Streak.Count == 2 && (len(text) == 0 || fingerprint.Empty(output))
	}
}

// normalized returns the fingerprint of an outcome with its volatile parts masked. text is its output without the lines that a shell tool
// writes around it. all means that s.words has read all of text: then they may have found that it has no such part.
func (r *Run) normalized(s *scratch, t *Tool, e *Event, text []byte, all bool) Hash {
	of, hash := t.Hash, fingerprint.Bytes
	switch {
	case !all:
		text, hash = e.Output, s.mask.Masked
	case s.words.Varies:
		hash = s.mask.Masked
	case len(text) == len(e.Output) && r.options.Needs&NeedResults != 0:
		return r.step.ResultHash
	}
	if len(text) < len(e.Output) && r.step.Failing {
		of ^= failedOutput // the lines around it told so
	}
	return fingerprint.Join(of, outcomeHash(text, e.Error, hash))
}

// failedOutput is part of the fingerprint of an output whose command failed.
const failedOutput = 0x9E3779B97F4A7C15

// shown returns the part of an outcome that people read: of a failure readable, of a shell what the command printed, and else content. If that is
// empty, it is the whole output. inside means that it is the inside of a JSON string.
func (r *Run) shown(t *Tool, readable, content []byte, e *Event) (text []byte, inside bool) {
	if len(readable) > 0 {
		return readable, readable[0] != '{' && readable[0] != '['
	}
	if t.Shell && !r.step.Failing && len(e.Output) > 0 && e.Output[0] == '"' {
		content, inside = fingerprint.Unwrap(e.Output, &r.echo), true
	}
	if len(content) == 0 {
		return e.Output, false
	}
	return content, inside
}

// tellingWords is the number of words from which on the output of a failed command tells how it failed, also without a word of failure.
const tellingWords = 8

// outcome records a step's outcome and whether it is novel. A failure is novel once for each class of error, whatever path it
// names. It counts as an error if it tells of a failure, unless it has fewer errors than the failure before.
func (r *Run) outcome(t *Tool, class Hash, tells, fewer bool) {
	step := &r.step
	if t.Thinks && step.Effort.Fresh >= freshCommand {
		t.Streak = Streak{} // a new thought: that the tool returns the same, or nothing, is no result
	} else {
		t.Streak.add(step.NormalizedResult, step.ArgsHash, step.End)
	}
	result := step.NormalizedResult
	if class != 0 {
		result = fingerprint.Join(t.Hash, class)
	}
	seen := r.s.ResultCounts.add(result, step.Number+r.s.Advances*halfLife)
	step.ResultCount = seen.N
	if class != 0 && tells && !fewer {
		step.Errors = seen
	}
	key := step.key()
	step.Repeats = r.s.OutcomeCounts.add(key, step.Number+r.changeAge(step))
	r.s.OutcomePeriods.add(key)
	mutated := step.Effect == Mutating && !step.Failing && step.sent() == 1
	if mutated {
		r.s.Changes++
	}
	if step.Novel = seen.N == 1 || mutated; step.Novel {
		r.noteNovelty()
		return
	}
	r.s.StepsWithoutNovelty++
}

// changeAge returns the number of steps by which earlier steps count as older after a change or a message of a person. The same call
// after a change is no repetition. Failures age half as much, because a failure that persists after a change is stronger evidence.
func (r *Run) changeAge(step *Step) int {
	since := r.s.Changes + r.s.Turn.Number + r.s.Advances
	if step.Failing {
		return since * halfLife / 2
	}
	return since * halfLife
}

// outcomeHash hashes an output and, if there is one, an error.
func outcomeHash(output, failure []byte, hash func([]byte) Hash) Hash {
	h := hash(output)
	if failure == nil {
		return h
	}
	return fingerprint.Join(h, hash(failure))
}

// errorLine returns the line that describes the error of a failed call. The output comes first, because the error may be a bare exit
// status.
func errorLine(output, failure []byte) []byte {
	if line := fingerprint.ErrorLine(output); len(line) > 0 {
		return line
	}
	return fingerprint.ErrorLine(failure)
}

// errorText returns the line of a failed call's error that people read: of the person's remark if there is one, else of the output, else of
// the error.
func errorText(output, failure, remark []byte) []byte {
	if remark != nil {
		return fingerprint.ErrorText(remark)
	}
	if string(output) != "null" {
		if line := fingerprint.ErrorText(output); len(line) > 0 {
			return line
		}
	}
	return fingerprint.ErrorText(failure)
}
