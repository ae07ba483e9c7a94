package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
)

// startServer starts a server in this process. Stop stops it and deletes its data.
type startServer func(ctx context.Context) (endpoint string, stop func() error, err error)

func demoCommand(start startServer) *cobra.Command {
	var server endpointFlags
	var speed float64
	var color colorFlag
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Play two agents to a server live: one that loops, and one that does not",
		Long: "Demo sends the events of two agents to a server, for about half a minute. One agent completes its task. The other one\n" +
			"loops, and demo prints the server's warnings as they are raised. If no server answers, demo starts one and stops it at\n" +
			"the end.\n\n" +
			endpointHelp,
		Example: "  unloop demo\n  unloop demo --speed 4",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(speed > 0 && speed <= 1000) {
				return fmt.Errorf("invalid --speed %g: want a number over 0 and at most 1000", speed)
			}
			colored, err := color.on(cmd.OutOrStdout())
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			c, err := server.client()
			if err != nil {
				return err
			}
			_, err = c.Health(ctx)
			var away *client.UnreachableError
			if errors.As(err, &away) && server.endpoint == "" {
				return demoOnOwnServer(ctx, start, &demo{out: cmd.OutOrStdout(), speed: speed, color: colored})
			}
			if err != nil {
				return err
			}
			return (&demo{out: cmd.OutOrStdout(), client: c, speed: speed, color: colored, more: "See both runs: " + c.URL("/")}).play(ctx)
		},
	}
	server.add(cmd.Flags())
	cmd.Flags().Float64Var(&speed, "speed", 1, "play `N` times as fast")
	color.add(cmd.Flags())
	return cmd
}

func demoOnOwnServer(ctx context.Context, start startServer, d *demo) (err error) {
	endpoint, stop, err := start(ctx)
	if err != nil {
		return fmt.Errorf("no server answers, and the demo cannot start one: %w", err)
	}
	defer func() { err = errors.Join(err, stop()) }()
	if d.client, err = client.New(endpoint, ""); err != nil {
		return err
	}
	d.say("No server is running. The demo has started one at %s.", endpoint)
	d.more = "The demo's server stops now. To see the runs in a browser, start unloop serve, and run the demo again in a second shell."
	return d.play(ctx)
}

// demo sends the events of scripts to a server.
type demo struct {
	client *client.Client
	speed  float64
	color  bool
	more   string // last line, with the address of the runs

	mu  sync.Mutex
	out io.Writer
}

// say prints a line. The players and the streams call it concurrently.
func (d *demo) say(format string, a ...any) { d.paint("", format, a...) }

// Styles of lines, as parameters of a terminal.
const (
	redLine   = "31"
	greenLine = "32"
	boldLine  = "1"
)

// paint prints a line in a style. Text of agents and servers is untrusted, so control characters are escaped.
func (d *demo) paint(look, format string, a ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var text bytes.Buffer
	fmt.Fprintf(plainWriter{&text}, format, a...)
	shown := text.String()
	if isTerminal(d.out) {
		shown = hanging(shown, screenWidth(d.out))
	}
	if d.color && look != "" {
		shown = "\x1b[" + look + "m" + shown + "\x1b[0m"
	}
	fmt.Fprintln(d.out, shown)
}

// speaker is the beginning of a line of the demo: the agent, or the indentation.
var speaker = regexp.MustCompile(`^([! ] \S+ {2,}| *)`)

// hanging breaks the lines that are longer than a width. Their further lines are indented, below the words of the agent that the line names.
func hanging(text string, width int) string {
	lines := strings.Split(text, "\n")
	for k, line := range lines {
		if utf8.RuneCountInString(line) <= width {
			continue
		}
		who := speaker.FindString(line)
		indent := len(who)
		if strings.TrimSpace(who) == "" {
			indent *= 2
		}
		var out strings.Builder
		fill(&out, who, strings.Repeat(" ", indent), line[len(who):], width)
		lines[k] = strings.TrimSuffix(out.String(), "\n")
	}
	return strings.Join(lines, "\n")
}

// play plays all scripts concurrently, prints the server's warnings, and prints a summary.
func (d *demo) play(ctx context.Context) error {
	scripts := demoScripts(time.Now())
	d.paint(boldLine, "\nTwo agents start. To follow them in another shell:\n")
	for _, s := range scripts {
		d.say("  %s", curl(d.client.URL(client.RunPath(s.run, "/stream")), d.client.HasToken()))
	}
	d.say("")
	watching, enough := context.WithCancel(ctx)
	defer enough()
	var watchers, players sync.WaitGroup
	failures := make([]error, len(scripts))
	for i, s := range scripts {
		watchers.Go(func() { d.watch(watching, s) })
		players.Go(func() { failures[i] = d.perform(ctx, s) })
	}
	players.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	late := time.AfterFunc(10*time.Second, enough) // a working stream ends with its run
	watchers.Wait()
	late.Stop()
	return d.sumUp(ctx, scripts)
}

// perform sends a script's events at its pace. If the demo is interrupted, the run fails, so that it does not seem to run on.
func (d *demo) perform(ctx context.Context, s *script) error {
	err := d.send(ctx, s)
	if ctx.Err() == nil {
		return err
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer done()
	sender := d.client.NewSender()
	end := s.next(&unloop.Event{Type: unloop.RunFailed, Error: quoted("the demo was interrupted"), Time: time.Now().UTC()})
	// An error is ignored: the server may have been interrupted, too, and closes runs without events.
	if sender.Add(ending, end) == nil {
		_ = sender.Flush(ending)
	}
	return err
}

// endPatience is the time that an interrupted demo takes at most to end its runs.
const endPatience = 3 * time.Second

// send sends a script's events at its pace.
func (d *demo) send(ctx context.Context, s *script) error {
	sender := d.client.NewSender()
	sender.Patience = 10 * time.Second
	for _, line := range s.lines {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(float64(line.after) / d.speed)):
		}
		if line.says != "" {
			d.say("  %-7s  %s", s.agent, line.says)
		}
		for _, e := range line.events {
			e.Time = time.Now().UTC()
			if err := sender.Add(ctx, e); err != nil {
				return err
			}
		}
		if err := sender.Flush(ctx); err != nil {
			return err
		}
	}
	if sent := sender.Sent(); sent.Refused > 0 {
		return fmt.Errorf("the server refuses events of the demo: %s", sent.Refusals[0].Reason)
	}
	return nil
}

// watch prints each warning of a run when it is raised, and the first decision of each kind, until the run ends.
func (d *demo) watch(ctx context.Context, s *script) {
	raised := make(map[string]bool)
	// An error is ignored: the summary prints all warnings.
	_ = d.client.StreamRun(ctx, s.run, func(u *api.RunUpdate) bool {
		for _, w := range u.Warnings {
			if !raised[w.ID] {
				raised[w.ID] = true
				d.paint(redLine, "! %-7s  %s: %s", s.agent, w.Type, w.Message)
			}
		}
		for _, decision := range u.Decisions {
			if act := guardActs[decision.Action]; act != "" && !raised[act] {
				raised[act] = true
				d.paint(redLine, "! %-7s  event %d: a guard would have %s", s.agent, decision.EventNumber+1, act)
			}
		}
		return u.Status == "running" || u.Status == ""
	})
}

// guardActs describes what a guard does to an agent, by the decision.
var guardActs = map[string]string{"warn": "nudged it", "block": "blocked its call", "halt": "halted it"}

// wouldHave describes what a guard would first have done in a run, and at which events. Events are counted from 1, as the dashboard does.
func wouldHave(decisions []api.Decision) string {
	var parts []string
	done := make(map[string]bool)
	for _, d := range decisions {
		if act := guardActs[d.Action]; act != "" && !done[act] {
			done[act] = true
			parts = append(parts, fmt.Sprintf("%s at event %d", act, d.EventNumber+1))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; a guard would have " + strings.Join(parts, ", ")
}

func (d *demo) sumUp(ctx context.Context, scripts []*script) error {
	for _, s := range scripts {
		run, err := d.client.Run(ctx, s.run)
		var answer *client.Error
		if errors.As(err, &answer) && answer.Status == http.StatusForbidden {
			d.say("\nThis token may only send events, so the demo cannot read the results. See them at %s", d.client.URL("/"))
			return nil
		}
		if err != nil {
			return err
		}
		warnings, err := d.client.Warnings(ctx, s.run)
		if err != nil {
			return err
		}
		decisions, err := d.client.Decisions(ctx, s.run)
		if err != nil {
			return err
		}
		look := redLine
		if len(warnings) == 0 {
			look = greenLine
		}
		d.say("")
		d.paint(look, "%s (%s): %s, health %d of 100, %s, %s%s", s.agent, s.run, run.HealthStatus, run.HealthScore,
			plural(run.EventCount, "event", "events"), plural(len(warnings), "warning", "warnings"), wouldHave(decisions))
		for _, w := range warnings {
			d.say("  %s (%s): %s", w.Type, w.Severity, strings.TrimSpace(w.Message))
		}
	}
	d.say("\n%s", d.more)
	return nil
}
