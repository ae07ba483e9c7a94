// Package names bounds the ids and names that come with events: of runs, agents, tools and models. A guard and a server shorten them
// alike, so an event that a guard has recorded has the same tool on the server.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// Max is the maximum length of an id or a name, in bytes.
const Max = 512

// Shorten returns a name with at most the given number of bytes, which must be at least 128. A longer name is cut between characters
// and ends in … and the hexadecimal SHA-256 hash of the whole name, so that different names stay different.
func Shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "…" + hex.EncodeToString(sum[:])
	cut := most - len(end)
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + end
}
