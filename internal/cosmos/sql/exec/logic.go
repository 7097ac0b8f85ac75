package exec

import "github.com/mayflydb/mayfly/internal/doc"

// both is a AND b: false if one of them is, else undefined if one of them is.
func both(a, b tri) tri {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	}
	return unknown
}

// every is the AND of conditions, which it asks from the left as long as needed.
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

// some is the OR of conditions.
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

// coalesce is x ?? y: y where x is undefined. Null is a value like others.
func coalesce(x, y eval) eval {
	return func(f *frame) doc.Value {
		if v := x(f); v.Type != 0 {
			return v
		}
		return y(f)
	}
}

// conditional is c ? x : y; only true chooses x.
func conditional(c test, x, y eval) eval {
	return func(f *frame) doc.Value {
		if c(f) == yes {
			return x(f)
		}
		return y(f)
	}
}
