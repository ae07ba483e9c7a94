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

// NewToken returns a new token of 256 random bits, and its entry for the configuration.
func NewToken(name, scope string) (token string, entry Token, err error) {
	if strings.TrimSpace(name) == "" {
		err = errors.New("missing --name: name who uses the token, such as agents")
	}
	if scope == "" {
		err = errors.Join(err, fmt.Errorf("missing --scope: want one of %s", strings.Join(scopes, ", ")))
	} else if !slices.Contains(scopes, scope) {
		err = errors.Join(err, fmt.Errorf("invalid scope %q: want one of %s", scope, strings.Join(scopes, ", ")))
	}
	if err != nil {
		return "", Token{}, err
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	token = "unloop_" + base64.RawURLEncoding.EncodeToString(random[:])
	return token, Token{Name: name, Scope: scope, SHA256: HashToken(token)}, nil
}

// HashToken returns the stored form of a token: its SHA-256 hash in hexadecimal digits. A slower hash is not needed, because a
// token has 256 random bits.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// YAML returns the lines for a configuration that accept the token.
func (t *Token) YAML() string {
	return fmt.Sprintf("tokens:\n  - {name: %q, scope: %s, sha256: %s}\n", t.Name, t.Scope, t.SHA256)
}
