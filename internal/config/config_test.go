package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// equalWhenEmpty takes an empty list for none.
var equalWhenEmpty = cmp.FilterValues(func(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	return (a.Kind() == reflect.Slice || a.Kind() == reflect.Map) && b.Kind() == a.Kind() && a.Len() == 0 && b.Len() == 0
}, cmp.Comparer(func(_, _ any) bool { return true }))

func TestTheDefaultConfigurationIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestTheInitialFileContainsTheDefaults(t *testing.T) {
	text, err := File()
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t, string(text), Source{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got.Config, equalWhenEmpty); diff != "" {
		t.Error(diff)
	}
	for f := range fields("", reflect.ValueOf(Config{})) {
		if f.doc == "" || !strings.Contains(strings.ReplaceAll(string(text), "\n#", ""), f.doc) {
			t.Errorf("the file has no description of %s", f.path)
		}
	}
}

func TestValidateJoinsAllErrors(t *testing.T) {
	c := Default()
	c.Addr, c.GRPCAddr, c.Project = "0.0.0.0:1", "", " "
	c.Log = Log{"loud", "xml"}
	c.Settings, c.Shadow.Profile = Settings{"nope": "1"}, "none"
	err := c.Validate()
	for _, want := range []string{
		"addr is 0.0.0.0:1, which is not loopback and requires tokens", `grpc_addr is ""; it must be HOST:PORT`,
		"project must not be empty", `log.level is "loud"; it must be one of debug, info, warn, error`, `log.format is "xml"`,
		`settings: unknown setting "nope"`, `shadow.profile: unknown profile "none"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not contain %q", err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	token := Token{"n", "read", strings.Repeat("0", 64)}
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   string // "" where it is in order
	}{
		{"loopback by name", func(c *Config) { c.Addr = "localhost:0" }, ""},
		{"loopback, version 6", func(c *Config) { c.Addr = "[::1]:80" }, ""},
		{"loopback, mapped", func(c *Config) { c.Addr = "[::ffff:127.0.0.9]:80" }, ""},
		{"every address", func(c *Config) { c.Addr = ":80" }, "addr is :80, which is not loopback"},
		{"every address, version 6", func(c *Config) { c.Addr = "[::]:80" }, "is not loopback"},
		{"a name may be any address", func(c *Config) { c.Addr = "localhost.example.com:80" }, "is not loopback"},
		{"gRPC is held to the same", func(c *Config) { c.GRPCAddr = "10.0.0.1:4317" }, "grpc_addr is 10.0.0.1:4317, which is not loopback"},
		{"with tokens", func(c *Config) { c.Addr, c.Tokens = "0.0.0.0:80", []Token{token} }, ""},
		{"two tokens of a name", func(c *Config) { c.Tokens = []Token{token, token} }, `tokens[1].name is "n", which an earlier token has`},
		{"a token without a name", func(c *Config) { c.Tokens = []Token{{"", "read", token.SHA256}} }, "tokens[0].name must not be empty"},
		{"no port", func(c *Config) { c.Addr = "127.0.0.1" }, "it must be HOST:PORT"},
		{"no such port", func(c *Config) { c.Addr = "127.0.0.1:65536" }, "it must be HOST:PORT"},
		{"another database", func(c *Config) { c.DB = "mysql://u:geheim@h/x" }, "db must be the path of a SQLite file, or a URL that begins with postgres://"},
		{"a path on Windows", func(c *Config) { c.DB = `C:\unloop.db` }, ""},
		{"a host that is a URL", func(c *Config) { c.Hosts = []string{"https://x"} }, `hosts[0] is "https://x"`},
		{"an origin with a path", func(c *Config) { c.Origins = []string{"https://x/y"} }, `origins[0] is "https://x/y"`},
		{"a queue that takes no batch", func(c *Config) { c.Limits.QueueEvents = 9999 }, "limits.queue_events is 9999; it must be from 10000"},
		{"less memory than a request may need", func(c *Config) { c.Memory = 255 << 20 }, "memory is 255MiB; it must be from 256MiB"},
		{"a queue that takes no request", func(c *Config) { c.Limits.QueueBytes = 1 << 20 }, "limits.queue_bytes is 1MiB; it must be from 16MiB"},
		{"runs are kept", func(c *Config) { c.Retention = Retention{} }, ""},
		{"runs are deleted at once", func(c *Config) { c.Retention.Age = 1 }, "retention.age is 1ns; it must be from 1m to 36500d"},
		{"a pattern", func(c *Config) { c.Mask.Patterns = []string{"ok", "("} }, "mask.patterns[1] is not a valid regular expression: "},
		{"a webhook of many mistakes", func(c *Config) {
			c.Webhooks = []Webhook{{URL: "ftp://geheim", Format: "xml", Severity: "loud", Rules: []string{"none"}, Timeout: 1}}
		}, "webhooks[0].url must be a URL that begins with http:// or https://\nwebhooks[0].format is \"xml\""},
		{"an OTLP endpoint without a scheme", func(c *Config) { c.OTLPExport.Endpoint = "geheim:4317" }, "otlp_export.endpoint must be a URL that begins with http:// or https://"},
		{"a protocol that is not supported", func(c *Config) { c.OTLPExport.Protocol = "http/json" }, `otlp_export.protocol is "http/json"`},
		{"a project of Langfuse without a scheme", func(c *Config) { c.Langfuse.Endpoint = "geheim" }, "langfuse.endpoint must be a URL that begins with http:// or https://"},
		{"a proxy that other machines reach", func(c *Config) { c.Proxy.Addr = "0.0.0.0:4141" }, "proxy.addr is not allowed: 0.0.0.0:4141 is not loopback; use 127.0.0.1"},
		{"settings that no profile has", func(c *Config) { c.Settings = Settings{"nope": "1"} }, `settings: unknown setting "nope"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Default()
			tc.change(c)
			err := c.Validate()
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not contain %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "geheim") {
				t.Errorf("error %v contains a secret", err)
			}
		})
	}
}

func TestHiddenShowsNoSecret(t *testing.T) {
	c := Default()
	c.Tokens = []Token{{"n", "read", strings.Repeat("ab", 32)}}
	c.Webhooks = []Webhook{{URL: "https://hooks.example.com/services/geheim?key=geheim", Secret: "geheim"}, {URL: "https://x:geheim@y"}}
	for _, tc := range []struct{ db, want string }{
		{"", ""},
		{"runs.db", "runs.db"},
		{"postgres://me:geheim@db/unloop?sslmode=disable", "postgres://me:hidden@db/unloop?sslmode=disable"},
		{"postgres://me@db/unloop?password=geheim", "postgres://me@db/unloop?password=hidden"},
		{"postgres://me:geheim%zz@db", hidden},
	} {
		c.DB = tc.db
		shown := c.Hidden()
		if shown.DB != tc.want {
			t.Errorf("%s is shown as %s, want %s", tc.db, shown.DB, tc.want)
		}
		text, err := shown.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "geheim") || strings.Contains(string(text), "abab") {
			t.Errorf("a secret is shown:\n%s", text)
		}
	}
	if c.Webhooks[0].Secret != "geheim" || c.Tokens[0].SHA256 == hidden {
		t.Error("the configuration itself was changed")
	}
}

func TestTokens(t *testing.T) {
	token, entry, err := NewToken("ci", "ingest")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Token{"ci", "ingest", HashToken(token)}); entry != want {
		t.Errorf("entry %v, want %v", entry, want)
	}
	got, err := load(t, entry.YAML(), Source{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Token{entry}, got.Tokens); diff != "" {
		t.Error(diff)
	}
	if other, _, _ := NewToken("ci", "ingest"); other == token || len(token) < 40 {
		t.Errorf("tokens %s and %s", token, other)
	}
	_, _, err = NewToken("", "all")
	if err == nil || err.Error() != "missing --name: name who uses the token, such as agents\ninvalid scope \"all\": want one of ingest, read, admin" {
		t.Errorf("error %v", err)
	}
}

func TestDatabase(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_STATE_HOME", folder)
	got, err := Default().Database()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(folder, "unloop", "unloop.db"); got != want {
		t.Errorf("database %s, want %s", got, want)
	}
	info, err := os.Stat(filepath.Dir(got))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, error %v", info, err)
	}
	if got, err := (&Config{DB: "x.db"}).Database(); got != "x.db" || err != nil {
		t.Errorf("database %s, error %v", got, err)
	}
}

func TestStateFolder(t *testing.T) {
	for _, tc := range []struct {
		name, system string
		env          map[string]string
		want         string
	}{
		{"Linux", "linux", map[string]string{"HOME": "/home/me"}, "/home/me/.local/state/unloop"},
		{"as the user has it", "linux", map[string]string{"HOME": "/home/me", "XDG_STATE_HOME": "/s"}, "/s/unloop"},
		{"a relative folder is ignored", "linux", map[string]string{"HOME": "/home/me", "XDG_STATE_HOME": "s"}, "/home/me/.local/state/unloop"},
		{"macOS", "darwin", map[string]string{"HOME": "/Users/me"}, "/Users/me/Library/Application Support/unloop"},
		{"no home", "linux", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := stateFolder(tc.system, func(name string) string { return tc.env[name] })
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("folder %q, want %q, error %v", got, tc.want, err)
			}
		})
	}
}
