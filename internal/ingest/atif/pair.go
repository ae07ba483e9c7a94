package atif

// answer is a result and the call that it belongs to.
type answer struct {
	callID string
	tool   string
	result *result
}

// pair finds the call of each result of a step. A result without a call id belongs to the first call without a result. If there
// are fewer such results than calls, the last one is the state after all other calls, such as a terminal's screen after several
// keystrokes. Results of a step without calls are skipped.
func pair(s *step) []answer {
	tools := make(map[string]string, len(s.Calls))
	for _, c := range s.Calls {
		tools[c.ID] = c.Function
	}
	var answers []answer
	var loose []*result
	named := make(map[string]bool)
	for i := range s.Observation.Results {
		r := &s.Observation.Results[i]
		if r.CallID == "" {
			loose = append(loose, r)
			continue
		}
		named[r.CallID] = true
		answers = append(answers, answer{r.CallID, tools[r.CallID], r})
	}
	if len(loose) == 0 {
		return answers
	}
	for _, c := range s.Calls {
		if named[c.ID] {
			continue
		}
		answers = append(answers, answer{c.ID, c.Function, loose[0]})
		if len(loose) > 1 {
			loose = loose[1:]
		}
	}
	return answers
}
