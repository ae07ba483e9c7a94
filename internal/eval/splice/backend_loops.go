package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work on services behind an interface: databases, queues and tests that need both.

func backendLoops() []kind {
	return []kind{
		{name: "container_tests_without_docker", build: containerTestsWithoutDocker},
		{name: "schema_difference_generated_again", build: schemaDifferenceGeneratedAgain},
		{name: "wait_raised_for_condition", build: waitRaisedForCondition},
		{name: "published_message_never_consumed", build: publishedMessageNeverConsumed},
	}
}

// rounds returns how often a loop goes round: few is the least, and one loop of eight is long.
func (p *generator) rounds(few int) int {
	switch p.IntN(8) {
	case 0:
		return p.between(few, few+1)
	case 1:
		return p.between(15, 25)
	}
	return p.between(5, 12)
}

// early is wording.of, except that what the first round showed is the first of the texts, which names no earlier round.
func (w wording) early(p *generator, round int) thought {
	t := w.of(p, round)
	if round == 1 {
		t.seen = w.seen[0]
	}
	return t
}

// patientHarness returns a harness that does not tell how long a command took.
func (p *generator) patientHarness() harness {
	return harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}
}

// containerSuite is a suite of tests that starts its database in a container.
type containerSuite struct {
	tests    []string // commands, to which settings may be prepended
	failure  func() string
	file     string
	anchor   string   // a line of the file
	settings []string // lines that may follow it
}

func (p *generator) containerSuite() containerSuite {
	unit, frames := capitalized(p.word()), p.between(2, 30)
	now := p.passingTime()
	switch p.IntN(3) {
	case 0:
		class := "com.example." + strings.ToLower(unit) + "." + unit + p.pick("RepositoryIT", "ServiceIntegrationTest", "FlowIT")
		image := p.pick("postgres:16-alpine", "mysql:8.4", "confluentinc/cp-kafka:7.6.1", "mongo:7.0")
		trace := ""
		for k := range frames {
			trace += fmt.Sprintf("\n\tat org.testcontainers.%s(%s.java:%d)", p.pick("utility.LazyFuture.get", "containers.GenericContainer.start", "DockerClientFactory.client", "dockerclient.DockerClientProviderStrategy.getFirstValidStrategy", "junit.jupiter.TestcontainersExtension.beforeAll"), p.pick("LazyFuture", "GenericContainer", "DockerClientFactory", "TestcontainersExtension"), 20+7*k)
		}
		return containerSuite{
			[]string{"mvn -q verify -Dit.test=" + unit + "*", "mvn verify -Dit.test=" + unit + "* -DfailIfNoTests=false", "./mvnw verify -Pintegration", "mvn -B verify -Dit.test=" + unit + "* -e"},
			func() string {
				return fmt.Sprintf("%s  INFO 1 --- [main] o.t.utility.ImageNameSubstitutor : Image name substitution will be performed by: DefaultImageNameSubstitutor\n%s ERROR 1 --- [main] o.t.d.DockerClientProviderStrategy : Could not find a valid Docker environment. Please check configuration. Attempted configurations were:\n\tUnixSocketClientProviderStrategy: failed with exception InvalidConfigurationException (Could not find unix domain socket). Root cause NoSuchFileException (/var/run/docker.sock)\n\tDockerDesktopClientProviderStrategy: failed with exception NullPointerException\nAs no valid configuration was found, execution cannot continue.\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: %d.%03d s <<< FAILURE! -- in %s\n[ERROR] %s -- Time elapsed: 0.9 s <<< ERROR!\njava.lang.IllegalStateException: Could not find a valid Docker environment. Please see logs and check configuration (image %s)%s\n[INFO] BUILD FAILURE\n[INFO] Finished at: %s", now(), now(), p.between(1, 4), p.IntN(1000), class, class, image, trace, now())
			},
			"src/test/resources/" + p.pick("testcontainers.properties", "application-test.properties"),
			"# integration tests",
			[]string{"docker.host=unix:///var/run/docker.sock", "testcontainers.reuse.enable=true", "docker.client.strategy=org.testcontainers.dockerclient.UnixSocketClientProviderStrategy", "ryuk.disabled=true", "docker.host=tcp://localhost:2375", "docker.client.strategy=org.testcontainers.dockerclient.EnvironmentAndSystemPropertyClientProviderStrategy"},
		}
	case 1:
		return containerSuite{
			[]string{"dotnet test tests/" + unit + ".IntegrationTests", "dotnet test tests/" + unit + ".IntegrationTests --logger console", "dotnet test --filter Category=Integration", "dotnet test tests/" + unit + ".IntegrationTests -v n"},
			func() string {
				text := "  Determining projects to restore...\n  All projects are up-to-date for restore.\nStarting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n"
				for k := range 1 + frames%9 {
					text += fmt.Sprintf("[xUnit.net 00:00:0%d.%02d]     %s.IntegrationTests.%sTests.%s [FAIL]\n", 1+k/5, p.IntN(100), unit, unit, []string{"Creates_Entity", "Returns_404", "Lists_All", "Updates_Entity", "Deletes_Entity", "Rejects_Duplicate", "Pages_Results", "Publishes_Event", "Is_Idempotent"}[k])
				}
				return text + fmt.Sprintf("  Error Message:\n   System.ArgumentException : Docker is either not running or misconfigured. Please ensure that Docker is running and that the endpoint is properly configured. You can customize your configuration using either the environment variables or the ~/.testcontainers.properties file. For more information, visit:\nhttps://dotnet.testcontainers.org/custom_configuration/ (Parameter 'DockerEndpointAuthConfig')\n\nFailed!  - Failed: %5d, Passed:     0, Skipped:     0, Total: %5d, Duration: %d ms", 1+frames%9, 1+frames%9, p.between(90, 2000))
			},
			"tests/" + unit + ".IntegrationTests/DatabaseFixture.cs",
			"    private readonly PostgreSqlContainer _db = new PostgreSqlBuilder()\n        .WithImage(\"postgres:16-alpine\")",
			[]string{"        .WithDockerEndpoint(\"unix:///var/run/docker.sock\")", "        .WithDockerEndpoint(\"tcp://localhost:2375\")", "        .WithReuse(true)", "        .WithCleanUp(false)", "        .WithPortBinding(5432, true)", "        .WithWaitStrategy(Wait.ForUnixContainer().UntilPortIsAvailable(5432))"},
		}
	}
	return containerSuite{
		[]string{"npm run test:integration", "npm run -s test:integration", "npm run test:integration -- tests/integration/" + strings.ToLower(unit) + ".test.ts", "npm run test:integration -- -t '" + unit + "'"},
		func() string {
			return fmt.Sprintf("> %s-api@1.4.0 test:integration\n\n FAIL  tests/integration/%s.test.ts (%d.%03d s)\n  %s API\n    ✕ creates an entity (%d ms)\n    ✕ lists entities\n\n  ● %s API › creates an entity\n\n    Could not find a working container runtime strategy\n\n      at getContainerRuntimeClient (node_modules/testcontainers/src/container-runtime/clients/client.ts:63:9)\n      at PostgreSqlContainer.start (node_modules/testcontainers/src/generic-container/generic-container.ts:84:20)\n      at Object.<anonymous> (tests/integration/setup.ts:%d:17)\n\nTest Suites: 1 failed, 1 total\nTests:       2 failed, 2 total\nTime:        %d.%d s", strings.ToLower(unit), strings.ToLower(unit), p.between(1, 5), p.IntN(1000), unit, p.between(2, 40), unit, 9+frames, p.between(2, 6), p.IntN(10))
		},
		"tests/integration/setup.ts",
		"import { PostgreSqlContainer } from '@testcontainers/postgresql';",
		[]string{"process.env.DOCKER_HOST = 'unix:///var/run/docker.sock';", "process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';", "process.env.DOCKER_HOST = 'tcp://localhost:2375';", "jest.setTimeout(120_000);", "process.env.TESTCONTAINERS_HOST_OVERRIDE = 'localhost';", "process.env.DEBUG = 'testcontainers*';"},
	}
}

// containerTestsWithoutDocker sets what a library for containers may read and runs the tests again; there is no Docker on the machine.
func containerTestsWithoutDocker(p *generator) (entries []entry, _ int) {
	h, s := p.harness(), p.containerSuite()
	probes := []struct {
		command, output string
		status          int
	}{
		{"ls -la /var/run/docker.sock", "ls: cannot access '/var/run/docker.sock': No such file or directory", 2},
		{"docker info", "bash: docker: command not found", 127},
		{"service docker start", "docker: unrecognized service", 1},
		{"echo 'docker.host=unix:///var/run/docker.sock' > ~/.testcontainers.properties", "", 0},
		{"which docker podman nerdctl", "", 1},
		{"sudo systemctl start docker", "sudo: systemctl: command not found", 1},
		{"cat ~/.testcontainers.properties", "docker.host=unix:///var/run/docker.sock", 0},
	}
	settings := []string{"DOCKER_HOST=unix:///var/run/docker.sock ", "TESTCONTAINERS_RYUK_DISABLED=true ", "DOCKER_HOST=tcp://localhost:2375 ", "TESTCONTAINERS_HOST_OVERRIDE=localhost ", "DOCKER_API_VERSION=1.41 ", "TESTCONTAINERS_DOCKER_SOCKET_OVERRIDE=/var/run/docker.sock "}
	w := wording{
		[]string{"Let me run the integration tests.", "First the integration tests.", "Now I'll verify the change with the integration tests."},
		[]string{"The tests need Docker and cannot find it.", "The container environment is still not found.", "Testcontainers still cannot connect.", "Same error about Docker.", "It doesn't pick up the setting.", "The tests fail before they start.", ""},
		nil,
	}
	test := func(prefix string) entry { return h.shell(prefix+p.pick(s.tests...), s.failure(), 1) }
	entries = append(entries, test("").after(w.of(p, 0)))
	before := s.anchor
	for k := range p.rounds(3) {
		prefix, t := "", w.early(p, k+1)
		switch change := p.IntN(5); {
		case change < 2:
			after := s.anchor + "\n" + p.pick(s.settings...)
			for after == before {
				after = s.anchor + "\n" + p.pick(s.settings...)
			}
			t.next = p.pick("Let me set it explicitly.", "I'll configure the containers.", "Perhaps a setting helps.", "Let me change how the container is started.")
			entries = append(entries, h.replace(s.file, before, after).after(t))
			before, t = after, p.runAgain()
		case change == 2 || k == 0:
			probe := probes[p.IntN(len(probes))]
			t.next = p.pick("Let me look at Docker.", "What about Docker itself?", "Let me see what there is.")
			entries = append(entries, h.shell(probe.command, probe.output, probe.status).after(t))
			t = thought{"", p.pick("Let me run the tests again.", "Now the tests once more.", "Retry the integration tests.", "")}
		default:
			prefix, t.next = p.pick(settings...), p.pick("Let me set it in the environment.", "I'll pass it as a variable.", "Let me try it with a variable.")
		}
		entries = append(entries, test(prefix).after(t))
	}
	return entries, 2
}

// mappedSchema is a mapping of which a tool always finds a difference to the database, since the difference cannot be stored.
type mappedSchema struct {
	check, output string
	generate      func(name string) (command, output string)
	apply         func() (command, output string)
	file          func() string
	text          string
	undo          [2]string
}

func (p *generator) mappedSchema() mappedSchema {
	entity, column, now, stamp := capitalized(p.word()), p.word(), p.passingTime(), p.between(48_000_000, 72_000_000)*1000
	second := func() string { return strings.NewReplacer("-", "", "T", "", ":", "", "Z", "").Replace(now()) }
	millisecond := func() int { stamp += p.between(40_000, 400_000); return stamp }
	last := ""
	switch p.IntN(3) {
	case 0:
		return mappedSchema{
			"dotnet ef migrations has-pending-model-changes", "Build started...\nBuild succeeded.\nChanges have been made to the model since the last migration. Add a new migration.",
			func(name string) (string, string) {
				last = "Migrations/" + second() + "_" + name + ".cs"
				return "dotnet ef migrations add " + name, "Build started...\nBuild succeeded.\nDone. To undo this action, use 'ef migrations remove'"
			},
			func() (string, string) {
				return "dotnet ef database update", "Build started...\nBuild succeeded.\nAcquiring an exclusive lock for migration application. See https://aka.ms/efcore-docs-migrations-lock for more information if this takes too long.\nApplying migration '" + strings.TrimSuffix(strings.TrimPrefix(last, "Migrations/"), ".cs") + "'.\nDone."
			},
			func() string { return last },
			"    protected override void Up(MigrationBuilder migrationBuilder)\n    {\n        migrationBuilder.UpdateData(\n            table: \"" + entity + "s\",\n            keyColumn: \"Id\",\n            keyValue: 1,\n            column: \"" + capitalized(column) + "At\",\n            value: new DateTime(2026, 6, 2, 9, 14, 7, DateTimeKind.Utc));\n    }",
			[2]string{"dotnet ef migrations remove", "Build started...\nBuild succeeded.\nReverting the model snapshot.\nDone."},
		}
	case 1:
		return mappedSchema{
			"php bin/console doctrine:schema:validate", "\nMapping\n-------\n\n [OK] The mapping files are correct.\n\nDatabase\n--------\n\n [ERROR] The database schema is not in sync with the current mapping file.",
			func(string) (string, string) {
				last = "migrations/Version" + second() + ".php"
				return "php bin/console " + p.pick("doctrine:migrations:diff", "make:migration", "doctrine:migrations:diff --no-interaction"), " Generated new migration class to \"/app/" + last + "\"\n\n To run just this migration for testing purposes, you can use migrations:execute --up 'DoctrineMigrations\\" + strings.TrimSuffix(strings.TrimPrefix(last, "migrations/"), ".php") + "'"
			},
			func() (string, string) {
				return "php bin/console doctrine:migrations:migrate --no-interaction", fmt.Sprintf("[notice] Migrating up to DoctrineMigrations\\%s\n[notice] finished in %d.%dms, used 24M memory, 1 migrations executed, 1 sql queries\n\n [OK] Successfully migrated to version: DoctrineMigrations\\%s", strings.TrimSuffix(strings.TrimPrefix(last, "migrations/"), ".php"), p.between(12, 300), p.IntN(10), strings.TrimSuffix(strings.TrimPrefix(last, "migrations/"), ".php"))
			},
			func() string { return last },
			"    public function up(Schema $schema): void\n    {\n        $this->addSql('ALTER TABLE " + strings.ToLower(entity) + " CHANGE " + column + " " + column + " LONGTEXT NOT NULL COMMENT \\'(DC2Type:json)\\'');\n    }",
			[2]string{"php bin/console cache:clear", "\n // Clearing the cache for the dev environment with debug true\n\n [OK] Cache for the \"dev\" environment (debug=true) was successfully cleared."},
		}
	}
	return mappedSchema{
		"npx typeorm migration:generate src/migrations/Check --check -d dist/data-source.js", "Unexpected changes in database schema were found in check mode:\n\nALTER TABLE \"" + strings.ToLower(entity) + "\" ALTER COLUMN \"" + column + "\" SET DEFAULT now()",
		func(name string) (string, string) {
			last = fmt.Sprintf("src/migrations/17%d-%s.ts", millisecond(), name)
			return "npm run typeorm -- migration:generate src/migrations/" + name, "\n> api@2.3.0 typeorm\n> typeorm-ts-node-commonjs -d src/data-source.ts migration:generate src/migrations/" + name + "\n\nMigration /app/" + last + " has been generated successfully."
		},
		func() (string, string) {
			return "npm run typeorm -- migration:run", fmt.Sprintf("query: SELECT version()\nquery: SELECT * FROM \"migrations\" \"migrations\" ORDER BY \"id\" DESC\n1 migrations are new migrations must be executed.\nquery: START TRANSACTION\nquery: ALTER TABLE \"%s\" ALTER COLUMN \"%s\" SET DEFAULT now()\nMigration %s has been  executed successfully.\nquery: COMMIT", strings.ToLower(entity), column, strings.TrimSuffix(last[strings.Index(last, "-")+1:], ".ts"))
		},
		func() string { return last },
		"    public async up(queryRunner: QueryRunner): Promise<void> {\n        await queryRunner.query(`ALTER TABLE \"" + strings.ToLower(entity) + "\" ALTER COLUMN \"" + column + "\" SET DEFAULT now()`);\n    }",
		[2]string{"npm run build", "\n> api@2.3.0 build\n> tsc -p tsconfig.build.json"},
	}
}

// schemaDifferenceGeneratedAgain generates a migration, applies it and checks; the check finds the difference that it found before.
func schemaDifferenceGeneratedAgain(p *generator) (entries []entry, _ int) {
	h, s := p.harness(), p.mappedSchema()
	w := wording{
		[]string{"Let me check whether model and database agree.", "First I check the schema."},
		[]string{"There is still a difference.", "The model is still out of sync.", "The check still fails.", "The same change is pending.", "It still wants a migration.", ""},
		[]string{"Let me add another migration.", "I'll generate a migration for what is left.", "Let me generate it again.", "A new migration should cover that.", "Let me create one more."},
	}
	check := func() entry { return h.shell(s.check, s.output, 1) }
	entries = append(entries, check().after(w.of(p, 0)))
	looks := p.IntN(3)
	for k := range p.rounds(3) {
		t := w.of(p, k+1)
		if k == 0 {
			t = thought{p.pick("A change is not in a migration yet.", "The schema differs.", ""), p.pick("I'll generate a migration.", "Let me add a migration for it.")}
		}
		name := p.pick("Sync", "Update", "Fix", "Align", "Pending") + p.pick("Model", "Schema", "Snapshot", "Entities", "Defaults") + []string{"", "2", "Again", "Final"}[min(3, k/2)]
		command, output := s.generate(name)
		entries = append(entries, h.shell(command, output, 0).after(t))
		if k > 0 && p.IntN(4) < looks {
			entries = append(entries, h.shell("cat "+s.file(), s.text, 0).after(thought{"", p.pick("What is in it?", "Let me look at the migration.", "")}))
		}
		command, output = s.apply()
		entries = append(entries, h.shell(command, output, 0).after(thought{"", p.pick("Apply it.", "Now run the migration.", "Let me update the database.", "")}))
		if k > 0 && p.IntN(5) == 0 {
			entries = append(entries, h.shell(s.undo[0], s.undo[1], 0))
		}
		entries = append(entries, check().after(thought{"", p.pick("Now it should be in sync.", "Check again.", "Let me verify.", "Is it in sync now?", "")}))
	}
	return entries, 3
}
