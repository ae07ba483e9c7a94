package profile

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

func TestABlockAtAMessageNamesNoCall(t *testing.T) {
	p, err := New("default")
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewSession("r")
	said := "To be thorough, I will now check once more that the version in the file is the one that was asked for."
	for range 12 {
		d := s.Add(&unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: said})
		if d.Action < policy.Block {
			continue
		}
		if strings.Contains(d.Message, "7 times, among its last 6") {
			t.Errorf("more messages than there are: %s", d.Message)
		}
		if !d.AfterMessage || strings.Contains(d.Message, "his call") {
			t.Errorf("after a message: %t, text: %s", d.AfterMessage, d.Message)
		}
		return
	}
	t.Error("no block")
}
