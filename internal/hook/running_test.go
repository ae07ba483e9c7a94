package hook

import (
	"errors"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/policy"
)

func TestHooksUseTheServerThatRunsAndForgetOneThatIsGone(t *testing.T) {
	server := &fakeServer{action: policy.Block}
	d := newDesk(t, Claude, Guard)
	d.server = server
	if before, _ := d.claudeCall("s", 1, "make", "ok"); before != "" {
		t.Errorf("without a server: %s", before)
	}
	withdraw, err := d.folder.Announce("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if before, _ := d.claudeCall("s", 2, "make", "ok"); !strings.Contains(before, "the server says so") {
		t.Errorf("with a server: %s", before)
	}
	withdraw()
	if before, _ := d.claudeCall("s", 3, "make", "ok"); before != "" {
		t.Errorf("after its end: %s", before)
	}
	if _, err := d.folder.Announce("http://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	server.err = errors.New("connection refused")
	d.claudeCall("s", 4, "make", "ok")
	if d.folder.running() != "" {
		t.Error("a server that is gone is asked again")
	}
}
