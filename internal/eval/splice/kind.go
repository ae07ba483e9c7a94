package splice

import "encoding/json"

// entry is one event, as labelled runs hold it.
type entry struct {
	Kind   string          `json:"kind"`
	Agent  string          `json:"agent,omitempty"`
	Role   string          `json:"role,omitempty"`
	Text   string          `json:"text,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	From   string          `json:"from,omitempty"`
	To     string          `json:"to,omitempty"`
}

// kind is one way to loop, or to look so without looping.
type kind struct {
	name      string
	benign    bool
	reporting bool // detectors are never tuned on it: figures of these kinds say how well rules carry over
	// build returns the entries of a stretch, and the index of the first that repeats something: the first that does what
	// an earlier one did, or brings what an earlier one brought; in a cycle, the first of the second round.
	build func(*generator) (entries []entry, onset int)
}

// kinds lists all, family by family.
func kinds() []kind {
	all := []kind{
		{name: "exact_repeat", build: exactRepeat}, // a cycle of length 1
		{name: "volatile_result", build: volatileResult},
		{name: "reordered_keys", build: reorderedKeys},
		{name: "optional_argument", build: optionalArgument},
		{name: "repeat_between_other_calls", build: repeatBetweenOtherCalls},
		{name: "one_file_by_many_commands", build: oneFileByManyCommands},
		{name: "cycle_2", build: cycle(2)},
		{name: "cycle_3", build: cycle(3)},
		{name: "cycle_4", build: cycle(4)},
		{name: "cycle_5", build: cycle(5)},
		{name: "cycle_6", build: cycle(6)},
		{name: "cycle_7", build: cycle(7)},
		{name: "cycle_8", build: cycle(8)},
		{name: "edit_revert", build: editRevert},
		{name: "handoff_bounce", build: handoffBounce},
		{name: "handoff_bounce_bare", build: bareHandoffBounce},
		{name: "reworded_query", build: rewordedQuery},
		{name: "empty_result", build: emptyResult},
		{name: "same_error", build: sameError},
		{name: "same_error_volatile", build: sameVolatileError},
		{name: "same_error_in_output", build: sameErrorInOutput},
		{name: "stuck_polling", build: stuckPolling},
		{name: "alike_messages", build: alikeMessages},
		{name: "repeating_text", build: repeatingText},
		{name: "same_compile_error", build: sameCompileError},
		{name: "install_fails", build: installFails},
		{name: "grep_known_lines", build: grepKnownLines},
		{name: "docker_build_fails", build: dockerBuildFails},
		{name: "tests_with_other_flags", build: testsWithOtherFlags},
		{name: "edit_not_found", build: editNotFound},
		{name: "empty_commands", build: emptyCommands},
		{name: "verify_again", build: verifyAgain},
		{name: "long_cycle", build: longCycle},
		{name: "same_file_by_many_tools", build: sameFileByManyTools},
		{name: "dead_log", build: deadLog},
		{name: "same_import_error", build: sameImportError},
		{name: "invalid_arguments", build: invalidArguments},
		{name: "rate_limited", build: rateLimited},
		{name: "question_asked_again", build: questionAskedAgain},
		{name: "invalid_form", build: invalidForm},
		{name: "missing_column", build: missingColumn},
		{name: "export_never_ready", build: exportNeverReady},
		{name: "push_rejected", build: pushRejected, reporting: true},
		{name: "edit_without_change", build: editWithoutChange, reporting: true},
		{name: "broken_commands", build: brokenCommands, reporting: true},
		{name: "reread_slices", build: rereadSlices, reporting: true},
		{name: "denied_writes", build: deniedWrites, reporting: true},
		{name: "silent_background_shell", build: silentBackgroundShell, reporting: true},
		{name: "pods_stay_broken", build: podsStayBroken, reporting: true},
		{name: "click_without_effect", build: clickWithoutEffect, reporting: true},
		{name: "login_redirect", build: loginRedirect, reporting: true},
		{name: "pages_not_found", build: pagesNotFound, reporting: true},
		{name: "unknown_tool", build: unknownTool, reporting: true},
		{name: "same_comment", build: sameComment, reporting: true},
		{name: "plan_without_step", build: planWithoutStep, reporting: true},
		{name: "search_by_other_tools", build: searchByOtherTools, reporting: true},
		{name: "shuffled_checks", build: shuffledChecks, reporting: true},
		{name: "apologies", build: apologies, reporting: true},
		{name: "reworded_handoffs", build: rewordedHandoffs, reporting: true},
		{name: "setting_back_and_forth", build: settingBackAndForth, reporting: true},
		{name: "closed_door", build: closedDoor, reporting: true},
	}
	for _, lookalike := range []kind{
		{name: "moving_poll", build: movingPoll},
		{name: "pagination", build: pagination},
		{name: "file_slices", build: fileSlices},
		{name: "tests_after_edits", build: testsAfterEdits},
		{name: "batch", build: batch},
		{name: "many_reads", build: manyReads},
		{name: "many_searches", build: manySearches},
		{name: "retry_that_works", build: retryThatWorks},
		{name: "status_between_edits", build: statusBetweenEdits},
		{name: "fewer_compile_errors", build: fewerCompileErrors},
		{name: "many_installs", build: manyInstalls},
		{name: "growing_log", build: growingLog},
		{name: "download_grows", build: downloadGrows},
		{name: "search_in_other_places", build: searchInOtherPlaces},
		{name: "clean_lint", build: cleanLint},
		{name: "wait_for_build", build: waitForBuild},
		{name: "revert_once", build: revertOnce},
		{name: "fill_form", build: fillForm},
		{name: "cursor_pages", build: cursorPages},
		{name: "many_tickets", build: manyTickets},
		{name: "user_asks_again", build: userAsksAgain},
		{name: "sums", build: sums},
		{name: "plan_gets_on", build: planGetsOn},
		{name: "many_tables", build: manyTables},
		{name: "other_test_fails", build: otherTestFails, reporting: true},
		{name: "rollout_moves", build: rolloutMoves, reporting: true},
		{name: "files_processed", build: filesProcessed, reporting: true},
		{name: "found_at_last", build: foundAtLast, reporting: true},
		{name: "health_of_many_hosts", build: healthOfManyHosts, reporting: true},
		{name: "many_commits", build: manyCommits, reporting: true},
		{name: "bisect", build: bisect, reporting: true},
		{name: "read_after_edit", build: readAfterEdit, reporting: true},
		{name: "experiments", build: experiments, reporting: true},
		{name: "migrations", build: migrations, reporting: true},
		{name: "scroll_down", build: scrollDown, reporting: true},
		{name: "back_off", build: backOff, reporting: true},
		{name: "scheduled_check", build: scheduledCheck, reporting: true},
		{name: "moves", build: moves, reporting: true},
		{name: "reports_of_steps", build: reportsOfSteps, reporting: true},
		{name: "many_texts", build: manyTexts, reporting: true},
	} {
		lookalike.benign = true
		all = append(all, lookalike)
	}
	return all
}

// stretch builds the entries. Before a call or a handoff the agent may think aloud, in new words each time: how often, from
// never to always, is chosen for each stretch. The onset of a look-alike is its first event.
func (k kind) stretch(p *generator) (entries []entry, onset int) {
	built, first := k.build(p)
	aloud := p.IntN(5)
	for n, e := range built {
		if e.Kind != "message" && p.IntN(4) < aloud {
			entries = append(entries, say(p.sentence()))
		}
		if n == first {
			onset = len(entries)
		}
		entries = append(entries, e)
	}
	if k.benign {
		return entries, 0
	}
	return entries, onset
}

func call(tool string, args, result json.RawMessage) entry {
	return entry{Kind: "tool_call", Tool: tool, Args: args, Result: result}
}

func failed(tool string, args json.RawMessage, reason string) entry {
	return entry{Kind: "tool_call", Tool: tool, Args: args, Error: reason}
}

func say(text string) entry { return entry{Kind: "message", Role: "assistant", Text: text} }

// quoted returns text as a JSON string.
func quoted(text string) json.RawMessage { return jsonOf(text) }

// jsonOf returns a string, a number or a list of strings as JSON.
func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // of what is handed over here, nothing
	}
	return text
}

// object returns a JSON object with names and values in this order.
func object(pairs ...any) json.RawMessage {
	text := []byte{'{'}
	for k := 0; k < len(pairs); k += 2 {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, jsonOf(pairs[k])...)
		text = append(text, ':')
		text = append(text, jsonOf(pairs[k+1])...)
	}
	return append(text, '}')
}
