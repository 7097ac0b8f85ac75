package budget

import "context"

// A Context is a context with a share, for packages below an API: the store does not know the types of requests.
type Context struct {
	context.Context
	Share *Share
}

// With returns ctx with a share, which must stay open as long as the context is used.
func With(ctx context.Context, s *Share) *Context { return &Context{ctx, s} }

type shareKey struct{}

// Value gives the share to Of.
func (c *Context) Value(key any) any {
	if key == (shareKey{}) {
		return c.Share
	}
	return c.Context.Value(key)
}

// Of returns the share of a context, or a share without limits if it has none.
func Of(ctx context.Context) *Share {
	if s, ok := ctx.Value(shareKey{}).(*Share); ok {
		return s
	}
	return new(Share)
}
