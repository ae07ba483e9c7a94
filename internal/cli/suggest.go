package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/settings"
)

// suggest adds the most similar name to an error about an unknown word. It returns err unchanged if the word is one of the names,
// because the error then has another cause, or if no name is similar.
func suggest(err error, word string, names []string) error {
	if err == nil || slices.Contains(names, word) {
		return err
	}
	near := settings.Nearest(word, names)
	if near == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %q?", err, near)
}

func list(names []string) string { return strings.Join(names, ", ") }
