package cli

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/proxy"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// proxyFlags are the flags of unloop proxy.
type proxyFlags struct {
	profile   profileFlags
	addr      string
	upstreams map[string]*string
	mode      string
	onHalt    string
	budgets   proxy.Budgets
	server    string
	logLevel  string
}

func proxyCommand() *cobra.Command {
	f := proxyFlags{upstreams: make(map[string]*string)}
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Stand between an agent and its model API, and stop loops there",
		Long: "Proxy forwards requests to the APIs of OpenAI, Anthropic and Gemini. Each request contains the history of its conversation.\n" +
			"The proxy judges that history. In the mode nudge it appends a text for the model to a request in which the agent loops. In\n" +
			"the mode guard it also answers in the model's place when the run is halted, so that the agent ends in order. A new message\n" +
			"of a person always passes, also after a halt on the page of the run. Requests that it cannot judge pass unchanged. API keys\n" +
			"pass through; they are neither stored nor logged.\n\n" +
			"Set the base URL of the agent:\n\n" +
			"  OPENAI_BASE_URL=http://127.0.0.1:4141/openai/v1\n" +
			"  ANTHROPIC_BASE_URL=http://127.0.0.1:4141/anthropic\n" +
			"  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4141/gemini",
		Example: "  unloop proxy\n" +
			"  unloop proxy --mode guard\n" +
			"  unloop proxy --openai-upstream http://127.0.0.1:11434      # Ollama, vLLM, LiteLLM and others with OpenAI's API\n" +
			"  unloop proxy --server http://127.0.0.1:8765                # record the runs, for the dashboard",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *proxyFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.addr, "addr", "127.0.0.1:4141", "listen on `HOST:PORT`, which must be loopback")
	vendors := config.Default().Proxy
	for name, vendor := range map[string]string{"openai": vendors.OpenAI, "anthropic": vendors.Anthropic, "gemini": vendors.Gemini} {
		f.upstreams[name] = flags.String(name+"-upstream", vendor, "forward /"+name+" to this base `URL`, without the version's path")
	}
	flags.StringVar(&f.mode, "mode", string(proxy.Nudge), "the `MODE`: observe, nudge or guard")
	flags.StringVar(&f.onHalt, "on-halt", string(proxy.HaltAnswer), "the `KIND` of answer to a halted run: answer (a complete one) or error (400)")
	flags.Int64Var(&f.budgets.Session.Tokens, "budget-tokens", 0, "`TOKENS` that a session may spend; 0 for no limit")
	flags.Float64Var(&f.budgets.Session.Cost, "budget-cost", 0, "`USD` that a session may spend, by list prices; 0 for no limit")
	flags.Int64Var(&f.budgets.Session.Calls, "budget-calls", 0, "`CALLS` of a model in a session; 0 for no limit")
	flags.DurationVar(&f.budgets.Session.Time, "budget-time", 0, "the `DURATION` from a session's first call to its last, such as 90m; 0 for no limit")
	flags.Var(&budgetValue{&f.budgets.Key}, "key-budget", "what one API key may spend, as `LIMITS`: cost=20,tokens=5000000,calls=1000,time=12h, or some of them")
	flags.Var(&budgetValue{&f.budgets.Project}, "project-budget", "the same for one project, which the header X-Unloop-Project or OpenAI-Project names, as `LIMITS`")
	flags.StringVar(&f.server, "server", "", "record the runs on the server at this `URL`, and follow the orders that people give there")
	flags.StringVar(&f.logLevel, "log-level", "info", "the `LEVEL`: debug, info, warn or error")
	f.profile.add(flags)
}

// budgetValue is the value of a flag with the limits of a budget.
type budgetValue struct{ budget *proxy.Budget }

func (v *budgetValue) Type() string { return "LIMITS" }

func (v *budgetValue) String() string { return "" }

func (v *budgetValue) Set(text string) (err error) {
	*v.budget, err = proxy.ParseBudget(text)
	return err
}

// bodyMemory returns the memory of all requests of a proxy: half the default budget of a server. It makes the budget the memory limit of
// the runtime.
func bodyMemory() int64 {
	budget := memory.Default(2 * proxy.LeastBodies)
	memory.Limit(budget)
	return budget / 2
}

// options returns the options of the proxy.
func (f *proxyFlags) options(log *slog.Logger) (proxy.Options, error) {
	o := proxy.Options{
		Mode: proxy.Mode(f.mode), OnHalt: proxy.OnHalt(f.onHalt), Upstreams: make(map[string]*url.URL), Log: log, Budgets: f.budgets,
		MaxBody: proxy.MaxBody, MaxBodies: bodyMemory(), MaxMemory: 256 << 20,
	}
	var err error
	if o.Profile, err = f.profile.load(); err != nil {
		return o, err
	}
	for name, text := range f.upstreams {
		if o.Upstreams[name], err = url.Parse(*text); err != nil {
			return o, fmt.Errorf("invalid --%s-upstream %q: want http://HOST or https://HOST", name, *text)
		}
	}
	return o, nil
}

// run serves until the command is interrupted.
func (f *proxyFlags) run(cmd *cobra.Command) error {
	useFallbackRoots()
	log := logger(cmd.ErrOrStderr(), config.Log{Level: f.logLevel, Format: "text"})
	o, err := f.options(log)
	if err != nil {
		return err
	}
	server, err := connectRecorder(cmd, f.server)
	if err != nil {
		return err
	}
	defer server.close()
	o.Record, o.Controls = server.record, server.controls
	p, err := proxy.New(o)
	if err != nil {
		return suggest(err, f.mode, []string{string(proxy.Observe), string(proxy.Nudge), string(proxy.Guard)})
	}
	return f.serve(cmd, p)
}

// serve listens and serves until the command is interrupted.
func (f *proxyFlags) serve(cmd *cobra.Command, p *proxy.Proxy) error {
	if err := config.CheckLoopback(f.addr); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("%w (--addr sets another address)", err)
	}
	out := cmd.OutOrStdout()
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(out, "unloop %s proxies model APIs, mode %s\n\n", programVersion(), f.mode)
	fmt.Fprintf(out, "  OPENAI_BASE_URL=%s/openai/v1\n  ANTHROPIC_BASE_URL=%s/anthropic\n  GOOGLE_GEMINI_BASE_URL=%s/gemini\n", base, base, base)
	if err := reverseproxy.Serve(cmd.Context(), listener, p); err != nil {
		return err
	}
	s := p.Stats()
	fmt.Fprintf(out, "\n%d model calls judged, %d nudged, %d halted, %d unjudged; %d tool calls blocked\n", s.Judged, s.Nudged, s.Halted, s.Unjudged, s.Blocked)
	return nil
}
