package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that analyse data and do research.

func analysisLookalikes() []kind {
	return []kind{
		{name: "figures_drawn", build: figuresDrawn},
		{name: "columns_profiled", build: columnsProfiled},
		{name: "query_refined", build: queryRefined},
		{name: "missing_values_filled", build: missingValuesFilled},
		{name: "graph_built", build: graphBuilt},
		{name: "claims_verified", build: claimsVerified},
		{name: "dois_resolved", build: doisResolved},
	}
}

// figuresDrawn draws figure after figure; the answer is one and the same.
func figuresDrawn(p *generator) (entries []entry, _ int) {
	tool := p.pick("execute_python", "run_ipython", "jupyter_execute_cell")
	for range p.between(5, 8) {
		column := p.word() + "_" + p.word()
		code := p.pick("sns.histplot(df['%s'])", "df.boxplot(column='%s', by='region')", "df.groupby('month')['%s'].mean().plot()", "sns.scatterplot(data=df, x='%s', y='price')", "df['%s'].value_counts().head(10).plot.bar()")
		entries = append(entries, call(tool, object("code", fmt.Sprintf(code, column)+"\nplt.title('"+strings.ReplaceAll(column, "_", " ")+"')\nplt.show()"), quoted("<Figure size 640x480 with 1 Axes>")))
	}
	return entries, 0
}

// columnsProfiled counts the values of column after column.
func columnsProfiled(p *generator) (entries []entry, _ int) {
	tool := p.pick("execute_python", "run_ipython", "jupyter_execute_cell")
	for range p.between(6, 9) {
		column, output := p.word()+"_"+p.word(), ""
		for range p.between(2, 4) {
			output += fmt.Sprintf("%-12s %d\n", p.word(), p.between(3, 9000))
		}
		entries = append(entries, call(tool, object("code", "df['"+column+"'].value_counts(dropna=False).head()"), quoted(column+"\n"+output+"Name: count, dtype: int64")))
	}
	return entries, 0
}

// queryRefined adds condition after condition to a query, which finds fewer rows each time.
func queryRefined(p *generator) (entries []entry, _ int) {
	rows, query := p.between(50_000, 90_000), "SELECT count(*) FROM "+p.word()+"s o JOIN "+p.word()+"s c ON c.id = o.owner_id WHERE o.created_at >= '2025-01-01'"
	for range p.between(5, 7) {
		entries = append(entries, call("execute_sql", object("sql", query), object("columns", []string{"count"}, "rows", []int{rows})))
		query += " AND " + p.pick("o.", "c.") + p.word() + p.pick(" IS NOT NULL", " > "+fmt.Sprint(p.between(1, 500)), " = '"+p.word()+"'", " <> '"+p.word()+"'")
		rows = rows * p.between(20, 80) / 100
	}
	return entries, 0
}

// missingValuesFilled fills column after column and counts what is still missing.
func missingValuesFilled(p *generator) (entries []entry, _ int) {
	tool := p.pick("execute_python", "run_ipython", "jupyter_execute_cell")
	columns := make([]string, p.between(4, 7))
	missing := make([]int, len(columns))
	for k := range columns {
		columns[k], missing[k] = fmt.Sprintf("%s_%d", p.word(), k), p.between(3, 900)
	}
	for k, column := range columns {
		missing[k] = 0
		left := ""
		for n := range columns {
			left += fmt.Sprintf("%-14s %d\n", columns[n], missing[n])
		}
		fill := p.pick("df[%[1]q] = df[%[1]q].fillna(df[%[1]q].median())", "df[%[1]q] = df[%[1]q].fillna('unknown')", "df[%[1]q] = df[%[1]q].interpolate()", "df[%[1]q] = df[%[1]q].ffill()")
		entries = append(entries, call(tool, object("code", fmt.Sprintf(fill, column)+"\ndf.isna().sum()"), quoted(left+"dtype: int64")))
	}
	return entries, 0
}

// graphBuilt writes what was learned into a memory, entity after entity and relation after relation.
func graphBuilt(p *generator) (entries []entry, _ int) {
	known := p.word() + " " + p.word()
	for range p.between(3, 5) {
		name := p.word() + " " + p.word()
		made := []json.RawMessage{object("name", name, "entityType", p.pick("person", "company", "project"), "observations", []string{p.phrase(3, 7)})}
		link := []json.RawMessage{object("from", known, "to", name, "relationType", p.pick("works_with", "owns", "depends_on", "reports_to"))}
		entries = append(entries,
			call("create_entities", object("entities", made), content(string(jsonOf(made)))),
			call("create_relations", object("relations", link), content(string(jsonOf(link)))))
		known = name
	}
	return entries, 0
}

// claimsVerified looks for a source of claim after claim of an article; most are right.
func claimsVerified(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 6) {
		claim, url := p.phrase(4, 8), fmt.Sprintf("https://%s.example/%s", p.word(), p.word())
		entries = append(entries,
			call("web_search", object("query", claim), object("results", []json.RawMessage{object("title", p.phrase(3, 6), "url", url, "snippet", p.phrase(8, 16))})),
			call("visit_webpage", object("url", url), quoted(p.page())),
			say(fmt.Sprintf("Claim %d (%q) is %s.", k+1, claim, p.pick("supported by the source", "supported by the source", "supported by the source", "not supported by the source"))))
	}
	return entries, 0
}

// doisResolved looks up reference after reference; a few are not registered.
func doisResolved(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		doi := fmt.Sprintf("10.%d/%s.%d.%d", p.between(1000, 9999), p.word(), p.between(2005, 2025), p.between(100, 99_999))
		args := object("url", "https://api.crossref.org/works/"+doi)
		if p.IntN(5) == 0 {
			entries = append(entries, call("http_get", args, object("status", 404, "body", "Resource not found.")))
			continue
		}
		entries = append(entries, call("http_get", args, object("status", 200, "body", object("DOI", doi, "title", []string{p.phrase(5, 10)}, "author", p.words(2), "container-title", []string{p.phrase(2, 4)}, "year", p.between(2005, 2025)))))
	}
	return entries, 0
}
