package budget

import "context"

// A Context is a context that has a share, for work below an API: the store, which has no API's types.
type Context struct {
	context.Context
	Share *Share
}

// With gives ctx a share, which must be open as long as the context is used.
func With(ctx context.Context, s *Share) *Context { return &Context{ctx, s} }

type shareKey struct{}

// Value gives the share to Of.
func (c *Context) Value(key any) any {
	if key == (shareKey{}) {
		return c.Share
	}
	return c.Context.Value(key)
}

// Of gives the share of a context; one without limits if it has none.
func Of(ctx context.Context) *Share {
	if s, ok := ctx.Value(shareKey{}).(*Share); ok {
		return s
	}
	return new(Share)
}
