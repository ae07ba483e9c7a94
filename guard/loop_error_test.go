package guard

import "testing"

func TestALoopErrorNamesOnlyWhatItKnows(t *testing.T) {
	for want, err := range map[string]*LoopError{
		"run halted at search (halted, 7 times): stop":            {"search", 7, "halted", "stop"},
		"run halted at search (repeat_limit): stop":               {"search", 1, "repeat_limit", "stop"},
		"run halted (person): A person halted this run":           {"", 0, "person", "A person halted this run"},
		"run halted at search (person): A person halted this run": {"search", 0, "person", "A person halted this run"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
