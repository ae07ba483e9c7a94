package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents with a database.

func databaseLookalikes() []kind {
	return []kind{
		{name: "row_counts_reconciled", build: rowCountsReconciled},
		{name: "import_gets_to_later_line", build: importGetsToLaterLine},
		{name: "query_grows_by_steps", build: queryGrowsBySteps},
		{name: "backfill_watched_to_its_end", build: backfillWatchedToItsEnd},
	}
}

// rowCountsReconciled counts the rows of each table in two schemas, by one query for each table.
func rowCountsReconciled(p *generator) (entries []entry, _ int) {
	d, done := p.database(), ""
	old, moved := p.pick("legacy", "public", "mysql_old"), p.pick("core", "lake", "v2")
	for _, table := range p.shuffled("orders", "users", "invoices", "payments", "products", "reviews", "sessions", "carts", "coupons",
		"refunds")[:p.between(6, 10)] {
		count := p.between(300, 9_000_000)
		other := count - p.pickInt(0, 0, 0, p.between(1, 40))
		query := fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %s.%s) AS old, (SELECT COUNT(*) FROM %s.%s) AS new", old, table, moved, table)
		finding := "`" + table + "`"
		entries = append(entries, d.rows(query, []string{"old", "new"}, []string{fmt.Sprint(count), fmt.Sprint(other)}).after(p.nextItem(done,
			finding)))
		done = finding
	}
	return entries, 0
}

// importGetsToLaterLine loads a file; at each error the agent mends the line, and the next load gets further.
func importGetsToLaterLine(p *generator) (entries []entry, _ int) {
	s, h := p.subject(), p.harness()
	file, line := "data/"+s.table+".csv", p.between(20, 400)
	load := "psql -c \"\\copy " + s.table + " FROM '" + file + "' CSV HEADER\""
	w := wording{
		first: []string{"Let me load the file.", "I import the file."},
		seen:  []string{"The load gets further now.", "The earlier line is fine; another one fails.", "A later line has another problem."},
		next:  []string{"Let me mend this line.", "Let me correct that value.", "This line, then.", "I'll fix it and load again."},
	}
	n := p.between(5, 8)
	for k := range n {
		bad, column, why := p.badValue(s)
		output := fmt.Sprintf("ERROR:  %s\nCONTEXT:  COPY %s, line %d, column %s: \"%s\"", why, s.table, line, column, bad)
		entries = append(
			entries, h.shell(load, output, 1).after(w.of(p, k)),
			h.shell(fmt.Sprintf("sed -i '%ds/%s/%s/' %s && sed -n '%dp' %s", line, bad, p.pick("0", "1", "12"), file, line, file),
				fmt.Sprintf("%d,%s,%s", line, p.word(), p.word()), 0),
		)
		line += p.between(30, 4000)
	}
	return append(entries, h.shell(load, fmt.Sprintf("COPY %d", line), 0)), 0
}

// badValue returns a value that a column does not take, and the database's words for that.
func (p *generator) badValue(s subject) (value, column, why string) {
	switch p.IntN(4) {
	case 0:
		value = fmt.Sprintf("%d,%02d", p.between(1, 900), p.IntN(100))
		return value, s.amount, "invalid input syntax for type numeric: \"" + value + "\""
	case 1:
		value = fmt.Sprintf("%d.%d.2025", p.between(13, 31), p.between(1, 12))
		return value, s.day, "date/time field value out of range: \"" + value + "\""
	case 2:
		value = p.pick("n-a", "none", "unknown") + fmt.Sprint(p.IntN(100))
		return value, s.key, "invalid input syntax for type integer: \"" + value + "\""
	}
	value = strings.Repeat(p.word(), 5)
	return value, s.kind, "value too long for type character varying(20)"
}

// queryGrowsBySteps builds a report by one more expression at a time, and looks at the rows of each.
func queryGrowsBySteps(p *generator) (entries []entry, _ int) {
	d, s := p.database(), p.subject()
	parts := p.shuffled(
		"base AS (SELECT * FROM "+s.table+" WHERE "+s.amount+" > 0)", "daily AS (SELECT "+s.day+"::date AS d, SUM("+s.amount+") AS x FROM "+
			""+s.table+" GROUP BY 1)", "per_"+s.kind+" AS (SELECT "+s.kind+", AVG("+s.amount+") AS x FROM "+s.table+" GROUP BY 1)",
		"top AS (SELECT "+s.key+", SUM("+s.amount+") AS x FROM "+s.table+" GROUP BY 1 ORDER BY 2 DESC LIMIT 100)", "first_seen AS (SELECT "+
			""+s.key+", MIN("+s.day+") AS x FROM "+s.table+" GROUP BY 1)",
		"weekly AS (SELECT DATE_TRUNC('week', "+s.day+") AS w, COUNT(*) AS x FROM "+s.table+" GROUP BY 1)", "outliers AS (SELECT * FROM "+
			""+s.table+" WHERE "+s.amount+" > 1000)", "repeat_"+s.key+" AS (SELECT "+s.key+", COUNT(*) AS x FROM "+s.table+" GROUP BY 1 HAVING "+
			"COUNT(*) > 1)",
	)[:p.between(5, 8)]
	w := wording{
		first: []string{"I build the report step by step.", "Let me start with the first part."},
		seen:  []string{"These rows look right.", "Good, this step is as expected.", "The numbers are plausible.", "That part works."},
		next:  []string{"Now the next part.", "Let me add the next expression.", "Next step of the report.", "Let me extend the query."},
	}
	for k := range parts {
		name, _, _ := strings.Cut(parts[k], " ")
		rows := make([][]string, p.between(2, 4))
		for n := range rows {
			rows[n] = []string{p.word(), fmt.Sprint(p.between(10, 99_999))}
		}
		query := "WITH " + strings.Join(parts[:k+1], ",\n     ") + "\nSELECT * FROM " + name + " LIMIT 5"
		entries = append(entries, d.rows(query, []string{name, "x"}, rows...).after(w.of(p, k)))
	}
	return entries, 0
}

// backfillWatchedToItsEnd asks how far a job is; it has written more rows each time.
func backfillWatchedToItsEnd(p *generator) (entries []entry, _ int) {
	s := p.subject()
	total, id := p.between(400, 9000)*1000, p.uuid()[:8]
	tool, written := p.pick("get_job", "job_status", "dag_run_status"), 0
	w := wording{
		first: []string{"The backfill is running. Let me see how far it is.", "Let me watch the job."},
		seen:  []string{"It moves on.", "More rows are written.", "It gets on as expected.", "No errors so far."},
		next:  []string{"Let me check again in a few minutes.", "I'll wait for the next part.", "Let me look again later.", "Waiting."},
	}
	for n := 0; written < total; n++ {
		written = min(total, written+total*p.between(9, 19)/100)
		state := "running"
		if written == total {
			state = "succeeded"
		}
		entries = append(entries, call("sleep", object("seconds", 60*p.between(1, 5)), quoted("ok")).after(w.of(p, n)),
			call(tool, object("job_id", id), object("job_id", id, "table", s.table, "state", state, "rows_written", written, "rows_total", total,
				"partition", fmt.Sprintf("2026-%02d", 1+written*11/total), "checked_at", p.clock())))
	}
	return entries, 0
}
