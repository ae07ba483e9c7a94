package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that answer questions with SQL.

func databaseLoops() []kind {
	return []kind{
		{name: "group_by_rejected_again", build: groupByRejectedAgain},
		{name: "no_rows_in_any_spelling", build: noRowsInAnySpelling},
		{name: "schema_and_checker_in_circle", build: schemaAndCheckerInCircle},
		{name: "statement_cancelled_by_timeout", build: statementCancelledByTimeout},
	}
}

// database is where an agent sends its queries. The form determines its tool and how it answers.
type database struct {
	*generator
	form int
}

func (p *generator) database() database { return database{p, p.IntN(4)} }

// rows returns a query and the rows that it brought, with the names of their columns.
func (d database) rows(query string, columns []string, rows ...[]string) entry {
	took, rows := d.between(3, 900), append([][]string{}, rows...)
	switch d.form {
	case 0:
		text := " " + strings.Join(columns, " | ") + "\n" + strings.Repeat("-", 8*len(columns)) + "\n"
		for _, row := range rows {
			text += " " + strings.Join(row, " | ") + "\n"
		}
		return call("execute_sql", object("query", query), quoted(fmt.Sprintf("%s(%d rows)\n\nTime: %d.%03d ms", text, len(rows), took,
			d.IntN(1000))))
	case 1:
		text := "["
		for k, row := range rows {
			if k > 0 {
				text += ", "
			}
			text += "('" + strings.Join(row, "', '") + "')"
		}
		return call("sql_db_query", object("query", query), quoted(text+"]"))
	case 2:
		return call("run_query", object("sql", query, "project", "analytics-prod"), object("columns", columns, "rows", rows, "row_count",
			len(rows), "bytes_processed", 1024*d.between(900, 90_000), "job_id", "job_"+d.uuid()[:8]))
	}
	return call("mcp__warehouse__query", object("sql", query), content(string(object("columns", columns, "rows", rows, "elapsed_ms", took))))
}

// refused returns a query that the database refuses, with the class of the error.
func (d database) refused(query, class, reason string) entry {
	switch d.form {
	case 0:
		return failed("execute_sql", object("query", query), "ERROR:  "+reason)
	case 1:
		return call("sql_db_query", object("query", query), quoted("Error: (psycopg2.errors."+class+") "+reason+
			"\n\n[SQL: "+query+"]\n(Background on this error at: https://sqlalche.me/e/20/f405)"))
	case 2:
		reason = fmt.Sprintf("400 %s; job ID: job_%s", reason, d.uuid()[:8])
		return failed("run_query", object("sql", query, "project", "analytics-prod"), reason)
	}
	return call("mcp__warehouse__query", object("sql", query), content("Query "+d.uuid()[:8]+" failed: "+reason))
}

// subject is what tables of a database are about.
type subject struct{ table, key, kind, value, amount, day string }

func (p *generator) subject() subject {
	return []subject{
		{"orders", "customer_id", "region", "Nordics", "total", "ordered_at"},
		{
			"trips", "driver_id", "city", "São Paulo", "fare",
			"started_at",
		},
		{"tickets", "agent_id", "priority", "High", "minutes", "opened_on"},
		{"invoices", "vendor_id", "currency", "Swiss franc", "net", "issued_on"},
		{
			"visits", "patient_id", "ward", "Intensive Care", "hours",
			"admitted_at",
		},
		{"plays", "track_id", "genre", "Hip-Hop", "seconds", "played_at"},
	}[p.IntN(6)]
}

var asksDatabase = wording{
	first: []string{"Let me query this.", "I write the query for it."},
	seen: []string{
		"The query failed.", "That is the same error.", "The database does not accept it.",
		"There is still an error in the query.", "That did not work either.",
	},
	next: []string{
		"Let me rewrite it.", "Let me simplify the query.", "I'll correct the query.", "Let me put it in another way.",
		"Let me try it with a subquery.",
	},
}

// groupByRejectedAgain rewrites a query around the column that is neither grouped nor aggregated.
func groupByRejectedAgain(p *generator) (entries []entry, _ int) {
	d, s := p.database(), p.subject()
	queries := p.shuffled(
		"SELECT %[2]s, %[4]s, SUM(%[3]s) FROM %[1]s GROUP BY %[2]s",
		"SELECT %[2]s, %[4]s, SUM(%[3]s) AS sum FROM %[1]s GROUP BY %[2]s ORDER BY sum DESC",
		"SELECT DISTINCT %[2]s, %[4]s, SUM(%[3]s) FROM %[1]s GROUP BY %[2]s",
		"SELECT %[2]s, %[4]s, COUNT(*), SUM(%[3]s) FROM %[1]s GROUP BY 1",
		"SELECT %[1]s.%[2]s, %[1]s.%[4]s, SUM(%[1]s.%[3]s) FROM %[1]s GROUP BY %[1]s.%[2]s",
		"SELECT %[2]s, DATE_TRUNC('month', %[4]s), SUM(%[3]s) FROM %[1]s GROUP BY %[2]s",
		"SELECT %[2]s, EXTRACT(month FROM %[4]s), SUM(%[3]s) FROM %[1]s GROUP BY %[2]s",
		"SELECT %[2]s, %[4]s, SUM(%[3]s) FROM %[1]s WHERE %[3]s > 0 GROUP BY %[2]s HAVING SUM(%[3]s) > 0",
	)
	for k, query := range queries[:p.between(5, 8)] {
		query = fmt.Sprintf(query, s.table, s.kind, s.amount, s.day)
		at := strings.Index(query, s.day)
		reason := "column \"" + s.table + "." + s.day + "\" must appear in the GROUP BY clause or be used in an aggregate function\nLINE 1: " +
			query + "\n" + strings.Repeat(" ", 8+at) + "^"
		if d.form == 2 {
			reason = fmt.Sprintf("SELECT list expression references column %s which is neither grouped nor aggregated at [1:%d]", s.day, at+1)
		}
		entries = append(entries, d.refused(query, "GroupingError", reason).after(asksDatabase.of(p, k)))
	}
	return entries, 1
}

// noRowsInAnySpelling looks for a value in ever other spellings; no row has it.
func noRowsInAnySpelling(p *generator) (entries []entry, _ int) {
	d, s := p.database(), p.subject()
	lower := strings.ToLower(s.value)
	where := p.shuffled(
		s.kind+" = '"+lower+"'", "UPPER("+s.kind+") LIKE '"+strings.ToUpper(s.value[:4])+"%'", "LOWER("+s.kind+") = '"+lower+"'",
		"TRIM("+s.kind+") = '"+s.value+"'",
		s.kind+" LIKE '%"+s.value[:4]+"%'",
		"UPPER("+s.kind+") = '"+strings.ToUpper(s.value)+"'", s.kind+" IN ('"+s.value+"', '"+lower+"')", s.kind+" LIKE '"+lower[:3]+"%'",
	)
	w := wording{
		first: []string{"Let me get the rows for " + s.value + ".", "I filter by " + s.value + "."},
		seen:  []string{"No rows.", "The result is empty.", "That returned nothing.", "Still nothing.", "It may be spelled in another way."},
		next: []string{
			"Let me try another spelling.", "Let me match it in another way.", "Let me filter for it differently.",
			"Let me try a variant of the name.", "I'll change the condition.",
		},
	}
	columns := [][]string{{s.key, s.amount}, {s.kind, s.amount, s.day}, {s.key, s.kind, s.day}}[p.IntN(3)]
	for k, condition := range append([]string{s.kind + " = '" + s.value + "'"}, where...)[:p.between(6, 9)] {
		query := "SELECT " + strings.Join(columns, ", ") + " FROM " + s.table + " WHERE " + condition + p.pick("", " LIMIT 10",
			" ORDER BY "+s.day)
		entries = append(entries, d.rows(query, columns).after(w.of(p, k)))
	}
	return entries, 1
}

// schemaAndCheckerInCircle lists the tables, reads a schema, checks a query, and begins anew without sending the query.
func schemaAndCheckerInCircle(p *generator) (entries []entry, _ int) {
	s := p.subject()
	others := p.shuffled("users", "countries", "sessions", "audit_log", "products", "teams")[:3]
	tables := s.table + ", " + strings.Join(others, ", ")
	schema := fmt.Sprintf("CREATE TABLE %s (\n\tid INTEGER NOT NULL, \n\t%s INTEGER, \n\t%s VARCHAR(40), \n\t%s NUMERIC(10, 2), \n"+
		"\t%s TIMESTAMP, \n\tPRIMARY KEY (id)\n)\n\n/*\n3 rows from %s table:\nid\t%s\t%s\n1\t%d\t%s\n2\t%d\t%s\n3\t%d\t%s\n*/",
		s.table, s.key, s.kind, s.amount, s.day, s.table, s.key, s.kind,
		p.between(10, 39), s.value, p.between(40, 69), p.pick("Other", "unknown", "Misc"), p.between(70, 99), s.value)
	list, read, check := "sql_db_list_tables", "sql_db_schema", "sql_db_query_checker"
	if p.coin() {
		list, read, check = "list_tables", "describe_table", "validate_sql"
	}
	w := wording{
		first: []string{"Let me see which tables there are.", "First, the tables."},
		seen: []string{
			"The query looks right.", "I should make sure about the table.", "I want to be sure about the columns.",
			"Let me be careful here.", "",
		},
		next: []string{
			"Let me look at the tables again.", "Let me list the tables once more.", "First let me see the tables again.",
			"Let me verify the names of the tables.",
		},
	}
	measure := p.pick("SUM", "AVG", "MAX")
	for k := range p.between(4, 6) {
		query := fmt.Sprintf("SELECT %s, %s(%s) FROM %s GROUP BY %s%s", s.kind, measure, s.amount, s.table, s.kind, p.pick("", ";", " LIMIT 10",
			" ORDER BY 2 DESC"))
		entries = append(
			entries, call(list, object("tool_input", ""), quoted(tables)).after(w.of(p, k)),
			call(read, object("table_names", s.table), quoted(schema)).after(thought{"", p.pick("Let me look at the schema.", "Now the columns.",
				"")}),
			call(check, object("query", query), quoted(p.pick("The query is valid.", "```sql\n"+query+"\n```", query))).after(thought{
				p.pick("Now I can write the query.", ""), p.pick("Let me check the query before I run it.", "Let me have the query checked first."),
			}),
		)
	}
	return entries, 3
}

// statementCancelledByTimeout rewrites a query over a large table, and each version runs into the same limit.
func statementCancelledByTimeout(p *generator) (entries []entry, _ int) {
	d, s := p.database(), p.subject()
	limit := p.pickInt(30, 60, 120, 300)
	reason := []string{
		"canceling statement due to statement timeout", "canceling statement due to statement timeout\n",
		fmt.Sprintf("Query exceeded the time limit of %d s and was cancelled", limit),
		fmt.Sprintf("Query timed out: the statement ran longer than %d seconds", limit),
	}[d.form]
	queries := p.shuffled(
		"SELECT a.%[2]s, COUNT(*) FROM %[1]s a JOIN %[1]s b ON a.%[3]s = b.%[3]s GROUP BY 1",
		"SELECT %[2]s, COUNT(*) FROM %[1]s a WHERE EXISTS (SELECT 1 FROM %[1]s b WHERE b.%[3]s = a.%[3]s) GROUP BY 1",
		"SELECT %[2]s, COUNT(*) FROM %[1]s WHERE %[3]s IN (SELECT %[3]s FROM %[1]s) GROUP BY 1",
		"WITH b AS (SELECT %[3]s FROM %[1]s) SELECT a.%[2]s, COUNT(*) FROM %[1]s a JOIN b USING (%[3]s) GROUP BY 1",
		"SELECT DISTINCT a.%[2]s, COUNT(*) OVER (PARTITION BY a.%[2]s) FROM %[1]s a JOIN %[1]s b USING (%[3]s)",
		"SELECT a.%[2]s, COUNT(b.%[3]s) FROM %[1]s a LEFT JOIN %[1]s b USING (%[3]s) GROUP BY a.%[2]s",
		"SELECT %[2]s, SUM(n) FROM (SELECT a.%[2]s, 1 AS n FROM %[1]s a JOIN %[1]s b USING (%[3]s)) t GROUP BY 1",
		"SELECT a.%[2]s, COUNT(*) FROM %[1]s a CROSS JOIN LATERAL (SELECT 1 FROM %[1]s b WHERE b.%[3]s = a.%[3]s) t GROUP BY 1",
	)
	w := wording{
		first: []string{"Let me count the pairs.", "I run the query over the whole table."},
		seen:  []string{"The query timed out.", "It was cancelled again.", "Too slow.", "It ran into the limit."},
		next: []string{
			"Let me rewrite the join.", "Let me restructure it.", "Perhaps another form is faster.",
			"Let me phrase it for the planner.", "I'll try another form of the join.",
		},
	}
	for k, query := range queries[:p.between(5, 8)] {
		entries = append(entries, d.refused(fmt.Sprintf(query, s.table, s.kind, s.key), "QueryCanceled", reason).after(w.of(p, k)))
	}
	return entries, 1
}
