package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/policy"
)

// TestWaitingHasThePatienceOfPolls has states that may take their time, asked for without a pause: twelve answers are no reason to stop,
// sixty are. Their twins are states that do not change by themselves, which are stopped sooner.
func TestWaitingHasThePatienceOfPolls(t *testing.T) {
	ask := func(tool, outcome string, pairs ...string) func(*script, int) {
		return func(s *script, k int) { s.call(tool, fmt.Sprintf(outcome, k), pairs...) }
	}
	for name, call := range map[string]func(*script, int){
		"a deployment is queued": ask("get_deployment", `{"id": "d-77", "state": "QUEUED", "elapsed_seconds": %d, "position": null}`, "id", "d-77"),
		"a container is created": ask("bash", "NAME      READY  STATUS             RESTARTS  AGE\nweb-7d9   0/1    ContainerCreating  0         %ds", "command", "kubectl get pod web-7d9"),
		"checks are pending, which is an exit status": ask("bash", "!Exit code 8\nlint\tpass\t1m0s\nunit\tpending\t%ds\thttps://github.com/acme/app/actions/runs/1970",
			"command", "gh pr checks 812"),
		"a run of a tool without a known name": ask("ci_run", `{"run": 1970, "state": "in_progress", "elapsed_seconds": %d}`, "run", "1970"),
	} {
		t.Run(name, func(t *testing.T) {
			for calls, want := range map[int]policy.Action{12: policy.Warn, 60: policy.Halt} {
				worst, _ := worstOf(t, func(s *script) {
					for k := range calls {
						call(s, k)
					}
				})
				if calls < 60 && worst > want || calls == 60 && worst != want {
					t.Errorf("%s after %d calls, want %s", worst, calls, want)
				}
			}
		})
	}
	for name, call := range map[string]func(*script, int){
		"an image cannot be pulled": ask("bash", "NAME      READY  STATUS            RESTARTS  AGE\nweb-7d9   0/1    ImagePullBackOff  0         %ds", "command", "kubectl get pod web-7d9"),
		"a service refuses":         ask("get_deployment", `!{"error": {"code": 403, "message": "access denied, the review is pending", "request_id": "req_%08x"}}`, "id", "d-77"),
		"a deployment has failed":   ask("get_deployment", `{"id": "d-77", "state": "FAILED", "reason": "quota exceeded", "elapsed_seconds": %d}`, "id", "d-77"),
	} {
		t.Run(name, func(t *testing.T) {
			worst, calls := worstOf(t, func(s *script) {
				for k := range 20 {
					call(s, k)
				}
			})
			if worst != policy.Halt {
				t.Errorf("%s after %d calls, want halt within 20", worst, calls)
			}
		})
	}
}

// TestDotsOfAPolledTestRunAreNews has a test run that prints dots for the tests that have passed since. Its twin prints the same ones each time.
func TestDotsOfAPolledTestRunAreNews(t *testing.T) {
	for name, c := range map[string]struct {
		dots func(k int) int
		want policy.Action
	}{
		"each poll returns other dots":     {func(k int) int { return 20 + 3*(k%7) + k }, policy.Warn},
		"each poll returns the equal dots": {func(int) int { return 20 }, policy.Halt},
	} {
		t.Run(name, func(t *testing.T) {
			worst, calls := worstOf(t, func(s *script) {
				for k := range 30 {
					s.call("write_stdin", strings.Repeat(".", c.dots(k)), "session_id", "7", "chars", "")
				}
			})
			if worst > c.want || c.want == policy.Halt && worst < c.want {
				t.Errorf("%s after %d calls, want %s", worst, calls, c.want)
			}
		})
	}
}
