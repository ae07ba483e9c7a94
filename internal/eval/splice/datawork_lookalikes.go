package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents on data: one test, group, query or batch after the other.

func dataworkLookalikes() []kind {
	return []kind{
		{name: "dbt_tests_pass_one_by_one", build: dbtTestsPassOneByOne},
		{name: "decline_drilled_by_dimension", build: declineDrilledByDimension},
		{name: "dialect_errors_cleared_in_queries", build: dialectErrorsClearedInQueries},
		{name: "unlabelled_rows_taken_in_batches", build: unlabelledRowsTakenInBatches},
	}
}

// dbtTestsPassOneByOne runs the data tests of a project after each change of a model; fewer of them fail each time.
func dbtTestsPassOneByOne(p *generator) (entries []entry, _ int) {
	h, folder := p.harness(), p.pick("marts", "staging", "core", "finance")
	command := p.pick("dbt test --select "+folder, "dbt test -s "+folder+"+", "dbt build --select "+folder, "dbt test --select path:models/"+folder)
	failing, passing := p.between(5, 9), p.between(2, 30)
	models := p.distinctWords(failing)
	tests := make([]string, failing)
	for k, model := range models {
		tests[k] = p.pick("not_null", "unique", "relationships", "accepted_values") + "_" + model + "_" + p.word()
	}
	second, rows, passes := p.between(0, 20), make([]int, failing), make([]string, passing)
	for k := range rows {
		rows[k] = p.between(1, 900)
	}
	for k := range passes {
		passes[k] = p.pick("not_null_", "unique_") + p.word() + "_" + p.pick("id", "key", "date")
	}
	run := func(open int) entry {
		text, n := "", 0
		second += p.between(5, 30)
		for _, name := range append(append([]string{}, passes...), tests[:failing-open]...) {
			n++
			text += fmt.Sprintf("09:%02d:%02d  %d of %d PASS %s .............. [PASS in 0.%02ds]\n", second/60%60, second%60, n, passing+failing, name, p.between(10, 99))
		}
		for k := failing - open; k < failing; k++ {
			n++
			text += fmt.Sprintf("09:%02d:%02d  %d of %d FAIL %d %s .............. [FAIL %[5]d in 0.%02[7]ds]\n", second/60%60, second%60, n, passing+failing, rows[k], tests[k], p.between(10, 99))
		}
		if open == 0 {
			text += fmt.Sprintf("09:%02d:%02d  Completed successfully\n", second/60%60, second%60)
		} else {
			text += fmt.Sprintf("09:%02d:%02d  Completed with %d errors, 0 partial successes, and 0 warnings\n", second/60%60, second%60, open)
		}
		return h.shell(command, text+fmt.Sprintf("09:%02d:%02d  Done. PASS=%d WARN=0 ERROR=%d SKIP=0 TOTAL=%d", second/60%60, second%60, passing+failing-open, open, passing+failing), min(open, 1))
	}
	entries = append(entries, run(failing).after(thought{"", p.pick("Let me run the data tests.", "First I see which tests fail.")}))
	for k, model := range models {
		where := p.word()
		before, after, _ := strings.Cut(p.pick("select *|select distinct *", "left join "+where+" using (id)|inner join "+where+" using (id)", "from {{ ref('stg_"+where+"') }}|from {{ ref('stg_"+where+"') }}\nwhere "+where+"_id is not null", where+" as status|lower(trim("+where+")) as status", "union all|union", where+"_id|coalesce("+where+"_id, -1) as "+where+"_id"), "|")
		entries = append(entries, h.replace("models/"+folder+"/"+model+".sql", before, after).after(thought{p.pick("", fmt.Sprintf("%d tests fail.", failing-k), "One less."), p.pick("Now `"+tests[k]+"`.", "Let me fix the model `"+model+"`.", "Next, `"+model+"`.")}))
		if p.IntN(3) == 0 {
			entries = append(entries, h.shell("dbt run --select "+model, fmt.Sprintf("1 of 1 OK created sql table model dbt.%s ..... [SELECT %d in %d.%02ds]", model, p.between(100, 99_999), p.IntN(9), p.IntN(100)), 0))
		}
		entries = append(entries, run(failing-k-1).after(p.runAgain()))
	}
	return entries, 0
}

// declineDrilledByDimension compares two months by one dimension after the other; all change alike, until one group of one dimension does not.
func declineDrilledByDimension(p *generator) (entries []entry, _ int) {
	d, table, measure, month := p.database(), p.word()+"_daily", p.pick("revenue", "orders", "signups", "sessions", "net_amount"), p.between(2, 11)
	groups := map[string][]string{
		"country": {"DE", "FR", "ES", "IT", "PL", "NL"}, "device": {"desktop", "mobile", "tablet"}, "browser": {"Chrome", "Safari", "Firefox", "Edge"}, "plan": {"free", "pro", "team"}, "acquisition_channel": {"organic", "paid", "email", "referral", "direct"},
		"payment_method": {"card", "paypal", "sepa", "klarna"}, "app_version": {"8.1", "8.2", "8.3"}, "customer_type": {"new", "returning"}, "weekday": {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, "warehouse": {"Leipzig", "Lyon", "Breda"},
	}
	dimensions := p.shuffled("country", "device", "browser", "plan", "acquisition_channel", "payment_method", "app_version", "customer_type", "weekday", "warehouse")[:p.between(6, 10)]
	drop := p.between(60, 140)
	w := wording{
		[]string{fmt.Sprintf("The %s fell by %d.%d %% in the month. Let me see where.", measure, drop/10, drop%10), "Let me break the decline down by " + dimensions[0] + "."},
		[]string{"All groups fell about alike.", "It is not that dimension.", "The decline is even here.", "No group stands out.", ""},
		nil,
	}
	for k, dimension := range dimensions {
		last, rows := k == len(dimensions)-1, [][]string{}
		culprit := p.IntN(len(groups[dimension]))
		for n, group := range groups[dimension] {
			change := drop + p.between(-9, 9)
			if last {
				change = p.between(-5, 9)
				if n == culprit {
					change = p.between(500, 900)
				}
			}
			rows = append(rows, []string{group, fmt.Sprint(p.between(900, 90_000)), fmt.Sprintf("%.1f", -float64(change)/10)})
		}
		query := fmt.Sprintf("SELECT %[1]s, sum(%[2]s) AS current, round(100.0 * (sum(%[2]s) FILTER (WHERE month = %[3]d) / sum(%[2]s) FILTER (WHERE month = %[4]d) - 1), 1) AS change FROM %[5]s GROUP BY %[1]s ORDER BY %[1]s", dimension, measure, month+1, month, table)
		t := w.of(p, k)
		if k > 0 {
			t.next = p.pick("Now by "+dimension+".", "Next dimension: "+dimension+".", "Let me group by "+dimension+".")
		}
		entries = append(entries, d.rows(query, []string{dimension, "current", "change"}, rows...).after(t))
	}
	return entries, 0
}

// dialectErrorsClearedInQueries moves queries to another database; each dry run of a query finds the next word that the new dialect lacks.
func dialectErrorsClearedInQueries(p *generator) (entries []entry, _ int) {
	h := p.harness()
	type gap struct{ reason, before, after string }
	gaps := []gap{
		{"Function not found: DATEADD", "DATEADD(day, -7, CURRENT_DATE)", "DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY)"},
		{"Syntax error: Unexpected \":\"", "amount::numeric(12,2)", "CAST(amount AS NUMERIC)"},
		{"Function not found: NVL", "NVL(discount, 0)", "IFNULL(discount, 0)"},
		{"Syntax error: Expected end of input but got keyword ILIKE", "name ILIKE 'a%'", "LOWER(name) LIKE 'a%'"},
		{"Function not found: LISTAGG", "LISTAGG(tag, ',')", "STRING_AGG(tag, ',')"},
		{"No matching signature for function DATE_TRUNC for argument types: STRING, DATE", "DATE_TRUNC('month', booked_on)", "DATE_TRUNC(booked_on, MONTH)"},
		{"Function not found: GETDATE", "GETDATE()", "CURRENT_TIMESTAMP()"},
		{"Syntax error: Expected end of input but got keyword DISTKEY", ") DISTKEY(id)", ")"},
		{"Function not found: LEN", "LEN(note)", "LENGTH(note)"},
		{"Unrecognized name: SYSDATE", "SYSDATE", "CURRENT_DATETIME()"},
	}
	last := ""
	for range p.between(4, 6) {
		name := p.word() + "_" + p.word()
		path := "sql/" + name + ".sql"
		check := func(output string, status int) entry {
			return h.shell("bq query --dry_run --use_legacy_sql=false < "+path, output, status)
		}
		order, errors := p.Perm(len(gaps)), p.pickInt(0, 1, 1, 2, 2, 3)
		for n := range errors {
			g := gaps[order[n]]
			t := thought{"", p.pick("The next word of the old dialect.", "Let me see what else it lacks.")}
			if n == 0 {
				t = p.nextItem(last, "`"+name+"`")
			}
			entries = append(entries, check(fmt.Sprintf("Error in query string: Error processing job 'wh:bqjob_r%x_1': %s at [%d:%d]", p.Uint64N(1<<44), g.reason, p.between(1, 60), p.between(1, 40)), 1).after(t),
				h.replace(path, g.before, g.after).after(thought{"", p.pick("That has another name here.", "Let me translate this.", "")}))
		}
		t := p.nextItem(last, "`"+name+"`")
		if errors > 0 {
			t = thought{"", p.pick("Does `"+name+"` pass now?", "Check `"+name+"` again.")}
		}
		entries = append(entries, check(fmt.Sprintf("Query successfully validated. Assuming the tables are not modified, running this query will process %d bytes of data.", p.between(10_000, 900_000_000)), 0).after(t))
		last = "`" + name + "`"
	}
	return entries, 0
}

// unlabelledRowsTakenInBatches asks by one query for rows without a label, reads them and writes their labels, until none is left.
func unlabelledRowsTakenInBatches(p *generator) (entries []entry, _ int) {
	table, size, form := p.pick("feedback", "reviews", "support_messages", "survey_answers"), p.pickInt(3, 4, 5), p.IntN(3)
	use := func(sql, result string) entry {
		switch form {
		case 0:
			return call("mcp__postgres__query", object("sql", sql), content(result))
		case 1:
			return call("run_sql", object("statement", sql), object("output", result, "elapsed_ms", p.between(1, 90)))
		}
		return call("Bash", object("command", "psql feedback -Atc \""+sql+"\"", "description", "Query the rows"), quoted(result))
	}
	query := fmt.Sprintf("SELECT id, body FROM %s WHERE label IS NULL ORDER BY id LIMIT %d", table, size)
	says := []string{"praise:Love the new %s, thanks!", "billing:I was charged twice for my %s.", "bug:The %s crashes when I open it.", "delivery:Where is my %s? It should have come on Monday.", "question:How do I change the %s?", "cancellation:Please cancel my %s.", "spam:CHEAP %s CLICK HERE", "delivery:The %s arrived broken.", "question:Can I get a %s on paper?"}
	id, batches := p.between(1000, 90_000), p.between(5, 9)
	for k := range batches {
		var rows, values []string
		for range size {
			id += p.between(1, 7)
			label, text, _ := strings.Cut(p.pick(says...), ":")
			rows, values = append(rows, fmt.Sprintf("%d|%s", id, fmt.Sprintf(text, p.word()))), append(values, fmt.Sprintf("(%d,'%s')", id, label))
		}
		entries = append(entries, use(query, strings.Join(rows, "\n")).after(thought{strings.Repeat(p.pick("", "These are labelled.", "Next batch."), min(k, 1)), p.pick("Let me take some rows.", "Let me read the unlabelled rows.", "Which rows have no label?")}),
			use(fmt.Sprintf("UPDATE %s SET label = v.label FROM (VALUES %s) AS v(id, label) WHERE %[1]s.id = v.id", table, strings.Join(values, ",")), fmt.Sprintf("UPDATE %d", size)).after(thought{"", p.pick("I write the labels.", "These are clear.", "")}))
		if k == batches-1 {
			entries = append(entries, use(query, p.pick("", "(0 rows)")).after(thought{"", "Are there any left?"}))
		}
	}
	return entries, 0
}
