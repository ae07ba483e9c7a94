package profile

import (
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// silent is a policy whose snapshot is not JSON.
type silent struct{ policy.Ladder }

func (*silent) Snapshot() ([]byte, error) { return []byte("{"), nil }

func (*silent) Restore([]byte) error { return nil }

func TestASnapshotThatIsNotJSONIsAnError(t *testing.T) {
	p, err := Custom(Parts{Name: "own", Detectors: []unloop.Detector{named{"a", unloop.AtStart}}, Policy: func() policy.Policy { return new(silent) }})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := p.NewSession("run").Snapshot(); err == nil {
		t.Errorf("Snapshot returns %s", data)
	}
}
