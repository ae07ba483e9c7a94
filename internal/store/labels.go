package store

import (
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of labels.
const (
	maxLabels = 16  // of a run
	maxLabel  = 128 // length in bytes; longer ones are left out
)

// LabelsOf returns the members of a run's metadata by which runs can be found and compared, as NAME=VALUE, sorted by name: those whose
// value is a text, a number or a boolean. They are at most 16, of at most 128 bytes each.
func LabelsOf(metadata json.RawMessage) (labels []string) {
	var members map[string]json.RawMessage
	if len(metadata) == 0 || json.Unmarshal(metadata, &members) != nil {
		return nil
	}
	for name, raw := range members {
		var value any
		if json.Unmarshal(raw, &value) != nil {
			continue
		}
		switch value := value.(type) {
		case string:
			labels = append(labels, name+"="+value)
		case bool, float64:
			labels = append(labels, name+"="+string(raw))
		}
	}
	labels = slices.DeleteFunc(labels, func(label string) bool { return len(label) > maxLabel || strings.HasPrefix(label, "=") })
	slices.Sort(labels)
	return labels[:min(len(labels), maxLabels)]
}
