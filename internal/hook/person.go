package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

// Find returns the session whose id begins with the prefix, with the state of its guard. Several such sessions are an error.
func (f Folder) Find(prefix string) (*About, guard.State, error) {
	about, err := f.named(prefix)
	if err != nil {
		return nil, guard.State{}, err
	}
	s, err := f.open(about, time.Now)
	if err != nil {
		return nil, guard.State{}, err
	}
	return &s.About, s.guard.State(), nil
}

// named returns the session whose id begins with the prefix. An equal id takes precedence over longer ones.
func (f Folder) named(prefix string) (*About, error) {
	all, err := f.Sessions()
	if err != nil {
		return nil, err
	}
	var found []About
	for _, a := range all {
		switch {
		case RunID(a.event()) == prefix:
			return &a, nil
		case strings.HasPrefix(RunID(a.event()), prefix):
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no session begins with %q: unloop hook log lists them", prefix)
	case 1:
		return &found[0], nil
	}
	return nil, fmt.Errorf("%d sessions begin with %q, such as %s and %s", len(found), prefix, RunID(found[0].event()), RunID(found[1].event()))
}

// event returns an event of the session, for its key.
func (a *About) event() *Event {
	return &Event{Agent: a.Agent, Session: a.Session, SubAgent: a.SubAgent, Dir: a.Dir}
}

// open loads a session with its guard. A snapshot needs only the name of its profile.
func (f Folder) open(a *About, now func() time.Time) (*session, error) {
	settings, err := loadSettings(a.Mode, a.Dir, os.Getenv)
	if err != nil {
		return nil, err
	}
	p, err := settings.LoadProfile(a.Agent)
	if err == nil && p.Name() != a.Profile {
		p, err = profile.New(a.Profile)
	}
	if err != nil {
		return nil, err
	}
	return f.load(a.event(), p, now)
}

// Allow lets a session continue, and returns what is allowed, such as "the next call of Bash runs". Without a tool and without
// once, it resets the level of the loop.
func (f Folder) Allow(prefix, tool string, once bool, now func() time.Time) (*About, string, error) {
	about, err := f.named(prefix)
	if err != nil {
		return nil, "", err
	}
	unlock, err := f.lock(key(about.Agent, about.Session, about.SubAgent))
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	s, err := f.open(about, now)
	if err != nil {
		return nil, "", err
	}
	s.EndDue, s.Owed = "", ""
	allowed := "the session continues"
	switch {
	case once:
		s.AllowOnce = append(s.AllowOnce, tool)
		allowed = "the next call runs"
		if tool != "" {
			allowed = "the next call of " + tool + " runs"
		}
	case tool != "":
		s.AllowTools = append(s.AllowTools, tool)
		allowed = "all calls of " + tool + " run"
	default:
		s.goOn("a person let the session go on")
	}
	if err := f.save(s); err != nil {
		return nil, "", err
	}
	return &s.About, allowed, f.Append(Entry{
		Time: now(), What: "allow", Agent: s.Agent, Session: s.Session, SubAgent: s.SubAgent, Tool: tool, Text: "a person allowed: " + allowed,
	})
}

// StatusLine returns a line about the session in Claude Code's input for status lines, or "".
func (f Folder) StatusLine(input []byte) string {
	var in struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal(input, &in) != nil || in.Session == "" {
		return ""
	}
	data, err := readRegular(f.path("sessions", key(Claude, in.Session, "")+".state"), maxSession)
	if err != nil {
		return ""
	}
	about, _, err := split(data)
	if err != nil {
		return ""
	}
	line := fmt.Sprintf("unloop: %d calls, %d without novelty", about.Calls, about.Repeats)
	if since := about.Tokens - about.TokensNovel; about.Repeats > 0 && since > 0 {
		line += fmt.Sprintf(", %s tokens since the last", shortCount(since))
	}
	if about.Denials > 0 {
		line += fmt.Sprintf(", %d denied", about.Denials)
	}
	return line + "\n"
}

func shortCount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
