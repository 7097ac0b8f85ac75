package exec

import "github.com/mayflydb/mayfly/internal/doc"

// both is a AND b: false if an operand is false, else undefined if an operand is undefined.
func both(a, b tri) tri {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	}
	return unknown
}

// every is the AND of conditions, evaluated from the left until the result is known.
func every(conditions []test) test {
	if len(conditions) == 2 {
		a, b := conditions[0], conditions[1]
		return func(f *frame) tri {
			x := a(f)
			if x == no {
				return no
			}
			return both(x, b(f))
		}
	}
	return func(f *frame) tri {
		result := yes
		for _, c := range conditions {
			p := f.mark()
			t := c(f)
			f.release(p)
			if f.err != nil {
				return unknown
			}
			switch t {
			case no:
				return no
			case unknown:
				result = unknown
			}
		}
		return result
	}
}

// some is the OR of conditions, evaluated like every.
func some(conditions []test) test {
	return func(f *frame) tri {
		result := no
		for _, c := range conditions {
			p := f.mark()
			t := c(f)
			f.release(p)
			if f.err != nil {
				return unknown
			}
			switch t {
			case yes:
				return yes
			case unknown:
				result = unknown
			}
		}
		return result
	}
}

func negation(t test) test { return func(f *frame) tri { return t(f).not() } }

// coalesce is x ?? y: y if x is undefined. Null is an ordinary value.
func coalesce(x, y eval) eval {
	return func(f *frame) doc.Value {
		if v := x(f); v.Type != 0 {
			return v
		}
		return y(f)
	}
}

// conditional is c ? x : y. Only true selects x.
func conditional(c test, x, y eval) eval {
	return func(f *frame) doc.Value {
		if c(f) == yes {
			return x(f)
		}
		return y(f)
	}
}
