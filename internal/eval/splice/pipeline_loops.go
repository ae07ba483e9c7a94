package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that run data pipelines and the databases and queues behind them.

func pipelineLoops() []kind {
	return []kind{
		{name: "task_cleared_again", build: taskClearedAgain},
		{name: "vacuum_removes_nothing", build: vacuumRemovesNothing},
		{name: "consumer_group_rebalances", build: consumerGroupRebalances},
		{name: "blocker_reconnects", build: blockerReconnects},
	}
}

// taskClearedAgain clears a failed task of a pipeline, which runs again and fails with the same error.
func taskClearedAgain(p *generator) (entries []entry, _ int) {
	prefix, dag, task := p.pick("", "mcp__airflow__", "airflow_"), p.pick("daily_", "hourly_", "nightly_")+p.word(), p.pick("load_", "extract_", "merge_")+p.word()
	clock, try := p.passingTime(), p.between(1, 3)
	run := "scheduled__" + clock()[:10] + "T00:00:00+00:00"
	cause := p.pick("botocore.exceptions.ClientError: An error occurred (404) when calling the HeadObject operation: Not Found", "snowflake.connector.errors.ProgrammingError: 002003 (02000): SQL compilation error: Table '"+strings.ToUpper(task)+"' does not exist or not authorized.", "airflow.exceptions.AirflowException: Bash command failed. The command returned a non-zero exit code 3.", "ValueError: could not convert string to float: 'n/a'")
	words := wording{
		first: []string{"The task has failed. I'll clear it.", "Let me clear the failed task."},
		seen:  []string{"It failed again.", "The same error in the log.", "Another failed try.", "No difference.", "The retry failed as well."},
		next:  []string{"Let me clear it again.", "I'll clear the task once more.", "Let me trigger another try.", "Perhaps it was a hiccup; clearing again.", "I'll let the scheduler run it again."},
	}
	for round := range p.between(3, 5) {
		try++
		ids := []any{"dag_id", dag, "dag_run_id", run, "task_id", task}
		options := append([]any{}, ids...)
		if p.coin() {
			options = append(options, p.pick("include_downstream", "reset_dag_runs", "only_failed"), true)
		}
		log := fmt.Sprintf("[%s] {taskinstance.py:2170} INFO - Starting attempt %d of %d\n[%s] {standard_task_runner.py:107} ERROR - Failed to execute job %d for task %s (%s; %d)\n[%s] {local_task_job_runner.py:261} INFO - Task exited with return code 1", clock(), try, try+1, clock(), p.between(100_000, 999_999), task, cause, p.between(200, 9000), clock())
		entries = append(entries,
			call(prefix+"clear_task_instances", object(options...), object("task_instances", []string{task}, "dag_run_id", run)).after(words.of(p, round)),
			call(prefix+"get_task_instance", object(ids...), object("task_id", task, "state", "failed", "try_number", try, "duration", float64(p.between(50_000, 190_000))/1000, "hostname", fmt.Sprintf("worker-%d", p.IntN(6)), "end_date", clock())).after(thought{next: p.pick("How did it end?", "Let me check its state.", "Is it green now?")}),
			call(prefix+"get_task_log", object("dag_id", dag, "dag_run_id", run, "task_id", task, "try_number", try), quoted(log)).after(thought{p.pick("Failed.", "State: failed.", "It is red."), p.pick("Let me read the log of this try.", "What does its log say?", "The log, then.")}))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, call(prefix+"get_dag_run", object("dag_id", dag, "dag_run_id", run), object("dag_run_id", run, "state", "failed", "tasks_success", len(task), "tasks_upstream_failed", len(dag)%7+1, "run_type", "scheduled")).after(thought{next: p.pick("How does the whole run stand?", "Let me look at the run.")}))
		}
	}
	return entries, 3
}

// vacuumRemovesNothing vacuums a table in other ways; an old transaction keeps all dead rows.
func vacuumRemovesNothing(p *generator) (entries []entry, _ int) {
	run, table, pages := p.commands(), p.word()+"s", p.between(60_000, 900_000)
	rows, dead := pages*p.between(30, 60), pages*p.between(9, 25)
	cutoff, age := p.between(40_000_000, 900_000_000), p.between(300_000, 900_000)
	words := wording{
		first: []string{"The table is bloated. I'll vacuum it.", "Let me vacuum " + table + "."},
		seen:  []string{"The dead rows are still there.", "Nothing was removed.", "0 tuples removed.", "The bloat hasn't changed.", "It didn't reclaim anything."},
		next:  []string{"Let me vacuum again.", "I'll run it with other options.", "Let me try a more aggressive vacuum.", "Perhaps FREEZE helps.", "I'll vacuum and analyze.", "Let me run it once more."},
	}
	for round := range p.between(3, 6) {
		age += p.between(500, 9000)
		options := "VERBOSE" + p.pick("", ", FREEZE", ", ANALYZE", ", DISABLE_PAGE_SKIPPING", ", PARALLEL 4", ", INDEX_CLEANUP ON")
		if round == 0 {
			options = "VERBOSE"
		}
		log := fmt.Sprintf("INFO:  vacuuming \"shop.public.%s\"\nINFO:  finished vacuuming \"shop.public.%s\": index scans: 0\npages: 0 removed, %d remain, %d scanned (100.00%% of total)\ntuples: 0 removed, %d remain, %d are dead but not yet removable\nremovable cutoff: %d, which was %d XIDs old when operation ended\nbuffer usage: %d hits, %d misses, 0 dirtied\nsystem usage: CPU: user: %d.%02d s, system: 0.%02d s, elapsed: %d.%02d s\nVACUUM", table, table, pages, pages, rows, dead, cutoff, age, 2*pages+p.IntN(900), p.IntN(9000), p.between(2, 9), p.IntN(100), p.between(10, 99), p.between(10, 30), p.IntN(100))
		if strings.Contains(options, "ANALYZE") {
			log = strings.TrimSuffix(log, "VACUUM") + fmt.Sprintf("INFO:  analyzing \"public.%s\"\nINFO:  \"%s\": scanned 30000 of %d pages\nVACUUM", table, table, pages)
		}
		entries = append(entries,
			run(fmt.Sprintf("psql shop -c 'VACUUM (%s) %s'", options, table), log, 0).after(words.of(p, round)),
			run(fmt.Sprintf("psql shop -Atc \"SELECT n_dead_tup, pg_size_pretty(pg_total_relation_size('%s')) FROM pg_stat_user_tables WHERE relname = '%s'\"", table, table), fmt.Sprintf("%d|%d MB", dead, pages/128), 0).after(thought{next: p.pick("How many dead rows are left?", "Let me check the size.", "Did it help?", "Check the statistics.")}))
	}
	return entries, 2
}

// consumerGroupRebalances looks at a consumer group that rebalances all the time: no offset is committed, and only the topic grows.
func consumerGroupRebalances(p *generator) (entries []entry, _ int) {
	run, group, topic := p.patientShell(), p.word()+"-indexer", p.word()+".events"
	partitions := p.between(3, 8)
	current, end := make([]int, partitions), make([]int, partitions)
	for k := range current {
		current[k] = p.between(100_000, 9_000_000)
		end[k] = current[k] + p.between(4000, 90_000)
	}
	words := wording{
		first: []string{"Let me look at the lag of the group.", "I'll check the consumer group."},
		seen:  []string{"It is rebalancing.", "Still rebalancing.", "The committed offsets haven't moved.", "No member has a partition.", "The group isn't stable yet."},
		next:  []string{"Let me look again in a moment.", "I'll wait for the rebalance.", "Let me check once more.", "It should settle soon.", "Checking the group again."},
	}
	for round := range p.between(6, 10) {
		var table strings.Builder
		fmt.Fprintf(&table, "\nWarning: Consumer group '%s' is rebalancing.\n\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID\n", group)
		for k := range current {
			end[k] += p.between(3, 400)
			fmt.Fprintf(&table, "%-15s %-15s %-10d %-15d %-15d %-15d -               -               -\n", group, topic, k, current[k], end[k], end[k]-current[k])
		}
		wait := ""
		if round > 0 {
			wait = p.pick("", "sleep 5; ", "sleep 10; ", "sleep 20; ")
		}
		entries = append(entries, run(wait+"kafka-consumer-groups.sh --bootstrap-server kafka:9092 --describe --group "+group, table.String(), 0).after(words.of(p, round)))
	}
	return entries, 1
}

// blockerReconnects ends the session that holds a lock; its program connects anew and takes the lock before the migration does.
func blockerReconnects(p *generator) (entries []entry, _ int) {
	run, table, column := p.commands(), p.word()+"s", p.word()+"_id"
	program, address, pid := p.word()+"-worker", fmt.Sprintf("10.0.%d.%d", p.IntN(9), p.between(4, 250)), p.between(900, 20_000)
	alter := fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s bigint", table, column)
	words := wording{
		first: []string{"I'll add the column.", "Let me run the migration."},
		seen:  []string{"The session is ended.", "Terminated.", "The blocker is killed.", "That one is out of the way."},
		next:  []string{"Now the migration again.", "Let me run the ALTER TABLE again.", "Retry the migration.", "It should get the lock this time."},
	}
	for round := range p.between(3, 6) {
		pid += p.between(2, 300)
		seconds := p.pickInt(3, 5, 10)
		blocked := fmt.Sprintf("%d|%s|%s|idle in transaction|SELECT * FROM %s WHERE state = 'new' FOR UPDATE SKIP LOCKED", pid, program, address, table)
		entries = append(entries,
			run(fmt.Sprintf("psql shop -c \"SET lock_timeout = '%ds'\" -c '%s'", seconds, alter), "SET\nERROR:  canceling statement due to lock timeout", 1).after(words.of(p, round)),
			run(fmt.Sprintf("psql shop -Atc \"SELECT pid, application_name, client_addr, state, query FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%%%s%%'\"", table), blocked, 0).after(thought{p.pick("A lock timeout.", "Something holds the lock.", "Timed out again."), p.pick("Who blocks it?", "Let me look for the blocker.", "Let me see who holds the lock.")}),
			run(fmt.Sprintf("psql shop -c 'SELECT pg_terminate_backend(%d)'", pid), " pg_terminate_backend \n----------------------\n t\n(1 row)", 0).after(thought{fmt.Sprintf("It is %d, of %s.", pid, program), p.pick("I'll terminate it.", "Let me end that session.", "Kill it.")}))
	}
	return entries, 3
}
