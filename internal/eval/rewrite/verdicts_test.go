package rewrite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// otherwise are the forms in which a verdict about the runs of this test may differ, or a form and a run, and why.
var otherwise = map[string]string{
	"results_with_ids":        "the exit status, which is evidence, is lost",
	"streams":                 "the exit status, which is evidence, is lost",
	"bare_output":             "the exit status, which is evidence, is lost",
	"swe_agent_lines":         "the exit status, which is evidence, is lost",
	"desktop_commander_lines": "the first lines count as content",
	"observations":            "a word before a result counts as content",
	"named_results":           "a line before a result counts as content until it is known",
	"langchain_messages":      "a message that is printed in Python counts as content",
	"durations":               "a line behind a result counts as content",
	"prompts":                 "the exit status, which is evidence, is lost",
	"prompts_after":           "the exit status, which is evidence, is lost",
	"numbered_lines":          "an equal line at another place is another line",
	"thoughts":                "what an agent thinks is not read as what it says",
	"no_messages":             "what an agent says is evidence",

	"cline_lines":            "the exit status, which is evidence, is lost",
	"aider_lines":            "the exit status, which is evidence, is lost",
	"terminal_output":        "the exit status, which is evidence, is lost",
	"terminal_screens":       "what the terminal showed before counts as content",
	"smolagents_logs":        "lines around a result count as content until they are known",
	"crush_lines":            "the exit status, which is evidence, is lost",
	"environment_details":    "lines behind a result count as content",
	"openmanus_lines":        "a line before a result counts as content until it is known",
	"execution_results":      "a line before a result counts as content until it is known",
	"function_results":       "the name of the tool counts as content",
	"openhands_observations": "the other members of an object count as content",
	"responses_outputs":      "the exit status, which is evidence, is lost",
	"gemini_responses":       "the other members of an object count as content",
	"audiences":              "the exit status, which is evidence, is lost",

	"mcp_results research-obscure-standard-number":        "an object in a text is not split into its members",
	"successes research-obscure-standard-number":          "an object in a text is not split into its members",
	"tool_result_blocks research-obscure-standard-number": "an object in a text is not split into its members",
	"vercel_outputs research-obscure-standard-number":     "an object in a text is not split into its members",
	"langgraph_messages research-obscure-standard-number": "an object in a text is not split into its members",
	"autogen_lines searches that find nothing":            "a failure that prints nothing has the words of its exit status",
	"security_risks browser-admin-feature-flags":          "a summary of another tool than a shell may be content",
	"packed_mcp_results research-obscure-standard-number": "an object in a text is not split into its members",
}

func TestVerdictsAreTheSameInOtherForms(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	list := append(healthy(t), loops(t)...)
	want := make([]bool, len(list))
	for k, run := range list {
		if want[k] = flagged(t, p, run); !want[k] && run.Labels.Loop != nil {
			t.Fatalf("the loop of run %s is not found", run.ID)
		}
	}
	for _, form := range Forms() {
		if otherwise[form.Name] != "" {
			continue
		}
		t.Run(form.Name, func(t *testing.T) {
			for k, run := range list {
				if otherwise[form.Name+" "+run.ID] != "" {
					continue
				}
				made, err := form.Rewrite(run)
				if err != nil {
					t.Fatal(err)
				}
				if got := flagged(t, p, made); got != want[k] {
					t.Errorf("run %s is flagged: %v, want %v", run.ID, got, want[k])
				}
			}
		})
	}
}

// TestExceptionsAreForms keeps a form that is renamed from being measured as an exception that does not exist.
func TestExceptionsAreForms(t *testing.T) {
	for name := range otherwise {
		name, _, _ = strings.Cut(name, " ")
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
}

// healthy returns the healthy runs of the examples.
func healthy(t *testing.T) (list []*eval.Run) {
	paths, err := filepath.Glob("../../../examples/healthy/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples: ", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, runs(t, string(text))...)
	}
	return list
}

// loops returns runs of a shell in each of which an agent is stuck in another way. A # in a command or an output is the number of the attempt.
func loops(t *testing.T) (list []*eval.Run) {
	for name, step := range map[string]struct {
		command, output string
		exit            int
	}{
		"the same command":                   {"go test ./store", "--- FAIL: TestOpen\n    store_test.go:31: no such table: runs\nFAIL", 1},
		"the same failure of other flags":    {"make all JOBS=#", "make: *** No rule to make target 'libz.a', needed by 'all'. Stop.", 2},
		"the same failure of other scripts":  {"python3 -c \"import yaml; print(yaml.load(open('config#.yml')))\"", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'yaml'", 1},
		"searches that find nothing":         {"grep -rn \"retry_limit_#\" src/ include/", "", 1},
		"the same page":                      {"cat notes.txt", "Open points\n- check the limits of the queue\n- ask for the schema of orders\n- write down what the cache keeps", 0},
		"a package that does not exist":      {"pip install fastqueue==1.#", "ERROR: No matching distribution found for fastqueue\nERROR: Could not find a version that satisfies the requirement", 1},
		"a service that refuses connections": {"curl -s http://localhost:808#/health", "curl: (7) Failed to connect to localhost: Connection refused", 7},
	} {
		events := []string{`{"kind":"message","role":"user","text":"Please make the build pass, and tell me what was wrong."}`}
		for n := range 12 {
			number := func(text string) string { return strings.ReplaceAll(text, "#", fmt.Sprint(n)) }
			e := entry{}
			e.set("kind", "tool_call")
			e.set("tool", "bash")
			e.set("args", members{"command": number(step.command)})
			e.set("result", fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s\n</output>", step.exit, number(step.output)))
			if step.exit != 0 {
				e.set("error", fmt.Sprintf("exit status %d", step.exit))
			}
			events = append(events, string(must(encode(e))))
		}
		line := `{"id":` + packed(name) + `,"outcome":"failure","labels":{"loop":{"kind":"made","onset":2,"end":12}},"events":[` + strings.Join(events, ",") + "]}"
		list = append(list, runs(t, line)...)
	}
	slices.SortFunc(list, func(a, b *eval.Run) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// flagged reports whether a profile decides anything but allow about a run, in its stretch if it has one.
func flagged(t *testing.T, p *profile.Profile, run *eval.Run) (is bool) {
	t.Helper()
	session, loop := p.NewSession(run.ID), run.Labels.Loop
	err := run.Decode(func(e *unloop.Event) error {
		inside := loop == nil || e.Index >= loop.Onset && e.Index <= loop.End
		is = session.Add(e).Action != policy.Allow && inside || is
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}
