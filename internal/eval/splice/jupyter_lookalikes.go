package splice

import "fmt"

// The lookalikes of this file are the honest work of agents that work in notebooks by a server of tools for Jupyter.

func jupyterLookalikes() []kind {
	return []kind{
		{name: "notebook_ported_to_polars", build: notebookPortedToPolars},
		{name: "long_fit_followed_by_its_output", build: longFitFollowedByItsOutput},
		{name: "day_of_departure_halved_in", build: dayOfDepartureHalvedIn},
		{name: "monthly_files_profiled_alike", build: monthlyFilesProfiledAlike},
	}
}

// notebookPortedToPolars rewrites cell after cell of a notebook for another library and runs each; one needs a second attempt.
func notebookPortedToPolars(p *generator) (entries []entry, _ int) {
	j := p.jupyter()
	frame, columns := j.frame()
	cell, last := p.between(2, 6), ""
	steps := [][2]string{
		{"%s = pd.read_csv('%s.csv')", "%s = pl.read_csv('%s.csv')"},
		{"%s['%s'].value_counts()", "%s['%s'].value_counts(sort=True)"},
		{"%s.groupby('day')['%s'].sum()", "%s.group_by('day').agg(pl.col('%s').sum())"},
		{"%s.sort_values('%s', ascending=False)", "%s.sort('%s', descending=True)"},
		{"%s.fillna({'%s': 0})", "%s.with_columns(pl.col('%s').fill_null(0))"},
	}
	steps = steps[:p.between(3, 5)]
	again := p.IntN(len(steps))
	for k, step := range steps {
		name := fmt.Sprintf("cell %d", cell+k)
		before, after := fmt.Sprintf(step[0], frame, columns[k]), fmt.Sprintf(step[1], frame, columns[k])
		t := p.nextItem(last, name)
		if k == again {
			draft := fmt.Sprintf("pl.DataFrame(%s).select('%s')", frame, columns[k])
			entries = append(entries, j.write(cell+k, before, draft).after(t), j.run(cell+k, fmt.Sprintf("AttributeError: 'DataFrame' object has no attribute '%s'", p.word())).after(p.runAgain()))
			before, t = draft, thought{"That is another method there.", "Let me use the expression."}
		}
		shape := fmt.Sprintf("shape: (%d, %d)", p.between(7, 9000), p.between(2, 14))
		entries = append(entries, j.write(cell+k, before, after).after(t), j.run(cell+k, shape).after(p.runAgain()))
		last = name
	}
	return entries, 0
}

// longFitFollowedByItsOutput reads the output of a cell that trains a model, epoch by epoch, until the training ends.
func longFitFollowedByItsOutput(p *generator) (entries []entry, _ int) {
	j, cell := p.jupyter(), p.between(9, 30)
	epochs, loss := p.pickInt(30, 40, 50, 80), float64(p.between(400, 900))/1000
	w := wording{
		[]string{"The training runs. Let me see how far it is."},
		[]string{"The loss still falls.", "It gets on.", "Not at the end yet.", ""},
		[]string{"I'll read the output again in a minute.", "Let me look again.", "Let me give it more time."},
	}
	epoch := p.between(1, 6)
	for k := 0; epoch < epochs; k++ {
		loss *= 0.8 + float64(p.IntN(10))/100
		entries = append(entries, call("read_cell", object("cell_index", cell, "include_outputs", true), j.result(fmt.Sprintf("Epoch %d/%d\n%d/312 - %ds - loss: %.4f - val_loss: %.4f", epoch, epochs, p.between(1, 312), p.between(4, 20), loss, loss*1.1))).after(w.of(p, k)))
		epoch += p.between(epochs/8, epochs/5)
	}
	return append(entries, call("read_cell", object("cell_index", cell, "include_outputs", true), j.result(fmt.Sprintf("Epoch %d/%[1]d\nRestoring weights of the best epoch: %d.\nCPU times: total: %dmin %ds", epochs, epochs-p.between(1, 6), p.between(4, 50), p.IntN(60)))).after(w.of(p, 1))), 0
}

// dayOfDepartureHalvedIn compares the sums of two sources over ever shorter spans, until one day is left on which they depart.
func dayOfDepartureHalvedIn(p *generator) (entries []entry, _ int) {
	j, cell := p.jupyter(), p.between(5, 20)
	_, columns := j.frame()
	low, high := 1, p.pickInt(28, 30, 31, 60, 90)
	culprit, off := p.between(2, high-1), p.between(3, 900)
	for k := 0; low < high; k++ {
		middle := (low + high) / 2
		source := fmt.Sprintf("a, b = daily(ledger, %d, %d), daily(export, %[1]d, %[2]d)\nprint(a['%s'].sum() - b['%[3]s'].sum())", low, middle, columns[0])
		t := thought{p.pick("The difference is in this half.", "So it is there.", ""), fmt.Sprintf("Days %d to %d next.", low, middle)}
		if k == 0 {
			t = thought{"", "Let me halve the span until I have the day."}
		}
		difference := 0
		if culprit <= middle {
			difference = off
		}
		j.count++
		entries = append(entries, call("insert_execute_code_cell", object("cell_index", cell+k, "cell_source", source), j.result(fmt.Sprintf("[%d]: %d.0", j.count, difference))).after(t))
		if culprit <= middle {
			high = middle
		} else {
			low = middle + 1
		}
	}
	source := fmt.Sprintf("ledger[ledger.day == %d].merge(export, on='id', how='outer', indicator=True).query(\"_merge != 'both'\")", culprit)
	return append(entries, call("insert_execute_code_cell", object("cell_index", cell+9, "cell_source", source), j.result(fmt.Sprintf("id %d  %s %d.0  left_only", p.between(1000, 99_999), columns[0], off))).after(thought{fmt.Sprintf("It is day %d.", culprit), "Which row is it?"})), 0
}

// monthlyFilesProfiledAlike runs the same code over file after file of the same form, with nearly the same results.
func monthlyFilesProfiledAlike(p *generator) (entries []entry, _ int) {
	j, cell, last := p.jupyter(), p.between(3, 9), ""
	_, columns := j.frame()
	stem, year, first := p.word(), p.between(2023, 2026), p.between(1, 4)
	for k := range p.between(5, 9) {
		file := fmt.Sprintf("%s_%d-%02d.parquet", stem, year, first+k)
		nulls := p.pickInt(0, 0, 0, p.between(1, 40))
		j.count++
		entries = append(entries, call("insert_execute_code_cell", object("cell_index", cell+k, "cell_source", "profile('data/"+file+"')"), j.result(fmt.Sprintf("[%d]: rows %d\ncolumns 14 (as expected)\nduplicates 0\nnulls in %s: %d", j.count, p.between(80_000, 99_000), columns[0], nulls))).after(p.nextItem(last, file)))
		if nulls > 0 && p.coin() {
			j.count++
			entries = append(entries, call("execute_code", object("code", fmt.Sprintf("load('%s').query('%s.isnull()').source.unique()", file, columns[0])), j.result(fmt.Sprintf("[%d]: ['%s']", j.count, p.word()))).after(thought{"There are gaps here.", "Where do they come from?"}))
		}
		last = file
	}
	return entries, 0
}
