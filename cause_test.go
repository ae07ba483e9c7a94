package unloop

import (
	"encoding/json"
	"fmt"
	"testing"
)

// A change that removes what a failure names, or makes the next outcome show something, makes the next failure another one.
func TestAFailureAfterAChangeIsAnotherOne(t *testing.T) {
	units := []string{"mountain", "coupon", "ladder", "deposit", "charge"}
	build := func(unit string) string {
		return fmt.Sprintf("INFO: Analyzed target //traffic:lib.\nERROR: /src/traffic/BUILD.bazel:38: in java_library rule //traffic:lib: Visibility error:\n"+
			"target '//%s:lib' is not visible from\ntarget '//traffic:lib'\nRecommendation: modify the visibility declaration.\nERROR: Build did NOT complete", unit)
	}
	tests := func(line string) string {
		return "> Task :memory:test\n" + line + "\nAssertionFailedError: expected holiday, got null\n31 tests completed, 1 failed\nBUILD FAILED in 35s"
	}
	for name, c := range map[string]struct {
		edit    func(n int) string
		failure func(n int) string
		another bool
	}{
		"the change opens the unit that the failure names": {
			func(n int) string { return units[n] + "/BUILD.bazel visibility //traffic" },
			func(n int) string { return build(units[n]) }, true,
		},
		"the change is about something else": {
			func(n int) string { return "traffic/BUILD.bazel visibility //traffic" },
			func(n int) string { return build(units[n]) }, false,
		},
		"the change mends the row that the failure names": {
			func(n int) string {
				return fmt.Sprintf("UPDATE articles SET price = 0 WHERE id = %d", 48213+977*(n*3%5))
			},
			func(n int) string {
				return tests(fmt.Sprintf("price_positive is violated by row %d", 48213+977*(n*3%5)))
			}, true,
		},
		"the change mends another row": {
			func(n int) string { return fmt.Sprintf("UPDATE articles SET price = 0 WHERE id = %d", 70001+977*n) },
			func(n int) string {
				return tests(fmt.Sprintf("price_positive is violated by row %d", 48213+977*(n*3%5)))
			}, false,
		},
		"the failure still names the row": {
			func(int) string { return "UPDATE articles SET price = 0 WHERE id = 48213" },
			func(int) string { return tests("price_positive is violated by row 48213") }, false,
		},
		"the failure still names the unit": {
			func(n int) string { return units[n] + "/BUILD.bazel visibility //traffic" },
			func(n int) string { return build(units[0]) }, false,
		},
		"the change prints a value, and the test shows it": {
			func(n int) string { return "Tunnel.java print " + units[n] },
			func(n int) string { return tests(units[max(0, n-1)] + " = value of " + cities[n]) }, true,
		},
		"the change prints a value, and the test does not show it": {
			func(n int) string { return "Tunnel.java print " + units[n] },
			func(n int) string { return tests("weather of " + cities[n]) }, false,
		},
		"the failure only quotes the change": {
			func(n int) string { return "Tunnel.java print " + units[n] + " of " + cities[n] },
			func(n int) string { return tests("print " + units[max(0, n-1)] + " of " + cities[max(0, n-1)]) }, false,
		},
		"the failure denies what the change names": {
			func(n int) string { return "Tunnel.java print " + units[n] },
			func(n int) string { return tests("undefined " + units[max(0, n-1)] + ", perhaps " + cities[n]) }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			for n := range units {
				failure, _ := json.Marshal(c.failure(n))
				edit, _ := json.Marshal(map[string]string{"change": c.edit(n)})
				r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: json.RawMessage(`{"command":"make check"}`)})
				r.Add(&Event{Type: ToolCallFailed, Tool: "bash", Error: failure})
				if novelty := r.Current().Step.Effort.Novelty; n > 2 && novelty >= newError != c.another {
					t.Errorf("failure %d has a novelty of %.2f, another = %t", n+1, novelty, c.another)
				}
				r.Add(&Event{Type: ToolCallStarted, Tool: "edit_file", Input: edit})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "edit_file", Output: json.RawMessage(`"The file has been updated."`)})
			}
		})
	}
}

var cities = []string{"Lima", "Oslo", "Cairo", "Quito", "Hanoi", "Accra"}

// A command that names what only the latest failure told of is no waste, although its output is known. A failure that only the words of an
// output tell of is one, too.
func TestACommandThatHeedsAFailureIsNotWasted(t *testing.T) {
	variables := []string{"MAIL_FROM", "SMTP_HOST", "REDIS_URL", "SENTRY_DSN", "JWT_ISSUER", "LOG_LEVEL"}
	for name, c := range map[string]struct {
		set    func(n int) string
		wasted bool
	}{
		"it sets the variable that is missing":   {func(n int) string { return variables[n] }, false},
		"it sets a variable that is not missing": {func(n int) string { return cities[n] + "_HOME" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", Options{Needs: measured.Needs, Shells: DefaultShells()})
			run := func(command, output string) {
				input, _ := json.Marshal(map[string]string{"command": command})
				text, _ := json.Marshal(fmt.Sprintf("Process started with PID %d (shell: /bin/bash)\nInitial output:\n%s", 7351*(1+r.Metrics().Events), output))
				r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: input})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: fmt.Appendf(nil, `[{"type":"text","text":%s}]`, text)})
			}
			wasted := 0.0
			for n, missing := range variables {
				run("go run ./cmd/api", "FATAL config: required key "+missing+" missing value\nexit status 1")
				run(fmt.Sprintf("echo '%s=dev' >> .env", c.set(n)), "")
				wasted += r.StepAt(0).Effort.Wasted
			}
			if wasted > 0 != c.wasted {
				t.Errorf("%.2f of the commands were wasted, want any: %t", wasted, c.wasted)
			}
		})
	}
}
