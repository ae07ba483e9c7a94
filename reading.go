package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// reading is the content of an outcome, compared with the run so far.
type reading struct {
	novelty
	words   *fingerprint.Words
	varied  variation
	class   Hash // of the error; 0 for none
	about   bool // it mentions an item that no earlier call of its tool names
	named   bool // it mentions the first word of the call that no earlier call of its tool has
	shown   bool // it does, and the call may change something and did not fail
	blank   bool // it has no word, or one known number
	another bool // a change before it removed a cause of the failure before, or made it show something
	shapes  int  // outcomes of the tool so far with these words and any numbers and ids, this one included
	returns int  // earlier outcomes with its template, at most 2; 0 for a short outcome
}

// readOutcome compares an outcome with everything that the run has seen.
func (r *Run) readOutcome(t *Tool, w *fingerprint.Words, class Hash, varied variation) reading {
	o := reading{words: w, varied: varied, class: class, about: r.step.Effort.mentioned(w)}
	o.shapes = r.s.ResultCounts.add(fingerprint.Join(t.Hash, w.Shape), r.step.Number+r.s.Advances*halfLife).N
	m := &r.s.Meter
	failing := r.step.Failing || w.Ending == fingerprint.Refused && r.step.Effort.Writes
	named := m.Causes.begin(&r.step, m.Excused, failing)
	cured := removed(named, w) // before novelty masks the numbers
	o.novelty = m.novelty(w, &origin{r.callWords, o.about, r.step.Failing, failing, r.step.Effort.Writes})
	o.another = o.Shows || cured && (o.Lines > 0 || m.Causes.Told != wordSet{})
	o.named = o.names(r.step.Effort.Word)
	o.shown = o.named && r.step.Effort.Writes && !t.Shell && !r.step.Failing
	o.blank = len(w.List) == 0 || len(w.List) == 1 && w.List[0].Kind == fingerprint.Number && o.Fresh == 0 && !w.Distinctive()
	return o
}

// share returns the novelty of the outcome, from 0 to 1.
func (o *reading) share() float64 {
	share := 0.0
	if o.Runs > 0 {
		share = min(1, max(noveltyGain*o.Fresh/float64(o.Runs+2), o.Fresh/(o.Fresh+noveltyHalf)))
	}
	switch o.varied {
	case onward, further:
		return max(share, onwardNovelty)
	case aimless:
		return 0
	}
	return share
}

// returns records the template of an outcome, and returns the number of earlier outcomes with it, at most 2. It ignores short outcomes,
// because acknowledgements are equal.
func (m *meter) returns(o *reading) int {
	if len(o.words.List) < fullAnswer && !o.words.Distinctive() {
		return 0
	}
	return m.Seen.times(o.Template, saltOutcome, saltReturn)
}

// yield returns the kind of result that the step had. In the output of a shell command that only reads, a word such as error is content.
func (r *Run) yield(t *Tool, o *reading) Yield {
	effort, step, w := &r.step.Effort, &r.step, o.words
	blank := o.blank || step.Failing && w.Says == 0
	failed := !blank && (step.Failing || w.Ending == fingerprint.Refused && (effort.Writes || !t.Shell))
	nothing := blank || w.Ending == fingerprint.Nothing
	switch {
	case effort.Idle && (failed || nothing || effort.Novelty < 0.5):
		return NoOp
	case failed:
		return Failure
	case o.varied == further:
		return Content
	case effort.Writes && (step.sent() <= 1 || step.Repeats.N == 1) &&
		(blank && !w.Void || t.Shell && nothing && !w.Zero && !w.Void || w.Ending == fingerprint.Done || r.acknowledged(t, o)):
		return Change
	case nothing:
		return NothingFound
	case t.Shell && effort.Writes && o.returns < 2 && effort.Fresh >= freshCommand && step.Effect != Polling && step.Repeats.N == 1:
		return Change
	}
	return Content
}

// acknowledged reports whether the outcome says that the call changed something. It does if it mentions the new word of the call. It also does
// if it is short or mentions a new item of the call, and either its words are new or the call names a new item. The name of an object, such as
// a figure, does so if the call has new words: what the object shows is not known.
func (r *Run) acknowledged(t *Tool, o *reading) bool {
	effort := &r.step.Effort
	if o.words.Opaque && effort.Fresh >= freshCommand {
		return true
	}
	short := len(o.words.List) < shortAnswer
	return o.words.Ending != fingerprint.Nothing && (o.shown || short && r.acknowledgedAlike(t, o) || (o.about || short) &&
		(effort.Names != 0 || effort.Item != 0 || !effort.Known && r.step.ResultCount == 1))
}

// acknowledgedAlike reports whether the outcome is a sentence in the words of an earlier acknowledgement of the tool, and its call was not made
// before. A long call, such as a plan, may be the same one in other words.
func (r *Run) acknowledgedAlike(t *Tool, o *reading) bool {
	return !t.Shell && r.step.ArgsCount == 1 && r.step.Effort.Words <= namingWords && o.words.Says >= fullAnswer &&
		r.s.Meter.Seen.has(acknowledgement(t, o.words))
}

// acknowledgement returns the fingerprint of an outcome of a change, without numbers and ids.
func acknowledgement(t *Tool, w *fingerprint.Words) uint32 {
	return uint32(fingerprint.Join(t.Hash, w.Shape)) ^ saltAcknowledgement
}

// value reports whether the outcome is a short answer to a question about a new item. Many items may have the same one.
func (r *Run) value(o *reading) bool {
	effort, n := &r.step.Effort, len(o.words.List)
	return !effort.Writes && (effort.Item != 0 && o.words.Count > 0 && n < shortAnswer || effort.Names != 0 && n < fullAnswer)
}
