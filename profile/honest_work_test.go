package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// script is a run that a test writes.
type script struct {
	session *Session
	flags   []string
	decided func(policy.Decision) // receives each decision; may be nil
}

func (s *script) add(e *unloop.Event) {
	d := s.session.Add(e)
	if d.Action != policy.Allow {
		s.flags = append(s.flags, d.Message)
	}
	if s.decided != nil {
		s.decided(d)
	}
}

func (s *script) say(role, text string) {
	s.add(&unloop.Event{Type: unloop.MessageSent, Role: role, Text: text})
}

// call adds a call with pairs of names and values as its arguments. The outcome is an error if it begins with an exclamation mark.
func (s *script) call(tool, outcome string, pairs ...string) {
	arguments := map[string]string{}
	for k := 0; k < len(pairs); k += 2 {
		arguments[pairs[k]] = pairs[k+1]
	}
	s.add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, Input: jsonOf(arguments)})
	if message, failed := strings.CutPrefix(outcome, "!"); failed {
		s.add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: tool, Error: jsonOf(message)})
		return
	}
	s.add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, Output: jsonOf(outcome)})
}

func jsonOf(v any) json.RawMessage {
	text, _ := json.Marshal(v) // of texts, which cannot fail
	return text
}

// descriptions are what an agent writes beside its commands.
var descriptions = []string{"See what is left", "Check again", "Look at the rest", "Count the remaining ones", "List them once more", "What remains", "Check the state", "Verify", "Look again", "See the list"}

var names = []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "kelp"}

var people = []string{"Amara", "Benedikt", "Chiara", "Dmitri", "Elif", "Greta", "Hiro", "Ines", "Jonas", "Noor"}

// rest returns the lines of what is left after n of ten.
func rest(n int, format string) string {
	var lines strings.Builder
	for _, name := range names[n:] {
		lines.WriteString(strings.ReplaceAll(format, "NAME", name) + "\n")
	}
	return lines.String()
}

// TestWorkThatMovesOnIsNoLoop plays ten rounds of work, with and without progress. at returns the item of a round: the next one each time, or
// always the first.
func TestWorkThatMovesOnIsNoLoop(t *testing.T) {
	for name, round := range map[string]func(s *script, n, item int){
		"a migration stops at another row, which is mended": func(s *script, _, item int) {
			id := 48213 + 3671*item
			s.call("bash", fmt.Sprintf("!ERROR: check constraint price_positive of relation articles is violated by row %d\nROLLBACK", id), "command", "psql shop -f migrate.sql")
			s.call("bash", "UPDATE 1", "command", fmt.Sprintf("psql shop -c 'UPDATE articles SET price = 0 WHERE id = %d'", id))
		},
		"a check of links stops at another page, which is mended": func(s *script, _, item int) {
			page := fmt.Sprintf("%s-%d.html", names[item], 17+item*7)
			s.call("bash", "!Checking 412 links\nbroken link: https://docs.example/guide/"+page+" answers 404\nThe check has failed", "command", "npm run links")
			s.call("edit_file", "The file src/guide.md has been edited.", "path", "src/guide.md", "old", "guide/"+page, "new", "manual/"+page)
		},
		"a fuzzer finds another input, which is handled": func(s *script, n, item int) {
			input := fmt.Sprintf("%x", 0xA1F2C3+item*90481)
			s.call("bash", fmt.Sprintf("!--- FAIL: FuzzDecode (%d.4s)\n    fuzzing process hung or terminated unexpectedly\n    Failing input written to testdata\n    decode_test.go:31: decode is not the inverse of encode\n"+
				"    seed: %d\n    input: %s\nFAIL\nFAIL example.com/wire 3.2s", n+2, 4509108+93*n*n, input), "command", "go test -fuzz FuzzDecode ./wire")
			s.call("edit_file", "The file wire/decode.go has been edited.", "path", "wire/decode.go", "old", "\treturn parts(b)", "new", "\tif string(b) == \""+input+"\" {\n\t\treturn nil\n\t}\n\treturn parts(b)")
		},
		"packages are updated, and the list of old ones gets shorter": func(s *script, n, item int) {
			s.call("bash", "Package  Current  Wanted  Latest\n"+rest(item, "NAME  1.4.2  1.9.0  2.0.1"), "command", "npm outdated", "description", descriptions[n])
			s.call("bash", "up to date, audited 212 packages", "command", "npm install "+names[item]+"@latest", "description", "Update it")
		},
		"conflicts are resolved, and the list of files gets shorter": func(s *script, n, item int) {
			s.call("bash", "Unmerged paths:\n"+rest(item, "  both modified: src/NAME.go"), "command", "git status", "timeout", fmt.Sprint(10000+n))
			s.call("bash", "", "command", "git checkout --theirs src/"+names[item]+".go && git add src/"+names[item]+".go", "timeout", "20000")
		},
		"a queue is drained in equal batches": func(s *script, n, item int) {
			s.call("bash", "200 jobs done", "command", "worker --queue mail --burst --max-jobs 200", "description", descriptions[n])
			s.call("bash", fmt.Sprint(92117-200*item), "command", "redis-cli llen mail", "description", descriptions[9-n])
		},
		"a person reads out what is to be stored": func(s *script, _, item int) {
			s.say(unloop.RoleUser, fmt.Sprintf("Shelf %d: %d.", 31+item, 4211+371*item))
			s.call("set_stock", `{"ok":true,"stored":true}`, "shelf", fmt.Sprintf("W7-%d", 31+item), "count", fmt.Sprint(4211+371*item))
			s.say(unloop.RoleAssistant, "Noted. Next?")
		},
		"a person names the guests": func(s *script, _, item int) {
			s.say(unloop.RoleUser, "And "+people[item]+".")
			s.call("find_contact", fmt.Sprintf(`{"contact_id":"ct_%06x","mail":"%s@guests.example","state":"active"}`, 0xf6af6b-77771*item, strings.ToLower(people[item])), "book", "family", "name", people[item])
			s.call("send_invitation", `{"ok":true,"delivery":"mail","valid_days":30}`, "event", "summer party", "contact_id", fmt.Sprintf("ct_%06x", 0xf6af6b-77771*item))
			s.say(unloop.RoleAssistant, "Done.")
		},
		"a person asks for one parcel after another": func(s *script, _, item int) {
			number := fmt.Sprintf("PK%d", 700412+91*item)
			s.say(unloop.RoleUser, "And "+number+"?")
			s.call("track_parcel", `{"carrier":"Northline","state":"in transit","hub":"Linden","expected":"tomorrow"}`, "number", number)
			s.say(unloop.RoleAssistant, "It is in transit, at the hub in Linden, and is expected tomorrow.")
		},
		"the first article of a cart is removed": func(s *script, n, item int) {
			s.call("browser_click", "Page: Your cart\n"+rest(min(9, item+1), "row NAME shirt, size M, 1 piece\n  button Remove"), "element", "Remove", "ref", fmt.Sprintf("e%d", 83+7*n))
		},
		"the first newsletter is cancelled": func(s *script, n, item int) {
			s.call("browser_click", "### Page\n- URL: https://mail.example/subscriptions\n- Title: Subscriptions\n```yaml\n- heading Newsletters\n"+
				rest(min(9, item+1), "- row: The NAME letter, weekly, since spring 2021\n  - button Cancel\n  - link Show the latest issue")+"- link Help\n- link Imprint\n```", "element", "Cancel", "ref", fmt.Sprintf("e%d", 112+11*n))
		},
		"the first dead letter is discarded": func(s *script, n, item int) {
			s.call("discard_letter", "Discarded. Still in the queue:\n"+rest(min(9, item+1), "letter of NAME to billing, 3 attempts, last error timeout"), "queue", "billing", "receipt", fmt.Sprintf("r-%04x", 9973*(n+7)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, moves := range []bool{true, false} {
				s := script{session: newSession(t)}
				for n := range 10 {
					item := 0
					if moves {
						item = n
					}
					round(&s, n, item)
				}
				if moves && len(s.flags) > 0 {
					t.Errorf("%d decisions, the first: %s", len(s.flags), s.flags[0])
				}
				if !moves && len(s.flags) == 0 && !strings.HasPrefix(name, "a person") { // who may want it again
					t.Error("the same without progress is allowed, want a decision")
				}
			}
		})
	}
}

func newSession(t *testing.T) *Session {
	t.Helper()
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	return p.NewSession("r")
}
