// Package fingerprint says when two things are "the same" in one particular sense: the same call as sent, the same
// JSON value, the same target, the same result, the same result but for its volatile parts, nearly the same text.
// The fold (package unloop) calls it once per event, so nothing here builds a tree, and ordinary input allocates
// nothing. Hashes are xxh3: fast, and the same in every process, so they can be stored. They are not a defence
// against somebody who looks for collisions.
package fingerprint

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Hash is the fingerprint of something. Zero means no fingerprint.
type Hash uint64

// Bytes returns the fingerprint of b.
func Bytes(b []byte) Hash { return Hash(xxh3.Hash(b)) }

// String returns the fingerprint of s; it is that of the same bytes.
func String(s string) Hash { return Hash(xxh3.HashString(s)) }

// Join returns the fingerprint of the pair (a, b), in this order.
func Join(a, b Hash) Hash {
	var pair [16]byte
	binary.LittleEndian.PutUint64(pair[:8], uint64(a))
	binary.LittleEndian.PutUint64(pair[8:], uint64(b))
	return Hash(xxh3.Hash(pair[:]))
}
