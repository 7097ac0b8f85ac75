package pipeline

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A setWindowFields is $setWindowFields: members computed from a document's neighbours.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/setWindowFields/
type setWindowFields struct {
	partitioner
	outputs []windowOutput
}

type windowOutput struct {
	path     path
	function windowFunction
}

func (s *setWindowFields) name() string { return s.stage }

func (s *setWindowFields) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		stopped := false
		var now, next []byte
		err := s.collect(r, in, func(p *partition) error {
			columns := make([][]doc.Value, len(s.outputs))
			for i, o := range s.outputs {
				err := r.meter.Spend(work.Operator * len(p.entries))
				if err != nil {
					return err
				}
				if columns[i], err = o.function(p); err != nil {
					return err
				}
			}
			for i, e := range p.entries {
				d := e.d
				for j, o := range s.outputs {
					if err := r.passing(d); err != nil {
						return err
					}
					next = o.path.appendSet(next[:0], d, columns[j][i])
					now, next = next, now
					d = now
				}
				if !yield(d, nil) {
					stopped = true
					return errStopped
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

func parseSetWindowFields(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(code.FailedToParse, "the $setWindowFields stage specification must be an object, found %s",
			code.TypeName(arg))
	}
	s := &setWindowFields{partitioner: partitioner{stage: "$setWindowFields"}}
	var output doc.Value
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "partitionBy":
			err = s.parsePartition(c, v)
		case "sortBy":
			if !isObject(v) {
				return nil, wrongType(s.stage, name, v, "object")
			}
			s.sort, err = CompileSort(v.Data)
		case "output":
			if !isObject(v) {
				return nil, wrongType(s.stage, name, v, "object")
			}
			output = v
		default:
			err = unknownField(s.stage, name)
		}
		if err != nil {
			return nil, err
		}
	}
	if output.Type == 0 {
		return nil, missingField(s.stage, "output")
	}
	for name, v := range doc.Members(output.Data) {
		if err := s.output(c, name, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *setWindowFields) parsePartition(c *compiler, v doc.Value) error {
	x, err := expression.Compile(v, c.names)
	if err != nil {
		return err
	}
	if constant, ok := x.Constant(); ok {
		if doc.IsArray(constant) {
			return code.New(code.TypeMismatch, "An expression used to partition cannot evaluate to value of type array")
		}
		return nil
	}
	s.by = x
	return nil
}

// output parses name: {$function: argument, window: {...}}.
func (s *setWindowFields) output(c *compiler, name string, v doc.Value) error {
	p, err := parsePath(name)
	if err != nil {
		return err
	}
	if err := c.names.Work().Spend(len(s.outputs)); err != nil {
		return err
	}
	for _, o := range s.outputs {
		n := min(len(o.path), len(p))
		if slices.Equal(o.path[:n], p[:n]) {
			return code.New(6307900, "$setWindowFields 'output' specification contains two conflicting paths")
		}
	}
	if !isObject(v) {
		return code.New(code.FailedToParse, "The field '%s' must be a window accumulator object", name)
	}
	call := windowCall{c: c, sort: s.sort}
	for m, a := range doc.Members(v.Data) {
		switch {
		case m == "window":
			call.window = a
		case strings.HasPrefix(m, "$") && call.operator == "":
			call.operator, call.arg = m, a
		default:
			return code.New(code.FailedToParse, "Window function found an unknown argument: %s", m)
		}
	}
	f, err := call.parse()
	if err != nil {
		return err
	}
	s.outputs = append(s.outputs, windowOutput{p, f})
	return nil
}

// A windowCall is one call of a window function.
type windowCall struct {
	c           *compiler
	sort        *Sort
	operator    string
	arg, window doc.Value
}

// windowFunctions lists the window functions that are not accumulators, sorted by name.
var windowFunctions = map[string]func(w *windowCall) (windowFunction, error){
	"$covariancePop":  (*windowCall).covariance,
	"$covarianceSamp": (*windowCall).covariance,
	"$denseRank":      func(w *windowCall) (windowFunction, error) { return w.numbering(true, true) },
	"$derivative":     (*windowCall).calculus,
	"$documentNumber": func(w *windowCall) (windowFunction, error) { return w.numbering(false, false) },
	"$expMovingAvg":   (*windowCall).moving,
	"$integral":       (*windowCall).calculus,
	"$linearFill":     (*windowCall).filled,
	"$locf":           (*windowCall).filled,
	"$rank":           func(w *windowCall) (windowFunction, error) { return w.numbering(true, false) },
	"$shift":          (*windowCall).shift,
}

func (w *windowCall) parse() (windowFunction, error) {
	if w.operator == "" {
		return nil, code.New(code.FailedToParse, "Expected a $-prefixed window function")
	}
	if parse := windowFunctions[w.operator]; parse != nil {
		return parse(w)
	}
	bounds, err := w.bounds()
	if err != nil {
		return nil, err
	}
	if accumulators[w.operator] == nil {
		return nil, code.New(code.FailedToParse, "Unrecognized window function, %s", w.operator)
	}
	spec, at := beginDoc(nil)
	spec = endDoc(doc.AppendElement(spec, w.operator, w.arg), at)
	s, err := parseStatement("output", doc.Object(spec), w.c.names)
	if err != nil {
		return nil, err
	}
	return accumulated(s, bounds), nil
}

// bounds is the window of the call, by default the whole partition.
func (w *windowCall) bounds() (*window, error) {
	if w.window.Type == 0 {
		return wholeWindow(), nil
	}
	return parseWindow(w.c, w.window, w.sort)
}

func (w *windowCall) covariance() (windowFunction, error) {
	bounds, err := w.bounds()
	if err != nil {
		return nil, err
	}
	x, err := expression.Compile(w.arg, w.c.names)
	return covariance(x, bounds, w.operator == "$covarianceSamp"), err
}

// ordered returns an error unless there is a sort, of one path if single is set, and no window.
func (w *windowCall) ordered(single bool) error {
	switch {
	case w.window.Type != 0:
		return code.New(5371601, "'window' field is not allowed in '%s' window function", w.operator)
	case w.sort == nil || single && len(w.sort.parts) != 1:
		return code.New(5371602, "'%s' must be specified with a top level sortBy expression with exactly one element",
			w.operator)
	}
	return nil
}

func (w *windowCall) numbering(ties, dense bool) (windowFunction, error) {
	if !isObject(w.arg) || size(w.arg.Data) > 0 {
		return nil, code.New(5371603, "'%s' must be specified with '{}' as the value", w.operator)
	}
	return numbering(ties, dense), w.ordered(ties)
}

func (w *windowCall) shift() (windowFunction, error) {
	if !isObject(w.arg) {
		return nil, code.New(code.FailedToParse, "Argument to $shift must be an object")
	}
	if w.sort == nil {
		return nil, code.New(code.FailedToParse, "$shift requires a sortBy")
	}
	var output *expression.Expression
	by, other := doc.Value{}, null
	for name, v := range doc.Members(w.arg.Data) {
		var err error
		switch name {
		case "output":
			output, err = expression.Compile(v, w.c.names)
		case "by":
			by = v
		case "default":
			var x *expression.Expression
			if x, err = expression.Compile(v, w.c.names); err == nil {
				var ok bool
				if other, ok = x.Constant(); !ok {
					err = code.New(code.FailedToParse, "'$shift:default' expression must yield a constant value.")
				}
			}
		default:
			err = code.New(code.FailedToParse, "Unknown argument in $shift: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	n, ok := doc.AsInt64Exact(by)
	switch {
	case output == nil:
		return nil, code.New(code.FailedToParse, "$shift requires an 'output' expression.")
	case by.Type == 0:
		return nil, code.New(code.FailedToParse, "$shift requires 'by' as an integer value.")
	case !ok || int64(int32(n)) != n:
		return nil, code.New(code.FailedToParse, "'$shift:by' field must be an integer, but found by: %s",
			code.Show(by))
	}
	return shifted(output, int(n), orNull(other)), nil
}

func (w *windowCall) moving() (windowFunction, error) {
	if !isObject(w.arg) || size(w.arg.Data) != 2 || doc.Lookup(w.arg.Data, "input").Type == 0 {
		return nil, code.New(code.FailedToParse,
			"$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an "+
				"'alpha' field")
	}
	if w.sort == nil {
		return nil, code.New(code.FailedToParse, "$expMovingAvg requires an explicit 'sortBy'")
	}
	x, err := expression.Compile(doc.Lookup(w.arg.Data, "input"), w.c.names)
	if err != nil {
		return nil, err
	}
	n, alpha := doc.Lookup(w.arg.Data, "N"), doc.Lookup(w.arg.Data, "alpha")
	if alpha.Type != 0 {
		if f := float(alpha); !doc.IsNumberBSON(alpha) || !(f > 0 && f < 1) {
			return nil, code.New(code.FailedToParse, "'alpha' must be between 0 and 1 (exclusive), found alpha: %s",
				code.Show(alpha))
		}
		return moving(x, float(alpha)), nil
	}
	i, ok := doc.AsInt64Exact(n)
	if !ok {
		return nil, code.New(code.FailedToParse,
			"'N' field must be an integer, but found N: %s. To use a non-integer, use the 'alpha' argument instead",
			code.Show(n))
	}
	if i <= 0 {
		return nil, code.New(code.FailedToParse, "'N' must be greater than zero. Got %d", i)
	}
	return moving(x, 2/(float64(i)+1)), nil
}

func (w *windowCall) filled() (windowFunction, error) {
	if w.window.Type != 0 {
		return nil, code.New(code.FailedToParse, "'window' field is not allowed in %s", w.operator)
	}
	x, err := expression.Compile(w.arg, w.c.names)
	if err != nil {
		return nil, err
	}
	if w.operator == "$locf" {
		return carryForward(x), nil
	}
	if w.sort == nil || len(w.sort.parts) != 1 {
		return nil, code.New(605001,
			"$linearFill must be specified with a top level sortBy expression with exactly one element")
	}
	return interpolate(x), nil
}

// calculus parses {input: expression, unit: text} of $derivative and $integral.
func (w *windowCall) calculus() (windowFunction, error) {
	bounds, err := w.bounds()
	if err != nil {
		return nil, err
	}
	if !isObject(w.arg) {
		return nil, code.New(code.FailedToParse, "%s expects an object", w.operator)
	}
	var x *expression.Expression
	perUnit := 0.0
	for name, v := range doc.Members(w.arg.Data) {
		var err error
		switch name {
		case "input":
			x, err = expression.Compile(v, w.c.names)
		case "unit":
			var unit string
			if unit, err = parseUnit(v); err == nil {
				if perUnit = unitMilliseconds[unit]; perUnit == 0 {
					err = code.New(5490704, "unit must be 'week' or smaller")
				}
			}
		default:
			err = code.New(code.FailedToParse, "%s got unexpected argument: %s", w.operator, name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case x == nil:
		return nil, code.New(code.FailedToParse, "%s requires an 'input' expression", w.operator)
	case w.sort == nil || len(w.sort.parts) != 1:
		return nil, code.New(code.FailedToParse, "%s requires a sortBy with one field", w.operator)
	case w.window.Type == 0 && w.operator == "$derivative":
		return nil, code.New(code.FailedToParse, "$derivative requires explicit window bounds")
	case w.operator == "$integral":
		return integrated(x, bounds, perUnit), nil
	}
	return derived(x, bounds, perUnit), nil
}
