package guard

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// guardCase is a conformance case of an acting profile.
type guardCase struct {
	Settings map[string]any `json:"settings"`
	Calls    []guardCall    `json:"calls"`
	Expect   []*struct {
		Before struct {
			Action string `json:"action"`
			Count  *int   `json:"count"`
		} `json:"before"`
		After *struct {
			Action string `json:"action"`
		} `json:"after"`
	} `json:"expect"`
}

type guardCall struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Error  *string         `json:"error"`
	Text   *string         `json:"text"`
	Turn   bool            `json:"turn"`
}

func TestConformance(t *testing.T) {
	for name, cases := range map[string]int{"agentium": 11, "cycles": 12, "attocode": 12, "loopguard": 17, "loopdetection": 12} {
		paths, err := filepath.Glob("testdata/conformance/" + name + "/*.json")
		if err != nil || len(paths) != cases {
			t.Fatalf("%d cases of %s, want %d (%v)", len(paths), name, cases, err)
		}
		for _, path := range paths {
			t.Run(name+"/"+filepath.Base(path), func(t *testing.T) { conform(t, name, path) })
		}
	}
}

func conform(t *testing.T, name, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c guardCase
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(c.Settings) // JSON is YAML too
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(profile.Source{Name: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g := New(p, Options{Now: func() time.Time { clock = clock.Add(time.Millisecond); return clock }})
	for i, call := range c.Calls {
		switch {
		case call.Turn:
			g.ResetTurn(t.Context())
			continue
		case call.Text != nil:
			g.Text(t.Context(), unloop.RoleAssistant, "", *call.Text)
			continue
		}
		want := c.Expect[i]
		made := Call{Tool: call.Tool, Args: call.Args}
		d := g.Before(t.Context(), made)
		if d.Action.String() != want.Before.Action || want.Before.Count != nil && d.Count != *want.Before.Count {
			t.Fatalf("call %d of %s: %s with count %d, want %s with %v", i, call.Tool, d.Action, d.Count, want.Before.Action, want.Before.Count)
		}
		if d.Stops() {
			continue
		}
		outcome := Outcome{Result: call.Result}
		if call.Error != nil {
			outcome = Outcome{Err: errors.New(*call.Error)}
		}
		after := g.After(t.Context(), made, outcome)
		expected := policy.Allow.String()
		if want.After != nil {
			expected = want.After.Action
		}
		if after.Action.String() != expected {
			t.Fatalf("after call %d of %s: %s, want %s", i, call.Tool, after.Action, expected)
		}
	}
}
