package fingerprint

import "bytes"

// RunsTests reports whether a shell's command line runs tests: pytest, go test, cargo test, jest, vitest, npm test,
// mvn test, gradle test, rspec, phpunit, ctest and the usual ways to call them.
func RunsTests(command []byte) bool {
	for len(command) > 0 {
		part := command
		if end := bytes.IndexAny(command, "|;&\n"); end >= 0 {
			part, command = command[:end], command[end+1:]
		} else {
			command = nil
		}
		if runsTests(bytes.Fields(part)) {
			return true
		}
	}
	return false
}

// runsTests judges the words of one command.
func runsTests(words [][]byte) bool {
	for len(words) > 0 && (bytes.IndexByte(words[0], '=') > 0 || isOneOf(words[0], "sudo", "time", "env", "npx", "bunx", "uv", "poetry", "run", "exec", "bundle")) {
		words = words[1:] // what only wraps a command
	}
	if len(words) == 0 {
		return false
	}
	program := words[0][bytes.LastIndexByte(words[0], '/')+1:]
	if isOneOf(program, "pytest", "py.test", "jest", "vitest", "rspec", "phpunit", "ctest", "tox", "nosetests") {
		return true
	}
	rest := words[1:]
	switch string(program) {
	case "go", "cargo", "npm", "yarn", "pnpm", "bun", "deno", "dotnet", "swift", "rake", "make", "mix":
		return len(rest) > 0 && (bytes.Equal(rest[0], []byte("test")) || bytes.Equal(rest[0], []byte("t")) || bytes.Equal(rest[0], []byte("nextest"))) ||
			len(rest) > 1 && bytes.Equal(rest[0], []byte("run")) && bytes.HasPrefix(rest[1], []byte("test"))
	case "mvn", "mvnw", "gradle", "gradlew":
		return anyOf(rest, "test", "verify", "check")
	case "python", "python3":
		return len(rest) > 1 && bytes.Equal(rest[0], []byte("-m")) && isOneOf(rest[1], "pytest", "unittest", "nose") ||
			len(rest) > 1 && bytes.HasSuffix(rest[0], []byte("manage.py")) && bytes.Equal(rest[1], []byte("test"))
	}
	return false
}

func isOneOf(word []byte, these ...string) bool {
	for _, w := range these {
		if string(word) == w {
			return true
		}
	}
	return false
}

func anyOf(words [][]byte, these ...string) bool {
	for _, w := range words {
		if isOneOf(w, these...) {
			return true
		}
	}
	return false
}

// TestVerdict is what the output of a test runner says.
type TestVerdict uint8

// The verdicts.
const (
	NoVerdict TestVerdict = iota
	TestsPassed
	TestsFailed
)

// testMarks are how the runners say that tests failed or passed. The first that is found decides, so failures come first.
var testMarks = []struct {
	mark    []byte
	verdict TestVerdict
}{
	{[]byte("--- FAIL: "), TestsFailed},                 // go test
	{[]byte("FAIL\\t"), TestsFailed},                    // go test, in JSON
	{[]byte("test result: FAILED"), TestsFailed},        // cargo test
	{[]byte(" failed in "), TestsFailed},                // pytest
	{[]byte(" failed, "), TestsFailed},                  // pytest, jest, vitest
	{[]byte(" error in "), TestsFailed},                 // pytest, collecting
	{[]byte(" errors in "), TestsFailed},                //
	{[]byte("FAILURES!"), TestsFailed},                  // phpunit
	{[]byte("FAILED (failures="), TestsFailed},          // unittest
	{[]byte("FAILED (errors="), TestsFailed},            //
	{[]byte("BUILD FAILED"), TestsFailed},               // gradle
	{[]byte("BUILD FAILURE"), TestsFailed},              // mvn
	{[]byte("The following tests FAILED"), TestsFailed}, // ctest
	{[]byte("npm ERR! Test failed"), TestsFailed},       // npm
	{[]byte("test result: ok"), TestsPassed},            // cargo test
	{[]byte(" passed in "), TestsPassed},                // pytest
	{[]byte("100% tests passed"), TestsPassed},          // ctest
	{[]byte("BUILD SUCCESS"), TestsPassed},              // mvn, gradle
	{[]byte(" 0 failures"), TestsPassed},                // rspec
	{[]byte(" failures"), TestsFailed},                  // rspec
	{[]byte(" failure\\n"), TestsFailed},                // rspec
	{[]byte("ok  \\t"), TestsPassed},                    // go test, in JSON
	{[]byte("OK ("), TestsPassed},                       // phpunit
	{[]byte("\\nOK"), TestsPassed},                      // unittest
}

// ReadTestOutput says what the output of a test runner, as raw JSON, tells: that tests failed, that they passed, or
// nothing. It looks at the last 16 KiB, where runners sum up.
func ReadTestOutput(raw []byte) TestVerdict {
	const tail = 16 << 10
	raw = raw[max(0, len(raw)-tail):]
	for _, m := range testMarks {
		if bytes.Contains(raw, m.mark) {
			return m.verdict
		}
	}
	return NoVerdict
}
