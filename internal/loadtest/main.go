// Command loadtest measures a server from outside. It starts unloop serve as a process, sends events to it over loopback, and
// prints the throughput, the latencies, and the memory of the server. make load runs it, and docs/benchmarks.md has the
// results.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == profiled {
		os.Exit(serveProfiled(os.Args[2], os.Args[3:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	unloop  string
	attach  string
	db      string
	time    time.Duration
	events  int
	runs    int
	rate    int
	serve   string
	profile string
	spans   string
	request int

	servers int
	nats    string
}

// scenario is a measurement against a new server.
type scenario struct {
	name, about string
	serve       string // flags of the server
	measure     func(ctx context.Context, s *server, set settings) (string, error)
	whole       func(ctx context.Context, set settings) (string, error) // instead of measure: it starts the server itself
}

var scenarios = []scenario{
	{name: "batches", about: "events a second, 500 a request, 8 connections, 1,000 runs", measure: batches},
	{name: "cpu", about: "CPU time of the server per event by role, with the same senders; needs the go command", whole: cpu},
	{name: "cluster", about: "the same senders to servers of a cluster: rates, CPU time and memory; only by make load-cluster", whole: cluster},
	{name: "singles", about: "requests a second of one event, 64 connections, 1,000 runs", measure: singles},
	{name: "singles-cpu", about: "CPU time of the server per event by role, with the same senders; needs the go command", whole: singlesCPU},
	{name: "spans", about: "spans a second over HTTP, 500 a request, 8 connections, 1,000 traces of 20", measure: otlp},
	{name: "spans-cpu", about: "CPU time of the server per span by role, with the same senders; needs the go command", whole: spansCPU},
	{name: "long", about: "one run of 100,000 events against 100 runs of 1,000", measure: long},
	{name: "stream", about: "from acknowledged to on the wire of a stream, at a rate", measure: stream},
	{name: "memory", about: "memory over many events, 1,000 live runs that end after 1,000 events and make room for others", measure: memory},
	{name: "runs", about: "the same of runs that never end", measure: endless},
	{name: "late", about: "events in reverse order, and an early one of a long run; how long another sender waits", measure: late},
	{name: "heavy-runs", about: "memory with 2,000 live runs of 1 MB of inputs each", serve: "--profile looplens", measure: manyRuns},
	{name: "heavy-trace", about: "memory with one request of 400,000 empty spans of one trace", measure: oneTrace},
	{name: "heavy-traces", about: "the same of as many traces", measure: manyTraces},
	{name: "heavy-bodies", about: "memory with 40 requests of 14 MiB at once", measure: manyBodies},
	{name: "idle", about: "answers to an ordinary sender while 1,000 connections are idle", measure: idle},
	{name: "mixed", about: "answers to ordinary senders beside slow, huge, malformed and late ones", measure: mixed},
}

func run(ctx context.Context) error {
	var set settings
	flag.StringVar(&set.unloop, "unloop", "bin/unloop", "the program that is measured")
	flag.StringVar(&set.attach, "attach", "", "the `URL` of a server that runs already, instead of one of its own")
	flag.StringVar(&set.db, "db", "", "where it records: postgres://…; a new SQLite file for each scenario if empty")
	flag.DurationVar(&set.time, "time", 10*time.Second, "how long to send, where a scenario has no end of its own")
	flag.IntVar(&set.events, "events", 1_000_000, "of the scenarios cpu, singles-cpu, spans-cpu, memory and runs")
	flag.StringVar(&set.profile, "profile", "", "the `FILE` in which the scenario cpu, singles-cpu or spans-cpu leaves its profile for go tool pprof; none if empty")
	flag.StringVar(&set.spans, "spans", scattered, "the `SHAPE` of the requests of the scenarios spans and spans-cpu: scattered, whole, named or shuffled")
	flag.IntVar(&set.request, "request", 500, "spans of a request, of the scenarios spans and spans-cpu")
	flag.IntVar(&set.runs, "runs", 1000, "that are live")
	flag.IntVar(&set.rate, "rate", 5000, "events a second, of the scenario stream")
	flag.StringVar(&set.serve, "serve", "", "further flags of the server, such as \"--memory 512MiB\"")
	flag.IntVar(&set.servers, "servers", 1, "of the scenario cluster, and NATS servers")
	flag.StringVar(&set.nats, "nats", "bin/nats-server", "the NATS server of the scenario cluster")
	flag.Usage = usage
	flag.Parse()
	if !slices.Contains([]string{scattered, whole, named, shuffled}, set.spans) {
		return fmt.Errorf("the flag -spans must be %s, %s, %s or %s", scattered, whole, named, shuffled)
	}
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(scenarios, func(sc scenario) bool { return sc.is(name) }) {
			return fmt.Errorf("there is no scenario %s", name)
		}
	}
	for _, sc := range scenarios {
		if flag.NArg() == 0 && sc.name == "cluster" {
			continue // it needs a PostgreSQL
		}
		if flag.NArg() > 0 && !slices.ContainsFunc(flag.Args(), sc.is) {
			continue
		}
		if err := one(ctx, sc, set); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	return nil
}

// is reports whether a name is that of the scenario or of its group. The group heavy contains heavy-runs and others.
func (sc *scenario) is(name string) bool {
	return sc.name == name || strings.HasPrefix(sc.name, name+"-")
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: loadtest [flags] [scenario...]")
	for _, sc := range scenarios {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", sc.name, sc.about)
	}
	flag.PrintDefaults()
}

func one(ctx context.Context, sc scenario, set settings) error {
	if sc.whole != nil {
		summary, err := sc.whole(ctx, set)
		sc.print(summary)
		return err
	}
	folder, err := os.MkdirTemp("", "unloop-load-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	db := set.db
	if db == "" {
		db = filepath.Join(folder, "load.db")
	}
	if set.attach != "" {
		summary, err := sc.measure(ctx, &server{url: set.attach}, set)
		fmt.Printf("%-12s %s\n", sc.name, summary)
		return err
	}
	s, err := begin(ctx, []string{set.unloop}, db, strings.Fields(sc.serve+" "+set.serve))
	if err != nil {
		return err
	}
	summary, err := sc.measure(ctx, s, set)
	if stopped := s.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	sc.print(summary)
	return ctx.Err()
}

func (sc *scenario) print(summary string) {
	fmt.Printf("%-12s %s\n", sc.name, strings.ReplaceAll(summary, "\n", "\n             "))
}

// server is the measured process.
type server struct {
	cmd *exec.Cmd
	url string
}
