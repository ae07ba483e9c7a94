package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// begin starts a server on a free port and waits until it is ready. unloop is the command before its arguments.
func begin(ctx context.Context, unloop []string, db string, flags []string) (*server, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	args := append(slices.Clone(unloop[1:]), "serve", "--addr", addr, "--grpc-addr", "off", "--db", db)
	cmd := exec.CommandContext(ctx, unloop[0], append(args, flags...)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, url: "http://" + addr}
	for range 200 {
		if answer, err := http.Get(s.url + "/api/health"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server is not ready after 10 seconds"), s.stop())
}

// stop interrupts the server and waits until it has ended.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return nil
}

// resident returns the present and the maximum resident memory of the server in MiB.
func (s *server) resident() (now, most int, err error) {
	if s.cmd == nil {
		return 0, 0, nil // another program started the server
	}
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	defer status.Close() // only read
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")) // 0 if it is not a number
		switch name {
		case "VmRSS":
			now = kib >> 10
		case "VmHWM":
			most = kib >> 10
		}
	}
	return now, most, lines.Err()
}
