package filter

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// expr is {$expr: expression}: the expression is a condition on the document.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/expr/
func expr(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	if err := c.needsDocument(name, at); err != nil {
		return condition{}, err
	}
	x, err := expression.Compile(arg, c.names)
	if err != nil {
		return condition{}, err
	}
	holds := func(_ doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		if s == nil {
			return false, code.New(code.InternalError, "$expr needs a scope")
		}
		v, err := x.Evaluate(s)
		return err == nil && expression.Truthy(v), err
	}
	return condition{root: holds, one: holds, node: c.describe(arg, 0)}, nil
}

// needsDocument refuses operators on the whole document inside of an $elemMatch.
func (c *compiler) needsDocument(name string, at spot) error {
	if at.inElement {
		return code.New(code.BadValue, "%s can only be applied to the top-level document", name)
	}
	c.scoped = true
	return nil
}

// sampleRate is {$sampleRate: 0.5}: each document is accepted with that probability.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sampleRate/
func sampleRate(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	if !doc.IsNumberBSON(arg) {
		return condition{}, code.New(code.BadValue, "argument to $sampleRate must be a numeric type")
	}
	rate, _ := doc.AsFloat(arg)
	if d, ok := doc.AsDecimal(arg); ok {
		rate = d.Float64()
	}
	if !(rate >= 0 && rate <= 1) {
		return condition{}, code.New(code.BadValue, "numeric argument to $sampleRate must be in [0, 1]")
	}
	if err := c.needsDocument(name, at); err != nil {
		return condition{}, err
	}
	chosen := func(_ doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		if s == nil || s.Random == nil {
			return false, code.New(code.InternalError, "$sampleRate needs a source of random numbers")
		}
		return s.Random() < rate, nil
	}
	return condition{root: chosen, one: chosen, node: &Node{Kind: Other}}, nil
}
