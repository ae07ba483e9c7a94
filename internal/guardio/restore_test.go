package guardio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/snapshot/snapshottest"
	"github.com/unloop-ai/unloop/profile"
)

// busy are lines of a run that has some of everything that a snapshot keeps.
func busy(n int) (lines []string) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for k := range n {
		tool, agent := pick("search", "read_file", "bash", "get_status", "edit_file", fmt.Sprint("tool", k%7)), pick("", "coder", "critic")
		args := pick(`{"q":"a"}`, `{"path":"a.go","line":12}`, `{"command":"go test ./..."}`, `{"command":"sleep 5"}`, `"text"`, fmt.Sprintf(`{"n":%d}`, k))
		call := fmt.Sprintf(`"run":"r","id":%d,"tool":"%s","agent":"%s","args":%s`, k, tool, agent, args)
		lines = append(lines, `{"op":"before",`+call+`}`)
		switch random.IntN(8) {
		case 0:
			lines = append(lines, `{"op":"text","run":"r","agent":"`+agent+`","text":"I will look at the file once more, and then I run all the tests again."}`)
		case 1:
			lines = append(lines, pick(`{"op":"user","run":"r","text":"go on"}`, `{"op":"progress","run":"r"}`, `{"op":"allow","run":"r"}`))
		case 2:
			lines = append(lines, `{"op":"after",`+call+`,"error":"exit status 1: a.go:12: undefined: x","duration_ms":12}`)
		case 3: // the call stays open
		default:
			lines = append(lines, `{"op":"after",`+call+`,"result":`+pick(`"same"`, `[]`, `"--- FAIL: TestX (0.01s)"`, `{"state":"queued"}`, fmt.Sprint(k))+`}`)
		}
	}
	return lines
}

// takeSnapshot returns the state of a busy run.
func takeSnapshot(t testing.TB, p *profile.Profile) string {
	t.Helper()
	all := answers(t, p, append(busy(60), `{"op":"snapshot","run":"r"}`)...)
	var kept snapshot
	if err := json.Unmarshal(read(t, all[len(all)-1]).Snapshot, &kept); err != nil || kept.State == "" || kept.MAC != "" {
		t.Fatalf("%v in the answer %.300s", err, all[len(all)-1])
	}
	return kept.State
}

func restoreLine(state, mac string) string {
	text, _ := json.Marshal(map[string]any{"op": "restore", "run": "r", "snapshot": snapshot{"any", state, mac}}) // texts can be written
	return string(text)
}

// FuzzRestore: a snapshot that was changed in any way is refused, or is that of a run which goes on, stays within its bounds, and can
// be restored again. A signed one that was changed is refused. An input costs at most 0.1 s of processor time, since Mutate bounds what
// it makes: the fuzz engine ends an input after 10 s, and a busy machine may give it a tenth of a processor.
func FuzzRestore(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		choices := make([]byte, 4*(1+random.IntN(3)))
		for k := range choices {
			choices[k] = byte(random.IntN(256))
		}
		f.Add(choices, byte(random.IntN(len(profile.Names()))))
	}
	profiles, states := make([]*profile.Profile, len(profile.Names())), make([]string, len(profile.Names()))
	for k, name := range profile.Names() {
		profiles[k] = load(f, name)
		states[k] = takeSnapshot(f, profiles[k])
	}
	more := append(busy(50), `{"op":"state","run":"r"}`, `{"op":"snapshot","run":"r"}`)
	f.Fuzz(func(t *testing.T, choices []byte, which byte) {
		k := int(which) % len(profiles)
		changed, err := snapshottest.Mutate([]byte(states[k]), choices[:min(len(choices), 40)])
		if err != nil {
			t.Fatal(err)
		}
		all := answers(t, profiles[k], append([]string{restoreLine(string(changed), "")}, more...)...)
		goesOn(t, profiles[k], all)
		overHTTP(t, profiles[k], states[k], string(changed))
	})
}

// goesOn fails if a run that was restored cannot go on: the first answer is that to the restore, the last that to a snapshot.
func goesOn(t *testing.T, p *profile.Profile, all []string) {
	t.Helper()
	restored, last := read(t, all[0]), read(t, all[len(all)-1])
	if restored.Error != nil && restored.Error.Code != "restore_failed" {
		t.Fatalf("restored with %+v", restored.Error)
	}
	for k, line := range all[1:] {
		if a := read(t, line); a.Error != nil {
			t.Fatalf("line %d behind the restore (%v): %+v", k, restored.Error, a.Error)
		}
	}
	if again := read(t, answers(t, p, `{"op":"restore","run":"r","snapshot":`+string(last.Snapshot)+`}`)[0]); again.Error != nil {
		t.Fatalf("restored again: %+v", again.Error)
	}
}

// overHTTP fails unless a signed snapshot is restored and a changed one is refused, as they come over HTTP.
func overHTTP(t *testing.T, p *profile.Profile, state, changed string) {
	t.Helper()
	signer := newSigner(t, time.Now)
	mac, err := signer.Sign(state)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(p, maxRuns, 0, signer)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Answer(t.Context(), []byte(restoreLine(state, mac)+"\n"+restoreLine(changed, mac)+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(out.String(), "\n")
	if read(t, got[0]).Error != nil {
		t.Fatalf("a signed snapshot: %s", got[0])
	}
	if e := read(t, got[1]).Error; state != changed && (e == nil || e.Code != "restore_failed" || !strings.Contains(e.Message, "its mac is")) {
		t.Fatalf("a changed snapshot: %s", got[1])
	}
}

// newSigner signs with keys that follow from their periods.
func newSigner(t testing.TB, now func() time.Time) *Signer {
	t.Helper()
	s, err := NewSigner(func(period int64) ([]byte, error) { return fmt.Appendf(nil, "the secret of period %8d", period), nil }, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSnapshotsOfEveryProfileAreRestoredAfterEveryEvent(t *testing.T) {
	for _, name := range profile.Names() {
		p := load(t, name)
		var asked []string
		for k, line := range busy(150) {
			if asked = append(asked, line); k < 20 || k%13 == 0 {
				asked = append(asked, `{"op":"snapshot","run":"r"}`)
			}
		}
		for k, line := range answers(t, p, asked...) {
			if !strings.Contains(asked[k], "snapshot") {
				continue
			}
			if a := read(t, answers(t, p, `{"op":"restore","snapshot":`+string(read(t, line).Snapshot)+`}`)[0]); a.Error != nil {
				t.Fatalf("%s: line %d: %+v", name, k, a.Error)
			}
		}
	}
}

func TestCountersNearTheirMaximumAreRejected(t *testing.T) {
	p := load(t, "default")
	state := takeSnapshot(t, p)
	for _, field := range []string{`"next":`, `"decisions":`, `"Events":`, `"ToolCalls":`, `"Calls":`, `"N":`, `"Count":`, `"Number":`, `"StepsWithoutNovelty":`, `"AssistantWords":`, `"Held":`} {
		at := strings.Index(state, field)
		if at < 0 {
			t.Fatalf("there is no %s in %.2000s", field, state)
		}
		end := at + len(field)
		for state[end] >= '0' && state[end] <= '9' {
			end++
		}
		for _, value := range []string{"9223372036854775807", "9223372036854775000", "9007199254740993", "-1"} {
			changed := state[:at+len(field)] + value + state[end:]
			if a := read(t, answers(t, p, restoreLine(changed, ""))[0]); a.Error == nil || a.Error.Code != "restore_failed" {
				t.Errorf("%s%s: %+v", field, value, a)
			}
		}
	}
}

func TestALargeOrDeepSnapshotIsRejectedBeforeItIsDecoded(t *testing.T) {
	p := load(t, "default")
	for name, state := range map[string]string{
		"too deep":  strings.Repeat(`{"watch":`, 5000),
		"too large": `{"version":1,"next":0,"stats":` + strings.Repeat(" ", 1<<24) + `}`,
	} {
		s, err := New(p, maxRuns, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.request.snapshot, _ = json.Marshal(snapshot{"default", state, ""}) // texts can be written
		if _, err := s.restored(&s.request); err == nil || !strings.Contains(err.Error(), "restore a guard: snapshot ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASnapshotIsSignedByAKeyThatRotates(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	mac, err := newSigner(t, clock).Sign("state")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name       string
		state, mac string
		later      time.Duration
		ok         bool
	}{
		{"at once", "state", mac, 0, true},
		{"after 60 days", "state", mac, 2 * keyTime, true},
		{"after 90 days", "state", mac, 3 * keyTime, false},
		{"with the clock set back", "state", mac, -keyTime, true},
		{"of another state", "other", mac, 0, false},
		{"of another period", "state", strings.Replace(mac, "v1.6", "v1.5", 1), 0, false},
		{"of another form", "state", strings.Replace(mac, "v1", "v2", 1), 0, false},
		{"cut", "state", mac[:len(mac)-4], 0, false},
		{"missing", "state", "", 0, false},
	} {
		now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(tc.later)
		if err := newSigner(t, clock).Verify(tc.state, tc.mac); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestASignerNeedsAKey(t *testing.T) {
	broken := errors.New("the store is gone")
	if _, err := NewSigner(func(int64) ([]byte, error) { return nil, broken }, time.Now); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
