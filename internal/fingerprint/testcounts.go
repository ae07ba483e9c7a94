package fingerprint

// wordKind is the meaning of a word in a line of counts.
type wordKind uint8

const (
	strangeWord wordKind = iota // no runner uses it there
	plainWord                   // runners use it, and it counts nothing
	testWord                    // tests
	passWord                    // tests that passed
	failWord                    // tests that failed
	errorWord                   // errors
	lastWord                    // the rest of the line has no counts
)

// counts is the content of a line of counts.
type counts struct {
	ran, passed, failed, errors int
	passes, failures            bool // the line counts them; the number may be 0
	tests                       bool // the line is about tests: it names them, counts passes or failures, or has a time
	named                       bool // the line names tests
	bound                       bool // a number follows its word, as in "Failures: 1"

	number int      // the latest number if no word has taken it yet, else -1
	word   wordKind // of the latest word
	binds  bool     // a colon or an equals sign follows the latest word
	label  bool     // number follows "Tests:", so it may belong to tests or to the next word: "Tests: 1 failed"
	within bool     // the latest word is "in", so a time may follow
}

// readCounts reads a line of counts, such as "2 failed, 1 passed in 0.02s" or "Tests run: 3, Failures: 1". ok is false for a line with
// any other content.
func readCounts(line []byte) (c counts, ok bool) {
	c.number = -1
	for i := 0; i < len(line); {
		b, from := line[i], i
		switch {
		case class[b]&digit != 0:
			i = endOfNumber(line, i)
			c.addNumber(line[from:i])
		case class[b]&alpha != 0:
			i = endOfWord(line, i)
			kind := kindOf(line[from:i])
			if kind == strangeWord {
				return c, false
			}
			if kind == lastWord {
				return c, c.isClear()
			}
			c.addWord(kind, string(line[from:i]) == "in")
		case b == ' ':
			i++
		default: // only spaces separate a number from its word, so that numbered lines of a file are no counts
			c.number, c.label = -1, false
			c.binds = (b == ':' || b == '=') && i > 0 && class[line[i-1]]&alpha != 0
			i++
		}
	}
	return c, c.isClear()
}

func endOfNumber(line []byte, i int) int {
	for i < len(line) && (class[line[i]]&(digit|alpha) != 0 || line[i] == '.' || line[i] == ':' || line[i] == '%' || line[i] == '/') {
		i++
	}
	return i
}

// endOfWord returns the end of the word at line[i]. Digits and underscores are part of it, because names with them are no words of a
// runner.
func endOfWord(line []byte, i int) int {
	for i < len(line) && (class[line[i]]&(digit|alpha) != 0 || line[i] == '_') {
		i++
	}
	return i
}

// isClear reports whether the line counts tests for certain. "Failures: 1" alone may count anything.
func (c *counts) isClear() bool { return !c.bound || c.named || c.passes && c.failures }

func (c *counts) addNumber(token []byte) {
	n, digits := 0, 0
	for digits < len(token) && class[token[digits]]&digit != 0 {
		n = min(10*n+int(token[digits]-'0'), 1<<30)
		digits++
	}
	rest := token[digits:]
	if len(rest) > 0 && (string(rest) != "." || !c.binds) { // a time, a percentage, the number of a line
		c.tests = c.tests || c.within
		c.number = -1
		return
	}
	c.number = n
	if !c.binds {
		return
	}
	c.binds = false
	if c.word == testWord || c.word == plainWord && c.named { // "Tests run: 3"
		c.ran, c.label = max(c.ran, n), true
		return
	}
	c.bound = true
	c.take(c.word)
}

func (c *counts) addWord(kind wordKind, within bool) {
	c.word, c.binds, c.within = kind, false, within
	if c.label {
		c.ran, c.label = 0, false
	}
	if kind == testWord {
		c.tests, c.named = true, true
		c.ran = max(c.ran, c.number)
		return
	}
	if c.number >= 0 {
		c.tests = c.tests || kind == passWord || kind == failWord
		c.take(kind)
	}
}

// take adds the number to the count of words of this kind.
func (c *counts) take(kind wordKind) {
	switch kind {
	case passWord:
		c.passed += c.number
		c.passes = true
	case failWord:
		c.failed += c.number
		c.failures = true
	case errorWord:
		c.errors += c.number
	default:
		return
	}
	c.number = -1
}

// kindOf returns the meaning of a word in a line of counts.
func kindOf(word []byte) wordKind {
	var lower [12]byte
	if len(word) > len(lower) {
		return strangeWord
	}
	for k, b := range word {
		lower[k] = b | 0x20
	}
	switch string(lower[:len(word)]) {
	case "test", "tests", "example", "examples", "runs", "spec", "specs", "scenario", "scenarios", "feature", "features":
		return testWord
	case "passed", "passing", "passes", "xfailed", "xpassed", "successful":
		return passWord
	case "failed", "failing", "failure", "failures":
		return failWord
	case "error", "errors":
		return errorWord
	case "time", "duration", "elapsed":
		return lastWord
	case "suite", "suites", "file", "files", "step", "steps", "assertion", "assertions", "expectations", "doctest", "doctests",
		"subtest", "subtests", "snapshot", "snapshots", "containers", "result", "results", "summary", "total", "run", "ran",
		"executed", "completed", "finished", "ok", "skip", "skips", "skipped", "skipping", "pending", "pendings", "todo", "ignored",
		"measured", "filtered", "out", "cancelled", "canceled", "deselected", "rerun", "reruns", "retried", "warning", "warnings",
		"flaky", "flakes", "slow", "leaky", "incomplete", "risky", "deprecations", "notices", "unexpected", "occurred", "outside",
		"across", "expected", "to", "fail", "of", "and", "with", "in", "no", "s", "ms", "sec", "seconds", "minutes":
		return plainWord
	}
	return strangeWord
}
