package fingerprint

// wordKind is what a word means among counts.
type wordKind uint8

const (
	strangeWord wordKind = iota // no runner uses it there
	plainWord                   // it may occur among counts
	testWord                    // what is counted
	passWord
	failWord
	errorWord
	lastWord // what follows is no longer counts
)

// counts is the content of a line that has only counts.
type counts struct {
	ran, passed, failed, errors int
	passes, failures            bool // they were counted, if only to none
	tests                       bool // it is about tests: it names them, or counts passes or failures, or gives a time
	named                       bool // it names them
	bound                       bool // a number follows its word: "Failures: 1"

	number int      // the latest, if it still waits for its word, or -1
	word   wordKind // the latest
	binds  bool     // a colon or an equals sign follows it
	label  bool     // the number followed "Tests:", and may be of tests or of the next word: "Tests: 1 failed"
	within bool     // it was "in": a time follows
}

// readCounts reads a line of counts: "2 failed, 1 passed in 0.02s", "Tests run: 3, Failures: 1". It returns false for a line
// that has anything else in it.
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

// endOfWord takes digits and underscores for a part of the word: names that have them are not words of a runner.
func endOfWord(line []byte, i int) int {
	for i < len(line) && (class[line[i]]&(digit|alpha) != 0 || line[i] == '_') {
		i++
	}
	return i
}

// isClear reports whether it is clear what was counted. "Failures: 1" alone may be of anything.
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

// take gives the number to a word of this kind.
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

// kindOf returns what a word means among counts.
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
