package splice

import "fmt"

// The lookalikes of this file are honest work of agents with databases and the files that are loaded into them.

func pipelineLookalikes() []kind {
	return []kind{
		{name: "rows_deleted_in_chunks", build: rowsDeletedInChunks},
		{name: "revisions_upgraded_singly", build: revisionsUpgradedSingly},
		{name: "bad_rows_quarantined", build: badRowsQuarantined},
		{name: "shards_relocated", build: shardsRelocated},
	}
}

// rowsDeletedInChunks deletes old rows by one and the same statement, which answers the same; the rows that are left get fewer.
func rowsDeletedInChunks(p *generator) (entries []entry, _ int) {
	run, table, chunk := p.commands(), p.word()+"_events", p.pickInt(10_000, 20_000, 50_000)
	day := fmt.Sprintf("2025-%02d-01", p.between(1, 12))
	left := chunk*p.between(8, 14) + p.between(100, chunk-1)
	remove := fmt.Sprintf("psql shop -c \"DELETE FROM %[1]s WHERE id IN (SELECT id FROM %[1]s WHERE created_at < '%[2]s' ORDER BY id LIMIT %[3]d)\"", table, day, chunk)
	count := fmt.Sprintf("psql shop -Atc \"SELECT count(*) FROM %s WHERE created_at < '%s'\"", table, day)
	entries = append(entries, run(count, fmt.Sprint(left), 0).after(thought{next: "How many old rows are there?"}))
	for left > 0 {
		for k := range p.between(1, 2) {
			removed := min(chunk, left)
			left -= removed
			said := thought{p.pick("", "The replica keeps up."), p.pick("Delete a chunk.", "The next chunk.", "Next chunk.")}
			if k > 0 {
				said = thought{next: p.pick("One more before I count.", "And another chunk.")}
			}
			entries = append(entries, run(remove, fmt.Sprintf("DELETE %d", removed), 0).after(said))
			if left == 0 {
				break
			}
		}
		entries = append(entries, run(count, fmt.Sprint(left), 0).after(thought{next: p.pick("How many are left?", "Count the rest.", "What remains?")}))
	}
	return entries, 0
}

// revisionsUpgradedSingly upgrades a database by one revision at a time and looks whether the application still works.
func revisionsUpgradedSingly(p *generator) (entries []entry, _ int) {
	run, passed := p.commands(), p.between(9, 40)
	last, said := fmt.Sprintf("%012x", p.Uint64N(1<<48)), thought{next: "I'll go up one revision at a time, with the smoke tests after each."}
	for _, word := range p.distinct(p.between(7, 12)) {
		next := fmt.Sprintf("%012x", p.Uint64N(1<<48))
		entries = append(entries,
			run("alembic upgrade +1", fmt.Sprintf("INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.\nINFO  [alembic.runtime.migration] Running upgrade %s -> %s, %s %s", last, next, p.pick("add an index on", "add the table", "drop the column", "make not null:", "backfill", "rename to"), word), 0).after(said),
			run("pytest -q tests/smoke", fmt.Sprintf("%s\n%d passed in %d.%02ds", "....................................................."[:passed], passed, p.between(3, 5), p.IntN(100)), 0).after(thought{"Revision " + next[:6] + " is in.", p.pick("Smoke tests.", "Does the application still work?", "Check.")}))
		last = next
		said = thought{p.pick("All pass.", "Fine.", "Still works."), p.pick("The next revision.", "One further.", "Next.")}
	}
	return append(entries, run("alembic upgrade +1", "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.\nERROR [alembic.util.messaging] Relative revision +1 didn't produce 1 migrations\nFAILED: Relative revision +1 didn't produce 1 migrations", 255).after(said),
		run("alembic current", last+" (head)", 0).after(thought{"There is no further revision.", "Is that the head?"})), 0
}

// badRowsQuarantined loads a file; each load stops at a bad row further down, which is put aside, until all rows are loaded.
func badRowsQuarantined(p *generator) (entries []entry, _ int) {
	run, table := p.commands(), p.word()+"s"
	file, rows, line := fmt.Sprintf("in/%s-2026-06-%02d.csv", table, p.between(1, 28)), p.between(40_000, 90_000), p.between(40, 3000)
	load := fmt.Sprintf("psql shop -c \"\\copy %s FROM '%s' CSV HEADER\"", table, file)
	said := thought{next: "I'll load " + file + "."}
	for range p.between(5, 8) {
		value := fmt.Sprintf("%02d.%02d.2026", p.between(29, 31), 2)
		message := fmt.Sprintf("ERROR:  date/time field value out of range: %q\nHINT:  Perhaps you need a different \"datestyle\" setting.\nCONTEXT:  COPY %s, line %d, column ordered_on: %q", value, table, line, value)
		if p.IntN(3) == 0 {
			message = fmt.Sprintf("ERROR:  invalid input syntax for type numeric: \"n/a\"\nCONTEXT:  COPY %s, line %d, column amount: \"n/a\"", table, line)
		}
		entries = append(entries,
			run(load, message, 1).after(said),
			run(fmt.Sprintf("sed -n '%dp' %s >> quarantine.csv && sed -i '%dd' %s", line, file, line, file), "", 0).after(thought{fmt.Sprintf("Line %d is bad.", line), p.pick("I'll put it into quarantine.", "Aside with it.", "That row goes into quarantine.")}))
		line += p.between(200, 5000)
		rows--
		said = thought{next: p.pick("Load again.", "Does the rest load?", "And again.")}
	}
	return append(entries, run(load, fmt.Sprintf("COPY %d", rows), 0).after(said),
		run("wc -l quarantine.csv", fmt.Sprintf("%d quarantine.csv", len(entries)/2), 0).after(thought{"All other rows are loaded.", "How many are in quarantine?"})), 0
}

// shardsRelocated moves shard after shard of an index to a new node and waits for each.
func shardsRelocated(p *generator) (entries []entry, _ int) {
	run, index, from, to := p.patientShell(), p.word()+"-2026", fmt.Sprintf("es-data-%d", p.IntN(4)), fmt.Sprintf("es-data-%d", p.between(4, 8))
	done, address, size := "", fmt.Sprintf("10.4.0.%d", p.between(10, 99)), p.between(120, 480)
	for shard := range p.between(5, 8) {
		body := fmt.Sprintf(`{"commands":[{"move":{"index":"%s","shard":%d,"from_node":"%s","to_node":"%s"}}]}`, index, shard, from, to)
		entries = append(entries, run("curl -s -XPOST 'es:9200/_cluster/reroute?filter_path=acknowledged' -H 'Content-Type: application/json' -d '"+body+"'", `{"acknowledged":true}`, 0).after(p.nextItem(done, fmt.Sprintf("shard %d", shard))))
		percent := p.between(9, 45)
		for percent < 100 {
			entries = append(entries, run(fmt.Sprintf("sleep %d; curl -s 'es:9200/_cat/recovery/%s?active_only=true&h=index,shard,source_node,target_node,bytes_percent'", p.pickInt(30, 60), index), fmt.Sprintf("%s %d %s %s %d.%d%%", index, shard, from, to, percent, p.IntN(10)), 0).after(thought{next: p.pick("How far is it?", "I'll wait for the copy.", "")}))
			percent += p.between(30, 60)
		}
		entries = append(entries, run(fmt.Sprintf("curl -s 'es:9200/_cat/shards/%s?h=shard,prirep,state,store,ip,node' | grep '^%d '", index, shard), fmt.Sprintf("%d p STARTED %d.%dgb %s %s", shard, size/10+p.IntN(3), p.IntN(10), address, to), 0).after(thought{next: p.pick("Has it arrived?", "Is it started there?", "Check the shard.")}))
		done = fmt.Sprintf("shard %d", shard)
	}
	return entries, 0
}
