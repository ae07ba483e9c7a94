package trace

// inRun is counts of the spans of a trace that belong to one run.
type inRun struct {
	spans      int     // number of spans
	withEvents int     // number of spans with events
	first      serving // the first span that names a service
}

// runOf returns the run of a node's events, or "" if it has none.
func (t *Trace) runOf(n *node) string {
	if n.run != "" {
		return n.run
	}
	return t.run()
}

// count updates the counts of the runs of a node after its events have changed from was to now.
func (t *Trace) count(n *node, was, now emittedEvents) {
	run := t.runOf(n)
	if !n.counted || n.of != run {
		if n.counted {
			t.part(n, was)
		}
		n.counted, n.of = true, run
		r := t.runs[run]
		if r == nil {
			r = new(inRun)
			t.runs[run] = r
		}
		r.spans++
		was = emittedEvents{}
	}
	r := t.runs[run]
	r.withEvents += truth(now.exist()) - truth(was.exist())
	t.reserve(run, r.first.serve(n))
}

// part removes a node from the counts of its run.
func (t *Trace) part(n *node, was emittedEvents) {
	r := t.runs[n.of]
	r.spans--
	r.withEvents -= truth(was.exist())
	t.reserve(n.of, r.first.unserve(n))
	if r.spans == 0 {
		delete(t.runs, n.of)
	}
}

// exist reports whether there is any event.
func (s *emittedEvents) exist() bool { return s.start != 0 || s.end != 0 }

// Runs returns the runs in which the trace has events.
func (t *Trace) Runs() (runs []string) {
	for run, r := range t.runs {
		if r.withEvents > 0 {
			runs = append(runs, run)
		}
	}
	return runs
}

// In reports whether the trace has events in the run. O(1).
func (t *Trace) In(run string) bool {
	r := t.runs[run]
	return r != nil && r.withEvents > 0
}

// Deleted returns the stored form of a run's spans after the deletion of the run, if the trace has events in other runs. It has
// neither content nor events, but the spans of other runs keep their parents. The trace does not change. O(spans).
func (t *Trace) Deleted(run string) (spans []Span) {
	for _, n := range t.nodes {
		if !n.known || t.runOf(n.canonical()) != run {
			continue
		}
		s := n.span
		s.Deleted = true
		s.Title, s.Reason, s.Input, s.Output, s.Messages = "", "", "", "", ""
		spans = append(spans, s)
	}
	return spans
}
