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
		bad, mended, column, why := p.badValue(s)
		output := fmt.Sprintf("ERROR:  %s\nCONTEXT:  COPY %s, line %d, column %s: \"%s\"", why, s.table, line, column, bad)
		mend := fmt.Sprintf("sed -i '%ds/%s/%s/' %s && sed -n '%dp' %s", line, bad, mended, file, line, file)
		entries = append(
			entries, h.shell(load, output, 1).after(w.of(p, k)),
			h.shell(mend, fmt.Sprintf("%d,%s,%s,%s", p.between(1000, 90_000), p.word(), mended, p.pick("open", "closed", "new")), 0),
		)
		line += p.between(30, 4000)
	}
	return append(entries, h.shell(load, fmt.Sprintf("COPY %d", line+p.IntN(3000)), 0)), 0
}

// badValue returns a value that a column does not take, the value that it takes, and the database's words for that.
func (p *generator) badValue(s subject) (value, mended, column, why string) {
	whole, cents := p.between(1, 900), p.IntN(100)
	switch p.IntN(4) {
	case 0:
		value = fmt.Sprintf("~%d.%02d", whole, cents)
		return value, fmt.Sprintf("%d.%02d", whole, cents), s.amount, "invalid input syntax for type numeric: \"" + value + "\""
	case 1:
		day, month := p.between(13, 28), p.between(1, 12)
		value = fmt.Sprintf("%d.%d.2025", day, month)
		return value, fmt.Sprintf("2025-%02d-%02d", month, day), s.day, "date/time field value out of range: \"" + value + "\""
	case 2:
		value = fmt.Sprintf("no %d", whole)
		return value, fmt.Sprint(whole), s.key, "invalid input syntax for type integer: \"" + value + "\""
	}
	value = strings.Join(p.words(4), " ")
	return value, strings.TrimSpace(value[:min(20, len(value))]), s.kind, "value too long for type character varying(20)"
}

// queryGrowsBySteps builds a report by one more expression at a time, and looks at the rows of each.
func queryGrowsBySteps(p *generator) (entries []entry, _ int) {
	d, s := p.database(), p.subject()
	day := func() string { return fmt.Sprintf("2026-%02d-%02d", p.between(1, 12), p.between(1, 28)) }
	number := func() string { return fmt.Sprint(p.between(10, 99_999)) }
	type part struct {
		name, column, expression, value string
		key, figure                     func() string
	}
	parts := []part{
		{"daily", "d", s.day + "::date AS d, SUM(" + s.amount + ")", "total", day, number},
		{"per_" + s.kind, s.kind, s.kind + ", AVG(" +
			s.amount + ")", "mean", p.word, number},
		{"top", s.key, s.key + ", MAX(" + s.amount + ")", "best", number, number},
		{
			"first_seen", s.key, s.key + ", MIN(" + s.day + ")",
			"since", number, day,
		},
		{"weekly", "w", "DATE_TRUNC('week', " + s.day + ") AS w, COUNT(*)", "n", day, number},
		{"last_seen", s.key, s.key + ", MAX(" + s.day +
			")", "until", number, day},
		{"kinds", s.kind, s.kind + ", COUNT(DISTINCT " + s.key + ")", "n", p.word, number},
		{
			"repeats", s.key, s.key + ", COUNT(*)", "times",
			number, number,
		},
	}
	p.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	w := wording{
		first: []string{"I build the report step by step.", "Let me start with the first part."},
		seen:  []string{"These rows look right.", "Good, this step is as expected.", "The numbers are plausible.", "That part works."},
		next:  []string{"Now the next part.", "Let me add the next expression.", "Next step of the report.", "Let me extend the query."},
	}
	query := "WITH "
	for k, part := range parts[:p.between(5, 8)] {
		if k > 0 {
			query += ",\n     "
		}
		query += fmt.Sprintf("%s AS (SELECT %s AS %s FROM %s GROUP BY 1)", part.name, part.expression, part.value, s.table)
		rows := make([][]string, p.between(2, 4))
		for n := range rows {
			rows[n] = []string{part.key(), part.figure()}
		}
		entries = append(entries, d.rows(query+"\nSELECT * FROM "+part.name+" LIMIT 5", []string{part.column, part.value},
			rows...).after(w.of(p, k)))
	}
	return entries, 0
}

// backfillWatchedToItsEnd asks how far a job is; it has written more rows each time.
func backfillWatchedToItsEnd(p *generator) (entries []entry, _ int) {
	s := p.subject()
	minutes := p.between(30, 900)
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
				"partition", fmt.Sprintf("2026-%02d", 1+written*11/total), "checked_at", p.minutesLater(&minutes))))
	}
	return entries, 0
}
