package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/settings"
)

// suggest adds to an error about an unknown word which of the names was probably meant. It returns err as it is where the word is
// one of the names, so that the error is about something else, and where no name is near.
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
