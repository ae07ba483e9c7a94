// Package ingesttest is the test suite of decoders: golden events for each fixture, and a fuzz target.
package ingesttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Decode decodes data and returns the events and the warnings.
func Decode(format ingest.Format, data []byte) (events []*unloop.Event, warnings []string, err error) {
	in := ingest.NewInput("input", "run", bytes.NewReader(data))
	in.Warn = func(b *ingest.BadInput) { warnings = append(warnings, b.Error()) }
	err = format.Decode(in, func(e *unloop.Event) error {
		events = append(events, e.Clone())
		return nil
	})
	return events, warnings, err
}

// Short decodes data and returns a line for each event: its index, type and what else it has.
func Short(t *testing.T, format ingest.Format, data string) []string {
	t.Helper()
	events, _, err := Decode(format, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var short []string
	for _, e := range events {
		line := fmt.Sprintln(e.Index, e.Type, e.Agent, e.CallID, e.Tool, e.Role, e.Text, string(e.Input), string(e.Output), string(e.Error), e.Model)
		if u := e.Usage; u != nil {
			line += fmt.Sprintf("tokens=%d %+v", e.Tokens, *u)
		}
		if e.Cost > 0 {
			line += fmt.Sprintf(" cost=%g", e.Cost)
		}
		short = append(short, strings.Join(strings.Fields(line), " "))
	}
	return short
}

// Refused checks that the format rejects data with a BadInput for the field whose reason begins with reason.
func Refused(t *testing.T, format ingest.Format, data, field, reason string) {
	t.Helper()
	_, _, err := Decode(format, []byte(data))
	var bad *ingest.BadInput
	if !errors.As(err, &bad) {
		t.Fatalf("err = %v, want a BadInput", err)
	}
	if bad.Field != field || !strings.HasPrefix(bad.Reason, reason) {
		t.Errorf("got field %q, reason %q; want %q, %q", bad.Field, bad.Reason, field, reason)
	}
}

// Golden decodes every fixture in testdata and compares the events, one JSON object per line, with the file of the same name that
// ends in .golden. Each fixture must be sniffed as the format and must give events.
func Golden(t *testing.T, format ingest.Format, pattern string) {
	t.Helper()
	fixtures, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("no fixtures match testdata/%s (%v)", pattern, err)
	}
	for _, fixture := range fixtures {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			data, err := os.ReadFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			if !format.Sniff(data[:min(len(data), 64<<10)]) {
				t.Errorf("not sniffed as %s", format.Name)
			}
			events, _, err := Decode(format, data)
			if err != nil {
				t.Fatal(err)
			}
			if len(events) == 0 {
				t.Fatal("no events")
			}
			goldentest.Compare(t, strings.TrimSuffix(fixture, filepath.Ext(fixture))+".golden", []byte(lines(t, events)))
		})
	}
}

func lines(t *testing.T, events []*unloop.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		line, err := json.Marshal(struct {
			Index int `json:"index"`
			*unloop.Event
		}{e.Index, e})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Fuzz decodes hostile input, beginning with the fixtures. The decoder must not panic, an error must be a BadInput, and each
// event must survive its wire form unchanged.
func Fuzz(f *testing.F, format ingest.Format, pattern string) {
	fixtures, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(fixtures) == 0 {
		f.Fatalf("no fixtures match testdata/%s (%v)", pattern, err)
	}
	for _, fixture := range fixtures {
		data, err := os.ReadFile(fixture)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format.Sniff(data)
		events, _, err := Decode(format, data)
		var bad *ingest.BadInput
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("refused with %T, not a BadInput: %v", err, err)
		}
		for _, e := range events {
			again := roundTrip(t, e)
			if want, got := lines(t, []*unloop.Event{e}), lines(t, []*unloop.Event{again}); want != got {
				t.Fatalf("an event changed on the wire:\n%s%s", want, got)
			}
		}
	})
}

func roundTrip(t *testing.T, e *unloop.Event) *unloop.Event {
	t.Helper()
	wire, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("an event cannot be written: %v", err)
	}
	again := &unloop.Event{Index: e.Index}
	if err := json.Unmarshal(wire, again); err != nil {
		t.Fatalf("an event cannot be read back: %v\n%s", err, wire)
	}
	return again
}
