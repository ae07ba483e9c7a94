package splice

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// family is what agents say in the stretches of a class of kinds. In a text, {} stands for what the call is about.
type family struct {
	kinds string
	wording
	again bool // the words after the first fit only a call that was made before
}

// families lists the classes. Other loops are of attempts that fail, other lookalikes of items that are done.
func families() []family {
	return []family{
		{"stuck_polling dead_log export_never_ready silent_background_shell spinner_without_progress heartbeats_read boot_never_finishes pods_stay_broken thread_read_at_once " +
			"moving_poll growing_log download_grows wait_for_build rollout_moves files_processed scheduled_check jobs_of_a_pipeline time_left transfer_in_percent deployment_awaited address_awaited index_is_built blocks_synced waits_doubled approval_awaited kernel_compiled", waiting, false},
		{"exact_repeat volatile_result reordered_keys optional_argument cycle_2 cycle_3 cycle_4 cycle_5 cycle_6 cycle_7 cycle_8 long_cycle short_round shuffled_checks verify_again round_of_many_checks panels_read_again " +
			"crash_inspected_again release_checklist_again", checking, true},
		{"passing_tests_rerun file_unchanged one_file_by_many_commands same_file_by_many_tools reread_slices start_over_after_summary folder_listed_again total_stays_the_same", checking, false},
		{"reworded_query empty_result grep_known_lines search_by_other_tools memory_searched_again tickets_searched_again logs_queried_again mail_never_found fact_not_found_online paper_never_found no_flights_any_way " +
			"same_posts_in_feed articles_walked identity_not_found address_not_geocoded pattern_finds_nothing resource_not_found joins_without_rows device_not_listed", searching, false},
		{"tests_after_edits fewer_compile_errors other_test_fails error_moves_on values_printed type_errors_drop failures_get_fewer restarted_until_well causes_ruled_out schema_errors_mended red_then_green query_tuned axes_calibrated playbook_gets_further password_rules_met arming_checks_cleared coverage_rises", improving, false},
		{"retry_that_works back_off downloads_resumed install_retried push_at_third_try image_pulled_with_backoff throttled_pages", retrying, false},
	}
}

var waiting = wording{
	first: []string{"Let me check the status.", "Let me see how far it is.", "I'll look at the current state."},
	seen:  []string{"It is still running.", "Not finished yet.", "It is not ready yet.", "Still in progress.", ""},
	next:  []string{"Let me wait and check again.", "I'll check again in a moment.", "Let me look once more.", "Let me give it more time.", "Checking the status again."},
}

var checking = wording{
	first: []string{"Let me look at {}.", "Let me check {} first.", "I'll start by checking {}."},
	seen:  []string{"Let me make sure that I have the full picture.", "I want to be certain.", "I should verify this.", "Hmm.", ""},
	next:  []string{"Let me check {} again.", "Let me verify {} once more.", "Let me look at {} once more.", "Let me double-check {}.", "I'll take another look at {}."},
}

var searching = wording{
	first: []string{"Let me search for it.", "Let me look for {}.", "I'll search first."},
	seen:  []string{"That did not give what I need.", "Nothing new there.", "I could not find it yet.", "The results are not helpful.", "No luck."},
	next:  []string{"Let me try other search terms.", "Let me search for {}.", "Let me refine the search.", "Let me try a broader query.", "Maybe {} finds it.", "I'll try a different search."},
}

var improving = wording{
	first: []string{"Let me look at {}.", "I'll start with {}.", "Let me see where this stands."},
	seen:  []string{"That helped.", "One problem less.", "Good, that part works now.", "We are getting further.", "That fixed the first one, and the next one shows."},
	next:  []string{"Now for the next one.", "Let me fix the next problem.", "Next, {}.", "Let me continue with what is left.", "Now the remaining one."},
}

var retrying = wording{
	first: []string{"Let me fetch {}.", "I'll run {}.", "Let me start with {}."},
	seen:  []string{"That was a temporary failure.", "The service asks to wait.", "The connection broke.", "It did not get through.", ""},
	next:  []string{"Let me wait and retry.", "Retrying {} after a pause.", "I'll try {} again with a longer pause.", "Let me go on with {}."},
}

var failing = wording{
	first: []string{"Let me try it with {}.", "I'll start with {}.", "First, {}.", "Let me begin with {}."},
	seen:  []string{"That did not work.", "The same problem again.", "It still fails.", "No change.", "I see the issue now.", "Hmm, that is the same result as before.", "Still not working."},
	next:  []string{"Let me try a different approach.", "Let me try it with {}.", "Let me go back to {}.", "Perhaps {} is the place to look.", "Let me fix that.", "Let me try it another way.", "I'll try with other settings."},
}

var advancing = wording{
	first: []string{"I'll start with {}.", "First comes {}.", "Let me begin with {}."},
	seen:  []string{"Done.", "That one is finished.", "Good.", "That worked.", "This one is handled.", ""},
	next:  []string{"Next is {}.", "Now {}.", "Moving on to {}.", "Let me go on with {}.", "The next one is {}.", "On to {}."},
}

// family returns the class of the kind.
func (k kind) family() family {
	for _, f := range families() {
		if strings.Contains(" "+f.kinds+" ", " "+k.name+" ") {
			return f
		}
	}
	if k.benign {
		return family{wording: advancing}
	}
	return family{wording: failing}
}

// think gives thoughts to the entries of a stretch whose builder gave none: one before each call that no message of the agent precedes.
func (k kind) think(p *generator, entries []entry) {
	f, made, round := k.family(), map[string]bool{}, 0
	for n := range entries {
		e := &entries[n]
		if e.Kind == "message" || n > 0 && entries[n-1].Role == "assistant" {
			continue
		}
		action := e.Tool + string(e.Args)
		switch {
		case n > 0 && entries[n-1].changes() && !e.changes():
			e.thought = p.runAgain()
		case f.again && !made[action]:
			e.thought = f.of(p, 0)
		default:
			e.thought = f.of(p, round)
		}
		about := e.subject()
		e.thought.seen, e.thought.next = strings.ReplaceAll(e.thought.seen, "{}", about), strings.ReplaceAll(e.thought.next, "{}", about)
		made[action] = true
		round++
	}
}

// changes reports whether the entry edits a file.
func (e *entry) changes() bool {
	return slices.ContainsFunc([]string{"edit", "Edit", "write", "replace", "patch"}, func(part string) bool { return strings.Contains(e.Tool, part) })
}

// subject names what a call is about: the first words of one of its texts, or its tool.
func (e *entry) subject() string {
	if e.Kind == "handoff" {
		return "the " + e.To
	}
	var args map[string]any
	if err := json.Unmarshal(e.Args, &args); err != nil {
		return "`" + e.Tool + "`"
	}
	members := append([]string{"path", "file_path", "query", "url", "command", "cmd", "element"}, slices.Sorted(maps.Keys(args))...)
	for _, member := range members {
		text, ok := args[member].(string)
		if words := strings.Fields(text); ok && len(words) > 0 && !strings.Contains(text, "{}") {
			return "`" + strings.Join(words[:min(4, len(words))], " ") + "`"
		}
	}
	return "`" + e.Tool + "`"
}
