package hook

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/unloop-ai/unloop"
)

// Entry is an entry of the log: an intervention, a permission of a person, or a fault of the hook.
type Entry struct {
	Time     time.Time        `json:"time"`
	What     string           `json:"what"` // nudge, deny, end_turn, send_back, shadow, allow or fault
	Agent    string           `json:"agent,omitempty"`
	Session  string           `json:"session,omitempty"`
	SubAgent string           `json:"subagent,omitempty"`
	Event    string           `json:"event,omitempty"` // the agent's name of the event
	Tool     string           `json:"tool,omitempty"`
	Code     string           `json:"code,omitempty"`
	Count    int              `json:"count,omitempty"`
	Text     string           `json:"text"`
	Findings []unloop.Finding `json:"findings,omitempty"`
}

// maxLog is the size in bytes at which a new log begins. The former log is kept beside it.
const maxLog = 4 << 20

// LogPath returns the path of the log.
func (f Folder) LogPath() string { return f.path("log.jsonl") }

// Append adds an entry to the log. It writes a line at once, so that lines of several processes do not mix.
func (f Folder) Append(e Entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	if info, err := os.Stat(f.LogPath()); err == nil && info.Size() > maxLog {
		if err := os.Rename(f.LogPath(), f.path("log.1.jsonl")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("begin a new log: %w", err)
		}
	}
	file, err := appendRegular(f.LogPath())
	if err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	_, err = file.Write(append(raw, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// Log calls each for the entries of the log, the oldest first. It skips incomplete lines.
func (f Folder) Log(each func(Entry)) error {
	for _, name := range []string{f.path("log.1.jsonl"), f.LogPath()} {
		if err := readLog(name, each); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the log: %w", err)
		}
	}
	return nil
}

func readLog(name string, each func(Entry)) error {
	file, err := openRegular(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n') // a file has little more than maxLog bytes
		var e Entry
		if json.Unmarshal(line, &e) == nil {
			each(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Seen is the last hook of an agent.
type Seen struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	Mode    Mode      `json:"mode"`
	Results bool      `json:"results"` // a hook has contained results
}

// see records that an agent ran a hook. It does so at most once a second, except for the first result.
func (f Folder) see(e *Event, s *About, mode Mode, now time.Time) error {
	path := f.path("agents", e.Agent+".json")
	before, _ := f.Seen(e.Agent) // an error means that this is the first hook
	results := before.Results || s.Results > 0 || len(s.Waiting) > 0
	if info, err := os.Stat(path); err == nil && results == before.Results && now.Sub(info.ModTime()).Abs() < time.Second {
		return nil // recorded less than a second ago
	}
	raw, err := json.Marshal(Seen{now, e.Name, e.Session, mode, results})
	if err != nil {
		return err
	}
	return replace(path, raw)
}

// Seen returns the last hook of an agent. The error wraps fs.ErrNotExist if there was none.
func (f Folder) Seen(agent string) (Seen, error) {
	var s Seen
	raw, err := readRegular(f.path("agents", agent+".json"), maxSmall)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	return s, err
}
