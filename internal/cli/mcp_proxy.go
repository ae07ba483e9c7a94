package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/mcplines"
	"github.com/unloop-ai/unloop/internal/mcpproxy"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/profile"
)

// mcpProxyFlags are the flags of unloop mcp-proxy.
type mcpProxyFlags struct {
	profile profileFlags
	mode    string
	addr    string
	url     string
	headers []string
	server  string
}

func mcpProxyCommand() *cobra.Command {
	var f mcpProxyFlags
	cmd := &cobra.Command{
		Use:   "mcp-proxy [flags] [-- COMMAND [ARGS...]]",
		Short: "Stand in front of an MCP server, and stop loops of its tools",
		Long: "Mcp-proxy passes all messages between an MCP server and its client. It judges each tool call and its result. A call that\n" +
			"continues a loop gets an error result in the server's place. A result at which the agent loops gets one more text. All\n" +
			"other messages pass unchanged.\n\n" +
			"The server is a command that speaks over standard input and output, or the URL of a server that speaks HTTP. The client\n" +
			"speaks over standard input and output, or over HTTP with --addr.\n\n" +
			"unloop mcp-proxy install puts it in front of the servers in the configurations of their clients. By hand, write\n" +
			"unloop mcp-proxy -- in front of the server's command:\n\n" +
			"  {\"mcpServers\": {\"files\": {\"command\": \"unloop\", \"args\": [\"mcp-proxy\", \"--\", \"files-server\", \"/data\"]}}}",
		Example: "  unloop mcp-proxy -- npx -y @modelcontextprotocol/server-filesystem .\n" +
			"  unloop mcp-proxy --mode observe -- files-server /data\n" +
			"  unloop mcp-proxy --url https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'\n" +
			"  unloop mcp-proxy --addr 127.0.0.1:4142 --url http://127.0.0.1:9000/mcp",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.mode, "mode", "guard", "the `MODE`: guard or observe")
	flags.StringVar(&f.url, "url", "", "`URL` of the server, instead of a command")
	flags.StringVar(&f.addr, "addr", "", "serve clients over HTTP on `HOST:PORT`, which must be loopback; needs --url")
	flags.StringArrayVar(&f.headers, "header", nil, "send `NAME: VALUE` to the URL; ${VARIABLE} is replaced from the environment; repeatable")
	flags.StringVar(&f.server, "server", "", "record the calls on the unloop server at this `URL`, and follow the orders that people give there")
	f.profile.add(flags)
	cmd.AddCommand(mcpProxyInstallCommand(), mcpProxyUninstallCommand())
	return cmd
}

// check returns an error if the flags contradict each other.
func (f *mcpProxyFlags) check(args []string) error {
	if err := checkProxyMode(f.mode); err != nil {
		return err
	}
	switch {
	case (len(args) == 0) == (f.url == ""):
		return errors.New("want either the COMMAND of an MCP server or --url URL; unloop mcp-proxy --help has examples")
	case f.addr != "" && f.url == "":
		return errors.New("--addr needs --url URL")
	case f.addr != "" && len(f.headers) > 0:
		return errors.New("--header cannot be used with --addr: the client's own headers are sent")
	}
	return nil
}

// checkProxyMode returns an error for a mode that the proxy does not have.
func checkProxyMode(mode string) error {
	if mode != "guard" && mode != "observe" {
		return fmt.Errorf("invalid --mode %q: want guard or observe", mode)
	}
	return nil
}

func (f *mcpProxyFlags) run(cmd *cobra.Command, args []string) error {
	useFallbackRoots()
	if err := f.check(args); err != nil {
		return err
	}
	if f.mode == "observe" {
		f.profile.sets = append(f.profile.sets, "shadow=true")
	}
	p, err := f.profile.load()
	if err != nil {
		return err
	}
	server, err := connectRecorder(cmd, f.server)
	if err != nil {
		return err
	}
	defer server.close()
	if f.addr != "" {
		return f.serve(cmd, p, server)
	}
	// With SIGPIPE ignored, a write to a client that has ended returns EPIPE, and the server is ended, too.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	back, err := f.connect(cmd, args)
	if err != nil {
		return err
	}
	front, err := mcplines.ToClient(os.Stdin, openWriter{os.Stdout}, mcpproxy.MaxMessage).Connect(cmd.Context())
	if err != nil {
		return errors.Join(err, back.Close())
	}
	run := fmt.Sprintf("mcp-%d-%d", os.Getpid(), time.Now().UnixMilli())
	session := mcpproxy.NewSession(p, mcpproxy.Options{Run: run, Record: server.record, Controls: server.controls})
	return mcpproxy.Pump(cmd.Context(), session, front, back)
}

// connect starts the command of the server, or returns a connection to its URL.
func (f *mcpProxyFlags) connect(cmd *cobra.Command, args []string) (mcp.Connection, error) {
	if f.url == "" {
		return mcpproxy.Command(cmd.Context(), args[0], args[1:], cmd.ErrOrStderr(), func(reason string) {
			complain(cmd.ErrOrStderr(), "skipped a line of the server: "+reason)
		})
	}
	if u, err := url.Parse(f.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid --url %q: want http://HOST/PATH or https://HOST/PATH", f.url)
	}
	header, err := parseHeaders(f.headers)
	if err != nil {
		return nil, err
	}
	return mcpproxy.Dial(f.url, header, &http.Client{}), nil
}

// parseHeaders reads headers as NAME: VALUE.
func parseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, errors.New("invalid --header: want NAME: VALUE")
		}
		header.Add(name, os.ExpandEnv(strings.TrimSpace(value)))
	}
	return header, nil
}

// serve serves clients over HTTP until the command is interrupted.
func (f *mcpProxyFlags) serve(cmd *cobra.Command, p *profile.Profile, server *recorder) error {
	if err := config.CheckLoopback(f.addr); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	upstream, err := url.Parse(f.url)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	h, err := mcpproxy.NewHTTP(mcpproxy.HTTPOptions{
		Profile: p, Upstream: upstream, Record: server.record, Controls: server.controls, MaxBody: 16 << 20, MaxBodies: bodyMemory(), MaxMemory: 256 << 20,
		Log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)),
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("%w (--addr sets another address)", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "unloop %s proxies an MCP server, mode %s\n\n  http://%s%s\n", programVersion(), f.mode, listener.Addr(), upstream.RequestURI())
	return reverseproxy.Serve(cmd.Context(), listener, h)
}
