package nudge

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Calls and errors of the cases.
const (
	grepCall  = `grep {"path":"src","query":"ErrClosed"}`
	readCall  = `read_file {"path":"src/auth.py"}`
	editCall  = `edit_file {"path":"src/auth.py","old":"return None","new":"return user"}`
	testCall  = `bash {"command":"python -m pytest tests/test_auth.py"}`
	pollCall  = `job_status {"id":"4711"}`
	testError = "AssertionError: assert None == 'ada'"
)

// nudgeCases are decisions about findings as the detectors make them, of every code of every profile.
func nudgeCases() []nudgeCase {
	cases := defaultCases()
	cases = append(cases, reportCases()...)
	cases = append(cases, attocodeCases()...)
	cases = append(cases, cyclesCases()...)
	cases = append(cases, countCases()...)
	return append(cases, loopGuardCases()...)
}

func defaultCases() []nudgeCase {
	same := unloop.Finding{
		Rule: "same_call_same_result", Subject: "grep", Count: 3, What: grepCall + " returned the same result 3 times: no matches",
		Try: "Use the answer that is already there, or do something that can change it.", Repeated: []string{grepCall},
	}
	wrong := unloop.Finding{
		Rule: "same_error", Subject: "bash", Count: 4, What: "bash failed 4 times in a row with the same kind of error: ModuleNotFoundError: No module named 'torch'",
		Try:      "Read the first error once more, and fix its cause before trying again.",
		Repeated: []string{`bash {"command":"python3 train.py"}`}, Changed: `"" became "3"`, FirstError: "ModuleNotFoundError: No module named 'torch'",
	}
	round := unloop.Finding{
		Rule: "cycle", Subject: "bash|read_file", Count: 3, Period: 2, What: readCall + ", then " + testCall + ", with the same results, 3 times in a row",
		Try:      "Leave the pattern: read the first error again, or take a step that is not part of it.",
		Repeated: []string{readCall, testCall}, FirstError: testError,
	}
	said := unloop.Finding{
		Rule: "repeated_message", Subject: "planner", Count: 3, What: "planner sent nearly the same message 3 times, among its last 7",
		Try: "Take the next concrete action, or say what is missing and stop.",
	}
	again := unloop.Finding{
		Rule: "restated_messages", Score: 1.5, Advisory: true,
		What: "planner repeats what it said before, without a new result in between: 46 % of its latest message is from an earlier one",
		Try:  "State what is new since the last attempt. If nothing is new, make a new plan, or stop and report what is missing.",
	}
	varied := unloop.Finding{
		Rule: "stalled_steps", Count: 6, What: "The last 6 steps made little progress: 2 found nothing and 4 returned known content; 4 % of the returned text was new",
		Try: "State what is still unknown, and take one step that can answer it.", Repeated: []string{`fetch {"url":"https://example.com/a"}`},
	}
	return []nudgeCase{
		{"default", "varied steps, of which the latest is named", policy.Warn, policy.CodeNudge, varied},
		{"default", "nearly the same in other words", policy.Warn, policy.CodeNudge, again},
		{"default", "the same, and nothing that could be blocked", policy.Warn, policy.CodeStrongNudge, again},
		{"default", "the same call, the same result", policy.Warn, policy.CodeNudge, same},
		{"default", "varied commands, one error", policy.Warn, policy.CodeStrongNudge, wrong},
		{"default", "a cycle", policy.Block, policy.CodeBlocked, round},
		{"default", "a message over and over", policy.Warn, policy.CodeNudge, said},
		{"default", "the same call, the same result", policy.Halt, policy.CodeHalted, same},
	}
}

func reportCases() []nudgeCase {
	return []nudgeCase{
		{"looplens", "a warning", policy.Warn, "no_such_code", unloop.Finding{
			Rule: "retry_storm", Count: 3, What: "3 retries were triggered", Try: "Change the strategy, wait longer between attempts, or limit them.",
		}},
		{"attocode", "a loop of the whole swarm", policy.Warn, "global_doom_loop", unloop.Finding{
			Rule: "global_doom_loop", Subject: "read_file", Count: 12, Workers: 3, What: "read_file was called 12 times by 3 workers",
		}},
	}
}

func attocodeCases() []nudgeCase {
	doom := func(n string, count int) unloop.Finding {
		return unloop.Finding{
			Rule: "doom_loop", Subject: "grep", Count: count, What: "grep was called " + n + " times in a row with the same arguments", Repeated: []string{grepCall},
		}
	}
	fuzzy := unloop.Finding{
		Rule: "doom_loop", Subject: "read_file", Count: 4, What: "read_file was called 4 times in a row with the same target",
		Repeated: []string{`read_file {"path":"src/auth.py","encoding":"latin-1"}`}, Changed: `"utf-8" became "latin-1"`, FirstError: "src/auth.py: no such file",
	}
	failed := func(command, failure string) unloop.Finding {
		return unloop.Finding{
			Rule: "failure_cascade", Subject: "bash", Count: 3, What: "3 shell calls in a row failed",
			Repeated: []string{`bash {"command":"` + command + `"}`}, FirstError: failure,
		}
	}
	return []nudgeCase{
		{"attocode", "three equal calls", policy.Warn, "doom_loop", doom("3", 3)},
		{"attocode", "four calls for one file", policy.Warn, "doom_loop_strong", fuzzy},
		{"attocode", "six equal calls", policy.Block, "doom_loop_rejected", doom("6", 6)},
		{"attocode", "three failed test runs", policy.Warn, "test_fix_cycle", unloop.Finding{
			Rule: "test_fix_cycle", Subject: "bash", Count: 3, What: "3 test runs in a row failed", Repeated: []string{testCall}, FirstError: testError,
		}},
		{"attocode", "three failed commands", policy.Warn, "failure_cascade", failed("ffmpeg -i in.mov out.mp4", "ffmpeg: command not found")},
		{"attocode", "the last one works on a file", policy.Warn, "failure_cascade", failed("sed -i s/None/user/ src/auht.py", "sed: can't read src/auht.py: No such file or directory")},
		{"attocode", "three messages without a call", policy.Warn, "summary_loop", unloop.Finding{
			Rule: "summary_loop", Subject: "coder", Count: 3, What: "3 messages in a row came without a tool call",
		}},
	}
}

func cyclesCases() []nudgeCase {
	cycle := func(count int, failure string, calls ...string) unloop.Finding {
		return unloop.Finding{
			Rule: "call_cycle", Subject: "bash|edit_file", Count: count, Period: len(calls), What: "the same calls were made several times in a row",
			Repeated: calls, FirstError: failure,
		}
	}
	return []nudgeCase{
		{"cycles", "one call", policy.Warn, policy.CodeCycleWarning, cycle(2, "", readCall)},
		{"cycles", "edit and test in turn", policy.Warn, policy.CodeCycleWarning, cycle(2, testError, editCall, testCall)},
		{"cycles", "read, edit, test", policy.Warn, policy.CodeCycleWarningStrong, cycle(3, testError, readCall, editCall, testCall)},
		{"cycles", "one search", policy.Warn, policy.CodeCycleWarningStrong, cycle(3, "", grepCall)},
		{"cycles", "a tool of its own kind", policy.Warn, policy.CodeCycleWarningStrong, cycle(3, "", `deploy {"to":"staging"}`)},
		{"cycles", "edit and test in turn", policy.Halt, policy.CodeLoopDetected, cycle(4, testError, editCall, testCall)},
	}
}

// countCases are those of agentium and loopdetection.
func countCases() []nudgeCase {
	limit := unloop.Finding{Rule: "repeat_limit", Subject: "grep", Count: 4, What: "grep was called 4 times with the same arguments", Repeated: []string{grepCall}}
	repeat := func(n string, count int) unloop.Finding {
		return unloop.Finding{
			Rule: "generic_repeat", Subject: "grep", Count: count, What: "grep came " + n + " times within the last 30 calls with the same arguments",
			Repeated: []string{grepCall}, FirstError: "src: no such directory",
		}
	}
	poll := unloop.Finding{Rule: "poll_no_progress", Subject: "job_status", Count: 10, What: "job_status gave the same answer 10 times", Repeated: []string{pollCall}}
	stuck := unloop.Finding{Rule: "poll_no_progress", Subject: "job_status", Count: 20, What: "job_status gave the same answer 20 times", Repeated: []string{pollCall}}
	pong := unloop.Finding{
		Rule: "ping_pong", Subject: "edit_file|read_file", Count: 10, Period: 2, What: "two calls have alternated for 10 calls", Repeated: []string{readCall, editCall},
	}
	return []nudgeCase{
		{"agentium", "the fourth call, hint", policy.Block, "loop-detected", limit},
		{"agentium", "the fourth call, abort", policy.Halt, "loop-detected", limit},
		{"loopdetection", "ten equal calls", policy.Warn, "generic_repeat", repeat("10", 10)},
		{"loopdetection", "twenty equal calls", policy.Block, "generic_repeat", repeat("20", 20)},
		{"loopdetection", "ten equal answers", policy.Warn, "poll_no_progress", poll},
		{"loopdetection", "twenty equal answers", policy.Block, "poll_no_progress", stuck},
		{"loopdetection", "ten calls in turn", policy.Warn, "ping_pong", pong},
		{"loopdetection", "two calls in turn, too long", policy.Block, "ping_pong", pong},
	}
}

func loopGuardCases() []nudgeCase {
	unchanged := func(count int) unloop.Finding {
		return unloop.Finding{
			Rule: "unchanged_result", Subject: "http_get", Count: count, What: "http_get returned the same many times in a row",
			Repeated: []string{`http_get {"url":"https://example.org/a?try=4"}`}, Changed: `"3" became "4"`,
		}
	}
	reads := func(count int) unloop.Finding {
		return unloop.Finding{
			Rule: "idempotent_calls", Subject: "read_file", Count: count, What: "read_file was called many times in this turn", Score: 1, Repeated: []string{readCall},
		}
	}
	writes := func(count int) unloop.Finding {
		return unloop.Finding{
			Rule: "mutating_calls", Subject: "edit_file", Count: count, What: "edit_file was called many times in this turn", Score: 1, Repeated: []string{editCall},
			FirstError: "old text not found in src/auth.py",
		}
	}
	return []nudgeCase{
		{"loopguard", "two minutes", policy.Halt, "time_exceeded", unloop.Finding{Rule: "turn_time", What: "the turn has taken 131 s, over the 120 s that it may take"}},
		{"loopguard", "four equal results", policy.Warn, "no_progress_warn", unchanged(4)},
		{"loopguard", "eight equal results", policy.Halt, "no_progress_halt", unchanged(8)},
		{"loopguard", "five reads", policy.Warn, "idempotent_warn", reads(5)},
		{"loopguard", "eight reads", policy.Block, "idempotent_block", reads(8)},
		{"loopguard", "twelve reads", policy.Halt, "idempotent_halt", reads(12)},
		{"loopguard", "three edits", policy.Warn, "mutating_warn", writes(3)},
		{"loopguard", "five edits", policy.Block, "mutating_block", writes(5)},
		{"loopguard", "seven edits", policy.Halt, "mutating_halt", writes(7)},
	}
}
