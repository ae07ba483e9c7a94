package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/eval"
)

// hosts has healthy runs of 1 and of 6 events, and runs that must be left out.
func hosts() string {
	var b strings.Builder
	for _, n := range []int{1, 6} {
		events := make([]string, n)
		for k := range events {
			events[k] = fmt.Sprintf(`{"kind":"tool_call","tool":"host","args":{"n":%d},"result":"<%d & more>"}`, k, k)
		}
		fmt.Fprintf(&b, `{"id":"h%d","source":"hand","outcome":"success","labels":{},"events":[%s]}`+"\n", n, strings.Join(events, ","))
	}
	b.WriteString(`{"id":"failed","source":"hand","outcome":"failure","labels":{},"events":[{"kind":"handoff"}]}` + "\n")
	b.WriteString(`{"id":"loops","source":"hand","outcome":"success","labels":{"step_repetition":true},"events":[{"kind":"handoff"}]}` + "\n")
	b.WriteString(`{"id":"looks so","source":"hand","outcome":"success","labels":{"loop":{"kind":"k","onset":0,"end":0,"benign":true}},"events":[{"kind":"handoff"}]}` + "\n")
	return b.String()
}

// splice returns the runs that a seed makes of the hosts.
func splice(t *testing.T, seed uint64) string {
	var out bytes.Buffer
	if err := splicer(t, &out, seed, AllKinds).Read(t.Context(), "hosts", strings.NewReader(hosts())); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func splicer(t *testing.T, w io.Writer, seed uint64, set Kinds) *Splicer {
	t.Helper()
	s, err := New(w, seed, set)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetsOfKinds(t *testing.T) {
	made := map[Kinds][]string{}
	for _, set := range []Kinds{AllKinds, TuningKinds, ReportingKinds} {
		var out bytes.Buffer
		if err := splicer(t, &out, 3, set).Read(t.Context(), "hosts", strings.NewReader(hosts())); err != nil {
			t.Fatal(err)
		}
		made[set] = slices.Sorted(strings.Lines(out.String()))
	}
	both := slices.Sorted(slices.Values(slices.Concat(made[TuningKinds], made[ReportingKinds])))
	if !slices.Equal(both, made[AllKinds]) {
		t.Error("the kinds to tune on and the kinds to report on are not all kinds, once each")
	}
	loops, lookalikes := 0, 0
	for _, k := range kinds() {
		if k.benign {
			lookalikes++
		} else {
			loops++
		}
	}
	if loops < 539 || lookalikes < 504 || len(made[ReportingKinds]) != 2*(64+62) {
		t.Errorf("%d loops, %d lookalikes, %d runs of kinds to report on", loops, lookalikes, len(made[ReportingKinds]))
	}
	if _, err := New(io.Discard, 1, "some"); err == nil || err.Error() != `unknown kinds "some": want all, tuning or reporting` {
		t.Errorf("error %v", err)
	}
}

func TestMadeRuns(t *testing.T) {
	original := map[string][]string{}
	each(t, hosts(), func(r *eval.Run) { original[r.ID] = texts(r) })
	for seed := range uint64(6) {
		out := splice(t, seed)
		if seed == 0 && out != splice(t, seed) { // the others are made in the same way
			t.Fatalf("seed %d made two different outputs", seed)
		}
		made := map[string]int{}
		each(t, out, func(r *eval.Run) { // which checks that labels lie within the events
			id, kind, _ := strings.Cut(r.ID, "+")
			made[kind]++
			loop := r.Labels.Loop
			if loop == nil || loop.Kind != kind {
				t.Fatalf("%s is labelled %+v", r.ID, loop)
			}
			indexes := map[int]bool{}
			if err := r.Decode(func(e *unloop.Event) error { indexes[e.Index] = true; return nil }); err != nil {
				t.Fatal(err)
			}
			if len(indexes) != len(r.Events) {
				t.Fatalf("%s: of %d entries, %d gave events", r.ID, len(r.Events), len(indexes))
			}
			if got, want := loop.Onset, onset(r, len(original[id])); want >= 0 && got != want {
				t.Fatalf("%s: the onset is %d, want %d", r.ID, got, want)
			}
			if got := hostPart(r, len(original[id])); !slices.Equal(original[id], got) {
				t.Fatalf("%s: the host's events changed (-want +got):\n%s", r.ID, cmp.Diff(original[id], got))
			}
		})
		for _, k := range kinds() {
			if made[k.name] != 2 {
				t.Fatalf("%d runs of kind %s, want one for each of 2 healthy runs", made[k.name], k.name)
			}
		}
	}
}

// hostPart takes the stretch out of a run: it ends at the labelled end and is as long as the run is longer than its host.
func hostPart(r *eval.Run, host int) []string {
	all, end := texts(r), r.Labels.Loop.End+1
	return append(all[:end-(len(all)-host)], all[end:]...)
}

// onset returns where a stretch must begin: a lookalike where it stands, a loop of equal events at the first of them that
// stood there before, and -1 for other loops.
func onset(r *eval.Run, host int) int {
	loop := r.Labels.Loop
	start := loop.End + 1 - (len(r.Events) - host)
	if loop.Benign {
		return start
	}
	if loop.Kind != "exact_repeat" && !strings.HasPrefix(loop.Kind, "cycle_") {
		return -1
	}
	for k := start; ; k++ {
		said := strings.HasPrefix(string(r.Events[k]), `{"kind":"message"`)
		if !said && slices.Contains(texts(r)[start:k], string(r.Events[k])) {
			return k
		}
	}
}

func texts(r *eval.Run) []string {
	var all []string
	for _, e := range r.Events {
		all = append(all, string(e))
	}
	return all
}

func each(t *testing.T, lines string, take func(*eval.Run)) {
	err := eval.Each(t.Context(), "made", strings.NewReader(lines), func(r *eval.Run) error {
		take(r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSeedsDiffer(t *testing.T) {
	if splice(t, 1) == splice(t, 2) {
		t.Error("two seeds made the same runs")
	}
}

// What an onset is differs from kind to kind: here, the entry there must do, or bring, what an earlier one did or brought.
func TestOnset(t *testing.T) {
	same := func(part func(*entry) string) func(a, b *entry) bool {
		return func(a, b *entry) bool { return part(a) == part(b) }
	}
	whole := same(func(e *entry) string { return string(jsonOf(e)) })
	result := same(func(e *entry) string { return string(e.Result) })
	input := same(func(e *entry) string { return e.Tool + string(e.Args) })
	tool := same(func(e *entry) string { return e.Tool })
	argument := func(name string) func(a, b *entry) bool {
		return same(func(e *entry) string {
			var args map[string]any
			if err := json.Unmarshal(e.Args, &args); err != nil {
				t.Error(err)
			}
			return fmt.Sprint(args[name])
		})
	}
	picture := same(func(e *entry) string {
		_, after, _ := strings.Cut(string(e.Result), `img \"`)
		return strings.SplitN(after, `\"`, 2)[0]
	})
	said := same(func(e *entry) string { return strings.Join(strings.Fields(e.Text)[:3], " ") })
	equal := map[string]func(a, b *entry) bool{
		"volatile_result": input, "reordered_keys": result, "optional_argument": result, "one_file_by_many_commands": result,
		"reworded_query": result, "empty_result": result, "same_error": tool, "same_error_volatile": tool, "same_error_in_output": tool, "stuck_polling": input,
		"alike_messages": said,

		"install_fails": result, "grep_known_lines": tool, "push_rejected": result, "tests_with_other_flags": tool, "edit_not_found": tool,
		"edit_without_change": result, "broken_commands": tool, "same_file_by_many_tools": tool, "denied_writes": tool,
		"dead_log": result, "pods_stay_broken": input, "click_without_effect": tool, "login_redirect": tool, "pages_not_found": tool,
		"missing_column": tool, "invalid_arguments": tool, "unknown_tool": tool, "rate_limited": tool, "same_comment": tool,
		"plan_without_step": tool, "search_by_other_tools": result, "invalid_form": tool, "closed_door": tool, "export_never_ready": input,
		"same_compile_error": tool, "same_import_error": tool, "docker_build_fails": tool,

		"state_locked": tool, "snapshot_mismatch": tool, "locator_times_out": tool, "table_denied": tool, "tickets_searched_again": tool,
		"crash_inspected_again": input, "notes_rewritten": tool, "todos_rewritten": tool, "host_unreachable": tool, "human_check": tool,
		"facts_stored_again": tool, "folder_listed_again": result, "sums_rearranged": tool, "screen_unchanged": tool, "end_of_page": tool,
		"message_bounces": tool,

		"dependency_not_resolved": tool, "undefined_reference": tool, "selector_immutable": tool, "patch_rejected": tool, "loss_is_nan": tool,
		"kernel_dies": tool, "round_of_many_checks": argument("command"), "key_refused": tool, "spinner_without_progress": input,
		"stale_element": tool, "banner_returns": tool, "refund_refused": tool, "paywall_everywhere": tool, "resource_not_found": tool,
		"robot_at_wall": tool, "memory_searched_again": tool,

		"command_times_out": tool, "multiple_heads": tool, "joins_without_rows": tool,
		"use_rejected": tool, "panels_read_again": argument("expr"),
		"same_posts_in_feed": tool, "captcha_again": tool, "meeting_conflicts": tool, "drafts_rewritten": tool, "rooms_walked_again": input,
		"grasp_fails": tool, "same_finding_added": tool,

		"quote_never_closes": tool, "prompt_waits_for_keys": tool, "pattern_finds_nothing": tool, "zones_without_quota": tool,
		"heartbeats_read": tool, "gated_model": tool, "scan_without_text": tool, "payment_does_not_add_up": tool,

		"migration_dirty": tool, "device_not_listed": tool, "signature_refused": tool, "chart_redrawn": tool, "same_slots_offered": tool,
		"logs_queried_again": tool, "port_in_use": tool, "formula_broken": tool, "delegated_again": tool, "menu_opened_and_closed": tool,

		"carousel_goes_round": picture,
	}
	for _, k := range kinds() {
		_, byHand := onsetByHand[k.name]
		if k.benign || k.name == "repeating_text" || byHand {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for seed := range uint64(200) {
				entries, onset := k.build(&generator{rand.New(rand.NewPCG(seed, 0))})
				again := equal[k.name]
				if again == nil {
					again = whole
				}
				first := -1
				for n := 1; n < len(entries) && first < 0; n++ {
					for m := range n {
						if again(&entries[m], &entries[n]) {
							first = n
							break
						}
					}
				}
				if first != onset {
					t.Fatalf("seed %d: the onset is %d, but entry %d is the first that repeats another", seed, onset, first)
				}
			}
		})
	}
}

// TestOnsetByHand holds the onsets of loops for which no simple equality tells them.
func TestOnsetByHand(t *testing.T) {
	for _, k := range kinds() {
		onset, ok := onsetByHand[k.name]
		if !ok {
			continue
		}
		for seed := range uint64(50) {
			if entries, got := k.build(&generator{rand.New(rand.NewPCG(seed, 0))}); got != onset || len(entries) < onset+3 {
				t.Errorf("%s: the onset is %d of %d, want %d", k.name, got, len(entries), onset)
			}
		}
	}
}

// TestThoughts holds what agents say before their calls: some write nothing, the others have many thoughts in the seeds of a kind, and
// no text has a placeholder left.
func TestThoughts(t *testing.T) {
	allSilent := 0
	for _, k := range kinds() {
		said, silent, thoughtful := map[thought]bool{}, 0, false
		for seed := range uint64(20) {
			built, _ := k.build(&generator{rand.New(rand.NewPCG(seed, 0))})
			entries, _ := k.stretch(&generator{rand.New(rand.NewPCG(seed, 0))})
			if len(entries) == len(built) {
				silent++
			}
			for _, e := range entries {
				said[e.thought], thoughtful = true, thoughtful || e.thought != thought{}
				if text := string(jsonOf(e)); strings.Contains(e.Text, "{}") || strings.Contains(text, "%!") {
					t.Fatalf("%s, seed %d: a placeholder is left in %s", k.name, seed, text)
				}
			}
		}
		if thoughtful && (silent == 20 || len(said) < 4) {
			t.Errorf("%s: %d of 20 agents say nothing, and the others have %d thoughts", k.name, silent, len(said))
		}
		allSilent += silent
	}
	if allSilent == 0 {
		t.Error("no agent is silent")
	}
}

func TestFamiliesNameKinds(t *testing.T) {
	all := kinds()
	for _, f := range families() {
		for name := range strings.FieldsSeq(f.kinds) {
			if !slices.ContainsFunc(all, func(k kind) bool { return k.name == name }) {
				t.Errorf("there is no kind %s", name)
			}
		}
	}
}

func TestLookAlikesMove(t *testing.T) {
	for _, k := range kinds() {
		waits := []string{"retry_that_works", "wait_for_build", "user_asks_again", "scheduled_check", "deployment_awaited", "user_asks_daily", "waits_doubled", "approval_awaited"}
		if !k.benign || slices.Contains(waits, k.name) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for seed := range uint64(200) {
				entries, _ := k.build(&generator{rand.New(rand.NewPCG(seed, 0))})
				seen := map[string]bool{}
				idle := 0
				for n := range entries {
					text := string(jsonOf(entries[n]))
					if idle++; !seen[text] {
						seen[text], idle = true, 0
					}
					if idle > 2 {
						t.Fatalf("seed %d: entries %d to %d have no novelty", seed, n-2, n)
					}
				}
			}
		})
	}
}

func TestBadHost(t *testing.T) {
	bad := `{"id":"r","outcome":"success","labels":{},"events":[{"kind":"tool_call","tool":7}]}`
	err := splicer(t, &bytes.Buffer{}, 1, AllKinds).Read(t.Context(), "hosts", strings.NewReader(hosts()+bad))
	want := "hosts:6: events.0.tool: a JSON number does not fit here, want a string"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	if err := splicer(t, fullDisk{}, 1, AllKinds).Read(t.Context(), "hosts", strings.NewReader(hosts())); !errors.Is(err, errFull) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

func TestObjectKeepsItsOrder(t *testing.T) {
	got := object("z", 1, "a", "<b>", "m", []string{"x"})
	if want := `{"z":1,"a":"\u003cb\u003e","m":["x"]}`; string(got) != want || !json.Valid(got) {
		t.Errorf("%s, want %s", got, want)
	}
}
