package fingerprint

import "bytes"

// TestVerdict is the result of a test run, according to its output.
type TestVerdict uint8

// The results of a test run.
const (
	NoVerdict   TestVerdict = iota // unknown
	TestsPassed                    // all tests passed
	TestsFailed                    // at least one test failed
)

// Limits of what is read of an output, in bytes.
const (
	maxTestOutput = 16 << 10 // of the end, which has the summary
	maxTestLine   = 256      // of the beginning of each line
)

// ReadTestOutput returns the result of a test run from its output: a JSON text, other JSON with texts in it, or plain bytes. Terminal
// colours are ignored. One failure outweighs any number of passed tests.
//
// It recognises the summaries of the usual runners: a line of nothing but counts ("2 failed, 1 passed in 0.02s") and some fixed phrases.
// Other output has no verdict: a log with "failed to connect", or a failed build, which need not be part of a test run. ReadTestOutput
// reads the last 16 KiB and allocates nothing.
func ReadTestOutput(raw []byte) TestVerdict {
	r := testOutput{rest: raw, json: holdsTexts(raw)}
	if begins(raw, `"{`) { // some tools return JSON in a string; the first text in it is read
		if at := bytes.Index(raw[:min(len(raw), maxTestLine)], []byte(`\":\"`)); at > 0 {
			r.rest = raw[at+len(`\":\"`):]
		}
	}
	if len(r.rest) > maxTestOutput {
		r.rest = r.rest[len(r.rest)-maxTestOutput:]
		r.line() // its beginning is missing
	}
	verdict := NoVerdict
	for len(r.rest) > 0 {
		switch r.judge(r.line()) {
		case TestsFailed:
			return TestsFailed
		case TestsPassed:
			verdict = TestsPassed
		}
	}
	return verdict
}

// holdsTexts reports whether an output is JSON with texts in quotes, and not plain bytes.
func holdsTexts(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return len(raw) > 0 && (raw[0] == '"' || raw[0] == '{')
	}
	next := bytes.TrimLeft(raw[1:], " \n\t")
	return len(next) > 0 && (next[0] == '"' || next[0] == '{' || next[0] == '[')
}

// testOutput reads an output line by line.
type testOutput struct {
	rest  []byte
	json  bool // texts are in quotes, with escapes
	tests bool // a line counted tests

	unittest bool // a line had the number of tests of Python's unittest; the result is in a later line
	ran      bool // that number was at least one

	buf [maxTestLine]byte
}

// line returns the beginning of the next line as a terminal displays it. It is valid until the next call.
func (r *testOutput) line() []byte {
	line := r.buf[:0]
	for len(r.rest) > 0 {
		n := 0
		for n < len(r.rest) && !pauses[r.rest[n]] {
			n++
		}
		line = append(line, r.rest[:min(n, maxTestLine-len(line))]...)
		if r.rest = r.rest[n:]; n > 0 {
			continue
		}
		b, length := r.pause()
		r.rest = r.rest[length:]
		if b == '\n' {
			break
		}
		if b != unseen && len(line) < maxTestLine {
			line = append(line, b)
		}
	}
	return line
}

// pauses are the special bytes that line may not copy.
var pauses = [256]bool{'\n': true, '\r': true, '"': true, '\\': true, unseen: true}

// unseen replaces a terminal's control sequence.
const unseen = '\x1b'

// pause returns the replacement of a special byte, and the length of what it replaces: '\n' for any line end, or unseen.
func (r *testOutput) pause() (b byte, length int) {
	b, length = r.rest[0], 1
	switch {
	case b == '\r' || b == '"' && r.json:
		return '\n', 1
	case b == '\\' && r.json:
		b, length = unescape(r.rest[1:])
		length++
	}
	if b == unseen {
		length += colour(r.rest[length:])
	}
	return b, length
}

// unescape returns the byte that an escape encodes, and the length of the escape. rest is the text after the backslash. A line end
// is '\n', and a character beyond ASCII is '~'. Several backslashes count as one, because the text may be JSON in a JSON string.
func unescape(rest []byte) (b byte, length int) {
	for length < len(rest) && rest[length] == '\\' {
		length++
	}
	if length == len(rest) {
		return '~', length
	}
	b = rest[length]
	length++
	switch b {
	case 'n', 'r':
		return '\n', length
	case 't':
		return '\t', length
	case 'b':
		return '\b', length
	case 'f':
		return '\f', length
	case 'u':
		if r, ok := hex4(rest[length:]); ok {
			b, length = '~', length+4
			if r < 0x80 {
				b = byte(r)
			}
		}
	}
	return b, length
}

// colour returns the length of a terminal's control sequence. rest is the text after the escape character.
func colour(rest []byte) int {
	if len(rest) == 0 || rest[0] != '[' {
		return 0
	}
	n := 1
	for n < len(rest) && (class[rest[n]]&digit != 0 || rest[n] == ';' || rest[n] == '?') {
		n++
	}
	if n < len(rest) && class[rest[n]]&alpha != 0 {
		n++
	}
	return n
}

// judge returns the result of tests in a line.
func (r *testOutput) judge(line []byte) TestVerdict {
	if begins(line, "--- FAIL: ") || begins(line, "FAIL\t") { // go test
		return TestsFailed
	}
	if begins(line, "ok  \t") && !bytes.HasSuffix(line, []byte("[no tests to run]")) { // go test
		return TestsPassed
	}
	line = bytes.TrimSpace(line)
	if r.unittest && begins(line, "FAILED (") {
		return TestsFailed
	}
	if r.ran && (string(line) == "OK" || begins(line, "OK (")) {
		return TestsPassed
	}
	if verdict := judgePhrase(line); verdict != NoVerdict {
		return verdict
	}
	return r.judgeCounts(line)
}

// judgePhrase returns the result of tests in a line with a fixed phrase of a runner.
func judgePhrase(line []byte) TestVerdict {
	switch {
	case begins(line, "OK (") && contains(line, " test"), // PHPUnit, JUnit
		begins(line, "OK, but incomplete, skipped"), begins(line, "OK, but there were issues!"), // PHPUnit
		begins(line, "100% tests passed"): // CTest
		return TestsPassed
	case begins(line, "FAILED ") && contains(line, ".py::"), // pytest, of one test
		begins(line, "=") && (contains(line, "= FAILURES =") || contains(line, "= ERRORS =")), // pytest
		begins(line, "test ") && bytes.HasSuffix(line, []byte(" ... FAILED")),                 // cargo test, of one test
		begins(line, "error: test failed, to rerun"):                                          // cargo test
		return TestsFailed
	case begins(line, "FAILURES!"), // PHPUnit, JUnit
		begins(line, "ERRORS!"),                                                // PHPUnit
		begins(line, "The following tests FAILED:"),                            // CTest
		begins(line, "> There were failing tests."),                            // Gradle
		begins(line, "[ERROR] ") && contains(line, "There are test failures."), // Maven
		begins(line, "npm ERR! Test failed."),                                  // npm
		begins(line, "ELIFECYCLE") && contains(line, "Test failed."):           // pnpm
		return TestsFailed
	}
	return NoVerdict
}

func begins(line []byte, with string) bool {
	return len(line) >= len(with) && string(line[:len(with)]) == with
}

func contains(line []byte, part string) bool { return bytes.Contains(line, []byte(part)) }

// judgeCounts returns the result of tests in a line of nothing but counts.
func (r *testOutput) judgeCounts(line []byte) TestVerdict {
	if begins(line, "[INFO]") || begins(line, "[ERROR]") || begins(line, "[WARNING]") { // Maven
		line = line[1+bytes.IndexByte(line, ']'):]
	}
	if begins(line, "# ") || begins(line, "ℹ ") || begins(line, "~ ") {
		return judgeNode(line)
	}
	c, ok := readCounts(line)
	if !ok {
		return NoVerdict
	}
	if begins(line, "Ran ") {
		r.unittest, r.ran = true, c.ran > 0
	}
	r.tests = r.tests || c.tests
	switch {
	case c.failed > 0, c.errors > 0 && r.tests:
		return TestsFailed
	case c.passed > 0, c.ran > 0 && c.failures:
		return TestsPassed
	}
	return NoVerdict
}

// judgeNode returns the result of tests in a line of node --test, such as "# fail 1". The first character may be any mark.
func judgeNode(line []byte) TestVerdict {
	_, line, _ = bytes.Cut(line, []byte{' '})
	word, number, _ := bytes.Cut(line, []byte{' '})
	if number = bytes.TrimLeft(number, " "); len(number) == 0 || count(number, digit) != len(number) || number[0] == '0' {
		return NoVerdict
	}
	switch string(word) {
	case "fail":
		return TestsFailed
	case "pass":
		return TestsPassed
	}
	return NoVerdict
}
