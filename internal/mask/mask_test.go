package mask

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

var testKey = []byte("0123456789abcdef")

func newMasker(t testing.TB, patterns ...string) *Masker {
	t.Helper()
	m, err := New(Settings{Key: testKey, Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// masks finds masks, whose hash the tables below write as ….
var masks = regexp.MustCompile(`\[masked [a-z][0-9][a-z][0-9]\]`)

func brief(s string) string { return masks.ReplaceAllString(s, "[…]") }

// The secrets of these tests are made up, and put together here so that no scanner takes them for real ones.
const (
	letters  = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b"
	openAI   = "sk-" + "proj-" + letters
	claude   = "sk-" + "ant-api03-" + letters
	older    = "sk-" + letters
	github   = "gh" + "p_" + letters
	finePAT  = "github" + "_pat_" + letters + "_" + letters
	awsID    = "AK" + "IAIOSFODNN7EXAMPLE"
	awsKey   = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	google   = "AI" + "zaSyA" + letters
	slack    = "xo" + "xb-1234567890-" + letters
	stripe   = "sk" + "_live_" + letters
	jwt      = "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"
	pemLines = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi\nZ1QpRrsu2SCk\n"
)

func TestText(t *testing.T) {
	m := newMasker(t)
	for name, tc := range map[string]struct{ text, want string }{
		"a key of OpenAI":                    {"export K " + openAI + ".", "export K […]."},
		"a key of Anthropic":                 {"key " + claude, "key […]"},
		"an older key":                       {"key (" + older + ")", "key ([…])"},
		"a token of GitHub":                  {"git: " + github, "git: […]"},
		"a fine-grained one":                 {finePAT, "[…]"},
		"an id of AWS":                       {"id " + awsID, "id […]"},
		"a key of AWS beside its id":         {awsID + "," + awsKey + "\n", "[…],[…]\n"},
		"a key of AWS by its name":           {"aws_secret_access_key = " + awsKey, "aws_secret_access_key = […]"},
		"a key of Google":                    {"?key=" + google + "&x=1", "?key=[…]&x=1"},
		"a token of Slack":                   {slack, "[…]"},
		"a key of Stripe":                    {"charge with " + stripe, "charge with […]"},
		"a JSON Web Token":                   {"token " + jwt + ".", "token […]."},
		"a bearer token":                     {"curl -H 'Authorization: Bearer " + letters + "'", "curl -H 'Authorization: Bearer […]'"},
		"a short one of the header":          {"authorization: bearer abc123", "authorization: bearer […]"},
		"basic credentials":                  {"Authorization: Basic dXNlcjpwYXNz1w==", "Authorization: Basic […]"},
		"a bearer token without the header":  {"sent Bearer " + letters + " to it", "sent Bearer […] to it"},
		"a private key":                      {"-----BEGIN RSA PRIVATE KEY-----\n" + pemLines + "-----END RSA PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----[…]-----END RSA PRIVATE KEY-----\n"},
		"a private key cut off":              {"-----BEGIN PRIVATE KEY-----\n" + pemLines, "-----BEGIN PRIVATE KEY-----[…]"},
		"a private key in quotes":            {`KEY="-----BEGIN PRIVATE KEY-----` + "\n" + pemLines + `-----END PRIVATE KEY-----"`, `KEY="-----BEGIN PRIVATE KEY-----[…]-----END PRIVATE KEY-----"`},
		"a private key by name":              {`private_key="-----BEGIN PRIVATE KEY-----` + "\n" + pemLines + `-----END PRIVATE KEY-----"`, `private_key="-----BEGIN PRIVATE KEY-----[…]-----END PRIVATE KEY-----"`},
		"a private key without quotes":       {"PRIVATE_KEY=-----BEGIN PRIVATE KEY-----\n" + pemLines + "-----END PRIVATE KEY-----", "PRIVATE_KEY=-----BEGIN PRIVATE KEY-----[…]-----END PRIVATE KEY-----"},
		"a password in a URL":                {"postgres://app:pa$$w0rd@db:5432/x", "postgres://app:[…]@db:5432/x"},
		"a password without a user":          {"redis://:hunter2@cache", "redis://:[…]@cache"},
		"a variable of the environment":      {"DB_PASSWORD=correct-horse\nPORT=80", "DB_PASSWORD=[…]\nPORT=80"},
		"a parameter of a query":             {"GET /x?access_token=abcdefgh&page=2", "GET /x?access_token=[…]&page=2"},
		"a flag":                             {"login --password=hunter2 --user=bob", "login --password=[…] --user=bob"},
		"a header":                           {"X-API-Key: 12ab34cd\r\nAccept: */*", "X-API-Key: […]\r\nAccept: */*"},
		"YAML":                               {"client_secret: s3cr3t\nport: 80", "client_secret: […]\nport: 80"},
		"code":                               {`client(api_key="abc", retries=3)`, `client(api_key="[…]", retries=3)`},
		"a dictionary of Python":             {`{'user': 'bob', 'passwd': 'it"s'}`, `{'user': 'bob', 'passwd': '[…]'}`},
		"camel case":                         {`{"clientSecret": "x y z"}`, `{"clientSecret": "[…]"}`},
		"a very long value":                  {"password: 1" + strings.Repeat("x:", 500) + "(", "password: […]:("},
		"two on a line":                      {"password=hunter2 secret=hunter3", "password=[…] secret=[…]"},
		"a quoted value that is cut off":     {`"api_key": "abcdef`, `"api_key": "[…]`},
		"a secret right after a line's end":  {`line\n` + claude, `line\n[…]`},
		"a secret after an escape by number": {`\u0026` + github, `\u0026[…]`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, brief(m.Text(tc.text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrdinaryTextIsKept(t *testing.T) {
	m := newMasker(t)
	for name, text := range map[string]string{
		"a limit":                   "max_tokens: 100, token_count=12345, tokens: 98765",
		"a flag":                    `"secret": true, "password": null, "api_key": {}, "passwd": ""`,
		"a library":                 "pip install sk-learn sk-learn-contrib-extended-2024",
		"a bearer":                  "Bearer of bad news, bearer certificates-and-bonds",
		"a hash of git":             "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
		"a UUID":                    "id=123e4567-e89b-12d3-a456-426614174000",
		"a page":                    `next_page_token: "CAUQAA1234567890", "token": "the"`,
		"a certificate":             "-----BEGIN CERTIFICATE-----\n" + pemLines + "-----END CERTIFICATE-----",
		"a header of a key":         "looks for -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----",
		"a variable":                "password = $PASSWORD; secret=${SECRET1}; api_key: {{ key1 }}; x='$(cat key1)'",
		"a reference in quotes":     `api_key: "<your key 1>", password: "${DB_PASS_1}", secret = "%SECRET1%"`,
		"a hidden one":              `password: "********", secret=xxxxxxxx`,
		"a call in code":            `api_key=os.environ["KEY1"], password = getpass1("x"), secret=cfg.load2()`,
		"a name in code":            "connect(password=password, secret=client_secret)\npassword=db_password\nself.secret=secrets.value",
		"a type":                    "password: str\napi_key: Optional[str] = None\nPassword string",
		"prose":                     "the password: at least eight characters; secret: see page nine",
		"a comparison":              `if password != "" { return }`,
		"a port":                    "http://localhost:8080/users/a@b",
		"a mail address":            "see https://example.com/u:1/x@y and mailto:a@b",
		"a short key":               "sk-abc123, AKIA123, ghp_1234, AIzaSy1, xoxb-1, eyJh.eyJ.x, eyJhbGciOiJIUzI1.abcdefghijkl",
		"a long name":               "AIza-is-how-a-key-of-google-begins-but-not-this-one",
		"another name":              `'password\\': 'abc1'`,
		"a longer word":             "task-" + letters + " X" + awsID + " my" + google,
		"a list of names of fields": `["password", "secret", "authorization"]`,
		"a document about headers":  "Authorization: required for all requests, as a bearer token",
		"a reference in a URL":      "https://app:${PASS}@db and https://app:$PASS1@db",
		"an argument in code":       "connect(password=argument, user=me)",
		"a masked private key":      "private_key='-----BEGIN PRIVATE KEY-----[masked 12ab]-----END PRIVATE KEY-----'",
		"a mask":                    "password=[masked 12ab] Bearer [masked 12ab] \"secret\": \"[masked 12ab]\"",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(text, m.Text(text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRaw(t *testing.T) {
	m := newMasker(t)
	for name, tc := range map[string]struct{ raw, want string }{
		"a member":                           {`{"user":"bob","password":"hunter2","n":1}`, `{"user":"bob","password":"[…]","n":1}`},
		"with space":                         {"{\n  \"API_KEY\" :\n \"abc\"\n}", "{\n  \"API_KEY\" :\n \"[…]\"\n}"},
		"a number":                           {`{"password":12345,"x":2}`, `{"password":"[…]","x":2}`},
		"no number":                          {`{"secret":1,"password":true}`, `{"secret":1,"password":true}`},
		"a list":                             {`{"Authorization":["Bearer abc","x"],"b":["y"]}`, `{"Authorization":["Bearer […]","[…]"],"b":["y"]}`},
		"an object is searched":              {`{"secret":{"password":"a","user":"b"}}`, `{"secret":{"password":"[…]","user":"b"}}`},
		"a scheme stays":                     {`{"authorization":"Basic dTpw"}`, `{"authorization":"Basic […]"}`},
		"quotes and backslashes in it":       {`{"password":"a\"b\\","x":"y"}`, `{"password":"[…]","x":"y"}`},
		"JSON in a string":                   {`{"body":"{\"password\":\"hun\\\"ter2\",\"n\":1}"}`, `{"body":"{\"password\":\"[…]\",\"n\":1}"}`},
		"JSON in a string in a string":       {`["{\"b\":\"{\\\"secret\\\":\\\"x\\\"}\"}"]`, `["{\"b\":\"{\\\"secret\\\":\\\"[…]\\\"}\"}"]`},
		"a number in JSON in a string":       {`"{\"password\":123456}"`, `"{\"password\":\"[…]\"}"`},
		"cut off in a string":                {`{"out":"{\"api_key\":\"abc","x":"y"}`, `{"out":"{\"api_key\":\"[…]","x":"y"}`},
		"a line in a string":                 {`"PASSWORD=hunter2\nHOME=/"`, `"PASSWORD=[…]\nHOME=/"`},
		"a quoted line in a string":          {`"secret = \"abc\"\nx = \"d\""`, `"secret = \"[…]\"\nx = \"d\""`},
		"a quote without an end in a string": {`"secret = \"abc\nx = \"d\""`, `"secret = \"[…]\nx = \"d\""`},
		"a name at the end of a string":      {`["password=","abc",":","password:"]`, `["password=","abc",":","password:"]`},
		"a name at the end of an inner":      {`"[\"--password=\",\"abc\"]"`, `"[\"--password=\",\"abc\"]"`},
		"a text that ends before a value":    {`{"a":"{\"password\": ","b":"c"}`, `{"a":"{\"password\": ","b":"c"}`},
		"one in single quotes":               {`["'password':","abc"]`, `["'password':","abc"]`},
		"a name that ends otherwise":         {`{"password\\":"abc"}`, `{"password\\":"abc"}`},
		"a vendor's key as a name":           {`{"` + github + `":1}`, `{"[…]":1}`},
		"a vendor's key after an escape":     {`{"out":"key:\n` + openAI + `\n"}`, `{"out":"key:\n[…]\n"}`},
		"a private key":                      {`"-----BEGIN PRIVATE KEY-----\n` + strings.ReplaceAll(pemLines, "\n", `\n`) + `-----END PRIVATE KEY-----\n"`, `"-----BEGIN PRIVATE KEY-----[…]-----END PRIVATE KEY-----\n"`},
		"a URL with escaped slashes":         {`"https:\/\/u:p4ss@host\/x"`, `"https:\/\/u:[…]@host\/x"`},
		"a private key by name":              {`{"private_key":"-----BEGIN PRIVATE KEY-----\n` + strings.ReplaceAll(pemLines, "\n", `\n`) + `-----END"}`, `{"private_key":"-----BEGIN PRIVATE KEY-----[…]-----END"}`},
		"single quotes in a string":          {`"{'password': 'a\"b', 'x': 'y'}"`, `"{'password': '[…]', 'x': 'y'}"`},
		"single quotes without an end":       {`{"a":"{'password': 'abc","b":"it's"}`, `{"a":"{'password': '[…]","b":"it's"}`},
		"only a string":                      {`"Bearer ` + letters + `"`, `"Bearer […]"`},
		"nothing":                            {``, ``},
		"a quote that ends another string":   {`"{\"a\":\"password='\",\"b\":\"c'd\"}"`, `"{\"a\":\"password='\",\"b\":\"c'd\"}"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := m.Raw(json.RawMessage(tc.raw))
			if diff := cmp.Diff(tc.want, brief(string(got))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if json.Valid([]byte(tc.raw)) && !json.Valid(got) {
				t.Errorf("%s is not JSON", got)
			}
		})
	}
}

// FuzzRaw holds every masker to this: JSON stays JSON, what was masked stays as it is, and only masks are new.
func FuzzRaw(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2","a":[1,"` + claude + `"]}`, `"{\"secret\":\"a\\\"b\",\"n\":12345}"`,
		`"password='a\"b' token ` + jwt + ` Bearer ` + letters + `\n"`, `{"a":"postgres://u:p@h AKIAIOSFODNN7EXAMPLE ` + awsKey + `"}`,
		`"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi\\nx-----END"`, `{"Authorization":["Basic dTpw","b"],"passwd":-1.5e9}`,
		`"api_key=\"abc\" [masked 12ab] \ud83d\ude00 pin 12"`, `{"password":"[masked 12ab]x"}`, `"é\u00e9 secret: 'é1'"`,
	} {
		f.Add(seed, "")
		f.Add(seed, `a.?|\d+|\\`)
		f.Add(seed, `é|[sS]e(.*)t`)
	}
	f.Fuzz(func(t *testing.T, raw, pattern string) {
		var patterns []string
		if pattern != "" {
			patterns = []string{pattern}
		}
		m, err := New(Settings{Key: testKey, Patterns: patterns})
		if err != nil || len(raw) > 1<<14 {
			return
		}
		texts := map[string]string{"text": m.Text(raw)}
		if again := m.Text(texts["text"]); again != texts["text"] && pattern == "" {
			t.Errorf("masked again:\n%q\n%q\n%q", raw, texts["text"], again)
		}
		if !json.Valid([]byte(raw)) {
			m.Raw(json.RawMessage(raw))
		} else {
			texts["raw"] = string(m.Raw(json.RawMessage(raw)))
			if !json.Valid([]byte(texts["raw"])) {
				t.Errorf("no JSON any more:\n%s\n%s", raw, texts["raw"])
			}
			if again := string(m.Raw(json.RawMessage(texts["raw"]))); again != texts["raw"] && pattern == "" {
				t.Errorf("masked again:\n%s\n%s\n%s", raw, texts["raw"], again)
			}
		}
		for _, text := range texts {
			rest := raw
			for _, part := range masks.Split(text, -1) {
				at := strings.Index(rest, strings.TrimRight(strings.TrimLeft(part, `\"`), `\"`))
				if at < 0 {
					t.Fatalf("changed beside its secrets:\n%q\n%q", raw, text)
				}
				rest = rest[at:]
			}
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	m := newMasker(b)
	e := unloop.Event{
		Input:    json.RawMessage(`{"path":"internal/store/sqlstore/events.go","offset":120,"limit":40,"reason":"see how a batch is written"}`),
		Output:   json.RawMessage(`"func (s *Store) Append(ctx context.Context, batch []unloop.Event) error {\n\ttx, err := s.db.BeginTx(ctx, nil)\n\tif err != nil {\n\t\treturn fmt.Errorf(\"begin: %w\", err)\n\t}\n"`),
		Metadata: json.RawMessage(`{"model":"claude-sonnet-5-5","max_tokens":4096,"attempt":2,"task":"7f1c"}`),
	}
	b.SetBytes(int64(len(e.Input) + len(e.Output) + len(e.Metadata)))
	b.ReportAllocs()
	for b.Loop() {
		m.Event(&e)
	}
}

func BenchmarkText(b *testing.B) {
	prose := strings.Repeat("The build is slow since every package is compiled twice, as the log of the last run tells. ", 100)
	code := strings.Repeat(`	for i, want := range []string{"a", "b"} { got[i] = max_of(x_y-1, w.B) // see b.go:12`+"\n", 100)
	secret := strings.Repeat("x ", 500) + claude
	for name, text := range map[string]string{"prose": prose, "code": code, "one secret in 1 kB": secret} {
		b.Run(name, func(b *testing.B) {
			m := newMasker(b)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}

func TestMask(t *testing.T) {
	m := newMasker(t)
	t.Run("a secret has the same mask in every notation", func(t *testing.T) {
		plain := m.Text("-----BEGIN PRIVATE KEY-----\n" + pemLines + "-----END")
		escaped := m.Raw(json.RawMessage(`"-----BEGIN PRIVATE KEY-----\n` + strings.ReplaceAll(pemLines, "\n", `\n`) + `-----END"`))
		if diff := cmp.Diff(`"`+plain+`"`, string(escaped)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if a, b := m.Text("password=hunter2"), m.Text(`password="hunter2"`); masks.FindString(a) != masks.FindString(b) {
			t.Errorf("%s and %s", a, b)
		}
	})
	t.Run("another secret has another mask", func(t *testing.T) {
		if a, b := m.Text("password=hunter2"), m.Text("password=hunter3"); a == b {
			t.Errorf("both are %s", a)
		}
	})
	t.Run("another key gives another mask", func(t *testing.T) {
		other, err := New(Settings{Key: []byte("another key of 16 bytes")})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := m.Text("password=hunter2"), other.Text("password=hunter2"); a == b {
			t.Errorf("both are %s", a)
		}
	})
	t.Run("the mask holds nothing of the secret", func(t *testing.T) {
		if got := m.Text("password=hunter2"); !masks.MatchString(got) || strings.Contains(got, "hunter") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a value without secrets is returned unchanged", func(t *testing.T) {
		raw := json.RawMessage(`{"query":"loops","max_tokens":100}`)
		if got := m.Raw(raw); &got[0] != &raw[0] {
			t.Error("the JSON was copied")
		}
		text := strings.Repeat("a clean message: nothing to see, ", 9)
		if n := testing.AllocsPerRun(100, func() { m.Raw(raw); m.Text(text) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
	t.Run("the input is not modified", func(t *testing.T) {
		raw := json.RawMessage(`{"password":"hunter2"}`)
		m.Raw(raw)
		if string(raw) != `{"password":"hunter2"}` {
			t.Errorf("the event is %s", raw)
		}
	})
}

func TestEveryTextOfAnEventIsMasked(t *testing.T) {
	const secret = "password=hunter2"
	var e unloop.Event
	fields := reflect.ValueOf(&e).Elem()
	for k := range fields.NumField() {
		switch f := fields.Field(k); {
		case f.Kind() == reflect.String:
			f.SetString(secret)
		case f.Type() == reflect.TypeFor[json.RawMessage]():
			f.SetBytes([]byte(`{"env":"` + secret + `"}`))
		}
	}
	m := newMasker(t)
	m.Event(&e)
	if got, err := json.Marshal(e); err != nil || strings.Contains(string(got), "hunter2") {
		t.Errorf("got %s, %v", got, err)
	}
	if diff := cmp.Diff([]string{"password=[…]", "password=[…]", `{"env":"password=[…]"}`}, []string{brief(e.Tool), brief(e.Text), brief(string(e.Metadata))}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEventsWithASecretInTheirIDAreStillJoined(t *testing.T) {
	m := newMasker(t)
	const id = "token-" + github
	masked := m.ID(id)
	if strings.Contains(masked, letters) || masked != m.ID(id) || masked == m.ID(id+"1") {
		t.Errorf("got %s, then %s; for another id %s", masked, m.ID(id), m.ID(id+"1"))
	}
	if again := newMasker(t, `\d+`).ID(masked); again != masked {
		t.Errorf("masking twice gives %s", again)
	}
	for _, plain := range []string{"", "run_0123456789abcdef01234567", "4bf92f3577b34da6a3ce929d0e0e4736", "toolu_01A09q90qw90lq917835lq9"} {
		if got := m.ID(plain); got != plain {
			t.Errorf("got %s for %s", got, plain)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Run("custom patterns are masked", func(t *testing.T) {
		m := newMasker(t, `ACME-\d+`, `pin (\d+)`)
		if got, want := brief(m.Text("ACME-12, pin 1234, 99")), "[…], pin […], 99"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := brief(string(m.Raw(json.RawMessage(`{"a":"ACME-12","ACME-3":45}`)))), `{"a":"[…]","[…]":45}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("a pattern cannot break JSON", func(t *testing.T) {
		m := newMasker(t, `\n|é|"|\\`)
		got := m.Raw(json.RawMessage(`{"a":"x\ny\u00e9z\"é\\","b":null}`))
		if want := `{"a":"x[…]y[…]z[…][…][…]","b":null}`; brief(string(got)) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("overlapping secrets are both masked", func(t *testing.T) {
		m := newMasker(t, `user=.*ter`)
		if got, want := brief(m.Text("user=x password=hunter2;")), "[…];"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("a pattern leaves masks alone", func(t *testing.T) {
		m := newMasker(t, `\d\d+`)
		if got, want := brief(strings.Replace(m.Text("[masked 1234] 77"), "1234", "@", 1)), "[masked @] […]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("nothing is masked when that is disabled", func(t *testing.T) {
		m, err := New(Settings{Disabled: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Text("password=hunter2"); got != "password=hunter2" {
			t.Errorf("got %s", got)
		}
		if got := string(m.Raw(json.RawMessage(`{"password":"hunter2"}`))); got != `{"password":"hunter2"}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("all mistakes are named", func(t *testing.T) {
		_, err := New(Settings{Key: []byte("short"), Patterns: []string{"fine", "(", "x*"}})
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{"key: got 5 bytes, want at least 16", "patterns[1]: ", `patterns[2]: "x*" matches the empty text`} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not contain %s", err, want)
			}
		}
	})
}
