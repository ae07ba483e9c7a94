/*
Package detecttest tests detectors and profiles with golden traces. A golden trace is a short text that lists the events of a
run and the findings that are wanted at them.

	# The same question has the same answer three times.
	call   search boiling point of ethanol
	result search 78.4 °C
	call   search boiling point of ethanol
	result search 78.4 °C
	call   search boiling point of ethanol
	result search 78.4 °C                       // want same_call_same_result "3 times"

A trace has one event per line. Lines that begin with # are comments, and empty lines are ignored. The first line that is
not empty must be a comment that describes the trace. The lines are:

	call TOOL ARGUMENTS        a call starts. Arguments that begin with { or [ are JSON. Other text is sent as
	                           {"command": text} to a shell (bash, sh …) and as {"input": text} to any other tool
	result TOOL OUTPUT         the call completed. The output is JSON if it is valid JSON, else a string. Without
	                           an output, the event has none
	fail TOOL ERROR            the call failed. The error is read like an output
	block TOOL                 a guard prevented the call
	say AGENT: TEXT            a message of an agent. "AGENT:" is optional, unless the text begins with such a word.
	                           A text in quotes is a JSON string
	user TEXT                  a message of the user
	handoff AGENT              the agent receives control
	event TYPE NAME=VALUE …    any event, by the names of its wire form: event llm_call_completed cost=0.04 tokens=900
	repeat N                   the lines up to the next end, N times. {i} in them is replaced by the round, from 1
	end

An outcome belongs to the oldest open call of its tool. A line may end with

	// want RULE "words"

At its event, the detector must report a finding of RULE whose What contains the words. At every other event, it must report
nothing new: no finding about a new subject, and none whose count has grown.
*/
package detecttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// Run tests the detector with all traces in dir, each in a subtest. The runs keep the state that the detector needs and use
// unloop.DefaultShells.
//
// The test fails if
//   - a wanted finding is missing, or there is a new finding that is not wanted;
//   - a finding is of another rule than Info().Name;
//   - the evidence of a finding is missing, not in the trace or out of order;
//   - dir does not exist, contains a file that is not named *.trace, or a trace cannot be parsed;
//   - dir lacks a trace with a wanted finding, or one without.
func Run(t *testing.T, dir string, d unloop.Detector) {
	t.Helper()
	traces, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		t.Run(strings.TrimSuffix(filepath.Base(trace.Name), ".trace"), func(t *testing.T) {
			for _, problem := range play(trace, d) {
				t.Error(problem)
			}
		})
	}
}

// load reads the traces of a folder. A folder whose traces do not test both findings and their absence is an error.
func load(dir string) ([]*Trace, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the traces: %w", err)
	}
	var traces []*Trace
	var mistakes []error
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		if filepath.Ext(path) != ".trace" {
			mistakes = append(mistakes, fmt.Errorf("%s: the name must end in .trace", path))
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("reading a trace: %w", err))
			continue
		}
		trace, err := Parse(path, data)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		traces = append(traces, trace)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return traces, enough(dir, traces)
}

// enough returns an error if the traces of a folder do not test both findings and their absence.
func enough(dir string, traces []*Trace) error {
	quiet := 0
	for _, trace := range traces {
		if trace.quiet() {
			quiet++
		}
	}
	switch {
	case len(traces) == 0:
		return fmt.Errorf("%s: no traces", dir)
	case quiet == len(traces):
		return fmt.Errorf("%s: no trace expects a finding; want at least one", dir)
	case quiet == 0:
		return fmt.Errorf("%s: every trace expects a finding; add a near miss at which the detector stays quiet", dir)
	}
	return nil
}

// play returns the differences between the findings of the detector and those that the trace wants.
func play(trace *Trace, d unloop.Detector) []error {
	info := d.Info()
	j := judge{trace: trace, info: info, counts: make(map[string]int)}
	r := unloop.NewRun(trace.Name, unloop.Options{Needs: info.Needs, Shells: unloop.DefaultShells()})
	for k := range trace.Entries {
		e := &trace.Entries[k]
		r.Add(e.Event)
		if r.Current().Kinds()&info.At == 0 {
			j.missing(e, "nothing: by its Info().At the detector is not called at such an event")
			continue
		}
		if f, ok := d.Check(r); ok {
			j.found(e, &f)
		} else {
			j.missing(e, "nothing")
		}
	}
	return j.problems
}

// judge compares findings with those that are wanted.
type judge struct {
	trace    *Trace
	info     unloop.Info
	counts   map[string]int // of the findings so far, by subject
	problems []error
}

func (j *judge) complain(e *Entry, format string, args ...any) {
	j.problems = append(j.problems, fmt.Errorf("%s: %s", j.trace.place(e), fmt.Sprintf(format, args...)))
}

// missing judges an event without a finding.
func (j *judge) missing(e *Entry, found string) {
	if e.Want != nil {
		j.complain(e, "want %s %q, found %s", e.Want.Rule, e.Want.What, found)
	}
}

// found judges a finding.
func (j *judge) found(e *Entry, f *unloop.Finding) {
	count, known := j.counts[f.Subject]
	grown := !known || f.Count > count
	j.counts[f.Subject] = max(count, f.Count)
	description := fmt.Sprintf("%s, subject %q, count %d: %q", f.Rule, f.Subject, f.Count, f.What)
	switch {
	case e.Want == nil && grown:
		j.complain(e, "want nothing new, found %s", description)
	case e.Want != nil && (f.Rule != e.Want.Rule || !strings.Contains(f.What, e.Want.What)):
		j.complain(e, "want %s %q, found %s", e.Want.Rule, e.Want.What, description)
	}
	if f.Rule != j.info.Name {
		j.complain(e, "the finding is of rule %q, but Info().Name is %q", f.Rule, j.info.Name)
	}
	if flaw := j.evidenceFlaw(e, f); flaw != "" {
		j.complain(e, "%s: %s", description, flaw)
	}
}

// evidenceFlaw describes what is wrong with the events of a finding, or returns "".
func (j *judge) evidenceFlaw(e *Entry, f *unloop.Finding) string {
	if n := len(f.Evidence); n == 0 || n > unloop.MaxEvidence {
		return fmt.Sprintf("%d events as evidence; there must be 1 to %d", n, unloop.MaxEvidence)
	}
	last := 0
	for _, ref := range slices.Concat([]unloop.EventRef{f.First}, f.Evidence, []unloop.EventRef{f.Event}) {
		switch at := ref.Index; {
		case at < 0 || at > e.Event.Index || j.trace.Entries[at].Event.ID != ref.ID:
			return fmt.Sprintf("it names event %q (index %d), which is not in the trace so far", ref.ID, at)
		case at < last:
			return fmt.Sprintf("event %s is named after e%d: First, Evidence and Event must be in the order of the run", ref.ID, last+1)
		}
		last = ref.Index
	}
	return ""
}
