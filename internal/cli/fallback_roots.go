package cli

import (
	"crypto/x509"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// useFallbackRoots makes TLS trust the certificates in the program if the system has none, as in a minimal image. Only commands
// that may call other machines use it, because it takes 3 ms, and the hook of a coding agent starts for each call.
var useFallbackRoots = sync.OnceFunc(func() {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil: // a later bundle may have a kind of certificate that this version of Go does not support
		case root.Constraint == nil:
			pool.AddCert(cert)
		default:
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	x509.SetFallbackRoots(pool)
})
