package hook

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

// About is what is kept of a session beside its guard.
type About struct {
	Agent    string    `json:"agent"`
	Session  string    `json:"session"`
	SubAgent string    `json:"subagent,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Profile  string    `json:"profile"`
	Mode     Mode      `json:"mode"`
	Began    time.Time `json:"began"`
	Latest   time.Time `json:"latest"`

	Calls     int `json:"calls"`
	Results   int `json:"results"` // calls whose result was seen
	Repeats   int `json:"repeats"` // outcomes in a row that brought nothing new
	Nudges    int `json:"nudges,omitempty"`
	NudgedAt  int `json:"nudged_at,omitempty"` // Calls at the latest nudge
	Denials   int `json:"denials,omitempty"`
	TurnsCut  int `json:"turns_ended,omitempty"`
	Tokens    int `json:"tokens,omitempty"`         // of model calls that the transcript shows
	TokensNew int `json:"tokens_at_news,omitempty"` // Tokens at the latest outcome with something new

	Batches  bool     `json:"batches,omitempty"`  // the agent tells the end of a batch, with the texts that the model sees
	Waiting  []Call   `json:"waiting,omitempty"`  // results that a batch may tell better
	Open     []Call   `json:"open,omitempty"`     // calls without a result
	Done     []string `json:"done,omitempty"`     // ids of calls that have ended or were denied
	Failed   []string `json:"failed,omitempty"`   // ids of calls that failed, until their batch ends
	EndDue   string   `json:"end_due,omitempty"`  // why the turn ends at the next event that can end it
	Owed     string   `json:"owed,omitempty"`     // a text for the model that no event could carry yet
	SentBack bool     `json:"sent_back,omitzero"` // a stop was answered since the latest prompt

	AllowTools []string `json:"allow_tools,omitempty"` // tools that a person lets go on
	AllowOnce  []string `json:"allow_once,omitempty"`  // the same, for one call; "" for any tool

	Read   int64  `json:"read,omitempty"`    // bytes of the transcript that were folded
	LastID string `json:"last_id,omitempty"` // of the model's message whose tokens were counted last
	LastN  int    `json:"last_n,omitempty"`  // tokens of that message
}

// session is a session at a hook: what is kept of it, and its guard.
type session struct {
	About
	guard *guard.Guard
}

// Bounds of what is kept beside the guard.
const (
	maxOpen    = 64
	maxDone    = 256
	maxWaiting = 1 << 20 // bytes
	maxSession = 24 << 20
)

var sessionMark = []byte("unloop hook 1\n")

// load reads a session, or begins one. An error comes with a session that has begun anew.
func (f Folder) load(e *Event, p *profile.Profile, now func() time.Time) (*session, error) {
	fresh := &session{
		About: About{Agent: e.Agent, Session: e.Session, SubAgent: e.SubAgent, Profile: p.Name(), Began: now()},
		guard: guard.New(p, guard.Options{Run: RunID(e), Now: now}),
	}
	data, err := readBounded(f.path("sessions", key(e.Agent, e.Session, e.SubAgent)+".state"))
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return fresh, err
	}
	about, state, err := split(data)
	if err != nil {
		return fresh, err
	}
	if about.Profile != p.Name() {
		fresh.Began = about.Began
		return fresh, nil // the person has chosen another profile, and it begins now
	}
	g, err := guard.Restore(p, guard.Options{Run: RunID(e), Now: now}, state)
	if err != nil {
		return fresh, err
	}
	return &session{*about, g}, nil
}

// RunID returns the id of the run that the events of a session belong to: the session, or SESSION/SUBAGENT as in a trace file.
func RunID(e *Event) string {
	if e.SubAgent != "" {
		return e.Session + "/" + e.SubAgent
	}
	return e.Session
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSession {
		return nil, fmt.Errorf("the state of the session has %d bytes, want at most %d", info.Size(), maxSession)
	}
	return os.ReadFile(path)
}

var errState = errors.New("the state of the session is damaged")

// split takes the file of a session apart: the mark, the length of About, About, and the guard's snapshot.
func split(data []byte) (*About, []byte, error) {
	rest, ok := bytes.CutPrefix(data, sessionMark)
	if !ok || len(rest) < 4 {
		return nil, nil, errState
	}
	n := int(binary.LittleEndian.Uint32(rest))
	if rest = rest[4:]; n < 0 || n > len(rest) {
		return nil, nil, errState
	}
	about := new(About)
	if err := json.Unmarshal(rest[:n], about); err != nil {
		return nil, nil, errState
	}
	return about, rest[n:], nil
}

// save writes the session. The caller holds its lock.
func (f Folder) save(s *session) error {
	s.bound()
	about, err := plainJSON(s.About)
	if err != nil {
		return fmt.Errorf("write the state of the session: %w", err)
	}
	data := append([]byte{}, sessionMark...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(about)))
	data, err = s.guard.AppendBinary(append(data, about...))
	if err == nil {
		err = replace(f.path("sessions", key(s.Agent, s.Session, s.SubAgent)+".state"), data)
	}
	if err != nil {
		return fmt.Errorf("write the state of the session: %w", err)
	}
	return nil
}

// bound drops the oldest of what grows.
func (s *session) bound() {
	s.Open = last(s.Open, maxOpen)
	s.Done = last(s.Done, maxDone)
	s.Failed = last(s.Failed, maxOpen)
	for size := 0; ; size = 0 {
		for k := range s.Waiting {
			size += len(s.Waiting[k].Result) + len(s.Waiting[k].Args) + len(s.Waiting[k].Error)
		}
		if size <= maxWaiting {
			return
		}
		s.Waiting = s.Waiting[1:]
	}
}

func last[T any](all []T, n int) []T {
	return slices.Delete(all, 0, max(0, len(all)-n))
}

// Sessions returns all sessions of the folder, the latest first. Files that cannot be read are left out.
func (f Folder) Sessions() ([]About, error) {
	entries, err := os.ReadDir(f.path("sessions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	var all []About
	for _, entry := range entries {
		data, err := readBounded(f.path("sessions", entry.Name()))
		if err != nil {
			continue
		}
		if about, _, err := split(data); err == nil {
			all = append(all, *about)
		}
	}
	slices.SortFunc(all, func(a, b About) int { return b.Latest.Compare(a.Latest) })
	return all, nil
}

func sortByAge(files []fs.FileInfo) {
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
}
