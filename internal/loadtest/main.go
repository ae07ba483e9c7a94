// Command loadtest measures a server from outside: it starts unloop serve as a process of its own, sends events to it over
// loopback, and prints how fast they were recorded, how soon they were seen, and what memory the server took. It stands beside
// the arrow, where a user's agents would; make load runs it, and docs/benchmarks.md publishes what it says.
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	unloop string
	attach string
	db     string
	time   time.Duration
	events int
	runs   int
	rate   int
	serve  string
}

// scenario is one thing that is measured, each against a server of its own.
type scenario struct {
	name, about string
	serve       string // flags of the server
	measure     func(ctx context.Context, s *server, set settings) (string, error)
}

var scenarios = []scenario{
	{"batches", "events a second, 500 a request, 8 connections, 1,000 runs", "", batches},
	{"singles", "requests a second of one event, 64 connections, 1,000 runs", "", singles},
	{"long", "one run of 100,000 events against 100 runs of 1,000", "", long},
	{"stream", "from acknowledged to on the wire of a stream, at a rate", "", stream},
	{"memory", "memory over many events, 1,000 live runs that end after 1,000 events and make room for others", "", memory},
	{"runs", "the same of runs that never end", "", endless},
	{"late", "events in reverse order, and an early one of a long run; what another sender waits meanwhile", "", late},
	{"heavy-runs", "memory with 2,000 live runs of 1 MB of inputs each", "--profile looplens", manyRuns},
	{"heavy-trace", "memory with one request of 400,000 empty spans of one trace", "", oneTrace},
	{"heavy-traces", "the same of as many traces", "", manyTraces},
	{"heavy-bodies", "memory with 40 requests of 14 MiB at once", "", manyBodies},
	{"idle", "answers to an ordinary sender while 1,000 connections are idle", "", idle},
	{"mixed", "answers to ordinary senders beside slow, huge, malformed and late ones", "", mixed},
}

func run(ctx context.Context) error {
	var set settings
	flag.StringVar(&set.unloop, "unloop", "bin/unloop", "the program that is measured")
	flag.StringVar(&set.attach, "attach", "", "the `URL` of a server that runs already, instead of one of its own")
	flag.StringVar(&set.db, "db", "", "where it records: postgres://…; a new SQLite file for each scenario if empty")
	flag.DurationVar(&set.time, "time", 10*time.Second, "how long to send, where a scenario has no end of its own")
	flag.IntVar(&set.events, "events", 1_000_000, "of the scenarios memory and runs")
	flag.IntVar(&set.runs, "runs", 1000, "that are live")
	flag.IntVar(&set.rate, "rate", 5000, "events a second, of the scenario stream")
	flag.StringVar(&set.serve, "serve", "", "further flags of the server, such as \"--memory 512MiB\"")
	flag.Usage = usage
	flag.Parse()
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(scenarios, func(sc scenario) bool { return sc.is(name) }) {
			return fmt.Errorf("there is no scenario %s", name)
		}
	}
	for _, sc := range scenarios {
		if flag.NArg() > 0 && !slices.ContainsFunc(flag.Args(), sc.is) {
			continue
		}
		if err := one(ctx, sc, set); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	return nil
}

// is reports whether a name is that of the scenario, or of the group that its own begins with: heavy is heavy-runs and others.
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
		said, err := sc.measure(ctx, &server{url: set.attach}, set)
		fmt.Printf("%-12s %s\n", sc.name, said)
		return err
	}
	s, err := begin(ctx, set.unloop, db, strings.Fields(sc.serve+" "+set.serve))
	if err != nil {
		return err
	}
	said, err := sc.measure(ctx, s, set)
	if stopped := s.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %s\n", sc.name, strings.ReplaceAll(said, "\n", "\n             "))
	return ctx.Err()
}

// server is the process that is measured.
type server struct {
	cmd *exec.Cmd
	url string
}
