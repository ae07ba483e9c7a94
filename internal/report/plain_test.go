package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// hostile is what an agent, or a page that it read, may put into any text.
const hostile = "a\x1b[2J\x1b]0;pwned\x07b\u009b31m\r\n::error::x\n ::set-output name=a::b\n##[add-mask]c ##vso[task.x]d\u202etxt.exe\u2066" +
	"\u200f\u2028\ufeff\x00\x7f\xff\U000e0041%0A::stop-commands::x <b>&amp;</b> ]]> \"'`$(id) [x](http://evil) {0}"

func hostileRun() *Run {
	ref := unloop.EventRef{ID: hostile, Index: 1}
	steps := []Step{
		{Event: ref, Agent: hostile, Tool: hostile, Input: hostile, Output: hostile},
		{Event: ref, Agent: hostile, Tool: hostile, Input: "x" + hostile, Output: hostile + "y", Failed: true},
		{Event: ref, Tool: hostile, Input: `"` + hostile, Output: `"::error::z ::error::`},
	}
	return &Run{
		ID: hostile, Source: hostile, Format: hostile, Health: policy.Health{Status: hostile},
		Metrics: unloop.Metrics{BusiestTool: hostile, BusiestAgent: hostile},
		Warnings: []Warning{
			{Steps: steps, Finding: unloop.Finding{
				Rule: hostile, Severity: hostile, Subject: hostile, What: hostile, Why: hostile, Try: strings.Repeat("x ", 40) + hostile,
				Event: ref, Evidence: []unloop.EventRef{ref},
			}},
			{Finding: unloop.Finding{Rule: "cycle", What: hostile, Evidence: []unloop.EventRef{ref, ref}}},
		},
		Decisions: []Decision{{Event: ref, Action: policy.Halt, Code: hostile, Message: hostile}},
	}
}

func TestHostileContent(t *testing.T) {
	for _, format := range Formats() {
		for _, width := range []int{60, 67, 100} {
			t.Run(fmt.Sprint(format, " in ", width, " columns"), func(t *testing.T) {
				got := string(write(t, format, Options{Width: width, Version: hostile}, hostileRun(), hostileRun()))
				for i, r := range got {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Fatalf("%U is not printable, in %q", r, got[max(0, i-30):i+10])
					}
				}
				for _, command := range []string{"##[", "##vso["} {
					if strings.Contains(got, command) {
						t.Errorf("contains %s", command)
					}
				}
				commands := 0
				for line := range strings.Lines(got) {
					if strings.HasPrefix(strings.TrimSpace(line), "::") {
						commands++
					}
				}
				if want := map[string]int{"github": 4}[format]; commands != want {
					t.Errorf("%d workflow commands, want %d:\n%s", commands, want, got)
				}
			})
		}
	}
	t.Run("the JSON is unchanged", func(t *testing.T) {
		var got struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(write(t, "json", Options{}, hostileRun()), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ToValidUTF8(hostile, "\ufffd"), got.RunID); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("a wrapped line that begins like a command gets a backslash", func(t *testing.T) {
		p := page{width: 60}
		p.paragraph(2, span{}, regular, strings.Repeat("x", 56)+" ::add-mask::y")
		want := "  " + strings.Repeat("x", 56) + "\n\\  ::add-mask::y\n"
		if diff := cmp.Diff(want, p.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ordinary text stays", "Größe: 日本語, می\u200cخواهم, 👩\u200d💻, a # b ## c", "Größe: 日本語, می\u200cخواهم, 👩\u200d💻, a # b ## c"},
		{"white space that breaks lines is named", "a\tb\r\nc", `a\tb\r\nc`},
		{"control characters are named", "\x1b[0m\x00\x7f\u0085", `\x1b[0m\x00\x7f\u0085`},
		{"directional and invisible characters are escaped", "\u202e\u2066\ufeff\u00ad\U000e0041", `\u202e\u2066\ufeff\u00ad\U000e0041`},
		{"invalid UTF-8 is escaped", "a\xffb\xc3", `a\xffb\xc3`},
		{"a replacement character is a character", "a\ufffdb", "a\ufffdb"},
		{"commands to build servers are broken", "##[error] ##teamcity[x", `#\#[error] #\#teamcity[x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, plain(c.in)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func FuzzWriters(f *testing.F) {
	f.Add(hostile, hostile)
	f.Add(`{"path":"a.go"}`, `"cut off \ud83d`)
	f.Fuzz(func(t *testing.T, a, b string) {
		r := stuckRun()
		r.ID, r.Source, r.Warnings[0].What = a, b, a+b
		r.Warnings[0].Steps[1].Input, r.Warnings[0].Steps[2].Input, r.Warnings[0].Steps[2].Output = a, b, a
		for _, format := range Formats() {
			got := write(t, format, Options{Width: 50}, r)
			for _, c := range string(got) {
				if c != '\n' && !harmless(c) {
					t.Fatalf("%s: %U", format, c)
				}
			}
			switch format {
			case "json", "sarif":
				if !json.Valid(got) {
					t.Fatalf("not JSON: %s", got)
				}
			case "junit":
				if err := xml.Unmarshal(got, new(junitDocument)); err != nil {
					t.Fatalf("%v: %s", err, got)
				}
			}
		}
	})
}
