package mcpproxy

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/internal/mcplines"
)

// endTime is how long a server may take to end after its input has ended, and again after SIGTERM, before it is killed.
const endTime = 5 * time.Second

// Command starts a server, and returns a connection over its standard input and output. It skips lines that are no messages, and calls
// skipped with the reason.
func Command(ctx context.Context, name string, args []string, errOut io.Writer, skipped func(reason string)) (mcp.Connection, error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // the end of ctx ends the input first
	cmd := exec.CommandContext(running, name, args...)
	cmd.Stderr = errOut
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTime
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("start the server %s: %w", name, err)
	}
	return mcplines.ToServer(io.NopCloser(out), &process{in, cmd, stop}, MaxMessage, skipped).Connect(ctx)
}

// process is the standard input of a server. Close ends it, and waits for the server.
type process struct {
	io.WriteCloser
	cmd  *exec.Cmd
	stop context.CancelFunc
}

func (p *process) Close() error {
	defer p.stop()
	err := p.WriteCloser.Close()
	late := time.AfterFunc(endTime, p.stop)
	defer late.Stop()
	if waited := p.cmd.Wait(); err == nil {
		err = waited
	}
	return err
}
