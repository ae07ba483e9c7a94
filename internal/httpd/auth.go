package httpd

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// auth decides which requests are allowed.
type auth struct {
	hosts   map[string]bool
	origins []string
	tokens  []token
}

type token struct {
	name  string
	hash  [sha256.Size]byte
	scope Scope
}

// newAuth requires valid options.
func newAuth(o *Options) auth {
	g := auth{hosts: make(map[string]bool), origins: o.Origins}
	for _, h := range o.Hosts {
		g.hosts[hostName(h)] = true
	}
	for _, t := range o.Tokens {
		known := token{name: t.Name, scope: t.Scope}
		_, _ = hex.Decode(known.hash[:], []byte(t.SHA256)) // Validate has checked it
		g.tokens = append(g.tokens, known)
	}
	return g
}

// securityHeaders sets the headers of every answer: browsers must not guess its type, store it, frame it, or send its URL to
// other sites.
func (s *Server) securityHeaders(h http.Header) {
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["X-Frame-Options"] = deny
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = contentPolicy
	h["Cross-Origin-Resource-Policy"] = sameOrigin
}

// The values are shared by all answers and never modified: headers are set, not appended to.
var (
	nosniff       = []string{"nosniff"}
	noReferrer    = []string{"no-referrer"}
	deny          = []string{"DENY"}
	noStore       = []string{"no-store"}
	sameOrigin    = []string{"same-origin"}
	contentPolicy = []string{"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
)

// origin rejects requests for other host names, against DNS rebinding, and requests from web pages of other origins. Pages of
// configured origins are allowed and may read the answer.
func (g *auth) origin(h http.Header, r *http.Request) *Problem {
	if !g.known(r) {
		return problem(http.StatusMisdirectedRequest, "Host", "unknown host name; add it to the setting hosts")
	}
	origin := r.Header.Get("Origin")
	if origin != "" && slices.Contains(g.origins, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
		h.Set("Access-Control-Expose-Headers", "Link, X-Next-Cursor, Retry-After")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Vary", "Origin")
		return nil
	}
	if origin != "" && !sameAs(origin, r) || isCrossSite(r) {
		return problem(http.StatusForbidden, "Origin", "requests from pages of this origin are not allowed; add it to the setting origins")
	}
	return nil
}

// known reports whether the request uses a host name or address of the server.
func (g *auth) known(r *http.Request) bool {
	host := hostName(r.Host)
	if isLoopback(host) || g.hosts[host] {
		return true
	}
	// DNS rebinding can map a foreign name to this server, but not an address. The address of the connection is therefore
	// allowed.
	address, err := netip.ParseAddr(host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err == nil && ok && address.Unmap() == local.AddrPort().Addr().Unmap()
}

// isLoopback reports whether a host is the machine itself.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.Unmap().IsLoopback()
}

// hostName returns a host without port and brackets, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// sameAs reports whether an origin is that of the server, as the request names it. The scheme may differ, because a proxy may
// terminate TLS.
func sameAs(origin string, r *http.Request) bool {
	_, host, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(host, r.Host)
}

// isCrossSite reports whether a page of another site sent the request, according to the browser. Navigation by a link is allowed.
func isCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// admit returns a problem if the request has no token for the scope. Without configured tokens it allows everything.
func (g *auth) admit(r *http.Request, scope Scope) *Problem {
	if len(g.tokens) == 0 || scope == Anyone {
		return nil
	}
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if secret = strings.TrimSpace(secret); secret == "" || !strings.EqualFold(scheme, "Bearer") {
		return problem(http.StatusUnauthorized, "Authorization", "missing token: want Bearer TOKEN")
	}
	granted, allowed := g.allows(secret, scope)
	switch {
	case granted == "":
		return problem(http.StatusUnauthorized, "Authorization", "unknown token")
	case !allowed:
		return problem(http.StatusForbidden, "Authorization", "the token has the scope "+string(granted)+"; this request needs "+string(scope))
	}
	return nil
}

// allows reports whether a token is valid for a scope, and returns its scope, or "" for an unknown token. It compares all tokens,
// so that its time reveals nothing. A token may be configured several times with different scopes.
func (g *auth) allows(secret string, scope Scope) (granted Scope, allowed bool) {
	hash := sha256.Sum256([]byte(secret))
	for i := range g.tokens {
		if t := &g.tokens[i]; subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			granted = t.scope
			allowed = allowed || t.scope == scope || t.scope == Admin
		}
	}
	return granted, allowed
}

// secretOf returns the token in an Authorization header.
func secretOf(authorization string) string {
	_, secret, _ := strings.Cut(authorization, " ")
	return strings.TrimSpace(secret)
}

// nameOf returns the name of a token, or "" for an unknown token. It compares all tokens, as allows does.
func (g *auth) nameOf(secret string) (name string) {
	hash := sha256.Sum256([]byte(secret))
	for i := range g.tokens {
		if t := &g.tokens[i]; subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			name = t.name
		}
	}
	return name
}

// MayIngest reports whether the holder of a token may send events; "" is no token. The gRPC server uses it, too.
func (s *Server) MayIngest(secret string) bool {
	if len(s.auth.tokens) == 0 {
		return true
	}
	_, allowed := s.auth.allows(secret, Ingest)
	return allowed
}
