package pipeline

import (
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/profile"
)

// judge is the profile that evaluates runs.
type judge struct {
	profile  *profile.Profile
	settings fingerprint.Hash // of the profile; checkpoints are valid under it
}

// SetProfile replaces the profile by the same one with other settings. A run in memory keeps the settings that it has. New runs are
// evaluated with the new ones, and so is, from its beginning, a run that is loaded again. It is safe for concurrent use.
func (p *Pipeline) SetProfile(own *profile.Profile) {
	p.judge.Store(&judge{own, fingerprint.Bytes(own.YAML())})
}
