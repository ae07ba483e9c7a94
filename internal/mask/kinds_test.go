package mask

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// hex and mixed are parts of made-up secrets: of digits and letters as hexadecimal numbers have them, and of both cases.
func hexed(n int) string { return strings.Repeat("9f3c07d1a6b84e25", n/16+1)[:n] }
func mixed(n int) string { return strings.Repeat("aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW", n/32+1)[:n] }
func capitals(n int) string {
	return strings.Repeat("Q7ZK2M9XW4RT6YB8", n/16+1)[:n]
}
func small(n int) string { return strings.Repeat("q7zk2m9xw4rt6yb8", n/16+1)[:n] }
func number(n int) string {
	return strings.Repeat("7304918265", n/10+1)[:n]
}

const uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

// kinds are texts with a secret of a kind each. They are put together here, so that no scanner takes them for real ones; the secret
// stands between « and ».
func kinds() map[string]string {
	basic := "YWRtaW46czNjcjN0" + "LXBhc3M="
	all := map[string]string{
		"OpenAI":                              "«sk" + "-" + mixed(48) + "»",
		"OpenAI, of a project":                "key=«sk" + "-proj-" + mixed(60) + "_" + mixed(20) + "»",
		"Anthropic":                           "«sk" + "-ant-api03-" + mixed(93) + "AA»",
		"OpenRouter":                          "«sk" + "-or-v1-" + hexed(64) + "»",
		"Groq":                                "«gsk" + "_" + mixed(52) + "»",
		"xAI":                                 "«xai" + "-" + mixed(80) + "»",
		"Perplexity":                          "«pplx" + "-" + mixed(48) + "»",
		"Replicate":                           "«r8" + "_" + mixed(37) + "»",
		"Hugging Face":                        "«hf" + "_" + mixed(34) + "»",
		"NVIDIA":                              "«nvapi" + "-" + mixed(64) + "»",
		"a key of Google":                     "?key=«AI" + "zaSy" + mixed(33) + "»&x=1",
		"an access token of Google":           "«ya" + "29.a0Af" + mixed(60) + "»",
		"a client secret of Google":           "«GOC" + "SPX-" + mixed(28) + "»",
		"a refresh token of Google":           "«1/" + "/0" + mixed(40) + "»",
		"a token of GitHub":                   "«gh" + "p_" + mixed(36) + "»",
		"GitHub, OAuth":                       "«gh" + "o_" + mixed(36) + "»",
		"GitHub, of a server":                 "«gh" + "s_" + mixed(36) + "»",
		"GitHub, fine-grained":                "«github" + "_pat_" + mixed(22) + "_" + mixed(59) + "»",
		"GitLab":                              "«gl" + "pat-" + mixed(20) + "»",
		"GitLab, of a runner":                 "«gl" + "rt-" + mixed(20) + "»",
		"a header of GitLab":                  "PRIVATE-TOKEN: «" + mixed(20) + "»",
		"Bitbucket":                           "bitbucket_client_secret = «" + small(64) + "»",
		"an id of a key of AWS":               "«AK" + "IA" + capitals(16) + "»",
		"a temporary one of AWS":              "«AS" + "IA" + capitals(16) + "»",
		"a secret key of AWS":                 "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG+" + mixed(18) + "»",
		"a session token of AWS":              "AWS_SESSION_TOKEN=«" + mixed(100) + "+/" + mixed(20) + "=»",
		"a key of a storage account of Azure": "DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=«" + mixed(86) + "==»;EndpointSuffix=core.windows.net",
		"a shared access signature of Azure":  "https://logs.blob.core.windows.net/a?sv=2022-11-02&se=2026-01-01&sig=«" + mixed(43) + "%3D»",
		"a client secret of Azure":            "«a1b8Q~" + mixed(34) + "»",
		"a subscription key of Azure":         "Ocp-Apim-Subscription-Key: «" + hexed(32) + "»",
		"a shared key of a service bus":       "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=«" + mixed(43) + "=»",
		"Stripe":                              "«sk" + "_live_" + mixed(24) + "»",
		"Stripe, for tests":                   "«sk" + "_test_" + mixed(24) + "»",
		"Stripe, restricted":                  "«rk" + "_test_" + mixed(24) + "»",
		"a webhook of Stripe":                 "«whsec" + "_" + mixed(32) + "»",
		"npm":                                 "//registry.npmjs.org/:_authToken=«npm" + "_" + mixed(36) + "»",
		"a password for npm":                  "//registry.example.com/:_auth=«" + basic + "»",
		"PyPI":                                "«pypi" + "-AgEIcHlwaS5vcmc" + mixed(80) + "»",
		"RubyGems":                            "«ruby" + "gems_" + hexed(48) + "»",
		"Docker Hub":                          "«dckr" + "_pat_" + mixed(27) + "»",
		"Slack, of a bot":                     "«xox" + "b-" + number(12) + "-" + number(12) + "-" + mixed(24) + "»",
		"Slack, of a user":                    "«xox" + "p-" + number(12) + "-" + number(12) + "-" + number(12) + "-" + hexed(32) + "»",
		"Slack, of an app":                    "«xa" + "pp-1-A" + capitals(10) + "-" + number(13) + "-" + hexed(64) + "»",
		"a webhook of Slack":                  "https://hooks.sl" + "ack.com/services/«T" + capitals(8) + "/B" + capitals(8) + "/" + mixed(24) + "»",
		"a bot of Telegram":                   "https://api.telegram.org/bot«" + number(10) + ":AA" + mixed(33) + "»/getMe",
		"a bot of Discord":                    "DISCORD_TOKEN=«M" + mixed(23) + "." + mixed(6) + "." + mixed(27) + "»",
		"SendGrid":                            "«S" + "G." + mixed(22) + "." + mixed(43) + "»",
		"Mailgun":                             "mailgun_key: «key-" + hexed(32) + "»",
		"Mailchimp":                           "mailchimp: «" + hexed(32) + "-us12»",
		"Twilio":                              "twilio «S" + "K" + hexed(32) + "»",
		"a password of Twilio":                "TWILIO_AUTH_TOKEN=«" + hexed(32) + "»",
		"DigitalOcean":                        "«dop" + "_v1_" + hexed(64) + "»",
		"Shopify":                             "«shp" + "at_" + hexed(32) + "»",
		"a shared secret of Shopify":          "«shp" + "ss_" + hexed(32) + "»",
		"Vault":                               "«hv" + "s.CAES" + mixed(90) + "»",
		"Vault, a short one":                  "VAULT_TOKEN=«hv" + "s." + mixed(24) + "»",
		"Vault, secret id":                    "secret_id: «" + uuid + "»",
		"Databricks":                          "«da" + "pi" + hexed(32) + "»",
		"Linear":                              "«lin" + "_api_" + mixed(40) + "»",
		"Notion":                              "«ntn" + "_" + number(11) + mixed(35) + "»",
		"Postman":                             "«PM" + "AK-" + hexed(24) + "-" + hexed(34) + "»",
		"Grafana":                             "«gl" + "sa_" + mixed(32) + "_" + hexed(8) + "»",
		"Figma":                               "«fig" + "d_" + mixed(40) + "»",
		"Supabase":                            "«sb" + "p_" + hexed(40) + "»",
		"Tailscale":                           "«ts" + "key-auth-" + mixed(16) + "-" + mixed(30) + "»",
		"New Relic":                           "«NR" + "AK-" + capitals(27) + "»",
		"Atlassian":                           "«ATA" + "TT3xFf" + mixed(180) + "»",
		"Doppler":                             "«dp" + ".pt." + small(43) + "»",
		"Terraform Cloud":                     "«" + mixed(14) + ".atlas" + "v1." + mixed(64) + "»",
		"Heroku":                              "HEROKU_API_KEY=«" + uuid + "»",
		"Datadog":                             "datadog_api: «" + hexed(40) + "»",
		"Sentry":                              "«sntry" + "u_" + hexed(64) + "»",
		"age":                                 "«AGE-SECRET-" + "KEY-1" + capitals(58) + "»",
		"a JSON Web Token":                    "«ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + mixed(43) + "»",
		"a private key in PEM":                "-----BEGIN RSA PRIVATE KEY-----«\n" + mixed(64) + "\n" + mixed(30) + "\n»-----END RSA PRIVATE KEY-----",
		"a private key of OpenSSH":            "-----BEGIN OPENSSH PRIVATE KEY-----«\n" + mixed(70) + "\n»-----END OPENSSH PRIVATE KEY-----",
		"a private key of PGP":                "-----BEGIN PGP PRIVATE KEY BLOCK-----«\n\n" + mixed(64) + "\n»-----END PGP PRIVATE KEY BLOCK-----",
		"a bearer token":                      "curl -H 'Authorization: Bearer «" + mixed(30) + "»'",
		"basic credentials":                   "Authorization: Basic «" + basic + "»",
		"basic credentials by themselves":     "sent Basic «" + basic + "» to it",
		"a header of an API":                  "X-API-Key: «" + hexed(32) + "»",
		"a header with a token":               "X-Auth-Token: «" + mixed(32) + "»",
		"a cookie":                            "Cookie: theme=dark; sessionid=«" + small(32) + "»",
		"a cookie that is set":                "Set-Cookie: SID=«" + mixed(24) + "»; Path=/; HttpOnly",
		"a session in a query":                "/x?session_id=«" + hexed(24) + "»&y=2",
		"curl -u":                             "curl -s -u admin:«hunter2» https://example.com",
		"curl --user in quotes":               `curl --user "admin:«hunt er2»" x`,
		"netrc":                               "machine example.com login bob password «hunter2»",
		"netrc over lines":                    "machine example.com\n  login bob\n  password «hunter2»\n",
		"a flag and a blank":                  "login --password «hunter2!» --user bob",
		"a flag with a token":                 "deploy --token «" + mixed(20) + "» --dry-run",
		"a flag and an equals sign":           "login --password=«hunter2» --user=bob",
		"a password for a database":           "Server=db;User Id=sa;Pwd=«hunter2»;",
		"a password of an environment":        "DB_PASSWORD=«ab12&cd|ef<gh»\nPORT=80",
		"DB_PASS":                             "DB_PASS=«hunter2»",
		"a token of an environment":           "export DEPLOY_TOKEN=«" + hexed(32) + "»",
		"a short name in JSON":                `{"pwd": "«hunter2»"}`,
		"a token in JSON":                     `{"token": "«` + mixed(32) + `»"}`,
		"a token in a query":                  "https://example.com/x?token=«" + hexed(32) + "»&page=2",
		"a password in a URL":                 "postgres://app:«pa$$w0rd@2»@db:5432/x",
		"a long password in a URL":            "https://app:«" + mixed(600) + "»@db/x",
		"a password with < in a URL":          "amqp://app:«a<b>c»@mq:5672/x",
		"a password in XML":                   "<server><password>«hunter2»</password></server>",
		"a password in YAML":                  "db:\n  password: «hunter2»\n",
		"a password in code":                  `connect(user="bob", password="«correct horse»")`,
		"a password in PHP":                   `'password' => '«correct horse»',`,
		"a password in Python":                `os.environ["DB_PASSWORD"] = "«correct horse»"`,
		"a key with a name of two words":      "API Key: «" + hexed(32) + "»",
		"a secret of a client":                `client_secret: "«correct horse»"`,
		"a passphrase":                        "passphrase='«correct horse»'",
	}
	maps.Copy(all, kindsOfCommands())
	maps.Copy(all, kindsOfFiles())
	maps.Copy(all, laterKeys())
	return all
}

// documents are kinds of secrets that only a whole document of JSON shows.
func documents() map[string]string {
	return map[string]string{
		"a variable of an environment in JSON": `{"name": "DB_PASSWORD", "value": "«correct horse»"}`,
		"a header in JSON":                     `{"name": "Authorization", "value": "Bearer «abc»"}`,
		"credentials of Docker":                `{"auths": {"ghcr.io": {"auth": "«Ym9iOmhVTlRlbWxhdEZs»"}}}`,
		"an argument in JSON":                  `["login", "--password", "«correct horse»"]`,
	}
}

func unmarked(s string) string { return strings.NewReplacer("«", "", "»", "").Replace(s) }

// wanted is a text with its secret masked.
func wanted(s string) string {
	before, rest, _ := strings.Cut(s, "«")
	_, after, _ := strings.Cut(rest, "»")
	return before + "[…]" + after
}

// TestSecretsInTheTextsOfGuardsAreMasked: a guard quotes the beginnings of calls in its texts, as JSON that may be cut off.
func TestSecretsInTheTextsOfGuardsAreMasked(t *testing.T) {
	m := newMasker(t)
	for name, text := range map[string]string{
		"netrc over lines":                       `bash {"command":"echo 'machine example.com\n login bob\n password «hunter2»\n'"} returned the same result.`,
		"the password of a URL without its host": `fetch {"q":"https://app:«` + mixed(40) + `»…) returned the same result.`,
		"a key without its end":                  `export {"value":"«sk` + "-ant-" + mixed(60) + `»… returned the same result.`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := brief(m.Text(unmarked(text))), wanted(text); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			metadata, _ := json.Marshal(map[string]any{"guard": map[string]string{"message": unmarked(text)}})
			if got := string(m.Raw(metadata)); !masks.MatchString(got) || !json.Valid([]byte(got)) {
				t.Errorf("in JSON: %s", got)
			}
		})
	}
	for _, text := range []string{
		"the file internal/store/sqlstore/migrations…", "at 2026-11-22T10:11:12…", "call_1234567890…", "read a_long_name_of_a_file…", "…", "a…b…",
		"https://example.com:8080…",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestEveryKindOfSecretIsMasked(t *testing.T) {
	m := newMasker(t)
	all := kinds()
	if len(all)+len(documents()) < 95 {
		t.Errorf("there are %d kinds", len(all))
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			plain, want := unmarked(text), wanted(text)
			if got := brief(m.Text(plain)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			for _, escape := range []func(string) string{asIs, escaped, numbered} {
				inJSON := `{"a":{"out":` + escape("$ x\n"+plain+"\ny") + `}}`
				if got := read(t, m.Raw(json.RawMessage(inJSON))); brief(got) != "$ x\n"+want+"\ny" {
					t.Errorf("of %s\ngot  %s\nwant %s", inJSON, brief(got), want)
				}
				inner := `{"a":{"out":` + escape(`{"cut off": `+escape("x\n"+plain)) + `}}`
				if got := string(m.Raw(json.RawMessage(inner))); name != "netrc over lines" && !masks.MatchString(got) || !json.Valid([]byte(got)) {
					t.Errorf("in a string in a string: %s", got)
				}
			}
		})
	}
}

func TestMembersDetermineWhichStringsAreSecrets(t *testing.T) {
	m := newMasker(t)
	for name, text := range documents() {
		t.Run(name, func(t *testing.T) {
			plain, want := unmarked(text), wanted(text)
			if got := brief(m.Text(plain)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			for _, escape := range []func(string) string{asIs, escaped, numbered} {
				if got := read(t, m.Raw(json.RawMessage(`{"a":{"out":`+escape(plain)+`}}`))); brief(got) != want {
					t.Errorf("got  %s\nwant %s", brief(got), want)
				}
			}
		})
	}
}

// asIs, escaped and numbered write a text as JSON: as short as can be, with what may be escaped, and with all letters as numbers.
func asIs(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func escaped(s string) string {
	return strings.NewReplacer("/", `\/`, "&", `\u0026`, "+", `\u002b`, "=", `\u003D`, "<", `\u003c`, ":", `\u003A`).Replace(asIs(s))
}

func numbered(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		b.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]))
	}
	return b.String() + `"`
}

func read(t *testing.T, raw []byte) string {
	t.Helper()
	var v struct{ A struct{ Out string } }
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v.A.Out
}

func TestTextsThatOnlyLookLikeSecretsAreKept(t *testing.T) {
	m := newMasker(t)
	for name, text := range map[string]string{
		"a hash of git":                    "commit " + hexed(40) + "\nindex " + hexed(7) + ".." + hexed(7),
		"a hash of a file":                 "sha256:" + hexed(64) + "  out.tar.gz",
		"an integrity":                     `"integrity": "sha512-` + mixed(86) + `=="`,
		"a UUID":                           `{"id": "` + uuid + `", "request_id": "` + uuid + `"}`,
		"an image":                         "data:image/png;base64,iVBORw0KGgo" + mixed(400) + "=",
		"paths":                            "/usr/lib/python3.11/site-packages/secrets.py:12: /home/user/.ssh/id_rsa.pub",
		"a path of a key":                  "ssl_private_key: /etc/ssl/private/nginx1.key\nIdentityFile ~/.ssh/id_ed25519",
		"limits":                           "token_count=12345 max_tokens: 4096, total_tokens=98765, tokens=100200300",
		"a prompt":                         "Password: \nEnter passphrase (empty for no passphrase): ",
		"a call":                           "password = getpass()\ntoken = get_token(request1)\nsecret = secrets.token_hex(16)",
		"a lookup":                         `password = os.environ["DB_PASSWORD_1"]; token = cfg["token_1"]`,
		"an annotation":                    "def login(user: str, password: str, token: Optional[str] = None) -> bool:",
		"a field":                          "password = models.CharField(max_length=128)\napi_key: str = Field(default=None)",
		"a comparison":                     "if password == None or token != expected1:",
		"tests":                            "PASS: test_login1 (0.01s)\npass=12 fail=3\n--- PASS: TestX2",
		"a folder":                         "PWD=/srv/app1 OLDPWD=/srv/app2\n" + `{"pwd": "/srv/app1"}`,
		"words about flags":                "Use --password to set it, or --token FILE; --api-key is needed",
		"tokens of a model":                `{"token": "the", "logprob": -0.1}, {"token": "Ġworld1"}`,
		"a token of a parser":              "Token(type=NAME, value='x1', token: IDENTIFIER_2)",
		"a page":                           `{"nextPageToken": "` + mixed(20) + `", "continuation_token": "` + mixed(20) + `"}`,
		"CSS":                              "a:hover{color:#9f3c07} .secret-panel{margin:0 1px}",
		"words with dashes":                "task-management-2024, desk-1, risk-based, sk-learn-contrib-2024",
		"a name with a dot":                "import npm_config_cache1; hf_hub_download(repo_id='x1')",
		"an address":                       "http://localhost:8080/a@b, http://[::1]:80/, mailto:a@b.example, git@example.com:x/y.git",
		"a port and more":                  "see http://localhost:8080,bob@example.com",
		"a time":                           "2024-05-15T15:00:00Z a3-12 10:AA",
		"a certificate":                    "-----BEGIN CERTIFICATE-----\n" + mixed(64) + "\n-----END CERTIFICATE-----",
		"a public key":                     "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + mixed(43) + " me@example",
		"a reference":                      "password: ${{ secrets.DB_PASSWORD1 }}\ntoken: $TOKEN_1 api_key=<your-key-1> PASSWORD=%PASSWORD1%",
		"an example":                       `SECRET_KEY='secret' password="changeme" api_key: "your_api_key_1" postgres://user:password@db/x`,
		"a schema":                         `{"password": {"type": "string", "minLength": 8}, "required": ["password", "token"]}`,
		"an empty one":                     `{"password": "", "token": null, "api_key": false, "secret": {}}`,
		"a policy":                         "The password: at least 12 characters, one of them a digit. Secret: see page 9.",
		"a line of a log":                  "INFO auth=ok session=new user=bob1 sid=7",
		"a cookie banner":                  "Cookie: policy of 2024\ncookies = 3",
		"a port after sshpass":             "GIT_SSH_COMMAND=\"sshpass -e ssh -p 2222 -o StrictHostKeyChecking=no\" git push",
		"an address with variables":        "git clone https://${GITHUB_USER:-github}:${GITHUB_TOKEN:-<your-token>}@github.com/x/y",
		"the expression of a search":       "grep -E 'PASSWORD=8XD[A-Z0-9]{17}W54' # PASSWORD=8XDXXXXXXXXXXW54, PASSWORD=8XD_____W54 or PASSWORD=8XD...W54",
		"tokens of a model in base64":      "meta-llama-3-8B.tiktoken:PT09PT09PT09PT09PT09PQ== 112856",
		"a public token of a page":         `{"SystemEntropyOriginTrialToken": "A1L3tx5CzccqjN3lK6st/fXMwhf9EeokCPf8XCt0"}`,
		"names of variables":               `["API_KEY", "DB_PASSWORD1"], getenv("API_KEY", "DB_PASSWORD1"), getenv("API_KEY", "none")`,
		"prose about a password":           "The password is required, the api key is in config1.yaml, the secret is base64-encoded, the token is sha256.",
		"setters":                          `setPassword(password1); set_token("token"); getPassword("user1")`,
		"commands without a password":      "mysql -u root -p db; mkdir -p x1; docker login -u bob; docker run -p 8080:80 x; redis-cli -a $REDIS_PASS; zip -r x1.zip y",
		"what is piped into a command":     "echo done1; cat pw1 | sudo -S true && echo $PASS1 | sudo -S ls && echo \"$PASS1\" | docker login --password-stdin",
		"a certificate in base64":          "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMr",
		"attributes":                       `<input type="password" name="password" value="password"> <add key="Theme1" value="dark1">`,
		"a template":                       "url = f\"postgres?password={password1}&x\" Pwd={pwd_1};",
		"a vendor in prose":                "The sentry project = dsn for discord, twitter, and dropbox: see README2",
		"a vendor and a hash of a version": "linear-algebra=1.2.3 atlassian: confluence=9.2.1",
		"a bare -u":                        "docker run -u 1000:1000 img; sort -u a:b; ps -u root",
		"basic words":                      "Basic authentication2 is basic AuthScheme1",
		"a login":                          "rn with login / password\n+  login_i = (0 if _netrc[0] else 1)",
		"a header that is made":            "headers['authorization'] = 'Basic ' + b64encode(auth1)",
		"an argument":                      `["--password-file", "a1", "--token-count", "12"]`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := m.Text(text); got != text {
				t.Errorf("got  %s\nwant %s", got, text)
			}
			raw := `{"a":` + asIs(text) + `}`
			if got := string(m.Raw(json.RawMessage(raw))); got != raw {
				t.Errorf("got  %s\nwant %s", got, raw)
			}
		})
	}
}
