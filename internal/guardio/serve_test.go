package guardio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/profile"
)

func load(t testing.TB, name string, sets ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(profile.Source{Name: name, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answers serves the lines and returns the answer to each.
func answers(t testing.TB, p *profile.Profile, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(t.Context(), p, Extras{}, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(got), len(lines))
	}
	return got
}

// said is an answer as a client reads it.
type said struct {
	ID       json.RawMessage
	Action   string
	Shadow   string
	Code     string
	Count    int
	Message  string
	Result   json.RawMessage
	Findings []struct{ Rule, What string }
	Error    *mistake
	Snapshot json.RawMessage
	Stats    stats
}

func read(t testing.TB, line string) (a said) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("%v in the answer %s", err, line)
	}
	return a
}

// actions returns what was decided at each answer.
func actions(t testing.TB, lines []string) string {
	t.Helper()
	var all []string
	for _, line := range lines {
		all = append(all, read(t, line).Action)
	}
	return strings.Join(all, " ")
}

func repeat(n int, lines ...string) (all []string) {
	for range n {
		all = append(all, lines...)
	}
	return all
}

const (
	before = `{"op":"before","id":"c","tool":"search","args":{"q":"a"}}`
	after  = `{"op":"after","id":"c","tool":"search","result":{"hits":[]}}`
)

func TestDecisions(t *testing.T) {
	t.Run("an allowed call is answered in a word", func(t *testing.T) {
		want := []string{`{"id":"c","action":"allow","code":"","count":0,"message":"","findings":[]}`, `{"id":"c","action":"allow","code":"","count":0,"message":"","findings":[]}`}
		if diff := cmp.Diff(want, answers(t, load(t, "default"), before, after)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a blocked call has the result for the model, a text where the profile has it so", func(t *testing.T) {
		got := read(t, answers(t, load(t, "agentium"), repeat(4, before)...)[3])
		if got.Action != "block" || got.Code != "loop-detected" || got.Count != 4 || len(got.Findings) != 1 || got.Findings[0].Rule != "repeat_limit" {
			t.Errorf("%+v", got)
		}
		var result string
		if err := json.Unmarshal(got.Result, &result); err != nil || result != "[loop-detected] "+got.Message {
			t.Errorf("result %s (%v), message %s", got.Result, err, got.Message)
		}
	})
	t.Run("an object with an error gets the nudge as a member", func(t *testing.T) {
		got := read(t, answers(t, load(t, "loopguard"), repeat(5, `{"op":"before","tool":"edit"}`)...)[4])
		var result struct {
			Error   string
			Blocked bool `json:"loop_blocked"`
		}
		if err := json.Unmarshal(got.Result, &result); err != nil || got.Action != "block" || !result.Blocked || !strings.HasPrefix(result.Error, "[loop-guard] ") {
			t.Errorf("%s with result %s (%v)", got.Action, got.Result, err)
		}
	})
	t.Run("a warning about an outcome is attached to the result", func(t *testing.T) {
		got := answers(t, load(t, "loopguard", "no_progress_warn=2", "idempotent_warn_threshold=9"), repeat(3, before, after)...)
		last := read(t, got[4]) // the call that comes third is warned before
		if last.Action != "warn" || !strings.Contains(string(read(t, got[5]).Result), `"hits":[]`) || !strings.Contains(string(read(t, got[5]).Result), `"_loop_guard":{"action":"warn"`) {
			t.Errorf("before: %s\nafter: %s", got[4], got[5])
		}
	})
	t.Run("a failed call returns its error with the warning appended", func(t *testing.T) {
		failed := `{"op":"after","id":"c","tool":"search","error":"no such host"}`
		got := answers(t, load(t, "default"), repeat(4, before, failed)...)
		for _, line := range got {
			if a := read(t, line); a.Result != nil && a.Action == "warn" && strings.HasPrefix(string(a.Result), `"no such host [loop-guard] `) {
				return
			}
		}
		t.Errorf("no answer has the error with a warning:\n%s", strings.Join(got, "\n"))
	})
	t.Run("shadow mode reports the action without taking it", func(t *testing.T) {
		got := read(t, answers(t, load(t, "agentium", "shadow=true"), repeat(4, before)...)[3])
		if got.Action != "allow" || got.Shadow != "block" || got.Result != nil || got.Message == "" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a run's halt is its own", func(t *testing.T) {
		other := strings.Replace(before, `{`, `{"run":"other",`, 1)
		got := answers(t, load(t, "agentium", "action=abort"), append(repeat(4, before), other)...)
		if a := actions(t, got); a != "allow allow allow halt allow" {
			t.Error(a)
		}
	})
	t.Run("workers of a swarm share their counts, runs without a worker do not", func(t *testing.T) {
		for worker, want := range map[string]string{`,"worker":"w%d"`: "warn", "": "allow"} {
			var lines []string
			for k := range 12 {
				lines = append(lines, fmt.Sprintf(`{"op":"before","run":"r%d","tool":"search","args":{"q":"a"}`+strings.ReplaceAll(worker, "%d", fmt.Sprint(k%6))+"}", k%6))
			}
			got := read(t, answers(t, load(t, "attocode"), lines...)[11])
			if got.Action != want {
				t.Errorf("worker %q: %s, want %s", worker, got.Action, want)
			}
		}
	})
	t.Run("the hints of a tool count", func(t *testing.T) {
		plain := repeat(3, `{"op":"before","tool":"frob"}`)
		hinted := repeat(3, `{"op":"before","tool":"frob","annotations":{"readOnlyHint":true,"title":"Frob"}}`)
		p := load(t, "loopguard")
		if a, b := actions(t, answers(t, p, plain...)), actions(t, answers(t, p, hinted...)); a != "allow allow warn" || b != "allow allow allow" {
			t.Errorf("without hints %s, with them %s", a, b)
		}
	})
}

func TestCallsAreJoined(t *testing.T) {
	p := load(t, "default")
	warned := func(lines []string) bool { return strings.Contains(actions(t, answers(t, p, lines...)), "warn") }
	call := func(op, id, q, result string) string {
		return fmt.Sprintf(`{"op":%q,"id":%s,"tool":"search","args":{"q":%q},"result":%q}`, op, id, q, result)
	}
	t.Run("by their id, whatever the order", func(t *testing.T) {
		state := answers(t, p, call("before", "1", "a", ""), call("before", "2", "b", ""), call("after", "2", "", "of b"), call("after", "1", "", "of a"), call("before", "1", "b", ""), call("after", "1", "", "of b"), `{"op":"state"}`)
		if !strings.Contains(state[6], `"steps_without_novelty":1`) { // only the answer to b came twice
			t.Error(state[6])
		}
	})
	t.Run("by the tool, if each line has another id", func(t *testing.T) {
		var lines []string
		for k := range 4 {
			lines = append(lines, call("before", fmt.Sprint(2*k), "a", ""), call("after", fmt.Sprint(2*k+1), "", "same"))
		}
		if !warned(lines) {
			t.Error("the same call with the same result is not seen")
		}
	})
	t.Run("an id that is null is as an absent one", func(t *testing.T) {
		state := func(id string) string {
			var lines []string
			for range 6 {
				for _, op := range []string{"before", "after"} {
					for _, tool := range []string{"a", "b", "a"} {
						lines = append(lines, fmt.Sprintf(`{"op":%q,%s"tool":%q,"args":{"x":%q},"result":"same"}`, op, id, tool, tool))
					}
				}
			}
			return answers(t, p, append(lines, `{"op":"state"}`)...)[len(lines)]
		}
		if diff := cmp.Diff(state(""), state(`"id":null,`)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("by the tool, without an id", func(t *testing.T) {
		if !warned(repeat(4, call("before", "null", "a", ""), call("after", "null", "", "same"))) {
			t.Error("the same call with the same result is not seen")
		}
	})
}

func TestArguments(t *testing.T) {
	lines := func(args ...string) (all []string) {
		for _, a := range args {
			all = append(all, `{"op":"before","tool":"t","args":`+a+`}`)
		}
		return all
	}
	p := load(t, "agentium", "max_repeats=1")
	for name, tc := range map[string]struct{ first, second, want string }{
		"bytes count, not values":       {`{"a":1,"b":2}`, `{"b":2,"a":1}`, "allow"},
		"white space within counts":     {`{"a":1}`, `{"a": 1}`, "allow"},
		"white space around does not":   {`{"a":1}`, `  {"a":1} `, "block"},
		"a string that holds an object": {`{"a":1}`, `"{\"a\":1}"`, "block"},
		"a string that holds none":      {`"{a"`, `{"a":1}`, "allow"},
		"any value will do":             {`17`, `17`, "block"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, answers(t, p, lines(tc.first, tc.second)...)[1]).Action; got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestOtherOperations(t *testing.T) {
	t.Run("a user message begins a turn", func(t *testing.T) {
		lines := repeat(2, `{"op":"before","tool":"edit"}`, `{"op":"before","tool":"edit"}`, `{"op":"user","id":7}`)
		if a := actions(t, answers(t, load(t, "loopguard"), lines...)); a != "allow allow allow allow allow allow" {
			t.Error(a)
		}
	})
	t.Run("progress ends a streak", func(t *testing.T) {
		p := load(t, "loopguard", "no_progress_warn=2", "idempotent_warn_threshold=90")
		lines := append(repeat(2, before, after), `{"op":"progress","text":"a commit"}`, before)
		if a := read(t, answers(t, p, lines...)[5]).Action; a != "allow" {
			t.Error(a)
		}
	})
	t.Run("text is recorded", func(t *testing.T) {
		lines := repeat(2, `{"op":"text","text":"I will now look."}`)
		if a := read(t, answers(t, load(t, "attocode"), lines...)[1]); a.Action != "warn" || a.Code != "summary_loop" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a reset run begins anew", func(t *testing.T) {
		lines := append(repeat(4, before), `{"op":"reset","id":1}`, before)
		got := answers(t, load(t, "agentium"), lines...)
		if got[4] != `{"id":1,"ok":true}` || read(t, got[5]).Action != "allow" {
			t.Errorf("%s, then %s", got[4], got[5])
		}
	})
	t.Run("an override is accepted", func(t *testing.T) {
		if got := answers(t, load(t, "default"), `{"op":"allow","text":"it is slow today"}`); got[0] != `{"id":null,"action":"allow","code":"","count":0,"message":"","findings":[]}` {
			t.Error(got[0])
		}
	})
	t.Run("state and stats report the run", func(t *testing.T) {
		got := answers(t, load(t, "agentium"), append(repeat(4, before), `{"op":"state","id":[1]}`, `{"op":"stats"}`)...)
		if !strings.HasPrefix(got[4], `{"id":[1],"state":{"profile":"agentium"`) || !strings.Contains(got[4], `"calls":4`) {
			t.Error(got[4])
		}
		if s := read(t, got[5]).Stats; s.Decisions != 4 || s.Actions["block"] != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestALongNameOfAToolTakesLittleMemory(t *testing.T) {
	p, long := load(t, "default"), strings.Repeat("t", 1<<20)
	of := func(end string) string {
		return fmt.Sprintf(`{"op":"before","tool":"%s%s","agent":"%s%s"}`, long, end, long, end)
	}
	got := answers(t, p, append(repeat(8, of("1")), `{"op":"snapshot"}`, of("2"), `{"op":"state"}`)...)
	for _, line := range got {
		if len(line) > 64<<10 {
			t.Fatalf("an answer has %d bytes", len(line))
		}
	}
	if state := got[len(got)-1]; !strings.Contains(state, `"in_a_row":1,`) {
		t.Errorf("names that differ at their ends are one: %s", state)
	}
}

func TestRestore(t *testing.T) {
	p := load(t, "agentium")
	taken := answers(t, p, append(repeat(3, before), `{"op":"snapshot"}`)...)[3]
	snapshot := string(read(t, taken).Snapshot)
	t.Run("another process continues from the snapshot", func(t *testing.T) {
		got := answers(t, p, `{"op":"restore","id":"r","snapshot":`+snapshot+`}`, before)
		if got[0] != `{"id":"r","ok":true}` || read(t, got[1]).Action != "block" {
			t.Errorf("%s, then %s", got[0], got[1])
		}
	})
	t.Run("a client whose numbers are doubles carries it, too", func(t *testing.T) {
		var doubles any
		if err := json.Unmarshal([]byte(snapshot), &doubles); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(doubles)
		if err != nil {
			t.Fatal(err)
		}
		if got := answers(t, p, `{"op":"restore","snapshot":`+string(again)+`}`, before); read(t, got[1]).Action != "block" {
			t.Errorf("%s, then %s", got[0], got[1])
		}
	})
	t.Run("an invalid snapshot changes nothing", func(t *testing.T) {
		for _, bad := range []string{`{}`, `{"state":"{}"}`, `{"state":7}`, `{"state":"{\"version\":1,\"watch\":{\"profile\":\"agentium\"}}"}`} {
			got := answers(t, p, append(repeat(3, before), `{"op":"restore","snapshot":`+bad+`}`, before)...)
			if e := read(t, got[3]).Error; e == nil || e.Code != "restore_failed" || read(t, got[4]).Action != "block" {
				t.Errorf("%s: %s, then %s", bad, got[3], got[4])
			}
		}
	})
	t.Run("a snapshot of another profile is rejected", func(t *testing.T) {
		got := read(t, answers(t, load(t, "cycles"), `{"op":"restore","snapshot":`+snapshot+`}`)[0])
		if got.Error == nil || got.Error.Code != "restore_failed" || !strings.Contains(got.Error.Message, "the snapshot is of profile agentium, not of cycles") {
			t.Errorf("%+v", got.Error)
		}
	})
}

func TestBadLines(t *testing.T) {
	long := strings.Repeat("x", maxID)
	for _, tc := range []struct{ name, line, id, code, says string }{
		{"nothing", ``, `null`, "bad_json", "the line is empty"},
		{"no JSON", `before`, `null`, "bad_json", "byte 0: "},
		{"no object", `[1]`, `null`, "bad_json", "it is not an object"},
		{"cut", `{"id":1,"op":"before"`, `1`, "bad_json", "the line is incomplete"},
		{"two objects", `{"id":1} {}`, `1`, "bad_json", "there is data after the object"},
		{"no operation", `{"id":1}`, `1`, "unknown_op", `unknown operation ""; operations: before, after, text, `},
		{"an unknown one", `{"op":"begin","id":{"k":[1]}}`, `{"k":[1]}`, "unknown_op", `unknown operation "begin"`},
		{"no tool", `{"op":"before","id":"x"}`, `"x"`, "bad_field", "tool: it is missing"},
		{"a tool of another kind; the id comes late", `{"op":"before","tool":7,"id":"x"}`, `"x"`, "bad_field", "tool: want a string, not a number"},
		{"an unknown role", `{"op":"text","role":"tool"}`, `null`, "bad_field", `role: invalid role "tool": want assistant, user or system`},
		{"an error that is no text", `{"op":"after","tool":"t","error":{"code":1}}`, `null`, "bad_field", "error: want a string, not an object"},
		{"a negative duration", `{"op":"after","tool":"t","duration_ms":-1}`, `null`, "bad_field", "duration_ms: want a number of milliseconds from 0 to"},
		{"hints of another kind", `{"op":"before","tool":"t","annotations":{"readOnlyHint":"yes"}}`, `null`, "bad_field", "annotations: "},
		{"a long id", `{"op":"user","id":"` + long + `"}`, `null`, "bad_field", "id: it has 1026 bytes, want at most 1024"},
		{"a long run", `{"op":"user","run":"` + long[:maxName+1] + `"}`, `null`, "bad_field", "run: it has 257 bytes, want at most 256"},
		{"a long worker", `{"op":"user","worker":"` + long[:maxName+1] + `"}`, `null`, "bad_field", "worker: it has 257 bytes"},
		{"no snapshot", `{"op":"restore"}`, `null`, "bad_field", "snapshot: want the object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := answers(t, load(t, "default"), tc.line, before)
			a := read(t, got[0])
			if string(a.ID) != tc.id || a.Error == nil || a.Error.Code != tc.code || !strings.Contains(a.Error.Message, tc.says) {
				t.Errorf("%s, want id %s, code %s, a message with %q", got[0], tc.id, tc.code, tc.says)
			}
			if got[1] != `{"id":"c","action":"allow","code":"","count":0,"message":"","findings":[]}` {
				t.Errorf("the next line is answered with %s", got[1])
			}
		})
	}
	for name, line := range map[string]string{
		"members that are not known":     `{"op":"user","id":"c","colour":"red"}`,
		"members that are null":          `{"op":"before","id":"c","run":null,"worker":null,"agent":null,"tool":"t","annotations":null,"role":null}`,
		"an outcome with members null":   `{"op":"after","id":"c","tool":"t","error":null,"duration_ms":null,"result":null}`,
		"a name with an escape":          `{"\u006fp":"user","id":"c"}`,
		"a doubled name: the last holds": `{"op":"nothing","op":"user","id":"c"}`,
		"a carriage return at the end":   `{"op":"user","id":"c"}` + "\r",
		"half a surrogate":               `{"op":"text","id":"c","text":"\ud800"}`,
		"bytes that are no UTF-8":        "{\"op\":\"text\",\"id\":\"c\",\"text\":\"\xff\"}",
	} {
		t.Run(name+" are no mistake", func(t *testing.T) {
			if got := answers(t, load(t, "default"), line); got[0] != `{"id":"c","action":"allow","code":"","count":0,"message":"","findings":[]}` {
				t.Error(got[0])
			}
		})
	}
}

// padded is a line of just that many bytes.
func padded(n int) string {
	const frame = `{"op":"user","id":1,"text":""}`
	return `{"op":"user","id":1,"text":"` + strings.Repeat("x", n-len(frame)) + `"}`
}

func TestLongLines(t *testing.T) {
	t.Run("a line of 16 MiB is read, one of a byte more is refused, and the next is read", func(t *testing.T) {
		got := answers(t, load(t, "default"), padded(maxLine), padded(maxLine+1), before)
		a := read(t, got[1])
		if got[0] != `{"id":1,"action":"allow","code":"","count":0,"message":"","findings":[]}` || a.Error == nil || a.Error.Code != "line_too_long" || string(a.ID) != "null" || read(t, got[2]).Action != "allow" {
			t.Errorf("%.100s\n%.100s\n%.100s", got[0], got[1], got[2])
		}
	})
	t.Run("a long last line is rejected", func(t *testing.T) {
		for size, want := range map[int]string{maxLine: `"action":"allow"`, maxLine + 1: "line_too_long"} {
			var out bytes.Buffer
			if err := Serve(t.Context(), load(t, "default"), Extras{}, strings.NewReader(padded(size)), &out); err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("%d bytes: %s (%v)", size, out.String(), err)
			}
		}
	})
	t.Run("a line of 200 MB is not held", func(t *testing.T) {
		lines := newLines(io.LimitReader(endless{}, 200_000_000))
		if _, err := lines.next(); !errors.Is(err, errLong) || lines.long != nil {
			t.Errorf("error %v, %d bytes held", err, cap(lines.long))
		}
	})
	t.Run("lines of about the size of the buffer are whole", func(t *testing.T) {
		var sizes []int
		var text strings.Builder
		for size := chunk - 2; size <= chunk+2; size++ {
			sizes = append(sizes, size, 3)
			text.WriteString(strings.Repeat("x", size) + "\nabc\n")
		}
		lines := newLines(strings.NewReader(text.String()))
		for _, size := range sizes {
			if line, err := lines.next(); err != nil || len(line) != size {
				t.Errorf("%d bytes (%v), want %d", len(line), err, size)
			}
		}
		if _, err := lines.next(); !errors.Is(err, io.EOF) {
			t.Errorf("behind the last line: %v", err)
		}
	})
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for k := range p {
		p[k] = 'x'
	}
	return len(p), nil
}

func TestStreams(t *testing.T) {
	t.Run("an answer is sent before the next line is read", func(t *testing.T) {
		in, requests := io.Pipe()
		replies, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- Serve(t.Context(), load(t, "default"), Extras{}, in, out) }()
		lines := bufio.NewScanner(replies)
		for k := range 5 {
			// The second half of a line may come late; what is answered already does not wait for it.
			fmt.Fprintf(requests, `{"op":"user","id":%d}`+"\n"+`{"op":`, 2*k)
			if !lines.Scan() || lines.Text() != fmt.Sprintf(`{"id":%d,"action":"allow","code":"","count":0,"message":"","findings":[]}`, 2*k) {
				t.Fatal(lines.Text())
			}
			fmt.Fprintf(requests, `"user","id":%d}`+"\n", 2*k+1)
			if !lines.Scan() || lines.Text() != fmt.Sprintf(`{"id":%d,"action":"allow","code":"","count":0,"message":"","findings":[]}`, 2*k+1) {
				t.Fatal(lines.Text())
			}
		}
		if err := errors.Join(requests.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	t.Run("answers to what was sent ahead are written together", func(t *testing.T) {
		var out writes
		in := strings.NewReader(strings.Repeat(before+"\n", 100))
		if err := Serve(t.Context(), load(t, "default"), Extras{}, in, &out); err != nil || len(out) > 2 {
			t.Errorf("%d writes (%v)", len(out), err)
		}
	})
	t.Run("an interrupt ends the wait, and all answers are sent", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		in, requests := io.Pipe()
		var out bytes.Buffer
		served := make(chan error, 1)
		go func() {
			served <- Serve(ctx, load(t, "default"), Extras{}, in, writer(func(p []byte) (int, error) { interrupt(); return out.Write(p) }))
		}()
		fmt.Fprintln(requests, before)
		if err := <-served; !errors.Is(err, context.Canceled) || out.String() != `{"id":"c","action":"allow","code":"","count":0,"message":"","findings":[]}`+"\n" {
			t.Errorf("error %v, answers %s", err, out.String())
		}
		_ = requests.Close() // so that the reading goroutine ends
	})
	t.Run("a last line without an end is answered", func(t *testing.T) {
		var out bytes.Buffer
		if err := Serve(t.Context(), load(t, "default"), Extras{}, iotest.OneByteReader(strings.NewReader(before)), &out); err != nil || out.Len() == 0 {
			t.Errorf("error %v, answers %s", err, out.String())
		}
	})
	t.Run("no input is no mistake", func(t *testing.T) {
		var out bytes.Buffer
		if err := Serve(t.Context(), load(t, "default"), Extras{}, strings.NewReader(""), &out); err != nil || out.Len() != 0 {
			t.Errorf("error %v, answers %s", err, out.String())
		}
	})
	broken := errors.New("the cable is cut")
	t.Run("a broken input is an error, and earlier answers are sent", func(t *testing.T) {
		var out bytes.Buffer
		in := io.MultiReader(strings.NewReader(before+"\n"), iotest.ErrReader(broken))
		if err := Serve(t.Context(), load(t, "default"), Extras{}, in, &out); !errors.Is(err, broken) || out.Len() == 0 {
			t.Errorf("error %v, answers %s", err, out.String())
		}
	})
	t.Run("a broken output is an error", func(t *testing.T) {
		out := writer(func([]byte) (int, error) { return 0, broken })
		if err := Serve(t.Context(), load(t, "default"), Extras{}, strings.NewReader(before+"\n"), out); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

type writes []int

func (w *writes) Write(p []byte) (int, error) { *w = append(*w, len(p)); return len(p), nil }

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestRunsAreSeparate(t *testing.T) {
	sets := map[string][]string{"loopdetection": {"warn_threshold=4", "critical_threshold=6"}}
	for _, name := range profile.Names() {
		t.Run(name+": fifty runs in one stream are answered as each alone", func(t *testing.T) {
			p := load(t, name, sets[name]...)
			random := rand.New(rand.NewPCG(1, 2))
			runs := make([][]string, 50)
			var mixed []string
			var whose []int
			for range 100 * len(runs) {
				k := random.IntN(len(runs))
				line := randomLine(random, k)
				runs[k] = append(runs[k], line)
				mixed, whose = append(mixed, line), append(whose, k)
			}
			together := make([][]string, len(runs))
			acted := 0
			for i, answer := range answers(t, p, mixed...) {
				together[whose[i]] = append(together[whose[i]], answer)
				if a := read(t, answer); a.Action != "allow" && a.Action != "" {
					acted++
				}
			}
			if acted < 50 {
				t.Errorf("only %d decisions act, too few for a comparison", acted)
			}
			for k := range runs {
				if diff := cmp.Diff(answers(t, p, runs[k]...), together[k]); diff != "" {
					t.Fatalf("run %d (-alone +together):\n%s", k, diff)
				}
			}
		})
	}
}

// randomLine makes a line of a run that often repeats itself, with pieces that are its own.
func randomLine(random *rand.Rand, run int) string {
	tool := []string{"search", "bash", "edit_file", "job_status"}[random.IntN(4)]
	what := random.IntN(2)
	switch random.IntN(9) {
	case 0:
		return fmt.Sprintf(`{"op":"text","run":"r%d","id":1,"text":"Run %d looks again."}`, run, run)
	case 1, 2, 3, 4:
		return fmt.Sprintf(`{"op":"before","run":"r%d","id":%q,"tool":%q,"args":{"command":"run %d %d"}}`, run, tool, tool, run, what)
	case 5:
		return fmt.Sprintf(`{"op":"after","run":"r%d","id":%q,"tool":%q,"error":"run %d: no such thing %d"}`, run, tool, tool, run, what)
	}
	return fmt.Sprintf(`{"op":"after","run":"r%d","id":%q,"tool":%q,"result":"run %d has %d"}`, run, tool, tool, run, what)
}
