package exec

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

func (c *compiler) call(x *syntax.Call, s *scope) (node, error) {
	if x.UDF {
		return c.userCall(x, s)
	}
	if _, ok := aggregate(x); ok {
		return node{}, syntax.Wrong("SC2104", x.Span,
			"The aggregate function '%s' is not allowed here: use aggregates in SELECT.", strings.ToUpper(x.Name))
	}
	fn, ok := function.Lookup(x.Name)
	if !ok {
		return node{}, syntax.Wrong("SC2005", x.Span, "'%s' is not a recognized built-in function name.", x.Name)
	}
	if len(x.Args) < fn.Min || fn.Max >= 0 && len(x.Args) > fn.Max {
		return node{}, wrongArguments(x, fn.Name, fn.Min, fn.Max)
	}
	args, err := c.list(x.Args, s)
	if err != nil {
		return node{}, err
	}
	if fn.Name == "IS_DEFINED" && len(args) == 1 {
		get := args[0].eval()
		return c.fold(condition(func(f *frame) tri { return triOf(get(f).Type != 0) }), args[0]), nil
	}
	n := computed(c.site(fn, args))
	if fn.Volatile {
		return n, nil
	}
	return c.fold(n, args...), nil
}

func wrongArguments(x *syntax.Call, name string, least, most int) error {
	switch {
	case least == most:
		return syntax.Wrong("SC2050", x.Span, "The %s function requires %d argument(s).", name, least)
	case most < 0:
		return syntax.Wrong("SC2050", x.Span, "The %s function requires at least %d argument(s).", name, least)
	}
	return syntax.Wrong("SC2050", x.Span, "The %s function requires %d to %d arguments.", name, least, most)
}

// site compiles one call of a built-in function.
func (c *compiler) site(fn *function.Function, args []node) eval {
	call := &function.Call{Now: c.now, Meter: c.meter}
	c.calls = append(c.calls, call)
	gets := make([]eval, len(args))
	for i, a := range args {
		gets[i] = a.eval()
	}
	values := make([]doc.Value, len(args))
	run := fn.Run
	return func(f *frame) doc.Value {
		bytes := 0
		for i, get := range gets {
			values[i] = get(f)
			bytes += len(values[i].Data)
		}
		if f.err != nil || !f.spend(bytes) {
			return doc.Value{}
		}
		v := run(call, values)
		if call.Err != nil {
			err := call.Err
			call.Err = nil
			return f.fail(err)
		}
		made := len(v.Data)
		if bytes >= piece {
			clear(values) // they may be large results of other calls
		}
		if made >= piece && f.mayHold(made) {
			f.mem.outside += made
		}
		c.pass(bytes + made)
		return v
	}
}

// maxPassed is how many bytes pass through calls before they drop their caches. The caches are at most a small
// multiple of that.
const maxPassed = 16 << 20

// pass counts the bytes of a call's arguments and result.
func (c *compiler) pass(n int) {
	if c.passed += n; c.passed < maxPassed {
		return
	}
	c.passed = 0
	for _, call := range c.calls {
		call.Memo = nil
	}
}

// userUnits is the minimum cost of calling a user-defined function.
const userUnits = 1 << 10

// userCall compiles a call of a user-defined function.
func (c *compiler) userCall(x *syntax.Call, s *scope) (node, error) {
	if c.function == nil {
		return node{}, syntax.Wrong("SC2003", x.Span, "'udf.%s' is not a recognized function name.", x.Name)
	}
	c.user = true
	run, err := c.function(x.Name)
	if err != nil {
		return node{}, err
	}
	if run == nil {
		return node{}, syntax.Wrong("SC2003", x.Span, "'udf.%s' is not a recognized function name.", x.Name)
	}
	args, err := c.list(x.Args, s)
	if err != nil {
		return node{}, err
	}
	gets, values := make([]eval, len(args)), make([]doc.Value, len(args))
	for i, a := range args {
		gets[i] = a.eval()
	}
	return computed(func(f *frame) doc.Value {
		for i, get := range gets {
			values[i] = get(f)
		}
		if f.err != nil || !f.work(userUnits) {
			return doc.Value{}
		}
		v, err := run(values)
		if err != nil {
			return f.fail(err)
		}
		return v
	}), nil
}
