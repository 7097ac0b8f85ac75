package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A letVariable is a variable that a stage defines for its sub-pipeline.
type letVariable struct {
	value *expression.Expression
	slot  int
}

// parseLet parses {name: expression, ...}. A missing let is empty.
func (c *compiler) parseLet(stage string, let doc.Value) (names *expression.Names, vars []letVariable, err error) {
	names = c.names
	if let.Type == 0 {
		return names, nil, nil
	}
	if !isObject(let) {
		return nil, nil, code.New(code.FailedToParse, "%s argument 'let: %s' must be an object, is type %s", stage,
			code.Show(let), code.TypeName(let))
	}
	for name, v := range doc.Members(let.Data) {
		if err := checkVariable(name); err != nil {
			return nil, nil, err
		}
		x, err := expression.Compile(v, c.names)
		if err != nil {
			return nil, nil, err
		}
		if err := names.Full(); err != nil {
			return nil, nil, err
		}
		var slot int
		names, slot = names.With(name)
		vars = append(vars, letVariable{x, slot})
	}
	return names, vars, nil
}

// checkVariable returns an error if a client may not use the name for a variable.
// https://www.mongodb.com/docs/v7.0/reference/aggregation-variables/
func checkVariable(name string) error {
	if name == "" {
		return code.New(code.FailedToParse, "empty variable names are not allowed")
	}
	if name == "CURRENT" {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		small, digit := c >= 'a' && c <= 'z' || c >= 0x80, c >= '0' && c <= '9' || c == '_' || c >= 'A' && c <= 'Z'
		if i == 0 && !small {
			return code.New(code.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
		}
		if !small && !digit {
			return code.New(code.FailedToParse, "'%s' contains an invalid character for a variable name: '%c'", name, c)
		}
	}
	return nil
}

// setVariables evaluates the variables for the scope's document. They are valid until
// the scope's Reset.
func setVariables(r *run, scope *expression.Scope, vars []letVariable) error {
	for _, v := range vars {
		value, err := v.value.Evaluate(scope)
		if err != nil {
			return err
		}
		r.vars[v.slot] = value
	}
	return nil
}
