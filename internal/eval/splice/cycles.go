package splice

import "slices"

// The loops of this file return to an earlier state after several steps.

// cycle returns a builder of cycles of n different calls, in 4 to 7 rounds.
func cycle(n int) func(*generator) ([]entry, int) {
	return func(p *generator) ([]entry, int) {
		round := make([]entry, n)
		for k := range round {
			round[k] = p.call()
		}
		return slices.Repeat(round, p.between(4, 7)), n
	}
}

// editRevert makes a change and takes it back; in every other stretch it runs the tests after each change.
func editRevert(p *generator) ([]entry, int) {
	path, before, after := p.path(), p.phrase(3, 8), p.phrase(3, 8)
	done := quoted("The file " + path + " has been updated.")
	round := []entry{
		call("edit_file", object("path", path, "old_string", before, "new_string", after), done),
		call("edit_file", object("path", path, "old_string", after, "new_string", before), done),
	}
	if p.coin() {
		changed, restored := p.tests(p.failure()), p.tests(p.failure())
		restored.Args = changed.Args
		round = []entry{round[0], changed, round[1], restored}
	}
	return slices.Repeat(round, p.between(4, 7)), len(round)
}

// handoffBounce hands a task back and forth; before it does, each agent says what it said before, or makes the call that it
// made before. Its onset is the first event of the second round.
func handoffBounce(p *generator) ([]entry, int) {
	var round []entry
	for _, handoff := range p.handoffs() {
		before := p.call()
		if p.coin() {
			before = say("I cannot go on with the " + p.phrase(2, 5) + " before you have finished the " + p.phrase(3, 6) + ".")
		}
		before.Agent = handoff.From
		round = append(round, before, handoff)
	}
	return slices.Repeat(round, p.between(4, 8)), len(round)
}

// bareHandoffBounce has only handoffs, without events in between.
func bareHandoffBounce(p *generator) ([]entry, int) {
	round := p.handoffs()
	return slices.Repeat(round, p.between(4, 8)), len(round)
}

// handoffs returns one to another agent and one back.
func (p *generator) handoffs() []entry {
	names := p.shuffled("planner", "coder", "reviewer", "researcher", "writer", "support", "billing")
	return []entry{{Kind: "handoff", From: names[0], To: names[1]}, {Kind: "handoff", From: names[1], To: names[0]}}
}
