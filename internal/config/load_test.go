package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/settings"
)

// load loads a configuration from a file with the text.
func load(t *testing.T, text string, src Source) (*Loaded, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src.Path = "c.yaml"
	return Load(src)
}

func TestLoadReadsEverySetting(t *testing.T) {
	got, err := load(t, `
addr: "[::1]:0"
grpc_addr: off
url: https://unloop.example.com
db: postgres://u:p@db/unloop
profile: looplens
settings: {cost_budget: 0.5, nudges: {any: "one  two\nthree"}}
project: shop
hosts: [unloop.example.com, other]
origins: [https://app.example.com]
tokens:
  - {name: ci, scope: ingest, sha256: `+strings.Repeat("ab", 32)+`}
limits: {body: 1MiB, batch: 10, depth: 64, connections: 9, queue_events: 10_000, queue_bytes: 2GB, trace_bytes: 1048576}
retention: {age: 30d, size: 2GiB}
idle_close: 1h30m
idle_memory: 90s
live_runs: 7
memory: 2GiB
content: none
search: true
mask: {disabled: true, patterns: ['x-[0-9]+']}
prices: prices.yaml
webhooks:
  - {url: https://example.com/a, format: slack, secret: s, rules: [cycle], severity: critical, projects: [shop], timeout: 3s}
otlp_export: {endpoint: "https://collector.example.com", protocol: grpc, headers_env: HEADERS}
langfuse: {endpoint: "https://langfuse.example.com", public_key: pk, secret_key_env: SECRET}
second_opinion: {endpoint: "https://models.example.com/v1", model: m, api_key_env: KEY, wait: 1s, timeout: 2s, per_run: 3, per_hour: 4, max_tokens: 500}
proxy: {addr: "127.0.0.1:4141", mode: guard, on_halt: error, openai_upstream: "http://o", anthropic_upstream: "http://a", gemini_upstream: "http://g", session_budget: calls=1, key_budget: cost=2, project_budget: time=3h}
cluster: {nats: "nats://n:4222", roles: "ingest,api", replicas: 5, stream_size: 1GiB}
shadow: {profile: cycles, settings: {ignore: [a]}}
log: {level: debug, format: json}
`, Source{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Addr: "[::1]:0", GRPCAddr: Off, URL: "https://unloop.example.com", DB: "postgres://u:p@db/unloop", Profile: "looplens",
		Settings: Settings{"cost_budget": "0.5", "nudges": `{"any":"one  two\nthree"}`}, Project: "shop",
		Hosts: []string{"unloop.example.com", "other"}, Origins: []string{"https://app.example.com"},
		Tokens: []Token{{"ci", "ingest", strings.Repeat("ab", 32)}},
		Limits: Limits{
			Body: 1 << 20, Batch: 10, Depth: 64, Connections: 9, QueueEvents: 10_000,
			QueueBytes: 2_000_000_000, TraceBytes: 1 << 20,
		},
		Retention: Retention{Age: Duration(30 * day), Size: 2 << 30},
		IdleClose: Duration(90 * time.Minute), IdleMemory: Duration(90 * time.Second), LiveRuns: 7, Memory: 2 << 30, Content: "none", Search: true,
		Mask: Mask{Disabled: true, Patterns: []string{"x-[0-9]+"}}, Prices: "prices.yaml",
		Webhooks: []Webhook{{
			URL: "https://example.com/a", Format: "slack", Secret: "s", Rules: []string{"cycle"}, Severity: "critical",
			Projects: []string{"shop"}, Timeout: Duration(3 * time.Second),
		}},
		OTLPExport: OTLPExport{Endpoint: "https://collector.example.com", Protocol: "grpc", HeadersEnv: "HEADERS"},
		Langfuse:   Langfuse{Endpoint: "https://langfuse.example.com", PublicKey: "pk", SecretKeyEnv: "SECRET"},
		SecondOpinion: SecondOpinion{
			Endpoint: "https://models.example.com/v1", Model: "m", APIKeyEnv: "KEY", Wait: Duration(time.Second), Timeout: Duration(2 * time.Second),
			PerRun: 3, PerHour: 4, MaxTokens: 500,
		},
		Proxy: Proxy{
			Addr: "127.0.0.1:4141", Mode: "guard", OnHalt: "error", OpenAI: "http://o", Anthropic: "http://a", Gemini: "http://g",
			SessionBudget: "calls=1", KeyBudget: "cost=2", ProjectBudget: "time=3h",
		},
		Cluster: Cluster{NATS: "nats://n:4222", Roles: "ingest,api", Replicas: 5, StreamSize: 1 << 30},
		Shadow:  Shadow{"cycles", Settings{"ignore": `["a"]`}},
		Log:     Log{Level: "debug", Format: "json"},
	}
	if diff := cmp.Diff(want, got.Config); diff != "" {
		t.Error(diff)
	}
	for f, v := range fields("", reflect.ValueOf(got.Config).Elem()) {
		if v.IsZero() {
			t.Errorf("this test does not set %s", f.path)
		}
	}
	p, err := got.LoadProfile()
	if err != nil || p.Name() != "looplens" {
		t.Errorf("profile %v, error %v", p, err)
	}
}

func TestLoadPrefersFlagsThenTheEnvironmentThenTheFile(t *testing.T) {
	got, err := load(t, "addr: 127.0.0.1:1\nproject: file\nlive_runs: 5\nsettings: {repeat_weight: 3, same_results: 6}\nhosts: [a]\n", Source{
		Env:   []string{"UNLOOP_ADDR=127.0.0.1:2", "UNLOOP_PROJECT=env", "UNLOOP_HOSTS=b, c", "UNLOOP_SETTINGS={same_results: 7, same_errors: 8}", "UNLOOP_LIMITS_BODY=1MiB", "UNLOOP_GRPC_ADDR="},
		Flags: []Flag{{"--addr", "addr", "127.0.0.1:3"}},
		Sets:  []string{"same_errors=9"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Addr, want.Project, want.LiveRuns, want.Hosts, want.Limits.Body = "127.0.0.1:3", "env", 5, []string{"b", "c"}, 1<<20
	want.Settings = Settings{"repeat_weight": "3", "same_results": "7", "same_errors": "9"}
	if diff := cmp.Diff(want, got.Config); diff != "" {
		t.Error(diff)
	}
}

func TestEverySettingHasADifferentVariable(t *testing.T) {
	values := map[string]string{
		"addr": "127.0.0.1:1", "grpc_addr": "off", "url": "http://x", "db": "a: b", "profile": "looplens", "settings": "{same_errors: 9}",
		"project": "p", "hosts": "[h]", "origins": "http://o", "tokens": "[{name: n, scope: read, sha256: " + strings.Repeat("0", 64) + "}]",
		"limits.body": "2KiB", "limits.batch": "3", "limits.depth": "12", "limits.connections": "2",
		"limits.queue_events": "20000", "limits.queue_bytes": "64MiB", "limits.trace_bytes": "3MiB", "retention.age": "1d", "retention.size": "3GiB",
		"idle_close": "1m", "idle_memory": "1m", "live_runs": "3", "memory": "1GiB", "content": "excerpts", "search": "false", "shadow.profile": "cycles", "shadow.settings": "{same_errors: 9}", "mask.disabled": "true", "mask.patterns": "a,b", "prices": "p",
		"webhooks": "[{url: http://w}]", "log.level": "warn", "log.format": "json",
		"otlp_export.endpoint": "http://c", "otlp_export.protocol": "grpc", "otlp_export.headers_env": "HEADERS",
		"langfuse.endpoint": "http://l", "langfuse.public_key": "pk", "langfuse.secret_key_env": "SECRET",
		"second_opinion.endpoint": "http://m/v1", "second_opinion.model": "m", "second_opinion.api_key_env": "KEY", "second_opinion.wait": "1s",
		"second_opinion.timeout": "2s", "second_opinion.per_run": "3", "second_opinion.per_hour": "4", "second_opinion.max_tokens": "500",
		"proxy.addr": "127.0.0.1:4141", "proxy.mode": "guard", "proxy.on_halt": "error", "proxy.openai_upstream": "http://o",
		"proxy.anthropic_upstream": "http://a", "proxy.gemini_upstream": "http://g", "proxy.session_budget": "calls=1", "proxy.key_budget": "cost=2",
		"proxy.project_budget": "time=3h",
		"cluster.nats":         "nats://n:4222", "cluster.roles": "work,ingest,api", "cluster.replicas": "1", "cluster.stream_size": "1GiB",
	}
	t.Chdir(t.TempDir())
	all := make(map[string]string)
	for f := range fields("", reflect.ValueOf(Config{})) {
		if other, taken := all[f.env]; taken {
			t.Errorf("%s is %s and %s", f.env, other, f.path)
		}
		all[f.env] = f.path
		got, err := Load(Source{Env: []string{f.env + "=" + values[f.path]}})
		switch {
		case err != nil:
			t.Errorf("%s: %v", f.path, err)
		case cmp.Equal(got.Config, Default()):
			t.Errorf("%s has no effect", f.env)
		}
	}
}

func TestLoadReportsEveryErrorWithItsPlace(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		src        Source
		want       []string
	}{
		{"an unknown name, and a near one", "adr: x", Source{}, []string{"c.yaml:1: unknown setting \"adr\"; did you mean addr?"}},
		{"a name of another group", "\nbody: 1MiB", Source{}, []string{"c.yaml:2: unknown setting \"body\"; did you mean limits.body?"}},
		{"an unknown name in a group", "limits:\n  bdoy: 1MiB", Source{}, []string{"c.yaml:2: unknown setting \"limits.bdoy\"; did you mean limits.body?"}},
		{"an unknown name in a list", "tokens:\n  - nmae: x", Source{}, []string{"c.yaml:2: unknown setting \"tokens[0].nmae\"; did you mean tokens[0].name?"}},
		{"an unknown name, and none near", "limits: {thingamajig: 1}", Source{}, []string{"unknown setting \"limits.thingamajig\"; settings: body, batch, "}},
		{"a name twice", "project: a\nproject: b", Source{}, []string{"c.yaml:2: project is set twice"}},
		{"a size", "limits:\n  body: 16 megs", Source{}, []string{`c.yaml:2: limits.body: invalid size "16 megs": want a size such as 512KiB, 16MiB or 2GiB`}},
		{"a size that is too much", "limits:\n  body: 9999999999GiB", Source{}, []string{`limits.body: "9999999999GiB" is too large`}},
		{"a duration", "idle_close: 30", Source{}, []string{`c.yaml:1: idle_close: invalid duration "30": want a duration such as 90s, 30m, 12h or 30d`}},
		{"a number", "live_runs: 2.5", Source{}, []string{`c.yaml:1: live_runs is "2.5"; it must be a whole number`}},
		{"a truth", "mask: {disabled: maybe}", Source{}, []string{`c.yaml:1: mask.disabled is "maybe"; it must be true or false`}},
		{"a list for a value", "addr: [a]", Source{}, []string{"c.yaml:1: addr: want a single value"}},
		{"a value for a list", "hosts: a", Source{}, []string{"c.yaml:1: hosts: want a list, such as [a, b]"}},
		{"a value for a group", "limits: 3", Source{}, []string{"c.yaml:1: limits: want names with values"}},
		{"a list for all", "- a", Source{}, []string{"c.yaml:1: the configuration: want names with values"}},
		{"no YAML", "a: [\nb: ]]", Source{}, []string{"c.yaml:1: did not find expected key"}},
		{"two documents", "addr: 127.0.0.1:1\n---\nproject: x", Source{}, []string{"c.yaml: a second document follows the first"}},
		{"a value out of range has its line", "limits:\n  body: 3\n  queue_bytes: 1", Source{}, []string{"c.yaml:2: limits.body is 3; it must be from 1KiB to 1GiB", "c.yaml:3: limits.queue_bytes is 1; it must be from 1KiB to 1TiB"}},
		{"a part of a list has its line", "tokens:\n  - name: a\n    scope: all\n    sha256: x", Source{}, []string{
			`c.yaml:3: tokens[0].scope is "all"; it must be one of ingest, read, admin`, "c.yaml:4: tokens[0].sha256 must be 64 hexadecimal digits",
		}},
		{"a setting of the profile has its line", "profile: looplens\nsettings:\n  cost_budget: 1\n  similarity: 7", Source{}, []string{"c.yaml:4: settings: similarity is 7; it must be from 0.5 to 1"}},
		{"an unknown profile", "profile: lens", Source{}, []string{`c.yaml:1: profile: unknown profile "lens"; profiles: default, looplens`}},
		{"the environment", "", Source{Env: []string{"UNLOOP_LIMITS_BODY=1", "UNLOOP_TOKENS=[{", "UNLOOP_ADDR=x"}}, []string{"UNLOOP_TOKENS: tokens: not valid YAML"}},
		{"the environment, out of range", "", Source{Env: []string{"UNLOOP_LIMITS_BODY=1"}}, []string{"UNLOOP_LIMITS_BODY: limits.body is 1; "}},
		{"a flag", "", Source{Flags: []Flag{{"--addr", "addr", "8765"}}}, []string{`--addr: addr is "8765"; it must be HOST:PORT`}},
		{"a setting on the command line", "", Source{Sets: []string{"same_errors=1", "x"}}, []string{`--set: invalid setting "x": want NAME=VALUE`}},
		{"a setting on the command line, out of range", "", Source{Sets: []string{"same_errors=1"}}, []string{"--set: settings: same_errors is 1; it must be from 2 to 1000"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.text, tc.src)
			if err == nil {
				t.Fatal("Load returns no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
			for _, e := range settings.Unjoin(err) {
				var m *settings.Error
				if !errors.As(e, &m) || m.File == "" {
					t.Errorf("%q has no place", e)
				}
			}
		})
	}
}

func TestLoadFindsTheFile(t *testing.T) {
	write := func(t *testing.T, name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name       string
		here       bool
		src        Source
		file, want string
	}{
		{"none", false, Source{}, "", "default"},
		{"the one that lies here", true, Source{}, "unloop.yaml", "here"},
		{"the one of the environment", true, Source{Env: []string{"UNLOOP_CONFIG=env.yaml"}}, "env.yaml", "env"},
		{"the one that is asked for", true, Source{Path: "asked.yaml", Env: []string{"UNLOOP_CONFIG=env.yaml"}}, "asked.yaml", "asked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "env.yaml", "project: env")
			write(t, "asked.yaml", "project: asked")
			if tc.here {
				write(t, FileName, "project: here")
			}
			got, err := Load(tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if got.File != tc.file || got.Project != tc.want {
				t.Errorf("file %q, project %s", got.File, got.Project)
			}
		})
	}
	t.Run("a configured file must exist", func(t *testing.T) {
		if _, err := Load(Source{Path: filepath.Join(t.TempDir(), "none.yaml")}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a file of any size is not read", func(t *testing.T) {
		if _, err := load(t, strings.Repeat("# x\n", int(ServerFile.Max)/4+1), Source{}); err == nil || !strings.Contains(err.Error(), "c.yaml is larger than 1MiB") {
			t.Errorf("error %v", err)
		}
	})
}

func TestLoadKeepsTheDefaultOfASettingWithoutAValue(t *testing.T) {
	for _, text := range []string{"", "# all of it is a comment\n", "---\n", "addr:\nlimits:\n  # body: 1MiB\n", "limits: {}"} {
		got, err := load(t, text, Source{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(Default(), got.Config); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestLoadFollowsAliases(t *testing.T) {
	got, err := load(t, "idle_close: &d 3m\nidle_memory: *d\n", Source{})
	if err != nil || got.IdleMemory != Duration(3*time.Minute) {
		t.Errorf("%v, error %v", got, err)
	}
	if _, err := load(t, "settings: &s {nudges: *s}", Source{}); err == nil {
		t.Error("an alias that holds itself was loaded")
	}
}

func TestNoticesNameOnlyLikelyTypos(t *testing.T) {
	t.Chdir(t.TempDir())
	got, err := Load(Source{Env: []string{
		"UNLOOP_LIMIT_BODY=1MiB", "UNLOOP_PORT=tcp://10.0.0.1:8765", "UNLOOP_SERVICE_HOST=10.0.0.1", "UNLOOP_TEST_POSTGRES=x",
		"UNLOOP_ENDPOINT=x", "UNLOOP_TOKEN=x", "OTHER=1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"UNLOOP_LIMIT_BODY is not read; did you mean UNLOOP_LIMITS_BODY?"}, got.Notices); diff != "" {
		t.Error(diff)
	}
}

// FuzzLoad: whatever the file says, there is a configuration that passes its own check, or an error.
func FuzzLoad(f *testing.F) {
	whole, err := File()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(whole))
	for _, text := range []string{"a: &a [*a]", "settings: {nudges: {a: b}}", "tokens: [[]]", "limits: {body: -1}", "{}{}", "settings: {1: 2, x: {3: 4}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := build("c.yaml", []byte(text), nil, Source{})
		if err != nil {
			return
		}
		shown, err := got.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := build("c.yaml", shown, nil, Source{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, shown)
		}
		if diff := cmp.Diff(got, again, equalWhenEmpty); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASettingCountsAsGivenFromEverySource(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		src  Source
		want bool
	}{
		"nowhere":            {"", Source{}, false},
		"another one":        {"addr: 127.0.0.1:1\n", Source{}, false},
		"in the file":        {"grpc_addr: 127.0.0.1:4317\n", Source{}, true},
		"in the environment": {"", Source{Env: []string{"UNLOOP_GRPC_ADDR=127.0.0.1:4317"}}, true},
		"in a flag":          {"", Source{Flags: []Flag{{"--grpc-addr", "grpc_addr", "127.0.0.1:4317"}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := load(t, tc.text, tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if given := loaded.Given("grpc_addr"); given != tc.want {
				t.Errorf("given is %v", given)
			}
		})
	}
}
