package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/reporter"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/guardio"
	"github.com/unloop-ai/unloop/profile"
)

// controlled is a guarded agent that calls its tool when it is told to.
type controlled struct {
	t     *testing.T
	base  string
	run   string
	guard *guard.Guard
	calls chan string // results of calls that ran
	tool  guard.ToolFunc
}

func newControlled(t *testing.T, base, run string) *controlled {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reporter.New(reporter.Options{Endpoint: base, Every: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c := &controlled{t: t, base: base, run: run, calls: make(chan string, 100)}
	c.guard = guard.New(p, guard.Options{Run: run, Events: r.Add, Controls: r.Controls})
	c.tool = c.guard.Wrap("search", func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil })
	t.Cleanup(func() {
		c.guard.Close()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c.call("first")
	c.until("a guard that listens", func(s api.ControlState) bool { return s.Listening })
	return c
}

// call makes a call in the foreground.
func (c *controlled) call(word string) (string, error) {
	answer, err := c.tool(c.t.Context(), json.RawMessage(`{"q":"`+word+`"}`))
	c.calls <- word
	return string(answer), err
}

func (c *controlled) state() (s api.ControlState) {
	if status, said := answered(c.t, http.MethodGet, c.base+"/api/runs/"+c.run+"/control", ""); status == http.StatusOK {
		unmarshal(c.t, []byte(said), &s)
	}
	return s
}

// until waits for a state of the server.
func (c *controlled) until(what string, reached func(api.ControlState) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !reached(c.state()) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.t.Fatalf("no %s: %+v", what, c.state())
		}
	}
}

// order gives an order and waits until the guard has it.
func (c *controlled) order(body string) {
	c.t.Helper()
	if status, said := answered(c.t, http.MethodPost, c.base+"/api/runs/"+c.run+"/control", body); status != http.StatusCreated {
		c.t.Fatalf("%s: %d %s", body, status, said)
	}
	c.until("guard that has heard "+body, func(s api.ControlState) bool { return s.Waiting == 0 })
}

func TestAPersonControlsAGuardedRun(t *testing.T) {
	base := serve(t, nil)
	c := newControlled(t, base, "controlled")
	c.order(`{"act":"nudge","text":"Look into the archive."}`)
	if answer, _ := c.call("a"); !strings.Contains(answer, "Look into the archive.") {
		t.Errorf("the nudge is not in %s", answer)
	}
	if answer, _ := c.call("b"); strings.Contains(answer, "archive") {
		t.Errorf("the nudge is repeated: %s", answer)
	}
	c.order(`{"act":"pause","by":"Ann","why":"lunch"}`)
	for len(c.calls) > 0 {
		<-c.calls
	}
	resumed := make(chan error, 1)
	go func() {
		_, err := c.call("paused")
		resumed <- err
	}()
	if s := c.state(); !s.Paused || len(c.calls) > 0 {
		t.Errorf("paused: %+v, %d calls", s, len(c.calls))
	}
	c.order(`{"act":"resume"}`)
	if err := <-resumed; err != nil {
		t.Error(err)
	}
	c.order(`{"act":"halt","text":"Enough."}`)
	_, err := c.call("after the halt")
	var loop *guard.LoopError
	if !errors.As(err, &loop) || !strings.Contains(loop.Nudge, "A person halted this run: Enough.") {
		t.Errorf("after a halt: %v", err)
	}
	c.order(`{"act":"allow"}`)
	if _, err := c.call("after it was allowed"); err != nil {
		t.Error(err)
	}
	orders := c.state().Orders
	if len(orders) != 5 || orders[1].Act != "pause" || orders[1].By != "Ann" || orders[1].Why != "lunch" {
		t.Errorf("orders %+v", orders)
	}
}

func TestAnAllowedToolIsNotBlocked(t *testing.T) {
	c := newControlled(t, serve(t, nil), "allowed")
	c.order(`{"act":"allow","tool":"search","why":"it polls"}`)
	for range 60 {
		if answer, err := c.call("same"); err != nil || strings.Contains(answer, "loop") {
			t.Fatalf("%s, %v", answer, err)
		}
		<-c.calls
	}
}

func TestAnOrderSurvivesRestartsOfServerAndGuard(t *testing.T) {
	db := filepath.Join(t.TempDir(), "unloop.db")
	at := func(c *config.Config) { c.DB = db }
	t.Run("a run is halted", func(t *testing.T) {
		newControlled(t, serve(t, at), "kept").order(`{"act":"halt","text":"Stop."}`)
	})
	t.Run("a new server tells a new guard", func(t *testing.T) {
		again := newControlled(t, serve(t, at), "kept")
		again.until("guard that has the halt", func(s api.ControlState) bool { return s.Listening && s.Waiting == 0 })
		if _, err := again.call("again"); err == nil {
			t.Error("a new guard of a halted run allows a call")
		}
	})
}

func TestAnObservedRunRejectsOrders(t *testing.T) {
	base := serve(t, nil)
	post(t, base+"/api/events", "application/json", []byte(`{"run_id":"seen","type":"run_started"}`))
	status, said := answered(t, http.MethodPost, base+"/api/runs/seen/control", `{"act":"pause"}`)
	if status != http.StatusConflict || !strings.Contains(said, "observed") {
		t.Errorf("%d %s", status, said)
	}
}

// TestAGuardOverStandardStreamsReceivesOrders asks a guard as an agent in another language does.
func TestAGuardOverStandardStreamsReceivesOrders(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	base := serve(t, nil)
	r, err := reporter.New(reporter.Options{Endpoint: base, By: "stdio", Every: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	served := begin(func() error {
		return guardio.Serve(t.Context(), p, guardio.Extras{Events: r.Add, Controls: r.Controls}, in, out)
	})
	lines := bufio.NewScanner(answers)
	call := func() string {
		if _, err := io.WriteString(ask, `{"op":"before","id":1,"run":"piped","tool":"t"}`+"\n"); err != nil || !lines.Scan() {
			t.Fatal(err)
		}
		if _, err := io.WriteString(ask, `{"op":"after","id":1,"run":"piped","tool":"t","result":"ok"}`+"\n"); err != nil || !lines.Scan() {
			t.Fatal(err)
		}
		return lines.Text()
	}
	call()
	c := &controlled{t: t, base: base, run: "piped"}
	c.until("a guard that listens", func(s api.ControlState) bool { return s.Listening })
	c.order(`{"act":"nudge","text":"Look into the archive."}`)
	if said := call(); !strings.Contains(said, "Look into the archive.") {
		t.Errorf("answered %s", said)
	}
	if err := errors.Join(ask.Close(), served.wait(), r.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
