package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work at services: one database, one order of the tests, one contract or one query after the other.

func backendLookalikes() []kind {
	return []kind{
		{name: "tenant_databases_migrated_in_turn", build: tenantDatabasesMigratedInTurn},
		{name: "seeds_run_until_order_fails", build: seedsRunUntilOrderFails},
		{name: "contracts_verified_by_consumer", build: contractsVerifiedByConsumer},
		{name: "slow_queries_indexed_in_turn", build: slowQueriesIndexedInTurn},
	}
}

// nextOf is wording.of with the name of the item in place of %s.
func (w wording) nextOf(p *generator, round int, item string) thought {
	t := w.of(p, round)
	if strings.Contains(t.next, "%s") {
		t.next = fmt.Sprintf(t.next, item)
	}
	return t
}

// tenantDatabasesMigratedInTurn applies one migration to the database of one tenant after the other; the outputs differ by names and durations.
func tenantDatabasesMigratedInTurn(p *generator) (entries []entry, _ int) {
	run, tenants := p.waitingShell(), p.distinctWords(p.between(6, 15))
	table, column, stamp := p.word()+"s", p.word()+"_id", fmt.Sprintf("202606%02d%02d%02d%02d", p.between(1, 28), p.between(8, 18), p.IntN(60), p.IntN(60))
	migrate := []func(tenant string) (string, string){
		func(tenant string) (string, string) {
			spent := fmt.Sprintf("%d.%04ds", p.IntN(3), p.between(100, 9999))
			title := capitalized(column[:len(column)-3])
			return "TENANT=" + tenant + " bin/rails apartment:migrate", fmt.Sprintf("Migrating %s tenant\n== %s Add%sTo%s: migrating ==========================\n-- add_column(:%s, :%s, :bigint)\n   -> %s\n-- add_index(:%s, :%s, {:algorithm=>:concurrently})\n   -> %s\n== %s Add%sTo%s: migrated (%s) =================", tenant, stamp, title, capitalized(table), table, column, spent, table, column, spent, stamp, title, capitalized(table), spent)
		},
		func(tenant string) (string, string) {
			return "php artisan tenants:migrate --tenants=" + tenant + " --force", fmt.Sprintf("Tenant: %s\n\n   INFO  Running migrations.\n\n  2026_06_02_%s_add_%s_to_%s_table %s %d.%02dms DONE", tenant, stamp[8:], column, table, strings.Repeat(".", 30), p.between(8, 900), p.IntN(100))
		},
		func(tenant string) (string, string) {
			return "flyway -url=jdbc:postgresql://db:5432/" + tenant + " migrate", fmt.Sprintf("Flyway Community Edition 10.17.0 by Redgate\n\nDatabase: jdbc:postgresql://db:5432/%s (PostgreSQL 16.3)\nSuccessfully validated 41 migrations (execution time 00:00.0%02ds)\nCurrent version of schema \"public\": 40\nMigrating schema \"public\" to version \"41 - add %s to %s\"\nSuccessfully applied 1 migration to schema \"public\", now at version v41 (execution time 00:00.%03ds)", tenant, p.between(20, 90), strings.ReplaceAll(column, "_", " "), table, p.between(10, 999))
		},
		func(tenant string) (string, string) {
			return "dotnet ef database update --no-build --connection \"Host=db;Database=" + tenant + ";Username=app\"", fmt.Sprintf("Acquiring an exclusive lock for migration application. See https://aka.ms/efcore-docs-migrations-lock for more information if this takes too long.\nApplying migration '%s_Add%s'.\nDone.", stamp, capitalized(column[:len(column)-3]))
		},
	}[p.IntN(4)]
	checks, query := p.IntN(3) == 0, "SELECT count(*) FROM information_schema.columns WHERE table_name = '"+table+"' AND column_name = '"+column+"'"
	w := wording{
		[]string{"I'll migrate the tenants one by one.", "Let me start with `" + tenants[0] + "`.", fmt.Sprintf("There are %d tenants. I migrate them in turn.", len(tenants))},
		[]string{"Migrated.", "That tenant is done.", "No problems there.", "Done.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "On to `%s`.", "Then `%s`."},
	}
	for k, tenant := range tenants {
		command, output := migrate(tenant)
		entries = append(entries, run(command, output, 0).after(w.nextOf(p, k, tenant)))
		if checks {
			entries = append(entries, run("psql -h db -d "+tenant+" -Atc \""+query+"\"", "1", 0).after(thought{"", p.pick("Is the column there?", "Verify.", "")}))
		}
	}
	return entries, 0
}

// shuffledSuite is a suite of tests that can be run in another order by a number.
type shuffledSuite struct {
	command func(seed int) string
	passes  func(seed int) string
	fails   func(seed int) string
	file    string
	fix     [2]string
}

func (p *generator) shuffledSuite() shuffledSuite {
	thing, tests, files := p.word(), p.between(40, 400), p.between(2, 9)
	name, want := capitalized(thing), p.between(3, 90)*10
	got, what := want+p.pickInt(-20, -10, 10, 50), p.word()
	spent := func() string { return fmt.Sprintf("%d.%02d", p.between(2, 40), p.IntN(100)) }
	switch p.IntN(3) {
	case 0:
		return shuffledSuite{
			func(seed int) string { return fmt.Sprintf("bundle exec rspec spec/models --seed %d", seed) },
			func(seed int) string {
				return fmt.Sprintf("\nRandomized with seed %d\n%s\n\nFinished in %s seconds (files took %d.%02d seconds to load)\n%d examples, 0 failures\n\nRandomized with seed %d", seed, strings.Repeat(".", tests), spent(), files, p.IntN(100), tests, seed)
			},
			func(seed int) string {
				return fmt.Sprintf("\nRandomized with seed %d\n%sF%s\n\nFailures:\n\n  1) %s#%s is computed\n     Failure/Error: expect(%s.%s).to eq(%d)\n\n       expected: %d\n            got: %d\n\n     # ./spec/models/%s_spec.rb:31:in 'block (3 levels) in <main>'\n\nFinished in %s seconds (files took %d.%02d seconds to load)\n%d examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/models/%s_spec.rb:28 # %s#%s is computed\n\nRandomized with seed %d", seed, strings.Repeat(".", seed%tests), strings.Repeat(".", tests-1-seed%tests), name, what, thing, what, want, want, got, thing, spent(), files, p.IntN(100), tests, thing, name, what, seed)
			},
			"spec/models/" + thing + "_spec.rb",
			[2]string{"  before { Settings." + what + " = 12 }", "  around { |example| Settings.with(" + what + ": 12) { example.run } }"},
		}
	case 1:
		return shuffledSuite{
			func(seed int) string {
				return fmt.Sprintf("vendor/bin/phpunit --order-by=random --random-order-seed=%d", seed)
			},
			func(seed int) string {
				return fmt.Sprintf("PHPUnit 11.2.8 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.3.9\nConfiguration: /app/phpunit.xml\nRandom Seed:   %d\n\n%s %d / %d (100%%)\n\nTime: 00:%s, Memory: %d.00 MB\n\nOK (%d tests, %d assertions)", seed, strings.Repeat(".", 61), tests, tests, spent(), 2*p.between(20, 60), tests, 3*tests)
			},
			func(seed int) string {
				return fmt.Sprintf("PHPUnit 11.2.8 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.3.9\nConfiguration: /app/phpunit.xml\nRandom Seed:   %d\n\n%sF%s %d / %d (100%%)\n\nTime: 00:%s, Memory: %d.00 MB\n\nThere was 1 failure:\n\n1) Tests\\Unit\\%sTest::test_computes_%s\nFailed asserting that %d matches expected %d.\n\n/app/tests/Unit/%sTest.php:44\n\nFAILURES!\nTests: %d, Assertions: %d, Failures: 1.", seed, strings.Repeat(".", seed%50), strings.Repeat(".", 9), tests, tests, spent(), 2*p.between(20, 60), name, what, got, want, name, tests, 3*tests)
			},
			"tests/Unit/" + name + "Test.php",
			[2]string{"        Config::set('" + what + "', 12);", "        $this->withConfig('" + what + "', 12);"},
		}
	}
	return shuffledSuite{
		func(seed int) string { return fmt.Sprintf("npx jest --randomize --seed=%d", seed) },
		func(seed int) string {
			text := ""
			for k := range files {
				text += fmt.Sprintf("PASS src/%s/part%d.test.ts\n", thing, k+1)
			}
			return fmt.Sprintf("%s\nSeed:        %d\nTest Suites: %d passed, %d total\nTests:       %d passed, %d total\nSnapshots:   0 total\nTime:        %s s\nRan all test suites.", text, seed, files, files, tests, tests, spent())
		},
		func(seed int) string {
			return fmt.Sprintf("FAIL src/%s/part1.test.ts\n  ● %s › computes the %s\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: %d\n    Received: %d\n\n      at Object.<anonymous> (src/%s/part1.test.ts:52:27)\n\nSeed:        %d\nTest Suites: 1 failed, %d passed, %d total\nTests:       1 failed, %d passed, %d total\nSnapshots:   0 total\nTime:        %s s", thing, name, what, want, got, thing, seed, files-1, files, tests-1, tests, spent())
		},
		"src/" + thing + "/part1.test.ts",
		[2]string{"beforeAll(() => settings.set('" + what + "', 12));", "beforeEach(() => settings.set('" + what + "', 12));\nafterEach(() => settings.reset());"},
	}
}

// seedsRunUntilOrderFails runs the tests in one order after the other until one order fails, mends what the order shows and runs it again.
func seedsRunUntilOrderFails(p *generator) (entries []entry, _ int) {
	h, s, seeds := p.patientHarness(), p.shuffledSuite(), map[int]bool{}
	fresh := func() int {
		for {
			if seed := p.between(1000, 65_000); !seeds[seed] {
				seeds[seed] = true
				return seed
			}
		}
	}
	w := wording{
		[]string{"The failure in CI depends on the order of the tests, so I try several seeds.", "I'll run the suite with different seeds until one fails."},
		[]string{"This order passes.", "No failure with that seed.", "All pass.", "Passed.", ""},
		[]string{"Next seed.", "Let me try another order.", "Another seed.", "Now with seed %s."},
	}
	n := p.between(4, 12)
	for k := range n {
		seed := fresh()
		entries = append(entries, h.shell(s.command(seed), s.passes(seed), 0).after(w.nextOf(p, k, fmt.Sprint(seed))))
	}
	seed := fresh()
	entries = append(entries, h.shell(s.command(seed), s.fails(seed), 1).after(w.nextOf(p, n, fmt.Sprint(seed))),
		h.replace(s.file, s.fix[0], s.fix[1]).after(thought{"There it is: this order fails.", p.pick("A setting leaks from another test. Let me set it for each test.", "A test depends on state that another one leaves. I'll isolate it.")}),
		h.shell(s.command(seed), s.passes(seed), 0).after(thought{"", p.pick("The same seed has to pass now.", "Let me run that order again.")}))
	for range p.IntN(3) {
		seed = fresh()
		entries = append(entries, h.shell(s.command(seed), s.passes(seed), 0).after(thought{"It passes.", p.pick("One more order.", "And another seed, to be safe.")}))
	}
	return entries, 0
}

// contractsVerifiedByConsumer verifies a service against the contract of one consumer after the other; now and then a state has to be added.
func contractsVerifiedByConsumer(p *generator) (entries []entry, _ int) {
	h, service, consumers := p.patientHarness(), p.workload(), p.distinctWords(p.between(5, 11))
	java := p.coin()
	w := wording{
		[]string{"I'll verify the contracts, consumer by consumer.", "Let me start with the contract of `" + consumers[0] + "`."},
		[]string{"That contract holds.", "Verified.", "No mismatch.", "All interactions match.", ""},
		[]string{"Next consumer: `%s`.", "Now `%s`.", "On to `%s`."},
	}
	for k, consumer := range consumers {
		consumer += p.pick("-web", "-app", "-bff", "-job")
		states := p.distinctWords(p.between(1, 12))
		missing := -1
		if p.IntN(4) == 0 {
			missing = p.IntN(len(states))
		}
		report := func(missing int) string {
			text := fmt.Sprintf("Verifying a pact between %s and %s\n", consumer, service)
			for n, state := range states {
				text += fmt.Sprintf("\n  a request for a %s\n    Given a %s exists\n", state, state)
				if n == missing {
					text += fmt.Sprintf("      returns a response which\n        has status code 200 (FAILED)\n        has a matching body (FAILED)\n\nFailures:\n1) a request for a %s: MissingStateChangeMethod: Did not find a test class method annotated with @State(\"a %s exists\")\n", state, state)
					continue
				}
				text += "      returns a response which\n        has status code 200 (OK)\n        has a matching body (OK)\n"
			}
			return text
		}
		command := "./gradlew pactVerify -PpactConsumer=" + consumer
		if !java {
			command = "PACT_CONSUMER=" + consumer + " npm run test:pact:provider"
		}
		t := w.nextOf(p, k, consumer)
		if missing >= 0 {
			file, state := "src/test/java/com/example/ProviderPactTest.java", states[missing]
			line := fmt.Sprintf("    @State(\"a %s exists\")\n    void %sExists() { fixtures.create(\"%s\"); }", state, state, state)
			if !java {
				file, line = "test/provider.pact.test.js", fmt.Sprintf("    'a %s exists': () => fixtures.create('%s'),", state, state)
			}
			entries = append(entries, h.shell(command, report(missing), 1).after(t), h.replace(file, "    // more states", line+"\n    // more states").after(thought{"The state is missing on our side.", "I'll add it."}))
			t = p.runAgain()
		}
		entries = append(entries, h.shell(command, report(-1), 0).after(t))
	}
	return entries, 0
}

// slowQueriesIndexedInTurn takes the slowest queries one by one: the plan, an index, and the plan again.
func slowQueriesIndexedInTurn(p *generator) (entries []entry, _ int) {
	psql, tables := p.waitingShell(), p.distinctWords(p.between(4, 9))
	database := p.word()
	ask := func(sql, output string) entry { return psql("psql -d "+database+" -c \""+sql+"\"", output, 0) }
	w := wording{
		[]string{"I'll take the slowest queries one by one.", "Let me look at the plan of the slowest query."},
		[]string{"It uses the index now.", "Much faster.", "That one is fixed.", "Good.", ""},
		[]string{"Next, the query on `%s`.", "Now `%s`.", "The next slow query reads `%s`."},
	}
	if p.coin() {
		list := " mean_exec_time |  calls  | query\n----------------+---------+------------------------------"
		for k, table := range tables {
			list += fmt.Sprintf("\n %14.1f | %7d | SELECT * FROM %ss WHERE ...", float64(90_000-9000*k-p.IntN(8000))/10, p.between(100, 900_000), table)
		}
		entries = append(entries, ask(fmt.Sprintf("SELECT mean_exec_time, calls, left(query, 60) AS query FROM pg_stat_statements ORDER BY mean_exec_time DESC LIMIT %d", len(tables)), list).after(thought{"", p.pick("Which queries cost the most?", "First the list of slow queries.", "")}))
	}
	for k, table := range tables {
		table += "s"
		column := p.word() + p.pick("_id", "_no", "_key")
		rows, cost, slow := p.between(200_000, 90_000_000), p.between(9000, 900_000), p.between(300, 9000)
		query := fmt.Sprintf("EXPLAIN ANALYZE SELECT * FROM %s WHERE %s = %d", table, column, p.between(1, 99_999))
		workers := p.between(2, 4)
		index := "ix_" + table + "_" + column
		entries = append(
			entries,
			ask(query, fmt.Sprintf("                       QUERY PLAN\n------------------------------------------------------\n Gather  (cost=1000.00..%d.%02d rows=12 width=%d) (actual time=%d.%03d..%d.%03d rows=9 loops=1)\n   Workers Planned: %d\n   Workers Launched: %d\n   ->  Parallel Seq Scan on %s  (cost=0.00..%d.11 rows=5 width=120)\n         Rows Removed by Filter: %d\n Planning Time: 0.%03d ms\n Execution Time: %d.%03d ms", cost, p.IntN(100), p.between(40, 300), slow-9, p.IntN(1000), slow, p.IntN(1000), workers, workers, table, cost-1000, rows/workers, p.between(80, 900), slow, p.IntN(1000))).after(w.nextOf(p, k, table)),
			ask("CREATE INDEX CONCURRENTLY "+index+" ON "+table+" ("+column+")", "CREATE INDEX").after(thought{p.pick("A sequential scan.", "It reads the whole table.", ""), p.pick("Let me add an index.", "An index on `"+column+"` will help.", "")}),
			ask(query, fmt.Sprintf("                       QUERY PLAN\n------------------------------------------------------\n Index Scan using %s on %s  (cost=0.43..%d.%02d rows=12 width=120) (actual time=0.0%02d..0.0%02d rows=9 loops=1)\n   Index Cond: (%s = $1)\n Planning Time: 0.%03d ms\n Execution Time: 0.%03d ms", index, table, p.between(8, 40), p.IntN(100), p.between(10, 40), p.between(41, 99), column, p.between(80, 900), p.between(50, 990))).after(thought{"", p.pick("The plan again.", "Is the index used?", "Check the plan.", "")}),
		)
	}
	return entries, 0
}
