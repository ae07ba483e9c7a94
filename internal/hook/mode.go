package hook

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is what hooks may do.
type Mode string

// The modes.
const (
	Nudge  Mode = "nudge"  // tell the model that it repeats itself; never deny
	Guard  Mode = "guard"  // nudge, then deny, then end the turn
	Shadow Mode = "shadow" // only record what guard would do
)

// Modes returns all modes, the default first.
func Modes() []Mode { return []Mode{Nudge, Guard, Shadow} }

// ParseMode returns the mode with the name.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q: want one of %s", name, joinModes())
}

func joinModes() string {
	var names []string
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// UnmarshalText reads a mode from a configuration.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}
