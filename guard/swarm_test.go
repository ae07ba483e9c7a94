package guard

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/unloop-ai/unloop/swarm"
)

// crossing is a store at which another call of the same run begins and ends while one is counted.
type crossing struct {
	swarm.Store
	meanwhile func()
}

func (c *crossing) Record(context.Context, string, []swarm.Call) ([]swarm.Count, error) {
	if meanwhile := c.meanwhile; meanwhile != nil {
		c.meanwhile = nil
		meanwhile()
	}
	return []swarm.Count{{Calls: 100, Workers: 10}}, nil
}

func TestASwarmsFindingNamesTheCallThatWasCounted(t *testing.T) {
	store := &crossing{}
	g := New(load(t, "attocode"), Options{Now: ticking(), Swarm: &Swarm{Store: store, Name: "goal", Worker: "w"}})
	var inner Decision
	store.meanwhile = func() { inner = g.Before(Call{ID: "b", Tool: "fetch", Args: json.RawMessage(`{"url":"x"}`)}) }
	outer := g.Before(Call{ID: "a", Tool: "search", Args: json.RawMessage(`{"q":"x"}`)})
	for _, tc := range []struct {
		d     Decision
		tool  string
		event string
	}{{outer, "search", "g0"}, {inner, "fetch", "g1"}} {
		if len(tc.d.Findings) != 1 || tc.d.Findings[0].Subject != tc.tool || tc.d.Findings[0].Event.ID != tc.event {
			t.Errorf("%s at %s: %+v", tc.tool, tc.event, tc.d.Findings)
		}
	}
}
