package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work in notebooks by a server of tools for Jupyter.

func jupyterLoops() []kind {
	return []kind{
		{name: "cells_added_to_closed_kernel", build: cellsAddedToClosedKernel},
		{name: "written_cell_reads_empty", build: writtenCellReadsEmpty},
		{name: "cast_undone_by_reload", build: castUndoneByReload},
		{name: "finished_analysis_checked_and_restated", build: finishedAnalysisCheckedAndRestated},
	}
}

// jupyter is a server of tools for notebooks. Its results have two forms.
type jupyter struct {
	*generator
	form  int
	path  string
	count int // of executions in the kernel
}

func (p *generator) jupyter() *jupyter {
	return &jupyter{p, p.IntN(2), p.pick("notebooks/", "work/", "analysis/") + p.word() + "_" + p.pick("eda", "report", "model", "q3") + ".ipynb", p.between(3, 40)}
}

// result returns a text as the result of a tool.
func (j *jupyter) result(text string) json.RawMessage {
	if j.form == 0 {
		return content(text)
	}
	return object("ok", true, "notebook", j.path, "output", text)
}

// run returns a cell that is executed, with what it printed.
func (j *jupyter) run(cell int, output string) entry {
	j.count++
	return call("execute_cell", object("cell_index", cell, "timeout_seconds", 60), j.result(fmt.Sprintf("[%d]: %s\n(%d ms)", j.count, output, j.between(8, 4000))))
}

// write returns a change of the source of a cell.
func (j *jupyter) write(cell int, before, after string) entry {
	diff := "-" + strings.ReplaceAll(before, "\n", "\n-") + "\n+" + strings.ReplaceAll(after, "\n", "\n+")
	return call("overwrite_cell_source", object("cell_index", cell, "cell_source", after), j.result(fmt.Sprintf("Cell %d overwritten.\n```diff\n%s\n```", cell, diff)))
}

// frame returns the name of a frame and names of columns of it.
func (j *jupyter) frame() (name string, columns []string) {
	return j.pick("df", "orders", "events", "trips", "sales"), j.shuffled("amount", "quantity", "price", "duration", "discount", "weight", "score")
}

// cellsAddedToClosedKernel adds cell after cell to a notebook whose kernel has no connection any more, so that none is executed.
func cellsAddedToClosedKernel(p *generator) (entries []entry, _ int) {
	j := p.jupyter()
	frame, columns := j.frame()
	codes := []string{frame + ".head()", frame + ".shape", "print(" + frame + ".columns.tolist())", frame + ".describe()", frame + "['" + columns[0] + "'].mean()", "import pandas as pd\n" + frame + ".info()", "print('test')", "1 + 1"}
	reason := p.pick("Error executing tool insert_execute_code_cell: Connection is already closed.", "Connection to remote host was lost.", "KernelError: kernel client is not connected (state: dead)")
	cell := p.between(3, 30)
	w := wording{
		[]string{"Let me look at the frame.", "I'll add a cell that shows the data."},
		[]string{"The cell was added but not executed.", "The connection was closed.", "No output.", "The execution failed again.", ""},
		[]string{"Let me add it again.", "I'll try a simpler cell.", "Let me execute it once more.", "Perhaps a smaller cell works.", "Let me insert another cell."},
	}
	for k := range p.pickInt(5, 5, 6, 7, 8, 9, 12) {
		code := codes[0]
		if k > 0 {
			code = p.pick(codes...)
		}
		if k > 1 && p.IntN(4) == 0 {
			entries = append(entries, call("list_cells", object("notebook", j.path), j.result(fmt.Sprintf("%d cells\n%d\tcode\t-\t%s", cell, cell-1, strings.Split(codes[0], "\n")[0]))).after(thought{"", p.pick("Was the cell added?", "Let me look at the cells.")}))
		}
		entries = append(entries, failed("insert_execute_code_cell", object("cell_index", cell, "cell_source", code), reason).after(w.of(p, k)))
		cell++
	}
	return entries, 1
}

// writtenCellReadsEmpty writes the same cell again and again. The server confirms each write, but the cell is empty when it is read, and has no
// output when it is run.
func writtenCellReadsEmpty(p *generator) (entries []entry, _ int) {
	j := p.jupyter()
	frame, columns := j.frame()
	id, source, now := p.letters(8), fmt.Sprintf("%s.groupby('%s')['%s'].sum()", frame, p.word(), columns[0]), p.passingTime()
	w := wording{
		[]string{"Let me write the cell.", "I'll put the aggregation into the cell."},
		[]string{"The cell is empty.", "The source was not kept.", "It printed nothing.", "The write did not take.", ""},
		[]string{"Let me write it again.", "I'll set the source once more.", "Let me edit the cell again.", "I'll rewrite the cell."},
	}
	for k := range p.between(3, 5) {
		text := source
		if k > 0 && p.IntN(3) == 0 {
			text += p.pick(".reset_index()", ".sort_values()", "  # "+p.word())
		}
		entries = append(entries,
			call("edit_notebook_cell", object("cell_id", id, "source", text), object("success", true, "cellId", id, "updatedAt", now())).after(w.of(p, k)),
			call("read_notebook_cell", object("cell_id", id), object("cellId", id, "type", "code", "source", "", "outputs", []string{})).after(thought{"", p.pick("Let me read it back.", "Is it there?", "")}))
		if k > 0 && p.coin() {
			entries = append(entries, call("run_notebook_cell", object("cell_id", id), object("status", "ok", "executionTimeMs", p.between(1, 40), "outputs", []string{})).after(thought{"", p.pick("Let me run it all the same.", "I'll run it.")}))
		}
	}
	return entries, 2
}

// castUndoneByReload mends the type of a column in one cell and runs from an earlier one, which reads the file anew; the error stays.
func castUndoneByReload(p *generator) (entries []entry, _ int) {
	j := p.jupyter()
	frame, columns := j.frame()
	column, cell := columns[0], p.between(4, 12)
	value := fmt.Sprintf("%s%d,%02d", p.pick("", "€", "$"), p.between(2, 900), p.IntN(100))
	casts := p.shuffled(
		fmt.Sprintf("%s['%s'] = pd.to_numeric(%[1]s['%[2]s'], errors='coerce')", frame, column),
		fmt.Sprintf("%s['%s'] = %[1]s['%[2]s'].str.replace(',', '.').astype(float)", frame, column),
		fmt.Sprintf("%s = %[1]s.astype({'%s': 'float64'})", frame, column),
		fmt.Sprintf("%s['%s'] = %[1]s['%[2]s'].apply(lambda v: float(str(v).strip('€$').replace(',', '.')))", frame, column),
		fmt.Sprintf("%s.loc[:, '%s'] = %[1]s['%[2]s'].map(parse_number)", frame, column))
	fault := fmt.Sprintf("TypeError                                 Traceback (most recent call last)\nCell In[%%d], line %d\n----> %[1]d total = %s['%s'].sum() / len(%[2]s)\nTypeError: unsupported operand type(s) for /: 'str' and 'int'  (first value: '%[4]s')", p.between(2, 9), frame, column, value)
	before := frame + ".dtypes"
	for k := range p.pickInt(3, 4, 4, 5, 6) {
		after := casts[k%len(casts)]
		t := thought{p.pick("The column is still text.", "The cast had no effect.", "The same TypeError.", ""), p.pick("Let me cast it in another way.", "I'll change the conversion.", "Let me mend the type of the column.")}
		if k == 0 {
			t = thought{"", "The column is text. Let me cast it."}
		}
		entries = append(entries, j.write(cell, before, after).after(t))
		if k > 1 && p.IntN(3) == 0 {
			entries = append(entries, j.run(cell+3, column+"    object\ndtype: object").after(thought{"", "Let me look at the types."}))
		}
		j.count++
		entries = append(entries, call("run_all_cells", object("notebook", j.path), j.result(fmt.Sprintf(fault, j.count))).after(p.runAgain()))
		before = after
	}
	return entries, 3
}

// finishedAnalysisCheckedAndRestated has its answer, runs the cell of the result once more, and says the answer again.
func finishedAnalysisCheckedAndRestated(p *generator) (entries []entry, _ int) {
	j := p.jupyter()
	frame, columns := j.frame()
	group, column, cell := p.word(), columns[0], p.between(8, 30)
	value := fmt.Sprintf("%d.%02d", p.between(12, 900), p.IntN(100))
	output := fmt.Sprintf("%s\n%s    %s\n%s    %d.%02d\nName: %s, dtype: float64", group, p.word(), value, p.word(), p.between(2, 11), p.IntN(100), column)
	answers := []string{
		"The analysis is complete. The mean %s is highest at %s. Let me verify it once more.",
		"In summary, the highest mean %s is %s. I'll run the final cell to confirm the result.",
		"The result is confirmed: the mean %s is %s at most. Let me make sure that the notebook shows it.",
		"All steps are done, and the top mean %s stands at %s. One last check of the output.",
		"To conclude, the largest mean %s amounts to %s. I'll verify the final numbers.",
		"The task is finished: mean %s of %s. Let me run the summary cell again to be safe.",
	}
	source := fmt.Sprintf("%s.groupby('%s')['%s'].mean().nlargest(2)", frame, group, column)
	entries = append(entries, j.write(cell, "", source).after(thought{"", "Now the cell of the result."}), j.run(cell, output).after(p.runAgain()))
	for k := range p.pickInt(3, 3, 4, 4, 5, 6) {
		entries = append(entries, say(fmt.Sprintf(answers[(k*5+len(value))%len(answers)], column, value)))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("read_cell", object("cell_index", cell), j.result("=====Cell "+fmt.Sprint(cell)+" | type: code=====\n"+source+"\n"+output)))
			continue
		}
		entries = append(entries, j.run(cell, output))
	}
	return entries, 3
}
