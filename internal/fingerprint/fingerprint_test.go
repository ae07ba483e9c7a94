package fingerprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	same := [][]string{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "{ \"b\" : 2.0 ,\n\t\"a\":1e0 }"},
		{`{"a":{"y":1,"x":[1,2]},"b":null}`, `{"b":null,"a":{"x":[1,2],"y":1}}`},
		{`"é\n/"`, `"\u00e9\u000a\/"`},
		{`"😀"`, `"\ud83d\ude00"`},
		{`100`, `1e2`, `100.00`, `1000e-1`},
		{`0`, `-0`, `0.0`, `0e99999999999999999999`},
		{`12345678901234567890123`, `12345678901234567890123.0`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{"b":0,"a":1,"a":2}`, `{"a":2,"b":0}`},
		{`not json`, `"not json"`},
		{`{"a":`, `"{\"a\":"`},
		{`{"":1}`, `{"" :1}`},
		{`[]`, `[ ]`},
		{`{}`, `{ }`},
	}
	var c Canonicalizer
	for _, group := range same {
		want := string(c.Canonical([]byte(group[0])))
		for _, other := range group[1:] {
			if got := string(c.Canonical([]byte(other))); got != want {
				t.Errorf("%s is %s, but %s is %s", group[0], want, other, got)
			}
		}
	}
	different := []string{
		``, `{}`, `[]`, `""`, `null`, `0`, `1`, `true`, `"true"`, `"1"`, `[1,2]`, `[2,1]`, `{"a":1}`, `{"a":"1"}`, `{"b":1}`,
		`12345678901234567890`, `12345678901234567891`, `1e22`, `1e21`, `0.1`, `0.01`, `01`, `1.`, `-1`, `[1`, `1 2`, `"a\qb"`,
	}
	seen := map[string]string{}
	for _, raw := range different {
		got := string(c.Canonical([]byte(raw)))
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are both %s", raw, other, got)
		}
		seen[got] = raw
	}
}

func TestCanonicalAgreesWithDecoding(t *testing.T) {
	var c Canonicalizer
	rapid.Check(t, func(t *rapid.T) {
		value := jsonValue(3).Draw(t, "value")
		plain, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(value, " ", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(c.Canonical(plain))
		if got := c.Canonical(indented); !bytes.Equal(want, got) {
			t.Fatalf("white space counts:\n%s\n%s", want, got)
		}
		if again := c.Canonical(bytes.Clone(want)); !bytes.Equal(want, again) {
			t.Fatalf("the canonical form of a canonical form differs:\n%s\n%s", want, again)
		}
		other := jsonValue(3).Draw(t, "other")
		equal := fmt.Sprint(value) == fmt.Sprint(other)
		plainOther, _ := json.Marshal(other)
		if got := bytes.Equal(want, c.Canonical(plainOther)); !equal && got && !bytes.Equal(plain, plainOther) {
			t.Fatalf("%s and %s are equal", plain, plainOther)
		}
	})
}

func jsonValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(-5, 5).Draw(t, "int") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.StringN(0, 4, -1).Draw(t, "string") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		rapid.Just[any](nil),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := jsonValue(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(inner, 0, 3).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any {
			return rapid.MapOfN(rapid.StringMatching(`[a-c"\\]{0,2}`), inner, 0, 4).Draw(t, "object")
		}))...)
}

func TestHostileArgumentsAreReadAsText(t *testing.T) {
	var c Canonicalizer
	deep := strings.Repeat(`[`, 1_000_000)
	if got := c.Canonical([]byte(deep)); len(got) != len(deep)+2 {
		t.Errorf("deep nesting gave %d bytes", len(got))
	}
	bad := "{\"a\":\"\xff\xfe\"}"
	if got := string(c.Canonical([]byte(bad))); got != bad {
		t.Errorf("bad UTF-8 became %q", got)
	}
	if got := c.Canonical([]byte("1e99999999999999999999999")); len(got) > 40 {
		t.Errorf("a huge exponent gave %d bytes", len(got))
	}
}

func TestTarget(t *testing.T) {
	cases := []struct {
		name  string
		a, b  string
		shell bool
		same  bool
	}{
		{"optional arguments do not count", `{"path":"a.go","encoding":"utf8"}`, `{"path":"a.go","trace":7}`, false, true},
		{"the path counts", `{"path":"a.go"}`, `{"path":"b.go"}`, false, false},
		{"an offset counts", `{"path":"a.go","offset":0}`, `{"path":"a.go","offset":9}`, false, false},
		{"path and file_path are two things", `{"path":"a.go"}`, `{"file_path":"a.go"}`, false, false},
		{"without a primary argument all count", `{"x":1}`, `{"x":2}`, false, false},
		{"cat and head read one file", `{"command":"cat app.log"}`, `{"command":"head -n 5 app.log"}`, true, true},
		{"flags with and without a value", `{"command":"head -50 app.log"}`, `{"command":"tail --lines 3 app.log"}`, true, true},
		{"a quoted file is the same file", `{"command":"cat 'app.log'"}`, `{"command":"wc -l \"app.log\""}`, true, true},
		{"a name with a space", `{"command":"cat 'a b'"}`, `{"command":"cat \"a b\""}`, true, true},
		{"two files are no plain read", `{"command":"cat a b"}`, `{"command":"head a b"}`, true, false},
		{"a pipe is no plain read", `{"command":"cat a | wc"}`, `{"command":"cat a"}`, true, false},
		{"only in a shell", `{"command":"cat app.log"}`, `{"command":"head app.log"}`, false, false},
		{"cat -n takes no value", `{"command":"cat -n a"}`, `{"command":"cat a"}`, true, true},
	}
	var c Canonicalizer
	target := func(args string, shell bool) Hash { return c.Target(c.Canonical([]byte(args)), shell) }
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := target(tc.a, tc.shell) == target(tc.b, tc.shell); got != tc.same {
				t.Errorf("%s and %s: same is %v", tc.a, tc.b, got)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	var c Canonicalizer
	for args, want := range map[string]string{
		`{"command":"go test ./..."}`:                "go test ./...",
		`{"cmd":"ls \"a b\""}`:                       `ls "a b"`,
		`{"command":["bash","-lc","go test ./..."]}`: "go test ./...",
		`{"path":"x"}`:                               "",
		`["ls"]`:                                     "",
	} {
		c.Canonical([]byte(args))
		if got := string(c.Command()); got != want {
			t.Errorf("%s: command %q, want %q", args, got, want)
		}
	}
}

func TestStable(t *testing.T) {
	cases := []struct {
		name string
		a, b string
		same bool
	}{
		{"durations", `"ok in 12 ms (0.31s)"`, `"ok in 7 ms (1.5s)"`, true},
		{"compound durations", `took 1m30s`, `took 2m4.5s`, true},
		{"UUIDs", `id 123e4567-e89b-12d3-a456-426614174000`, `id aaaaaaaa-e89b-12d3-a456-42661417400f`, true},
		{"ISO 8601", `at 2024-05-01T10:00:00Z x`, `at 2024-05-02T11:30:59.123+02:00 x`, true},
		{"ISO 8601 with a space", `at 2024-05-01 10:00:00,123 x`, `at 2024-05-02 11:30:59,999 x`, true},
		{"RFC 1123", `Date: Mon, 02 Jan 2006 15:04:05 GMT.`, `Date: Tue, 03 Jan 2006 16:04:05 GMT.`, true},
		{"RFC 2822", `2 Jan 2006 15:04:05 -0700`, `13 Feb 2007 15:04:05 +0100`, true},
		{"the date command", `Mon Jan  2 15:04:05 UTC 2006`, `Tue Feb 12 10:00:00 UTC 2024`, true},
		{"ls", `-rw 4096 Nov 19 00:20 a`, `-rw 4096 Dec  3 11:59 a`, true},
		{"access logs", `[02/Jan/2006:15:04:05 +0000]`, `[03/Feb/2024:16:00:05 +0000]`, true},
		{"clock times", `now 10:15:01`, `now 23:59:59`, true},
		{"a time with pm", `at 3:04 pm`, `at 11:59 PM`, true},
		{"Unix times", `{"t":1732174567}`, `{"t":1732174999}`, true},
		{"Unix times in milliseconds", `t=1732174567123`, `t=1732174567999`, true},
		{"hex addresses", `<T at 0x7f3c12ab90>`, `<T at 0x7f3c99ab10>`, true},
		{"temp names", `/tmp/tmpab12cd34/x`, `/tmp/tmpzz99yy88/x`, true},
		{"mktemp", `/tmp/tmp.Ab12Cd34Ef`, `/tmp/tmp.Zz99Yy88Xx`, true},
		{"process ids", `started pid 4711`, `started pid 12`, true},
		{"ids of tool calls", `content='no' name='search' tool_call_id='call_17'`, `content='no' name='search' tool_call_id='call_18'`, true},
		{"ids of tool calls in escaped JSON", `"{\"content\":\"no\",\"tool_call_id\":\"toolu_01-A\"}"`, `"{\"content\":\"no\",\"tool_call_id\":\"toolu_02-B\"}"`, true},
		{"after an escape", `"a\n12:30:01 b"`, `"a\n13:31:02 b"`, true},

		{"a percentage is meaning", `done 10%`, `done 40%`, false},
		{"a count is meaning", `3 failed`, `2 failed`, false},
		{"a line number is meaning", `a.go:12:34: bad`, `a.go:13:34: bad`, false},
		{"a column is meaning", `a.go:12:34: bad`, `a.go:12:35: bad`, false},
		{"a date alone is meaning", `flight on 2024-05-20`, `flight on 2024-05-21`, false},
		{"a version is meaning", `v1.2.3`, `v1.2.4`, false},
		{"a word is meaning", `queued`, `done`, false},
		{"a long number is meaning", `id 12345678901`, `id 12345678902`, false},
		{"a small hex number is meaning", `code 0x1F`, `code 0x2F`, false},
		{"a hash is meaning", `d41d8cd98f00b204e9800998ecf8427e`, `d41d8cd98f00b204e9800998ecf8427f`, false},
		{"a plain name in tmp is meaning", `/tmp/repro.py`, `/tmp/other.py`, false},
		{"a word after the id of a tool call is kept", `tool_call_id='call_17' no`, `tool_call_id='call_17' yes`, false},
		{"megabytes are no duration", `12 MB`, `13 MB`, false},
	}
	var m Masker
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := m.Masked([]byte(tc.a)) == m.Masked([]byte(tc.b)); got != tc.same {
				t.Errorf("%s and %s: same is %v", tc.a, tc.b, got)
			}
		})
	}
}

func TestStableOfLongResults(t *testing.T) {
	var m Masker
	long := strings.Repeat("a line of the log, took 12 ms\n", 2000)
	other := strings.ReplaceAll(long, "12 ms", "9 ms")
	if m.Masked([]byte(long)) != m.Masked([]byte(other)) {
		t.Error("durations count in a long result")
	}
	if m.Masked([]byte(long)) == m.Masked([]byte(long+"!")) {
		t.Error("the end of a long result does not count")
	}
	if m.Masked(bytes.Repeat([]byte("x"), 3*chunk)) == m.Masked(bytes.Repeat([]byte("x"), 3*chunk+1)) {
		t.Error("the length of one long word does not count")
	}
}

func TestSimilarityAgreesWithThePlainTable(t *testing.T) {
	var m Matcher
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[abé1{}" ]{0,150}`)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = strings.Replace(a, "a", "bé", rapid.IntRange(0, 9).Draw(t, "edits"))
		}
		m.Reset([]byte(a), 3)
		want := plainRatio([]rune(a), []rune(b))
		shape := ShapeOf([]byte(b))
		for _, threshold := range []float64{0.5, 0.85, 1} {
			if got := m.Similar([]byte(b), &shape, threshold); got != (want >= threshold) {
				t.Fatalf("at %v: similar is %v, ratio %v", threshold, got, want)
			}
		}
	})
}

func plainRatio(a, b []rune) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

func TestSimilarIsBounded(t *testing.T) {
	var m Matcher
	other := []byte(`{"q":"the boiling point of methanol and more of it"}`)
	shape := ShapeOf(other)
	m.Reset([]byte(`{"p":"the melting point of methanol and less of it"}`), 1)
	if !m.Similar(other, &shape, 0.7) {
		t.Error("alike, but not seen with a full comparison left")
	}
	if m.Similar(other, &shape, 0.7) {
		t.Error("a full comparison was made beyond the budget")
	}
}

func TestResemblance(t *testing.T) {
	base := "I could not open the page because the server answered with an error, so I will try to open the page again " +
		"and look for the opening hours of the museum in the second section of the page."
	cases := []struct {
		name     string
		other    string
		min, max float64
	}{
		{"the same text", base, 1, 1},
		{"other numbers and marks", strings.ReplaceAll(base, ", so", "; so"), 1, 1},
		{"one word changed", strings.Replace(base, "museum", "library", 1), 0.6, 0.99},
		{"another text", "The function returns early when the slice is empty, which is why the test for the boundary fails.", 0, 0.1},
	}
	a := MinHashOf(base)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := MinHashOf(tc.other)
			if got := Resemblance(&a.Triples, &b.Triples); got < tc.min || got > tc.max {
				t.Errorf("resemblance %.2f, want %.2f to %.2f", got, tc.min, tc.max)
			}
		})
	}
}

func TestTailPeriod(t *testing.T) {
	cases := []struct {
		name          string
		text          string
		period, times int
	}{
		{"nothing repeats", "abcdefg", 7, 1},
		{"a line again and again", "Well: " + strings.Repeat("I will do it now.\n", 6), 18, 6},
		{"only the end counts", strings.Repeat("ab", 9) + "cde", 3, 1},
		{"empty", "", 0, 1},
		{"of the most common length at most", strings.Repeat("abc", (shortTail-1)/3), 3, (shortTail - 1) / 3},
		{"a byte longer", strings.Repeat("ab", shortTail/2), 2, shortTail / 2},
		{"longer than what is looked at", strings.Repeat("0123456789abcdef", 4096), 16, maxTail / 16},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			period, times := TailPeriod(tc.text)
			if times != tc.times || times > 1 && period != tc.period {
				t.Errorf("period %d × %d, want %d × %d", period, times, tc.period, tc.times)
			}
		})
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\u00e9"}]}`, `{"command":"cat -n \"a b\""}`, "2024-05-01T10:00 12 ms 0xdeadbeef01", `\`, `"\ud800"`, "1:", "-", "1e", "Mon, ", "tmp.x"} {
		f.Add([]byte(s))
	}
	var c Canonicalizer
	var m Masker
	var match Matcher
	f.Fuzz(func(t *testing.T, data []byte) {
		once := bytes.Clone(c.Canonical(data))
		if len(data) > 0 && !bytes.Equal(once, c.Canonical(bytes.Clone(once))) {
			t.Fatalf("%q is %q, which is not canonical", data, once)
		}
		c.Target(c.Canonical(data), true)
		c.Command()
		if m.Masked(data) != m.Masked(bytes.Clone(data)) {
			t.Fatal("two masks of the same bytes")
		}
		match.Reset(data[:min(len(data), 300)], 1)
		shape := ShapeOf(data[:min(len(data), 300)])
		if !match.Similar(data[:min(len(data), 300)], &shape, 1) {
			t.Fatal("a text is not like itself")
		}
		MinHashOf(string(data))
		Failure(data)
		TailPeriod(string(data))
	})
}

func BenchmarkCanonical(b *testing.B) {
	args := []byte(`{"path":"internal/server/handler.go","command":"sed -n '120,180p' internal/server/handler.go","query":"where the handler reads the request's body and closes it","limit":50,"offset":120,"include":["*.go","*.md"],"exclude":["vendor"],"recursive":true,"context":{"before":3,"after":3}}`)
	var c Canonicalizer
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		c.Target(c.Canonical(args), true)
	}
}

func BenchmarkStable(b *testing.B) {
	result := []byte(strings.Repeat(`2024-05-01T10:00:00Z INFO handler.go:128 request served in 12 ms status=200 bytes=5123 path=/api/runs/42 `+"\n", 20))
	var m Masker
	b.SetBytes(int64(len(result)))
	b.ReportAllocs()
	for b.Loop() {
		m.Masked(result)
	}
}

func BenchmarkSimilar(b *testing.B) {
	one := []byte(strings.Repeat("where the handler reads the body ", 9))
	other := bytes.ReplaceAll(one, []byte("reads"), []byte("writes"))
	var m Matcher
	shape := ShapeOf(other)
	b.ReportAllocs()
	for b.Loop() {
		m.Reset(one, 1)
		m.Similar(other, &shape, 0.85)
	}
}

func BenchmarkGist(b *testing.B) {
	text := strings.Repeat("I will look for the handler that reads the body of the request. ", 16)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		MinHashOf(text)
	}
}

func TestWithoutAMember(t *testing.T) {
	for raw, want := range map[string]string{
		`{"c":[1],"x":2,"a":"b"}`: `{"a":"b","c":[1]}`,
		`{"x":2,"y":3}`:           `{"y":3}`,
		`{"x":2}`:                 `{"x":2}`,
		`{"a":{"x":1}}`:           `{"a":{"x":1}}`,
		`["x"]`:                   `["x"]`,
	} {
		var c Canonicalizer
		c.Canonical([]byte(raw))
		got := string(c.Without(func(name []byte) bool { return string(name) == "x" }))
		if got != want {
			t.Errorf("%s without x is %s, want %s", raw, got, want)
		}
		var again Canonicalizer
		again.Canonical([]byte(want))
		if c.top != again.top || string(got) != string(again.out) {
			t.Errorf("%s without x has %d members, want %d", raw, c.top, again.top)
		}
		for k := range c.members[:c.top] {
			if c.members[k] != again.members[k] {
				t.Errorf("%s without x has the member %+v, want %+v", raw, c.members[k], again.members[k])
			}
		}
	}
}
