package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/cli"
)

// profiled is the command of this program that runs the server and writes a CPU profile of it.
const profiled = "serve-with-profile"

// serveProfiled runs unloop with the given arguments and writes a CPU profile to a file. It returns the exit status.
func serveProfiled(file string, args []string) int {
	to, err := os.Create(file)
	if err == nil {
		err = pprof.StartCPUProfile(to)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		return 1
	}
	status := cli.Main(args, os.Stdin, os.Stdout, os.Stderr)
	pprof.StopCPUProfile()
	if err := to.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		return 1
	}
	return status
}

// role is a part of the server's work. A sample of the profile belongs to the first role that has a function on its stack.
type role struct {
	name      string
	functions []string // parts of their names
}

var roles = []role{
	{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}},
	{"store", []string{"internal/store/sqlstore"}},
	{"publish", []string{"live.(*Hub).Publish", "(*Pipeline).publish"}},
	{"mask and price", []string{"(*Submission).mask", "app.addCost"}},
	{"encode", []string{"pipeline.Content.encode"}},
	{"checkpoints", []string{"(*fold).checkpoint"}},
	{"fold and decide", []string{"pipeline.(*run", "pipeline.(*commit)", "pipeline.(*fold)", "pipeline.(*Pipeline).Run", "pipeline.(*Pipeline).make"}},
	{"receive and decode", []string{"internal/httpd", "net/http", "internal/connlimit"}},
	{"scheduler and rest", []string{""}},
}

// cpu sends a number of events and prints the CPU time of the server for each event, by role.
func cpu(ctx context.Context, set settings) (string, error) {
	return profileOf(ctx, set, "event", func(url string) (int64, time.Duration, error) {
		return senders(ctx, []string{url}, feeds(8, set), 500, int64(set.events))
	})
}

// profileOf starts a server under the profiler, and prints the CPU time of the server for each item that send sends to its URL, by role.
func profileOf(ctx context.Context, set settings, item string, send func(url string) (sent int64, took time.Duration, err error)) (string, error) {
	folder, err := os.MkdirTemp("", "unloop-load-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	db, file := set.db, cmp.Or(set.profile, filepath.Join(folder, "cpu.pprof"))
	if db == "" {
		db = filepath.Join(folder, "load.db")
	}
	s, err := begin(ctx, []string{self, profiled, file}, db, strings.Fields(set.serve))
	if err != nil {
		return "", err
	}
	sent, took, err := send(s.url)
	if stopped := s.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return "", err
	}
	used := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	shares, err := sharesOf(ctx, file)
	if err != nil {
		return "", err
	}
	var summary strings.Builder
	each := used.Seconds() * 1e6 / float64(sent)
	fmt.Fprintf(&summary, "%.1f µs of CPU time per %s (user %.1f, system %.1f), %.0f %ss/s", each, item,
		s.cmd.ProcessState.UserTime().Seconds()*1e6/float64(sent), s.cmd.ProcessState.SystemTime().Seconds()*1e6/float64(sent), float64(sent)/took.Seconds(), item)
	for k, r := range roles {
		fmt.Fprintf(&summary, "\n%-20s %5.2f µs", r.name, each*shares[k])
	}
	return summary.String(), nil
}

// sharesOf returns the proportion of each role in a CPU profile, as go tool pprof prints its stacks.
func sharesOf(ctx context.Context, file string) ([]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "pprof", "-traces", "-unit", "us", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("read the profile with go tool pprof: %w", err)
	}
	shares, err := readTraces(out)
	if waited := cmd.Wait(); err == nil {
		err = waited
	}
	return shares, err
}

// readTraces reads stacks that are separated by lines of dashes. The first line of a stack begins with its time.
func readTraces(from io.Reader) ([]float64, error) {
	shares, total := make([]float64, len(roles)), 0.0
	var spent time.Duration
	of := len(roles) - 1
	end := func() {
		shares[of] += spent.Seconds()
		total += spent.Seconds()
		spent, of = 0, len(roles)-1
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "-----") {
			end()
			continue
		}
		if first, rest, ok := strings.Cut(line, " "); ok {
			if d, err := time.ParseDuration(first); err == nil {
				spent, line = d, rest
			}
		}
		of = min(of, roleOf(line))
	}
	end()
	if total == 0 {
		return nil, fmt.Errorf("the profile has no samples")
	}
	for k := range shares {
		shares[k] /= total
	}
	return shares, lines.Err()
}

// roleOf returns the index of the first role that a function belongs to.
func roleOf(function string) int {
	for k, r := range roles {
		for _, part := range r.functions {
			if strings.Contains(function, part) {
				return k
			}
		}
	}
	return len(roles) - 1
}
