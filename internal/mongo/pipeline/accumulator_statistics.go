package pipeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A deviation is $stdDevPop or $stdDevSamp of the numbers, by Welford's algorithm.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/stdDevPop/
type deviation struct {
	sample  bool
	n       float64
	mean    float64
	squares float64
}

func (s *deviation) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if !doc.IsNumberBSON(v) {
		return 0, nil
	}
	f := float(v)
	s.n++
	delta := f - s.mean
	s.mean += delta / s.n
	s.squares += delta * (f - s.mean)
	return 0, nil
}

func (s *deviation) value(m *work.Meter) doc.Value {
	n := s.n
	if s.sample {
		n--
	}
	if n <= 0 {
		return null
	}
	return doc.Double(math.Sqrt(s.squares / n))
}

// percentiles is $percentile and $median. MongoDB's method "approximate" may differ from the exact result; these are
// exact: the smallest number such that at least the share p of all numbers do not exceed it.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/percentile/
type percentiles struct {
	shares []float64
	median bool
	all    []float64
	sorted bool
}

func (p *percentiles) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if !doc.IsNumberBSON(v) {
		return 0, nil
	}
	before := cap(p.all)
	p.all, p.sorted = append(p.all, float(v)), false
	return 8 * (cap(p.all) - before), nil
}

func (p *percentiles) value(m *work.Meter) doc.Value {
	if !p.sorted {
		slices.SortFunc(p.all, func(a, b float64) int {
			if m.Spend(1) != nil {
				return 0
			}
			return cmp.Compare(a, b)
		})
		p.sorted = true
	}
	if p.median {
		return p.at(0.5)
	}
	var l list
	for _, share := range p.shares {
		l.add(p.at(share))
	}
	return l.value()
}

func (p *percentiles) at(share float64) doc.Value {
	if len(p.all) == 0 {
		return null
	}
	rank := int(math.Ceil(share*float64(len(p.all)))) - 1
	return doc.Double(p.all[min(max(rank, 0), len(p.all)-1)])
}

func parseMedian(s *statement, arg doc.Value, names *expression.Names) error {
	if _, err := parseQuantile(s, arg, names, 7436100, false); err != nil {
		return err
	}
	s.create = func(int) accumulator { return &percentiles{median: true} }
	return nil
}

func parsePercentile(s *statement, arg doc.Value, names *expression.Names) error {
	shares, err := parseQuantile(s, arg, names, 7429703, true)
	if err != nil {
		return err
	}
	s.create = func(int) accumulator { return &percentiles{shares: shares} }
	return nil
}

// parseQuantile parses {input: expression, p: [...], method: "approximate"}.
func parseQuantile(
	s *statement, arg doc.Value, names *expression.Names, noObject code.Code, withShares bool,
) (shares []float64, err error) {
	if !isObject(arg) {
		return nil, code.New(noObject, "specification must be an object; found %s: %s", s.operator, code.Show(arg))
	}
	var method, p doc.Value
	for name, v := range doc.Members(arg.Data) {
		switch {
		case name == "input":
			s.argument, err = expression.Compile(v, names)
		case name == "method":
			method = v
		case name == "p" && withShares:
			p = v
		default:
			err = unknownField(s.operator, name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch text, _ := doc.AsString(method); {
	case s.argument == nil:
		return nil, missingField(s.operator, "input")
	case withShares && p.Type == 0:
		return nil, missingField(s.operator, "p")
	case method.Type == 0:
		return nil, missingField(s.operator, "method")
	case text != "approximate":
		return nil, code.New(code.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	}
	if !withShares {
		return nil, nil
	}
	return parseShares(p, names)
}

func parseShares(p doc.Value, names *expression.Names) (shares []float64, err error) {
	x, err := expression.Compile(p, names)
	if err != nil {
		return nil, err
	}
	v, constant := x.Constant()
	if !constant {
		return nil, code.New(7750300,
			"The $percentile 'p' field must be an array of constant values, but found value: %s.", code.Show(p))
	}
	const rule = "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s"
	for e := range doc.Elements(v) {
		f := float(e)
		switch {
		case !doc.IsNumberBSON(e):
			return nil, code.New(7750302, rule, code.Show(e))
		case !(f >= 0 && f <= 1):
			return nil, code.New(7750303, rule, code.Show(e))
		}
		shares = append(shares, f)
	}
	if len(shares) == 0 {
		return nil, code.New(7750301, rule, code.Show(v))
	}
	return shares, nil
}
