package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/guardio"
	"github.com/unloop-ai/unloop/profile"
)

// toldBy is an answer of the guard, as a client reads it.
type toldBy struct {
	Action string
	Count  int
	Error  struct{ Code, Message string }
}

// ask sends lines to a server's guard, and returns the answer to each.
func ask(t testing.TB, url string, lines ...string) []string {
	t.Helper()
	text := string(post(t, url, "application/x-ndjson", []byte(strings.Join(lines, "\n")+"\n")))
	answers := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	return answers
}

// askOne asks one line.
func askOne(t *testing.T, url string, line map[string]any) toldBy {
	t.Helper()
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	return decoded[toldBy](t, []byte(ask(t, url, string(text))[0]))
}

// TestGuardConformanceOverHTTP plays the cases of the acting profiles, all against one server.
func TestGuardConformanceOverHTTP(t *testing.T) {
	paths, err := filepath.Glob("../../guard/testdata/conformance/*/*.json")
	if err != nil || len(paths) != 64 {
		t.Fatalf("%d cases, want 64 (%v)", len(paths), err)
	}
	onEachKindOfSite(t, func(t *testing.T, start startSite) {
		url := start(t, nil).servers[0] // which has the guards of its runs
		for _, path := range paths {
			name := filepath.Base(filepath.Dir(path))
			t.Run(name+"/"+filepath.Base(path), func(t *testing.T) { conformOverHTTP(t, url, name, path) })
		}
	})
}

func conformOverHTTP(t *testing.T, url, name, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := decoded[struct {
		Settings map[string]json.RawMessage
		Calls    []struct {
			Tool         string
			Args, Result json.RawMessage
			Error, Text  *string
			Turn         bool
		}
		Expect []*struct {
			Before struct {
				Action string
				Count  *int
			}
			After *struct{ Action string }
		}
	}](t, text)
	guard := guardURL(url, name, c.Settings)
	for i, call := range c.Calls {
		line := map[string]any{"op": "before", "run": path, "tool": call.Tool, "args": call.Args}
		switch {
		case call.Turn:
			askOne(t, guard, map[string]any{"op": "user", "run": path})
			continue
		case call.Text != nil:
			askOne(t, guard, map[string]any{"op": "text", "run": path, "text": *call.Text})
			continue
		case call.Args == nil:
			delete(line, "args")
		}
		want := c.Expect[i]
		got := askOne(t, guard, line)
		if got.Action != want.Before.Action || want.Before.Count != nil && got.Count != *want.Before.Count {
			t.Fatalf("call %d of %s: %+v, want %s with %v", i, call.Tool, got, want.Before.Action, want.Before.Count)
		}
		if got.Action == "block" || got.Action == "halt" {
			continue
		}
		line["op"] = "after"
		if call.Error != nil {
			line["error"] = *call.Error
		} else if call.Result != nil {
			line["result"] = call.Result
		}
		expected := "allow"
		if want.After != nil {
			expected = want.After.Action
		}
		if got := askOne(t, guard, line); got.Action != expected {
			t.Fatalf("after call %d of %s: %+v, want %s", i, call.Tool, got, expected)
		}
	}
}

// guardURL is where a profile with some settings answers.
func guardURL(url, profile string, settings map[string]json.RawMessage) string {
	query := neturl.Values{"profile": {profile}}
	for name, value := range settings {
		query.Add("set", name+"="+string(value))
	}
	return url + "/api/guard?" + query.Encode()
}

func TestTheGuardOverHTTPAnswersAsOverStreams(t *testing.T) {
	url := serve(t, nil)
	lines := []string{
		`{"op":"before","id":1,"tool":"search","args":{"q":"loops"}}`, `{"op":"after","id":1,"tool":"search","result":[]}`, ``, `no JSON`, `{"op":"nothing"}`,
		`{"op":"user","id":{"a":1},"text":"` + "\xff" + `"}`, `{"op":"state"}`, `{"op":"reset"}`,
	}
	for range 12 {
		lines = append(lines, lines[0], lines[1])
	}
	var streams bytes.Buffer
	p, err := profile.New("agentium")
	if err != nil {
		t.Fatal(err)
	}
	if err := guardio.Serve(t.Context(), p, guardio.Extras{}, strings.NewReader(strings.Join(lines, "\n")), &streams); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(ask(t, url+"/api/guard?profile=agentium", lines...), "\n") + "\n"
	if diff := cmp.Diff(streams.String(), got); diff != "" || !strings.Contains(got, `"action":"block"`) {
		t.Errorf("over streams (-), over HTTP (+):\n%s", diff)
	}
}

func TestAGuardWithoutAProfileNameHasThatOfTheServer(t *testing.T) {
	url := serve(t, func(c *config.Config) { c.Profile, c.Settings = "agentium", config.Settings{"max_repeats": "1"} })
	const line = `{"op":"before","tool":"search","args":{"q":"loops"}}`
	for _, query := range []string{"", "?profile=agentium"} {
		ask(t, url+"/api/guard"+query, `{"op":"reset"}`, line)
		if got := ask(t, url+"/api/guard"+query, line)[0]; !strings.Contains(got, `"action":"block"`) {
			t.Errorf("%q: the second call: %s", query, got)
		}
	}
	if got := ask(t, url+"/api/guard?profile=agentium&set=max_repeats=3", line, line, line)[2]; !strings.Contains(got, `"action":"allow"`) {
		t.Errorf("settings of one's own, and a run that others do not share: %s", got)
	}
	var runs []api.RunSummary
	if unmarshal(t, get(t, url+"/api/runs"), &runs); len(runs) != 0 {
		t.Errorf("the server recorded %+v", runs)
	}
}

func TestInvalidProfilesAndSettingsOfAGuardAreReported(t *testing.T) {
	url := serve(t, nil)
	for query, want := range map[string]string{
		"profile=nothing":            `unknown profile "nothing"`,
		"set=cycle_rounds=0":         "cycle_rounds is 0; it must be from 2 to 100",
		"set=patience=1":             `unknown setting "patience"`,
		"set=nudges={any: endless}":  "requests cannot set texts",
		"set=tools={a: {nudges: 1}}": "tools.a.nudges: nudges is a setting of the whole profile",
	} {
		answer, err := http.Post(url+"/api/guard?"+strings.ReplaceAll(query, " ", "%20"), "application/x-ndjson", strings.NewReader("{}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var p api.Problem
		err = json.NewDecoder(answer.Body).Decode(&p)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusBadRequest || !strings.Contains(p.Reason, want) {
			t.Errorf("%s: %d %+v (%v)", query, answer.StatusCode, p, err)
		}
	}
}

func TestALineOverTheLimitIsRejectedAndTheNextIsRead(t *testing.T) {
	url := serve(t, func(c *config.Config) { c.Limits.Body = 40 << 20 })
	frame := `{"op":"user","id":1,"text":""}`
	long := strings.Replace(frame, `""`, `"`+strings.Repeat("x", 16<<20-len(frame))+`"`, 1)
	got := ask(t, url+"/api/guard", long, long+" ", frame)
	if !strings.Contains(got[0], `"action":"allow"`) || !strings.Contains(got[1], `"id":null,"error":{"code":"line_too_long"`) || got[2] != got[0] {
		t.Errorf("%s\n%s\n%s", got[0], got[1], got[2])
	}
}

func TestRunsOfManyClientsAreGuardedIndependently(t *testing.T) {
	url := serve(t, nil) + "/api/guard?profile=agentium"
	const clients, calls = 20, 50
	said := make([][]string, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for k := range calls {
				line := fmt.Sprintf(`{"op":"before","id":%d,"run":"r%d","tool":"t%d","args":{"n":%d}}`, k, c, c, k%(c%5+1))
				said[c] = append(said[c], string(post(t, url, "", []byte(line))))
			}
		})
	}
	all.Wait()
	for c := range clients {
		var lines []string
		for k := range calls {
			lines = append(lines, fmt.Sprintf(`{"op":"before","id":%d,"run":"r%d","tool":"t%d","args":{"n":%d}}`, k, c, c, k%(c%5+1)))
		}
		p, err := profile.New("agentium")
		if err != nil {
			t.Fatal(err)
		}
		var alone bytes.Buffer
		if err := guardio.Serve(t.Context(), p, guardio.Extras{}, strings.NewReader(strings.Join(lines, "\n")), &alone); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone.String(), strings.Join(said[c], "")); diff != "" {
			t.Fatalf("client %d, alone (-) and among others (+):\n%s", c, diff)
		}
	}
}

func TestOnlySnapshotsSignedByTheServerAreRestored(t *testing.T) {
	db := filepath.Join(t.TempDir(), "kept.db")
	atDB := func(c *config.Config) { c.DB = db }
	const line = `{"op":"before","run":"a","tool":"search","args":{"q":"loops"}}`
	var told, child struct{ Snapshot struct{ State, MAC string } }
	t.Run("a server returns the snapshot", func(t *testing.T) {
		url := serve(t, atDB) + "/api/guard?profile=agentium"
		told = decoded[struct{ Snapshot struct{ State, MAC string } }](t, []byte(ask(t, url, line, line, line, `{"op":"snapshot","run":"a"}`)[3]))
	})
	p, err := profile.New("agentium")
	if err != nil {
		t.Fatal(err)
	}
	var streams bytes.Buffer
	if err := guardio.Serve(t.Context(), p, guardio.Extras{}, strings.NewReader(`{"op":"snapshot"}`), &streams); err != nil {
		t.Fatal(err)
	}
	child = decoded[struct{ Snapshot struct{ State, MAC string } }](t, streams.Bytes())
	url := serve(t, atDB) + "/api/guard?profile=agentium" // the next server of the same store
	restore := func(url, state, mac string) toldBy {
		snapshot := map[string]string{"profile": "agentium", "state": state, "mac": mac}
		return askOne(t, url, map[string]any{"op": "restore", "run": "b", "snapshot": snapshot})
	}
	if got := restore(url, told.Snapshot.State, told.Snapshot.MAC); got.Error.Code != "" {
		t.Fatalf("its own, after a restart: %+v", got)
	}
	if got := ask(t, url, strings.Replace(line, `"a"`, `"b"`, 1))[0]; !strings.Contains(got, `"action":"block"`) {
		t.Errorf("the call behind the three that the snapshot holds: %s", got)
	}
	for name, forged := range map[string][2]string{
		"changed":             {strings.Replace(told.Snapshot.State, `"next":3`, `"next":4`, 1), told.Snapshot.MAC},
		"without a mac":       {told.Snapshot.State, ""},
		"of a child process":  {child.Snapshot.State, child.Snapshot.MAC},
		"with numbers at end": {strings.ReplaceAll(told.Snapshot.State, ":3", ":9223372036854775807"), ""},
	} {
		if got := restore(url, forged[0], forged[1]); got.Error.Code != "restore_failed" || !strings.Contains(got.Error.Message, "its mac is") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := restore(serve(t, nil)+"/api/guard?profile=agentium", told.Snapshot.State, told.Snapshot.MAC); got.Error.Code != "restore_failed" {
		t.Errorf("by a server with another store: %+v", got)
	}
}

func TestTheLeastRecentlyUsedGuardIsEvicted(t *testing.T) {
	url := serve(t, nil) + "/api/guard?profile=agentium&set=max_repeats="
	calls := func(guard int) string {
		ask(t, fmt.Sprint(url, guard), `{"op":"before","tool":"search"}`)
		return ask(t, fmt.Sprint(url, guard), `{"op":"state"}`)[0]
	}
	for guard := 1; guard <= maxGuards; guard++ {
		calls(guard)
	}
	calls(1)
	calls(maxGuards + 1)
	if kept := calls(1); !strings.Contains(kept, `"calls":3`) {
		t.Errorf("the guard that was used again: %s", kept)
	}
	if forgotten := calls(2); !strings.Contains(forgotten, `"calls":1`) {
		t.Errorf("that which was not: %s", forgotten)
	}
}

// BenchmarkGuardOverHTTP measures a line and its answer over a connection of its own, by one client and by several at once.
func BenchmarkGuardOverHTTP(b *testing.B) {
	url := serve(b, nil) + "/api/guard"
	line := []byte(`{"op":"before","id":1,"run":"r","tool":"search","args":{"q":"loops"}}` + "\n")
	b.Run("one client", func(b *testing.B) {
		for b.Loop() {
			post(b, url, "", line)
		}
	})
	b.Run("eight clients", func(b *testing.B) {
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				post(b, url, "", line)
			}
		})
	})
}
