package cli

import (
	"crypto/x509"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// useFallbackRoots lets TLS trust the certificates that the program contains if the system has none, as in an image with nothing
// else. Only commands that may call other machines do so, because it takes 3 ms, and the hook of a coding agent starts for each call.
var useFallbackRoots = sync.OnceFunc(func() {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil: // a later bundle has a kind that this Go does not know
		case root.Constraint == nil:
			pool.AddCert(cert)
		default:
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	x509.SetFallbackRoots(pool)
})
