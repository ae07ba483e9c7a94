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
	"github.com/unloop-ai/unloop/internal/config"
)

func serveCommand() *cobra.Command {
	var f configFlags
	var open bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Take events from agents, live, and say which runs are looping",
		Long: "A server that agents' events flow into, over HTTP, OpenTelemetry (OTLP over HTTP and gRPC) or from files that unloop watch\n" +
			"follows, and that says at once which runs are looping. What it took is on disk before it says so. It answers on this\n" +
			"machine only, unless it has tokens: see unloop config token. It ends when it is interrupted.",
		Example: "  unloop serve\n" +
			"  unloop serve --addr 127.0.0.1:9000 --db runs.db\n" +
			"  unloop serve --db postgres://unloop@db.example.com/unloop\n" +
			"  unloop serve --profile looplens --set cost_budget=2\n" +
			"  unloop demo                         # in a second shell: an agent that loops, live\n" +
			"  curl -N http://127.0.0.1:8765/api/stream",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := f.load()
			if err != nil {
				return err
			}
			server := app.Serve{
				Config: loaded.Config, Version: version, Log: logger(cmd.ErrOrStderr(), loaded.Log),
				GRPCOptional: !loaded.Given("grpc_addr"),
				Ready: func(a app.Addresses) {
					greet(cmd.OutOrStdout(), loaded, a)
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
	cmd.Flags().BoolVar(&open, "open", false, "open the server's page in the browser")
	return cmd
}

// greet says where the server answers and where it records.
func greet(w io.Writer, loaded *config.Loaded, a app.Addresses) {
	fmt.Fprintf(w, "unloop %s is ready\n\n", version)
	fmt.Fprintf(w, "  dashboard http://%s\n", a.HTTP)
	fmt.Fprintf(w, "  HTTP      http://%s/api/events\n", a.HTTP)
	fmt.Fprintf(w, "  OTLP      http://%s/v1/traces and /v1/logs", a.HTTP)
	switch {
	case a.GRPC != "":
		fmt.Fprintf(w, ", gRPC %s", a.GRPC)
	case loaded.GRPCAddr != config.Off:
		fmt.Fprintf(w, "; not over gRPC: another program has %s", loaded.GRPCAddr)
	}
	fmt.Fprintf(w, "\n  database  %s\n", a.DB)
	fmt.Fprintf(w, "  profile   %s\n", loaded.Profile)
	if loaded.File != "" {
		fmt.Fprintf(w, "  config    %s\n", loaded.File)
	}
	fmt.Fprintf(w, "\nWatch what agents do:  %s\n", curl("http://"+a.HTTP+"/api/stream", len(loaded.Tokens) > 0))
}

// logger writes for operators, as the configuration says.
func logger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(c.Level)) != nil {
		level = slog.LevelInfo // the configuration was checked
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// browse opens a page. It is not worth an error: the page's address was printed.
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
		go func() { _ = cmd.Wait() }() // it is the browser's own business how it ends
	}
}
