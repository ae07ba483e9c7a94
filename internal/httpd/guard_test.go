package httpd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// echoGuards records which guard is requested, and answers with its input.
type echoGuards struct {
	profile  string
	settings map[string]string
}

func (p *echoGuards) Guard(profile string, settings map[string]string) (Guard, error) {
	p.profile, p.settings = profile, settings
	if profile == "wrong" {
		return nil, SettingErrors{{Reason: "there is no profile of that name"}}
	}
	if len(settings) > 1 {
		return nil, SettingErrors{{Setting: "a", Reason: "too small"}, {Setting: "b", Reason: "too large"}}
	}
	return p, nil
}

func (*echoGuards) Answer(_ context.Context, text []byte, out io.Writer) error {
	_, err := out.Write(text)
	return err
}

func TestTheGuardOfTheRequestedProfileAnswers(t *testing.T) {
	p := &echoGuards{}
	h := newTestServer(t, func(o *Options) { o.Guards = p })
	w := h.do(http.MethodPost, "/api/guard?profile=cycles&set=n=1&set=n=a%3Db", "{}\n[]\n")
	if w.Code != http.StatusOK || w.Body.String() != "{}\n[]\n" || w.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if diff := cmp.Diff(map[string]string{"n": "a=b"}, p.settings); diff != "" || p.profile != "cycles" {
		t.Errorf("the request is for %q with the settings\n%s", p.profile, diff)
	}
	for query, want := range map[string]struct{ field, reason string }{
		"profile=wrong":                {"profile", "there is no profile of that name"},
		"set=b=1&set=a=2":              {"set.a", "too small"},
		"set=ignore":                   {"set", "want NAME=VALUE"},
		"set=%3D1":                     {"set", "want NAME=VALUE"},
		strings.Repeat("set=a=1&", 65): {"set", "must not be given more than 64 times"},
	} {
		w := h.do(http.MethodPost, "/api/guard?"+query, "{}\n")
		var wrong Problem
		if err := json.Unmarshal(w.Body.Bytes(), &wrong); err != nil {
			t.Fatal(err)
		}
		if w.Code != http.StatusBadRequest || wrong.Field != want.field || wrong.Reason != want.reason {
			t.Errorf("%.40s: %d %s", query, w.Code, w.Body)
		}
	}
	h = newTestServer(t, func(o *Options) { o.Limits.Body = 100 })
	if w := h.do(http.MethodPost, "/api/guard", strings.Repeat(" ", 101)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: %d", w.Code)
	}
}
