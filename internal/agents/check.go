package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// result is the result of the check of an agent.
type result struct {
	version                                  string
	nudged, denied, ended, healthy, restored bool
	problem                                  error
}

func mark(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

func (r *result) row(a *agent) string {
	if r.problem != nil {
		return fmt.Sprintf("| %s | %s | %v |", a.name, r.version, r.problem)
	}
	ends := mark(r.ended)
	if !a.ends {
		ends = "no hook can end it"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | left alone: %s | %s |", a.name, r.version, mark(r.nudged), mark(r.denied), ends, mark(r.healthy), mark(r.restored))
}

func (r *result) fine(a *agent) bool {
	return r.problem == nil && r.nudged && r.denied && (r.ended || !a.ends) && r.healthy && r.restored
}

// check runs an agent in a loop under each mode, and once in healthy work.
func check(ctx context.Context, a *agent, program, bin string, verbose bool) (r result) {
	out, err := exec.CommandContext(ctx, filepath.Join(bin, a.args[0]), "--version").Output()
	if err != nil {
		r.problem = fmt.Errorf("no version: %w", err)
		return r
	}
	r.version = strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(out)), "codex-cli "))[0]
	nudge, err := run(ctx, a, program, bin, "nudge", true, verbose)
	if err == nil {
		r.nudged, r.restored = nudge.saw("[unloop] You may be going round in circles"), nudge.restored
		var guard, healthy *session
		if guard, err = run(ctx, a, program, bin, "guard", true, verbose); err == nil {
			r.denied, r.ended = guard.saw("[unloop] Blocked"), guard.model.calls < nudge.model.calls && strings.Contains(guard.log, `"end_turn"`)
			r.restored = r.restored && guard.restored
			if healthy, err = run(ctx, a, program, bin, "guard", false, verbose); err == nil {
				r.healthy = !healthy.saw("[unloop]") && healthy.model.finished
			}
		}
	}
	r.problem = err
	return r
}

// session is one run of an agent.
type session struct {
	model    *model
	log      string // unloop's log
	restored bool
}

func (s *session) saw(text string) bool { return s.model.saw(text) }

// run installs unloop, runs the agent until it ends, and uninstalls.
func run(ctx context.Context, a *agent, program, bin, mode string, loop, verbose bool) (*session, error) {
	home, err := os.MkdirTemp("", "agents-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	m := &model{loop: loop}
	server := httptest.NewServer(m)
	defer server.Close()
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	for name, text := range a.files(home, server.URL) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "SHELL=/bin/bash", "XDG_STATE_HOME=" + filepath.Join(home, ".local/state")}
	env = append(env, a.env(home, server.URL)...)
	before, missing := os.ReadFile(filepath.Join(home, a.config))
	command := func(name string, args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, name, args...)
		c.Dir, c.Env = work, env
		out, err := c.CombinedOutput()
		if verbose || err != nil {
			fmt.Fprintf(os.Stderr, "$ %s\n%s\n%v\n", strings.Join(c.Args, " "), out, err)
		}
		return out, err
	}
	if _, err := command(program, "hook", "install", a.name, "--mode", mode); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	_, ran := command(filepath.Join(bin, a.args[0]), a.args[1:]...)
	log, _ := os.ReadFile(filepath.Join(home, ".local/state/unloop/hooks/log.jsonl"))
	if verbose {
		fmt.Fprintf(os.Stderr, "%d model calls, %v\nlog: %s\n", m.calls, ran, log)
		_, _ = command(program, "hook", "status")
	}
	if _, err := command(program, "hook", "uninstall", a.name); err != nil {
		return nil, fmt.Errorf("uninstall: %w", err)
	}
	after, gone := os.ReadFile(filepath.Join(home, a.config))
	s := &session{model: m, log: string(log), restored: bytes.Equal(before, after) && (missing == nil) == (gone == nil)}
	if m.calls == 0 {
		return s, fmt.Errorf("the agent called no model: %v", ran)
	}
	return s, nil
}
