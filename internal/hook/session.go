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

// About is the stored state of a session besides its guard.
type About struct {
	Agent    string    `json:"agent"`
	Session  string    `json:"session"`
	SubAgent string    `json:"subagent,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Profile  string    `json:"profile"`
	Mode     Mode      `json:"mode"`
	Began    time.Time `json:"began"`
	Latest   time.Time `json:"latest"`

	Calls       int `json:"calls"`
	Results     int `json:"results"` // calls whose result was contained in a hook
	Repeats     int `json:"repeats"` // consecutive outcomes without novelty
	Nudges      int `json:"nudges,omitempty"`
	NudgedAt    int `json:"nudged_at,omitempty"` // Calls at the latest nudge
	Denials     int `json:"denials,omitempty"`
	TurnsCut    int `json:"turns_ended,omitempty"`
	Tokens      int `json:"tokens,omitempty"`            // of the model calls in the transcript
	TokensNovel int `json:"tokens_at_novelty,omitempty"` // Tokens at the latest novel outcome

	Batches  bool     `json:"batches,omitempty"`  // the agent reports the end of batches, with the texts that the model sees
	Waiting  []Call   `json:"waiting,omitempty"`  // results that wait for their batch
	Open     []Call   `json:"open,omitempty"`     // calls without a result
	Done     []string `json:"done,omitempty"`     // ids of calls that have ended or were denied
	Failed   []string `json:"failed,omitempty"`   // ids of calls that failed, until their batch ends
	EndDue   string   `json:"end_due,omitempty"`  // why the turn ends at the next event that can end it
	Owed     string   `json:"owed,omitempty"`     // a text for the model that no event could carry so far
	SentBack bool     `json:"sent_back,omitzero"` // a stop was answered since the latest prompt

	AllowTools []string `json:"allow_tools,omitempty"` // tools that a person allowed
	AllowOnce  []string `json:"allow_once,omitempty"`  // tools that a person allowed for one call; "" for any tool
	AllowNext  int      `json:"allow_next,omitempty"`  // number of next calls that run because a person let the session continue

	Ordered

	Read   int64  `json:"read,omitempty"`    // bytes of the transcript that were folded
	LastID string `json:"last_id,omitempty"` // of the last model message whose tokens were counted
	LastN  int    `json:"last_n,omitempty"`  // tokens of that message
}

// session is a session during a hook: its stored state and its guard.
type session struct {
	About
	guard *guard.Guard
	size  int // of its file in bytes; 0 for none
}

// Limits of the stored state besides the guard.
const (
	maxOpen    = 64
	maxDone    = 256
	maxWaiting = 1 << 20 // bytes
	maxSession = 24 << 20
)

var sessionMark = []byte("unloop hook 1\n")

// load loads or creates a session. With an error, it returns a new session.
func (f Folder) load(e *Event, p *profile.Profile, now func() time.Time) (*session, error) {
	fresh := &session{
		About: About{Agent: e.Agent, Session: e.Session, SubAgent: e.SubAgent, Profile: p.Name(), Began: now(), Ordered: Ordered{Heard: -1}},
		guard: guard.New(p, guard.Options{Run: RunID(e), Now: now}),
	}
	data, err := readRegular(f.path("sessions", key(e.Agent, e.Session, e.SubAgent)+".state"), maxSession)
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
		fresh.Began, fresh.Ordered = about.Began, about.Ordered
		return fresh, nil // the profile has changed, which begins a new state
	}
	g, err := guard.Restore(p, guard.Options{Run: RunID(e), Now: now}, state)
	if err != nil {
		return fresh, err
	}
	return &session{*about, g, len(data)}, nil
}

// goOnFor is the number of calls that run after a person let a session continue, if the profile has no level to reset. The profiles of
// agents that show no results are examples.
const goOnFor = 10

// goOn lets the session continue. The reason says why.
func (s *session) goOn(why string) {
	s.guard.Allow(noWait, why)
	if s.Profile != profile.Default {
		s.AllowNext = goOnFor
	}
}

// RunID returns the run id of a session: its id, or SESSION/SUBAGENT as in a trace file.
func RunID(e *Event) string {
	if e.SubAgent != "" {
		return e.Session + "/" + e.SubAgent
	}
	return e.Session
}

var errState = errors.New("the state of the session is damaged")

// split splits the file of a session: the mark, the length of About, About, and the guard's snapshot.
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

// spare is the usual growth of the file of a session at one hook, in bytes.
const spare = 4 << 10

// save saves the session. The caller holds its lock.
func (f Folder) save(s *session) error {
	s.bound()
	about, err := plainJSON(s.About)
	if err != nil {
		return fmt.Errorf("write the state of the session: %w", err)
	}
	data := append(make([]byte, 0, s.size+spare), sessionMark...)
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

// bound drops the oldest entries of growing lists.
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

// Sessions returns all sessions of the folder, the latest first. It skips unreadable files.
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
		data, err := readRegular(f.path("sessions", entry.Name()), maxSession)
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
