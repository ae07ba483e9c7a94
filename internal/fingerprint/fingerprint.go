// Package fingerprint decides whether two things are the same in a particular sense: the same call as sent, the same JSON value,
// the same target, the same result, the same result except for its volatile parts, or nearly the same text. Package unloop calls
// it for each event, so no function builds a tree, and ordinary input allocates nothing. Hashes are xxh3: fast, and the same in
// every process, so they can be stored. They do not resist an attacker who searches for collisions.
package fingerprint

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Hash is a 64-bit fingerprint. 0 means that there is none.
type Hash uint64

// Bytes returns the fingerprint of b.
func Bytes(b []byte) Hash { return Hash(xxh3.Hash(b)) }

// String returns the fingerprint of the bytes of s, without a copy.
func String(s string) Hash { return Hash(xxh3.HashString(s)) }

// Join returns the fingerprint of the pair (a, b), in this order.
func Join(a, b Hash) Hash {
	var pair [16]byte
	binary.LittleEndian.PutUint64(pair[:8], uint64(a))
	binary.LittleEndian.PutUint64(pair[8:], uint64(b))
	return Hash(xxh3.Hash(pair[:]))
}
