package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDemoWithATokenThatMayOnlySend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path != "/api/health" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"detail":"the token is for ingest"}`)
			return
		}
		healthy(w, r)
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	status := Main([]string{"demo", "--speed", "1000", "--endpoint", server.URL}, strings.NewReader(""), &stdout, &stderr)
	if want := "so the demo cannot read the results. See them at " + server.URL + "/\n"; status != exitFine || stderr.Len() > 0 || !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("exit status %d, %s%s", status, stdout.String(), stderr.String())
	}
}
