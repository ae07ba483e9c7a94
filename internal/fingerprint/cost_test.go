package fingerprint

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/costtest"
)

// maxCost bounds what a byte of content costs, in readings of one byte in a loop: about ten times what the dearest of these
// costs (see docs/benchmarks.md), and a fifth of what a text costs that is read again from each of 160 places.
const maxCost = 600

// attempts is how often a measurement is repeated before it counts as too dear. The best counts: other work on the machine takes
// caches away and makes a measurement longer, never shorter, so only what is too dear each time fails.
const attempts = 12

// functions are all functions of this package that read content.
var functions = map[string]func(content []byte){
	"Canonical":      func(b []byte) { new(Canonicalizer).Canonical(b) },
	"Target":         func(b []byte) { target(jsonObject("command", b)) },
	"Bytes":          func(b []byte) { Bytes(b) },
	"Masked":         func(b []byte) { new(Masker).Masked(b) },
	"Empty":          func(b []byte) { Empty(b); Empty(quoted(b)); Empty(jsonObject("result", b)) },
	"ErrorClass":     func(b []byte) { ErrorClass(ErrorLine(b)) },
	"Failure":        func(b []byte) { Failure(b); Failure(quoted(b)); Failure(jsonObject("error", b)) },
	"RunsTests":      func(b []byte) { RunsTests(b) },
	"ReadTestOutput": func(b []byte) { ReadTestOutput(b); ReadTestOutput(quoted(b)) },
	"MinHashOf":      func(b []byte) { MinHashOf(string(b)) },
	"TailPeriod":     func(b []byte) { TailPeriod(string(b)) },
	"ShapeOf":        func(b []byte) { ShapeOf(Clip(nil, b)) },
	"Unwrap":         func(b []byte) { Unwrap(quoted(b), &Echo{}); Unwrap(jsonObject("stdout", b), &Echo{}) },
	"Content":        func(b []byte) { Content(b); Content(slices.Concat([]byte(`{"content":[`), b, []byte(`]}`))) },
	"Echo": func(b []byte) {
		echo := EchoOf([]byte("a a a"))
		Unwrap(quoted(b), &echo)
		Unwrap(quoted(append(slices.Clone(b), "\\n$ "...)), &echo)
		EchoOf(b)
	},
	"Frame": func(b []byte) {
		var f Frame
		for range 5 {
			f.Add(b, true)
			f.Without(b)
		}
	},
	"Reminder":   func(b []byte) { WithoutReminder(quoted(b)) },
	"Packed":     func(b []byte) { PackedArguments(quoted(b)); PackedResult(quoted(b)); Unpack(nil, quoted(b)) },
	"Pending":    func(b []byte) { Pending(b) },
	"Completion": func(b []byte) { Completion(string(b)) },
}

func target(arguments []byte) {
	var c Canonicalizer
	c.Target(c.Canonical(arguments), true)
	c.Command()
}

func quoted(b []byte) []byte { return slices.Concat([]byte(`"`), b, []byte(`"`)) }

func jsonObject(name string, b []byte) []byte {
	return slices.Concat([]byte(`{"`+name+`":"`), b, []byte(`"}`))
}

// units are the classes of content: each is repeated to make a long one.
var units = []string{
	".", "-", "~", "..-~", "a", "_", "1", "0", "'", `"`, "`", `\`, "[", "{", "}", "]", "<", ">", "(", ";", "=", ":", ",", "@", "#",
	" ", "\n", "\r\n", "\t", `\n`, `\"`, `\\`, `\u00e9`, `\u003e`, "\x00", "\x1b[", "/", "a/", "./", "~/", "é", "界", "😀", "\xff", "\x80", "\xf0\x9f",
	`{"a":`, `{"b":0,"a":`, `{"result":`, `{"error":{"message":`, "[1,", `"a":1,`, "1e5,", "1.", "0.0",
	"a;", "ls|", "go test;", "sudo ", "sh -c '", `"\`, `'\`, "<<a\n", "$(", "A=1 ", "docker run ", "node ",
	"1m1.", "1s", "1m", "1h2m3.", "12:00 ", "10:00:00.1", "2024-01-01T10:00:00.1 ", "02 Jan ", "Jan ", "Mon, ", "1700000000.", "0x", "0xffffff",
	"deadbeef-", "tmp", "tmp.", "go-build1", "pid ", "pid=", "process ", "tool_call_id=", "tool_call_id ",
	"n ", "no ", "not ", "0 ", "error\n", "rror", "Error: ", "a: b\n", "xit code ", "a.b:", "2 failed\n", "# a\n", "=\n", "a b ", "'a", "`a",
}

func TestEachFunctionIsLinearInEachClassOfContent(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		t.Run(name, func(t *testing.T) {
			for _, unit := range units {
				for _, suffix := range []string{"", "x"} {
					if fault := tooDear(functions[name], nil, []byte(unit), []byte(suffix)); fault != "" {
						t.Errorf("%q again and again, then %q: %s", unit, suffix, fault)
					}
				}
			}
		})
	}
}

// FuzzCost searches for content whose parts a function reads again and again.
func FuzzCost(f *testing.F) {
	for k, unit := range units {
		f.Add([]byte(units[(k+7)%len(units)]), []byte(unit+units[(k+31)%len(units)]), []byte("x"))
	}
	f.Fuzz(func(t *testing.T, prefix, unit, suffix []byte) {
		if len(unit) == 0 || len(unit)+len(prefix)+len(suffix) > 256 {
			return
		}
		for name, function := range functions {
			if fault := tooDear(function, prefix, unit, suffix); fault != "" {
				t.Errorf("%s: %q, then %q again and again, then %q: %s", name, prefix, unit, suffix, fault)
			}
		}
	})
}

// Lengths of content. What is quadratic takes 256 times as long for the long one.
const (
	shortContent = 2 << 10
	longContent  = 16 * shortContent
)

// maxGrowth bounds how much longer content of 16 times the length takes: 16 times if work is linear, 256 times if it is quadratic.
const maxGrowth = 48

// cheap is how many times as long as reading each byte once what is surely linear takes: what is quadratic takes hundreds of times as
// long for long content, at the speed at which a byte is searched for.
const cheap = 30

// tooDear returns a fault if a function takes more than maxGrowth times as long for long content as for short, or longer for a byte
// than maxCost allows. Both are ratios of processor times of one thread, which other work on the machine hardly changes.
func tooDear(function func([]byte), prefix, unit, suffix []byte) string {
	short, long := repeated(prefix, unit, suffix, shortContent), repeated(prefix, unit, suffix, longContent)
	least := [3]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	for range attempts {
		least[0] = min(least[0], costtest.ThreadTime(func() { function(short) }))
		least[1] = min(least[1], costtest.ThreadTime(func() { function(long) }))
		least[2] = min(least[2], costtest.ThreadTime(func() { readEach(long) }))
		// A microsecond is added to each, as calls and the clock have a cost of their own.
		dear := float64(least[1]) / float64(least[2])
		// A function may know its answer early in the short content and not in the long: what is cheap for a byte is linear.
		if (grown(least) < maxGrowth || dear <= cheap) && dear <= maxCost {
			return ""
		}
		if dear > 50*maxCost {
			break // no other work on the machine explains that
		}
	}
	return fmt.Sprintf("%d bytes take %v, %d bytes %v, and reading them once %v", len(short), least[0], len(long), least[1], least[2])
}

func grown(least [3]time.Duration) float64 {
	return float64(least[1]+time.Microsecond) / float64(least[0]+time.Microsecond)
}

func repeated(prefix, unit, suffix []byte, size int) []byte {
	return slices.Concat(prefix, bytes.Repeat(unit, size/len(unit)), suffix)
}

var sum int // of all classes, so that the loop is not left out

// readEach reads each byte once, as a scanner does that has little to do.
func readEach(b []byte) {
	n := 0
	for i := 0; i < len(b); i++ {
		n += int(class[b[i]])
	}
	sum += n
}

func BenchmarkCost(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, kind := range []struct{ name, unit string }{
			{"words", "the handler of the request reads a body and closes it "},
			{"dots", "."},
			{"digits", "1"},
			{"quotes", `"`},
			{"backslashes", `\`},
			{"braces", `{"a":`},
			{"durations", "1m1."},
			{"lines", "error\n"},
			{"slashes", "a/"},
			{"commands", "a;"},
			{"characters", "界"},
			{"invalid", "\xff"},
		} {
			b.Run(name+"/"+kind.name, func(b *testing.B) {
				content := []byte(strings.Repeat(kind.unit, 1<<20/len(kind.unit)))
				b.SetBytes(int64(len(content)))
				for b.Loop() {
					functions[name](content)
				}
			})
		}
	}
}
