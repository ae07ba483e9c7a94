package splice

import (
	"fmt"
	"strings"
	"time"
)

// The lookalikes of this file are the honest work of agents that keep books and reports.

func ledgerLookalikes() []kind {
	return []kind{
		{name: "statements_guarded_by_savepoints", build: statementsGuardedBySavepoints},
		{name: "date_formats_added_until_parsed", build: dateFormatsAddedUntilParsed},
		{name: "notebook_run_cell_by_cell", build: notebookRunCellByCell},
		{name: "blocks_written_and_read_back", build: blocksWrittenAndReadBack},
	}
}

// statementsGuardedBySavepoints moves account after account within one transaction; some statements fail, are rolled back and corrected.
func statementsGuardedBySavepoints(p *generator) (entries []entry, _ int) {
	s, t := p.session(), p.subject()
	code, often := p.pick("account", "cost_center", "ledger_code"), p.pickInt(2, 3, 4)
	entries = append(entries, s.done("BEGIN", "BEGIN").after(thought{"", p.pick("I'll do it all in one transaction.", "First, a transaction.")}))
	for k := range p.between(6, 11) {
		old, next := p.between(1000, 4999), p.between(5000, 9999)
		set := fmt.Sprintf("UPDATE %s SET %s = %d WHERE %s = %d", t.table, code, next, code, old)
		entries = append(entries, s.done(fmt.Sprintf("SAVEPOINT before_%d", old), "SAVEPOINT").after(thought{"", p.pick(fmt.Sprintf("Next is %s %d.", code, old), fmt.Sprintf("Now %d goes to %d.", old, next), "")}))
		if k%often == often-1 {
			entries = append(entries,
				s.refused(set, fmt.Sprintf("insert or update on table \"%[1]s\" violates foreign key constraint \"%[1]s_%[2]s_fkey\"\nDETAIL:  Key (%[2]s)=(%[3]d) is not present in table \"%[2]ss\".", t.table, code, next)),
				s.done(fmt.Sprintf("ROLLBACK TO SAVEPOINT before_%d", old), "ROLLBACK").after(thought{fmt.Sprintf("%d does not exist yet.", next), "Let me go back to the savepoint."}),
				s.done(fmt.Sprintf("INSERT INTO %ss (%s, title) VALUES (%d, '%s')", code, code, next, capitalized(p.phrase(1, 2))), "INSERT 0 1").after(thought{"", "I'll add it first."}))
		}
		entries = append(entries, s.done(set, fmt.Sprintf("UPDATE %d", p.between(1, 400))))
	}
	return append(entries, s.done("COMMIT", "COMMIT").after(thought{"All are moved.", "Commit."})), 0
}

// dateFormatsAddedUntilParsed adds format after format for the dates of a column; fewer rows are left each time.
func dateFormatsAddedUntilParsed(p *generator) (entries []entry, _ int) {
	run, column, left := p.interpreter(), p.pick("posted", "booked_on", "value_date"), p.between(900, 9000)
	rows := left
	formats := [][2]string{{"%d.%m.%Y", "02.01.2006"}, {"%Y/%m/%d", "2006/01/02"}, {"%b %d, %Y", "Jan 02, 2006"}, {"%d-%b-%y", "02-Jan-06"}, {"%Y%m%d", "20060102"}, {"%m/%d/%y", "01/02/06"}, {"%d %B %Y", "02 January 2006"}, {"%d.%m.%y", "02.01.06"}}
	p.Shuffle(len(formats), func(i, j int) { formats[i], formats[j] = formats[j], formats[i] })
	formats = formats[:p.between(5, 8)]
	show := "print('NaT:', df['d'].isna().sum(), 'of', len(df))"
	code, short := "df['d'] = pd.NaT\n", p.coin()
	for k, format := range formats {
		code += "df['d'] = df['d'].fillna(pd.to_datetime(df['" + column + "'], format='" + format[0] + "', errors='coerce'))\n"
		if left = left * p.between(10, 60) / 100; k == len(formats)-1 {
			left = 0
		}
		output := fmt.Sprintf("NaT: %d of %d", left, rows)
		if left > 1 && !short {
			for range 2 {
				day := time.Date(2026, time.Month(p.between(1, 12)), p.between(13, 28), 0, 0, 0, 0, time.UTC)
				output += fmt.Sprintf("\n%d    %s", p.IntN(rows), day.Format(formats[k+1][1]))
			}
		}
		send := code
		if !short {
			show = "print('NaT:', df['d'].isna().sum(), 'of', len(df))\nprint(df.loc[df['d'].isna(), '" + column + "'].head(2))"
		}
		if short && k > 0 {
			send = code[strings.LastIndex(strings.TrimSuffix(code, "\n"), "\n")+1:]
		}
		t := thought{p.pick("Fewer are left.", "That format took a good part.", "Some rows use yet another format.", ""), p.pick("Let me add the next format.", "Next, `"+format[0]+"`.", "Now those with `"+format[0]+"`.")}
		if k == 0 {
			t = thought{"", "The column has several formats. I'll add one after the other."}
		}
		entries = append(entries, run(send+show, output).after(t))
	}
	return entries, 0
}

// notebookRunCellByCell runs the cells of a notebook in their order; many print nothing.
func notebookRunCellByCell(p *generator) (entries []entry, _ int) {
	s, file, first := p.secretary(), p.word()+"/"+p.word()+".ipynb", p.between(0, 3)
	silent, tool := p.pick("[]", "(no output)", "Cell executed successfully. No output."), p.pick("execute_cell", "run_cell", "notebook_execute_cell")
	for k := range p.between(9, 20) {
		text := silent
		switch p.IntN(6) {
		case 0:
			text = fmt.Sprintf("(%d, %d)", p.between(100, 90_000), p.between(3, 40))
		case 1:
			text = fmt.Sprintf("%s    %d.%02d\n%s    %d.%02d\n%s    %d.%02d\ndtype: float64", p.word(), p.IntN(900), p.IntN(100), p.word(), p.IntN(900), p.IntN(100), p.word(), p.IntN(900), p.IntN(100))
		case 2:
			text = "<Figure size 640x480 with 1 Axes>"
		case 3:
			text = ""
			for n := range p.between(8, 50) {
				text += fmt.Sprintf("%d  %s  %d.%02d  %s\n", n, p.word(), p.IntN(9000), p.IntN(100), p.clock()[:10])
			}
		}
		t := thought{p.pick("", "That ran.", "No errors."), p.pick("Next cell.", "On with the next cell.", fmt.Sprintf("Cell %d.", first+k), "")}
		if k == 0 {
			t = thought{"", p.pick("I'll run the notebook cell by cell.", "Let me execute the cells in order.")}
		}
		entries = append(entries, s.use("jupyter", tool, object("path", file, "cell_index", first+k, "timeout", 60), text).after(t))
	}
	return entries, 0
}

// blocksWrittenAndReadBack writes a long table to a sheet block by block; now and then it reads the last rows back.
func blocksWrittenAndReadBack(p *generator) (entries []entry, _ int) {
	s, sheet, id := p.secretary(), capitalized(p.word()), fmt.Sprintf("1%016x%012x", p.Uint64(), p.Uint64N(1<<48))
	size, row, back := p.between(2, 6), 2, p.between(2, 4)
	accounts, number := p.distinctWords(6), p.between(100, 900)
	for k := range p.between(7, 13) {
		values := make([][]string, size)
		for n := range values {
			number += p.between(1, 7)
			values[n] = []string{fmt.Sprint(number), accounts[p.IntN(6)], fmt.Sprintf("%d.%02d", p.between(5, 4000), p.IntN(100)), p.pick("EUR", "EUR", "USD")}
		}
		area := fmt.Sprintf("%s!A%d:D%d", sheet, row, row+size-1)
		t := thought{p.pick("", "That block is written.", "Written."), p.pick("Next block.", "The next rows.", fmt.Sprintf("Rows from %d on.", row), "")}
		if k == 0 {
			t = thought{"", p.pick("The table is long, so I write it in blocks.", "I'll write it block by block.")}
		}
		entries = append(entries, s.use("sheets", "update_values", object("spreadsheetId", id, "range", area, "valueInputOption", "USER_ENTERED", "values", values), fmt.Sprintf("Updated %d cells in %s.", 4*size, area)).after(t))
		if k%back == back-1 {
			entries = append(entries, s.use("sheets", "get_values", object("spreadsheetId", id, "range", area), strings.Join(values[size-1], "\t")).after(thought{"", p.pick("Let me check the last row.", "")}))
		}
		row += size
	}
	return entries, 0
}
