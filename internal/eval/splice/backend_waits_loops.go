package splice

import (
	"fmt"
	"strings"
)

// The loops of this file wait for what does not happen: a condition of a test, or a message at its consumer.

// slowWait is a test that waits for something that never happens.
type slowWait struct {
	file    string
	waits   func(seconds int) []string // lines of the file that wait
	command string
	failure func(seconds int) string
}

func (p *generator) slowWait() slowWait {
	thing, at := p.word(), p.between(30, 200)
	switch p.IntN(4) {
	case 0:
		return p.slowListenerTest(thing, at)
	case 1:
		return p.slowConsumerTest(thing, at)
	case 2:
		return p.slowSystemSpec(thing, at)
	}
	return p.slowQueueTest(thing, at)
}

// slowListenerTest is a test in Java.
func (p *generator) slowListenerTest(thing string, at int) slowWait {
	name, frames := capitalized(thing), ""
	for k := range p.between(0, 24) {
		frames += fmt.Sprintf("\n        at %s:%d)", p.pick("org.awaitility.core.ConditionAwaiter.await(ConditionAwaiter.java", "org.awaitility.core.ConditionFactory.until(ConditionFactory.java", "java.base/java.lang.reflect.Method.invoke(Method.java", "org.junit.jupiter.engine.execution.InvocationInterceptorChain.proceed(InvocationInterceptorChain.java"), 100+31*k)
	}
	event := p.pick("Created", "Paid", "Shipped", "Cancelled", "Imported")
	return slowWait{
		"src/test/java/com/example/" + thing + "/" + name + event + "ListenerTest.java",
		func(seconds int) []string {
			return []string{
				fmt.Sprintf("        await().atMost(%d, SECONDS).until(() -> repository.count() == 1);", seconds),
				fmt.Sprintf("        await().atMost(Duration.ofSeconds(%d)).pollInterval(500, MILLISECONDS).until(() -> repository.count() == 1);", seconds),
				fmt.Sprintf("        await().pollDelay(2, SECONDS).atMost(%d, SECONDS).untilAsserted(() -> assertThat(repository.count()).isEqualTo(1));", seconds),
			}
		},
		p.pick("./gradlew test --tests '*"+name+event+"ListenerTest'", "mvn -q test -Dtest="+name+event+"ListenerTest"),
		func(seconds int) string {
			text := fmt.Sprintf("%s%sListenerTest > storesThe%s() FAILED\n    org.awaitility.core.ConditionTimeoutException: Condition with %s was not fulfilled within %d seconds. expected: 1L but was: 0L", name, event, name, name+event+"ListenerTest", seconds)
			return text + frames + fmt.Sprintf("\n        at com.example.%s.%s%sListenerTest.storesThe%s(%s%sListenerTest.java:%d)\n\n1 test completed, 1 failed\n\nBUILD FAILED in %ds", thing, name, event, name, name, event, at, seconds+p.between(8, 19))
		},
	}
}

// slowConsumerTest is a test in C#.
func (p *generator) slowConsumerTest(thing string, at int) slowWait {
	name := capitalized(thing)
	return slowWait{
		"tests/Api.Tests/" + name + "ConsumerTests.cs",
		func(seconds int) []string {
			return []string{
				fmt.Sprintf("        Assert.True(await harness.Consumed.Any<%sSubmitted>(new CancellationTokenSource(TimeSpan.FromSeconds(%d)).Token));", name, seconds),
				fmt.Sprintf("        harness.TestInactivityTimeout = TimeSpan.FromSeconds(%d);", seconds),
				fmt.Sprintf("        await Task.Delay(TimeSpan.FromSeconds(%d));", seconds),
			}
		},
		"dotnet test --filter FullyQualifiedName~" + name + "ConsumerTests",
		func(seconds int) string {
			return fmt.Sprintf("[xUnit.net 00:00:%02d.%02d]     Api.Tests.%sConsumerTests.Consumes_%s [FAIL]\n  Failed Api.Tests.%sConsumerTests.Consumes_%s [%d s]\n  Error Message:\n   Assert.True() Failure\nExpected: True\nActual:   False\n  Stack Trace:\n     at Api.Tests.%sConsumerTests.Consumes_%s() in /src/tests/Api.Tests/%sConsumerTests.cs:line %d\n\nFailed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1, Duration: %d s", seconds%60, p.IntN(100), name, name, name, name, seconds, name, name, name, at, seconds+1)
		},
	}
}

// slowSystemSpec is a test in Ruby.
func (p *generator) slowSystemSpec(thing string, at int) slowWait {
	name := capitalized(thing)
	return slowWait{
		"spec/system/" + thing + "_spec.rb",
		func(seconds int) []string {
			return []string{
				fmt.Sprintf("    expect(page).to have_css('.flash', text: '%s saved', wait: %d)", name, seconds),
				fmt.Sprintf("    using_wait_time(%d) { expect(page).to have_content('%s saved') }", seconds, name),
				fmt.Sprintf("    Capybara.default_max_wait_time = %d", seconds),
				fmt.Sprintf("    sleep %d", seconds),
			}
		},
		"bundle exec rspec spec/system/" + thing + "_spec.rb:" + fmt.Sprint(at),
		func(seconds int) string {
			return fmt.Sprintf("Run options: include {:locations=>{\"./spec/system/%s_spec.rb\"=>[%d]}}\nF\n\nFailures:\n\n  1) %s is saved from the form\n     Failure/Error: expect(page).to have_css('.flash', text: '%s saved')\n       expected to find css \".flash\" with text \"%s saved\" but there were no matches\n\n     [Screenshot Image]: tmp/capybara/failures_r_spec_example_groups_%s_%d.png\n     # ./spec/system/%s_spec.rb:%d:in 'block (2 levels) in <main>'\n\nFinished in %d.%02d seconds (files took %d.%02d seconds to load)\n1 example, 1 failure", thing, at, name, name, name, thing, p.IntN(1000), thing, at+7, seconds+2, p.IntN(100), p.between(2, 6), p.IntN(100))
		},
	}
}

// slowQueueTest is a test in TypeScript.
func (p *generator) slowQueueTest(thing string, at int) slowWait {
	thread := p.between(1, 40)
	return slowWait{
		"test/" + thing + ".queue.test.ts",
		func(seconds int) []string {
			return []string{
				fmt.Sprintf("  }, %d_000);", seconds),
				fmt.Sprintf("    await waitForExpect(() => expect(handler).toHaveBeenCalledTimes(1), %d_000);", seconds),
				fmt.Sprintf("    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1), { timeout: %d_000 });", seconds),
				fmt.Sprintf("    await setTimeout(%d_000);", seconds),
			}
		},
		"npx vitest run test/" + thing + ".queue.test.ts",
		func(seconds int) string {
			return fmt.Sprintf(" ❯ test/%s.queue.test.ts (1 test | 1 failed) %dms\n   × %s queue > calls the handler once\n     → expected \"spy\" to be called 1 times, but got 0 times\n\n AssertionError: expected \"spy\" to be called 1 times, but got 0 times\n ❯ test/%s.queue.test.ts:%d:%d\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n   Start at  %02d:%02d:%02d\n   Duration  %d.%02ds (transform %dms, setup 0ms, collect %dms, tests %d.%02ds)", thing, 1000*seconds+p.between(3, 90), thing, thing, at, thread, p.between(8, 19), p.IntN(60), p.IntN(60), seconds+1, p.IntN(100), p.between(30, 90), p.between(80, 300), seconds, p.IntN(100))
		},
	}
}

// waitRaisedForCondition lets a test wait longer and longer for something that does not happen at all.
func waitRaisedForCondition(p *generator) (entries []entry, _ int) {
	h, s, seconds := p.patientHarness(), p.slowWait(), p.pickInt(2, 3, 5)
	w := wording{
		[]string{"Let me run the test.", "First, I run the failing test."},
		[]string{"It timed out again.", "Still not fulfilled in time.", "The condition is still not met.", "It needs even more time.", "Looks like a timing issue.", ""},
		[]string{"Let me increase the timeout.", "I'll give it more time.", "Let me raise the wait.", "I'll wait longer, the environment may be slow.", "Let me wait in another way.", "A longer timeout should make it stable."},
	}
	entries = append(entries, h.shell(s.command, s.failure(seconds), 1).after(w.of(p, 0)))
	before := s.waits(seconds)[0]
	for k := range p.rounds(3) {
		if seconds += p.pickInt(0, 2, 5, 10, 15); seconds > 90 {
			seconds = p.pickInt(10, 20, 30)
		}
		after := p.pick(s.waits(seconds)...)
		for after == before {
			seconds++
			after = p.pick(s.waits(seconds)...)
		}
		t := w.of(p, k+1)
		if k == 0 {
			t.seen = p.pick("It timed out.", "The condition was not met in time.", "")
		}
		entries = append(entries, h.replace(s.file, before, after).after(t), h.shell(s.command, s.failure(seconds), 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// startup has what a service logs when it starts.
var startup = []string{
	"o.s.b.w.embedded.tomcat.TomcatWebServer : Tomcat initialized with port 8080 (http)", "o.apache.catalina.core.StandardEngine : Starting Servlet engine: [Apache Tomcat/10.1.25]",
	"w.s.c.ServletWebServerApplicationContext : Root WebApplicationContext: initialization completed in 2114 ms", "com.zaxxer.hikari.HikariDataSource : HikariPool-1 - Starting...",
	"com.zaxxer.hikari.pool.HikariPool : HikariPool-1 - Added connection conn0: url=jdbc:h2:mem:app user=SA", "com.zaxxer.hikari.HikariDataSource : HikariPool-1 - Start completed.",
	"o.hibernate.jpa.internal.util.LogHelper : HHH000204: Processing PersistenceUnitInfo [name: default]", "j.LocalContainerEntityManagerFactoryBean : Initialized JPA EntityManagerFactory for persistence unit 'default'",
	"o.s.b.a.e.web.EndpointLinksResolver : Exposing 3 endpoints beneath base path '/actuator'", "o.s.b.w.embedded.tomcat.TomcatWebServer : Tomcat started on port 8080 (http) with context path '/'",
}

// deafConsumer is a consumer that listens to another queue than the one that is published to.
type deafConsumer struct {
	publish func() (command, output string)
	looks   []func() (command, output string)
	restart func() (command, output string)
}

// consumerLog returns how the log of a consumer is read, and how the consumer is started anew.
func (p *generator) consumerLog(group string) (logs, restart func() (command, output string)) {
	worker, now := group+"-consumer", p.passingTime()
	reader := p.pick("docker compose logs %s"+worker, "docker logs %s"+worker+"-1", "kubectl logs deploy/"+worker+" %s")
	prefix, lines := "", p.between(0, len(startup))
	if strings.HasPrefix(reader, "docker compose") {
		prefix = worker + "-1  | "
	}
	start := func() string {
		text, at := "", prefix+now()
		for _, line := range startup[:lines] {
			text += at + "  INFO 1 --- [main] " + line + "\n"
		}
		return text + at + "  INFO Started " + capitalized(group) + "Application, waiting for messages"
	}
	logged := start()
	logs = func() (string, string) {
		if p.IntN(3) == 0 {
			return strings.TrimSpace(fmt.Sprintf(reader, p.pick("--since 10s ", "--since 30s ", "--since=1m "))), ""
		}
		return strings.TrimSpace(fmt.Sprintf(reader, p.pick("--tail=20 ", "--tail=50 ", "--tail 100 ", ""))), logged
	}
	restart = func() (string, string) {
		logged += "\n" + start()
		if strings.HasPrefix(reader, "kubectl") {
			return "kubectl rollout restart deploy/" + worker, "deployment.apps/" + worker + " restarted"
		}
		return p.pick("docker compose restart "+worker, "docker compose up -d --force-recreate "+worker), " Container " + worker + "-1  Started"
	}
	return logs, restart
}

func (p *generator) deafConsumer() deafConsumer {
	topic, group, number := p.word()+p.pick(".created", ".events", ".updated"), p.word(), p.between(100, 900)
	logs, restart := p.consumerLog(group)
	body := func() string {
		number++
		return fmt.Sprintf("{\"id\":%d,\"type\":\"%s\",\"amount\":%d}", number, topic, p.pickInt(1, 10, 42, 99, 100))
	}
	switch p.IntN(4) {
	case 0:
		return deafConsumer{
			func() (string, string) {
				return "echo '" + body() + "' | kafka-console-producer.sh --bootstrap-server localhost:9092 --topic " + topic, ""
			},
			[]func() (string, string){logs, func() (string, string) {
				return "kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group " + group, "\nGROUP           TOPIC                PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID\n" + group + "   " + topic + "-v2   0          0               0               0    consumer-" + group + "-1"
			}},
			restart,
		}
	case 1:
		return deafConsumer{
			func() (string, string) {
				return "rabbitmqadmin publish exchange=" + group + " routing_key=" + topic + " payload='" + body() + "'", "Message published but NOT routed"
			},
			[]func() (string, string){logs, func() (string, string) {
				return "rabbitmqctl list_queues name messages consumers", "Timeout: 60.0 seconds ...\nListing queues for vhost / ...\nname\tmessages\tconsumers\n" + group + "." + topic + "\t0\t1"
			}},
			restart,
		}
	case 2:
		return deafConsumer{
			func() (string, string) {
				return "php artisan tinker --execute=\"App\\\\Jobs\\\\Process" + capitalized(group) + "::dispatch(" + fmt.Sprint(p.between(1, 900)) + ");\"", "= Illuminate\\Foundation\\Bus\\PendingDispatch {#" + fmt.Sprint(p.between(5000, 7000)) + "}"
			},
			[]func() (string, string){
				func() (string, string) {
					return p.pick("tail -n 5 storage/logs/laravel.log", "tail -n 20 storage/logs/worker.log", "docker compose logs --since 1m queue"), "   INFO  Processing jobs from the [" + group + "] queue."
				},
				func() (string, string) { return "php artisan queue:failed", "\n   INFO  No failed jobs found." },
			},
			func() (string, string) {
				return "php artisan queue:restart", "\n   INFO  Broadcasting queue restart signal."
			},
		}
	}
	url := "http://sqs.eu-west-1.localhost.localstack.cloud:4566/000000000000/" + group
	return deafConsumer{
		func() (string, string) {
			return "awslocal sns publish --topic-arn arn:aws:sns:eu-west-1:000000000000:" + strings.ReplaceAll(topic, ".", "-") + " --message '" + body() + "'", "{\n    \"MessageId\": \"" + p.uuid() + "\"\n}"
		},
		[]func() (string, string){logs, func() (string, string) {
			return p.pick("awslocal sqs receive-message --queue-url "+url, "awslocal sqs receive-message --queue-url "+url+" --wait-time-seconds 5"), ""
		}},
		restart,
	}
}

// publishedMessageNeverConsumed publishes a message and looks for it at the consumer, which has not got it, and publishes the next.
func publishedMessageNeverConsumed(p *generator) (entries []entry, _ int) {
	run, c := p.waitingShell(), p.deafConsumer()
	w := wording{
		[]string{"Let me publish a test message.", "I'll test the consumer with a message."},
		[]string{"Nothing arrived.", "The consumer has not received it.", "No sign of the message.", "The log shows nothing new.", "It was not consumed.", ""},
		[]string{"Let me publish another one.", "I'll send it again.", "Let me try it with a new message.", "Perhaps the consumer was not ready. Once more.", "Let me send one more and watch the log."},
	}
	for k := range p.rounds(3) {
		command, output := c.publish()
		t := w.of(p, k)
		if k > 1 && p.IntN(4) == 0 {
			again, done := c.restart()
			entries = append(entries, run(again, done, 0).after(thought{t.seen, p.pick("Let me restart the consumer.", "A restart of the consumer may help.")}))
			t = thought{"", p.pick("Now publish again.", "Another message.", "")}
		}
		entries = append(entries, run(command, output, 0).after(t))
		if k == 0 || p.IntN(4) > 0 {
			command, output = c.looks[0]()
		} else {
			command, output = c.looks[1]()
		}
		entries = append(entries, run(command, output, 0).after(thought{"", p.pick("Did the consumer get it?", "Let me check the consumer.", "Let me look whether it was processed.", "Now the log.", "")}))
	}
	return entries, 2
}
