package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"unloop":   func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"resident": printResident,
	})
}

// tests are those of this package. What they share is removed after them.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer func() { _ = os.RemoveAll(plainFolder) }()
	return m.M.Run()
}

// plainFolder is the folder of the plain program; "" until it is built.
var plainFolder string

var buildPlain = sync.OnceValues(func() (out []byte, err error) {
	if plainFolder, err = os.MkdirTemp("", "unloop-cli-"); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(plainFolder, "unloop"), "../../cmd/unloop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return build.CombinedOutput()
})

// plainProgram returns the path of the program as a release has it, without the race detector. It is for commands that are started
// hundreds of times, and for those that only compute: under the race detector they take several times as long. The tests of
// internal/hook run the code of a hook under the race detector, and what only computes starts no goroutine.
func plainProgram(t *testing.T) string {
	t.Helper()
	if out, err := buildPlain(); err != nil {
		t.Fatalf("build unloop: %v\n%s", err, out)
	}
	return filepath.Join(plainFolder, "unloop")
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
	plain := plainProgram(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("PLAIN", plain)
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
