// Package config holds the configuration of a server: addresses, database, profile, tokens and limits. A configuration comes from a
// YAML file, environment variables and flags. Package app builds the parts of a server from it.
//
// The struct Config defines the names and descriptions of the settings, and Default their values. The file that unloop init writes,
// the names of environment variables and the error messages are all derived from it.
package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config is the configuration of a server. Its zero value is not valid: start from Default.
type Config struct {
	Addr          string        `yaml:"addr" doc:"Where HTTP is served, HOST:PORT. An address that is not loopback requires tokens."`
	GRPCAddr      string        `yaml:"grpc_addr" doc:"Where OTLP over gRPC is served, HOST:PORT, or off."`
	URL           string        `yaml:"url" doc:"Base URL of the server, for links in webhooks and OTLP. Empty: http:// and addr."`
	DB            string        `yaml:"db" doc:"A SQLite file, or postgres://… Empty: unloop.db in your state directory."`
	Profile       string        `yaml:"profile" doc:"The profile that evaluates the runs. unloop profile list lists all profiles."`
	Settings      Settings      `yaml:"settings" doc:"Changes to the profile's settings, such as {same_errors: 6}. unloop profile show NAME lists all settings."`
	Shadow        Shadow        `yaml:"shadow" doc:"A second profile that judges all runs and never acts. The dashboard shows what it would have decided in each run."`
	Project       string        `yaml:"project" doc:"The project of runs that do not name one."`
	Hosts         []string      `yaml:"hosts" doc:"Allowed host names in requests, besides localhost and the host of addr, such as [unloop.example.com]."`
	Origins       []string      `yaml:"origins" doc:"Origins of web pages that may send requests, besides the server's own, such as [https://app.example.com]."`
	Tokens        []Token       `yaml:"tokens" doc:"Access tokens with their scopes. unloop config token creates an entry. Without tokens, every client has full access."`
	Limits        Limits        `yaml:"limits" doc:"Limits of requests, connections and the queue."`
	Memory        Size          `yaml:"memory" doc:"Approximate memory budget of the server, shared by requests, the queue, traces, runs and guards. 0: a quarter of the memory of the machine or container, but at least 16 times limits.body."`
	Retention     Retention     `yaml:"retention" doc:"When ended runs are deleted, the oldest first."`
	IdleClose     Duration      `yaml:"idle_close" doc:"A run without events for this long is abandoned."`
	IdleMemory    Duration      `yaml:"idle_memory" doc:"A run without events for this long is evicted from memory. Its next event loads it from the database."`
	LiveRuns      int           `yaml:"live_runs" doc:"Maximum number of runs in memory. The share of memory for runs usually ends first. The runs that were idle longest are evicted."`
	Content       string        `yaml:"content" doc:"What is stored of inputs, outputs, errors, messages and metadata: full, excerpts (256 bytes of each) or none. Runs are evaluated with their full content."`
	Search        bool          `yaml:"search" doc:"Full-text search over the stored content of events. false: events are not indexed, and an existing index is deleted."`
	Mask          Mask          `yaml:"mask" doc:"Masking of secrets in all requests: keys of known formats, passwords, and values whose name marks them as secret."`
	Prices        string        `yaml:"prices" doc:"A file with prices of models, which take precedence over the built-in ones. Empty: none."`
	Webhooks      []Webhook     `yaml:"webhooks" doc:"Endpoints that receive warnings."`
	OTLPExport    OTLPExport    `yaml:"otlp_export" doc:"A receiver of OTLP, such as an OpenTelemetry collector, that gets warnings and decisions. docs/otlp-export.md describes them."`
	Langfuse      Langfuse      `yaml:"langfuse" doc:"A project of Langfuse that gets warnings and decisions as scores. docs/otlp-export.md describes them."`
	SecondOpinion SecondOpinion `yaml:"second_opinion" doc:"A model that is asked whether an agent is stuck, on weak evidence and before a stop. docs/second-opinion.md says what is sent."`
	Proxy         Proxy         `yaml:"proxy" doc:"A proxy in front of model APIs on a port of its own, which records its runs. docs/proxy.md says how it judges."`
	Cluster       Cluster       `yaml:"cluster" doc:"Several servers that share one PostgreSQL and one stream of NATS JetStream. docs/cluster.md describes it."`
	Log           Log           `yaml:"log" doc:"The server's log, on standard error. Prompts, inputs and outputs are never logged."`
}

// Shadow sets the second profile, which never acts.
type Shadow struct {
	Profile  string   `yaml:"profile" doc:"name of the profile; empty: that of the server, if there are settings"`
	Settings Settings `yaml:"settings" doc:"changes to its settings; those of the server do not apply"`
}

// Token grants its bearer what its scope allows. Only its hash is stored.
type Token struct {
	Name   string `yaml:"name" doc:"a name of your choice"`
	Scope  string `yaml:"scope" doc:"ingest (send events), read, or admin (both, delete, label, mute and apply settings)"`
	SHA256 string `yaml:"sha256" doc:"SHA-256 hash of the token, in hexadecimal digits"`
}

// Limits bound requests, connections and the queue.
type Limits struct {
	Body        Size `yaml:"body" doc:"maximum size of a request, as sent and as unpacked"`
	Batch       int  `yaml:"batch" doc:"maximum number of events in a request"`
	Depth       int  `yaml:"depth" doc:"maximum nesting depth of an event's JSON"`
	Connections int  `yaml:"connections" doc:"maximum number of open connections, of HTTP and of gRPC each; those without a valid token may use a quarter"`
	QueueEvents int  `yaml:"queue_events" doc:"maximum number of events in the queue; requests beyond it get 429"`
	QueueBytes  Size `yaml:"queue_bytes" doc:"maximum size of the queue; 0: an eighth of memory"`
	TraceBytes  Size `yaml:"trace_bytes" doc:"maximum size of traces in memory; the traces that were idle longest are evicted; 0: an eighth of memory"`
}

// Retention sets when ended runs are deleted.
type Retention struct {
	Age  Duration `yaml:"age" doc:"time since a run's last event, such as 90d; 0: no limit"`
	Size Size     `yaml:"size" doc:"maximum size of the database; 0: no limit"`
}

// Mask sets how secrets are masked before they are stored.
type Mask struct {
	Disabled bool     `yaml:"disabled" doc:"true: store everything unmasked"`
	Patterns []string `yaml:"patterns" doc:"further secrets, as regular expressions (RE2)"`
}

// Webhook is an endpoint that receives warnings.
type Webhook struct {
	URL      string   `yaml:"url" doc:"endpoint for messages, which are sent by POST"`
	Format   string   `yaml:"format" doc:"json or slack; default: json"`
	Secret   string   `yaml:"secret" doc:"key of the messages' signatures; default: no signature"`
	Rules    []string `yaml:"rules" doc:"rules whose warnings are sent; default: all"`
	Severity string   `yaml:"severity" doc:"minimum severity: info, warning or critical; default: info"`
	Projects []string `yaml:"projects" doc:"projects whose warnings are sent; default: all"`
	Timeout  Duration `yaml:"timeout" doc:"timeout of one attempt; default: 10s"`
}

// fill sets the defaults of empty fields.
func (w *Webhook) fill() {
	if w.Format == "" {
		w.Format = "json"
	}
	if w.Severity == "" {
		w.Severity = "info"
	}
	if w.Timeout == 0 {
		w.Timeout = Duration(10 * time.Second)
	}
}

// OTLPExport sets where warnings and decisions are sent over OTLP.
type OTLPExport struct {
	Endpoint   string `yaml:"endpoint" doc:"base URL, such as http://localhost:4318, or http://localhost:4317 for grpc; https:// encrypts; empty: nothing is sent"`
	Protocol   string `yaml:"protocol" doc:"http/protobuf or grpc"`
	HeadersEnv string `yaml:"headers_env" doc:"name of the environment variable that contains headers, KEY=VALUE,KEY=VALUE with percent-encoded values; empty: no headers"`
}

// Langfuse sets the project that gets warnings and decisions as scores.
type Langfuse struct {
	Endpoint     string `yaml:"endpoint" doc:"base URL, such as https://cloud.langfuse.com; empty: nothing is sent"`
	PublicKey    string `yaml:"public_key" doc:"public key of the project"`
	SecretKeyEnv string `yaml:"secret_key_env" doc:"name of the environment variable that contains the secret key of the project"`
}

// SecondOpinion sets which model is asked whether an agent is stuck, and how often.
type SecondOpinion struct {
	Endpoint  string   `yaml:"endpoint" doc:"base URL of a chat API, such as https://api.openai.com/v1; empty: no model is asked"`
	Model     string   `yaml:"model" doc:"name of the model"`
	APIKeyEnv string   `yaml:"api_key_env" doc:"name of the environment variable that contains the API key; empty: no key"`
	Wait      Duration `yaml:"wait" doc:"how long a decision of unloop guard waits for an answer; the server waits for none"`
	Timeout   Duration `yaml:"timeout" doc:"timeout of a question"`
	PerRun    int      `yaml:"per_run" doc:"maximum number of questions about one run"`
	PerHour   int      `yaml:"per_hour" doc:"maximum number of questions in an hour"`
	MaxTokens int      `yaml:"max_tokens" doc:"maximum number of tokens in an answer"`
}

// Proxy sets the proxy in front of model APIs.
type Proxy struct {
	Addr          string `yaml:"addr" doc:"where it listens, HOST:PORT, which must be loopback; empty: there is no proxy"`
	Mode          string `yaml:"mode" doc:"observe, nudge or guard"`
	OnHalt        string `yaml:"on_halt" doc:"how it answers a halted run: answer (in the model's place) or error (status 400)"`
	OpenAI        string `yaml:"openai_upstream" doc:"base URL behind /openai, without the version's path"`
	Anthropic     string `yaml:"anthropic_upstream" doc:"base URL behind /anthropic"`
	Gemini        string `yaml:"gemini_upstream" doc:"base URL behind /gemini"`
	SessionBudget string `yaml:"session_budget" doc:"what a session may spend, such as cost=5,calls=200; also tokens and time; empty: no limit"`
	KeyBudget     string `yaml:"key_budget" doc:"what an API key may spend; empty: no limit"`
	ProjectBudget string `yaml:"project_budget" doc:"what a project may spend, which a header names; empty: no limit"`
}

// Cluster sets how the server shares its work with others.
type Cluster struct {
	NATS       string `yaml:"nats" doc:"nats://HOST:PORT of the NATS servers, separated by commas; empty: the server is alone"`
	Roles      string `yaml:"roles" doc:"what this server does, separated by commas: ingest (take events), work (judge and record runs), api (answer queries)"`
	Replicas   int    `yaml:"replicas" doc:"copies of the stream on NATS servers, 1 to 5; used by the server that creates the stream"`
	StreamSize Size   `yaml:"stream_size" doc:"maximum size of the stream; requests beyond it get 429; used by the server that creates the stream"`
}

// The roles of a server in a cluster.
const (
	RoleIngest = "ingest" // takes events from agents, and answers guards
	RoleWork   = "work"   // judges and records the runs of its partitions
	RoleAPI    = "api"    // answers queries, and everything else that people do
)

// Has reports whether the server has a role.
func (c *Cluster) Has(role string) bool { return slices.Contains(strings.Split(c.Roles, ","), role) }

// Log sets the level and the format of the log.
type Log struct {
	Level  string `yaml:"level" doc:"minimum level: debug, info, warn or error"`
	Format string `yaml:"format" doc:"text or json"`
}

// Settings changes a profile's settings. It maps names to values in JSON.
type Settings map[string]string

// SetMember adds a setting, or replaces the one of the name.
func (s *Settings) SetMember(name string, value *yaml.Node) error {
	text, err := oneLine(value)
	if err != nil {
		return err
	}
	if *s == nil {
		*s = make(Settings)
	}
	(*s)[name] = text
	return nil
}

// oneLine writes a value as JSON, which is YAML on one line.
func oneLine(n *yaml.Node) (string, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", errors.New("not a valid value of a setting")
	}
	return string(text), nil
}

// Off is the value of GRPCAddr that disables gRPC.
const Off = "off"

// Default returns the configuration of a server without a file, environment variables or flags.
func Default() *Config {
	return &Config{
		Addr:     "127.0.0.1:8765",
		GRPCAddr: "127.0.0.1:4317",
		Profile:  "default",
		Project:  "default",
		Limits: Limits{
			Body: 16 << 20, Batch: 10_000, Depth: 128, Connections: 1024,
			QueueEvents: 50_000,
		},
		Retention:  Retention{Size: 10 << 30},
		IdleClose:  Duration(30 * time.Minute),
		IdleMemory: Duration(5 * time.Minute),
		LiveRuns:   65_536,
		Content:    "full",
		Search:     true,
		OTLPExport: OTLPExport{Protocol: "http/protobuf"},
		SecondOpinion: SecondOpinion{
			Wait: Duration(5 * time.Second), Timeout: Duration(20 * time.Second), PerRun: 5, PerHour: 60, MaxTokens: 1000,
		},
		Proxy: Proxy{
			Mode: "nudge", OnHalt: "answer",
			OpenAI: "https://api.openai.com", Anthropic: "https://api.anthropic.com", Gemini: "https://generativelanguage.googleapis.com",
		},
		Cluster: Cluster{Roles: "ingest,work,api", Replicas: 3, StreamSize: 10 << 30},
		Log:     Log{Level: "info", Format: "text"},
	}
}
