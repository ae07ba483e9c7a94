// Package redistest gives tests a real Redis: it starts redis-server or valkey-server on a free port of the loopback interface. Without
// either program the tests fail.
package redistest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/internal/nettest"
)

// Server is a Redis server that ends with its test. It keeps nothing on disk.
type Server struct {
	Address  string // host:port
	args     []string
	sentinel string // the configuration file of a Sentinel; "" for other servers
	command  *exec.Cmd
}

// Start starts a server with further arguments, as on its command line, and waits until it accepts connections.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, &Server{args: args})
}

// StartSentinel starts a Sentinel with the given configuration.
func StartSentinel(t testing.TB, configuration string) *Server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, &Server{sentinel: file})
}

// start starts a server on a free port. Redis does not choose one itself, and another program may take the port before Redis does.
func start(t testing.TB, s *Server) *Server {
	t.Helper()
	var err error
	for range 5 {
		s.Address = nettest.FreeAddress(t)
		if err = s.run(t); err == nil {
			t.Cleanup(s.Kill)
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// AwaitInfo waits until a section of INFO contains a text, for at most a minute.
func (s *Server) AwaitInfo(t testing.TB, section, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if strings.Contains(s.Do(t, "INFO", section), text) {
			return
		}
	}
	t.Fatalf("INFO %s never contained %q", section, text)
}

// Restart starts a server that was killed, at the same address and without data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
}

// run starts the server's process and waits until it accepts connections.
func (s *Server) run(t testing.TB) error {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.Address)
	args := append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, s.args...)
	if s.sentinel != "" {
		args = []string{s.sentinel, "--sentinel", "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir()}
	}
	s.command = exec.Command(program(t), args...)
	output, err := s.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	var log strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.Contains(lines.Text(), "Ready to accept connections") || strings.Contains(lines.Text(), "Sentinel ID is") {
			go func() { // a full pipe would block the server
				for lines.Scan() {
				}
			}()
			return nil
		}
		log.WriteString(lines.Text() + "\n")
	}
	return fmt.Errorf("redis ended at its start (%w):\n%s", s.command.Wait(), log.String())
}

// Kill ends the server at once.
func (s *Server) Kill() {
	_ = s.command.Process.Kill() // fails if it has ended
	_ = s.command.Wait()         // always an error: it was killed
}

// Freeze stops the server's process until Thaw: its connections stay open and nothing answers.
func (s *Server) Freeze() { _ = s.command.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a server continue after Freeze.
func (s *Server) Thaw() { _ = s.command.Process.Signal(syscall.SIGCONT) }

// Client returns a client of the server, which is closed at the end of the test.
func (s *Server) Client(t testing.TB) rueidis.Client {
	t.Helper()
	return Connect(t, rueidis.ClientOption{InitAddress: []string{s.Address}, ForceSingleClient: true})
}

// Connect returns a client with the options that the stores ask for, which is closed at the end of the test.
func Connect(t testing.TB, o rueidis.ClientOption) rueidis.Client {
	t.Helper()
	o.AlwaysPipelining, o.DisableCache = true, true
	o.PipelineMultiplex = -1 // one connection, so that a test knows whether a call has to connect
	client, err := rueidis.NewClient(o)
	if err != nil {
		t.Fatalf("connect to the tests' Redis: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

// Do runs a command, whose words have no spaces, and returns its reply as text.
func (s *Server) Do(t testing.TB, words ...string) string {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Address}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		t.Fatalf("connect to the tests' Redis: %v", err)
	}
	defer client.Close()
	reply, err := client.Do(context.WithoutCancel(t.Context()), client.B().Arbitrary(words...).Build()).ToAny()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return fmt.Sprint(reply)
}

func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("the tests need Redis or Valkey, which this machine does not have; on Debian: sudo apt-get install redis-server")
	return ""
}
