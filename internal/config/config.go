// Package config holds what a server can be told: where it listens and records, under which profile it judges, whom it
// trusts, and its limits. A configuration comes from a YAML file, the environment and flags; what stands behind it is
// package app, which makes the parts of a server of it.
//
// The names of the settings, what they are for and their values at first stand in one place, the struct Config: the file that
// unloop init writes, the names of environment variables and the messages about mistakes are all made from it.
package config

import "time"

// Config is all that a server can be told. Its zero value is of no use: begin with Default.
type Config struct {
	Addr       string    `yaml:"addr" doc:"Where HTTP is served, HOST:PORT. An address that other machines can reach needs tokens."`
	GRPCAddr   string    `yaml:"grpc_addr" doc:"Where OTLP over gRPC is taken, HOST:PORT, or off."`
	URL        string    `yaml:"url" doc:"Where people reach the server, for links in webhooks. Empty: http:// and addr."`
	DB         string    `yaml:"db" doc:"A SQLite file, or postgres://… Empty: unloop.db in the folder where your programs keep their state."`
	Profile    string    `yaml:"profile" doc:"The profile that judges the runs. unloop profile list names them."`
	Settings   Settings  `yaml:"settings" doc:"What shall be other than the profile has it, such as {same_errors: 6}. unloop profile show NAME lists all settings."`
	Project    string    `yaml:"project" doc:"The project of runs that name none."`
	Hosts      []string  `yaml:"hosts" doc:"Host names, beside localhost and that of addr, under which the server may be asked, such as [unloop.example.com]."`
	Origins    []string  `yaml:"origins" doc:"Web pages, beside the server's own, that may send requests, such as [https://app.example.com]."`
	Tokens     []Token   `yaml:"tokens" doc:"Who may do what. unloop config token makes an entry. Without tokens, everyone who reaches the server may do all."`
	Limits     Limits    `yaml:"limits" doc:"How much is taken at once."`
	Memory     Size      `yaml:"memory" doc:"What the server takes, about, shared out to requests, the queue, traces, runs and guards. 0: a quarter of the machine's or the container's memory, and 16 times limits.body at least."`
	Retention  Retention `yaml:"retention" doc:"When runs that are over are deleted, the oldest first."`
	IdleClose  Duration  `yaml:"idle_close" doc:"A run without events for so long is taken to be over."`
	IdleMemory Duration  `yaml:"idle_memory" doc:"A run without events for so long leaves memory. It comes back from the database with its next event."`
	LiveRuns   int       `yaml:"live_runs" doc:"How many runs are in memory at once. Those that are idle for longest make room."`
	Content    string    `yaml:"content" doc:"What is stored of inputs, outputs, errors, messages and metadata: full, excerpts (256 bytes of each) or none. Runs are judged by all of it."`
	Mask       Mask      `yaml:"mask" doc:"Secrets are masked in all that is sent: keys of known forms, passwords, and values whose name says that they are secret."`
	Prices     string    `yaml:"prices" doc:"A file with prices of models, which go before the built-in ones. Empty: none."`
	Webhooks   []Webhook `yaml:"webhooks" doc:"Who is told of warnings."`
	Log        Log       `yaml:"log" doc:"For operators, on standard error. Prompts, inputs and outputs are never logged."`
}

// Token lets who knows it do what its scope says. Only its hash is kept.
type Token struct {
	Name   string `yaml:"name" doc:"what you call it"`
	Scope  string `yaml:"scope" doc:"ingest (sends events), read, or admin (both, and deletes)"`
	SHA256 string `yaml:"sha256" doc:"the hash of the token, in hexadecimal digits"`
}

// Limits bound what is taken at once.
type Limits struct {
	Body        Size `yaml:"body" doc:"a request, both as sent and as unpacked"`
	Batch       int  `yaml:"batch" doc:"events in a request"`
	Depth       int  `yaml:"depth" doc:"how deep an event's JSON is nested"`
	Attributes  int  `yaml:"attributes" doc:"of a span or a log record"`
	Connections int  `yaml:"connections" doc:"open at once, of HTTP and of gRPC each; a quarter is for those that have shown no token"`
	QueueEvents int  `yaml:"queue_events" doc:"events that wait to be recorded; beyond it senders are asked to come again"`
	QueueBytes  Size `yaml:"queue_bytes" doc:"the same in bytes; 0 for an eighth of memory"`
	TraceBytes  Size `yaml:"trace_bytes" doc:"traces in memory; those that are idle for longest make room; 0 for an eighth of memory"`
}

// Retention says when runs that are over are deleted.
type Retention struct {
	Age  Duration `yaml:"age" doc:"since a run's last event, such as 90d; 0 for never"`
	Size Size     `yaml:"size" doc:"of the database; 0 for no limit"`
}

// Mask says how secrets are kept out of the store.
type Mask struct {
	Disabled bool     `yaml:"disabled" doc:"true to store everything as it came"`
	Patterns []string `yaml:"patterns" doc:"what else is secret, as regular expressions (RE2)"`
}

// Webhook is an address that is told of warnings.
type Webhook struct {
	URL      string   `yaml:"url" doc:"where messages are posted to"`
	Format   string   `yaml:"format" doc:"json (as where it is left out) or slack"`
	Secret   string   `yaml:"secret" doc:"what messages are signed with; left out for no signature"`
	Rules    []string `yaml:"rules" doc:"which warnings; left out for all"`
	Severity string   `yaml:"severity" doc:"from which on: info (as where it is left out), warning or critical"`
	Projects []string `yaml:"projects" doc:"of which projects; left out for all"`
	Timeout  Duration `yaml:"timeout" doc:"of one attempt; 10s where it is left out"`
}

// fill sets what was left out, and holds some value all the same.
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

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level" doc:"from which on: debug, info, warn or error"`
	Format string `yaml:"format" doc:"text or json"`
}

// Settings change a profile's settings: the value of each by its name, as JSON.
type Settings map[string]string

// Off, as the address of gRPC, is nowhere.
const Off = "off"

// Default returns the configuration of a server that was told nothing.
func Default() *Config {
	return &Config{
		Addr:     "127.0.0.1:8765",
		GRPCAddr: "127.0.0.1:4317",
		Profile:  "default",
		Project:  "default",
		Limits: Limits{
			Body: 16 << 20, Batch: 10_000, Depth: 128, Attributes: 1024, Connections: 1024,
			QueueEvents: 50_000,
		},
		Retention:  Retention{Size: 10 << 30},
		IdleClose:  Duration(30 * time.Minute),
		IdleMemory: Duration(5 * time.Minute),
		LiveRuns:   2048,
		Content:    "full",
		Log:        Log{Level: "info", Format: "text"},
	}
}
