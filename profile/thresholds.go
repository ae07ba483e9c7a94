package profile

import (
	"math"
	"slices"
)

// thresholds are the settings with the least count or weight at which a rule fires. At a higher value, a rule fires later.
var thresholds = map[string][]string{
	"same_call_same_result": {"repeat_weight", "repeat_failures"},
	"cycle":                 {"cycle_rounds", "cycle_steps"},
	"same_result":           {"same_results", "nothing_found", "same_answers"},
	"same_error":            {"same_errors", "stubborn_errors"},
	"stuck_polling":         {"stuck_polls"},
	"repeated_message":      {"same_messages"},
	"restated_messages":     {"restated_messages"},
	"stalled_steps":         {"stalled_steps"},
	"stalled_talk":          {"stalled_talk"},
	"repeating_text":        {"text_repeats"},
	"idle_handoffs":         {"idle_handoffs", "bare_handoffs"},
}

// Threshold is a setting with the least count or weight at which a rule fires.
type Threshold struct {
	Setting string
	Value   float64
	Whole   bool // the value is an integer
}

// Thresholds returns the thresholds of a rule. It is empty for a rule that the profile does not have, and for profiles whose rules
// have no setting of their own.
func (p *Profile) Thresholds(rule string) (found []Threshold) {
	for _, s := range p.List() {
		if !slices.Contains(thresholds[rule], s.Name) {
			continue
		}
		switch v := s.Value.(type) {
		case int:
			found = append(found, Threshold{s.Name, float64(v), true})
		case float64:
			found = append(found, Threshold{s.Name, v, false})
		}
	}
	return found
}

// Times returns the threshold's value multiplied by a factor: the next integer for an integer, else with one decimal place.
func (t Threshold) Times(factor float64) float64 {
	scaled := t.Value * factor
	switch {
	case t.Whole && factor > 1:
		return math.Ceil(scaled)
	case t.Whole:
		return math.Floor(scaled)
	}
	return math.Round(scaled*10) / 10
}
