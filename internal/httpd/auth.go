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

// auth knows who may ask for what.
type auth struct {
	hosts   map[string]bool
	origins []string
	tokens  []token
}

type token struct {
	hash  [sha256.Size]byte
	scope Scope
	name  string
}

// newAuth takes options that are valid.
func newAuth(o *Options) auth {
	g := auth{hosts: make(map[string]bool), origins: o.Origins}
	for _, h := range o.Hosts {
		g.hosts[hostName(h)] = true
	}
	for _, t := range o.Tokens {
		known := token{scope: t.Scope, name: t.Name}
		_, _ = hex.Decode(known.hash[:], []byte(t.SHA256)) // Validate has seen to it
		g.tokens = append(g.tokens, known)
	}
	return g
}

// securityHeaders sets what every answer has: no browser shall guess what it is, keep it, frame it, or tell others of it.
func (s *Server) securityHeaders(h http.Header) {
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["X-Frame-Options"] = deny
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = contentPolicy
	h["Cross-Origin-Resource-Policy"] = sameOrigin
}

// The values are shared by all answers and never written to: headers are set anew, not appended to.
var (
	nosniff       = []string{"nosniff"}
	noReferrer    = []string{"no-referrer"}
	deny          = []string{"DENY"}
	noStore       = []string{"no-store"}
	sameOrigin    = []string{"same-origin"}
	contentPolicy = []string{"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
)

// origin refuses requests under names that are not the server's, against DNS rebinding, and those that a browser sends on
// behalf of a page that is neither the server's own nor a configured one. Pages of the latter may read the answer.
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

// known reports whether the request names the server by a name or address of its own.
func (g *auth) known(r *http.Request) bool {
	host := hostName(r.Host)
	if isLoopback(host) || g.hosts[host] {
		return true
	}
	// A page's DNS can lead its own name here, but no address: who writes the address that the connection came to means us.
	address, err := netip.ParseAddr(host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err == nil && ok && address.Unmap() == local.AddrPort().Addr().Unmap()
}

// hostName returns a host without its port, brackets and case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// sameAs reports whether an origin is that of the server as the request names it. The scheme may differ: TLS may end before
// the server.
func sameAs(origin string, r *http.Request) bool {
	_, host, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(host, r.Host)
}

// isCrossSite reports whether a browser says that another site's page sends the request. Following a link is not sending.
func isCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// admit refuses who has no token for the scope. Without any configured, whoever reaches the server may do all.
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

// allows reports whether a token is for a scope, and for which it is; "" is for none, since the token is not known. It looks at all
// tokens whichever it is, so that time tells nothing. One token may stand there more than once, for several scopes.
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

// nameOf returns the name of a token; "" if it is not known. It looks at all tokens whichever it is, as allows does.
func (g *auth) nameOf(secret string) (name string) {
	hash := sha256.Sum256([]byte(secret))
	for i := range g.tokens {
		if t := &g.tokens[i]; subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			name = t.name
		}
	}
	return name
}

// MayIngest reports whether the holder of a token may send events; "" is no token. Other edges ask it, so that all have one answer.
func (s *Server) MayIngest(secret string) bool {
	if len(s.auth.tokens) == 0 {
		return true
	}
	_, allowed := s.auth.allows(secret, Ingest)
	return allowed
}
