package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func TestHintsNameToolsThatLookMisspelled(t *testing.T) {
	for _, tc := range []struct {
		name  string
		tools []string
		hints int
	}{
		{"two letters swapped", []string{"search", "serach"}, 1},
		{"a letter missing", []string{"read_file", "read_fle"}, 1},
		{"another letter", []string{"search", "seerch"}, 1},
		{"another case", []string{"ReadFile", "readfile"}, 1},
		{"digits number things", []string{"shard1", "shard2"}, 0},
		{"a plural is another tool", []string{"list_file", "list_files"}, 0},
		{"short names are often near", []string{"cat", "cut"}, 0},
		{"other tools", []string{"bash", "edit", "read_file", "write_file"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if hints := hintsOf(&store.Run{Tools: tc.tools}); len(hints) != tc.hints {
				t.Errorf("hints %q, want %d", hints, tc.hints)
			}
		})
	}
	if diff := cmp.Diff([]string{"a"}, hintsOf(&store.Run{Hints: []string{"a"}})); diff != "" {
		t.Error(diff)
	}
}
