package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

func input(s string) *ingest.Input { return ingest.NewInput("input", "run", strings.NewReader(s)) }

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for name, tc := range map[string]struct {
		input string
		want  []string
	}{
		"nothing":                          {"", nil},
		"the last line has no end":         {"a\nb", []string{"1:a", "2:b last"}},
		"the last line has an end":         {"a\nb\n", []string{"1:a", "2:b"}},
		"blank lines count and are left":   {"\n a \n\r\n\t\nb\r\n", []string{"2:a", "5:b"}},
		"a line longer than the buffer":    {"a\n" + long + "\nb\n", []string{"1:a", "2:" + long, "3:b"}},
		"two long lines one after another": {long + "\n" + long + "y\n", []string{"1:" + long, "2:" + long + "y"}},
		"a long last line":                 {long, []string{"1:" + long + " last"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for line, err := range input(tc.input).Lines() {
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%d:%s", line.Number, line.Bytes)
				if line.Last {
					text += " last"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTheMessageAboutADeepFieldIsShort(t *testing.T) {
	bad := ingest.NewInput("input", "run", strings.NewReader("")).Bad(7, "a"+strings.Repeat(".ä", 10_000), "not valid JSON")
	if text := bad.Error(); len(text) > 400 || !strings.HasPrefix(text, "input:7: a.ä.ä") || !strings.HasSuffix(text, "…: not valid JSON") || !utf8.ValidString(text) {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestLineOverTheLimit(t *testing.T) {
	line := io.LimitReader(endless('x'), ingest.MaxLine+1<<20)
	in := ingest.NewInput("input", "run", io.MultiReader(strings.NewReader("a\n"), line))
	var got []error
	for _, err := range in.Lines() {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil {
		t.Fatalf("got %v, want a line and an error", got)
	}
	var bad *ingest.BadInput
	if !errors.As(got[1], &bad) || bad.Error() != "input:2: the line is longer than 64 MiB" {
		t.Errorf("got %v", got[1])
	}
}

// endless is a reader of one byte, over and over.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestFailedReads(t *testing.T) {
	broken := errors.New("the disk is gone")
	failing := func(s string) *ingest.Input {
		return ingest.NewInput("input", "run", io.MultiReader(strings.NewReader(s), iotest.ErrReader(broken)))
	}
	each := func(ingest.Line) error { return nil }
	element := func(int, jsontext.Value) error { return nil }
	for name, err := range map[string]error{
		"a line":     failing("{}\n{").EachLine(each),
		"an element": failing("[{}," + strings.Repeat(" ", 100<<10)).Elements(element),
		"a document": func() error { _, err := failing("{").Document(); return err }(),
		"a head":     func() error { _, err := failing("{").Head(); return err }(),
	} {
		t.Run(name, func(t *testing.T) {
			var bad *ingest.BadInput
			if !errors.Is(err, broken) || errors.As(err, &bad) {
				t.Errorf("got %v, want the reader's error", err)
			}
		})
	}
}

func TestEachLine(t *testing.T) {
	const good = `{"n":1}` + "\n"
	for name, tc := range map[string]struct {
		input   string
		want    []int
		warning string
		err     string
	}{
		"all lines are whole":              {good + good, []int{1, 1}, "", ""},
		"a bad line ends the input":        {good + "{\n" + good, []int{1}, "", "input:2: not valid JSON at byte 1: unexpected EOF"},
		"a wrong type ends the input":      {good + `{"n":"x"}` + "\n", []int{1}, "", "input:2: n: a JSON string does not fit here, want a whole number"},
		"a cut last line is a warning":     {good + `{"n":`, []int{1}, "input:2: the last line is cut; the events before it were read", ""},
		"a last line of a wrong type":      {good + `{"n":"x"}`, []int{1}, "", "input:2: n: a JSON string does not fit here, want a whole number"},
		"a whole last line without an end": {good + `{"n":2}`, []int{1, 2}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			in, warning := input(tc.input), ""
			in.Warn = func(b *ingest.BadInput) { warning = b.Error() }
			err := in.EachLine(func(line ingest.Line) error {
				var v struct {
					N int `json:"n"`
				}
				if err := in.Unmarshal(line.Number, line.Bytes, &v); err != nil {
					return err
				}
				got = append(got, v.N)
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if warning != tc.warning || text(err) != tc.err {
				t.Errorf("warning %q, error %q", warning, text(err))
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTheErrorOfEmitIsReturnedUnchanged(t *testing.T) {
	stop := errors.New("stop")
	if err := input("{}").EachLine(func(ingest.Line) error { return stop }); err != stop {
		t.Errorf("EachLine: got %v", err)
	}
	if err := input("[{}]").Elements(func(int, jsontext.Value) error { return stop }); err != stop {
		t.Errorf("Elements: got %v", err)
	}
}

func TestElements(t *testing.T) {
	for name, tc := range map[string]struct {
		input string
		want  []string
		err   string
	}{
		"nothing":                    {"", nil, ""},
		"an empty array":             {" [ ] ", nil, ""},
		"an array":                   {`[{"a": 1}, 2]`, []string{`0 {"a": 1}`, "1 2"}, ""},
		"values one after another":   {"{}\n{}{}", []string{"0 {}", "1 {}", "2 {}"}, ""},
		"a doubled name":             {`[{"a":1,"a":2}]`, []string{`0 {"a":1,"a":2}`}, ""},
		"an array that is cut":       {`[1,`, []string{"0 1"}, "input: not valid JSON at byte 3: unexpected EOF"},
		"an element that is cut":     {`[1,{"a"`, []string{"0 1"}, "input: 1.a: not valid JSON at byte 7: unexpected EOF"},
		"an element that is no JSON": {`[1,x]`, []string{"0 1"}, "input: 1: not valid JSON at byte 3: invalid character 'x' at start of value"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := input(tc.input).Elements(func(i int, v jsontext.Value) error {
				got = append(got, fmt.Sprintf("%d %s", i, v))
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if text(err) != tc.err {
				t.Errorf("error %q, want %q", text(err), tc.err)
			}
		})
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 8, 7, 0, time.UTC)
	for name, tc := range map[string]struct {
		value string
		want  time.Time
	}{
		"RFC 3339":              {`"2026-03-04T09:08:07Z"`, at},
		"with a zone":           {`"2026-03-04T10:08:07+01:00"`, at},
		"with a fraction":       {`"2026-03-04T09:08:07.25Z"`, at.Add(250 * time.Millisecond)},
		"without a zone":        {`"2026-03-04T09:08:07"`, at},
		"with a space":          {`"2026-03-04 09:08:07.25"`, at.Add(250 * time.Millisecond)},
		"seconds":               {`1772615287`, at},
		"seconds and a half":    {`1772615287.5`, at.Add(500 * time.Millisecond)},
		"milliseconds":          {`1772615287000`, at},
		"microseconds":          {`1772615287000001`, at.Add(time.Microsecond)},
		"nanoseconds":           {`1772615287000000000`, at},
		"zero":                  {`0`, time.Time{}},
		"a negative number":     {`-5`, time.Time{}},
		"a number over any":     {`1e300`, time.Time{}},
		"the first over any":    {`9223372036854775808`, time.Time{}},
		"a text that is none":   {`"yesterday"`, time.Time{}},
		"another kind of value": {`{}`, time.Time{}},
		"nothing":               {``, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ingest.Time(jsontext.Value(tc.value)); !got.Equal(tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestContent(t *testing.T) {
	for name, tc := range map[string]struct{ value, want string }{
		"a string":                     {`"a\nb"`, "a\nb"},
		"text parts":                   {`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "a\nb"},
		"parts that are strings":       {`["a","b"]`, "a\nb"},
		"a part without a text":        {`[{"type":"image"},{"type":"text","text":"b"}]`, "b"},
		"a part with a content":        {`{"content":"a"}`, "a"},
		"a text that is no string":     {`[{"text":5}]`, ""},
		"a list in a list is not read": {`["a",["b"]]`, "a"},
		"null":                         {`null`, ""},
		"nothing":                      {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ingest.Content(jsontext.Value(tc.value)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct{ value, want string }{
		"JSON in a string":               {`"{\"a\": 1}"`, `{"a": 1}`},
		"white space around it":          {`" {} \n"`, `{}`},
		"JSON":                           {`{"a":1}`, `{"a":1}`},
		"a string that is no JSON":       {`"{\"a\": "`, `"{\"a\": "`},
		"a doubled name is JSON":         {`"{\"a\":1,\"a\":2}"`, `{"a":1,"a":2}`},
		"an empty string is nothing":     {`""`, ``},
		"null stays null":                {`null`, `null`},
		"nothing is nothing":             {``, ``},
		"a string of JSON is read once":  {`"\"{}\""`, `"{}"`},
		"two values are not one of JSON": {`"{} {}"`, `"{} {}"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ingest.Arguments(jsontext.Value(tc.value)); string(got) != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want map[string]string
		list bool
	}{
		"an object":               {`{"a":"x","b":1,"c":true,"d":null}`, map[string]string{"a": "x", "b": "1", "c": "true", "d": "null"}, false},
		"nested values":           {`{"a":{"b":1},"c":[1],"d":2}`, map[string]string{"a": "", "c": "", "d": "2"}, false},
		"the first of a list":     {` [{"a":"x"},{"b":"y"}]`, map[string]string{"a": "x"}, true},
		"the first of many lines": {`{"a":"x"}` + "\n" + `{"b":"y"}`, map[string]string{"a": "x"}, false},
		"a cut value":             {`{"a":"x","b":"long te`, map[string]string{"a": "x", "b": ""}, false},
		"a cut object within":     {`{"a":"x","b":{"c":`, map[string]string{"a": "x", "b": ""}, false},
		"a cut name":              {`{"a":"x","lon`, map[string]string{"a": "x"}, false},
		"a list of lists":         {`[[1]]`, nil, true},
		"an empty list":           {`[]`, nil, true},
		"no JSON":                 {`a,b`, nil, false},
		"nothing":                 {``, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, list := ingest.Members([]byte(tc.head))
			if diff := cmp.Diff(tc.want, got); diff != "" || list != tc.list {
				t.Errorf("list %v, want %v; -want +got:\n%s", list, tc.list, diff)
			}
		})
	}
}

func TestTrail(t *testing.T) {
	var got []string
	trail := ingest.NewEventBuilder("run", func(e *unloop.Event) error {
		line, err := json.Marshal(e)
		got = append(got, fmt.Sprintf("%d %s", e.Index, line))
		return err
	})
	at := ingest.Location{Index: 3, Agent: "a"}
	for _, err := range []error{
		trail.Call(at, "c", "f", json.RawMessage(`{}`)),
		trail.Result(at, "c", "f", nil, false, "broken"),
		trail.Add(at, &unloop.Event{ID: "own", Type: unloop.MemoryWrite, Agent: "b"}),
		trail.Handoff(ingest.Location{Index: 4}, "a", "b"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`3 {"event_id":"e3","run_id":"run","sequence":1,"type":"tool_call_started","agent":"a","tool":"f","call_id":"c","input":{}}`,
		`3 {"event_id":"e3.1","run_id":"run","sequence":2,"type":"tool_call_failed","agent":"a","tool":"f","call_id":"c","error":"broken"}`,
		`3 {"event_id":"own","run_id":"run","sequence":3,"type":"memory_write","agent":"b"}`,
		`4 {"event_id":"e4","run_id":"run","sequence":4,"type":"handoff_started","agent":"b","metadata":{"from":"a"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
