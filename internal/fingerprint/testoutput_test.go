package fingerprint

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outputs are ends of what test runners print. The text before the first space says how the tests went.
var outputs = map[string]map[string]string{
	"go test": {
		"passed":                        "ok  \texample.com/shop/cart\t0.004s\n",
		"passed from the cache":         "?   \texample.com/shop\t[no test files]\nok  \texample.com/shop/cart\t(cached)\n",
		"passed with coverage":          "=== RUN   TestTotal\n--- PASS: TestTotal (0.00s)\nPASS\ncoverage: 81.2% of statements\nok  \texample.com/shop/cart\t0.012s\tcoverage: 81.2% of statements\n",
		"failed":                        "--- FAIL: TestTotal (0.00s)\n    --- FAIL: TestTotal/empty (0.00s)\n        cart_test.go:14: got 4, want 5\nFAIL\nFAIL\texample.com/shop/cart\t0.007s\nFAIL\n",
		"failed, one of two packages":   "FAIL\texample.com/shop/cart\t0.007s\nok  \texample.com/shop/price\t0.003s\nFAIL\n",
		"failed to build":               "# example.com/shop/cart [example.com/shop/cart.test]\n./cart_test.go:9:2: undefined: total\nFAIL\texample.com/shop/cart [build failed]\nFAIL\n",
		"failed, cut off":               "--- FAIL: TestTotal (0.00s)\n    cart_test.go:14: got 4, want 5\n",
		"nothing, no test has the name": "testing: warning: no tests to run\nPASS\nok  \texample.com/shop/cart\t0.003s [no tests to run]\n",
	},
	"pytest": {
		"passed":                     "tests/test_cart.py ...                       [100%]\n\n============================== 3 passed in 0.01s ===============================\n",
		"passed, quiet":              "...                                           [100%]\n3 passed in 0.01s\n",
		"passed with warnings":       "=================== 3 passed, 1 skipped, 2 warnings in 75.12s (0:01:15) ===================\n",
		"passed, as is expected":     "========================= 1 passed, 1 xfailed in 0.02s =========================\n",
		"passed in colours":          "\x1b[32m======== \x1b[32m\x1b[1m8 passed\x1b[0m\x1b[32m in 0.07s\x1b[0m\x1b[32m ========\x1b[0m\n",
		"failed":                     "E       assert 4 == 5\n=========================== short test summary info ============================\nFAILED tests/test_cart.py::test_total - assert 4 == 5\n========================= 1 failed, 2 passed in 0.12s ==========================\n",
		"failed, quiet":              "FAILED tests/test_cart.py::test_total - assert 4 == 5\n1 failed, 2 passed in 0.12s\n",
		"failed in colours":          "\x1b[31m=== \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m\x1b[31m in 0.04s\x1b[0m\x1b[31m ===\x1b[0m\n",
		"failed to be collected":     "ERROR tests/test_cart.py\n!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n=============================== 1 error in 0.09s ===============================\n",
		"failed in a fixture":        "ERROR tests/test_cart.py::test_total - RuntimeError: no database\n======================== 4 passed, 146 errors in 32.82s ========================\n",
		"failed, cut off":            "collected 3 items\n\ntests/test_cart.py .F.                        [100%]\n\n=================================== FAILURES ===================================\n__________________ test_total __________________\n",
		"nothing, no test matches":   "collected 100 items / 100 deselected / 0 selected\n\n=========================== 100 deselected in 2.25s ============================\n",
		"nothing, no such file":      "collected 0 items\n\n============================ no tests ran in 0.00s =============================\nERROR: file or directory not found: tests/test_carts.py\n",
		"nothing, not installed":     "/usr/bin/python3: No module named pytest\n",
		"nothing, killed on the way": "collected 220 items\n\ntests/test_text.py ....s.....        [ 49%]\n",
	},
	"unittest": {
		"passed":                  "...\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n",
		"passed, some skipped":    "..s\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n",
		"passed, Django":          "System check identified no issues (0 silenced).\n.\n------------\nRan 1 test in 0.009s\n\nOK\nDestroying test database for alias 'default'...\n",
		"failed":                  "AssertionError: 4 != 5\n\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n",
		"failed by a success":     "Ran 1 test in 0.000s\n\nFAILED (unexpected successes=1)\n",
		"failed before it ran":    "Ran 0 tests in 0.000s\n\nFAILED (errors=1)\n",
		"nothing, none was run":   "Ran 0 tests in 0.000s\n\nOK\n",
		"nothing, none was found": "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
	},
	"cargo test": {
		"passed":                       "running 2 tests\ntest cart::total ... ok\ntest cart::empty ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests shop\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
		"failed":                       "test cart::total ... FAILED\n\nfailures:\n    cart::total\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s\n\nerror: test failed, to rerun pass `--lib`\n",
		"failed, one of two":           "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
		"passed, nextest":              "     Summary [   0.005s] 3 tests run: 3 passed (1 slow), 0 skipped\n",
		"failed, nextest":              "     Summary [   0.005s] 3 tests run: 2 passed, 1 failed, 0 skipped\n        FAIL [   0.003s] shop cart::total\nerror: test run failed\n",
		"nothing, a build that failed": "error[E0425]: cannot find value `c` in this scope\nerror: could not compile `shop` (lib test) due to 1 previous error\n",
	},
	"jest": {
		"passed":                   "PASS src/cart.test.js\n  ✓ adds (1 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nSnapshots:   0 total\nTime:        0.263 s\nRan all test suites.\n",
		"passed in colours":        "\x1b[1mTest Suites: \x1b[22m\x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m, 1 total\n\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m, 1 total\n",
		"failed":                   "FAIL src/cart.test.js\n  ● bad\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 2 passed, 3 total\nSnapshots:   0 total\nTime:        0.238 s, estimated 1 s\n",
		"failed in colours":        "\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m, 2 total\n",
		"failed before it ran":     "  ● Test suite failed to run\n\n    Cannot find module './cart'\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\n",
		"nothing, no test matches": "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n  11 files checked.\nPattern: carts - 0 matches\n",
	},
	"vitest": {
		"passed":                   " ✓ src/cart.test.ts (3 tests) 4ms\n\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Start at  09:41:59\n   Duration  216ms (transform 28ms, setup 0ms, collect 15ms, tests 1ms)\n",
		"failed":                   " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed (4)\n   Start at  09:41:58\n",
		"failed in colours":        "\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m\n",
		"failed to be loaded":      " Test Files  1 failed (1)\n      Tests  no tests\n   Start at  09:42:00\n",
		"failed after it passed":   " Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n   Start at  09:42:00\n",
		"nothing, no test matches": "filter:  carts\ninclude: **/*.{test,spec}.?(c|m)[jt]s?(x)\n\nNo test files found, exiting with code 1\n",
	},
	"npm": {
		"passed, mocha":            "\n> shop@1.0.0 test\n> mocha\n\n  ✔ adds\n\n  1 passing (2ms)\n",
		"failed, mocha":            "  ✔ adds\n  1) bad\n\n  1 passing (3ms)\n  1 pending\n  1 failing\n\n  1) bad:\n",
		"passed, node":             "TAP version 13\nok 1 - adds\n1..1\n# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# duration_ms 83.72\n",
		"failed, node":             "ok 1 - adds\nnot ok 2 - bad\n1..2\n# tests 2\n# pass 1\n# fail 1\n# skipped 0\n",
		"passed, node, for people": "✔ adds (1.31ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ todo 0\n",
		"failed, node, for people": "✖ bad (1.69ms)\nℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ todo 0\n",
		"failed, by npm alone":     "npm ERR! Test failed.  See above for more details.\n",
		"failed, by pnpm alone":    " ELIFECYCLE  Test failed. See above for more details.\n",
		"passed, Playwright":       "Running 3 tests using 2 workers\n  1 flaky\n    [chromium] › cart.spec.ts:3:1 › adds\n  2 passed (3.1s)\n",
		"failed, Playwright":       "  1 failed\n    [chromium] › cart.spec.ts:3:1 › adds ───\n  2 passed (3.1s)\n",
		"nothing, no such script":  "npm error Missing script: \"tests\"\nnpm error To see a list of scripts, run:\nnpm error   npm run\n",
	},
	"mvn": {
		"passed":                       "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in CartTest\n[INFO] Results:\n[INFO] \n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] ------\n[INFO] BUILD SUCCESS\n",
		"passed, an old one":           "Running CartTest\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.052 sec\n\nResults :\n\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
		"failed":                       "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in CartTest\n[INFO] BUILD FAILURE\n",
		"failed by an error":           "Tests run: 3, Failures: 0, Errors: 1, Skipped: 0\n",
		"failed, the end of it":        "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop: There are test failures.\n[ERROR] -> [Help 1]\n",
		"nothing, no tests":            "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
		"nothing, a build that failed": "[ERROR] COMPILATION ERROR : \n[ERROR] CartTest.java:[3,9] cannot find symbol\n[INFO] 1 error\n[INFO] BUILD FAILURE\n",
	},
	"gradle": {
		"failed":                          "> Task :test FAILED\n\nCartTest > total FAILED\n    org.opentest4j.AssertionFailedError at CartTest.java:9\n\n3 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n",
		"failed, the end of it":           "* What went wrong:\nExecution failed for task ':test'.\n> There were failing tests. See the report at: file:///srv/shop/build/reports/tests/test/index.html\n\nBUILD FAILED in 3s\n",
		"nothing, it is quiet on success": "> Task :test\n\nBUILD SUCCESSFUL in 3s\n4 actionable tasks: 4 executed\n",
		"nothing, a build that failed":    "> Task :compileJava FAILED\n1 error\n\nFAILURE: Build failed with an exception.\nBUILD FAILED in 1s\n",
	},
	"rspec": {
		"passed":                     "...\n\nFinished in 0.00299 seconds (files took 0.1 seconds to load)\n3 examples, 0 failures\n",
		"passed, some pending":       "3 examples, 0 failures, 1 pending\n",
		"passed, minitest":           "Finished in 0.0012s, 2500.0 runs/s, 2500.0 assertions/s.\n3 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n",
		"failed":                     "3 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:12 # Cart adds\n",
		"failed more than once":      "3 examples, 2 failures\n",
		"failed, minitest, an error": "3 runs, 2 assertions, 0 failures, 1 errors, 0 skips\n",
		"failed outside":             "0 examples, 0 failures, 1 error occurred outside of examples\n",
		"nothing, no example":        "No examples found.\n\n0 examples, 0 failures\n",
	},
	"phpunit": {
		"passed":                "...                                     3 / 3 (100%)\n\nTime: 00:00.005, Memory: 6.00 MB\n\nOK (3 tests, 5 assertions)\n",
		"passed, some skipped":  "OK, but incomplete, skipped, or risky tests!\nTests: 3, Assertions: 5, Skipped: 1.\n",
		"failed":                "There was 1 failure:\n\n1) CartTest::testTotal\nFailed asserting that 4 matches expected 5.\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n",
		"failed by an error":    "ERRORS!\nTests: 1, Assertions: 0, Errors: 1.\n",
		"failed, its last line": "Tests: 3, Assertions: 3, Failures: 1.\n",
		"nothing, all skipped":  "Tests: 1 skipped, 0 failed, 0 passed\n",
		"failed, Pest":          "  Tests:    1 failed, 2 passed (3 assertions)\n  Duration: 0.08s\n",
		"nothing, no tests":     "No tests executed!\n",
	},
	"ctest": {
		"passed":            "1/1 Test #1: cart .............................   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n\nTotal Test time (real) =   0.00 sec\n",
		"failed":            "2/2 Test #2: total ............................***Failed    0.00 sec\n\n50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n",
		"failed, the end":   "The following tests FAILED:\n\t  2 - total (Failed)\nErrors while running CTest\n",
		"nothing, no tests": "Test project /srv/shop/build\nNo tests were found!!!\n",
	},
	"others": {
		"passed, dotnet": "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms - Shop.Tests.dll (net8.0)\n",
		"failed, dotnet": "Failed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1, Duration: 5 ms - Shop.Tests.dll (net8.0)\n",
		"passed, deno":   "ok | 3 passed | 0 failed (5ms)\n",
		"failed, deno":   "FAILED | 2 passed | 1 failed (5ms)\n",
		"passed, swift":  "\t Executed 3 tests, with 0 failures (0 unexpected) in 0.004 (0.005) seconds\n",
		"failed, swift":  "\t Executed 3 tests, with 1 failure (0 unexpected) in 0.004 (0.005) seconds\n",
		"failed, mix":    "3 doctests, 3 tests, 1 failure\n",
		"passed, SymPy":  "======== tests finished: 82 passed, 3 expected to fail, in 3.13 seconds ========\n",
		"failed, SymPy":  "=========== tests finished: 1 passed, 1 failed, in 0.20 seconds ===========\n",
		"failed, behave": "0 features passed, 1 failed, 0 skipped\n1 scenario passed, 1 failed, 0 skipped\n",
	},
	"no test": {
		"nothing, a log":                    "2026-03-01 12:00:01 ERROR failed to connect to db:5432, retry 3 failed\n5 failed login attempts\nJob 12 failed, 3 left\nerror: failed to push some refs\n",
		"nothing, none failed":              "0 failed\n",
		"nothing, a compiler":               "cart.java:3: error: ';' expected\n1 error\n",
		"nothing, another compiler":         "cart.c:3:1: error: unknown type\n1 warning and 2 errors generated.\n",
		"nothing, a linter":                 "✖ 3 problems (1 error, 2 warnings)\nFound 2 errors in 1 file (checked 3 source files)\n",
		"nothing, a file with line numbers": "   247\t                pass\n  1048\t            failed,\n  1049\t    errors\n12: failed\n12-failed\n12:    3 failed_logins\n",
		"nothing, a table":                  "web : ok=2  changed=1  unreachable=0  failed=1  skipped=0\nErrors: 2\nFailures: 1\n200 OK\nOK\nOK (200)\nFAILED (exit status 1)\nPASS\nFAIL to open door\n",
		"nothing, a diff":                   " 3 files changed, 2 insertions(+), 1 deletion(-)\n",
		"nothing, tests that are named":     "tests/failed/1\ntests_failed: 3\n3 failed2\ntotal 48\n3 tests\nRan out of memory\n",
		"nothing, a build":                  "BUILD FAILED\nBUILD FAILURE\nBUILD SUCCESS\n",
		"nothing, a log of JSON":            `{"level":"info","msg":"1 failed"}` + "\n",
		"nothing, white space":              "\n \t\r\n\x1b[0m\x1b \x1b[",
		"nothing, no bytes":                 "",
	},
}

func TestReadTestOutput(t *testing.T) {
	for runner, cases := range outputs {
		for says, text := range cases {
			t.Run(runner+": "+says, func(t *testing.T) {
				want := wanted(says)
				for form, raw := range forms(t, text) {
					if got := ReadTestOutput([]byte(raw)); got != want {
						t.Errorf("%s: verdict %d, want %d:\n%s", form, got, want, raw[max(0, len(raw)-300):])
					}
				}
			})
		}
	}
}

func wanted(says string) TestVerdict {
	switch {
	case strings.HasPrefix(says, "passed"):
		return TestsPassed
	case strings.HasPrefix(says, "failed"):
		return TestsFailed
	}
	return NoVerdict
}

// forms returns the forms in which a tool's answer holds a text.
func forms(t *testing.T, text string) map[string]string {
	marshal := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	forms := map[string]string{
		"a string":                          marshal(text),
		"an object":                         marshal(map[string]any{"exit_code": 0, "stdout": text, "stderr": ""}),
		"an object, its last line bare":     marshal(map[string]any{"exit_code": 0, "stdout": strings.TrimRight(text, "\n"), "tail": true}),
		"a list of contents":                marshal([]map[string]string{{"type": "text", "text": text}}),
		"windows line ends":                 marshal(strings.ReplaceAll(text, "\n", "\r\n")),
		"at the end of a long output":       marshal(strings.Repeat("compiling module 12 of 40\n", 4000) + text),
		"escapes for all that is not ASCII": strings.ReplaceAll(strings.ReplaceAll(marshal(text), "ℹ", `\u2139`), "✔", `\u2714`),
	}
	if !strings.HasPrefix(text, "{") {
		forms["plain bytes"] = text
		forms["an object in a string"] = marshal(marshal(map[string]any{"metadata": map[string]int{"exit_code": 1}, "output": text}))
	}
	return forms
}

func TestOnlyTheEndOfALongOutputIsRead(t *testing.T) {
	for says, c := range map[string]struct {
		raw  string
		want TestVerdict
	}{
		"a summary is forgotten after 16 KiB":              {"2 failed, 1 passed in 0.1s\n" + strings.Repeat("x\n", 9000), NoVerdict},
		"a line that is cut in two is not a summary":       {strings.Repeat("y", 16<<10) + "12" + " failed" + strings.Repeat("\n", 16<<10-8), NoVerdict},
		"a long line is read by its beginning":             {"ok  \texample.com/shop\t0.1s\tcoverage: " + strings.Repeat("x", 40<<10), NoVerdict},
		"a long line does not hide the next":               {strings.Repeat("x", 4<<10) + "\n1 failed\n", TestsFailed},
		"one failure outweighs a success that comes after": {"1 failed, 1 passed in 0.1s\n2 passed in 0.1s\n", TestsFailed},
		"a failure outweighs a success that came before":   {"2 passed in 0.1s\n1 failed, 1 passed in 0.1s\n", TestsFailed},
		"a quote in a text does not end its line":          {`"E  assert \"1 failed\" == x\n3 passed in 0.1s\n"`, TestsPassed},
		"a backslash is no escape in bytes":                {`C:\n1 failed` + "\n", NoVerdict},
		"a quote does not end a line of bytes":             {"print(\"1 failed\")\n", NoVerdict},
	} {
		t.Run(says, func(t *testing.T) {
			if got := ReadTestOutput([]byte(c.raw)); got != c.want {
				t.Errorf("verdict %d, want %d", got, c.want)
			}
		})
	}
}

// TestCountsAreReadInAnyOrder makes summaries as runners make them, and reads them.
func TestCountsAreReadInAnyOrder(t *testing.T) {
	part := rapid.SampledFrom([]string{"skipped", "warnings", "deselected", "ignored", "total"})
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 200)
		passed, failed := number.Draw(t, "passed"), number.Draw(t, "failed")
		line := rapid.Permutation([]string{
			itoa(passed) + " passed", itoa(failed) + " failed", itoa(number.Draw(t, "other")) + " " + part.Draw(t, "part"),
		}).Draw(t, "line")
		text := rapid.SampledFrom([]string{"", "Tests: ", "== ", "test result: ok. "}).Draw(t, "before") +
			strings.Join(line, rapid.SampledFrom([]string{", ", " | ", "; "}).Draw(t, "between")) +
			rapid.SampledFrom([]string{"", " in 0.12s", " (3)", " ==", ", finished in 0.00s"}).Draw(t, "after")
		want := NoVerdict
		if passed > 0 {
			want = TestsPassed
		}
		if failed > 0 {
			want = TestsFailed
		}
		if got := ReadTestOutput([]byte("a line\n" + text + "\nanother")); got != want {
			t.Fatalf("%q: verdict %d, want %d", text, got, want)
		}
		if got := ReadTestOutput([]byte("retrying, " + text)); got != NoVerdict {
			t.Fatalf("%q after a word that no runner uses: verdict %d", text, got)
		}
	})
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func TestReadTestOutputAllocatesNothing(t *testing.T) {
	raw := []byte(`"` + strings.Repeat(`running a test\n3 skipped\n`, 2000) + `\u001b[31m1 failed\u001b[0m, 2 passed in 0.1s\n"`)
	if n := testing.AllocsPerRun(20, func() { ReadTestOutput(raw) }); n > 0 || ReadTestOutput(raw) != TestsFailed {
		t.Errorf("%v allocations, verdict %d", n, ReadTestOutput(raw))
	}
}

// FuzzReadTestOutput looks for outputs that make it panic or hang, and holds it to its word that a text is read the same as
// bytes and as a string of JSON.
func FuzzReadTestOutput(f *testing.F) {
	for _, cases := range outputs {
		for _, text := range cases {
			f.Add(text)
		}
	}
	f.Add("Ran 1 test in 0.000s\n\bFAILED (")
	f.Add(`"\u001b[1m\\\\n\"3 failed"`)
	f.Fuzz(func(t *testing.T, text string) {
		plain := ReadTestOutput([]byte(text))
		quoted, err := json.Marshal(text)
		if err != nil || len(quoted) > maxTestOutput || holdsTexts([]byte(text)) || strings.ContainsAny(text, "\\\ufffd\u2028\u2029") {
			return
		}
		if got := ReadTestOutput(quoted); got != plain {
			t.Errorf("%q: verdict %d as bytes, %d in quotes", text, plain, got)
		}
	})
}

func BenchmarkReadTestOutput(b *testing.B) {
	for says, raw := range map[string]string{
		"a summary":        `"============ 3 passed in 0.01s ============\n"`,
		"16 KiB of a log":  `"` + strings.Repeat(`2026-03-01 12:00:01 INFO request 12 took 3 ms\n`, 400) + `"`,
		"16 KiB of a test": `"` + strings.Repeat(`test cart::total ... ok\n`, 800) + `test result: ok. 800 passed; 0 failed; 0 ignored\n"`,
	} {
		b.Run(says, func(b *testing.B) {
			b.SetBytes(int64(min(len(raw), maxTestOutput)))
			b.ReportAllocs()
			bytes := []byte(raw)
			for b.Loop() {
				ReadTestOutput(bytes)
			}
		})
	}
}
