package guard

import "context"

type contextKey struct{}

// NewContext returns a context with the guard of a run. The adapters for frameworks guard the calls that are made with it. A call whose
// context has no guard is neither guarded nor recorded.
func NewContext(ctx context.Context, g *Guard) context.Context {
	return context.WithValue(ctx, contextKey{}, g)
}

// FromContext returns the guard of NewContext, or nil if the context has none.
func FromContext(ctx context.Context) *Guard {
	g, _ := ctx.Value(contextKey{}).(*Guard)
	return g
}
