package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"unloop":   func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"resident": printResident,
	})
}

// judge starts a chat endpoint that always says that the agent works. Without the key "secret" it answers with an error.
func judge(env *testscript.Env) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"stuck\":false,\"certainty\":0.9,\"why\":\"new pages\",\"advice\":\"\"}"}}]}`)
	}))
	env.Defer(server.Close)
	return server
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("MODEL", judge(env).URL+"/v1")
			return err
		},
	})
}

// Each start of the program makes all commands, and hooks and guards start it often. It makes no profile and reads no texts.
func TestTheStartOfACommandIsCheap(t *testing.T) {
	if all := testing.AllocsPerRun(5, func() { rootCommand() }); all > 1000 {
		t.Errorf("making the commands allocates %.0f times, want at most 1,000", all)
	}
}
