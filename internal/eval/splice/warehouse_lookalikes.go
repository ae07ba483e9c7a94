package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of data agents: one question, view, report or layer after the other.

func warehouseLookalikes() []kind {
	return []kind{
		{name: "dashboard_questions_repointed", build: dashboardQuestionsRepointed},
		{name: "views_detached_until_column_drops", build: viewsDetachedUntilColumnDrops},
		{name: "report_rendered_for_each_market", build: reportRenderedForEachMarket},
		{name: "figure_checked_at_each_hop", build: figureCheckedAtEachHop},
	}
}

// dashboardQuestionsRepointed lets question after question of a dashboard read a new table instead of an old one.
func dashboardQuestionsRepointed(p *generator) (entries []entry, _ int) {
	s, server := p.secretary(), p.pick("metabase", "superset", "looker", "redash")
	thing := p.pick("card", "question", "chart")
	before, after := "legacy."+p.word()+"s", "marts.fct_"+p.word()+"s"
	runs, last := p.coin(), ""
	at := p.between(20, 900)
	for _, word := range p.distinctWords(p.between(6, 10)) {
		at += p.between(1, 12)
		name := capitalized(word) + p.pick(" per week", " by region", " this month", " over time", " (total)")
		query := "select " + p.pick("date_trunc('week', created_at)", "region", "date_trunc('month', created_at)", "channel") + ", " + p.pick("sum(amount)", "count(*)", "avg(amount)", "count(distinct customer_id)") + " from %s" + p.pick(" group by 1", " group by 1 order by 1", " where "+word+" is not null group by 1")
		entries = append(entries, s.use(server, "get_"+thing, object("id", at), fmt.Sprintf("{\"id\": %d, \"name\": %q, \"collection\": \"Finance\", \"dataset_query\": %q, \"updated_at\": \"2025-%02d-%02d\"}", at, name, fmt.Sprintf(query, before), p.between(1, 12), p.between(1, 28))).after(p.nextItem(last, "\""+name+"\"")),
			s.use(server, "update_"+thing, object("id", at, "query", fmt.Sprintf(query, after)), fmt.Sprintf("{\"id\": %d, \"status\": \"updated\"}", at)))
		if runs {
			entries = append(entries, s.use(server, "execute_"+thing, object("id", at), fmt.Sprintf("{\"status\": \"completed\", \"row_count\": %d, \"running_time\": %d}", p.between(4, 120), p.between(80, 4000))).after(thought{"", p.pick("", "Does it still run?")}))
		}
		last = "\"" + name + "\""
	}
	return entries, 0
}

// viewsDetachedUntilColumnDrops drops a column; each time another view depends on it and is recreated without it, until the column is dropped.
func viewsDetachedUntilColumnDrops(p *generator) (entries []entry, _ int) {
	run, table, column := p.operator(), p.pick("orders", "customers", "invoices", "shipments", "contracts", "products"), "legacy_"+p.word()
	base := p.pick("psql -c ", "psql $DATABASE_URL -c ", "docker compose exec -T db psql -U app -c ")
	drop, reads := base+"'ALTER TABLE "+table+" DROP COLUMN "+column+"'", p.coin()
	w := wording{
		[]string{"Let me drop the column."},
		[]string{"Another view depends on it.", "One more dependency.", "The next view that uses it.", "That one is done, here is the next.", ""},
		[]string{"Let me rebuild the view without the column.", "I'll take the column out of it.", "The same for this view.", "This view must be recreated as well."},
	}
	for k, name := range p.distinctWords(p.between(4, 8)) {
		view := p.pick("reporting.", "public.", "finance.", "api.") + p.pick("v_", "") + name
		again := p.runAgain()
		if k == 0 {
			again = w.of(p, 0)
		}
		entries = append(entries, run(drop, fmt.Sprintf("ERROR:  cannot drop column %s of table %s because other objects depend on it\nDETAIL:  view %s depends on column %[1]s of table %[2]s\nHINT:  Use DROP ... CASCADE to drop the dependent objects too.", column, table, view), 1).after(thought{p.pick("", "Good."), again.next}))
		a, b := p.word(), p.word()
		if reads {
			entries = append(entries, run(base+"'\\sv "+view+"'", fmt.Sprintf("CREATE OR REPLACE VIEW %s AS\n SELECT t.id,\n    t.%s,\n    t.%s,\n    t.%s\n   FROM %s t\n  WHERE t.%[2]s IS NOT NULL", view, a, b, column, table), 0).after(w.of(p, k+1)))
		}
		entries = append(entries, run(base+fmt.Sprintf("'BEGIN; DROP VIEW %s; CREATE VIEW %[1]s AS SELECT id, %s, %s FROM %s WHERE %[2]s IS NOT NULL; COMMIT'", view, a, b, table), "BEGIN\nDROP VIEW\nCREATE VIEW\nCOMMIT", 0).after(w.of(p, k+1)))
	}
	return append(entries, run(drop, "ALTER TABLE", 0).after(p.runAgain())), 0
}

// reportRenderedForEachMarket renders one report for market after market; the output differs by the names and some numbers.
func reportRenderedForEachMarket(p *generator) (entries []entry, _ int) {
	run, name, form, cells := p.patient().shell, p.word()+"_report", p.IntN(3), p.between(6, 40)
	markets := p.shuffled("Nordics", "DACH", "Benelux", "Iberia", "France", "Italy", "UK", "Poland", "Turkey", "Baltics", "Japan", "Brazil")[:p.between(5, 11)]
	month := fmt.Sprintf("2026-%02d", p.between(1, 9))
	labels := make([]string, cells/2)
	for k := range labels {
		labels[k] = p.pick("load", "plot", "table", "")
	}
	last := ""
	for _, market := range markets {
		low := strings.ToLower(market)
		command, output := fmt.Sprintf("quarto render %s.qmd -P market:%s -P month:%s -o %s.pdf", name, market, month, low), ""
		switch form {
		case 0:
			output = fmt.Sprintf("\nExecuting '%s.quarto_ipynb'\n", name)
			for k, label := range labels {
				output += fmt.Sprintf("  Cell %d/%d: '%s'...Done\n", k+1, len(labels), label)
			}
			output += fmt.Sprintf("\nrunning lualatex - 1\nrunning lualatex - 2\n\nOutput created: %s.pdf", low)
		case 1:
			command = fmt.Sprintf("papermill %s.ipynb out/%s.ipynb -p market %s -p month %s", name, low, market, month)
			output = fmt.Sprintf("Input Notebook:  %s.ipynb\nOutput Notebook: out/%s.ipynb\nExecuting: 100%%|██████████| %d/%d [00:%02d<00:00,  %d.%02dcell/s]", name, low, cells, cells, p.between(5, 59), p.IntN(4), p.IntN(100))
		case 2:
			command = fmt.Sprintf("python render.py --market %s --month %s", market, month)
			output = fmt.Sprintf("loaded %d rows for %s\nwrote out/%s_%s.html (%d kB)", p.between(200, 90_000), market, month, low, p.between(120, 900))
		}
		entries = append(entries, run(command, output, 0).after(p.nextItem(last, market)))
		last = "the report for " + market
	}
	return entries, 0
}

// figureCheckedAtEachHop sums up one day in layer after layer; the sum is the same in each, until the layer at which rows are lost.
func figureCheckedAtEachHop(p *generator) (entries []entry, _ int) {
	d, subject, day := p.database(), p.word(), p.day(1, 9)
	amount := p.pick("amount", "net_value", "quantity", "revenue")
	sum, count := fmt.Sprintf("%d.%02d", p.between(10_000, 900_000), p.IntN(100)), p.between(900, 90_000)
	layers := []string{"mart_" + subject + "_daily", "fct_" + subject + "s", "int_" + subject + "s_joined", "int_" + subject + "s_deduplicated", "stg_erp__" + subject + "s", "base_erp__" + subject + "s", "raw." + subject + "s", "landing." + subject + "_files"}
	hops := p.between(5, len(layers))
	w := wording{
		[]string{"The dashboard shows too little for " + day + ". Let me begin at its table.", "I'll follow the figure back, layer by layer."},
		[]string{"The same sum, so the rows are lost before this layer.", "This layer has the same figure.", "Nothing is lost here.", "Not here either.", ""},
		[]string{"Next, the layer below.", "Let me go one layer back.", "Now the table that feeds it.", "One step further up the stream."},
	}
	for k, layer := range layers[:hops] {
		if k == hops-1 {
			sum, count = fmt.Sprintf("%d.%02d", p.between(910_000, 990_000), p.IntN(100)), count+p.between(100, 9000)
		}
		query := fmt.Sprintf("SELECT SUM(%s) AS total, COUNT(*) AS n FROM %s WHERE %s = DATE '%s'", amount, layer, p.pick("day", "booked_on", "CAST(created_at AS DATE)"), day)
		entries = append(entries, d.rows(query, []string{"total", "n"}, []string{sum, fmt.Sprint(count)}).after(w.of(p, k)))
	}
	return append(entries, d.rows("SELECT status, COUNT(*) FROM "+layers[hops-1]+" WHERE NOT EXISTS (SELECT 1 FROM "+layers[hops-2]+" t WHERE t.id = "+layers[hops-1]+".id) GROUP BY 1", []string{"status", "n"}, []string{p.word(), fmt.Sprint(p.between(100, 9000))}).after(thought{"Here it is: this layer has more.", "Which rows are missing in the next layer?"})), 0
}
