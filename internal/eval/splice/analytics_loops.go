package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that analyse data in a warehouse, a notebook or a script.

func analyticsLoops() []kind {
	return []kind{
		{name: "bytes_limit_exceeded", build: bytesLimitExceeded},
		{name: "output_stays_truncated", build: outputStaysTruncated},
		{name: "fit_never_converges", build: fitNeverConverges},
		{name: "samples_drawn_again", build: samplesDrawnAgain},
	}
}

// bytesLimitExceeded rewords a query, which reads the whole table in each form; the warehouse refuses it because of what it would cost.
func bytesLimitExceeded(p *generator) (entries []entry, _ int) {
	table, column, country := "analytics_prod.events_"+p.word(), p.word()+"_id", p.pick("DE", "BR", "JP", "CA")
	required, location := p.between(40e9, 900e9), p.pick("EU", "US")
	queries := []string{
		"SELECT * FROM `%[1]s` WHERE country = '%[3]s' LIMIT 100",
		"SELECT %[2]s, COUNT(*) AS n FROM `%[1]s` WHERE country = '%[3]s' GROUP BY %[2]s ORDER BY n DESC LIMIT 10",
		"SELECT * FROM `%[1]s` LIMIT 10",
		"WITH part AS (SELECT %[2]s, country, created_at FROM `%[1]s` WHERE country = '%[3]s' LIMIT 1000) SELECT %[2]s, COUNT(*) FROM part GROUP BY 1",
		"SELECT APPROX_COUNT_DISTINCT(%[2]s) FROM `%[1]s` WHERE country = '%[3]s'",
		"SELECT COUNT(DISTINCT %[2]s) AS n FROM `%[1]s` WHERE country = '%[3]s'",
		"SELECT %[2]s FROM (SELECT * FROM `%[1]s` WHERE country = '%[3]s') ORDER BY created_at DESC LIMIT 50",
		"SELECT %[2]s FROM `%[1]s` WHERE country = '%[3]s' AND created_at > '2026-06-01' LIMIT 20",
	}
	words := wording{
		first: []string{"Let me query the events of " + country + ".", "I'll look at the table first.", "A first look at " + table + "."},
		seen:  []string{"The query is over the limit of billed bytes.", "It would still read too much.", "That exceeds the limit as well.", "The limit is 1 GB, and the query needs far more.", "Too many bytes again."},
		next:  []string{"Let me add a smaller LIMIT.", "I'll select fewer columns.", "Let me use a subquery.", "Let me restrict the rows.", "Maybe an aggregate is cheaper.", "Let me simplify the query."},
	}
	for round := range p.between(4, 8) {
		n := p.IntN(len(queries))
		bytes := required - n*733_104_003
		reason := fmt.Sprintf("400 Query exceeded limit for bytes billed: 1000000000. %d or higher required.; reason: bytesBilledLimitExceeded, message: Query exceeded limit for bytes billed: 1000000000. %d or higher required.\n\nLocation: %s\nJob ID: %s\n", bytes, bytes, location, p.uuid())
		sql := fmt.Sprintf(queries[n], table, column, country)
		entries = append(entries, failed("mcp__bigquery__execute_sql", object("project_id", "acme-analytics", "sql", sql), reason).after(words.of(p, round)))
	}
	return entries, 1
}

// notebook returns a function that runs the cells of a notebook, which counts them.
func (p *generator) notebook() func(code, output string) entry {
	count := p.between(2, 40)
	return func(code, output string) entry {
		count++
		return call("execute_cell", object("code", code), object("status", "ok", "execution_count", count, "stdout", output, "stderr", ""))
	}
}

// outputStaysTruncated prints a table in other ways to see a row in its middle; the tool cuts each output after the first rows.
func outputStaysTruncated(p *generator) (entries []entry, _ int) {
	cell, names, rows, target := p.notebook(), p.distinct(9), p.between(900, 4000), p.between(300, 600)
	amounts := make([]int, len(names))
	for k := range amounts {
		amounts[k] = p.between(100, 99_999)
	}
	words := wording{
		first: []string{fmt.Sprintf("Let me print the table to see row %d.", target), "I'll print all rows."},
		seen:  []string{"The output was truncated before the row.", "It is cut off again.", fmt.Sprintf("I can only see the first rows, not row %d.", target), "The middle of the table isn't shown.", "Truncated at the same place."},
		next:  []string{"Let me raise the display limits.", "Let me print it in another format.", "I'll print it without pandas.", "Let me convert it to a string first.", "Let me print every row in a loop.", "I'll try another way to print it."},
	}
	for round := range p.between(5, 8) {
		code, header, format := "print(df.to_string())", "      name           amount  state\n", "%-4[1]d %-12[2]s %8[3]d.%02[4]d  open\n"
		switch p.IntN(6) {
		case 0:
			code, header, format = "print(df.to_csv(index=True))", ",name,amount,state\n", "%[1]d,%[2]s,%[3]d.%02[4]d,open\n"
		case 1:
			code, header, format = "print(df.to_markdown())", "|      | name         |      amount | state |\n|-----:|:-------------|------------:|:------|\n", "| %4[1]d | %-12[2]s | %8[3]d.%02[4]d | open |\n"
		case 2:
			code, header, format = "for row in df.itertuples():\n    print(row)", "", "Pandas(Index=%[1]d, name='%[2]s', amount=%[3]d.%02[4]d, state='open')\n"
		case 3:
			code = "pd.set_option('display.max_rows', None)\npd.set_option('display.width', None)\nprint(df)"
		case 4:
			code, header, format = "import json\nprint(json.dumps(df.to_dict('records')))", "[", "{\"name\": \"%[2]s\", \"amount\": %[3]d.%02[4]d, \"state\": \"open\"}, "
		}
		var output strings.Builder
		output.WriteString(header)
		for k, name := range names {
			fmt.Fprintf(&output, format, k, name, amounts[k]/100, amounts[k]%100)
		}
		fmt.Fprintf(&output, "\n... [output truncated: showing %d of %d characters]", output.Len(), output.Len()*rows/len(names))
		entries = append(entries, cell(code, output.String()).after(words.of(p, round)))
	}
	return entries, 1
}

// fitNeverConverges fits one model with other limits and solvers; it does not converge, since the columns have other scales.
func fitNeverConverges(p *generator) (entries []entry, _ int) {
	run, file := p.commands(), p.pick("train.py", "fit.py", "model.py")
	train, test, limit := p.between(7100, 7900), p.between(6900, 7600), 100
	words := wording{
		first: []string{"Let me train the classifier.", "I'll fit the logistic regression."},
		seen:  []string{"It didn't converge.", "There is still a ConvergenceWarning.", "The same warning, and the accuracy hasn't changed.", "Not converged within the limit.", "The score is the same as before."},
		next:  []string{"Let me raise max_iter.", "More iterations should do it.", "I'll try another solver.", "Let me loosen the tolerance.", "Let me increase the limit again.", "Perhaps a smaller C helps."},
	}
	for round := range p.between(4, 7) {
		solver := p.pick("lbfgs", "lbfgs", "saga", "sag", "newton-cholesky")
		edit := p.pick(fmt.Sprintf("s/max_iter=[0-9]*/max_iter=%d/", limit), fmt.Sprintf("s/solver='[a-z-]*', max_iter=[0-9]*/solver='%s', max_iter=%d/", solver, limit), fmt.Sprintf("s/tol=[0-9e.-]*/tol=1e-%d/", p.between(3, 5)), fmt.Sprintf("s/max_iter=[0-9]*/max_iter=%d/; s/C=[0-9.]*/C=%d.%d/", limit, p.IntN(3), p.between(1, 9)))
		warning := "/usr/local/lib/python3.11/site-packages/sklearn/linear_model/_logistic.py:469: ConvergenceWarning: lbfgs failed to converge (status=1):\nSTOP: TOTAL NO. OF ITERATIONS REACHED LIMIT.\n\nIncrease the number of iterations (max_iter) or scale the data as shown in:\n    https://scikit-learn.org/stable/modules/preprocessing.html\n  n_iter_i = _check_optimize_result("
		if strings.Contains(edit, "solver='sag") {
			warning = "/usr/local/lib/python3.11/site-packages/sklearn/linear_model/_sag.py:349: ConvergenceWarning: The max_iter was reached which means the coef_ did not converge\n  warnings.warn("
		}
		output := fmt.Sprintf("%s\nn_iter_: [%d]\nrows: 48211 train, 12053 test\naccuracy train 0.%d test 0.%d\nfitted in %d.%ds", warning, limit, train+p.between(-3, 3), test+p.between(-3, 3), p.between(1, 90), p.IntN(10))
		command := "sed -i \"" + edit + "\" " + file + " && python " + file
		if round == 0 {
			command = "python " + file
		}
		entries = append(entries, run(command, output, 0).after(words.of(p, round)))
		limit *= p.pickInt(1, 2, 5)
	}
	return entries, 1
}

// samplesDrawnAgain prints random rows of a small class again and again; after two draws, all of them were seen.
func samplesDrawnAgain(p *generator) (entries []entry, _ int) {
	cell, label := p.notebook(), p.pick("complaint", "refund", "churned")
	rows := p.shuffled("arrived broken, box was wet", "wrong colour, again", "second time the zip fails", "too loud for the office", "never got an answer", "paid twice for one order", "smaller than on the photo", "delivered to a neighbour", "battery lasts two hours", "manual only in Chinese", "smells of glue")[:9]
	for k := range rows {
		rows[k] = fmt.Sprintf("%-6d %-34s %-10s %6d", p.between(100, 60_000), rows[k], label, p.between(1, 900))
	}
	words := wording{
		first: []string{"Let me look at a few rows of the class `" + label + "`.", "I'll sample some examples first."},
		seen:  []string{"These look as before.", "Some of these I have seen.", "Interesting.", "I'd like to see more examples.", ""},
		next:  []string{"Let me draw a few more.", "Let me look at some more examples.", "Another sample, to get a better feeling.", "Let me see another handful of rows.", "I'll sample again."},
	}
	for round := range p.between(6, 9) {
		chosen := p.Perm(len(rows))[:p.between(4, 5)]
		switch round {
		case 0:
			chosen = []int{3, 0, 4, 1, 2}
		case 1:
			chosen = []int{7, 5, 2, 8, 6}
		}
		code := fmt.Sprintf(p.pick("df[df.label == '%s'].sample(%d)", "df[df['label'] == '%s'].sample(n=%d)", "df.query(\"label == '%s'\").sample(%d, random_state=None)", "print(df[df.label.eq('%s')].sample(%d).to_string())"), label, len(chosen))
		lines := []string{"       text                               label        days"}
		for _, n := range chosen {
			lines = append(lines, rows[n])
		}
		entries = append(entries, cell(code, strings.Join(lines, "\n")).after(words.of(p, round)))
	}
	return entries, 2
}
