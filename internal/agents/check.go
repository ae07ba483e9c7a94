package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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
	proxied                                  bool // a halt of the proxy ends the agent in order
	plugged                                  bool // the nudge of the plugin reaches the model
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
	plugged := mark(r.plugged)
	if a.plugin == nil {
		plugged = "has none"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | left alone: %s | %s | %s | %s |", a.name, r.version, mark(r.nudged), mark(r.denied), ends, mark(r.healthy), mark(r.restored), mark(r.proxied), plugged)
}

func (r *result) fine(a *agent) bool {
	return r.problem == nil && r.nudged && r.denied && (r.ended || !a.ends) && r.healthy && r.restored && r.proxied && (r.plugged || a.plugin == nil)
}

// check runs an agent in a loop under each mode, and once in healthy work.
func check(ctx context.Context, a *agent, program, bin, plugins string, verbose bool) (r result) {
	out, err := exec.CommandContext(ctx, filepath.Join(bin, a.args[0]), "--version").Output()
	if err != nil {
		r.problem = fmt.Errorf("no version: %w", err)
		return r
	}
	r.version = strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(out)), "codex-cli "))[0]
	nudged, err := run(ctx, a, program, bin, "nudge", true, verbose)
	if err == nil {
		r.nudged, r.restored = nudged.saw(nudge), nudged.restored
		var guard, healthy *session
		if guard, err = run(ctx, a, program, bin, "guard", true, verbose); err == nil {
			r.denied, r.ended = guard.saw("[unloop] Blocked"), guard.model.calls < nudged.model.calls && strings.Contains(guard.log, `"end_turn"`)
			r.restored = r.restored && guard.restored
			if healthy, err = run(ctx, a, program, bin, "guard", false, verbose); err == nil {
				r.healthy = !healthy.saw("[unloop]") && healthy.model.finished
			}
		}
	}
	if err == nil {
		r.proxied, err = proxied(ctx, a, program, bin, verbose)
	}
	if err == nil && a.plugin != nil {
		r.plugged, err = plugged(ctx, a, program, bin, plugins, verbose)
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

// proxied runs an agent behind unloop proxy, in a loop and in healthy work. It reports whether the loop ended in order with the answer of
// a halt, and the healthy work was left alone.
func proxied(ctx context.Context, a *agent, program, bin string, verbose bool) (bool, error) {
	for _, loop := range []bool{true, false} {
		m := &model{loop: loop}
		server := httptest.NewServer(m)
		defer server.Close()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		proxy := exec.CommandContext(ctx, program, "proxy", "--addr", "127.0.0.1:0", "--mode", "guard", "--openai-upstream", server.URL,
			"--anthropic-upstream", server.URL, "--gemini-upstream", server.URL)
		stdout, err := proxy.StdoutPipe()
		if err == nil {
			err = proxy.Start()
		}
		if err != nil {
			return false, fmt.Errorf("start the proxy: %w", err)
		}
		lines, base := bufio.NewScanner(stdout), ""
		for base == "" && lines.Scan() {
			_, base, _ = strings.Cut(strings.TrimSuffix(lines.Text(), "/openai/v1"), "OPENAI_BASE_URL=")
		}
		h, err := newHome(a, bin, base+a.behind, verbose)
		if err != nil {
			return false, err
		}
		out, ran := h.command(ctx, filepath.Join(bin, a.args[0]), a.args[1:]...)
		h.remove()
		cancel()
		_ = proxy.Wait() // it was killed
		halted := bytes.Contains(out, []byte("unloop stopped this run"))
		if verbose {
			fmt.Fprintf(os.Stderr, "behind the proxy: %d model calls, %v, halted %v\n", m.calls, ran, halted)
		}
		if loop && (ran != nil || !halted || m.calls > loopCalls) || !loop && (ran != nil || halted || !m.finished || m.saw("[unloop]")) {
			return false, nil
		}
	}
	return true, nil
}

// plugged runs an agent with unloop's plugin, in a loop. It reports whether the nudge reached the model.
func plugged(ctx context.Context, a *agent, program, bin, plugins string, verbose bool) (bool, error) {
	m := &model{loop: true}
	server := httptest.NewServer(m)
	defer server.Close()
	h, err := newHome(a, bin, server.URL, verbose)
	if err != nil {
		return false, err
	}
	defer h.remove()
	h.env = append(h.env, "PATH="+filepath.Dir(program)+":"+bin+":"+os.Getenv("PATH")) // the plugin runs unloop from the path
	p := a.plugin(plugins)
	h.env = append(h.env, p.env...)
	if p.install != nil {
		if _, err := h.command(ctx, filepath.Join(bin, a.args[0]), p.install...); err != nil {
			return false, fmt.Errorf("install the plugin: %w", err)
		}
	}
	_, _ = h.command(ctx, filepath.Join(bin, a.args[0]), append(p.args, a.args[1:]...)...) // what counts is what the model saw
	return m.saw("You may be going round in circles"), nil
}

// nudge begins the nudge of a loop at a hook.
const nudge = "[unloop] You may be going round in circles"

// home is the home folder of an agent's run.
type home struct {
	folder, work string
	env          []string
	verbose      bool
}

// newHome makes a home folder with the configuration of an agent whose model is at a URL.
func newHome(a *agent, bin, url string, verbose bool) (*home, error) {
	folder, err := os.MkdirTemp("", "agents-*")
	if err != nil {
		return nil, err
	}
	h := &home{folder: folder, work: filepath.Join(folder, "work"), verbose: verbose}
	h.env = []string{"HOME=" + folder, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "SHELL=/bin/bash", "XDG_STATE_HOME=" + filepath.Join(folder, ".local/state")}
	h.env = append(h.env, a.env(folder, url)...)
	err = os.MkdirAll(h.work, 0o755)
	for name, text := range a.files(folder, url) {
		path := filepath.Join(folder, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return h, err
}

func (h *home) remove() { _ = os.RemoveAll(h.folder) }

// command runs a command in the home, for at most three minutes.
func (h *home) command(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = h.work, h.env
	out, err := c.CombinedOutput()
	if h.verbose || err != nil {
		fmt.Fprintf(os.Stderr, "$ %s\n%s\n%v\n", strings.Join(c.Args, " "), out, err)
	}
	return out, err
}

// run installs unloop, runs the agent until it ends, and uninstalls.
func run(ctx context.Context, a *agent, program, bin, mode string, loop, verbose bool) (*session, error) {
	m := &model{loop: loop}
	server := httptest.NewServer(m)
	defer server.Close()
	h, err := newHome(a, bin, server.URL, verbose)
	if err != nil {
		return nil, err
	}
	defer h.remove()
	before, missing := os.ReadFile(filepath.Join(h.folder, a.config))
	if _, err := h.command(ctx, program, "hook", "install", a.name, "--mode", mode); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	_, ran := h.command(ctx, filepath.Join(bin, a.args[0]), a.args[1:]...)
	log, _ := os.ReadFile(filepath.Join(h.folder, ".local/state/unloop/hooks/log.jsonl"))
	if verbose {
		fmt.Fprintf(os.Stderr, "%d model calls, %v\nlog: %s\n", m.calls, ran, log)
		_, _ = h.command(ctx, program, "hook", "status")
	}
	if _, err := h.command(ctx, program, "hook", "uninstall", a.name); err != nil {
		return nil, fmt.Errorf("uninstall: %w", err)
	}
	after, missingAfter := os.ReadFile(filepath.Join(h.folder, a.config))
	s := &session{model: m, log: string(log), restored: bytes.Equal(before, after) && (missing == nil) == (missingAfter == nil)}
	if m.calls == 0 {
		return s, fmt.Errorf("the agent called no model: %v", ran)
	}
	return s, nil
}
