package eval_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/internal/eval/splice"
	"github.com/unloop-ai/unloop/profile"
)

// least is the share of a kind of loop that the profile default must catch, where it is not 90 %.
var least = map[string]float64{
	"address_not_geocoded": 0.65, "advisory_read_in_every_database": 0.65, "alert_triggers_again": 0.55,
	"analyst_asks_researcher_again": 0.85, "assertion_stays": 0.65, "bean_not_found": 0.85, "binary_stays_old": 0.8,
	"breakpoint_never_hit": 0.85, "call_cut_off": 0.8, "cell_calculated_again": 0.75, "challenge_fails": 0.85,
	"circular_import_moved_around": 0.85, "claims_stay_unsupported": 0.8, "clean_install_fails_alike": 0.7, "clearance_violated": 0.65,
	"click_without_effect": 0.85, "code_expired": 0.65, "code_never_reaches_inbox": 0.75, "combobox_clears": 0.8,
	"config_not_read": 0.85, "container_unhealthy": 0.85, "coverage_stays": 0.7, "cuda_out_of_memory": 0.85,
	"database_login_fails": 0.85, "dates_stay_unparsed": 0.55, "dead_instruction_reworded": 0.7, "decision_handed_back": 0.55,
	"details_requested_again": 0.75, "dev_servers_pile_up": 0.75, "device_login_never_completed": 0.75, "dialog_blocks_tools": 0.85,
	"done_without_finish": 0.7, "drain_blocked_by_budget": 0.85, "edit_ambiguous": 0.85, "edit_refused_by_lint_gate": 0.85,
	"empty_root_inspected_again": 0.75, "environment_unsolvable": 0.8, "event_an_hour_off": 0.85,
	"extraction_asked_in_other_words": 0.6, "fare_gone_at_checkout": 0.85, "file_in_other_sandbox": 0.55,
	"filters_displace_each_other": 0.65, "first_rows_sampled_again": 0.65, "fit_never_converges": 0.65, "folder_listed_again": 0.8,
	"formulas_read_back_as_none": 0.55, "fresh_deploy_answers_404": 0.8, "fuzzer_stops_at_known_crash": 0.85, "grep_known_lines": 0.8,
	"header_dumped_by_many_tools": 0.6, "heartbeats_read": 0.75, "identity_not_found": 0.65, "illegal_move": 0.75, "indentation_broken_again": 0.85,
	"inventory_full": 0.6, "line_reprovisioned_while_port_pending": 0.7, "links_open_unseen_tabs": 0.65,
	"load_tendered_to_same_carriers": 0.5, "locator_matches_several_elements": 0.85, "login_redirect": 0.65,
	"look_up_promised_each_turn": 0.65, "loss_is_nan": 0.8, "lost_commit_searched": 0.65, "mail_resent_to_old_address": 0.7,
	"migration_regenerated_after_each_failure": 0.5, "mock_never_takes_effect": 0.85, "model_infeasible": 0.75, "multiple_heads": 0.85, "new_script_meets_same_download": 0.85,
	"namespace_stays_terminating": 0.75, "no_active_device": 0.75, "no_appointment_at_any_office": 0.7, "no_flights_any_way": 0.75,
	"node_is_nil": 0.55, "output_fails_schema": 0.65, "output_stays_truncated": 0.7, "outside_allowed_directories": 0.65,
	"passes_alone_fails_in_suite": 0.8, "paywall_everywhere": 0.6, "phone_restarted_again": 0.75, "plan_approved_and_replanned": 0.75,
	"plugin_moved_to_other_package": 0.8, "policy_recited": 0.65, "polyglot_breaks_in_either_language": 0.55,
	"power_on_value_read": 0.7, "prompt_waits_for_keys": 0.75, "question_asked_again": 0.85, "read_only_subagent_told_to_write": 0.7,
	"redactions_lost_in_export": 0.65, "redirected_to_home_country": 0.8, "release_in_progress": 0.6, "release_not_supported": 0.6,
	"repro_script_unconfigured": 0.7, "room_declines_each_invitation": 0.5, "row_breaks_every_reader": 0.75,
	"same_error_in_output": 0.85, "same_mail_answered_again": 0.85, "same_posts_in_feed": 0.55, "same_scan_read_out_each_turn": 0.85,
	"same_slots_offered": 0.7, "samples_drawn_again": 0.6, "sanitizer_report_unmoved": 0.6, "scrape_stops_at_same_count": 0.85,
	"search_session_expires": 0.65, "segfault_again": 0.85, "self_signed_chain": 0.85, "series_change_touches_past": 0.85,
	"server_never_answers": 0.65, "several_actions_in_one_turn": 0.75, "source_stays_stale": 0.85, "stale_element": 0.85,
	"style_file_missing": 0.85, "style_without_effect": 0.75, "subagent_lacks_context": 0.55, "sudo_wants_password": 0.75,
	"summaries_of_upgrade_multiply": 0.75, "symbol_not_in_repository": 0.75, "task_claimed_and_released": 0.85,
	"tester_sends_back": 0.8, "tests_are_skipped": 0.6, "token_lacks_permission": 0.85, "total_stays_the_same": 0.85,
	"typed_text_piles_up": 0.6, "update_offered_again": 0.85, "update_rolls_back": 0.75, "vacuum_removes_nothing": 0.5,
	"variant_insisted_on": 0.5, "vehicle_not_armed": 0.65, "version_conflict": 0.85, "villager_talked_to_again": 0.55,
	"vote_tied": 0.55, "waiting_for_each_other": 0.7, "wrong_flag_submitted_again": 0.7,
}

// missed are the kinds of loop of which the profile default catches at most half. docs/eval-kinds.md has the share of each. A kind of which it catches more
// leaves the list.
var missed = []string{
	"accuracy_at_chance", "auto_reply_keeps_chat_alive", "backtrace_without_symbols", "banner_returns", "baud_rates_gone_round",
	"captcha_again", "cart_fills_with_same_article", "cent_moved_around", "chained_assignment_changes_nothing", "chart_redrawn",
	"collective_hangs", "comment_polished_again", "confirmation_asked_after_each_yes", "confirmed_but_not_done",
	"consumer_group_rebalances", "correction_normalised_away", "cron_never_runs", "date_picker_jumps_back", "debug_scripts_print_same",
	"declined_itinerary_proposed_again", "delegation_never_ends", "details_always_promised", "disk_stays_full", "drafts_never_sent",
	"drafts_rewritten", "duplicates_created", "encoder_unknown", "event_recreated_with_other_fault", "fact_not_found_online",
	"facts_stored_again", "filter_without_effect", "firmware_panics_again", "formula_broken", "goals_unsolved", "grasp_fails",
	"host_unreachable", "job_cancelled_before_its_turn", "job_resubmitted", "joins_without_rows",
	"journal_posted_and_reversed", "keyboard_covers_button", "language_not_served", "listener_refuses", "logcat_filtered_in_vain",
	"mail_never_found", "meter_commands_queued_without_effect", "migration_sees_no_change", "module_cached_in_kernel", "no_network",
	"no_runner_takes_job", "offers_repeated", "page_still_old", "panels_read_again", "paper_never_found", "passing_tests_rerun",
	"pattern_finds_nothing", "policy_overrides_setting", "push_triggers_no_run", "record_in_other_zone", "render_stays_black",
	"reread_slices", "same_comment", "same_finding_added", "same_fragment_carved_again", "same_settings_trained_again",
	"scan_without_text", "scraper_extracts_nothing", "slot_not_understood", "snapshot_mismatch", "still_forbidden",
	"submission_has_wrong_rows", "substitution_without_match", "sum_is_null", "thanks_exchanged", "thoughts_repeated",
	"tickets_opened_instead_of_answer", "timing_violated", "transcript_is_music", "transfer_announced", "typing_into_pager",
	"upload_unreadable", "voucher_refused_at_checkout", "waiting_room_reentered", "walkthrough_dies_at_same_point", "which_lamp",
	"workflow_fails_at_same_step", "wrong_answer_at_test",
}

// TestDefaultKeepsItsPromises holds the profile default to what docs/eval.md says of it, on the healthy runs of the examples: as they
// are, and with every kind of stretch that detectors are tuned on put into them.
func TestDefaultKeepsItsPromises(t *testing.T) {
	sheet := measure(t, 1)
	for kind, caught := range sheet.Loops {
		want, ok := least[kind]
		if !ok {
			want = 0.9
		}
		share := caught.Flagged.Share()
		if slices.Contains(missed, kind) {
			if share > 0.5 {
				t.Errorf("of the loops of kind %s it catches %.0f %%: the list of missed kinds still has it", kind, 100*share)
			}
			continue
		}
		if share < want {
			t.Errorf("of the loops of kind %s it catches %.0f %%, and not %.0f", kind, 100*share, 100*want)
		}
	}
	caught, delays := eval.Proportion{}, eval.Delays{}
	for _, kind := range sheet.Loops {
		caught.Count += kind.Flagged.Count
		caught.Of += kind.Flagged.Of
		delays = append(delays, kind.Delays...)
	}
	if caught.Share() < 0.74 {
		t.Errorf("of all loops it catches %.1f %%, and not 74", 100*caught.Share())
	}
	if median, _ := delays.Median(); median > 4 {
		t.Errorf("the median is %.1f events, want 4", median)
	}
	alarms := sheet.Successful.Flagged
	for kind, hit := range sheet.LookAlikes {
		alarms.Count += hit.Flagged.Count
		alarms.Of += hit.Flagged.Of
		if hit.Stopped.Count > 0 {
			t.Errorf("it stops %d lookalikes of kind %s", hit.Stopped.Count, kind)
		}
	}
	if alarms.Share() > 0.05 {
		t.Errorf("it flags %.1f %% of honest work, and not 5", 100*alarms.Share())
	}
	if n := sheet.Successful.Stopped.Count; n > 0 {
		t.Errorf("it stops %d healthy runs", n)
	}
}

// measure returns what the profile default makes of the healthy runs, and of those that are made of them with the seed.
func measure(t *testing.T, seed uint64) *eval.Sheet {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	board := eval.New([]*profile.Profile{p})
	paths, err := filepath.Glob("../../examples/healthy/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no healthy runs (%v)", err)
	}
	var made bytes.Buffer
	splicer, err := splice.New(&made, seed, splice.TuningKinds)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		healthy, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := splicer.Read(t.Context(), path, bytes.NewReader(healthy)); err != nil {
			t.Fatal(err)
		}
		if err := board.Read(t.Context(), path, bytes.NewReader(healthy)); err != nil {
			t.Fatal(err)
		}
	}
	if err := board.Read(t.Context(), "made", &made); err != nil {
		t.Fatal(err)
	}
	return board.Sheets[0]
}
