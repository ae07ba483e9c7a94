package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// followed is a folder that is followed, with the events that were passed on.
type followed struct {
	t      *testing.T
	dir    string
	mu     sync.Mutex
	events []string // run and id
	said   []string
	stop   func()
}

// followFolder follows an empty folder, in a bubble.
func followFolder(t *testing.T) *followed {
	f := &followed{t: t, dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	follow := Follower{
		Take: func(_ context.Context, e *unloop.Event, _ string) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.events = append(f.events, e.RunID+" "+e.ID)
			return nil
		},
		Warn: func(err error) { f.said = append(f.said, err.Error()) },
	}
	done := make(chan error)
	go func() { done <- follow.Run(ctx, []string{f.dir}) }()
	synctest.Wait() // it has looked once
	f.stop = func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	return f
}

// add adds text to a file, and lets it be followed.
func (f *followed) add(name, text string) {
	f.t.Helper()
	f.write(name, text, os.O_APPEND)
}

func (f *followed) write(name, text string, flags int) {
	f.t.Helper()
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_WRONLY|os.O_CREATE|flags, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		f.t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// taken returns the events that were passed on since its last call.
func (f *followed) taken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}

func (f *followed) want(events ...string) {
	f.t.Helper()
	if diff := cmp.Diff(events, f.taken()); diff != "" {
		f.t.Error(diff)
	}
}

func (f *followed) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(filepath.Join(f.dir, from), filepath.Join(f.dir, to)); err != nil {
		f.t.Fatal(err)
	}
}

func line(id int) string {
	return fmt.Sprintf(`{"event_id":"%d","run_id":"r","type":"x"}`+"\n", id)
}

func TestFollow(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(f *followed)
		said []string
	}{
		{"lines are passed on as they are written, and incomplete lines when they are complete", func(f *followed) {
			f.add("a.jsonl", line(1)+line(2)[:20])
			f.want("r 1")
			f.add("a.jsonl", line(2)[20:])
			f.want("r 2")
			f.add("a.jsonl", line(3)+line(4))
			f.want("r 3", "r 4")
		}, nil},
		{"a first line that is half", func(f *followed) {
			f.add("a.jsonl", line(1)[:20])
			f.want()
			f.add("a.jsonl", line(1)[20:])
			f.want("r 1")
		}, nil},
		{"a line that a killed program left half, and the next one", func(f *followed) {
			f.add("a.jsonl", line(1)+`{"event_id":"2","ru`)
			f.add("a.jsonl", line(3)+line(4))
			f.want("r 1", "r 4")
		}, []string{"a.jsonl:2: "}},
		{"rotation", func(f *followed) {
			f.add("a.jsonl", line(1))
			f.rename("a.jsonl", "a.jsonl.1")
			f.add("a.jsonl", line(2))
			f.want("r 1", "r 2")
		}, nil},
		{"truncation", func(f *followed) {
			f.add("a.jsonl", line(1)+line(2))
			f.want("r 1", "r 2")
			f.write("a.jsonl", line(3), os.O_TRUNC)
			f.want("r 3")
			f.add("a.jsonl", line(4))
			f.want("r 4")
		}, []string{"a.jsonl: the file was truncated or written anew"}},
		{"a log without ids that is cut begins with other ids", func(f *followed) {
			record := func(tool string) string {
				return `{"run_id":"r","type":"tool_call_started","tool":"` + tool + `"}` + "\n"
			}
			f.add("a.jsonl", record("a")+record("a"))
			f.write("a.jsonl", record("b"), os.O_TRUNC)
			if ids := f.taken(); len(ids) != 3 || ids[0] == ids[2] || ids[0] == ids[1] {
				f.t.Errorf("events %v", ids)
			}
		}, []string{"a.jsonl: the file was truncated or written anew"}},
		{"a document is read when it has not changed for a while, and only new events are passed on", func(f *followed) {
			message := `{"role":"user","content":"hello"}`
			f.add("chat.json", "[\n"+message+",")
			f.want()
			f.add("chat.json", message+`]`)
			first := f.taken()
			f.write("chat.json", `[`+message+`,`+message+`,`+message+`]`, os.O_TRUNC)
			second := f.taken()
			if len(first) != 2 || len(second) != 1 || strings.Fields(first[0])[0] != strings.Fields(second[0])[0] {
				f.t.Errorf("first %v, then %v", first, second)
			}
		}, []string{"chat.json: "}},
		{"a document by another name, whose first line changes", func(f *followed) {
			message := `{"role":"user","content":"hello"}`
			f.add("chat.trace", "["+message+",\n"+message+"]")
			f.write("chat.trace", "["+message+","+message+",\n"+message+"]", os.O_TRUNC)
			if events := f.taken(); len(events) != 3 {
				f.t.Errorf("events %v", events)
			}
		}, nil},
		{"a truncated log of whole conversations starts another run", func(f *followed) {
			request := func(text string) string { return `{"messages":[{"role":"user","content":"` + text + `"}]}` + "\n" }
			f.add("log.jsonl", request("one"))
			f.add("log.jsonl", request("two"))
			f.write("log.jsonl", request("three"), os.O_TRUNC)
			runs := f.taken()
			if len(runs) != 3 || runs[1] != strings.Replace(runs[0], " ", "#2 ", 1) || runs[2] == runs[0] {
				f.t.Errorf("events %v", runs)
			}
		}, nil},
		{"an event that a chat removes stays, and new events follow it", func(f *followed) {
			f.add("s.jsonl", `{"sessionId":"s","projectHash":"h"}`+"\n"+`{"id":"1","type":"user","content":"hello"}`+"\n"+`{"id":"2","type":"user","content":"no"}`+"\n")
			f.add("s.jsonl", `{"$rewindTo":"2"}`+"\n"+`{"id":"3","type":"user","content":"yes"}`+"\n")
			f.want("s e1", "s e2", "s e4")
		}, nil},
		{"files that are no traces are left alone", func(f *followed) {
			f.add("note.txt", "a note\n")
			f.add("note.txt", strings.Repeat("more of it\n", 10_000))
			f.add("empty.jsonl", "")
			f.want()
		}, nil},
		{"lines that are JSON, and no events", func(f *followed) {
			f.add("a.jsonl", line(1)+`{"type":7}`+"\n")
			f.add("a.jsonl", line(2)+"[]\n7\n")
			f.add("a.jsonl", line(3))
			f.want("r 1", "r 2", "r 3")
		}, []string{"a.jsonl:2: type: a JSON number does not fit here, want a string; the line is skipped", "a.jsonl:4: ", "a.jsonl:5: "}},
		{"lines that are not events: the first are reported one by one", func(f *followed) {
			f.add("a.jsonl", line(1)+strings.Repeat("{}\n", 10_000)+line(2))
			f.want("r 1", "r 2")
		}, append(slices.Repeat([]string{"type: an event needs a type; the line is skipped"}, 20), "a.jsonl: further skipped lines")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := followFolder(t)
				tc.do(f)
				f.stop()
				if len(f.said) != len(tc.said) {
					t.Fatalf("said %q, want %q", f.said, tc.said)
				}
				for i, want := range tc.said {
					if !strings.Contains(f.said[i], want) {
						t.Errorf("said %q, want %q", f.said[i], want)
					}
				}
			})
		})
	}
}

// TestAGrowingFileGivesTheEventsOfTheWholeFile writes fixtures of formats that are read line by line, a line at a time.
func TestAGrowingFileGivesTheEventsOfTheWholeFile(t *testing.T) {
	for _, path := range []string{
		"../ingest/native/testdata/agent.jsonl", "../ingest/labelled/testdata/runs.jsonl", "../ingest/claudecode/testdata/session.jsonl",
		"../ingest/claudecode/testdata/stream.jsonl", "../ingest/codex/testdata/rollout.jsonl", "../ingest/codex/testdata/bare.jsonl",
		"../ingest/copilot/testdata/events.jsonl", "../ingest/cursor/testdata/stream_partial.jsonl",
	} {
		t.Run(path, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			feed := Importer{
				Take: func(e *unloop.Event, _ string) error { want = append(want, e.RunID+" "+e.ID); return nil },
				Warn: func(err error) { t.Error(err) },
			}
			if _, err := feed.Run(t.Context(), []string{path}); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				f := followFolder(t)
				for l := range strings.Lines(string(text)) {
					f.add("trace.jsonl", l)
				}
				time.Sleep(20 * time.Minute) // the end of the file is the end of the run
				f.stop()
				got := f.taken()
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestOnceReadsTheFileToItsEnd(t *testing.T) {
	var mu sync.Mutex
	runs := make(map[string]bool)
	follow := Follower{
		Once: true,
		Take: func(_ context.Context, e *unloop.Event, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			runs[e.RunID] = true
			return nil
		},
		Warn: func(err error) { t.Error(err) },
	}
	if err := follow.Run(t.Context(), []string{"../../examples"}); err != nil || len(runs) < 2 {
		t.Errorf("runs %v, error %v", runs, err)
	}
}

func TestARejectedEventEndsTheFollowing(t *testing.T) {
	broken := errors.New("no server")
	follow := Follower{
		Take: func(context.Context, *unloop.Event, string) error { return broken },
		Warn: func(err error) { t.Error(err) },
	}
	if err := follow.Run(t.Context(), []string{"../../examples"}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestAFileThatIsReplacedWhileItIsReadIsReadBesideItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &followed{t: t, dir: t.TempDir()}
		released := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		follow := Follower{
			Take: func(_ context.Context, e *unloop.Event, _ string) error {
				<-released
				f.mu.Lock()
				defer f.mu.Unlock()
				f.events = append(f.events, e.ID)
				return nil
			},
			Warn: func(err error) { t.Error(err) },
		}
		done := make(chan error)
		go func() { done <- follow.Run(ctx, []string{f.dir}) }()
		chat := func(messages int) string {
			return "[" + strings.Repeat(`{"role":"user","content":"hi"},`, messages) + `{"role":"assistant","content":"bye"}]`
		}
		f.add("chat.json", chat(500))
		f.add(".next", chat(1000))
		if err := os.Rename(filepath.Join(f.dir, ".next"), filepath.Join(f.dir, "chat.json")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait() // both readers wait in Take
		close(released)
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		slices.Sort(f.events)
		if once := len(slices.Compact(f.events)); once < 1001 {
			t.Errorf("%d events, want 1001", once)
		}
	})
}
