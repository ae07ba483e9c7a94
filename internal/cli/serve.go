package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/config"
)

func serveCommand() *cobra.Command {
	var f configFlags
	var open bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Receive events from agents live, and report which runs loop",
		Long: "Serve receives events over HTTP, over OpenTelemetry (OTLP over HTTP and gRPC), and from unloop watch, which follows\n" +
			"files. It reports at once which runs loop. It acknowledges events only after they are on disk. Other\n" +
			"machines can reach it only if tokens are configured: see unloop config token. It runs until it is interrupted.",
		Example: "  unloop serve\n" +
			"  unloop serve --addr 127.0.0.1:9000 --db runs.db\n" +
			"  unloop serve --db postgres://unloop@db.example.com/unloop\n" +
			"  unloop serve --db postgres://db.example.com/unloop --cluster nats://n1:4222,nats://n2:4222,nats://n3:4222\n" +
			"  unloop serve --profile looplens --set cost_budget=2\n" +
			"  unloop demo                         # in a second shell: an agent that loops, live\n" +
			"  curl -N http://127.0.0.1:8765/api/stream",
		Args: noFileArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := f.load()
			if err != nil {
				return err
			}
			useFallbackRoots()
			withdraw := func() {}
			defer func() { withdraw() }()
			server := app.Serve{
				Config: loaded.Config, File: loaded.File, Version: programVersion(), Log: logger(cmd.ErrOrStderr(), loaded.Log),
				GRPCOptional: !loaded.Given("grpc_addr"),
				Ready: func(a app.Addresses) {
					greet(cmd.OutOrStdout(), loaded, a)
					if len(loaded.Tokens) == 0 && loaded.Cluster.Has(config.RoleIngest) { // hooks have no token
						withdraw = announceToHooks(cmd.ErrOrStderr(), a.HTTP)
					}
					if open {
						browse(cmd.Context(), a.URL)
					}
				},
			}
			for _, notice := range loaded.Notices {
				complain(cmd.ErrOrStderr(), notice)
			}
			return server.Run(cmd.Context())
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&open, "open", false, "open the dashboard in the browser")
	return cmd
}

// announceToHooks announces the server to the hooks of coding agents on this machine. The returned function withdraws the
// announcement.
func announceToHooks(stderr io.Writer, addr string) (withdraw func()) {
	folder, err := hookFolder()
	if err != nil {
		return func() {} // without a home folder there are no agents
	}
	if withdraw, err = folder.Announce("http://" + addr); err != nil {
		complain(stderr, fmt.Sprintf("the server was not announced to the hooks of coding agents: %v", err))
		return func() {}
	}
	return withdraw
}

// greet prints the addresses of the server, and one line to copy for each way to send events to it.
func greet(w io.Writer, loaded *config.Loaded, a app.Addresses) {
	base := "http://" + a.HTTP
	fmt.Fprintf(w, "unloop %s is ready\n\n", programVersion())
	if loaded.Cluster.Has(config.RoleAPI) {
		fmt.Fprintf(w, "  dashboard %s\n", base)
	}
	if !loaded.Cluster.Has(config.RoleIngest) {
		fmt.Fprintf(w, "  health    %s/api/health\n  roles     %s\n  database  %s\n", base, loaded.Cluster.Roles, a.DB)
		return
	}
	fmt.Fprintf(w, "  HTTP      %s/api/events\n", base)
	fmt.Fprintf(w, "  OTLP      %s/v1/traces and /v1/logs", base)
	switch {
	case a.GRPC != "":
		fmt.Fprintf(w, ", gRPC %s", a.GRPC)
	case loaded.GRPCAddr != config.Off:
		fmt.Fprintf(w, "; no gRPC: another program uses %s", loaded.GRPCAddr)
	}
	if a.Proxy != "" {
		fmt.Fprintf(w, "\n  proxy     http://%s/openai, /anthropic and /gemini, mode %s", a.Proxy, loaded.Proxy.Mode)
	}
	fmt.Fprintf(w, "\n  database  %s\n", a.DB)
	fmt.Fprintf(w, "  profile   %s\n", loaded.Profile)
	if loaded.File != "" {
		fmt.Fprintf(w, "  config    %s\n", loaded.File)
	}
	token := len(loaded.Tokens) > 0
	fmt.Fprintf(w, "\nTo send events, one of:\n\n")
	for _, way := range waysIn(base, token) {
		fmt.Fprintf(w, "  %-16s %s\n", way.name, way.line)
	}
	if token {
		fmt.Fprintf(w, "\nClients need a token: export UNLOOP_TOKEN=…\n")
	}
	fmt.Fprintf(w, "\nFollow all runs:  %s\n", curl(base+"/api/stream", token))
}

// wayIn is a way to send events to a server, with a line to copy.
type wayIn struct{ name, line string }

// waysIn returns the ways to send events to the server at base. The shell inserts the token, so it is not printed.
func waysIn(base string, token bool) []wayIn {
	otlp := "export OTEL_EXPORTER_OTLP_ENDPOINT=" + base + " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
	if token {
		otlp += ` OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20$UNLOOP_TOKEN"`
	}
	endpoint := " --endpoint " + base
	if base == client.DefaultEndpoint {
		endpoint = ""
	}
	return []wayIn{
		{"an example", "unloop demo" + endpoint},
		{"traces in files", "unloop import" + endpoint + " ~/.claude/projects"},
		{"files that grow", "unloop watch" + endpoint + " ~/.claude/projects ~/.codex/sessions"},
		{"coding agents", "unloop hook install"},
		{"OpenTelemetry", otlp},
		{"Python", "pip install unloop && export UNLOOP_ENDPOINT=" + base},
		{"TypeScript", "npm install @unloop-ai/unloop && export UNLOOP_ENDPOINT=" + base},
	}
}

// logger returns a logger with the configured level and format.
func logger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(c.Level)) != nil {
		level = slog.LevelInfo // the configuration was validated
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// browse opens a page in the browser. It ignores errors, because the address was printed.
func browse(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // the result of the browser is ignored
	}
}
