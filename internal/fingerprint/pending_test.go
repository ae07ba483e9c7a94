package fingerprint

import (
	"strings"
	"testing"
)

func TestPending(t *testing.T) {
	for outcome, want := range map[string]bool{
		`{"id":"d-77","state":"QUEUED","position":null}`:                              true,
		`{"status":"IN_PROGRESS"}`:                                                    true,
		`{"phase":"InProgress","percent":40}`:                                         true,
		`"NAME READY STATUS RESTARTS AGE\nweb-7d9 0/1 ContainerCreating 0 3m12s"`:     true,
		`"web-7d9 0/1 PodInitializing 0 12s"`:                                         true,
		`"lint\tpass\t1m0s\ttest\tpending\t0\thttps://github.com/acme/app/runs/1970"`: true,
		`"lint\npending"`:                true,
		`"The import is still running."`: true,

		`"web-7d9 0/1 ImagePullBackOff 0 3m12s"`:                                                      false,
		`"web-7d9 0/1 ErrImagePull 0 3m12s"`:                                                          false,
		`"State: Waiting, Reason: CrashLoopBackOff"`:                                                  false,
		`{"state":"FAILED","retry":"pending"}`:                                                        false,
		`{"error":{"code":403,"message":"access denied, review pending"}}`:                            false,
		`"lint fail 1m0s, test pending"`:                                                              false,
		`"Waiting for rollout to finish: 1 of 2 updated\ndeployment \"web\" successfully rolled out"`: false,
		`{"state":"DONE"}`:           false,
		`"runningshoes in stock: 4"`: false,
		`{"state":"RUNNING","log":"` + strings.Repeat("a line. ", 300) + `"}`: false,
		``: false,
	} {
		if got := Pending([]byte(outcome)); got != want {
			t.Errorf("%v for %.80s, want %v", got, outcome, want)
		}
	}
}
