package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/policy"
)

func TestPretty(t *testing.T) {
	t.Run("a folder of runs, without colour", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "pretty.txt"), write(t, "pretty", Options{Verbose: true}, sampleRuns()...))
	})
	t.Run("a folder of runs, in colour", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "pretty-color.txt"), write(t, "pretty", Options{Color: true, Verbose: true}, sampleRuns()...))
	})
	t.Run("a narrow screen", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "pretty-narrow.txt"), write(t, "pretty", Options{Width: 60, Verbose: true}, sampleRuns()...))
	})
	t.Run("no line is wider than the screen, whatever the script", func(t *testing.T) {
		wide := stuckRun()
		wide.ID = strings.Repeat("会話", 60)
		wide.Warnings[0].What = strings.Repeat("日本語のとても長い入力 ", 20) + strings.Repeat("é", 300) + strings.Repeat("👩‍💻", 90)
		wide.Warnings[0].Steps[0].Tool = strings.Repeat("tool", 30)
		wide.Warnings[0].Steps[0].Input = `{"query":"` + strings.Repeat("長い", 80)
		wide.Warnings[1].Steps[1].Input = `{"query":"` + strings.Repeat("違う", 80)
		for _, width := range []int{60, 61, 100} {
			for _, line := range strings.Split(string(write(t, "pretty", Options{Width: width}, append(sampleRuns(), wide)...)), "\n") {
				if columns(line) > width {
					t.Errorf("%d columns, %d at most: %s", columns(line), width, line)
				}
			}
		}
	})
	t.Run("steps of an earlier warning are not repeated", func(t *testing.T) {
		r := stuckRun()
		again := r.Warnings[0]
		again.Rule, again.Steps = "cycle", again.Steps[1:]
		r.Warnings = append(r.Warnings, again)
		got := string(write(t, "pretty", Options{}, r))
		if want := "Steps: among those of " + r.Warnings[0].Rule + " above\n"; strings.Count(got, want) != 1 {
			t.Errorf("no line %q in %s", want, got)
		}
	})
	t.Run("a single run that is shown has no summary, and a single healthy run takes a line", func(t *testing.T) {
		want := "✓ healthy  100/100  session-1  14 steps, 31 events, $0.42  traces/session-1.jsonl\n"
		if diff := cmp.Diff(want, string(write(t, "pretty", Options{Verbose: true}, healthyRun()))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a source without room beside the run has a line of its own and is whole", func(t *testing.T) {
		r := healthyRun()
		r.Source = "/srv/agents/.claude/projects/-srv-agents-web-shop/6f1c0b6c-9d0e-4f0e-8f43-1f6d0a0c5e11.jsonl"
		want := "✓ healthy  100/100  session-1  14 steps, 31 events, $0.42\n  " + r.Source + "\n"
		if diff := cmp.Diff(want, string(write(t, "pretty", Options{Verbose: true, Width: 80}, r))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("healthy runs are only counted unless all are asked for", func(t *testing.T) {
		if diff := cmp.Diff("2 runs: 2 healthy\n", string(write(t, "pretty", Options{}, healthyRun(), healthyRun()))); diff != "" {
			t.Error(diff)
		}
		if got := string(write(t, "pretty", Options{}, healthyRun(), stuckRun())); strings.Contains(got, "session-1") || !strings.Contains(got, "chem-7") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("megabytes in one field do not fill the screen", func(t *testing.T) {
		r := stuckRun()
		huge := strings.Repeat("x", 1<<20)
		r.ID, r.Source, r.Warnings[0].What, r.Warnings[0].Steps[0].Tool, r.Decisions[0].Event.ID = huge, huge, huge, huge, huge
		if n := len(write(t, "pretty", Options{}, r)); n > 16<<10 {
			t.Errorf("%d bytes", n)
		}
	})
	t.Run("the summary names no action that no run would have met", func(t *testing.T) {
		got := string(write(t, "pretty", Options{}, handoffRun(), healthyRun()))
		if !strings.HasSuffix(got, "\npolicy: would have nudged 1 run\n") {
			t.Errorf("got %s", got)
		}
	})
}

func TestStepsOfAWarning(t *testing.T) {
	lines := func(steps ...Step) string {
		p := page{width: 100}
		p.steps(steps)
		return p.String()
	}
	const long = "00000000-0000-0000-0000-0000000000"
	a := step("a", 0, "read", `{"path":"a.go"}`, `"package a"`)
	b := step("b", 1, "read", `{"path":"b.go"}`, `"package b"`)
	for _, c := range []struct {
		name  string
		steps []Step
		want  string
	}{
		{"a pattern that comes again is folded into rounds", []Step{a, b, a, b, a, b}, `
    a  read  {"path":"a.go"}
             → package a
    b  read  {"path":"[b].go"}
             → package [b]
             × 3 rounds up to b, same inputs, same results
`},
		{"a call without an outcome has no result", []Step{a, step("c", 2, "read", a.Input, "")}, `
    a  read  {"path":"a.go"}
             → package a
    c  read  same input
`},
		{"a step is compared with the latest of the same input, which is named if it is not the one before", []Step{a, b, step("c", 2, "read", a.Input, `"package main"`)}, `
    a  read  {"path":"a.go"}
             → package a
    b  read  {"path":"[b].go"}
             → package [b]
    c  read  same input as a
             → package [main]
`},
		{"an error is not compared with a result", []Step{a, failed("c", 2, "read", a.Input, `"package missing"`)}, `
    a  read  {"path":"a.go"}
             → package a
    c  read  same input
             ✗ package missing
`},
		{"an empty text is shown as it came", []Step{step("a", 0, "read", `{}`, `""`)}, `
    a  read  {}
             → ""
`},
		{"texts that differ in white space only are the same to the eye", []Step{a, step("c", 2, "read", "{\"path\":\"a.go\"} \n", `"package  a"`)}, `
    a  read  {"path":"a.go"}
             → package a
    c  read  same input
             → same result
`},
		{"a removed argument is named", []Step{step("a", 0, "grep", `{"pattern":"x","flags":"-i"}`, ""), step("c", 2, "grep", `{"pattern":"x"}`, "")}, `
    a  grep  {"pattern":"x","flags":"-i"}
    c  grep  {"pattern":"x"}  without [,"flags":"-i"]
`},
		{"messages have a text and no input", []Step{messageStep("a", 0, "coder", `"I try once more."`), messageStep("b", 1, "coder", `"I try once more."`), messageStep("c", 2, "coder", `"I try again."`)}, `
    a  coder  I try once more.
              × 2 up to b, same text
    c  coder  I try [again].
`},
		{"a long id is cut in a sentence as in its column", []Step{step(long+"01", 0, "ls", `{}`, `1`), step(long+"02", 1, "cd", `{}`, `2`), step(long+"03", 2, "ls", `{}`, `3`), step(long+"04", 3, "ls", `{}`, `3`)}, `
    …00-000000000001  ls  {}
                          → 1
    …00-000000000002  cd  {}
                          → 2
    …00-000000000003  ls  same input as …00-000000000001
                          → 3
                          × 2 up to …00-000000000004, same input, same result
`},
		{"a text that was cut off inside an escape is still a text", []Step{step("a", 0, "read", `{}`, `"caf\u00e9 and \ud83d\ude`)}, `
    a  read  {}
             → café and …
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, "\n"+lines(c.steps...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, then, now, head, gone, came, tail string }{
		{"whole words differ, not parts of them", "ethanol at 2 bar", "methanol at 2 bar", "", "ethanol", "methanol", " at 2 bar"},
		{"a number grows", "page 9 of 20", "page 10 of 20", "page ", "9", "10", " of 20"},
		{"something is added", "a b", "a b c", "a b", "", " c", ""},
		{"something is repeated", "a a", "a a a", "a a", "", " a", ""},
		{"nothing in common", "x", "y", "", "x", "y", ""},
		{"the same", "x y", "x y", "x y", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, gone, came, tail := compare(c.then, c.now)
			if diff := cmp.Diff([]string{c.head, c.gone, c.came, c.tail}, []string{head, gone, came, tail}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFate(t *testing.T) {
	r := &Run{Decisions: []Decision{{Event: ref("", 4), Action: policy.Block}, {Event: ref("x", 9), Action: policy.Block}}}
	if got, want := fate(r), "would have blocked at event #4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
