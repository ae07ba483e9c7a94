package splice

import (
	"fmt"
	"strings"
	"time"
)

// The loops of this file are those of agents that build tables and load files: dbt, data frames, migrations and sources.

func warehouseLoops() []kind {
	return []kind{
		{name: "dbt_test_fails_with_same_count", build: dbtTestFailsWithSameCount},
		{name: "row_breaks_every_reader", build: rowBreaksEveryReader},
		{name: "migration_regenerated_after_each_failure", build: migrationRegeneratedAfterEachFailure},
		{name: "source_stays_stale", build: sourceStaysStale},
	}
}

// stopwatch is the clock of a machine. Lines of an output are some seconds apart, and calls some minutes at most.
type stopwatch struct {
	*generator
	at time.Time
}

func (p *generator) stopwatch() *stopwatch {
	return &stopwatch{p, time.Date(2026, time.June, p.between(8, 28), p.between(6, 18), p.IntN(60), p.IntN(60), 0, time.UTC)}
}

// lines puts the time in front of each line, as dbt does.
func (c *stopwatch) lines(lines ...string) string {
	c.at = c.at.Add(time.Duration(c.between(15, 90)) * time.Second)
	text := make([]string, len(lines))
	for k, line := range lines {
		c.at = c.at.Add(time.Duration(c.IntN(4)) * time.Second)
		text[k] = c.at.Format("15:04:05") + "  " + line
	}
	return strings.Join(text, "\n")
}

// dbtTestFailsWithSameCount rewrites a model in small ways; a test of it fails for the same number of rows each time, as its source has them.
func dbtTestFailsWithSameCount(p *generator) (entries []entry, _ int) {
	h, clock, model, source := p.patient(), p.stopwatch(), p.pick("fct_", "dim_", "int_")+p.word()+"s", "stg_"+p.word()+"__"+p.word()+"s"
	column, rows, models := p.word()+"_id", p.between(3, 4000), p.between(0, 12)
	test := p.pick("unique_", "not_null_") + model + "_" + column
	others := p.distinctWords(models)
	parts := [][]string{ // of the query, each with ways to write it
		{"select " + column + ",", "select distinct " + column + ",", "select coalesce(" + column + ", '') as " + column + ",", "select trim(" + column + ") as " + column + ",", "select cast(" + column + " as varchar) as " + column + ","},
		{"left join {{ ref('" + source + "') }} s using (" + column + ")", "inner join {{ ref('" + source + "') }} s using (" + column + ")", "left join (select distinct * from {{ ref('" + source + "') }}) s using (" + column + ")"},
		{"where true", "where " + column + " is not null", "where s.deleted_at is null", "where " + column + " <> '' and s.deleted_at is null"},
	}
	held := make([]int, len(parts))
	command := p.pick("dbt build --select "+model, "dbt run -s "+model+" && dbt test -s "+model, "dbt build -s +"+model+" --target dev", "uv run dbt build --select "+model+"+")
	output := func() string {
		n := models + 2
		text := []string{fmt.Sprintf("Running with dbt=1.%d.%d", 8, 3), fmt.Sprintf("Found %d models, %d data tests, %d sources, 487 macros", 40+models, 90, 11), "Concurrency: 4 threads (target='dev')"}
		for k, other := range others {
			text = append(text, fmt.Sprintf("%d of %d PASS not_null_%s_id ........................ [PASS in %d.%02ds]", k+1, n, other, p.IntN(4), p.IntN(100)))
		}
		took := func() string { return fmt.Sprintf("%d.%02ds", p.between(1, 30), p.IntN(100)) }
		return clock.lines(append(text, fmt.Sprintf("%d of %d OK created sql table model analytics.%s ........ [SUCCESS 1 in %s]", n-1, n, model, took()),
			fmt.Sprintf("%d of %d FAIL %d %s ........ [FAIL %[3]d in %[5]s]", n, n, rows, test, took()), "Completed with 1 error and 0 warnings:",
			fmt.Sprintf("Failure in test %s (models/marts/_%s.yml)", test, p.pick("models", "schema")), fmt.Sprintf("  Got %d results, configured to fail if != 0", rows), fmt.Sprintf("Done. PASS=%d WARN=0 ERROR=1 SKIP=0 TOTAL=%d", n-1, n))...)
	}
	w := wording{
		[]string{"The test on `" + column + "` fails. Let me fix the model.", "Let me make `" + model + "` pass its test."},
		[]string{"The test still fails.", fmt.Sprintf("%d rows again.", rows), "The failing rows are still there.", "Hmm, the same number of rows fails.", "I see the problem now.", ""},
		[]string{"Let me change the join.", "I'll remove the rows in the model.", "Let me handle it in the select.", "Perhaps it must be done before the join.", "Let me rewrite this part of the query.", "Let me be stricter here."},
	}
	for k := range p.repeats() {
		n := p.IntN(len(parts))
		before := parts[n][held[n]]
		held[n] = (held[n] + p.between(1, len(parts[n])-1)) % len(parts[n])
		entries = append(entries, h.replace("models/marts/"+model+".sql", before, parts[n][held[n]]).after(w.of(p, k)), h.shell(command, output(), 1).after(p.runAgain()))
	}
	return entries, 2
}

// readers returns programs that read one file in other ways, each with the error that it ends in; the error is of the same line of the file.
func (p *generator) readers(file string) [][2]string {
	line, want, got := p.between(300, 90_000), p.between(6, 30), 0
	got = want + p.between(1, 4)
	pandas := "Traceback (most recent call last):\n  File \"%s\", line %d, in <module>\n  File \"/usr/lib/python3.11/site-packages/pandas/io/parsers/readers.py\", line 1026, in read_csv\n    return _read(filepath_or_buffer, kwds)\n"
	c := pandas + fmt.Sprintf("  File \"parsers.pyx\", line 2061, in pandas._libs.parsers.raise_parser_error\npandas.errors.ParserError: Error tokenizing data. C error: Expected %d fields in line %d, saw %d", want, line, got)
	python := pandas + fmt.Sprintf("pandas.errors.ParserError: Expected %d fields in line %d, saw %d", want, line, got)
	read := "import pandas as pd\ndf = pd.read_csv('" + file + "'%s)\nprint(df.shape)"
	return [][2]string{
		{fmt.Sprintf(read, ""), c},
		{fmt.Sprintf(read, ", low_memory=False"), c},
		{fmt.Sprintf(read, ", encoding='latin-1'"), c},
		{fmt.Sprintf(read, ", sep=',', engine='python'"), python},
		{fmt.Sprintf(read, ", dtype=str, na_filter=False"), c},
		{fmt.Sprintf(read, ", quotechar='\"', escapechar='\\\\'"), c},
		{fmt.Sprintf(read, ", engine='python', skipinitialspace=True"), python},
		{"import pandas as pd\nfor chunk in pd.read_csv('" + file + "', chunksize=100_000):\n    print(len(chunk))", c},
		{"import duckdb\nprint(duckdb.sql(\"select count(*) from read_csv('" + file + "', header=true)\"))", "Traceback (most recent call last):\n  File \"%s\", line %d, in <module>\n" + fmt.Sprintf("duckdb.duckdb.InvalidInputException: Invalid Input Error: CSV Error on Line: %d\nExpected Number of Columns: %d Found: %d\nPossible fixes:\n* Enable null padding (null_padding=true) to pad missing columns with NULL values\n\n  file = %s\n  delimiter = , (Auto-Detected)\n  quote = \" (Auto-Detected)", line, want, got, file)},
		{"import pyarrow.csv as pv\nprint(pv.read_csv('" + file + "').num_rows)", "Traceback (most recent call last):\n  File \"%s\", line %d, in <module>\n  File \"pyarrow/error.pxi\", line 92, in pyarrow.lib.check_status\n" + fmt.Sprintf("pyarrow.lib.ArrowInvalid: CSV parse error: Row #%d: Expected %d columns, got %d", line, want, got)},
	}
}

// rowBreaksEveryReader reads a file with other options and other libraries, and one line of it, at which nobody looks, stops each.
func rowBreaksEveryReader(p *generator) (entries []entry, _ int) {
	run, file, form := p.operator(), p.pick("data/", "raw/", "")+p.word()+"_"+p.pick("export", "2025", "full", "dump")+".csv", p.IntN(3)
	readers := p.readers(file)
	w := wording{
		[]string{"Let me load the file.", "I'll read " + file + "."},
		[]string{"It cannot be parsed like this.", "The parser fails again.", "Still a tokenizing problem.", "The file has an odd format.", "This reader does not take it either.", ""},
		[]string{"Let me read it with other options.", "I'll try another engine.", "Perhaps the encoding is the cause.", "Let me load it in another way.", "Let me write a more robust loader.", "Let me try another library."},
	}
	last := -1
	for k := range p.repeats() {
		n := p.IntN(len(readers))
		for n == last {
			n = p.IntN(len(readers))
		}
		last = n
		code, script := readers[n][0], fmt.Sprintf("load_%s.py", p.pick("v"+fmt.Sprint(k+1), "data", "fixed", "simple", "chunked", "robust"))
		if p.IntN(3) == 0 {
			code = "import warnings; warnings.filterwarnings('ignore')\n" + code
		}
		command := "python - <<'EOF'\n" + code + "\nEOF"
		switch form {
		case 0:
			script = "<stdin>"
		case 1:
			command = "cat > " + script + " <<'EOF'\n" + code + "\nEOF\npython " + script
		case 2:
			command = "python -c \"" + strings.ReplaceAll(code, `"`, `\"`) + "\""
			script = "<string>"
		}
		entries = append(entries, run(command, fmt.Sprintf(readers[n][1], script, 2+strings.Count(code, "\n")/3), 1).after(w.of(p, k)))
	}
	return entries, 1
}

// schemaChange is a migration tool, and a table whose rows do not allow a new column.
type schemaChange struct {
	generate func(id, last string) (command, output string)
	apply    string
	output   func(id string) string
}

// schemaChange returns a change that Alembic, Django or Rails generates.
func (p *generator) schemaChange(table, column string) schemaChange {
	base, number := p.commitHash()[:12], p.between(12, 90)
	reason := "column \"" + column + "\" of relation \"" + table + "\" contains null values"
	switch p.IntN(3) {
	case 0:
		return schemaChange{
			func(id, last string) (string, string) {
				file := "migrations/versions/" + id + "_add_" + column + ".py"
				wipe := ""
				if last != "" {
					wipe = "rm migrations/versions/" + last + "_add_" + column + ".py && "
				}
				return wipe + "alembic revision --autogenerate -m 'add " + column + "'", "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.autogenerate.compare] Detected added column '" + table + "." + column + "'\n  Generating /src/" + file + " ...  done"
			},
			"alembic upgrade head",
			func(id string) string {
				return "INFO  [alembic.runtime.migration] Running upgrade " + base + " -> " + id + ", add " + column + "\nTraceback (most recent call last):\n  File \"/usr/lib/python3.11/site-packages/sqlalchemy/engine/base.py\", line 1967, in _exec_single_context\n    self.dialect.do_execute(\npsycopg2.errors.NotNullViolation: " + reason + "\n\nsqlalchemy.exc.IntegrityError: (psycopg2.errors.NotNullViolation) " + reason + "\n\n[SQL: ALTER TABLE " + table + " ADD COLUMN " + column + " VARCHAR NOT NULL]\n(Background on this error at: https://sqlalche.me/e/20/gkpj)"
			},
		}
	case 1:
		return schemaChange{
			func(id, last string) (string, string) {
				wipe := ""
				if last != "" {
					wipe = fmt.Sprintf("rm %s/migrations/%04d_%s_%s.py && ", table, number, column, last[:4])
				}
				return wipe + "python manage.py makemigrations " + table + " -n " + column + "_" + id[:4], fmt.Sprintf("Migrations for '%s':\n  %[1]s/migrations/%04d_%s_%s.py\n    - Alter field %[3]s on %[1]s", table, number, column, id[:4])
			},
			"python manage.py migrate " + table,
			func(id string) string {
				return fmt.Sprintf("Operations to perform:\n  Apply all migrations: %s\nRunning migrations:\n  Applying %[1]s.%04d_%s_%s...Traceback (most recent call last):\n  File \"/src/manage.py\", line 22, in <module>\n    main()\n  File \"/usr/lib/python3.11/site-packages/django/db/backends/utils.py\", line 105, in _execute\n    return self.cursor.execute(sql, params)\ndjango.db.utils.IntegrityError: %s", table, number, column, id[:4], reason)
			},
		}
	}
	class := capitalized(strings.TrimSuffix(column, "_code")) + "Code"
	stamps, at := map[string]string{}, time.Date(2026, time.June, 11, p.between(8, 16), p.IntN(60), p.IntN(60), 0, time.UTC)
	stamp := func(id string) string { // of a migration, each later than the one before
		if stamps[id] == "" {
			at = at.Add(time.Duration(p.between(20, 200)) * time.Second)
			stamps[id] = at.Format("20060102150405")
		}
		return stamps[id]
	}
	return schemaChange{
		func(id, last string) (string, string) {
			wipe := ""
			if last != "" {
				wipe = "bin/rails destroy migration Add" + class + " && "
			}
			return wipe + "bin/rails generate migration Add" + class + " " + column + ":string!", "      invoke  active_record\n      create    db/migrate/" + stamp(id) + "_add_" + column + ".rb"
		},
		"bin/rails db:migrate",
		func(id string) string {
			return fmt.Sprintf("== %s Add%s: migrating =======\n-- add_column(:%s, :%s, :string, {:null=>false})\nbin/rails aborted!\nStandardError: An error has occurred, this and all later migrations canceled:\n\nPG::NotNullViolation: ERROR:  %s\n\nCaused by:\nActiveRecord::NotNullViolation: PG::NotNullViolation: ERROR:  %[5]s\n/src/db/migrate/%[1]s_add_%[4]s.rb:3:in `change'\n\nTasks: TOP => db:migrate", stamp(id), class, table, column, reason)
		},
	}
}

// migrationRegeneratedAfterEachFailure removes a migration that fails, generates it anew, and runs into the same rows of the table.
func migrationRegeneratedAfterEachFailure(p *generator) (entries []entry, _ int) {
	run, table, column := p.operator(), p.word()+"_"+p.pick("items", "lines", "records", "events"), p.word()+"_code"
	c, last := p.schemaChange(table, column), ""
	w := wording{
		[]string{"Let me generate the migration.", "The model has a new column, so it needs a migration."},
		[]string{"The migration failed.", "The database refused the migration.", "It failed while the column was added.", "The generated migration does not run.", ""},
		[]string{"Let me generate it again.", "I'll remove it and start with a fresh one.", "Let me create the migration from scratch.", "Perhaps the file was stale. I generate a new one.", "Let me redo the migration."},
	}
	looks := [][2]string{{"git status --short", "?? migrations/"}, {"psql -c '\\d " + table + "'", " id | bigint | not null\n created_at | timestamp | not null"}, {"psql -Atc 'select count(*) from " + table + "'", fmt.Sprint(p.between(100, 90_000))}}
	for k := range p.laps() {
		id := p.commitHash()[:12]
		command, output := c.generate(id, last)
		last = id
		entries = append(entries, run(command, output, 0).after(w.of(p, k)), run(c.apply, c.output(id), 1).after(thought{"", p.pick("Now apply it.", "Let me run it.", "Apply the migration.")}))
		if k > 1 && p.IntN(5) == 0 {
			look := looks[p.IntN(len(looks))]
			entries = append(entries, run(look[0], look[1], 0).after(thought{"", p.pick("Let me look at the state.", "What is there now?")}))
		}
	}
	return entries, 2
}

// sourceStaysStale asks at once again how fresh a source is; nothing is loaded, and its age alone grows.
func sourceStaysStale(p *generator) (entries []entry, _ int) {
	run, d, s, clock := p.operator(), p.database(), p.secretary(), p.stopwatch()
	source, table, last := p.word(), p.word()+"s", clock.at.Add(-time.Duration(p.between(26, 90)*3600+p.IntN(3600))*time.Second)
	loaded, form, mixed := last.Format("2006-01-02T15:04:05"), p.IntN(3), p.IntN(3) == 0
	probe := func(form int) entry {
		if form == 0 {
			text := clock.lines("Running with dbt=1.8.3", "1 of 1 START freshness of "+source+"."+table+" ................ [RUN]", fmt.Sprintf("1 of 1 ERROR STALE freshness of %s.%s .......... [ERROR STALE in %d.%02ds]", source, table, p.between(1, 4), p.IntN(100)), "Done.")
			return run(p.pick("", "", "sleep 20 && ")+"dbt source freshness --select source:"+source+"."+table, text, 1)
		}
		clock.at = clock.at.Add(time.Duration(p.between(5, 90)) * time.Second)
		age := int(clock.at.Sub(last).Seconds())
		if form == 1 {
			query := p.pick("SELECT max(_loaded_at), now() - max(_loaded_at) AS age FROM raw."+source+"_"+table, "SELECT max(_loaded_at) AS last_load, now() - max(_loaded_at) AS age FROM raw."+source+"_"+table)
			return d.rows(query, []string{"last_load", "age"}, []string{loaded, fmt.Sprintf("%d:%02d:%02d", age/3600, age/60%60, age%60)})
		}
		return s.use("airbyte", "get_connection_status", object("connection", source+"-to-warehouse"), fmt.Sprintf("{\"status\": \"active\", \"last_sync\": \"%s\", \"last_job\": \"succeeded\", \"records_emitted\": 0, \"lag_seconds\": %d, \"checked_at\": \"%s\"}", loaded, age, clock.at.Format(time.RFC3339)))
	}
	w := wording{
		[]string{"Let me see whether the data of today has arrived.", "First I check how fresh the source is."},
		[]string{"Not loaded yet.", "The last load is still the old one.", "Nothing new has arrived.", "It is still stale.", ""},
		[]string{"Let me check once more.", "I'll look again.", "The load may arrive at any moment. Checking.", "Let me see whether it is there now.", "Checking the source again."},
	}
	for k := range p.repeats() + 2 {
		which := form
		if mixed && k > 1 {
			which = p.IntN(3)
		}
		entries = append(entries, probe(which).after(w.of(p, k)))
	}
	return entries, 1
}
