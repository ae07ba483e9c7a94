package config

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NewToken makes a token of 256 random bits, to be told to the one who shall have it, and the entry that lets it in.
func NewToken(name, scope string) (token string, entry Token, err error) {
	if strings.TrimSpace(name) == "" {
		err = errors.New("a token needs a name")
	}
	if !slices.Contains(scopes, scope) {
		err = errors.Join(err, fmt.Errorf("the scope is %q; it must be one of %s", scope, strings.Join(scopes, ", ")))
	}
	if err != nil {
		return "", Token{}, err
	}
	var random [32]byte
	rand.Read(random[:]) // it never fails
	token = "unloop_" + base64.RawURLEncoding.EncodeToString(random[:])
	return token, Token{Name: name, Scope: scope, SHA256: HashToken(token)}, nil
}

// HashToken returns what is kept of a token: its SHA-256 in hexadecimal digits. A token has so many random bits that nothing
// slower is needed.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// YAML returns the lines that let the token in, to be put into a configuration.
func (t *Token) YAML() string {
	return fmt.Sprintf("tokens:\n  - {name: %q, scope: %s, sha256: %s}\n", t.Name, t.Scope, t.SHA256)
}
