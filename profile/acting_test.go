package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/detect/detecttest"
	"github.com/unloop-ai/unloop/policy"
)

// Stretches of runs, in the language of golden traces.
const (
	greps = `
		repeat 8
		  call   grep ErrClosed
		  result grep src/a.go:{i}
		end`
	polls = `
		repeat 22
		  call   job_status 4711
		  result job_status running
		end`
	edits = `
		repeat 8
		  call   edit_file {"path":"a.go","line":{i}}
		  result edit_file line {i} is changed
		end`
	round = `
		repeat 4
		  call   edit_file {"path":"a.go"}
		  result edit_file ok
		  call   bash go test ./...
		  fail   bash --- FAIL: TestParse
		end`
	wait = `
		repeat 12
		  call   job_status 4711
		  result job_status running
		end`
	reread = `
		call   read {"path":"a.go"}
		result read package a
		call   read {"path":"b.go"}
		result read package b
		call   read {"path":"c.go"}
		result read package c
		call   read {"path":"d.go"}
		result read package d
		call   read {"path":"e.go"}
		result read package e
		call   read {"path":"a.go"}
		result read package a
		call   read {"path":"b.go"}
		result read package b
		call   read {"path":"c.go"}
		result read package c
		call   read {"path":"d.go"}
		result read package d
		call   read {"path":"e.go"}
		result read package e`
	booking = `
		repeat 3
		  call   book {"flight":"HAT08","amount":299}
		  fail   book Error: payment amount does not add up, total price is 375, but paid 299
		  call   think {"thought":"The total was wrong, so I try number {i}."}
		  result think ""
		end`
	library = `
		repeat 8
		  call   read {"path":"{i}.go"}
		  result read package p{i}
		end`
	attempts = `
		repeat 12
		  call   edit_file {"path":"a.go","line":{i}}
		  result edit_file line {i} is changed
		  call   bash go test -run TestParse/{i} ./...
		  fail   bash Error: expected 3 tokens, got {i}
		end`
	variations = `
		repeat 10
		  call   bash go test -run TestParse/{i} ./...
		  result bash "no Go files in /srv/app\nexit status 1"
		end`
	between = `
		repeat 8
		  call   grep ErrClosed
		  result grep src/a.go:7
		  call   read {"path":"{i}.go"}
		  result read package p{i}
		end`
	slogans = `
		repeat 9
		  say I will now look at the parser and fix the failing test, attempt {i}.
		end`
	blocked = `
		repeat 11
		  call   job_status 4711
		  result job_status running
		end
		repeat 3
		  call   job_status 4711
		  block  job_status
		end`
)

// TestActing plays stretches of runs under profiles with settings. What is wanted are the decisions to act, in their order:
// event, action, code and count.
func TestActing(t *testing.T) {
	for _, tc := range []struct {
		name, profile, config, trace, want string
	}{
		{"agentium blocks from the fourth call on", "agentium", "", greps, "e7 block loop-detected 4, e9 block loop-detected 5, e11 block loop-detected 6, e13 block loop-detected 7, e15 block loop-detected 8"},
		{"agentium with another limit aborts", "agentium", "{max_repeats: 6, action: abort}", greps, "e13 halt loop-detected 7, e15 halt loop-detected 8"},
		{"cycles escalates", "cycles", "", round, "e7 warn cycle_warning 2, e11 warn cycle_warning_strong 3, e15 halt LOOP_DETECTED 4"},
		{"cycles of one call only", "cycles", "longest_cycle: 1", round, ""},
		{"attocode warns in three levels, then rejects", "attocode", "", greps, "e5 warn doom_loop 3, e7 warn doom_loop_strong 4, e9 warn doom_loop_strong 5, e11 block doom_loop_rejected 6, e13 block doom_loop_rejected 7, e15 block doom_loop_rejected 8"},
		{"attocode with other levels", "attocode", "{exact_threshold: 5, fuzzy_threshold: 5, strong_threshold: 6, reject_threshold: 8}", greps, "e9 warn doom_loop 5, e11 warn doom_loop_strong 6, e13 warn doom_loop_strong 7, e15 block doom_loop_rejected 8"},
		{"attocode sees tests and shells fail", "attocode", "", round, "e12 warn test_fix_cycle 3, e16 warn test_fix_cycle 4"},
		{"attocode asks about tests first", "attocode", "test_failures: 4", round, "e12 warn failure_cascade 3, e16 warn test_fix_cycle 4"},
		{"attocode with a custom shell", "attocode", "{shells: [run], test_failures: 2}", "repeat 2\n call run {\"command\":\"go test ./...\"}\n fail run exit status 1\nend", "e4 warn test_fix_cycle 2"},
		{"without it the tool is no shell", "attocode", "test_failures: 2", "repeat 2\n call run {\"command\":\"go test ./...\"}\n fail run exit status 1\nend", ""},
		{"loopguard counts by the table", "loopguard", "", edits, "e5 warn mutating_warn 3, e6 warn mutating_warn 3, e7 warn mutating_warn 4, e8 warn mutating_warn 4, e9 block mutating_block 5, e10 block mutating_block 5, e11 block mutating_block 6, e12 block mutating_block 6, e13 halt mutating_halt 7, e14 halt mutating_halt 7, e15 halt mutating_halt 8, e16 halt mutating_halt 8"},
		{"loopguard that is not strict only warns while results change", "loopguard", "{strict: false, mutating_warn_threshold: 7}", edits, "e13 warn mutating_warn 7, e14 warn mutating_warn 7, e15 warn mutating_warn 8, e16 warn mutating_warn 8"},
		{"loopguard takes a list as it is given", "loopguard", "mutating_tools: []", edits, "e5 warn mutating_warn 3, e6 warn mutating_warn 3, e7 warn mutating_warn 4, e8 warn mutating_warn 4, e9 block mutating_block 5, e10 block mutating_block 5, e11 block mutating_block 6, e12 block mutating_block 6, e13 halt mutating_halt 7, e14 halt mutating_halt 7, e15 halt mutating_halt 8, e16 halt mutating_halt 8"},
		{"a disabled loopguard", "loopguard", "enabled: false", edits, ""},
		{"loopdetection waits for ten answers, then twenty", "loopdetection", "", polls, pollDecisions()},
		{"default asks for progress", "default", "", greps, ""},
		{"default sees a poll that does not move", "default", "stuck_polls: 5", blocked, "e10 warn nudge 5, e14 warn strong_nudge 7, e18 warn strong_nudge 9, e22 block blocked 11, e23 block blocked 11, e25 block blocked 11, e27 halt halted 11"},
		{"default lets a poll wait", "default", "", "repeat 15\n call job_status 4711\n result job_status running\nend", "e16 warn nudge 8, e20 warn strong_nudge 10, e24 warn strong_nudge 12, e28 warn strong_nudge 14"},
		{"a thought is no change that excuses the same refused call", "default", "", booking, "e10 warn nudge 3"},
		{"default only nudges who reads its files a second time", "default", "", reread, "e18 warn nudge 1"},
		{"default stops who goes round in the same files", "default", "", reread + "\ncall read {\"path\":\"a.go\"}\nresult read package a\ncall read {\"path\":\"b.go\"}\nresult read package b\ncall read {\"path\":\"c.go\"}\nresult read package c\ncall read {\"path\":\"d.go\"}\nblock read\ncall read {\"path\":\"a.go\"}\nblock read", "e18 warn nudge 1, e22 warn strong_nudge 2, e26 block blocked 2, e27 block blocked 2, e29 block blocked 2"},
		{"default only nudges who changes things between failures", "default", "", attempts, "e16 warn nudge 4, e24 warn strong_nudge 6, e32 warn strong_nudge 8, e40 warn strong_nudge 10, e48 warn strong_nudge 12"},
		{"default stops failures whatever was changed before them", "default", "", edits + variations, "e24 warn nudge 4, e28 warn strong_nudge 6, e32 block blocked 8, e33 block blocked 8, e34 halt halted 9, e35 halt halted 9, e36 halt halted 10"},
		{"default only nudges who reads many files a second time", "default", "", library + library, "e24 warn nudge 1, e28 warn strong_nudge 1, e32 warn strong_nudge 2"},
		{"default only nudges who comes back to one message between others", "default", "", refrain(), "e5 warn nudge 0, e9 warn strong_nudge 0, e13 warn strong_nudge 0, e17 warn strong_nudge 0"},
		{"default only nudges handoffs of which nothing is known", "default", "", "repeat 8\nhandoff a\nhandoff b\nend", "e6 warn nudge 6, e8 warn strong_nudge 6, e10 warn strong_nudge 6, e12 warn strong_nudge 6, e14 warn strong_nudge 6, e16 warn strong_nudge 6"},
		{"default stops one question in many words", "default", "", questions(), "e8 warn nudge 4, e12 warn strong_nudge 6, e16 block blocked 8, e17 block blocked 8, e18 halt halted 9"},
		{"default stops failures with nothing in between", "default", "", variations, "e8 warn nudge 4, e12 warn strong_nudge 6, e16 block blocked 8, e17 block blocked 8, e18 halt halted 9, e19 halt halted 9, e20 halt halted 10"},
		{"default only nudges who asks of many items", "default", "", "repeat 12\n call get_user {\"name\":\"user{i}\"}\n fail get_user no such user\nend", "e8 warn nudge 4, e12 warn strong_nudge 6, e16 warn strong_nudge 8, e20 warn strong_nudge 10, e24 warn strong_nudge 12"},
		{"default lets somebody say one and the same between messages that are new", "default", "", phrases(), ""},
		{"default stops what comes again between other calls", "default", "", between, "e10 warn nudge 3, e18 warn strong_nudge 5, e26 block blocked 7, e29 block blocked 7, e30 halt halted 8"},
		{"default only nudges who sends a long text with corrections", "default", "", drafts(), "e3 warn nudge 0, e5 warn strong_nudge 0, e7 warn strong_nudge 0, e9 warn strong_nudge 0"},
		{"default stops who says one thing over and over", "default", "", slogans, "e3 warn nudge 3, e5 warn strong_nudge 5, e7 block blocked 7, e9 halt halted 7"},
		{"default with more patience", "default", "{stuck_polls: 5, ladder_patience: 6}", wait, "e10 warn nudge 5, e22 warn strong_nudge 11"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(split(tc.want), act(t, tc.profile, tc.config, tc.trace)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func pollDecisions() string {
	var all []string
	for n := 10; n <= 21; n++ {
		action := "warn"
		if n >= 20 {
			action = "block"
		}
		all = append(all, fmt.Sprintf("e%d %s poll_no_progress %d", 2*n+1, action, n))
	}
	return strings.Join(all, ", ")
}

// TestIgnore holds for all profiles: a tool that is left out does not loop, and stands between no other calls.
func TestIgnore(t *testing.T) {
	for _, name := range Names()[2:] {
		t.Run(name, func(t *testing.T) {
			if got := act(t, name, "ignore: [job_status]", polls); len(got) > 0 {
				t.Errorf("a tool that is ignored: %v", got)
			}
			if got := act(t, name, "ignore: [other]", polls); len(got) == 0 {
				t.Error("a tool that is not ignored is allowed")
			}
		})
	}
	t.Run("default", func(t *testing.T) {
		if got := act(t, "default", "ignore: [job_status]", polls); len(got) > 0 {
			t.Errorf("a tool that is ignored: %v", got)
		}
	})
	t.Run("an ignored tool runs while others are blocked", func(t *testing.T) {
		got := act(t, "default", "{ignore: [think], stuck_polls: 5}", blocked+"\ncall think hm\nresult think so")
		if diff := cmp.Diff("e27 halt halted 11", got[len(got)-1]); diff != "" {
			t.Errorf("the last decision: %s", diff)
		}
	})
	t.Run("an ignored tool does not end a streak", func(t *testing.T) {
		got := act(t, "attocode", "ignore: [think]", `
			call   grep ErrClosed
			call   think hm
			call   grep ErrClosed
			call   think hm
			call   grep ErrClosed`)
		if diff := cmp.Diff([]string{"e5 warn doom_loop 3"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSettingsOfSingleTools gives single tools other settings.
func TestSettingsOfSingleTools(t *testing.T) {
	for _, tc := range []struct{ name, profile, config, trace, want string }{
		{"a limit for one tool", "agentium", "tools: {grep: {max_repeats: 7}}", greps, "e15 block loop-detected 8"},
		{"other tools keep theirs", "agentium", "tools: {read_file: {max_repeats: 1}}", greps, "e7 block loop-detected 4, e9 block loop-detected 5, e11 block loop-detected 6, e13 block loop-detected 7, e15 block loop-detected 8"},
		{"a stricter one", "loopguard", "tools: {edit_file: {mutating_block_threshold: 2, mutating_halt_threshold: 100}}", "call edit_file a\ncall edit_file b", "e2 block mutating_block 2"},
		{"an effect for one tool", "loopguard", "tools: {edit_file: {class: read_only}}", edits, "e9 warn idempotent_warn 5, e10 warn idempotent_warn 5, e11 warn idempotent_warn 6, e12 warn idempotent_warn 6, e13 warn idempotent_warn 7, e14 warn idempotent_warn 7, e15 block idempotent_block 8, e16 block idempotent_block 8"},
		{"a class makes a poll", "loopdetection", "{tools: {edit_file: {class: polling}}, warn_threshold: 3}", edits, ""},
		{"a class makes a poll no poll", "loopdetection", "{tools: {job_status: {class: mutating}}, warn_threshold: 11}", wait, "e21 warn generic_repeat 11, e23 warn generic_repeat 12"},
		{"a ladder for one tool", "default", "tools: {job_status: {stuck_polls: 11}}", wait, "e22 warn nudge 11"},
		{"large numbers", "loopguard", "tools: {edit_file: {mutating_warn_threshold: 1000000, mutating_block_threshold: 1000000, mutating_halt_threshold: 1000000}}", edits, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(split(tc.want), act(t, tc.profile, tc.config, tc.trace)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestShadow checks that a session decides as usual in shadow mode. The caller checks Profile.Shadow before it acts.
func TestShadow(t *testing.T) {
	p := actingProfile(t, "agentium", "shadow: true")
	if !p.Shadow() {
		t.Error("the profile is not in shadow")
	}
	if got := act(t, "agentium", "{shadow: true, max_repeats: 7}", greps); len(got) != 1 {
		t.Errorf("what would have been done: %v", got)
	}
	if actingProfile(t, "agentium", "").Shadow() {
		t.Error("a profile is in shadow mode by default")
	}
}

// TestTextsForTheAgent plays runs up to their first decision, and holds its text to what really happened.
func TestTextsForTheAgent(t *testing.T) {
	for _, tc := range []struct{ name, profile, config, trace, want string }{
		{"agentium", "agentium", "", greps, `
This call did not run: grep was called 4 times with the same arguments.
What repeats: grep {"input":"ErrClosed"}
The same arguments will hardly bring another answer. Use what came back before, or take another approach: other arguments, another tool, or say what is missing.`},
		{"cycles", "cycles", "", round, `
Loop detected: you seem to repeat the same sequence of calls without getting on. This pattern has come 2 times in a row:
  1. edit_file {"path":"a.go"}
  2. bash {"command":"go test ./..."}
The error as it first came: --- FAIL: TestParse
Try a different approach: read the error messages again, and more carefully; look for another strategy; take smaller steps.`},
		{"attocode", "attocode", "", `
call read {"path":"a.go","encoding":"ascii"}
call read {"path":"a.go","encoding":"latin1"}
call read {"path":"a.go","encoding":"latin2"}
call read {"path":"a.go","encoding":"latin9"}`, `
Warning: you are stuck. read was called 4 times in a row with the same target.
The latest call: read {"path":"a.go","encoding":"latin9"}
What changed since the time before: "latin2" became "latin9"
Try a different approach or tool now. If something blocks you, say what it is.`},
		{"attocode, a shell that works on files", "attocode", "", `
call bash make
fail bash no
call bash sed -n 1p a.go
fail bash sed: can't read a.go
call bash cat b.go
fail bash cat: b.go: No such file or directory`, `
3 shell calls in a row have failed.
The latest call: bash {"command":"cat b.go"}
What changed since the time before: "sed -n 1p a" became "cat b"
The error as it first came: cat: b.go: No such file or directory
The last one is a file operation. Use the tools that are made for it, such as read_file, write_file and edit_file, and not the shell.`},
		{"an error that is over is not told", "agentium", "max_repeats: 2", "call grep a\nfail grep no such file\ncall grep a\nresult grep src/a.go\ncall grep a", `
This call did not run: grep was called 3 times with the same arguments.
What repeats: grep {"input":"a"}
The same arguments will hardly bring another answer. Use what came back before, or take another approach: other arguments, another tool, or say what is missing.`},
		{"loopdetection", "loopdetection", "warn_threshold: 2", "call job_status 1\nresult job_status no\ncall job_status 1\nresult job_status no\ncall job_status 1", `
What you wait for does not move: job_status gave the same answer 2 times.
What repeats: job_status {"input":"1"}
Wait longer before you ask again, find out why it does not move, or go on without it.`},
		{"default", "default", "stuck_polls: 5", wait, `
You may be going round in circles: job_status returned the same result 5 times in a row: running.
What repeats: job_status {"input":"4711"}
Wait longer between polls, look at the job itself, or give up after a time.`},
		{"a custom text", "agentium", `nudges: {loop-detected: "Enough of {{.Tool}}."}`, greps, "\nEnough of grep."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := actingProfile(t, tc.profile, tc.config).NewSession("run")
			var told string
			for _, entry := range entries(t, tc.trace) {
				if d := w.Add(entry.Event); d.Action != policy.Allow {
					told = d.Message
					break
				}
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), told); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryDecisionHasAText compares the codes that a profile's policy decides with, and those that have a text beside the
// shared ones.
func TestEveryDecisionHasAText(t *testing.T) {
	for _, name := range Names() {
		p := actingProfile(t, name, "")
		var decided []string
		switch decide := p.policy().(type) {
		case policy.Table:
			for _, row := range decide.Rows {
				for _, level := range row.Levels {
					decided = append(decided, level.Code)
				}
			}
		case *policy.Escalation:
			decided = []string{policy.CodeCycleWarning, policy.CodeCycleWarningStrong, policy.CodeLoopDetected}
		case *policy.Ladder:
			decided = []string{policy.CodeNudge, policy.CodeStrongNudge, policy.CodeBlocked, policy.CodeHalted}
		case policy.Report:
		}
		slices.Sort(decided)
		told := slices.DeleteFunc(p.nudges.Codes(), func(code string) bool { return code == "any" || code == "global_doom_loop" })
		if diff := cmp.Diff(slices.Compact(decided), told, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: codes of decisions (-), of texts (+):\n%s", name, diff)
		}
	}
}

// act plays a trace and returns the decisions to act.
func act(t *testing.T, name, config, trace string) []string {
	t.Helper()
	w := actingProfile(t, name, config).NewSession("run")
	var got []string
	for _, entry := range entries(t, trace) {
		if d := w.Add(entry.Event); d.Action != policy.Allow {
			got = append(got, fmt.Sprintf("%s %s %s %d", entry.Event.ID, d.Action, d.Code, d.Count))
		}
	}
	return got
}

func actingProfile(t *testing.T, name, config string) *Profile {
	t.Helper()
	p, err := Load(Source{Name: name, Config: []byte(config)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func entries(t *testing.T, trace string) []detecttest.Entry {
	t.Helper()
	parsed, err := detecttest.Parse("trace", []byte("# A stretch of a run.\n"+trace))
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Entries
}

func split(decisions string) []string {
	if decisions == "" {
		return nil
	}
	return strings.Split(decisions, ", ")
}
