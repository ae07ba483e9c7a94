package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// JUnit returns a writer that writes one JUnit document at Close: a suite for each file, a case for each run. A run is a failure
// if the policy would have taken failOn or a more severe action. Allow means Warn, and with a value above Halt no run is a
// failure. The cases are kept until Close.
func JUnit(w io.Writer, failOn policy.Action) Writer {
	return &junitWriter{w: w, failOn: max(failOn, policy.Warn), suites: make(map[string]*junitSuite)}
}

type junitWriter struct {
	w      io.Writer
	failOn policy.Action
	suites map[string]*junitSuite // by file
	doc    junitDocument
}

type junitDocument struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       seconds         `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	lowest     policy.Health
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      seconds       `xml:"time,attr"`
	Failure   *junitFailure `xml:"failure"`
	Out       junitText     `xml:"system-out"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	junitText
}

type junitText struct {
	Text string `xml:",cdata"`
}

// seconds are encoded with three decimals, as the schema requires.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

func (j *junitWriter) Write(r *Run) error {
	s := j.suite(r.Source)
	took := seconds(r.Metrics.Duration.Seconds())
	c := junitCase{Name: plain(r.ID), ClassName: s.Name, Time: took, Out: junitText{junitOut(r)}}
	s.Tests++
	j.doc.Tests++
	s.Time += took
	if r.Worst() >= j.failOn {
		c.Failure = junitFailureOf(r)
		s.Failures++
		j.doc.Failures++
	}
	if s.Tests == 1 || r.Health.Score < s.lowest.Score {
		s.lowest = r.Health
	}
	s.Cases = append(s.Cases, c)
	return nil
}

func (j *junitWriter) suite(source string) *junitSuite {
	if s, ok := j.suites[source]; ok {
		return s
	}
	s := &junitSuite{Name: plain(source)}
	j.suites[source] = s
	j.doc.Suites = append(j.doc.Suites, s)
	return s
}

// Close writes the document.
func (j *junitWriter) Close() error {
	j.doc.Name = "unloop"
	for _, s := range j.doc.Suites {
		s.Properties = []junitProperty{
			{"health.lowest.score", fmt.Sprint(s.lowest.Score)}, {"health.lowest.status", plain(string(s.lowest.Status))},
		}
	}
	text, err := xml.MarshalIndent(j.doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the verdicts: %w", err)
	}
	_, err = j.w.Write([]byte(xml.Header + string(text) + "\n"))
	return err
}

// junitFailureOf returns the failure of a run: the most severe warning, with all warnings in its text. Readers accept one failure
// per case.
func junitFailureOf(r *Run) *junitFailure {
	worst := r.Worst()
	failure := &junitFailure{}
	for _, d := range r.Decisions {
		if d.Action == worst {
			failure.Type, failure.Message = plain(d.Code), plain(d.Message)
			break
		}
	}
	var text strings.Builder
	for k, w := range gravest(r.Warnings) {
		if k == 0 {
			failure.Type, failure.Message = plain(w.Rule), plain(w.What)
		}
		junitWarning(&text, &w.Finding)
	}
	failure.Text = text.String()
	return failure
}

func junitWarning(b *strings.Builder, f *unloop.Finding) {
	fmt.Fprintf(b, "%s (%s, at %s)\n", plain(f.What), plain(f.Rule), label(f.Event))
	fmt.Fprintf(b, "  Why: %s\n  Try: %s\n", plain(f.Why), plain(f.Try))
}

// junitOut returns a summary of the run. The schema has no properties of a case.
func junitOut(r *Run) string {
	return fmt.Sprintf("health: %s %d\nformat: %s\nevents: %d\nsteps: %d\nwarnings: %d\npolicy: %s\n",
		plain(string(r.Health.Status)), r.Health.Score, plain(r.Format), r.Events, r.Steps, len(r.Warnings), fate(r))
}
