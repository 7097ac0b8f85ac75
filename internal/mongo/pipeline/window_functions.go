package pipeline

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A windowFunction computes a value for each document of a partition.
type windowFunction func(p *partition) ([]doc.Value, error)

// carryForward is $locf: the last value that was not null or missing.
func carryForward(input *expression.Expression) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		values, err := p.values(input)
		last := null
		for i, v := range values {
			if !nullish(v) {
				last = v
			}
			values[i] = last
		}
		return values, err
	}
}

// interpolate is $linearFill: between two numbers, the values on the line between them.
func interpolate(input *expression.Expression) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		values, err := p.values(input)
		if err != nil {
			return nil, err
		}
		left := -1
		for i, v := range values {
			key := p.entries[i].keys[0]
			switch {
			case !doc.IsNumberBSON(key) && key.Type != bsoncore.TypeDateTime:
				return nil, code.New(605002,
					"The sortBy field of $linearFill must be a number or a date, but it was %s", code.TypeName(key))
			case i > 0 && p.r.meter.Equal(key, p.entries[i-1].keys[0]):
				return nil, code.New(6050106, "There can be no repeated values in the sort field of $linearFill")
			case nullish(v):
				continue
			case !doc.IsNumberBSON(v):
				return nil, code.New(605003, "Value to be filled must be numeric or nullish, but it was %s",
					code.TypeName(v))
			}
			if left >= 0 && i-left > 1 {
				p.line(values, left, i)
			}
			left = i
		}
		for i := range values {
			values[i] = orNull(values[i])
		}
		return values, nil
	}
}

// line fills what is between two documents.
func (p *partition) line(values []doc.Value, left, right int) {
	x := func(i int) float64 { return position(p.entries[i].keys[0]) }
	from, to := float(values[left]), float(values[right])
	for i := left + 1; i < right; i++ {
		f := from + (x(i)-x(left))*(to-from)/(x(right)-x(left))
		values[i] = numberLike(values[left], values[right], f)
	}
}

// numberLike is an integer if both ends and the result are integers, else a double.
func numberLike(a, b doc.Value, f float64) doc.Value {
	whole := func(v doc.Value) bool { return v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64 }
	if whole(a) && whole(b) && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return integer(int64(f))
	}
	return doc.Double(f)
}

// position is a number or a date as a double.
func position(v doc.Value) float64 {
	if ms, ok := doc.AsDate(v); ok {
		return float64(ms)
	}
	return float(v)
}

// numbering is $documentNumber, $rank or, when dense, $denseRank.
func numbering(ties, dense bool) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		values := make([]doc.Value, len(p.entries))
		rank := int64(0)
		for i, e := range p.entries {
			tied := i > 0 && ties && p.r.meter.Equal(e.keys[0], p.entries[i-1].keys[0])
			switch {
			case tied:
			case dense:
				rank++
			default:
				rank = int64(i) + 1
			}
			values[i] = integer(rank)
		}
		return values, nil
	}
}

// shifted is $shift: the value of the document that many places further.
func shifted(output *expression.Expression, by int, other doc.Value) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		values, err := p.values(output)
		if err != nil {
			return nil, err
		}
		moved := make([]doc.Value, len(values))
		for i := range moved {
			moved[i] = other
			if j := i + by; j >= 0 && j < len(values) {
				moved[i] = orNull(values[j])
			}
		}
		return moved, nil
	}
}

// accumulated computes an accumulator over each window. If windows only grow, it adds to one accumulator.
func accumulated(s *statement, w *window) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		inputs, err := p.values(s.argument)
		if err != nil {
			return nil, err
		}
		values := make([]doc.Value, len(p.entries))
		var a accumulator
		begun, done := 0, 0
		err = w.each(p, func(i, from, to int) error {
			if a == nil || from != begun {
				p.scope.Reset(doc.Object(doc.Empty))
				if a, err = s.begin(p.scope); err != nil {
					return err
				}
				begun, done = from, from
			} else if i > 0 && to == done {
				values[i] = values[i-1]
				return nil
			}
			for ; done < to; done++ {
				if err := p.r.meter.Spend(work.Operator + work.Copied(len(inputs[done].Data))); err != nil {
					return err
				}
				if _, err := a.add(p.r.meter, inputs[done], p.entries[done].d); err != nil {
					return err
				}
			}
			values[i] = doc.Clone(orNull(a.value(p.r.meter)))
			if err := p.r.meter.Spend(work.Operator + work.Copied(len(values[i].Data))); err != nil {
				return err
			}
			return p.held.take(len(values[i].Data) + valueBytes)
		})
		return values, err
	}
}

// derived is $derivative: the slope between the ends of the window, per unit.
func derived(input *expression.Expression, w *window, perUnit float64) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		inputs, err := p.values(input)
		if err != nil {
			return nil, err
		}
		values := make([]doc.Value, len(inputs))
		err = w.each(p, func(i, from, to int) error {
			values[i] = null
			if to-from < 2 {
				return nil
			}
			a, b := inputs[from], inputs[to-1]
			if nullish(a) || nullish(b) {
				return nil
			}
			run, err := p.between(from, to-1, perUnit)
			if err != nil {
				return err
			}
			if !doc.IsNumberBSON(a) || !doc.IsNumberBSON(b) {
				return code.New(5624902, "$derivative input values must be numeric")
			}
			if run != 0 {
				values[i] = doc.Double((float(b) - float(a)) / run)
			}
			return nil
		})
		return values, err
	}
}

// between is the distance of two documents in the sort key. If perUnit is not 0, it is the milliseconds of the unit
// that the result is in.
func (p *partition) between(a, b int, perUnit float64) (float64, error) {
	x, y := p.entries[a].keys[0], p.entries[b].keys[0]
	dates := x.Type == bsoncore.TypeDateTime && y.Type == bsoncore.TypeDateTime
	switch {
	case dates && perUnit == 0:
		return 0, code.New(5429513, "a 'unit' is needed where the sortBy field is a date")
	case dates:
		return (position(y) - position(x)) / perUnit, nil
	case perUnit != 0:
		return 0, code.New(5429413, "with 'unit' the sortBy field must be a date")
	case !doc.IsNumberBSON(x) || !doc.IsNumberBSON(y):
		return 0, code.New(5429414, "the sortBy field must be a number or a date")
	}
	return position(y) - position(x), nil
}

// integrated is $integral: the area under the lines between the documents of the window.
func integrated(input *expression.Expression, w *window, perUnit float64) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		inputs, err := p.values(input)
		if err != nil {
			return nil, err
		}
		values := make([]doc.Value, len(inputs))
		areas := make([]float64, len(inputs)) // area up to each document
		for i := 1; i < len(inputs); i++ {
			run, err := p.between(i-1, i, perUnit)
			if err != nil {
				return nil, err
			}
			areas[i] = areas[i-1]
			if doc.IsNumberBSON(inputs[i-1]) && doc.IsNumberBSON(inputs[i]) {
				areas[i] += run * (float(inputs[i-1]) + float(inputs[i])) / 2
			}
		}
		err = w.each(p, func(i, from, to int) error {
			values[i] = null
			if to > from {
				values[i] = doc.Double(areas[to-1] - areas[from])
			}
			return nil
		})
		return values, err
	}
}

// moving is $expMovingAvg: an average in which older values count less and less.
func moving(input *expression.Expression, alpha float64) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		values, err := p.values(input)
		now := null
		for i, v := range values {
			switch {
			case !doc.IsNumberBSON(v):
			case now.Type == bsoncore.TypeNull:
				now = doc.Double(float(v))
			default:
				now = doc.Double(float(v)*alpha + float(now)*(1-alpha))
			}
			values[i] = now
		}
		return values, err
	}
}

// covariance is $covariancePop or $covarianceSamp of pairs of numbers.
func covariance(input *expression.Expression, w *window, sample bool) windowFunction {
	return func(p *partition) ([]doc.Value, error) {
		inputs, err := p.values(input)
		if err != nil {
			return nil, err
		}
		values := make([]doc.Value, len(inputs))
		err = w.each(p, func(i, from, to int) error {
			var n, meanX, meanY, together float64
			for _, v := range inputs[from:to] {
				if err := p.r.turn(); err != nil {
					return err
				}
				x, y, ok := pair(v)
				if !ok {
					continue
				}
				n++
				dx := x - meanX
				meanX += dx / n
				meanY += (y - meanY) / n
				together += dx * (y - meanY)
			}
			if sample {
				n--
			}
			values[i] = null
			if n > 0 {
				values[i] = doc.Double(together / n)
			}
			return nil
		})
		return values, err
	}
}

func pair(v doc.Value) (x, y float64, ok bool) {
	n := 0
	for e := range doc.Elements(v) {
		if !doc.IsNumberBSON(e) {
			return 0, 0, false
		}
		if n++; n > 2 {
			return 0, 0, false
		}
		x, y = y, float(e)
	}
	return x, y, n == 2
}
