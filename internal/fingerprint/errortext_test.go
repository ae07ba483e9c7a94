package fingerprint

import "testing"

func TestErrorText(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{
			"pytest: the error, not the heading above it",
			`"F [100%]\n======= FAILURES =======\n_____ test_a _____\n\n>   assert f() == 'done'\nE   AssertionError: assert 'x' == 'done'\nE     - done\n\na.py:4: AssertionError\n=== short test summary info ===\nFAILED a.py::test_a\n"`,
			`AssertionError: assert 'x' == 'done'`,
		},
		{
			"pytest: an assertion without a message", `"=== FAILURES ===\n>   assert f()\nE   assert False\nFAILED a.py::test_a - assert False\n==== 1 failed in 0.1s ===="`,
			`FAILED a.py::test_a - assert False`,
		},
		{"a tag around the first line", `"<tool_use_error>String to replace not found in file.\nString: raise X</tool_use_error>"`, `String to replace not found in file.`},
		{"a tag that is escaped", `"\u003ctool_use_error\u003eFile has not been read yet.\u003c/tool_use_error\u003e"`, `File has not been read yet.`},
		{"an exit status before the output", `"Exit code 8\nlint\tpass\nunit\tpending"`, `lint\tpass`},
		{"markup is no tag around the output", `"<a href=\"/x\">more</a>\nnothing"`, `<a href=\"/x\">more`},
		{"a comparison is no tag", `"want a<b> here, failed"`, `want a<b> here, failed`},
		{"Go: the failed test", `"--- FAIL: TestA (0.00s)\n    a_test.go:3: want 1\nFAIL"`, `--- FAIL: TestA (0.00s)\n    a_test.go:3: want 1`},
		{"Go: the failed subtest", `"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:3: want 1\nFAIL"`, `--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:3: want 1`},
		{"Go: no reason", `"--- FAIL: TestA (0.00s)"`, `--- FAIL: TestA (0.00s)`},
		{"the first line of a private key, and no line of its body", `"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA3Tz2mr7S\n-----END PRIVATE KEY-----"`, `-----BEGIN PRIVATE KEY-----`},
		{"only a heading", `"=== FAILURES ==="`, ``},
		{"nothing", `""`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(ErrorText([]byte(tc.raw))); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
