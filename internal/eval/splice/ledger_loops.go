package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that keep books and reports with SQL, notebooks, sheets and dashboards.

func ledgerLoops() []kind {
	return []kind{
		{name: "transaction_stays_aborted", build: transactionStaysAborted},
		{name: "dates_stay_unparsed", build: datesStayUnparsed},
		{name: "file_in_other_sandbox", build: fileInOtherSandbox},
		{name: "tile_refreshed_without_change", build: tileRefreshedWithoutChange},
	}
}

// session is a connection to a database that stays open between statements. A stretch has one way to show its answers.
type session struct {
	*generator
	form int
}

func (p *generator) session() session { return session{p, p.IntN(3)} }

// done returns a statement and the command tag that it ended with.
func (s session) done(statement, tag string) entry {
	switch s.form {
	case 0:
		return call("execute_sql", object("query", statement), quoted(tag))
	case 1:
		return call("mcp__postgres__execute", object("sql", statement), content(fmt.Sprintf("%s\nTime: %d.%03d ms", tag, s.between(0, 90), s.IntN(1000))))
	}
	return call("run_statement", object("connection", "books", "statement", statement), object("status", "ok", "tag", tag, "elapsed_ms", s.between(1, 400)))
}

// refused returns a statement that the database refuses.
func (s session) refused(statement, reason string) entry {
	switch s.form {
	case 0:
		return failed("execute_sql", object("query", statement), "ERROR:  "+reason)
	case 1:
		return call("mcp__postgres__execute", object("sql", statement), content("Error: "+reason))
	}
	return call("run_statement", object("connection", "books", "statement", statement), object("status", "error", "message", reason, "elapsed_ms", s.between(1, 40)))
}

// transactionStaysAborted sends other queries after one has failed; the transaction takes none until it is rolled back.
func transactionStaysAborted(p *generator) (entries []entry, _ int) {
	s, t := p.session(), p.subject()
	first := [][2]string{
		{"SELECT " + t.kind + ", SUM(" + t.amount + "_net) FROM " + t.table + " GROUP BY 1", "column \"" + t.amount + "_net\" does not exist"},
		{"SELECT " + t.kind + ", SUM(" + t.amount + ") / COUNT(" + t.key + ") FROM " + t.table + " GROUP BY 1", "division by zero"},
		{"SELECT SUM(" + t.amount + ") FROM " + t.table + "_archive", "relation \"" + t.table + "_archive\" does not exist"},
		{"SELECT SUM(" + t.amount + ") FROM " + t.table + " WHERE " + t.day + " <= '2026-02-30'", "date/time field value out of range: \"2026-02-30\""},
	}[p.IntN(4)]
	aborted := "current transaction is aborted, commands ignored until end of transaction block"
	w := wording{
		[]string{"Let me compute the totals of " + t.table + ".", "I'll start with the sum by " + t.kind + "."},
		[]string{"The query failed.", "There is a problem with the query.", "That did not work either.", "Hmm, an error again.", "The database refuses this one as well.", ""},
		[]string{"Let me try a simpler query.", "Let me check the columns of " + t.table + ".", "I'll look at the table first.", "Let me query it in another way.", "Let me look at a few rows.", "Let me see which tables there are."},
	}
	months := []string{"2026-01", "2026-02", "2026-03", "2025-12", "2025-11"}
	query := func() string {
		day, n := p.pick(months...)+"-01", p.pickInt(1, 5, 10, 20, 100)
		return []string{
			"SELECT " + t.kind + ", SUM(" + t.amount + ") FROM " + t.table + " GROUP BY " + t.kind,
			fmt.Sprintf("SELECT * FROM %s LIMIT %d", t.table, n),
			"SELECT COUNT(*) FROM " + t.table,
			"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '" + t.table + "'",
			"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
			"SELECT SUM(" + t.amount + ") AS total FROM " + t.table + " WHERE " + t.day + " >= '" + day + "'",
			fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s >= '%s' ORDER BY %s DESC LIMIT %d", t.key, t.amount, t.table, t.day, day, t.amount, n),
			"SELECT MIN(" + t.day + "), MAX(" + t.day + ") FROM " + t.table,
			"SELECT " + t.key + ", COUNT(*) AS n FROM " + t.table + " GROUP BY 1 HAVING COUNT(*) > 1",
			"SELECT 1", "SELECT version()",
		}[p.IntN(11)]
	}
	rounds, works := p.between(7, 12), p.IntN(3) == 0 // whether other work is done in between
	if p.coin() {
		rounds = p.between(15, 22)
	}
	for k := range rounds {
		sent, reason := query(), aborted
		if k == 0 {
			sent, reason = first[0], first[1]
		}
		entries = append(entries, s.refused(sent, reason).after(w.of(p, k)))
		if works && k > 1 && p.IntN(4) == 0 {
			entries = append(entries, p.call().after(thought{"", p.pick("Let me look at something else meanwhile.", "Another part of the task in the meantime.", "")}))
		}
	}
	return entries, 2
}

// interpreter returns a tool that runs Python.
func (p *generator) interpreter() func(code, output string) entry {
	form, cell := p.IntN(4), p.between(2, 40)
	return func(code, output string) entry {
		switch form {
		case 0:
			return call("python", object("code", code), quoted(output))
		case 1:
			return call("mcp__jupyter__execute_code", object("kernel_id", "main", "code", code), content(output))
		case 2:
			cell++
			return call("execute_cell", object("source", code), object("execution_count", cell, "output_type", "stream", "text", output))
		}
		return call("code_interpreter", object("input", code), object("stdout", output, "stderr", "", "runtime_ms", p.between(20, 2400)))
	}
}

// datesStayUnparsed converts a column with other options; its values are no dates, and none is converted.
func datesStayUnparsed(p *generator) (entries []entry, _ int) {
	run, column, rows := p.interpreter(), p.pick("posted", "booked_on", "value_date", "period"), p.between(400, 9000)
	sample := ""
	form := p.IntN(3)
	for k := range 5 {
		sample += fmt.Sprintf("%d    %s\n", k, []string{fmt.Sprintf("FY26-P%02d", p.between(1, 12)), fmt.Sprintf("KW%02d/26", p.between(1, 52)), fmt.Sprintf("2026Q%d-%d", p.between(1, 4), p.between(1, 13))}[form])
	}
	count := [][2]string{
		{"\nprint(df['d'].isna().sum(), 'of', len(df))", fmt.Sprintf("%d of %d", rows, rows)},
		{"\nprint('parsed', df['d'].notna().sum(), 'of', len(df), 'rows')", fmt.Sprintf("parsed 0 of %d rows", rows)},
		{"\nprint(df['d'].isna().sum())\nprint(df['d'].head(3))", fmt.Sprintf("%d\n0   NaT\n1   NaT\n2   NaT\nName: d, dtype: datetime64[ns]", rows)},
	}[p.IntN(3)]
	series := "df['" + column + "']"
	codes := p.shuffled(
		"pd.to_datetime("+series+", errors='coerce')", "pd.to_datetime("+series+", dayfirst=True, errors='coerce')", "pd.to_datetime("+series+", format='%Y-%m-%d', errors='coerce')",
		"pd.to_datetime("+series+".astype(str), errors='coerce')", "pd.to_datetime("+series+".str.strip(), errors='coerce')", "pd.to_datetime("+series+", format='mixed', errors='coerce')",
		"pd.to_datetime("+series+", format='%d.%m.%Y', errors='coerce')", "pd.to_datetime("+series+", utc=True, errors='coerce')", "pd.to_datetime("+series+", format='%m/%d/%Y', errors='coerce')",
		"pd.to_datetime("+series+".str.replace(' ', ''), errors='coerce', format='ISO8601')", "pd.to_datetime("+series+".str.slice(0, 10), errors='coerce')", series+".apply(lambda v: pd.to_datetime(v, errors='coerce'))",
	)
	w := wording{
		[]string{"Let me convert the column `" + column + "` to dates.", "Next, parse the dates."},
		[]string{"All values are NaT.", "None of the rows was parsed.", "The dates were not recognised.", "Still no date was parsed.", "The conversion failed for every row.", ""},
		[]string{"Let me try another format.", "Perhaps the day comes first.", "Let me clean the strings before.", "I'll let pandas infer the format.", "Let me try to convert it differently.", "Maybe there are blanks in the values."},
	}
	entries = append(entries, run("df = pd.read_csv('"+p.word()+".csv')\nprint(df['"+column+"'].head())", sample+"Name: "+column+", dtype: object").after(thought{"", p.pick("Let me load the file.", "First I look at the data.")}))
	for k, code := range codes[:p.between(6, 11)] {
		entries = append(entries, run("df['d'] = "+code+count[0], count[1]).after(w.of(p, k)))
	}
	return entries, 2
}

// fileInOtherSandbox writes a file with the interpreter for a tool that runs on another machine and does not have it.
func fileInOtherSandbox(p *generator) (entries []entry, _ int) {
	run, s, name := p.interpreter(), p.secretary(), p.word()+"_"+p.pick("report", "reconciliation", "statement", "export")
	rows := p.between(12, 4000)
	use := []struct{ server, tool, member string }{{"gdrive", "upload_file", "local_path"}, {"gmail", "send_email_with_attachment", "attachment_path"}, {"slack", "files_upload", "file_path"}, {"excel", "open_workbook", "filepath"}}[p.IntN(4)]
	missing := p.pick("Error: ENOENT: no such file or directory, open '%s'", "File not found: %s", "Error executing tool "+use.tool+": [Errno 2] No such file or directory: '%s'")
	folders := []string{"/mnt/data/", "/tmp/", "./", "/home/user/", "/workspace/", "/tmp/outputs/", "~/", "/data/"}
	ends := p.pick(".xlsx", ".csv")
	w := wording{
		[]string{"The numbers are ready. I'll write them to a file.", "Now I save the report."},
		[]string{"The file was not found.", "The tool cannot see the file.", "Strange, the file was written.", "It says that the file does not exist.", ""},
		[]string{"Let me save it in another folder.", "I'll write it again with an absolute path.", "Let me create the file once more.", "Let me save it where the tool can find it.", "I'll generate the file again."},
	}
	for k := range p.between(5, 9) {
		path := p.pick(folders...) + p.pick(name, name, "report", name+"_final") + ends
		write := p.pick("df.to_csv", "summary.to_csv")
		if ends == ".xlsx" {
			write = p.pick("df.to_excel", "summary.to_excel")
		}
		said, shown := "'saved'", "saved "+path
		if p.coin() {
			said, shown = "len(df)", fmt.Sprint(rows)+" "+path
		}
		entries = append(entries, run(write+"('"+path+"', index=False)\nprint("+said+", '"+path+"')", shown).after(w.of(p, k)),
			s.use(use.server, use.tool, object(use.member, path, p.pick("name", "title"), capitalized(name)), fmt.Sprintf(missing, path)).after(thought{"", p.pick("Now I hand it over.", "Let me attach it.", "Next, the upload.", "")}))
		if folder := path[:strings.LastIndex(path, "/")+1]; k > 0 && p.IntN(4) == 0 {
			entries = append(entries, run("import os\nprint(os.listdir('"+folder+"'))", "['"+strings.TrimPrefix(path, folder)+"']").after(thought{"", p.pick("Is the file there?", "Let me check that the file exists.")}))
		}
	}
	return entries, 2
}

// tileRefreshedWithoutChange refreshes a dashboard and reads its tile, which comes from an extract of this morning.
func tileRefreshedWithoutChange(p *generator) (entries []entry, _ int) {
	s, id, measure := p.secretary(), p.uuid(), p.pick("Net revenue", "Open receivables", "Gross margin", "Cash balance", "Units shipped")
	value, asOf := fmt.Sprintf("%d,%03d,%03d.%02d", p.between(1, 40), p.IntN(1000), p.IntN(1000), p.IntN(100)), p.clock()[:11]+"05:00:00Z"
	b := []struct{ server, refresh, read, started string }{
		{"powerbi", "refresh_dataset", "get_tile_data", "202 Accepted. requestId: %s"},
		{"tableau", "run_extract_refresh", "query_view_data", "Job %s queued (RefreshExtract, priority 50)."},
		{"metabase", "rescan_database", "run_card", "{\"status\":\"ok\",\"task\":\"%s\"}"},
		{"looker", "clear_cache", "run_tile", "Cache cleared (trace %s)."},
	}[p.IntN(4)]
	read := func() entry {
		text := string(object("tile", measure, "value", value, "data_as_of", asOf, "elapsed_ms", p.between(20, 900)))
		return s.use(b.server, b.read, object("dashboard_id", id, "tile", measure), text)
	}
	w := wording{
		[]string{"The tile does not have today's bookings. Let me refresh the data.", "I'll refresh it first, so that the figure is current."},
		[]string{"The value is the same as before.", "It still shows the figure of this morning.", "The tile has not been updated.", "No change yet.", ""},
		[]string{"Let me refresh it again.", "I'll trigger another refresh.", "Let me refresh once more and read it.", "Perhaps the refresh did not start. Again.", "Let me force a refresh."},
	}
	for k := range p.between(6, 12) {
		args := object("dashboard_id", id)
		if k > 0 {
			args = object("dashboard_id", id, p.pick("force", "full", "notify"), p.coin())
		}
		entries = append(entries, s.use(b.server, b.refresh, args, fmt.Sprintf(b.started, p.uuid())).after(w.of(p, k)), read().after(thought{"", p.pick("Now the figure.", "Let me read the tile.", "What does it show now?", "")}))
		if k > 0 && p.IntN(3) == 0 {
			entries = append(entries, read().after(thought{"", p.pick("Let me wait a moment and read it again.", "Once more.", "")}))
		}
	}
	return entries, 2
}
