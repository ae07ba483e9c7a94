package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// row is a line of the table. A title has only a label.
type row struct {
	label string   // what is measured
	of    string   // the number of runs or stretches that are measured
	cells []string // a figure for each profile
}

// table is the output of Pretty.
type table struct {
	sheets []*Sheet
	rows   []row
}

// Pretty writes a table for people, with a column for each profile. A share is followed by the bounds of its 95 % confidence
// interval. A section is omitted if no run has its labels.
func (b *Scoreboard) Pretty(w io.Writer) error {
	t := table{sheets: b.Sheets}
	first := row{label: fmt.Sprint(b.Sheets[0].Runs, " runs"), of: "of"}
	for _, s := range b.Sheets {
		first.cells = append(first.cells, s.Profile)
	}
	t.rows = append(t.rows, first)
	t.loops()
	t.lookAlikes()
	t.unlabelled()
	t.judged()
	if b.reviewer != nil {
		t.title("second opinions")
		t.add("asked for", "", func(s *Sheet) string { return fmt.Sprint(s.Opinions.Asked) })
		t.add("given", "", func(s *Sheet) string { return fmt.Sprint(s.Opinions.Answered) })
	}
	t.score("judged moments", func(s *Sheet) Score { return s.JudgedMoments })
	t.score("whole runs", func(s *Sheet) Score { return s.WholeRuns })
	t.saved("after the first stop, in runs with a known loop", func(s *Sheet) Saved { return s.InLoops })
	t.saved("after the first stop, in failed runs", func(s *Sheet) Saved { return s.InFailed })
	t.saved("after the first stop, in successful runs", func(s *Sheet) Saved { return s.InSuccessful })
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *table) title(label string) { t.rows = append(t.rows, row{}, row{label: label}) }

func (t *table) add(label, of string, cell func(*Sheet) string) {
	r := row{label: "  " + label, of: of}
	for _, s := range t.sheets {
		r.cells = append(r.cells, cell(s))
	}
	t.rows = append(t.rows, r)
}

// rates adds a row of shares of the same set.
func (t *table) rates(label string, rate func(*Sheet) Proportion) {
	t.add(label, fmt.Sprint(rate(t.sheets[0]).Of), func(s *Sheet) string { return percent(rate(s)) })
}

func (t *table) loops() {
	kinds := slices.Sorted(maps.Keys(t.sheets[0].Loops))
	if len(kinds) == 0 {
		return
	}
	t.title("known loops: caught (any decision but allow)")
	t.kinds(kinds, func(s *Sheet, kind string) Proportion { return s.Loops[kind].Flagged })
	t.title("known loops: stopped (block or halt)")
	t.kinds(kinds, func(s *Sheet, kind string) Proportion { return s.Loops[kind].Stopped })
	t.title("known loops: median events from onset to the first decision / to the first stop")
	for _, kind := range kinds {
		t.add(kind, fmt.Sprint(t.sheets[0].Loops[kind].Flagged.Of), func(s *Sheet) string {
			return medianOf(s.Loops[kind].Delays) + " / " + medianOf(s.Loops[kind].Stops)
		})
	}
	if len(kinds) > 1 {
		t.add("all of them", "", func(s *Sheet) string {
			var delays, stops Delays
			for _, caught := range s.Loops {
				delays, stops = append(delays, caught.Delays...), append(stops, caught.Stops...)
			}
			return medianOf(delays) + " / " + medianOf(stops)
		})
	}
}

func (t *table) lookAlikes() {
	kinds := slices.Sorted(maps.Keys(t.sheets[0].LookAlikes))
	if len(kinds) == 0 {
		return
	}
	t.title("lookalikes: false alarms")
	t.kinds(kinds, func(s *Sheet, kind string) Proportion { return s.LookAlikes[kind].Flagged })
	t.title("lookalikes: false stops")
	t.kinds(kinds, func(s *Sheet, kind string) Proportion { return s.LookAlikes[kind].Stopped })
}

// kinds adds a row for each kind, and one for all.
func (t *table) kinds(kinds []string, rate func(*Sheet, string) Proportion) {
	for _, kind := range kinds {
		t.rates(kind, func(s *Sheet) Proportion { return rate(s, kind) })
	}
	if len(kinds) == 1 {
		return
	}
	t.rates("all of them", func(s *Sheet) Proportion {
		var sum Proportion
		for _, kind := range kinds {
			p := rate(s, kind)
			sum = Proportion{sum.Count + p.Count, sum.Of + p.Of}
		}
		return sum
	})
}

// unlabelled adds the successful and the failed runs without a label of a loop or a lookalike.
func (t *table) unlabelled() {
	if t.sheets[0].Successful.Flagged.Of > 0 {
		t.title("successful runs")
		t.rates("false alarms", func(s *Sheet) Proportion { return s.Successful.Flagged })
		t.rates("false stops", func(s *Sheet) Proportion { return s.Successful.Stopped })
	}
	if t.sheets[0].Failed.Flagged.Of > 0 {
		t.title("failed runs")
		t.rates("flagged", func(s *Sheet) Proportion { return s.Failed.Flagged })
		t.rates("stopped", func(s *Sheet) Proportion { return s.Failed.Stopped })
	}
}

// judged adds the comparison with the stretches of readers, over all runs and, if there are several sources, by source.
func (t *table) judged() {
	first := t.sheets[0]
	if first.Judged.Found.Of+first.Judged.FalseFlags.Of+first.Judged.Elsewhere.Of == 0 {
		return
	}
	t.score("judged stretches", func(s *Sheet) Score { return s.Judged.Score() })
	t.rates("stopped", func(s *Sheet) Proportion { return s.Judged.Stopped })
	t.add("median delay", "", func(s *Sheet) string { return medianOf(s.Judged.Delays) })
	t.rates("clean runs flagged", func(s *Sheet) Proportion { return s.Judged.FalseFlags })
	t.rates("clean runs stopped", func(s *Sheet) Proportion { return s.Judged.FalseStops })
	t.rates("flagged elsewhere", func(s *Sheet) Proportion { return s.Judged.Elsewhere })
	sources := slices.Sorted(maps.Keys(first.BySource))
	if len(sources) < 2 {
		return
	}
	t.title("judged stretches found, by source")
	t.sources(sources, func(j *Judged) Proportion { return j.Found })
	t.title("clean runs flagged, by source")
	t.sources(sources, func(j *Judged) Proportion { return j.FalseFlags })
}

// sources adds a row for each source whose set is not empty.
func (t *table) sources(names []string, rate func(*Judged) Proportion) {
	for _, name := range names {
		if rate(t.sheets[0].BySource[name]).Of > 0 {
			t.rates(name, func(s *Sheet) Proportion { return rate(s.BySource[name]) })
		}
	}
}

func (t *table) score(label string, score func(*Sheet) Score) {
	loops, flagged := score(t.sheets[0]).Recall.Of, 0
	for _, s := range t.sheets {
		flagged += score(s).Precision.Of
	}
	if loops+flagged == 0 {
		return
	}
	t.title(label)
	t.add("precision", "", func(s *Sheet) string {
		p := score(s).Precision
		return strings.TrimSuffix(fmt.Sprintf("%s of %d", percent(p), p.Of), " of 0")
	})
	t.rates("recall", func(s *Sheet) Proportion { return score(s).Recall })
	t.add("F1", "", func(s *Sheet) string { return fmt.Sprintf("%.2f", score(s).F1()) })
}

func (t *table) saved(label string, saved func(*Sheet) Saved) {
	all := saved(t.sheets[0]).All
	if all == (Usage{}) {
		return
	}
	t.title(label)
	t.add("calls", fmt.Sprint(all.Calls), func(s *Sheet) string { return fmt.Sprint(saved(s).After.Calls) })
	if all.Tokens > 0 {
		t.add("tokens", fmt.Sprint(all.Tokens), func(s *Sheet) string { return fmt.Sprint(saved(s).After.Tokens) })
	}
	if all.Cost > 0 {
		t.add("cost", fmt.Sprintf("$%.2f", all.Cost), func(s *Sheet) string { return fmt.Sprintf("$%.2f", saved(s).After.Cost) })
	}
}

// percent writes a share with the bounds of its confidence interval, or a dash for an empty set.
func percent(p Proportion) string {
	if p.Of == 0 {
		return "–"
	}
	low, high := p.Interval()
	return fmt.Sprintf("%.0f%% (%.0f–%.0f)", 100*p.Share(), 100*low, 100*high)
}

// medianOf writes the median of delays, or a dash if there are none.
func medianOf(d Delays) string {
	median, ok := d.Median()
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%g", median)
}

// String returns the table as text. Labels are aligned to the left and all other cells to the right.
func (t *table) String() string {
	label, of := 0, 0
	cells := make([]int, len(t.sheets))
	for _, r := range t.rows {
		of = max(of, utf8.RuneCountInString(r.of))
		for k, cell := range r.cells {
			label = max(label, utf8.RuneCountInString(r.label))
			cells[k] = max(cells[k], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		b.WriteString(r.label)
		if r.cells != nil {
			fmt.Fprintf(&b, "%*s  %*s", label-utf8.RuneCountInString(r.label), "", of, r.of)
		}
		for k, cell := range r.cells {
			fmt.Fprintf(&b, "  %*s", cells[k], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
