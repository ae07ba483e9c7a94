package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cluster measures servers that share the PostgreSQL of UNLOOP_TEST_POSTGRES, whose database is empty, and as many NATS servers with as
// many copies of the stream. It reports the processor time of an event by process.
func cluster(ctx context.Context, set settings) (summary string, err error) {
	folder, err := os.MkdirTemp("", "unloop-load-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	db := os.Getenv("UNLOOP_TEST_POSTGRES")
	postgres, err := postmaster(db)
	if err != nil {
		return "", err
	}
	streams, addresses, err := beginNATS(ctx, folder, set)
	defer func() { err = errors.Join(err, stopAll(streams)) }()
	if err != nil {
		return "", err
	}
	var servers []*server
	defer func() { err = errors.Join(err, stopAll(servers)) }()
	var urls []string
	flags := append(strings.Fields(set.serve), "--cluster", addresses)
	for k := range set.servers {
		unloop := []string{set.unloop}
		if set.profile != "" && k == 0 {
			unloop = []string{os.Args[0], profiled, set.profile}
		}
		s, err := begin(ctx, unloop, db, flags)
		if err != nil {
			return "", err
		}
		servers, urls = append(servers, s), append(urls, s.url)
	}
	before := processorTime(postgres)
	began := time.Now()
	sent, took, err := senders(ctx, urls, feeds(8, set), 500, int64(set.events))
	if err != nil {
		return "", err
	}
	for recorded := int64(0); recorded < sent && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if recorded, err = sumOf(urls, "unloop_events_recorded_total"); err != nil {
			return "", err
		}
	}
	all := time.Since(began)
	transactions, err := sumOf(urls, "unloop_commit_seconds_count")
	if err != nil {
		return "", err
	}
	summary = fmt.Sprintf("%d servers, %d NATS servers: %d events, %.0f events/s acknowledged, %.0f events/s recorded, in %d transactions\n",
		set.servers, set.servers, sent, float64(sent)/took.Seconds(), float64(sent)/all.Seconds(), transactions)
	summary += fmt.Sprintf("PostgreSQL   %5.2f µs of CPU time per event\n", (processorTime(postgres)-before).Seconds()*1e6/float64(sent))
	for _, part := range []struct {
		name      string
		processes []*server
	}{{"servers", servers}, {"NATS", streams}} {
		text, err := shareOf(part.processes, sent)
		if err != nil {
			return "", err
		}
		summary += fmt.Sprintf("%-12s %s\n", part.name, text)
	}
	return strings.TrimSuffix(summary, "\n"), nil
}

// shareOf returns the processor time of processes for each event so far, and their memory.
func shareOf(processes []*server, events int64) (string, error) {
	var used time.Duration
	highest := 0
	for _, s := range processes {
		_, most, err := s.resident()
		if err != nil {
			return "", err
		}
		used, highest = used+processorTime(s.cmd.Process.Pid), max(highest, most)
	}
	return fmt.Sprintf("%5.2f µs of CPU time per event, at most %d MiB each", used.Seconds()*1e6/float64(events), highest), nil
}

// beginNATS starts the NATS servers, and returns their addresses, joined by commas.
func beginNATS(ctx context.Context, folder string, set settings) (all []*server, addresses string, err error) {
	ports := make([]int, 2*set.servers)
	var routes, clients []string
	for k := range ports {
		if ports[k], err = freePort(); err != nil {
			return nil, "", err
		}
		if k%2 == 0 {
			clients = append(clients, fmt.Sprint("nats://127.0.0.1:", ports[k]))
		} else {
			routes = append(routes, fmt.Sprint("nats://127.0.0.1:", ports[k]))
		}
	}
	if err := os.Setenv("UNLOOP_CLUSTER_REPLICAS", strconv.Itoa(set.servers)); err != nil {
		return nil, "", err
	}
	for k := range set.servers {
		args := []string{"--jetstream", "--store_dir", filepath.Join(folder, strconv.Itoa(k)), "--name", fmt.Sprint("n", k), "--addr", "127.0.0.1", "--port", strconv.Itoa(ports[2*k])}
		if set.servers > 1 {
			args = append(args, "--cluster_name", "load", "--cluster", routes[k], "--routes", strings.Join(routes, ","))
		}
		cmd := exec.CommandContext(ctx, set.nats, args...)
		if err := cmd.Start(); err != nil {
			return all, "", err
		}
		all = append(all, &server{cmd: cmd})
	}
	return all, strings.Join(clients, ","), nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func stopAll(all []*server) (err error) {
	for _, s := range all {
		err = errors.Join(err, s.cmd.Process.Signal(syscall.SIGTERM))
	}
	for _, s := range all {
		_ = s.cmd.Wait() // NATS ends with status 1 at this signal
	}
	return err
}

// sumOf returns the sum of a metric over the servers.
func sumOf(urls []string, metric string) (sum int64, err error) {
	for _, u := range urls {
		answer, err := http.Get(u + "/metrics")
		if err != nil {
			return 0, err
		}
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), metric+" "); ok {
				n, _ := strconv.ParseFloat(text, 64) // 0 if it is not a number
				sum += int64(n)
			}
		}
		answer.Body.Close()
	}
	return sum, nil
}

// postmaster returns the id of the first process of the PostgreSQL that scripts/with-postgres started.
func postmaster(db string) (int, error) {
	address, err := url.Parse(db)
	if err != nil || address.Query().Get("host") == "" {
		return 0, errors.New("UNLOOP_TEST_POSTGRES is not set: run this with scripts/with-postgres")
	}
	text, err := os.ReadFile(filepath.Join(address.Query().Get("host"), "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// tick is the unit of processor times in /proc.
const tick = 10 * time.Millisecond

// processorTime returns the processor time of a process and of its children, those that have ended and those that run.
func processorTime(pid int) (sum time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		own := strings.Split(file, "/")[2] == strconv.Itoa(pid)
		_, rest, _ := strings.Cut(string(text), ") ") // behind the name: state, parent, …
		fields := strings.Fields(rest)
		if len(fields) < 15 || !own && fields[1] != strconv.Itoa(pid) {
			continue
		}
		times := fields[11:13] // user, system
		if own {
			times = fields[11:15] // and those of children that have ended
		}
		for _, text := range times {
			n, _ := strconv.ParseInt(text, 10, 64) // a number
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
