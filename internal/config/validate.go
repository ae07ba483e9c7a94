package config

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/settings"
)

// Validate returns all errors, each as a *settings.Error with the field and the allowed values.
func (c *Config) Validate() error {
	var v validation
	v.address("addr", c.Addr, len(c.Tokens) > 0)
	if c.GRPCAddr != Off {
		v.address("grpc_addr", c.GRPCAddr, len(c.Tokens) > 0)
	}
	if c.URL != "" {
		v.webURL("url", c.URL)
	}
	v.database("db", c.DB)
	v.profile(c)
	v.filled("project", c.Project)
	v.hosts(c.Hosts)
	v.origins(c.Origins)
	v.tokens(c.Tokens)
	v.limits(&c.Limits)
	if c.Memory != 0 {
		between(&v, "memory", c.Memory, LeastMemory(c.Limits.Body), 1<<50)
	}
	if c.Retention.Age != 0 {
		between(&v, "retention.age", c.Retention.Age, Duration(time.Minute), 36500*Duration(day))
	}
	if c.Retention.Size != 0 {
		between(&v, "retention.size", c.Retention.Size, 1<<20, 1<<50)
	}
	between(&v, "idle_close", c.IdleClose, Duration(time.Second), 365*Duration(day))
	between(&v, "idle_memory", c.IdleMemory, Duration(time.Second), 365*Duration(day))
	between(&v, "live_runs", c.LiveRuns, 1, 1_000_000)
	v.OneOf("content", c.Content, "full", "excerpts", "none")
	v.patterns(c.Mask.Patterns)
	for i := range c.Webhooks {
		v.webhook(fmt.Sprintf("webhooks[%d]", i), &c.Webhooks[i])
	}
	if c.OTLPExport.Endpoint != "" {
		v.webURL("otlp_export.endpoint", c.OTLPExport.Endpoint)
	}
	v.OneOf("otlp_export.protocol", c.OTLPExport.Protocol, "http/protobuf", "grpc")
	if c.Langfuse.Endpoint != "" {
		v.webURL("langfuse.endpoint", c.Langfuse.Endpoint)
	}
	v.secondOpinion(&c.SecondOpinion)
	v.proxy(&c.Proxy)
	v.cluster(&c.Cluster)
	v.OneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	v.OneOf("log.format", c.Log.Format, "text", "json")
	return v.Err()
}

// cluster checks the settings of a cluster.
func (v *validation) cluster(c *Cluster) {
	for address := range strings.SplitSeq(c.NATS, ",") {
		if c.NATS == "" {
			break
		}
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			v.invalid("cluster.nats", address, "nats://HOST:PORT, several separated by commas")
		}
	}
	for role := range strings.SplitSeq(c.Roles, ",") {
		v.OneOf("cluster.roles", role, RoleIngest, RoleWork, RoleAPI)
	}
	if c.NATS == "" && !(c.Has(RoleIngest) && c.Has(RoleWork) && c.Has(RoleAPI)) {
		v.wrong("cluster.roles", "needs cluster.nats: a server that is alone has all roles")
	}
	between(v, "cluster.replicas", c.Replicas, 1, 5)
	between(v, "cluster.stream_size", c.StreamSize, 1<<20, 1<<50)
}

// LeastMemory returns the minimum memory for requests with the largest body.
func LeastMemory(body Size) Size { return 16 * body }

// validation collects the errors of values.
type validation struct{ settings.Errors }

func (v *validation) wrong(path, format string, a ...any) {
	v.Add(settings.Place{}, path, path+" "+format, a...)
}

func (v *validation) invalid(path string, value any, allowed string) {
	v.Invalid(settings.Place{}, path, value, allowed)
}

// between checks that a value is in a range.
func between[N int | Size | Duration](v *validation, path string, value, least, most N) {
	settings.Range(&v.Errors, path, value, least, most)
}

func (v *validation) limits(l *Limits) {
	between(v, "limits.body", l.Body, 1<<10, 1<<30)
	between(v, "limits.batch", l.Batch, 1, 1_000_000)
	between(v, "limits.depth", l.Depth, 8, 10_000)
	between(v, "limits.connections", l.Connections, 1, 1_000_000)
	between(v, "limits.queue_events", l.QueueEvents, max(1, l.Batch), 100_000_000)
	if l.QueueBytes != 0 {
		between(v, "limits.queue_bytes", l.QueueBytes, max(1<<10, l.Body), 1<<40)
	}
	if l.TraceBytes != 0 {
		between(v, "limits.trace_bytes", l.TraceBytes, 1<<20, 1<<40)
	}
}

// address checks that a value is HOST:PORT. An address that other machines can reach requires tokens.
func (v *validation) address(path, value string, tokens bool) {
	host, port, err := net.SplitHostPort(value)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		v.invalid(path, value, "HOST:PORT, such as 127.0.0.1:8765")
		return
	}
	if !tokens && !isLoopback(host) {
		v.wrong(path, "is %s, which is not loopback and requires tokens (unloop config token creates one); without tokens use 127.0.0.1", value)
	}
}

// CheckLoopback returns an error if addr is not HOST:PORT with a host that only this machine can reach.
func CheckLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT, such as 127.0.0.1:4141", addr)
	}
	if !isLoopback(host) {
		return fmt.Errorf("%s is not loopback; use 127.0.0.1", addr)
	}
	return nil
}

// isLoopback reports whether only this machine can reach the host. An empty host means all addresses.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func (v *validation) webURL(path, value string) {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		v.invalid(path, nil, "a URL that begins with http:// or https://") // it may be a secret
	}
}

func (v *validation) database(path, value string) {
	scheme, _, found := strings.Cut(value, "://")
	if !found {
		return // a file
	}
	if _, err := url.Parse(value); err != nil || scheme != "postgres" && scheme != "postgresql" {
		v.invalid(path, nil, "the path of a SQLite file, or a URL that begins with postgres://") // it may hold a password
	}
}

func (v *validation) profile(c *Config) {
	v.Errors = append(v.Errors, settings.Unjoin(c.profileMistakes())...)
}

func (v *validation) filled(path, value string) {
	if strings.TrimSpace(value) == "" {
		v.wrong(path, "must not be empty")
	}
}

func (v *validation) hosts(hosts []string) {
	for i, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/* \t") {
			v.invalid(fmt.Sprintf("hosts[%d]", i), h, "a name such as unloop.example.com, or with a port, for that port only")
		}
	}
}

func (v *validation) origins(origins []string) {
	for i, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o {
			v.invalid(fmt.Sprintf("origins[%d]", i), o, "scheme, host and port only, such as https://app.example.com")
		}
	}
}

// scopes are the scopes of tokens.
var scopes = []string{"ingest", "read", "admin"}

func (v *validation) tokens(tokens []Token) {
	seen := make(map[string]bool)
	for i, t := range tokens {
		path := fmt.Sprintf("tokens[%d].", i)
		v.filled(path+"name", t.Name)
		if t.Name != "" && seen[t.Name] {
			v.wrong(path+"name", "is %q, which an earlier token has", t.Name)
		}
		seen[t.Name] = true
		v.OneOf(path+"scope", t.Scope, scopes...)
		if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != 32 {
			v.invalid(path+"sha256", nil, "64 hexadecimal digits, as unloop config token prints them")
		}
	}
}

func (v *validation) patterns(patterns []string) {
	for i, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			v.wrong(fmt.Sprintf("mask.patterns[%d]", i), "is not a valid regular expression: %v", err)
		}
	}
}

func (v *validation) secondOpinion(s *SecondOpinion) {
	if s.Endpoint != "" {
		v.webURL("second_opinion.endpoint", s.Endpoint)
	}
	between(v, "second_opinion.wait", s.Wait, 0, Duration(5*time.Minute))
	between(v, "second_opinion.timeout", s.Timeout, Duration(100*time.Millisecond), Duration(5*time.Minute))
	between(v, "second_opinion.per_run", s.PerRun, 1, 1_000_000)
	between(v, "second_opinion.per_hour", s.PerHour, 1, 1_000_000)
	between(v, "second_opinion.max_tokens", s.MaxTokens, 50, 100_000)
}

func (v *validation) proxy(p *Proxy) {
	if err := CheckLoopback(p.Addr); p.Addr != "" && err != nil {
		v.wrong("proxy.addr", "is not allowed: %v", err)
	}
	v.OneOf("proxy.mode", p.Mode, "observe", "nudge", "guard")
	v.OneOf("proxy.on_halt", p.OnHalt, "answer", "error")
	v.webURL("proxy.openai_upstream", p.OpenAI)
	v.webURL("proxy.anthropic_upstream", p.Anthropic)
	v.webURL("proxy.gemini_upstream", p.Gemini)
}

func (v *validation) webhook(path string, w *Webhook) {
	v.webURL(path+".url", w.URL)
	if w.Format != "" {
		v.OneOf(path+".format", w.Format, "json", "slack")
	}
	if w.Severity != "" {
		v.OneOf(path+".severity", w.Severity, "info", "warning", "critical")
	}
	if w.Timeout != 0 {
		between(v, path+".timeout", w.Timeout, Duration(100*time.Millisecond), Duration(5*time.Minute))
	}
	for i, rule := range w.Rules {
		v.OneOf(fmt.Sprintf("%s.rules[%d]", path, i), rule, detect.Rules()...)
	}
}
