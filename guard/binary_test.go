package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// play makes n random steps.
func play(t *rapid.T, g *Guard, n int) {
	for k := range n {
		c := Call{
			ID: fmt.Sprint("c", k), Tool: rapid.SampledFrom([]string{"Bash", "Read", "search"}).Draw(t, "tool"),
			Args: json.RawMessage(fmt.Sprintf(`{"command":"make %d"}`, rapid.IntRange(0, 3).Draw(t, "args"))),
		}
		if d := g.Before(context.Background(), c); d.Stops() {
			continue
		}
		o := Outcome{Result: json.RawMessage(fmt.Sprintf(`"result %d of the command"`, rapid.IntRange(0, 4).Draw(t, "result")))}
		if rapid.Bool().Draw(t, "fails") {
			o = Outcome{Err: errors.New("exit status 2")}
		}
		g.After(context.Background(), c, o)
		if rapid.IntRange(0, 9).Draw(t, "text") == 0 {
			g.Text(context.Background(), unloop.RoleAssistant, "", "I try it again, with another flag this time.")
		}
	}
}

func TestABinarySnapshotRestoresTheStateThatJSONRestores(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC) }
	rapid.Check(t, func(t *rapid.T) {
		p, err := profile.New(rapid.SampledFrom(profile.Names()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Run: "r", Now: now}
		g := New(p, o)
		play(t, g, rapid.IntRange(0, 40).Draw(t, "steps"))
		text, err := g.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		binary, err := g.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Restore(p, o, text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Restore(p, o, binary)
		if err != nil {
			t.Fatal(err)
		}
		first, err := a.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		second, err := b.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Fatalf("JSON restores\n%s\nbinary restores\n%s", first, second)
		}
	})
}

func FuzzBinarySnapshot(f *testing.F) {
	p, err := profile.New(profile.Default)
	if err != nil {
		f.Fatal(err)
	}
	g := New(p, Options{})
	for k := range 4 {
		c := Call{ID: fmt.Sprint(k), Tool: "Bash", Args: json.RawMessage(`{"command":"make"}`)}
		g.Before(context.Background(), c)
		g.After(context.Background(), c, Outcome{Result: json.RawMessage(`"ok"`)})
	}
	data, err := g.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint(20), byte(1), data)
	f.Fuzz(func(t *testing.T, at uint, flip byte, data []byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[at%uint(len(data))] ^= flip
		}
		g, err := Restore(p, Options{}, data)
		if err != nil {
			return
		}
		c := Call{ID: "x", Tool: "Bash", Args: json.RawMessage(`{"command":"make"}`)}
		g.Before(context.Background(), c)
		g.After(context.Background(), c, Outcome{Result: json.RawMessage(`"ok"`)})
	})
}

// BenchmarkBinarySnapshot measures writing and reading the state of a guard after 1,000 calls.
func BenchmarkBinarySnapshot(b *testing.B) {
	p, err := profile.New(profile.Default)
	if err != nil {
		b.Fatal(err)
	}
	g := New(p, Options{})
	for i := range 1000 {
		c := Call{ID: fmt.Sprint(i), Tool: "Bash", Args: json.RawMessage(fmt.Sprintf(`{"command":"go test ./pkg%d/ -run Test%d"}`, i%97, i))}
		g.Before(context.Background(), c)
		var text bytes.Buffer
		for k := range 40 {
			fmt.Fprintf(&text, "line %d of file %d with words like alpha%d beta%d gamma%d\n", k, i, i*k%1000, (i+k)%777, i%321)
		}
		raw, _ := json.Marshal(text.String())
		g.After(context.Background(), c, Outcome{Result: raw})
	}
	data, err := g.AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.AppendBinary(nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(data)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := Restore(p, Options{}, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
