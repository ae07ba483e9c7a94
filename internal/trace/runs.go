package trace

// inRun is what is known of the spans of a trace that belong to one run.
type inRun struct {
	spans int     // that belong to it
	told  int     // of them that have events
	first serving // of them that names a service
}

// runOf returns the run that is named for a node: that of its events, if it has any.
func (t *Trace) runOf(n *node) string {
	if n.run != "" {
		return n.run
	}
	return t.run()
}

// count notes the run that a node belongs to, before and after its span or its place has changed.
func (t *Trace) count(n *node, was, now standing) {
	run := t.runOf(n)
	if n.of != run {
		if n.of != "" {
			t.part(n, was)
		}
		n.of = run
		r := t.runs[run]
		if r == nil {
			r = new(inRun)
			t.runs[run] = r
		}
		r.spans++
		was = standing{}
	}
	r := t.runs[run]
	r.told += truth(now.tells()) - truth(was.tells())
	t.reserve(run, r.first.serve(n))
}

// part notes that a node is no more of its run.
func (t *Trace) part(n *node, was standing) {
	r := t.runs[n.of]
	r.spans--
	r.told -= truth(was.tells())
	t.reserve(n.of, r.first.unserve(n))
	if r.spans == 0 {
		delete(t.runs, n.of)
	}
}

// tells reports whether any event stands.
func (s *standing) tells() bool { return s.start != 0 || s.end != 0 }

// Runs returns the runs that the trace has events in.
func (t *Trace) Runs() (runs []string) {
	for run, r := range t.runs {
		if r.told > 0 {
			runs = append(runs, run)
		}
	}
	return runs
}

// In reports whether the trace has events in the run. O(1).
func (t *Trace) In(run string) bool {
	r := t.runs[run]
	return r != nil && r.told > 0
}

// Deleted returns the spans of a run as they are kept once the run is deleted, while the trace has events in other runs: without
// content and events, so that the spans of other runs still have their parents. The trace itself does not change. O(spans).
func (t *Trace) Deleted(run string) (spans []Span) {
	for _, n := range t.nodes {
		if !n.known || t.runOf(n.canonical()) != run {
			continue
		}
		s := n.span
		s.Deleted = true
		s.Title, s.Reason, s.Input, s.Output = "", "", "", ""
		spans = append(spans, s)
	}
	return spans
}
