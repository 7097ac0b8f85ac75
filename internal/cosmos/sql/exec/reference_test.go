package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// The reference evaluator computes expressions over decoded JSON as directly as the documentation describes them. It
// folds no constants and shares no code with the evaluator that it checks.

type undefinedValue struct{}

var undefined any = undefinedValue{}

func decode(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

func reference(e syntax.Expr, root any) any {
	at := func(e syntax.Expr) any { return reference(e, root) }
	switch x := e.(type) {
	case *syntax.Literal:
		return map[syntax.LiteralKind]any{syntax.Null: nil, syntax.False: false, syntax.True: true,
			syntax.Number: x.Float, syntax.String: x.Text, syntax.Undefined: undefined}[x.Kind]
	case *syntax.Name:
		switch x.Name {
		case "NaN":
			return math.NaN()
		case "Infinity":
			return math.Inf(1)
		}
		return root
	case *syntax.Member:
		return referenceIndex(at(x.Of), x.Name)
	case *syntax.Index:
		return referenceIndex(at(x.Of), at(x.Index))
	case *syntax.Unary:
		return referenceUnary(x.Op, at(x.X))
	case *syntax.Binary:
		return referenceBinary(x.Op, at(x.X), at(x.Y))
	case *syntax.Conditional:
		if at(x.Cond) == true {
			return at(x.Then)
		}
		return at(x.Else)
	case *syntax.Between:
		v := referenceBinary(syntax.And, referenceBinary(syntax.Ge, at(x.X), at(x.Low)), referenceBinary(syntax.Le,
			at(x.X), at(x.High)))
		if x.Not {
			return referenceUnary(syntax.Not, v)
		}
		return v
	case *syntax.In:
		v := at(x.X)
		if v == undefined {
			return undefined
		}
		found := false
		for _, item := range x.List {
			found = found || referenceBinary(syntax.Eq, v, at(item)) == true
		}
		return found != x.Not
	case *syntax.Like:
		return referenceLike(at(x.X), at(x.Pattern), x.Not)
	case *syntax.Array:
		list := []any{}
		for _, item := range x.Items {
			if v := at(item); v != undefined {
				list = append(list, v)
			}
		}
		return list
	case *syntax.Object:
		object := map[string]any{}
		for _, m := range x.Members {
			if v := at(m.X); v != undefined {
				object[m.Name] = v
			}
		}
		return object
	}
	panic(fmt.Sprintf("%T", e))
}

func referenceIndex(of, at any) any {
	switch of := of.(type) {
	case map[string]any:
		if name, ok := at.(string); ok {
			if v, ok := of[name]; ok {
				return v
			}
		}
	case []any:
		if i, ok := at.(float64); ok && i == math.Trunc(i) && i >= 0 && i < float64(len(of)) {
			return of[int(i)]
		}
	}
	return undefined
}

func referenceUnary(op syntax.Op, v any) any {
	if op == syntax.Not {
		if b, ok := v.(bool); ok {
			return !b
		}
		return undefined
	}
	f, ok := v.(float64)
	switch {
	case !ok:
		return undefined
	case op == syntax.Minus:
		return 0 - f // there is one zero
	case op == syntax.BitNot:
		return float64(^referenceInt32(f))
	}
	return f
}

func referenceInt32(f float64) int32 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return int32(uint32(int64(math.Mod(math.Trunc(f), 1<<32))))
}

func referenceNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

// referenceFinite reports whether JSON can write a value.
func referenceFinite(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !referenceFinite(v) })
	case map[string]any:
		return referenceFinite(slices.Collect(maps.Values(v)))
	}
	return true
}

func referenceBinary(op syntax.Op, a, b any) any {
	switch op {
	case syntax.And, syntax.Or:
		decides := op == syntax.Or
		if a == decides || b == decides {
			return decides
		}
		if a == !decides && b == !decides {
			return !decides
		}
		return undefined
	case syntax.Coalesce:
		if a == undefined {
			return b
		}
		return a
	case syntax.Eq, syntax.Ne:
		if a == undefined || b == undefined {
			return undefined
		}
		return reflect.DeepEqual(a, b) == (op == syntax.Eq)
	case syntax.Lt, syntax.Le, syntax.Gt, syntax.Ge:
		c, ok := referenceOrder(a, b)
		if !ok {
			return undefined
		}
		if referenceNaN(a) || referenceNaN(b) {
			return false
		}
		return map[syntax.Op]bool{syntax.Lt: c < 0, syntax.Le: c <= 0, syntax.Gt: c > 0, syntax.Ge: c >= 0}[op]
	case syntax.Concat:
		s, ok := a.(string)
		t, okay := b.(string)
		if ok && okay {
			return s + t
		}
		return undefined
	}
	x, ok := a.(float64)
	y, okay := b.(float64)
	if !ok || !okay {
		return undefined
	}
	i, j := referenceInt32(x), referenceInt32(y)
	switch op {
	case syntax.Add:
		return x + y
	case syntax.Sub:
		return x - y
	case syntax.Mul:
		return x*y + 0 // there is one zero
	case syntax.Div:
		return x/y + 0
	case syntax.Mod:
		return math.Mod(x, y) + 0
	case syntax.BitOr:
		return float64(i | j)
	case syntax.BitAnd:
		return float64(i & j)
	case syntax.BitXor:
		return float64(i ^ j)
	case syntax.ShiftLeft:
		return float64(i << (uint32(j) % 32))
	case syntax.ShiftRight:
		return float64(i >> (uint32(j) % 32))
	case syntax.ShiftZero:
		return float64(uint32(i) >> (uint32(j) % 32))
	}
	panic("operator")
}

func referenceOrder(a, b any) (int, bool) {
	switch x := a.(type) {
	case nil:
		return 0, b == nil
	case bool:
		y, ok := b.(bool)
		if x == y {
			return 0, ok
		}
		if x {
			return 1, ok
		}
		return -1, ok
	case float64:
		y, ok := b.(float64)
		if x < y {
			return -1, ok
		}
		if x > y {
			return 1, ok
		}
		return 0, ok
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	return 0, false
}

func referenceLike(v, pattern any, not bool) any {
	s, ok := v.(string)
	p, okay := pattern.(string)
	if !ok || !okay {
		return undefined
	}
	var re strings.Builder
	for len(p) > 0 {
		r, size := utf8.DecodeRuneInString(p)
		p = p[size:]
		switch r {
		case '%':
			re.WriteString("(?s:.*)")
		case '_':
			re.WriteString("(?s:.)")
		case '[':
			if end := strings.IndexByte(p, ']'); end > 0 {
				re.WriteString("[" + p[:end] + "]")
				p = p[end+1:]
				continue
			}
			fallthrough
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile("^(?:"+re.String()+")$").MatchString(s) != not
}
