package nudge

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/policy"
)

// nudgeCase is a decision as a profile makes it, to be told to an agent.
type nudgeCase struct {
	profile, name string
	action        policy.Action
	code          string
	finding       unloop.Finding
}

// TestNudges holds every text to testdata/nudges.golden, which is there to be read.
func TestNudges(t *testing.T) {
	var got strings.Builder
	for _, c := range nudgeCases() {
		n, err := New(c.profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := policy.Decision{Action: c.action, Code: c.code, Message: c.finding.What, Count: c.finding.Count, Findings: []unloop.Finding{c.finding}}
		fmt.Fprintf(&got, "== %s %s (%s): %s\n%s\n\n", c.profile, c.code, c.action, c.name, n.Text(&d))
		if d.AfterCall = c.action == policy.Block; d.AfterCall {
			fmt.Fprintf(&got, "== %s %s (%s, the call has run): %s\n%s\n\n", c.profile, c.code, c.action, c.name, n.Text(&d))
		}
		if d.AfterMessage = d.AfterCall && c.profile == "default"; d.AfterMessage { // the other profiles block at calls only
			d.AfterCall = false
			fmt.Fprintf(&got, "== %s %s (%s, at a message): %s\n%s\n\n", c.profile, c.code, c.action, c.name, n.Text(&d))
		}
	}
	goldentest.Compare(t, "testdata/nudges.golden", []byte(got.String()))
}

// TestEveryNudgeHasACase finds texts that TestNudges does not write.
func TestEveryNudgeHasACase(t *testing.T) {
	written := map[string]bool{}
	profiles := map[string]bool{}
	for _, c := range nudgeCases() {
		written[c.code] = true
		written[c.profile+"/"+c.code] = true
		profiles[c.profile] = true
	}
	written[anyCode] = written["no_such_code"]
	folders := append(slices.Sorted(maps.Keys(profiles)), "")
	for _, folder := range folders {
		files, err := nudgeFiles.ReadDir(path.Join("nudges", folder))
		if err != nil && folder != "looplens" {
			t.Error(err)
		}
		for _, file := range files {
			if file.IsDir() && profiles[file.Name()] {
				continue
			}
			if name := path.Join(folder, strings.TrimSuffix(file.Name(), ".tmpl")); !written[name] {
				t.Errorf("%s is the text of no case", name)
			}
		}
	}
}

// TestABlockDoesNotClaimACallThatItDidNotBlock holds for every text of a block: after a call, and at a message.
func TestABlockDoesNotClaimACallThatItDidNotBlock(t *testing.T) {
	for _, c := range nudgeCases() {
		n, err := New(c.profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := policy.Decision{Action: policy.Block, Code: c.code, Message: c.finding.What, Findings: []unloop.Finding{c.finding}}
		for _, at := range []string{"call", "message"} {
			d.AfterCall, d.AfterMessage = at == "call", at == "message"
			text := n.Text(&d)
			if c.action == policy.Block && at == "call" && (strings.Contains(text, "his call did not run") || strings.HasPrefix(text, "Blocked")) ||
				at == "message" && c.profile == "default" && c.action == policy.Block && strings.Contains(text, "his call") {
				t.Errorf("%s %s after a %s: %s", c.profile, c.code, at, text)
			}
		}
	}
}

// TestNudgesAreShort holds the texts to what an agent can take in: besides the calls of a list and the alternatives, at most
// five lines.
func TestNudgesAreShort(t *testing.T) {
	for _, c := range nudgeCases() {
		n, err := New(c.profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := policy.Decision{Action: c.action, Code: c.code, Message: c.finding.What, Count: c.finding.Count, Findings: []unloop.Finding{c.finding}}
		lines := 0
		for line := range strings.Lines(n.Text(&d)) {
			if strings.TrimSpace(line) == "" {
				t.Errorf("%s %s, %s: an empty line", c.profile, c.code, c.name)
			}
			if !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "- ") {
				lines++
			}
		}
		if lines < 1 || lines > 5 {
			t.Errorf("%s %s, %s: %d lines", c.profile, c.code, c.name, lines)
		}
	}
}

// TestNudgesWithoutContextHaveNoEmptyParts writes every text of every profile for a decision without findings: a list, a label or a sentence
// that stands there half empty would show.
func TestNudgesWithoutContextHaveNoEmptyParts(t *testing.T) {
	for _, profile := range []string{"default", "looplens", "agentium", "cycles", "attocode", "loopguard", "loopdetection"} {
		n, err := New(profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range n.Codes() {
			text := n.Text(&policy.Decision{Action: policy.Warn, Code: code, Count: 3, Findings: []unloop.Finding{{Rule: "r", Subject: "grep", What: "grep was called", Try: "Stop."}}})
			for _, part := range []string{"<no value>", "What repeats", "What changed", "first came", "latest call", ":\nTry"} {
				if strings.Contains(text, part) {
					t.Errorf("%s %s contains %q:\n%s", profile, code, part, text)
				}
			}
		}
	}
}

func TestCustomNudges(t *testing.T) {
	found := []unloop.Finding{{Subject: "grep", What: "grep was called 3 times", Repeated: []string{"grep a"}}}
	for _, tc := range []struct {
		name string
		own  map[string]string
		code string
		want string
	}{
		{"a custom text replaces the built-in one", map[string]string{"blocked": "{{.Tool}} {{.Count}} {{.Action}} {{.Code}}"}, "blocked", "grep 3 block blocked"},
		{"a custom text may use the shared parts", map[string]string{"blocked": `No.{{template "facts" .}}`}, "blocked", "No.\nWhat repeats: grep a"},
		{"the text any is used for codes without a text", map[string]string{"any": "Stop {{.Code}}."}, "no_such_code", "Stop no_such_code."},
		{"an empty text says nothing", map[string]string{"blocked": ""}, "blocked", ""},
		{"a shared code may be replaced, too", map[string]string{"global_doom_loop": "All of you."}, "global_doom_loop", "All of you."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, err := New("default", tc.own)
			if err != nil {
				t.Fatal(err)
			}
			got := n.Text(&policy.Decision{Action: policy.Block, Code: tc.code, Count: 3, Findings: found})
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	t.Run("the others stay", func(t *testing.T) {
		n, err := New("default", map[string]string{"blocked": "No."})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Text(&policy.Decision{Action: policy.Halt, Code: "halted"}); !strings.HasPrefix(got, "Halted: ") {
			t.Errorf("the text of halted is %q", got)
		}
	})
}

func TestErrorsOfCustomNudgesAreJoined(t *testing.T) {
	for _, tc := range []struct {
		name string
		own  map[string]string
		want []string
	}{
		{"a code that the profile does not have", map[string]string{"bloked": "x"}, []string{`unknown text "bloked" in profile default; texts: any, blocked, global_doom_loop, halted, nudge, strong_nudge`}},
		{"a code of another profile", map[string]string{"doom_loop": "x"}, []string{`unknown text "doom_loop" in profile default`}},
		{"a template that does not parse", map[string]string{"nudge": "{{.Tool"}, []string{"nudges: nudge: ", "unclosed action"}},
		{"a member that a nudge does not have", map[string]string{"nudge": "{{.Tol}}"}, []string{"nudges: nudge: ", "Tol"}},
		{"an error that only full data shows", map[string]string{"nudge": "{{range .Finding.Repeated}}{{.Tol}}{{end}}"}, []string{"nudges: nudge: ", "Tol"}},
		{"an error that only empty data shows", map[string]string{"nudge": "{{index .Finding.Repeated 0}}"}, []string{"nudges: nudge: ", "index"}},
		{"two at once", map[string]string{"nudge": "{{", "zzz": "x"}, []string{"nudges: nudge: ", `"zzz"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New("default", tc.own)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestANudgeIsAboutTheFindingThatDecided(t *testing.T) {
	n, err := New("default", map[string]string{"nudge": "{{.Finding.Rule}} of {{.Tool}}"})
	if err != nil {
		t.Fatal(err)
	}
	found := []unloop.Finding{{Rule: "same_error", Subject: "a", What: "a failed"}, {Rule: "cycle", Subject: "b", What: "b goes round"}}
	if got := n.Text(&policy.Decision{Action: policy.Warn, Code: "nudge", Message: "b goes round", Findings: found}); got != "cycle of b" {
		t.Errorf("the nudge is about %s", got)
	}
}

func TestKindOfCall(t *testing.T) {
	for call, want := range map[string]string{
		`read_file {"path":"a.go"}`:                            "read",
		`find_and_replace {"path":"a.go"}`:                     "edit",
		`web_search {"query":"edit files"}`:                    "search",
		`run_tests`:                                            "test",
		`deploy {"to":"staging"}`:                              "",
		`bash {"command":"cat a.go"}`:                          "read",
		`bash {"command":"cat > a.go <<EOF\nx\nEOF"}`:          "edit",
		`bash {"command":"cd src && go test ./... 2>&1"}`:      "test",
		`bash {"command": "CI=1 python -m pytest | tail -5"}`:  "test",
		`bash {"command":"LC_ALL=C grep -rn x ."}`:             "search",
		`shell {"cmd":["bash","-lc","grep -rn \"x\" ."]}`:      "search",
		`bash {"command":"make"}`:                              "",
		`bash {"command":"printenv; timeout 9 grep x a.go"}`:   "search",
		`bash {"command":"git commit -m 'x; rm a && cat b'"}`:  "",
		`bash {"command":"cat a.go > b.go"}`:                   "read",
		`bash {"command":"sed -n 1,20p a.go && go test ./ab…`:  "edit",
		`terminal {"timeout":5,"command":"find . -name a.go"}`: "search",
	} {
		if got := kindOfCall(call); got != want {
			t.Errorf("%s is %q, want %q", call, got, want)
		}
	}
}

func TestFileOperation(t *testing.T) {
	for call, want := range map[string]bool{
		`bash {"command":"cat a.go"}`:                     true,
		`bash {"command":"cd src && sed -i s/a/b/ x.go"}`: true,
		`bash {"command":"echo 'package a' > a.go"}`:      true,
		`bash {"command":["sh","-c","printf x | tee a"]}`: true,
		`bash {"command":"go test ./... | tail -5"}`:      false,
		`bash {"command":"make cat"}`:                     false,
		`bash {"command":"sudo tee /etc/hosts"}`:          true,
		`bash`:                                            false,
		`read_file {"path":"cat"}`:                        false,
	} {
		n := Data{Finding: unloop.Finding{Repeated: []string{"bash make", call}}}
		if got := n.FileOperation(); got != want {
			t.Errorf("%s: %t, want %t", call, got, want)
		}
	}
	if (Data{}).FileOperation() {
		t.Error("no call is a file operation")
	}
}

func TestTheAdviceOfASecondOpinionFollowsTheNudge(t *testing.T) {
	n, err := New("default", nil)
	if err = errors.Join(err, n.Set("nudge", "Stop."), n.Set("blocked", "")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code    string
		opinion *policy.Opinion
		want    string
	}{
		{"nudge", &policy.Opinion{Stuck: true, Advice: " read\nthe error "}, "Stop.\nSecond opinion: read the error."},
		{"nudge", &policy.Opinion{Stuck: true}, "Stop."},
		{"nudge", &policy.Opinion{Advice: "go on"}, "Stop."},
		{"nudge", nil, "Stop."},
		{"blocked", &policy.Opinion{Stuck: true, Advice: "read the error"}, ""},
	} {
		if got := n.Text(&policy.Decision{Action: policy.Warn, Code: c.code, Opinion: c.opinion}); got != c.want {
			t.Errorf("%s with %+v: %q, want %q", c.code, c.opinion, got, c.want)
		}
	}
}
