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
	"address_not_geocoded": 0.75, "call_cut_off": 0.85, "cell_calculated_again": 0.8, "challenge_fails": 0.85, "clearance_violated": 0.75,
	"closed_door": 0.85, "code_expired": 0.5, "container_exits_again": 0.7, "departments_pass_on": 0.7, "dialog_blocks_tools": 0.85,
	"drift_returns": 0.85, "encoder_unknown": 0.5, "goals_unsolved": 0.6, "grep_known_lines": 0.9, "host_unreachable": 0.75,
	"identity_not_found": 0.6, "illegal_move": 0.9, "inventory_full": 0.75, "joins_without_rows": 0.65, "loss_is_nan": 0.85,
	"mind_changed": 0.9, "multiple_heads": 0.85, "no_active_device": 0.75, "node_is_nil": 0.7, "outside_allowed_directories": 0.8,
	"patch_rejected": 0.9, "pattern_finds_nothing": 0.5, "paywall_everywhere": 0.7, "phone_restarted_again": 0.6, "plan_sent_back": 0.85,
	"prompt_waits_for_keys": 0.8, "question_asked_again": 0.7, "quote_never_closes": 0.75, "release_in_progress": 0.6,
	"reminders_unanswered": 0.85, "round_of_many_checks": 0.75, "same_posts_in_feed": 0.9, "same_slots_offered": 0.85,
	"search_session_expires": 0.9, "signature_refused": 0.85, "thread_read_at_once": 0.85, "total_stays_the_same": 0.85,
	"villager_talked_to_again": 0.5, "vote_tied": 0.8, "waiting_for_each_other": 0.65,
}

// missed are the kinds of loop of which the profile default catches at most half. docs/eval.md lists them. A kind of which it catches more
// leaves the list.
var missed = []string{
	"alert_triggers_again", "banner_returns", "captcha_again", "cent_moved_around", "cron_never_runs", "disk_stays_full",
	"done_without_finish", "drafts_rewritten", "facts_stored_again", "firmware_panics_again", "formula_broken", "grasp_fails",
	"heartbeats_read", "keyboard_covers_button", "listener_refuses", "message_bounces", "offers_repeated", "output_fails_schema",
	"page_still_old", "panels_read_again", "paper_never_found", "policy_overrides_setting", "policy_recited", "render_stays_black",
	"same_comment", "same_finding_added", "scan_without_text", "slot_not_understood", "snapshot_mismatch", "substitution_without_match",
	"thanks_exchanged", "thoughts_repeated", "timing_violated", "transcript_is_music", "transfer_announced", "upload_unreadable",
	"vehicle_not_armed", "which_lamp", "workflow_fails_at_same_step",
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
	if caught.Share() < 0.79 {
		t.Errorf("of all loops it catches %.1f %%, and not 79", 100*caught.Share())
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
	if alarms.Share() > 0.04 {
		t.Errorf("it flags %.1f %% of honest work, and not 4", 100*alarms.Share())
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
