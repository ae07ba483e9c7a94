package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/nettest"
)

// healthy answers as a server that works.
func healthy(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/api/health":
		fmt.Fprint(w, `{"status":"healthy","service":"unloop","version":"dev"}`)
	case r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body) // a request that breaks off has fewer events
		fmt.Fprintf(w, `{"accepted":%d,"duplicates":0,"rejected":0,"errors":[]}`, bytes.Count(body, []byte("\n")))
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprint(w, `{"event_id":"1"}`+"\n"+`{"event_id":"2"}`+"\n")
	}
}

// inCluster answers as a server of a cluster that lacks a server.
func inCluster(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/health" {
		fmt.Fprint(w, `{"status":"healthy","service":"unloop","version":"dev","cluster":{"roles":["work"],
			"servers":[{"address":"127.0.0.1:1","works":true,"partitions":60}],"unowned_partitions":4,"lag":7}}`)
		return
	}
	healthy(w, r)
}

func TestDoctorReportsProblems(t *testing.T) {
	refuse := func(method string, status int, detail string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == method && r.URL.Path != "/api/health" {
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"detail":%q}`, detail)
				return
			}
			healthy(w, r)
		}
	}
	for _, tc := range []struct {
		name   string
		handle http.HandlerFunc
		want   string // a part of the output
		status int
	}{
		{"nothing", healthy, "ok    reading     the events were read back after", exitFine},
		{"another program", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, "FAIL  port        another program answers at ", exitUnwell},
		{"another service that speaks JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }, "FAIL  port        another program answers at ", exitUnwell},
		{"the port of gRPC", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/health" {
				fmt.Fprint(w, `{"status":"healthy","service":"unloop","version":"dev","grpc":"taken"}`)
				return
			}
			healthy(w, r)
		}, "note  grpc        the server does not accept telemetry over gRPC, because another program uses its port", exitFine},
		{"the partitions of a cluster", inCluster, "ok    cluster     127.0.0.1:1 owns 60 partitions\n" +
			"note  cluster     4 partitions have no owner: another server takes them within 5 s, if one works\n" +
			"note  cluster     7 messages of this server's partitions are not recorded yet\n", exitFine},
		{"the store", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"detail":"the disk is full"}`)
		}, "FAIL  store       the disk is full: see the server's log", exitUnwell},
		{"the clock", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(-90*time.Minute).UTC().Format(http.TimeFormat))
			healthy(w, r)
		}, "FAIL  clock       differs from the server's by 1h", exitUnwell},
		{"a token", refuse(http.MethodPost, http.StatusUnauthorized, "a token is required"), "FAIL  events      the server requires a token: set UNLOOP_TOKEN", exitUnwell},
		{"a token that may only send", refuse(http.MethodGet, http.StatusForbidden, "not with this token"), "note  reading     not checked, because this token may only send events: the server refuses: not with this token", exitFine},
		{"an event that is refused", refuse(http.MethodPost, http.StatusBadRequest, "no"), "FAIL  events      the server refuses an event: no", exitUnwell},
		{"events that do not come back", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") && r.Method == http.MethodGet {
				w.Header().Set("Content-Type", "application/x-ndjson")
				return
			}
			healthy(w, r)
		}, "FAIL  reading     the server returns 0 of 2 events", exitUnwell},
		{"a token that may not delete is no fault", refuse(http.MethodDelete, http.StatusForbidden, "admin is wanted"), "remains until retention or an admin token deletes it: the server refuses: admin is wanted", exitFine},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(tc.handle)
			defer server.Close()
			t.Setenv("UNLOOP_ENDPOINT", server.URL)
			var stdout, stderr bytes.Buffer
			if status := Main([]string{"doctor"}, strings.NewReader(""), &stdout, &stderr); status != tc.status {
				t.Errorf("exit status %d, want %d", status, tc.status)
			}
			if !strings.Contains(stdout.String(), tc.want) || stderr.Len() > 0 {
				t.Errorf("the output is %s%s, want %q", stdout.String(), stderr.String(), tc.want)
			}
		})
	}
}

func TestASlowAnswerIsNoDifferenceOfClocks(t *testing.T) {
	asked := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for clock, want := range map[time.Duration]string{-4 * time.Second: "FAIL", 0: "ok", 10 * time.Second: "ok", 14 * time.Second: "FAIL"} {
		var out strings.Builder
		d := doctor{out: &out}
		d.clock(&client.Health{Clock: asked.Add(clock), Asked: asked, Took: 10 * time.Second})
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("the server's clock is %v after the request: %s", clock, out.String())
		}
	}
}

func TestDoctorChecksThePort(t *testing.T) {
	doctor := func(endpoint string) string {
		var stdout, stderr bytes.Buffer
		if status := Main([]string{"doctor", "--endpoint", endpoint}, strings.NewReader(""), &stdout, &stderr); status != exitUnwell {
			t.Errorf("exit status %d", status)
		}
		return stdout.String()
	}
	if said := doctor("http://" + nettest.FreeAddress(t)); !strings.Contains(said, "is free\nFAIL  server      no server is running: start it with unloop serve") {
		t.Errorf("it says %s", said)
	}
	if said := doctor("http://unloop.invalid:1"); !strings.Contains(said, "FAIL  port        no server answers at http://unloop.invalid:1") {
		t.Errorf("it says %s", said)
	}
}
