package price

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// own is a table of a user, with round prices.
const own = `
my-model: {input: 1, output: 10, cached_input: 0.5, cache_write: 2, as_of: 2026-11-21, source: contract}
my-model-mini: {input: 0.25, output: 1}
openrouter/my-model: {input: 3, output: 4}
ACME.Big-2.5: {input: 7, output: 7}
`

func load(t testing.TB, overrides string) *Table {
	t.Helper()
	table, err := Load("my.yaml", []byte(overrides))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestCost(t *testing.T) {
	table := load(t, own)
	for name, tc := range map[string]struct {
		model string
		usage unloop.Usage
		total int64
		want  float64
		known bool
	}{
		"input and output":                    {"my-model", unloop.Usage{Input: 1e6, Output: 1e5}, 0, 2, true},
		"input includes what a cache holds":   {"my-model", unloop.Usage{Input: 1e6, CachedInput: 4e5, CacheWrite: 1e5}, 0, 0.5 + 0.2 + 0.2, true},
		"input that cannot include it":        {"my-model", unloop.Usage{Input: 1e5, CachedInput: 4e5, CacheWrite: 1e5}, 0, 0.1 + 0.2 + 0.2, true},
		"a cache costs as input by default":   {"my-model-mini", unloop.Usage{Input: 1e6, CachedInput: 5e5, CacheWrite: 5e5}, 0, 0.25, true},
		"only a total":                        {"my-model", unloop.Usage{}, 1e6, 1, true},
		"a total that is told apart":          {"my-model", unloop.Usage{Input: 1e6, Output: 1e5}, 11e5, 2, true},
		"a total with more than is told":      {"my-model", unloop.Usage{Input: 1e6, Output: 1e5}, 12e5, 2.1, true},
		"a total with less":                   {"my-model", unloop.Usage{Input: 1e6}, 5, 1, true},
		"no tokens":                           {"my-model", unloop.Usage{}, 0, 0, false},
		"negative counts":                     {"my-model", unloop.Usage{Input: -1e6, Output: 1e5, CachedInput: -1, CacheWrite: -1}, -5, 1, true},
		"an unknown model":                    {"your-model", unloop.Usage{Input: 1e6}, 0, 0, false},
		"counts that would overflow together": {"my-model", unloop.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64, 11 * (math.MaxInt64 / 1e6), true},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := table.Cost(tc.model, tc.usage, tc.total)
			if known != tc.known || math.Abs(got-tc.want) > 1e-9*max(tc.want, 1) {
				t.Errorf("got %v, %v, want %v, %v", got, known, tc.want, tc.known)
			}
		})
	}
}

func TestFind(t *testing.T) {
	table := load(t, own)
	for model, as := range map[string]string{
		"gpt-4o-2024-08-06":                              "gpt-4o",
		"gpt-4o-2024-05-13":                              "gpt-4o-2024-05-13",
		"GPT-4o-Mini":                                    "gpt-4o-mini",
		"gpt-4-0613":                                     "gpt-4",
		"openai/gpt-5.1-chat-latest":                     "gpt-5.1-chat",
		"azure/gpt-4.1-2025-04-14":                       "gpt-4.1",
		"anthropic/claude-sonnet-4.5":                    "claude-sonnet-4-5",
		"anthropic/claude-3.5-haiku":                     "claude-3-5-haiku",
		"claude-sonnet-4-20250514":                       "claude-sonnet-4",
		"claude-sonnet-4@20250514":                       "claude-sonnet-4",
		"claude-opus-4-7[1m]":                            "claude-opus-4-7",
		"us.anthropic.claude-3-5-sonnet-20241022-v2:0":   "claude-3-5-sonnet",
		"bedrock/anthropic.claude-3-haiku-20240307-v1:0": "claude-3-haiku",
		"models/gemini-2.5-flash-preview-09-2025":        "gemini-2.5-flash",
		"gemini-2.0-flash-001":                           "gemini-2.0-flash",
		"openrouter/google/gemini-2.5-pro-preview-05-06": "gemini-2.5-pro",
		"gemini-2.5-pro-exp-03-25":                       "gemini-2.5-pro",
		"groq/llama-3.3-70b-versatile":                   "llama-3.3-70b-versatile",
		"groq/meta-llama/llama-4-scout-17b-16e-instruct": "groq/meta-llama/llama-4-scout-17b-16e-instruct",
		"my-model":            "my-model",
		"openrouter/my-model": "openrouter/my-model",
		"acme-big.2-5":        "acme-big-2-5",
		"arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-3-opus-20240229-v1:0": "claude-3-opus",
	} {
		t.Run(model, func(t *testing.T) {
			got, ok := table.Find(model)
			if want := table.prices[string(canonical(nil, as))]; !ok || got != want || want == (Price{}) {
				t.Errorf("got %v, %v, want %v", got, ok, want)
			}
		})
	}
	for _, model := range []string{
		"", "-", "/", "gpt", "gpt-4o-audio-preview", "gpt-4o-realtime", "gpt-4-32k", "gpt-5-", "gpt-5.9", "gpt-4o:free",
		"claude-opus-4-9", "claude-opus-4-10", "claude-opus-4-10-20261201", "o3x", "gpt-4o-v", "mistral-large-9999",
		"meta-llama/llama-4-scout-17b-16e-instruct", "together/meta-llama/llama-4-scout-17b-16e-instruct",
		"gpt-4o" + strings.Repeat("-latest", 99), strings.Repeat("-", 256), strings.Repeat("/", 1000), strings.Repeat("a", 300) + "/gpt-4o",
	} {
		t.Run("not "+model, func(t *testing.T) {
			if got, ok := table.Find(model); ok {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Run("an entry replaces the built-in one as a whole", func(t *testing.T) {
		got, _ := load(t, "GPT-4o: {input: 1, output: 2}").Find("gpt-4o-2024-11-20")
		if diff := cmp.Diff(Price{Input: 1, Output: 2, CachedInput: 1, CacheWrite: 1}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an absent document is valid", func(t *testing.T) {
		for _, text := range []string{"", "# nothing yet\n", "~"} {
			if _, ok := load(t, text).Find("gpt-4o"); !ok {
				t.Errorf("%q: gpt-4o is unknown", text)
			}
		}
	})
	t.Run("every mistake has its file, line and field", func(t *testing.T) {
		_, err := Load("my.yaml", []byte(strings.Join([]string{
			"a: {input: 1}",
			"b: {input: -1, output: x}",
			"c: 5",
			"d: {input: 1, output: 1, in: 2}",
			"e: {input: 1, input: 2, output: 1, as_of: yesterday}",
			"f:",
			"  input: 1",
			"  output: [2]",
			"A: {input: 1, output: 1e9}",
		}, "\n")))
		want := []string{
			"my.yaml:1: a: output is missing",
			`my.yaml:2: b: input: invalid price "-1": want dollars per million tokens, 0 to 100000`,
			`my.yaml:2: b: output: invalid price "x": want dollars per million tokens, 0 to 100000`,
			"my.yaml:3: c: want the fields input, output, cached_input, cache_write, as_of, source",
			`my.yaml:4: d: unknown field "in"; fields: input, output, cached_input, cache_write, as_of, source`,
			"my.yaml:5: e: input is given twice",
			`my.yaml:5: e: as_of: invalid day "yesterday": want a day such as 2026-11-21`,
			`my.yaml:8: f: output: invalid price "": want dollars per million tokens, 0 to 100000`,
			"my.yaml:9: A is a duplicate of line 1",
			`my.yaml:9: A: output: invalid price "1e9": want dollars per million tokens, 0 to 100000`,
		}
		if err == nil {
			t.Fatal("no error")
		}
		if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an invalid table is an error", func(t *testing.T) {
		for text, want := range map[string]string{
			"- a":                                "my.yaml:1: want a mapping of models",
			"a: [":                               "my.yaml: line 1",
			`"": {input: 1, output: 1}`:          "my.yaml:1: the name of a model must have 1 to 256 bytes",
			"a: &x {input: 1, output: 1}\nb: *x": "my.yaml:2: b: want the fields",
		} {
			if _, err := Load("my.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %v, want %s", text, err, want)
			}
		}
	})
}

func TestBuiltIn(t *testing.T) {
	for name, p := range load(t, "").prices {
		if _, err := time.Parse(time.DateOnly, p.AsOf); err != nil || p.Source == "" {
			t.Errorf("%s: as_of %q, source %q", name, p.AsOf, p.Source)
		}
		if p.Input <= 0 || p.Output < p.Input || p.CachedInput > p.Input || p.CacheWrite < p.Input || p.CacheWrite > 2*p.Input {
			t.Errorf("%s: %+v cannot be right", name, p)
		}
	}
}

func TestCostAllocatesNothing(t *testing.T) {
	table := load(t, "")
	for _, model := range []string{"gpt-4o", "us.anthropic.claude-3-5-sonnet-20241022-v2:0", "unknown/" + strings.Repeat("Model-12-", 20)} {
		if n := testing.AllocsPerRun(100, func() { table.Cost(model, unloop.Usage{Input: 5}, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", model, n)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(own, "my-model-2026-01-01")
	f.Add("a: {input: 1, output: .inf}", "x/us.a-latest:0[1m]")
	f.Fuzz(func(t *testing.T, text, model string) {
		table, err := Load("x.yaml", []byte(text))
		if err != nil {
			return
		}
		dollars, _ := table.Cost(model, unloop.Usage{Input: 5, Output: math.MaxInt64, CachedInput: -1}, 1)
		if !(dollars >= 0) || math.IsInf(dollars, 0) {
			t.Errorf("%q costs %v", model, dollars)
		}
	})
}

func BenchmarkCost(b *testing.B) {
	table := load(b, "")
	for name, model := range map[string]string{
		"by its name": "gpt-4o", "by a version of a cloud": "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
		"unknown": "ollama/qwen2.5-coder:32b-instruct-q4_K_M", "hostile": strings.Repeat("/", 20) + strings.Repeat("-20", 78),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Cost(model, unloop.Usage{Input: 1200, Output: 300, CachedInput: 1000}, 0)
			}
		})
	}
}
