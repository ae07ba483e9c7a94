package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/policy"
)

// Hook is one call of the command.
type Hook struct {
	Folder Folder
	Agent  string // from the registration; "" if unknown
	Mode   Mode   // from the command line; "" for none
	Env    func(string) string
	Now    func() time.Time
	Server func(endpoint string) (Server, error) // connects to a server; nil for never
	Misuse error                                 // what is wrong with the command line; it is logged, and the hook does without it
}

// processMemory is the memory of a hook's process in bytes above which the garbage collector runs.
const processMemory = 16 << 20

// OwnProcess prepares the process for one hook. It ends after milliseconds, so garbage collection would only delay the answer, unless an
// event is large.
func OwnProcess() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(processMemory)
}

// OfCommand returns the hook of a command line in the form that install writes: hook --agent NAME [--mode MODE].
func OfCommand(args []string, folder Folder, env func(string) string) (h Hook, ok bool) {
	if len(args) != 3 && len(args) != 5 || args[0] != "hook" || args[1] != "--agent" {
		return h, false
	}
	h = Hook{Folder: folder, Agent: args[2], Env: env, Now: time.Now}
	if len(args) == 3 {
		return h, true
	}
	h.Mode = Mode(args[4])
	_, err := ParseMode(args[4])
	return h, args[3] == "--mode" && err == nil
}

// maxInput is the maximum size of the input of a hook in bytes.
const maxInput = 4 << 20

// Run reads one event, judges it and writes the answer. It returns the exit status of the process, which is 0 except in agents that
// read a denial there. It never fails: an error is written to the log, and the agent continues. If there is no room for the log or the
// folder cannot be written, the error is written to errOut, which agents do not show to the model at the status 0.
func (h *Hook) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (status int) {
	var at Event
	var unlogged error
	defer func() {
		if cause := recover(); cause != nil {
			unlogged = h.fault(&at, fmt.Errorf("panic: %v", cause))
		}
		if unlogged != nil && status == 0 { // with another status, agents read a denial there
			fmt.Fprintf(errOut, "unloop hook: %v\n", unlogged)
		}
	}()
	reply := func(r Reply) error {
		status = r.Status
		_, written := out.Write(r.Out)
		if len(r.Err) == 0 {
			return written
		}
		_, err := errOut.Write(r.Err)
		return errors.Join(written, err)
	}
	if err := h.run(ctx, in, reply, &at); err != nil {
		unlogged = h.fault(&at, err)
	}
	return status
}

// fault writes an error to the log. If it cannot, it returns the error.
func (h *Hook) fault(at *Event, err error) (unlogged error) {
	if h.Folder.Append(Entry{
		Time: h.Now(), What: "fault", Agent: at.Agent, Session: at.Session, SubAgent: at.SubAgent, Event: at.Name, Text: err.Error(),
	}) != nil {
		return err
	}
	return nil
}

func (h *Hook) run(ctx context.Context, in io.Reader, reply func(Reply) error, at *Event) error {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		_, _ = io.Copy(io.Discard, in) // an agent may wait until all input is read
		err = fmt.Errorf("the event has more than %d bytes", maxInput)
	}
	if err != nil {
		return err
	}
	h.checkAgent()
	e, unread := Read(data, h.Agent)
	m, err := h.masker()
	if err != nil {
		return errors.Join(unread, err)
	}
	dir := e.Dir
	maskEvent(m, &e)
	*at = e
	if h.Misuse != nil {
		h.fault(at, h.Misuse)
	}
	if unread != nil {
		return unread
	}
	if at.Kind == Ignored || h.twice(at) {
		return h.Folder.see(at, &About{}, h.Mode, h.Now())
	}
	settings, err := loadSettings(h.Mode, dir, h.Env)
	if err != nil {
		h.fault(at, err) // it continues with the settings that could be read
	}
	return h.judge(ctx, m, at, &settings, reply)
}

// checkAgent removes the name of an agent that does not exist, so that the agent is detected by its input.
func (h *Hook) checkAgent() {
	if h.Agent == "" || slices.Contains(agents, h.Agent) {
		return
	}
	h.Misuse = errors.Join(h.Misuse, fmt.Errorf("unknown agent %q: want one of %s", h.Agent, strings.Join(agents, ", ")))
	h.Agent = ""
}

// twice reports whether Copilot CLI also reports the event to its own hook. It reads Claude Code's settings, too.
func (h *Hook) twice(e *Event) bool {
	if e.Agent != Copilot || claudeKinds[e.Name] == Ignored {
		return false
	}
	_, err := os.Stat(CopilotFile(h.Env))
	return err == nil
}

// CopilotFile returns the path of unloop's own file of user hooks for Copilot CLI.
func CopilotFile(env func(string) string) string {
	return filepath.Join(cmp.Or(env("COPILOT_HOME"), filepath.Join(env("HOME"), ".copilot")), "hooks", "unloop.json")
}

// masker creates the folders and returns a masker with the key of this machine.
func (h *Hook) masker() (*mask.Masker, error) {
	if err := h.Folder.make(); err != nil {
		return nil, err
	}
	key, err := h.Folder.maskKey()
	if err != nil {
		return nil, err
	}
	return mask.New(mask.Settings{Key: key})
}

// maskEvent masks the event, before any of it is stored. The path of the transcript is not masked, because it is read and not stored.
func maskEvent(m *mask.Masker, e *Event) {
	e.Name, e.Dir, e.Text = m.Text(e.Name), m.Text(e.Dir), m.Text(e.Text)
	e.Session, e.SubAgent = m.ID(e.Session), m.ID(e.SubAgent)
	for k := range e.Calls {
		c := &e.Calls[k]
		c.ID, c.Tool = m.ID(c.ID), m.Text(c.Tool)
		c.Args, c.Result, c.Error = m.Raw(c.Args), m.Raw(c.Result), m.Text(c.Error)
	}
}

// judge folds the event, which is already masked, into its session and answers.
func (h *Hook) judge(ctx context.Context, m *mask.Masker, e *Event, settings *Settings, reply func(Reply) error) error {
	p, err := settings.LoadProfile(e.Agent)
	if err != nil {
		return err
	}
	server := h.connect(e, settings)
	orders := h.hear(ctx, server, e, settings)
	unlock, err := h.Folder.lock(key(e.Agent, e.Session, e.SubAgent))
	if errors.Is(err, errBusy) {
		return errors.Join(err, h.Folder.keepLate(e, h.Now()))
	}
	if err != nil {
		return err
	}
	defer unlock()
	s, err := h.Folder.load(e, p, h.Now)
	if err != nil {
		h.fault(e, fmt.Errorf("%w; the session begins anew", err))
	}
	s.Mode, s.Latest = settings.Mode, h.Now()
	if e.Dir != "" {
		s.Dir = e.Dir
	}
	j := &judge{session: s, event: e, mode: settings.Mode, profile: p}
	if err := h.Folder.foldLate(j); err != nil {
		h.fault(e, err)
	}
	j.obey(orders)
	j.fold(h.transcript(e, s, m))
	if server != nil && !orders.failed {
		h.askServer(ctx, server, j, settings)
	}
	answer, ruling := j.answer()
	written := reply(Encode(e, answer))
	j.measure()
	saved := h.Folder.save(s)
	return errors.Join(written, saved, h.record(j, answer, ruling), h.Folder.see(e, &s.About, settings.Mode, h.Now()), h.afterwards(ctx, server, j))
}

// transcript reads the new lines of the session's transcript. The event of a sub-agent names the transcript of the main agent. An
// unreadable transcript is ignored.
func (h *Hook) transcript(e *Event, s *session, m *mask.Masker) *transcript {
	if e.Transcript == "" || e.SubAgent != "" {
		return nil
	}
	t, err := readTranscript(e.Transcript, s.Read)
	if err != nil {
		h.fault(e, err)
		return nil
	}
	t.mask(m)
	return t
}

// measure updates the counts of the session for people.
func (j *judge) measure() {
	state := j.guard.State()
	j.Repeats = state.StepsWithoutNovelty
	ended := slices.ContainsFunc(j.steps, func(s Step) bool { return s.Op != "before" })
	if j.Repeats == 0 && ended {
		j.TokensNovel = j.Tokens
	}
}

// record writes the intervention, or the intervention that shadow mode prevented, to the log.
func (h *Hook) record(j *judge, a Answer, r *Ruling) error {
	entry := Entry{
		Time: h.Now(), Agent: j.event.Agent, Session: j.event.Session, SubAgent: j.event.SubAgent, Event: j.event.Name,
	}
	switch {
	case a.Deny != "":
		entry.What, entry.Text = "deny", a.Deny
	case a.EndTurn != "":
		entry.What, entry.Text = "end_turn", a.EndTurn
	case a.SendBack != "":
		entry.What, entry.Text = "send_back", a.SendBack
	case a.Context != "":
		entry.What, entry.Text = "nudge", a.Context
	case j.mode == Shadow && r != nil && r.Action != policy.Allow:
		entry.What, entry.Text = "shadow", r.Action.String()+": "+r.Text
	default:
		return nil
	}
	if r != nil {
		entry.Tool, entry.Code, entry.Count, entry.Findings = r.Tool, r.Code, r.Count, r.Findings
	}
	return h.Folder.Append(entry)
}
