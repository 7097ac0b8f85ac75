package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// fillSpec is the argument of $fill.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/fill/
type fillSpec struct {
	output  doc.Value
	sort    *Sort
	by      *expression.Expression
	parted  int // how many options give partitions
	windows []windowOutput
	values  []byte // of the document {field: {$ifNull: ["$field", value]}}
}

// parseFill parses $fill to the window functions and the $addFields that it stands for.
func parseFill(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(code.FailedToParse, "The $fill stage specification must be an object, found %s",
			code.TypeName(arg))
	}
	f := &fillSpec{}
	for name, v := range doc.Members(arg.Data) {
		if err := f.option(c, name, v); err != nil {
			return nil, err
		}
	}
	switch {
	case f.output.Type == 0:
		return nil, missingField("$fill", "output")
	case size(f.output.Data) == 0:
		return nil, code.New(6050203, "The output field in '$fill' must contain an object with at least one element")
	case f.parted > 1:
		return nil, code.New(6050204, "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")
	}
	f.values, _ = beginDoc(nil)
	for name, v := range doc.Members(f.output.Data) {
		if err := f.field(c, name, v); err != nil {
			return nil, err
		}
	}
	var stages series
	if len(f.windows) > 0 {
		stages = append(stages, &setWindowFields{partitioner{"$fill", f.by, f.sort}, f.windows})
	}
	if len(f.values) > 4 {
		root, err := parseAdded(c, endDoc(f.values, 0))
		if err != nil {
			return nil, err
		}
		stages = append(stages, &addFields{"$fill", root})
	}
	return stages, nil
}

func (f *fillSpec) option(c *compiler, name string, v doc.Value) (err error) {
	switch name {
	case "output":
		if !isObject(v) {
			return wrongType("$fill", name, v, "object")
		}
		f.output = v
	case "sortBy":
		if !isObject(v) {
			return wrongType("$fill", name, v, "object")
		}
		f.sort, err = CompileSort(v.Data)
	case "partitionBy":
		f.parted++
		if v.Type != bsoncore.TypeString && !isObject(v) {
			return code.New(code.TypeMismatch,
				"BSON field '$fill.partitionBy' is the wrong type '%s', expected types '[string, object']",
				code.TypeName(v))
		}
		f.by, err = expression.Compile(v, c.names)
	case "partitionByFields":
		f.parted++
		_, f.by, err = parsePartitionFields(c, "$fill", v)
	default:
		err = unknownField("$fill", name)
	}
	return err
}

// field parses name: {value: expression} or name: {method: text}.
func (f *fillSpec) field(c *compiler, name string, v doc.Value) error {
	if !isObject(v) {
		return code.New(6050200, "Each fill output specification must be an object with exactly one field")
	}
	method, value := doc.Lookup(v.Data, "method"), doc.Lookup(v.Data, "value")
	for m := range doc.Members(v.Data) {
		if m != "method" && m != "value" {
			return unknownField("$fill.output", m)
		}
	}
	p, err := parsePath(name)
	switch {
	case err != nil:
		return err
	case method.Type != 0 && value.Type != 0, method.Type == 0 && value.Type == 0:
		return code.New(6050201,
			"Each fill output specification must have exactly one of 'method' or 'value' fields, not both")
	case value.Type != 0:
		var args list
		args.add(doc.String("$" + name))
		args.add(value)
		or, at := beginDoc(nil)
		or = endDoc(doc.AppendElement(or, "$ifNull", args.value()), at)
		f.values = doc.AppendElement(f.values, name, doc.Object(or))
		return nil
	}
	input, err := expression.Compile(doc.String("$"+name), c.names)
	if err != nil {
		return err
	}
	switch text, _ := doc.AsString(method); text {
	case "locf":
		f.windows = append(f.windows, windowOutput{p, carryForward(input)})
	case "linear":
		if f.sort == nil || len(f.sort.parts) != 1 {
			return code.New(605001,
				"$linearFill must be specified with a top level sortBy expression with exactly one element")
		}
		f.windows = append(f.windows, windowOutput{p, interpolate(input)})
	default:
		return code.New(6050202, "Method must be either locf or linear")
	}
	return nil
}
