package profile

import (
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// worstOf plays a run under the profile default and returns its most severe decision, and the number of calls before it.
func worstOf(t *testing.T, play func(*script)) (worst policy.Action, calls int) {
	t.Helper()
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{session: p.NewSession("r")}
	s.decided = func(d policy.Decision) {
		if d.Action > worst {
			worst, calls = d.Action, s.session.Run().Calls()
		}
	}
	s.say(unloop.RoleUser, "Do it, and tell me when it is done.")
	play(s)
	return worst, calls
}

// refuses returns the answer of a service that refuses a call, with the number of the request.
func refuses(k int) string {
	return fmt.Sprintf(`!{"error": {"code": 403, "message": "Caller lacks permission projects.members.create", "request_id": "req_%08x"}}`, 0xada0a7ef-k*0x1f3d9b7)
}

var (
	spellings = []string{"apollo", "prj_apollo", "Apollo"}
	roles     = []string{"admin", "editor", "viewer", "member", "read"}
)

// TestWhatIsHopelessIsHalted has runs that go on without progress after several nudges, whatever varies in them. Each must be halted within
// 28 calls.
func TestWhatIsHopelessIsHalted(t *testing.T) {
	for name, play := range map[string]func(*script){
		"a service refuses every spelling": func(s *script) {
			for k := range 30 {
				s.call("add_member", refuses(k), "project", spellings[k%3], "role", roles[k%5])
			}
		},
		"it refuses, and the agent looks who it is now and then": func(s *script) {
			for k := range 30 {
				s.call("add_member", refuses(k), "project", spellings[k%3], "role", roles[k%5])
				if k%5 == 4 {
					s.call("whoami", `{"id": "svc_agent", "roles": ["reader"]}`)
				}
			}
		},
		"an overlay takes every click": func(s *script) {
			for k := range 25 {
				ref := fmt.Sprintf("e%d", 100+7*k)
				s.call("browser_click", fmt.Sprintf("!TimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for locator('aria-ref=%s')\n"+
					"  - attempting click action\n    - <div class=\"cmp-overlay\"></div> intercepts pointer events", ref), "element", "Seat 12A", "ref", ref)
				s.call("browser_snapshot", fmt.Sprintf("- Page URL: http://rail.local/seats\n- dialog \"We value your privacy\" [ref=e%d]\n- button \"12A\" [ref=e%d]", 101+7*k, 102+7*k))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if worst, calls := worstOf(t, play); worst != policy.Halt || calls > 28 {
				t.Errorf("%s after %d calls, want halt", worst, calls)
			}
		})
	}
}

// TestWorkThatLooksHopelessIsNotStopped has honest twins of these runs.
func TestWorkThatLooksHopelessIsNotStopped(t *testing.T) {
	for name, play := range map[string]func(*script){
		"a service refuses some, and takes the others": func(s *script) {
			for k := range 40 {
				answer := refuses(k)
				if k%4 == 3 {
					answer = fmt.Sprintf(`{"member": %q, "added": true}`, people[k%10])
				}
				s.call("add_member", answer, "project", names[k/4], "user", people[k%10])
			}
		},
		"a person gives another instruction after each refusal": func(s *script) {
			for k := range 30 {
				s.call("add_member", refuses(k), "project", spellings[k%3], "role", roles[k%5])
				if k%3 == 2 {
					s.say(unloop.RoleUser, fmt.Sprintf("I have asked %s to grant it, try again now.", people[k/3]))
				}
			}
		},
		"each click opens another row": func(s *script) {
			for k := range 30 {
				s.call("browser_click", fmt.Sprintf("- Page URL: http://crm.local/rows/%d\n- heading \"%s %s\"\n- button \"Next\" [ref=e9]", k, people[k%10], names[(k/10+k)%10]), "element", "Next", "ref", "e9")
			}
		},
		"a form is filled for each row": func(s *script) {
			for k := range 30 {
				name := people[k%10] + " " + names[(k/10+k)%10]
				s.call("browser_navigate", "- Page URL: http://crm.local/new\n- textbox \"Name\" [ref=e12]\n- button \"Save\" [ref=e20]", "url", "http://crm.local/new")
				s.call("browser_fill_form", "await page.getByRole('textbox', { name: 'Name' }).fill('"+name+"');", "ref", "e12", "value", name)
				s.call("browser_click", fmt.Sprintf("Saved contact %d: %s", 300+k, name), "element", "Save", "ref", "e20")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if worst, calls := worstOf(t, play); worst >= policy.Block {
				t.Errorf("%s after %d calls", worst, calls)
			}
		})
	}
}
